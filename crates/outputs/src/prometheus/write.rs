//! A remote-write request: series with their labels and a value each.

use brunt_metrics::{Contains, Kind, Sink, TagSet, TrendSink, TrendStat};

use super::Measured;
use super::message::{Label, Sample, TimeSeries};
use crate::tally::Row;

/// The NaN by which Prometheus knows that a series ends.
const STALE: u64 = 0x7ff0_0000_0000_0002;

/// One number out of a trend.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Stat {
    Sum,
    Of(TrendStat),
}

impl Stat {
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        if text == "sum" {
            return Ok(Self::Sum);
        }
        TrendStat::parse(text).map(Self::Of).map_err(|_| {
            format!(
                "invalid trend stat '{text}': use avg, min, med, max, count, sum or p(N) with N from 0 to 100"
            )
        })
    }

    /// The end of a series' name: `p99`, `p999` for `p(99.9)`.
    fn suffix(&self) -> String {
        match self {
            Self::Sum => "sum".into(),
            Self::Of(stat) => stat.to_string().replace(['(', ')', '.'], ""),
        }
    }

    fn value(&self, trend: &TrendSink) -> f64 {
        match self {
            Self::Sum => trend.sum(),
            Self::Of(stat) => trend.stat(stat),
        }
    }
}

/// A `WriteRequest` that is being written.
pub(super) struct Request<'a> {
    body: Vec<u8>,
    series: usize,
    /// Milliseconds since the Unix epoch.
    at: i64,
    stats: &'a [Stat],
}

impl<'a> Request<'a> {
    pub(super) fn new(at: i64, stats: &'a [Stat]) -> Self {
        Self { body: Vec::new(), series: 0, at, stats }
    }

    /// How many series are in it.
    pub(super) fn series(&self) -> usize {
        self.series
    }

    /// The bytes so far, and the number of series in them; it is empty again.
    pub(super) fn take(&mut self) -> (Vec<u8>, u64) {
        (std::mem::take(&mut self.body), std::mem::take(&mut self.series) as u64)
    }

    /// The series of a total: several for a trend.
    pub(super) fn push(&mut self, row: &Row<Measured>) {
        self.write(row, None);
    }

    /// The same series, ended.
    pub(super) fn push_stale(&mut self, row: &Row<Measured>) {
        self.write(row, Some(f64::from_bits(STALE)));
    }

    fn write(&mut self, row: &Row<Measured>, instead: Option<f64>) {
        let name = format!("k6_{}", row.metric.name);
        let tags = &row.series.tags;
        let seconds = |value: f64| {
            if row.metric.contains == Contains::Time { value / 1e3 } else { value }
        };
        let sink = match &row.total {
            Measured::Native(native) => {
                let suffix = match row.metric.contains {
                    Contains::Default => "",
                    Contains::Time => "_seconds",
                    Contains::Data => "_bytes",
                };
                let histogram = native.message(self.at, instead);
                return self.append(&TimeSeries {
                    labels: labels(&format!("{name}{suffix}"), tags),
                    histograms: vec![histogram],
                    ..TimeSeries::default()
                });
            }
            Measured::Sink(sink) => sink,
        };
        match sink {
            Sink::Counter { sum, .. } => {
                self.value(&format!("{name}_total"), tags, instead.unwrap_or(*sum));
            }
            Sink::Gauge { last, .. } => {
                self.value(&name, tags, instead.unwrap_or_else(|| seconds(*last)));
            }
            Sink::Rate { hits, total } => {
                let rate = *hits as f64 / (*total).max(1) as f64;
                self.value(&format!("{name}_rate"), tags, instead.unwrap_or(rate));
            }
            Sink::Trend(trend) => {
                for stat in self.stats {
                    // k6 divides the count of milliseconds by a thousand, too; that is no count.
                    let is_count = *stat == Stat::Of(TrendStat::Count);
                    let value = stat.value(trend);
                    let value = if is_count { value } else { seconds(value) };
                    let name = format!("{name}_{}", stat.suffix());
                    self.value(&name, tags, instead.unwrap_or(value));
                }
            }
        }
        debug_assert!(row.metric.kind != Kind::Trend || matches!(sink, Sink::Trend(_)));
    }

    fn value(&mut self, name: &str, tags: &TagSet, value: f64) {
        self.append(&TimeSeries {
            labels: labels(name, tags),
            samples: vec![Sample { value, timestamp: self.at }],
            ..TimeSeries::default()
        });
    }

    fn append(&mut self, series: &TimeSeries) {
        series.append_to(&mut self.body);
        self.series += 1;
    }
}

/// Name and tags as labels, sorted; each name once.
fn labels(name: &str, tags: &TagSet) -> Vec<Label> {
    let mut labels = vec![Label { name: "__name__".into(), value: legal(name) }];
    let told = tags.iter().filter(|(_, value)| !value.is_empty());
    labels.extend(told.map(|(key, value)| Label { name: legal(key), value: value.to_owned() }));
    labels.sort_by(|one, other| one.name.cmp(&other.name));
    labels.dedup_by(|later, first| later.name == first.name);
    labels
}

/// A name that Prometheus takes: letters, digits and underscores, no digit in front. Others would make
/// it refuse the whole request.
fn legal(name: &str) -> String {
    let mut legal: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '_' }).collect();
    if legal.starts_with(|first: char| first.is_ascii_digit()) || legal.is_empty() {
        legal.insert(0, '_');
    }
    legal
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suffixes_have_no_brackets_and_dots() {
        for (text, suffix) in
            [("p(95)", "p95"), ("p(99.9)", "p999"), ("avg", "avg"), ("sum", "sum")]
        {
            assert_eq!(Stat::parse(text).unwrap().suffix(), suffix);
        }
    }

    #[test]
    fn names_become_legal() {
        for (name, expected) in
            [("ab", "ab"), ("my-tag", "my_tag"), ("1a", "_1a"), ("é", "_"), ("", "_")]
        {
            assert_eq!(legal(name), expected);
        }
    }
}
