//! All hits in slices of time, in bounded memory: what the page draws.
//!
//! Slices begin narrow, on a grid from 1970 on. Whenever there are too many of them, or too much in them, neighbours are merged into
//! wider ones; each width is a multiple of the one before, so nothing is lost but resolution.

use brunt_metrics::TrendSink;
use rustc_hash::FxHashMap;

use crate::summary::kind_of;
use crate::{GroupBy, Record};

/// Widths of slices in milliseconds; each is a multiple of the one before.
const WIDTHS: [u64; 16] = [
    1,
    2,
    10,
    20,
    100,
    200,
    1000,
    2000,
    10_000,
    20_000,
    60_000,
    600_000,
    3_600_000,
    86_400_000,
    2_592_000_000,
    2_592_000_000_000,
];
/// More slices than this the page does not want.
pub const SLICES_MAX: u64 = 1500;
/// A slice should hold enough hits for its numbers to mean something …
const HITS_MIN: u64 = 10;
/// … unless there were fewer slices than this.
const SLICES_MIN: u64 = 30;
/// Rows of one slice; hits beyond go into one row for all others.
const ROWS_MAX: usize = 200;
/// Texts that rows are made of, likewise.
const NAMES_MAX: usize = 1000;
/// Bytes of such a text.
const NAME_MAX: usize = 2048;
/// Attacks that are told apart; hits of further ones are counted.
const ATTACKS_MAX: usize = 64;
/// Kinds of failures; further ones are counted.
const FAILURES_MAX: usize = 1000;
/// Values or bins that are kept in all, 8 to 16 bytes each.
const ENTRIES_MAX: usize = 8 << 20;
/// Hits between two looks at how many there are.
const LOOK: u64 = 1 << 20;
/// The text of all that had no room.
const OTHER: u32 = u32::MAX;

/// How hits are sorted.
#[derive(Clone, Debug)]
pub struct SheetConfig {
    /// The most slices; none counts as [`SLICES_MAX`].
    pub slices: u64,
    /// By what rows are told apart.
    pub rows: GroupBy,
    /// Time counts from the first hit of each attack of each input, so that they lie over each other.
    pub is_apart: bool,
    /// The names of the inputs, by index: they are shown where two inputs have an attack of the same name.
    pub inputs: Vec<String>,
}

/// The hits so far.
#[derive(Debug)]
pub struct Sheet {
    config: SheetConfig,
    width: usize,
    attacks: Vec<Attack>,
    index: FxHashMap<(usize, String), usize>,
    last: usize,
    names: FxHashMap<String, u32>,
    rows: Vec<Key>,
    by_key: FxHashMap<Key, u32>,
    cells: FxHashMap<(u32, u64), Cell>,
    starts: FxHashMap<(u32, u64), Start>,
    failures: Vec<Failure>,
    by_text: FxHashMap<(u32, u16), FxHashMap<String, usize>>,
    counts: FxHashMap<(u32, u64), u64>,
    hits: u64,
    not_shown: u64,
    lost_failures: u64,
}

/// One attack of one input.
#[derive(Debug)]
struct Attack {
    input: usize,
    name: String,
    first: u64,
    end: u64,
}

/// The hits that are a row: attack, text, method, status, and the kind of failure where there is no status.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Key {
    attack: u32,
    name: u32,
    method: u32,
    status: u16,
    kind: u32,
}

/// The hits of a row that ended in one slice.
#[derive(Clone, Debug, Default)]
pub struct Cell {
    /// How many failed.
    pub failed: u64,
    /// Bytes of responses.
    pub bytes_in: u64,
    /// Bytes of requests.
    pub bytes_out: u64,
    /// Their latencies in milliseconds.
    pub latencies: TrendSink,
    /// From when they were due, where that is known.
    pub waited: TrendSink,
}

/// The hits of an attack that began in one slice, and those that were due in it.
#[derive(Clone, Debug, Default)]
pub struct Start {
    /// How many began.
    pub begun: u64,
    /// How many were due.
    pub due: u64,
    /// From when they were due to their begin, in milliseconds.
    pub lags: TrendSink,
}

