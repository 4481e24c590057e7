//! The data of the report's page, made of a run file: all at once for a saved page, in parts while the run goes on.
//!
//! A document is `BRNP`, a byte with its version, and records: a byte that tells their kind (1 = JSON, 2 = a chunk of a series, 3 = forget
//! all that came before), a varint of their length, their bytes.

mod columns;
mod draft;
mod extra;
mod facts;
mod told;

use std::collections::BTreeMap;
use std::ops::Range;

use brunt_metrics::{Contains, Kind, Sink, WARMUP_TAG};
use serde_json::{Map, Value, json};

use self::columns::Columns;
pub use self::draft::Draft;
use self::told::Told;
use crate::error::RunFileError;
use crate::reader::RunFile;
use crate::varint::put;

/// More slices than this are merged for the page.
const SLICES_MAX: u64 = 1500;
/// Fewer slices than this a page does not come to for its weight alone.
const SLICES_MIN: u64 = 120;
/// How many slices of the file may be one of the page.
const FACTORS: [u64; 14] = [1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 3600, 7200, 14_400];
/// As many values a series may have to be told exactly.
const EXACT_MAX: u64 = 4096;

/// The kinds of records.
const JSON: u8 = 1;
const CHUNK: u8 = 2;
const RESET: u8 = 3;

/// The source of a series of the page.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Origin {
    /// A series of the file.
    Series(u32),
    /// A column of the load of a scenario.
    Load(&'static str, i64),
    /// A number about the generator: of a core, of sockets in a state, or of all.
    Health(&'static str, String),
    /// A check.
    Check(i64),
    /// A kind of failure.
    Failure(i64),
    /// A threshold.
    Threshold(i64),
}

/// A metric of the page.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct PageMetric {
    pub(crate) name: String,
    pub(crate) kind: &'static str,
    pub(crate) contains: &'static str,
    pub(crate) family: &'static str,
}

impl PageMetric {
    fn new(name: &str, kind: Kind, contains: Contains, family: &'static str) -> Self {
        let kind = match kind {
            Kind::Counter => "counter",
            Kind::Gauge => "gauge",
            Kind::Rate => "rate",
            Kind::Trend => "trend",
        };
        let contains = match contains {
            Contains::Default => "default",
            Contains::Time => "time",
            Contains::Data => "data",
        };
        Self { name: name.to_owned(), kind, contains, family }
    }

    fn told(&self) -> Value {
        let Self { name, kind, contains, family } = self;
        json!({ "name": name, "type": kind, "contains": contains, "family": family })
    }
}

/// Makes documents of a run file. One of them serves one page, or all that watch the same run.
pub struct Page {
    factor: u64,
    metrics: BTreeMap<PageMetric, usize>,
    series: BTreeMap<Origin, usize>,
    /// The last series of the file that has its number; they are counted from 0.
    seen: i64,
    /// Slices of the file that were told.
    told: u64,
    /// Values of the trends in these slices.
    totals: BTreeMap<u32, u64>,
    /// Events that were told.
    events: usize,
    /// Metrics and series as they were told, for those who come late.
    known: News,
    /// Facts that those who watch a run know.
    facts: Told,
    /// The slice of the page that was not full when it was told.
    growing: Slice,
}

/// The values of the file's series in a slice of the page, and whether they are told in bins.
type Slice = BTreeMap<usize, (Sink, bool)>;

/// The bytes of series, by their numbers.
type Chunks = Vec<(usize, Vec<u8>)>;

/// Metrics and series that are new in a document.
#[derive(Default)]
struct News {
    metrics: Vec<Value>,
    series: Vec<Value>,
}

impl Page {
    /// For a run that is still going on: slices are merged as its planned duration demands.
    pub fn live(file: &RunFile) -> Self {
        let about = file.about();
        let planned = about.planned.as_nanos() / about.width.as_nanos().max(1);
        Self::of(factor(u64::try_from(planned).unwrap_or(u64::MAX).max(about.slices)))
    }

    fn of(factor: u64) -> Self {
        Self {
            factor,
            metrics: BTreeMap::new(),
            series: BTreeMap::new(),
            seen: -1,
            told: 0,
            totals: BTreeMap::new(),
            events: 0,
            known: News::default(),
            facts: Told::default(),
            growing: Slice::new(),
        }
    }

