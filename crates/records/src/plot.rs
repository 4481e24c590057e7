//! Latency over time, as one page of HTML that needs nothing else.

use std::{
    fmt::Write as _,
    io::{self, Write},
};

use rustc_hash::FxHashMap;

use self::series::{Point, Series};
use crate::{Record, encode, report};

mod lttb;
mod series;

/// Points that are kept in all, 16 bytes each. When there are more, the longest series loses half of its points, and
/// keeps its peaks.
const POINTS_MAX: usize = 2_000_000;
/// Series that are kept; hits of further attacks are counted and told on the page.
const SERIES_MAX: usize = 64;

const PAGE: &str = include_str!("plot/page.html");
const STYLE: &str = include_str!("plot/page.css");
const SCRIPT: &str = include_str!("plot/page.js");

/// How to draw.
#[derive(Clone, Debug)]
pub struct PlotConfig {
    /// The page's title and heading.
    pub title: String,
    /// Series with more points are sampled down to this many; 0 = they are not.
    pub threshold: usize,
    /// The names of the inputs, by index: they are shown where two inputs have an attack of the same name.
    pub inputs: Vec<String>,
}

/// A plot that can't be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("lttb: min threshold is 3")]
pub struct PlotError;

/// The points of all hits so far, in bounded memory.
#[derive(Clone, Debug)]
pub struct Plot {
    config: PlotConfig,
    attacks: Vec<Attack>,
    /// By input and attack.
    index: FxHashMap<(usize, String), usize>,
    last: usize,
    points: usize,
    not_shown: u64,
}

/// One attack of one input.
#[derive(Clone, Debug)]
struct Attack {
    input: usize,
    name: String,
    /// Its first hit: x = 0.
    start: u64,
    ok: Series,
    error: Series,
}

impl Plot {
    /// Nothing so far.
    ///
    /// # Errors
    /// The threshold is 1 or 2: a line has two ends and something between.
    pub fn new(config: PlotConfig) -> Result<Self, PlotError> {
        if matches!(config.threshold, 1 | 2) {
            return Err(PlotError);
        }
        let index = FxHashMap::default();
        Ok(Self { config, attacks: Vec::new(), index, last: 0, points: 0, not_shown: 0 })
    }

    /// Adds a hit of an input.
    pub fn add(&mut self, input: usize, record: &Record) {
        let Some(attack) = self.attack(input, record) else {
            self.not_shown += 1;
            return;
        };
        let at = record.timestamp.unix_ns();
        attack.start = attack.start.min(at);
        let series = if record.error.is_empty() { &mut attack.ok } else { &mut attack.error };
        series.add(Point { at, latency: record.latency });
        self.points += 1;
        if self.points > POINTS_MAX {
            let all =
                self.attacks.iter_mut().flat_map(|attack| [&mut attack.ok, &mut attack.error]);
            let longest = all.max_by_key(|series| series.len()).expect("points have a series");
            let before = longest.len();
            longest.thin();
            self.points -= before - longest.len();
        }
    }

    fn attack(&mut self, input: usize, record: &Record) -> Option<&mut Attack> {
        let is_last = |attack: &Attack| attack.input == input && attack.name == record.attack;
        if !self.attacks.get(self.last).is_some_and(is_last) {
            let key = (input, record.attack.clone());
            self.last = match self.index.get(&key) {
                Some(index) => *index,
                None if self.attacks.len() == SERIES_MAX => return None,
                None => {
                    self.attacks.push(Attack {
                        input,
                        name: key.1.clone(),
                        start: u64::MAX,
                        ok: Series::default(),
                        error: Series::default(),
                    });
                    self.index.insert(key, self.attacks.len() - 1);
                    self.attacks.len() - 1
                }
            };
        }
        self.attacks.get_mut(self.last)
    }

    /// Whether there are no points.
    pub fn is_empty(&self) -> bool {
        self.points == 0
    }

    /// How many hits belong to attacks for which there was no room.
    pub fn not_shown(&self) -> u64 {
        self.not_shown
    }

    /// Writes the page.
    ///
    /// # Errors
    /// The writer's.
    pub fn write(&mut self, out: &mut dyn Write) -> io::Result<()> {
        let mut series = self.series();
        series.sort();
        let data: Vec<String> = series.into_iter().map(|(_, json)| json).collect();
        let note = match self.not_shown {
            0 => String::new(),
            count => format!("{count} hits of further attacks are not shown."),
        };
        let title = report::escape(&self.config.title);
        let data = format!("[{}]", data.join(",\n"));
        // The data that are put in are never searched for marks.
        let mut rest = PAGE;
        while let Some((before, behind)) = rest.split_once("{{") {
            let (name, behind) = behind.split_once("}}").expect("our page closes its marks");
            out.write_all(before.as_bytes())?;
            out.write_all(match name {
                "title" => title.as_bytes(),
                "style" => STYLE.as_bytes(),
                "note" => note.as_bytes(),
                "data" => data.as_bytes(),
                "script" => SCRIPT.as_bytes(),
                _ => unreachable!("our page has no other marks"),
            })?;
            rest = behind;
        }
        out.write_all(rest.as_bytes())
    }

    /// Each series that has points: its label, and its JSON.
    fn series(&mut self) -> Vec<(String, String)> {
        let mut written = Vec::new();
        let labels: Vec<String> = self.attacks.iter().map(|attack| self.label(attack)).collect();
        for (attack, label) in self.attacks.iter_mut().zip(labels) {
            let both = [(&mut attack.ok, "OK"), (&mut attack.error, "ERROR")];
            for (series, outcome) in both {
                if series.len() == 0 {
                    continue;
                }
                let label = format!("{label}: {outcome}");
                let json = json(&label, outcome, attack.start, series, self.config.threshold);
                written.push((label, json));
            }
        }
        written
    }