#[derive(Debug)]
struct Failure {
    attack: u32,
    status: u16,
    kind: String,
    text: String,
    method: String,
    url: String,
    first: u64,
    last: u64,
}

/// All hits, ready to be drawn.
#[derive(Debug)]
pub struct Drawn {
    /// Of a slice, in milliseconds.
    pub width: u64,
    /// How many slices there are.
    pub slices: u64,
    /// When the first slice begins: nanoseconds since 1970.
    pub started: u64,
    /// From then to the end of the last hit (of the longest attack), in nanoseconds.
    pub length: u64,
    /// The labels of attacks, if there are several that lie over each other.
    pub attacks: Vec<String>,
    /// The rows.
    pub rows: Vec<DrawnRow>,
    /// Of each attack: its slices in their order.
    pub starts: Vec<Vec<(u64, Start)>>,
    /// The kinds of failures.
    pub failures: Vec<DrawnFailure>,
    /// Hits of attacks for which there was no room.
    pub not_shown: u64,
    /// Failures whose kind had no room.
    pub lost_failures: u64,
}

/// Hits that have their name, method and end in common.
#[derive(Debug)]
pub struct DrawnRow {
    /// Its name, with that of the attack in front where there are several; none for all that had no room.
    pub name: Option<String>,
    /// The method, if rows are told apart by it.
    pub method: Option<String>,
    /// The status; 0 if there was no response.
    pub status: u16,
    /// Whether the hits failed.
    pub is_failed: bool,
    /// The kind of failure, where there was no response.
    pub kind: Option<String>,
    /// Its slices in their order.
    pub cells: Vec<(u64, Cell)>,
}

/// A kind of failure.
#[derive(Debug)]
pub struct DrawnFailure {
    /// A status, or a word.
    pub kind: String,
    /// The status; 0 if there was no response.
    pub status: u16,
    /// The text of the first of them.
    pub text: String,
    /// Its method.
    pub method: String,
    /// Its URL.
    pub url: String,
    /// Nanoseconds after the start.
    pub first: u64,
    /// The same of the last.
    pub last: u64,
    /// How many, slice by slice.
    pub counts: Vec<(u64, u64)>,
}

impl Sheet {
    /// Nothing so far.
    pub fn new(config: SheetConfig) -> Self {
        Self {
            config,
            width: 0,
            attacks: Vec::new(),
            index: FxHashMap::default(),
            last: 0,
            names: FxHashMap::default(),
            rows: Vec::new(),
            by_key: FxHashMap::default(),
            cells: FxHashMap::default(),
            starts: FxHashMap::default(),
            failures: Vec::new(),
            by_text: FxHashMap::default(),
            counts: FxHashMap::default(),
            hits: 0,
            not_shown: 0,
            lost_failures: 0,
        }
    }

    /// Whether there are no hits.
    pub fn is_empty(&self) -> bool {
        self.hits == 0
    }

    /// Adds a hit of an input.
    pub fn add(&mut self, input: usize, record: &Record) {
        let Some(attack) = self.attack(input, record) else {
            self.not_shown += 1;
            return;
        };
        let (begin, end) = (record.timestamp.unix_ns(), record.end());
        let seen = &mut self.attacks[attack];
        (seen.first, seen.end) = (seen.first.min(begin), seen.end.max(end));
        while self.span() > 2 * SLICES_MAX && self.width + 1 < WIDTHS.len() {
            self.widen();
        }
        let row = self.row(attack as u32, record);
        let cell = self.cells.entry((row, self.slice(end))).or_default();
        cell.failed += u64::from(!record.is_success());
        cell.bytes_in += record.bytes_in;
        cell.bytes_out += record.bytes_out;
        cell.latencies.add(millis(record.latency));
        if record.planned.is_some() {
            cell.waited.add(millis(record.response_time()));
        }
        let start = self.starts.entry((attack as u32, self.slice(begin))).or_default();
        start.begun += 1;
        if let Some(due) = record.planned {
            start.lags.add(millis(record.lag()));
            // Hits that were due before the first one was begun belong to its slice.
            let due = self.slice(due.max(self.attacks[attack].first));
            self.starts.entry((attack as u32, due)).or_default().due += 1;
        }
        // A response may be good and its body break off: the error is told, though the hit counts as a success.
        if !record.is_success() || !record.error.is_empty() {
            self.failed(attack as u32, record);
        }
        self.hits += 1;
        if self.hits.is_multiple_of(LOOK) {
            while self.entries() > ENTRIES_MAX && self.width + 1 < WIDTHS.len() {
                self.widen();
            }
        }
    }