    /// All there is so far, as one document; a page that knew something before forgets it.
    pub fn everything(&mut self, file: &RunFile) -> Result<Vec<u8>, RunFileError> {
        *self = Self::of(self.factor);
        self.document(file, true)
    }

    /// All that came since the last document.
    pub fn news(&mut self, file: &RunFile) -> Result<Vec<u8>, RunFileError> {
        self.document(file, false)
    }

    /// All that was told so far, for a page that comes late: behind it the next [`news`](Self::news) follow as for the others.
    pub fn so_far(&mut self, file: &RunFile) -> Result<Vec<u8>, RunFileError> {
        let mut news = News::default();
        let (mut chunks, _) = self.chunks(file, 0..self.told, (0, Slice::new()), &mut news)?;
        // New metrics and series are told with the next news.
        let (metrics, series) = (self.known.metrics.len(), self.known.series.len());
        self.metrics.retain(|_, place| *place < metrics);
        self.series.retain(|_, id| *id < series);
        chunks.retain(|(id, _)| *id < series);
        let events: Vec<Value> = facts::events(file, 0)?.into_iter().take(self.events).collect();
        let mut facts = facts::all(file, self, &self.known.metrics, &self.known.series, &events)?;
        facts["time"]["slices"] = json!(self.told.div_ceil(self.factor));
        let facts = told::so_far(file, self, facts)?;
        Ok(document(true, &facts, &chunks))
    }

    /// The slices of the file that were told so far.
    pub fn slices(&self) -> u64 {
        self.told
    }

    fn document(&mut self, file: &RunFile, is_reset: bool) -> Result<Vec<u8>, RunFileError> {
        let slices = file.about().slices;
        // The slice of the page that was still growing is told again.
        let from = self.told / self.factor * self.factor;
        for (series, count) in totals(file, &(self.told..slices))? {
            *self.totals.entry(series).or_default() += count;
        }
        let mut news = News::default();
        self.announce(file, &mut news)?;
        let begun = std::mem::take(&mut self.growing);
        let (chunks, growing) = self.chunks(file, from..slices, (self.told, begun), &mut news)?;
        self.growing = growing;
        let events = facts::events(file, self.events)?;
        self.events += events.len();
        let facts = facts::all(file, self, &news.metrics, &news.series, &events)?;
        let facts = told::news(file, self, facts)?;
        self.known.metrics.extend(news.metrics);
        self.known.series.extend(news.series);
        self.told = slices;
        Ok(document(is_reset, &facts, &chunks))
    }

    /// The whole run, for a page that is saved: all but the [`Evidence`].
    fn whole(&mut self, file: &RunFile, evidence: &Evidence) -> Result<Vec<u8>, RunFileError> {
        let mut news = News::default();
        self.announce(file, &mut news)?;
        let all = 0..file.about().slices;
        let (chunks, _) = self.chunks(file, all, (0, Slice::new()), &mut news)?;
        let events = facts::events(file, 0)?;
        let mut facts = facts::all(file, self, &news.metrics, &news.series, &events)?;
        let failures = facts::failures(file, self, &evidence.places)?;
        facts.insert("failures".to_owned(), Value::Array(failures));
        Ok(document(false, &Value::Object(facts), &chunks))
    }

    /// The chunks of all series with values in a range of slices, which is told already or about to be; and the last slice of the page if
    /// it is not full. `from`: the first slice that is read, where the first of the page was `begun` before.
    fn chunks(
        &mut self,
        file: &RunFile,
        slices: Range<u64>,
        (from, begun): (u64, Slice),
        news: &mut News,
    ) -> Result<(Chunks, Slice), RunFileError> {
        let totals = &self.totals;
        let mut all: BTreeMap<usize, Columns> = BTreeMap::new();
        let mut open = begun;
        let mut present = slices.start / self.factor;
        file.each(&(from..slices.end), |n, series, sink| {
            let now = n / self.factor;
            if now != present {
                close(&mut all, &mut open, present);
                present = now;
            }
            let Some(id) = self.series.get(&Origin::Series(series)) else { return };
            let binned = totals.get(&series).is_some_and(|total| *total > EXACT_MAX);
            match open.get_mut(id) {
                Some((all, is_binned)) => {
                    all.merge(&sink);
                    *is_binned = binned;
                }
                None => drop(open.insert(*id, (sink, binned))),
            }
        })?;
        let last = slices.end.saturating_sub(1) / self.factor;
        if present != last {
            close(&mut all, &mut open, present);
        }
        for (id, (sink, binned)) in &open {
            all.entry(*id).or_default().push(last, sink, *binned);
        }
        if slices.end.is_multiple_of(self.factor) {
            open.clear();
        }
        // By slice of the page and series: what the other tables tell.
        let mut others: BTreeMap<(u64, usize), Sink> = BTreeMap::new();
        for extra in extra::all(file, &slices)? {
            let id = self.series_of(extra.origin, &extra.metric, &extra.tags, news);
            let key = (extra.n / self.factor, id);
            match others.get_mut(&key) {
                Some(all) => all.merge(&extra.sink),
                None => drop(others.insert(key, extra.sink)),
            }
        }
        for ((n, id), sink) in others {
            all.entry(id).or_default().push(n, &sink, false);
        }
        let chunks = all.into_iter().map(|(id, columns)| (id, columns.chunk(id as u64)));
        Ok((chunks.collect(), open))
    }