    fn label(&self, attack: &Attack) -> String {
        let namesakes = self.attacks.iter().filter(|other| other.name == attack.name).count();
        match self.config.inputs.get(attack.input) {
            Some(input) if namesakes > 1 => format!("{} ({input})", attack.name).trim().to_owned(),
            _ => attack.name.clone(),
        }
    }
}

/// `{"label":…,"error":…,"hits":…,"x":[seconds],"y":[milliseconds]}`
fn json(label: &str, outcome: &str, start: u64, series: &mut Series, threshold: usize) -> String {
    let mut text = Vec::new();
    encode::json_text(&mut text, label);
    let label = String::from_utf8(text).expect("it was made of a text");
    let is_error = outcome == "ERROR";
    let hits = series.hits();
    let points = lttb::sample(series.sorted(), threshold);
    let mut out = format!("{{\"label\":{label},\"error\":{is_error},\"hits\":{hits},\"x\":[");
    for (index, point) in points.iter().enumerate() {
        let comma = if index > 0 { "," } else { "" };
        // Cut to whole milliseconds.
        let _ = write!(out, "{comma}{}", ((point.at - start) / 1_000_000) as f64 / 1e3);
    }
    out.push_str("],\"y\":[");
    for (index, point) in points.iter().enumerate() {
        let comma = if index > 0 { "," } else { "" };
        let _ = write!(out, "{comma}{}", point.latency as f64 / 1e6);
    }
    out.push_str("]}");
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Timestamp;

    fn plot(threshold: usize) -> Plot {
        let inputs = vec!["a.bin".to_owned(), "b.bin".to_owned()];
        Plot::new(PlotConfig { title: "A <title>".to_owned(), threshold, inputs }).unwrap()
    }

    fn hit(attack: &str, ms: u64, latency_ms: u64, error: &str) -> Record {
        Record {
            attack: attack.to_owned(),
            timestamp: Timestamp::from_unix_ns(5_000_000_000 + ms * 1_000_000),
            latency: latency_ms * 1_000_000,
            error: error.to_owned(),
            ..Record::default()
        }
    }

    fn page(plot: &mut Plot) -> String {
        let mut out = Vec::new();
        plot.write(&mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn each_attack_begins_at_zero_and_errors_stand_apart() {
        let mut plot = plot(4000);
        // Not in order, and number 1 is missing: all are drawn.
        for record in [
            hit("x", 1_500, 7, ""),
            hit("x", 1_000, 5, ""),
            hit("x", 1_700, 1, "refused"),
            hit("y", 90_000, 2, ""),
        ] {
            plot.add(0, &record);
        }
        let page = page(&mut plot);
        for part in [
            r#"{"label":"x: ERROR","error":true,"hits":1,"x":[0.7],"y":[1]}"#,
            r#"{"label":"x: OK","error":false,"hits":2,"x":[0,0.5],"y":[5,7]}"#,
            r#"{"label":"y: OK","error":false,"hits":1,"x":[0],"y":[2]}"#,
        ] {
            assert!(page.contains(part), "{page}");
        }
    }

    #[test]
    fn files_that_share_a_name_are_both_drawn() {
        let mut plot = plot(4000);
        plot.add(0, &hit("x", 0, 1, ""));
        plot.add(1, &hit("x", 50, 2, ""));
        let page = page(&mut plot);
        assert!(
            page.contains(r#""label":"x (a.bin): OK""#)
                && page.contains(r#""label":"x (b.bin): OK""#)
        );
    }

    #[test]
    fn the_page_stands_alone_and_escapes() {
        let mut plot = plot(4000);
        plot.add(0, &hit("</script><script>alert(1)", 0, 1, ""));
        let page = page(&mut plot);
        assert!(page.starts_with("<!doctype html>") && page.trim_end().ends_with("</html>"));
        assert!(page.contains("<title>A &lt;title&gt;</title>"));
        assert!(!page.contains("<script>alert"));
        assert!(!page.contains("{{"), "each part is filled in");
        for outside in ["src=", "href=", "@import", "url(", "http"] {
            assert!(!page.contains(outside), "{outside}");
        }
    }

    #[test]
    fn many_points_are_thinned_and_peaks_stay() {
        let mut plot = plot(100);
        for n in 0..POINTS_MAX as u64 + 10 {
            plot.add(0, &hit("x", n / 100, if n == 777_777 { 9_999 } else { 3 + n % 5 }, ""));
        }
        assert!(plot.points <= POINTS_MAX);
        let page = page(&mut plot);
        assert!(page.contains("9999"), "the peak is gone");
        assert!(page.contains("\"hits\":2000010"));
        assert!(page.len() < 100_000);
    }

    #[test]
    fn attacks_without_end_are_counted() {
        let mut plot = plot(0);
        for n in 0..100 {
            plot.add(0, &hit(&format!("a{n}"), n, 1, ""));
        }
        assert_eq!(plot.not_shown(), 36);
        assert!(page(&mut plot).contains("36 hits of further attacks are not shown."));
    }

    #[test]
    fn a_threshold_of_two_is_refused() {
        let config = PlotConfig { title: String::new(), threshold: 2, inputs: Vec::new() };
        assert_eq!(Plot::new(config).unwrap_err().to_string(), "lttb: min threshold is 3");
    }
}