    fn attack(&mut self, input: usize, record: &Record) -> Option<usize> {
        let is_apart = self.config.is_apart;
        let (input, name) = if is_apart { (input, record.attack.as_str()) } else { (0, "") };
        let is_last = |attack: &Attack| attack.input == input && attack.name == name;
        if self.attacks.get(self.last).is_some_and(is_last) {
            return Some(self.last);
        }
        let key = (input, name.to_owned());
        self.last = match self.index.get(&key) {
            Some(index) => *index,
            None if self.attacks.len() == ATTACKS_MAX => return None,
            None => {
                let name = key.1.clone();
                self.attacks.push(Attack { input, name, first: u64::MAX, end: 0 });
                self.index.insert(key, self.attacks.len() - 1);
                self.attacks.len() - 1
            }
        };
        Some(self.last)
    }

    /// The slice of a moment, counted from 1970.
    fn slice(&self, at: u64) -> u64 {
        at / (WIDTHS[self.width] * 1_000_000)
    }

    /// The slices of the longest attack.
    fn span(&self) -> u64 {
        let of = |attack: &Attack| self.slice(attack.end).saturating_sub(self.slice(attack.first));
        self.attacks.iter().map(of).max().map_or(0, |most| most + 1)
    }

    /// Merges slices into the next wider ones.
    fn widen(&mut self) {
        let ratio = WIDTHS[self.width + 1] / WIDTHS[self.width];
        self.width += 1;
        for ((row, slice), more) in std::mem::take(&mut self.cells) {
            let cell = self.cells.entry((row, slice / ratio)).or_default();
            cell.failed += more.failed;
            cell.bytes_in += more.bytes_in;
            cell.bytes_out += more.bytes_out;
            cell.latencies.merge(&more.latencies);
            cell.waited.merge(&more.waited);
        }
        for ((attack, slice), more) in std::mem::take(&mut self.starts) {
            let start = self.starts.entry((attack, slice / ratio)).or_default();
            start.begun += more.begun;
            start.due += more.due;
            start.lags.merge(&more.lags);
        }
        for ((failure, slice), more) in std::mem::take(&mut self.counts) {
            *self.counts.entry((failure, slice / ratio)).or_default() += more;
        }
    }

    /// Values and bins that are kept.
    fn entries(&self) -> usize {
        let of = |trend: &TrendSink| {
            let held = trend.distribution();
            held.values().map_or_else(|| held.buckets().len(), <[f64]>::len)
        };
        let cells = self.cells.values().map(|cell| of(&cell.latencies) + of(&cell.waited) + 16);
        cells.sum::<usize>() + self.starts.values().map(|start| of(&start.lags)).sum::<usize>()
    }