    /// Gives the file's new series their numbers: those of a metric together.
    fn announce(&mut self, file: &RunFile, news: &mut News) -> Result<(), RunFileError> {
        let query = "SELECT id, metric, tags FROM series WHERE id > ?1 ORDER BY metric, id";
        let rows = file.rows(query, [self.seen], |row| {
            Ok((row.get::<_, i64>(0)?, row.get::<_, u32>(1)?, row.get::<_, String>(2)?))
        })?;
        if rows.is_empty() {
            return Ok(());
        }
        let metrics: BTreeMap<u32, PageMetric> = file
            .metrics()
            .iter()
            .map(|metric| {
                let page = PageMetric::new(&metric.name, metric.kind, metric.contains, "metric");
                (metric.id, page)
            })
            .collect();
        let last = rows.iter().map(|(id, ..)| *id).max().unwrap_or(self.seen);
        // One that is newer than our metrics is met again.
        let unknown = rows.iter().filter(|(_, metric, _)| !metrics.contains_key(metric));
        self.seen = unknown.map(|(id, ..)| id - 1).min().unwrap_or(last);
        for (id, metric, tags) in rows {
            let Some(metric) = metrics.get(&metric) else { continue };
            let tags: BTreeMap<String, Value> = serde_json::from_str(&tags).unwrap_or_default();
            // As summaries, the page leaves warm-ups out.
            if file.about().summary.warmup && tags.get(WARMUP_TAG) == Some(&json!("true")) {
                continue;
            }
            let origin = Origin::Series(u32::try_from(id).unwrap_or_default());
            self.series_of(origin, metric, &tags.into_iter().collect(), news);
        }
        Ok(())
    }

    /// The number of a series, which may be new.
    fn series_of(
        &mut self,
        origin: Origin,
        metric: &PageMetric,
        tags: &Map<String, Value>,
        news: &mut News,
    ) -> usize {
        if let Some(id) = self.series.get(&origin) {
            return *id;
        }
        let known = self.metrics.get(metric).copied();
        let place = known.unwrap_or_else(|| {
            let place = self.metrics.len();
            news.metrics.push(metric.told());
            self.metrics.insert(metric.clone(), place);
            place
        });
        let id = self.series.len();
        news.series.push(json!([place, tags]));
        self.series.insert(origin, id);
        id
    }

    /// The number of a series, for facts that name it.
    pub(crate) fn number(&self, origin: &Origin) -> Value {
        self.series.get(origin).map_or(Value::Null, |id| json!(id))
    }

    /// How many slices of the file are one of the page.
    pub(crate) fn factor(&self) -> u64 {
        self.factor
    }
}

/// Kept exchanges and sources of a page, and the places of exchanges in their list by their ids.
struct Evidence {
    exchanges: Vec<Value>,
    sources: Value,
    places: BTreeMap<i64, usize>,
}

impl Evidence {
    /// Evidence of a saved page: bodies are cut until a document with them weighs no more than it may.
    fn of(file: &RunFile, weigh: impl Fn(&[u8]) -> u64) -> Result<Self, RunFileError> {
        /// The most bytes of evidence in a page.
        const MOST: u64 = 2 << 20;
        /// Bytes of a body.
        const BODIES: [usize; 3] = [8 << 10, 1 << 10, 0];
        let (exchanges, places) = facts::exchanges(file)?;
        let mut evidence = Self { exchanges, sources: facts::sources(file)?, places };
        for most in BODIES {
            // The scripts are a part of it, but it is the bodies that give way.
            if weigh(&evidence.record(head())) <= MOST {
                break;
            }
            for exchange in &mut evidence.exchanges {
                facts::cut(exchange, most);
            }
        }
        Ok(evidence)
    }