    /// The number of the hit's row, which may be new.
    fn row(&mut self, attack: u32, record: &Record) -> u32 {
        let status = record.code.to_string();
        let (name, method) = match self.config.rows {
            GroupBy::Url => (record.url.as_str(), record.method.as_str()),
            GroupBy::Method => (record.method.as_str(), ""),
            GroupBy::Name => (record.attack.as_str(), ""),
            GroupBy::Status => (status.as_str(), ""),
        };
        let (name, method) = (self.name(name), self.name(method));
        let kind = if record.code == 0 { self.name(&kind_of(record)) } else { 0 };
        let mut key = Key { attack, name, method, status: record.code, kind };
        if let Some(row) = self.by_key.get(&key) {
            return *row;
        }
        if self.rows.len() >= ROWS_MAX || name == OTHER {
            // Statuses of what had no room are told apart all the same, by their hundreds.
            let status = if record.code < 100 { 0 } else { record.code / 100 * 100 };
            key = Key { attack, name: OTHER, method: OTHER, status, kind: 0 };
            if let Some(row) = self.by_key.get(&key) {
                return *row;
            }
        }
        let row = self.rows.len() as u32;
        self.rows.push(key);
        self.by_key.insert(key, row);
        row
    }

    fn name(&mut self, text: &str) -> u32 {
        let text = &text[..text.floor_char_boundary(NAME_MAX)];
        if let Some(name) = self.names.get(text) {
            return *name;
        }
        let next = self.names.len() as u32;
        if self.names.len() >= NAMES_MAX {
            return OTHER;
        }
        self.names.insert(text.to_owned(), next);
        next
    }

    fn failed(&mut self, attack: u32, record: &Record) {
        let cut = |text: &str| text[..text.floor_char_boundary(NAME_MAX)].to_owned();
        let text = &record.error[..record.error.floor_char_boundary(NAME_MAX)];
        let texts = self.by_text.entry((attack, record.code)).or_default();
        let failure = match texts.get(text) {
            Some(failure) => *failure,
            None if self.failures.len() >= FAILURES_MAX => {
                self.lost_failures += 1;
                return;
            }
            None => {
                texts.insert(text.to_owned(), self.failures.len());
                self.failures.push(Failure {
                    attack,
                    status: record.code,
                    kind: match record.code {
                        0 => kind_of(record).into_owned(),
                        code if record.is_success() => format!("{code} with an error"),
                        code => code.to_string(),
                    },
                    text: text.to_owned(),
                    method: cut(&record.method),
                    url: cut(&record.url),
                    first: u64::MAX,
                    last: 0,
                });
                self.failures.len() - 1
            }
        };
        let end = record.end();
        let seen = &mut self.failures[failure];
        (seen.first, seen.last) = (seen.first.min(end), seen.last.max(end));
        *self.counts.entry((failure as u32, self.slice(end))).or_default() += 1;
    }

    /// All of it, in slices that are as wide as they must be.
    pub fn finish(mut self) -> Drawn {
        let most = if self.config.slices == 0 { SLICES_MAX } else { self.config.slices };
        let most = most.min(SLICES_MAX);
        loop {
            let slices = self.span();
            let is_empty = self.hits < slices * HITS_MIN && slices > SLICES_MIN.min(most);
            if slices <= most && !is_empty || self.width + 1 == WIDTHS.len() {
                break;
            }
            self.widen();
        }
        let width = WIDTHS[self.width];
        let zero: Vec<u64> = self.attacks.iter().map(|attack| self.slice(attack.first)).collect();
        let begins: Vec<u64> = zero.iter().map(|slice| slice * width * 1_000_000).collect();
        let ends = self.attacks.iter().zip(&begins);
        let length = ends.map(|(attack, begin)| attack.end.saturating_sub(*begin)).max();
        let labels: Vec<String> = self.attacks.iter().map(|attack| self.label(attack)).collect();
        let mut names = vec![String::new(); self.names.len()];
        for (text, place) in &self.names {
            names[*place as usize].clone_from(text);
        }
        let name_of = |place: u32| names.get(place as usize).cloned();
        let mut cells: Vec<Vec<(u64, Cell)>> = self.rows.iter().map(|_| Vec::new()).collect();
        for ((row, slice), cell) in self.cells {
            let zero = zero[self.rows[row as usize].attack as usize];
            cells[row as usize].push((slice - zero, cell));
        }
        let several = labels.len() > 1;
        let rows = self.rows.iter().zip(cells).map(|(key, mut cells)| {
            cells.sort_by_key(|(slice, _)| *slice);
            let name = name_of(key.name).map(|name| {
                if several { format!("{} · {name}", labels[key.attack as usize]) } else { name }
            });
            DrawnRow {
                name,
                method: name_of(key.method).filter(|method| !method.is_empty()),
                status: key.status,
                is_failed: !(200..400).contains(&key.status),
                kind: name_of(key.kind).filter(|_| key.status == 0 && key.name != OTHER),
                cells,
            }
        });
        let rows = rows.collect();
        let mut starts: Vec<Vec<(u64, Start)>> = zero.iter().map(|_| Vec::new()).collect();
        for ((attack, slice), start) in self.starts {
            let attack = attack as usize;
            starts[attack].push((slice.saturating_sub(zero[attack]), start));
        }
        for starts in &mut starts {
            starts.sort_by_key(|(slice, _)| *slice);
        }
        let mut counts: Vec<Vec<(u64, u64)>> = self.failures.iter().map(|_| Vec::new()).collect();
        for ((failure, slice), count) in self.counts {
            let zero = zero[self.failures[failure as usize].attack as usize];
            counts[failure as usize].push((slice - zero, count));
        }
        let failures = self.failures.into_iter().zip(counts).map(|(failure, mut counts)| {
            counts.sort_unstable();
            let begin = begins[failure.attack as usize];
            DrawnFailure {
                kind: failure.kind,
                status: failure.status,
                text: failure.text,
                method: failure.method,
                url: if several {
                    format!("{} · {}", labels[failure.attack as usize], failure.url)
                } else {
                    failure.url
                },
                first: failure.first.saturating_sub(begin),
                last: failure.last.saturating_sub(begin),
                counts,
            }
        });
        let length = length.unwrap_or_default();
        Drawn {
            width,
            slices: length / (width * 1_000_000) + u64::from(self.hits > 0),
            started: begins.iter().min().copied().unwrap_or_default(),
            length,
            attacks: if several { labels.clone() } else { Vec::new() },
            rows,
            starts,
            failures: failures.collect(),
            not_shown: self.not_shown,
            lost_failures: self.lost_failures,
        }
    }

    fn label(&self, attack: &Attack) -> String {
        let namesakes = self.attacks.iter().filter(|other| other.name == attack.name).count();
        let name = if attack.name.is_empty() { "attack" } else { &attack.name };
        match self.config.inputs.get(attack.input) {
            Some(input) if namesakes > 1 => format!("{name} ({input})"),
            _ => name.to_owned(),
        }
    }
}