    /// Puts it behind what a document has already.
    fn record(&self, mut document: Vec<u8>) -> Vec<u8> {
        let json = json!({ "exchanges": self.exchanges, "sources": self.sources });
        record(&mut document, JSON, json.to_string().as_bytes());
        document
    }
}

/// The whole of a run as one document for a saved page: merged as far as that must be for its weight, which `weigh` tells (the bytes of
/// the finished page). Exchanges and sources have a weight of their own: for them no slices are merged.
pub fn saved(file: &RunFile, weigh: impl Fn(&[u8]) -> u64) -> Result<Vec<u8>, RunFileError> {
    const MEGABYTE: u64 = 1 << 20;
    let about = file.about();
    let bare = weigh(&head());
    let evidence = Evidence::of(file, |document| weigh(document).saturating_sub(bare))?;
    let most = match about.duration.as_secs() {
        0..=600 => MEGABYTE,
        601..=3600 => 8 * MEGABYTE,
        _ => 40 * MEGABYTE,
    };
    let beside = weigh(&evidence.record(head())).saturating_sub(bare);
    let totals = totals(file, &(0..about.slices))?;
    let least = factor(about.slices);
    let is_fine = |factor: &u64| *factor == least || about.slices / factor >= SLICES_MIN;
    let mut factors = FACTORS.into_iter().filter(|factor| *factor >= least).filter(is_fine);
    let mut now = least;
    loop {
        let mut page = Page { totals: totals.clone(), ..Page::of(now) };
        let document = evidence.record(page.whole(file, &evidence)?);
        let weight = weigh(&document).saturating_sub(beside);
        // No page shrinks faster than its slices become fewer: those between are not tried, as each reads the whole file.
        let wanted = (now as f64 * weight as f64 / most as f64) as u64;
        let next = factors.by_ref().filter(|factor| *factor > now);
        let (mut last, mut chosen) = (None, None);
        for factor in next {
            last = Some(factor);
            if factor >= wanted {
                chosen = Some(factor);
                break;
            }
        }
        match chosen.or(last) {
            Some(factor) if weight > most => now = factor,
            _ => return Ok(document),
        }
    }
}

/// How many values the trends have in these slices.
fn totals(file: &RunFile, slices: &Range<u64>) -> Result<BTreeMap<u32, u64>, RunFileError> {
    let query = "SELECT series, sum(count) FROM slice WHERE n >= ?1 AND n < ?2 AND histogram IS NOT NULL GROUP BY series";
    let rows = file.rows(query, [slices.start as i64, slices.end as i64], |row| {
        Ok((row.get(0)?, row.get::<_, i64>(1)? as u64))
    })?;
    Ok(rows.into_iter().collect())
}

/// The least factor with which these slices are few enough.
fn factor(slices: u64) -> u64 {
    let fits = |factor: &&u64| slices.div_ceil(**factor) <= SLICES_MAX;
    *FACTORS.iter().find(fits).unwrap_or(&FACTORS[FACTORS.len() - 1])
}

/// Puts what a slice of the page holds into the columns.
fn close(all: &mut BTreeMap<usize, Columns>, open: &mut Slice, slice: u64) {
    while let Some((id, (sink, binned))) = open.pop_first() {
        all.entry(id).or_default().push(slice, &sink, binned);
    }
}

/// A document of one JSON record and the chunks of series.
fn document(is_reset: bool, facts: &Value, chunks: &[(usize, Vec<u8>)]) -> Vec<u8> {
    let mut out = head();
    if is_reset {
        record(&mut out, RESET, &[]);
    }
    record(&mut out, JSON, facts.to_string().as_bytes());
    for (_, chunk) in chunks {
        record(&mut out, CHUNK, chunk);
    }
    out
}

/// The beginning of each document.
fn head() -> Vec<u8> {
    b"BRNP\x01".to_vec()
}

fn record(out: &mut Vec<u8>, kind: u8, payload: &[u8]) {
    out.push(kind);
    put(out, payload.len() as u64);
    out.extend_from_slice(payload);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_are_merged_until_they_are_few() {
        assert_eq!([0, 1, 1500, 1501, 3600, 15_000, 86_400].map(factor), [1, 1, 1, 2, 5, 10, 60]);
    }
}