fn millis(ns: u64) -> f64 {
    ns as f64 / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Timestamp;

    fn sheet(slices: u64, is_apart: bool) -> Sheet {
        let inputs = vec!["a.bin".to_owned(), "b.bin".to_owned()];
        Sheet::new(SheetConfig { slices, rows: GroupBy::Url, is_apart, inputs })
    }

    fn hit(attack: &str, ms: u64, latency_ms: u64, code: u16) -> Record {
        Record {
            attack: attack.to_owned(),
            timestamp: Timestamp::from_unix_ns(5_000_000_000_000 + ms * 1_000_000),
            latency: latency_ms * 1_000_000,
            code,
            method: "GET".to_owned(),
            url: "http://h/".to_owned(),
            error: if code == 200 { String::new() } else { format!("status {code}") },
            ..Record::default()
        }
    }

    fn hits(drawn: &Drawn) -> u64 {
        let cells = drawn.rows.iter().flat_map(|row| &row.cells);
        cells.map(|(_, cell)| cell.latencies.count()).sum()
    }

    #[test]
    fn no_hit_is_lost_when_slices_grow() {
        let mut sheet = sheet(0, false);
        for n in 0..100_000 {
            sheet.add(0, &hit("x", n * 10, n % 7, if n % 10 == 0 { 500 } else { 200 }));
        }
        let drawn = sheet.finish();
        assert_eq!((drawn.width, drawn.slices, hits(&drawn)), (1000, 1000, 100_000));
        assert_eq!(drawn.rows.len(), 2);
        assert!(drawn.rows.iter().any(|row| row.is_failed && row.status == 500));
        let failed: u64 = drawn.failures[0].counts.iter().map(|(_, count)| count).sum();
        assert_eq!((failed, drawn.failures[0].kind.as_str()), (10_000, "500"));
        assert!(drawn.rows.iter().all(|row| row.cells.iter().all(|(n, _)| *n < drawn.slices)));
    }

    #[test]
    fn few_hits_make_few_slices_and_as_many_as_asked_for_at_most() {
        let drawn = |slices| {
            let mut sheet = sheet(slices, false);
            for n in 0..1000 {
                sheet.add(0, &hit("x", n * 10, 1, 200));
            }
            let drawn = sheet.finish();
            (drawn.width, drawn.slices, hits(&drawn))
        };
        assert_eq!(drawn(0), (100, 100, 1000));
        assert_eq!(drawn(20), (1000, 10, 1000));
        assert_eq!(sheet(0, false).finish().slices, 0);
    }

    #[test]
    fn attacks_lie_over_each_other() {
        let mut sheet = sheet(0, true);
        for n in 0..100 {
            sheet.add(0, &hit("x", n, 0, 200));
            sheet.add(1, &hit("x", 86_400_000 + n, 0, 200));
        }
        let drawn = sheet.finish();
        assert_eq!(drawn.attacks, ["x (a.bin)", "x (b.bin)"]);
        let names: Vec<_> = drawn.rows.iter().map(|row| row.name.clone().unwrap()).collect();
        assert_eq!(names, ["x (a.bin) · http://h/", "x (b.bin) · http://h/"]);
        assert!(drawn.slices <= 30 && drawn.length < 200_000_000, "{drawn:?}");
        assert_eq!(drawn.rows[0].cells.len(), drawn.rows[1].cells.len());
    }

    #[test]
    fn rows_and_attacks_without_end_have_room_together() {
        let mut all = sheet(0, false);
        for n in 0..5000_u64 {
            all.add(0, &Record { url: format!("http://h/{n}"), ..hit("x", n, 1, 200) });
        }
        let drawn = all.finish();
        assert_eq!((drawn.rows.len(), hits(&drawn)), (ROWS_MAX + 1, 5000));
        assert_eq!(drawn.rows.iter().filter(|row| row.name.is_none()).count(), 1);
        let mut all = sheet(0, true);
        (0..100).for_each(|n| all.add(0, &hit(&format!("a{n}"), n, 1, 200)));
        assert_eq!(all.finish().not_shown, 36);
    }

    #[test]
    fn errors_behind_good_responses_are_told() {
        let mut sheet = sheet(0, false);
        sheet.add(0, &Record { error: "unexpected EOF".to_owned(), ..hit("x", 1, 1, 200) });
        let drawn = sheet.finish();
        assert_eq!(drawn.failures[0].kind, "200 with an error");
        assert!(!drawn.rows[0].is_failed);
    }

    #[test]
    fn starts_are_told_beside_their_plan() {
        let mut sheet = sheet(0, false);
        for n in 0..50_u64 {
            let record = hit("x", n * 100, 500, 200);
            let planned = Some(record.timestamp.unix_ns() - 1_000_000);
            sheet.add(0, &Record { planned, ..record });
        }
        let drawn = sheet.finish();
        let all = || drawn.starts[0].iter().map(|(_, start)| start);
        assert_eq!(all().map(|start| start.begun).sum::<u64>(), 50);
        assert_eq!(all().map(|start| start.due).sum::<u64>(), 50);
        assert!(all().all(|start| start.lags.count() == 0 || start.lags.max() == 1.0));
        assert_eq!(drawn.rows[0].cells.last().unwrap().1.waited.max(), 501.0);
    }
}
