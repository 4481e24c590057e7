//! The numbers of a summary as rows, for formats that are tables.

use brunt_metrics::summary::{MetricSummary, Summary, Values};
use brunt_metrics::{Contains, TrendStat};

use crate::humanize;

/// A number of a metric: its name, as it is, and as people read it.
#[derive(Clone, Debug, PartialEq)]
pub struct Number {
    /// `p(95)`
    pub name: String,
    /// In milliseconds, bytes or as it is.
    pub value: f64,
    /// With its unit.
    pub text: String,
}

/// The numbers of a metric, those of trends as the user wants them.
pub fn numbers(metric: &MetricSummary, stats: &[TrendStat]) -> Vec<Number> {
    let plain = |value: f64| match metric.contains {
        Contains::Time => humanize::duration(value, None),
        Contains::Data => humanize::bytes(value),
        Contains::Default => humanize::trimmed(value, 2),
    };
    let number =
        |name: &str, value: f64, text: String| Number { name: name.to_owned(), value, text };
    let shown = |name: &str, value: f64| number(name, value, plain(value));
    match &metric.values {
        Values::Counter { count, rate } => {
            let rate = rate.map(|rate| number("rate", rate, format!("{}/s", plain(rate))));
            std::iter::once(shown("count", *count)).chain(rate).collect()
        }
        Values::Gauge { value, min, max } => {
            vec![shown("value", *value), shown("min", *min), shown("max", *max)]
        }
        Values::Rate { rate, passes, fails } => {
            let rate = rate.map(|rate| number("rate", rate, humanize::percent(rate)));
            let counts = [("passes", *passes), ("fails", *fails)];
            let counts = counts.map(|(name, count)| number(name, count as f64, count.to_string()));
            rate.into_iter().chain(counts).collect()
        }
        Values::Trend(trend) => {
            let count = trend.count();
            let count = number("count", count as f64, count.to_string());
            let stats = stats.iter().filter(|stat| **stat != TrendStat::Count);
            let stats = stats.map(|stat| shown(&stat.to_string(), trend.stat(stat)));
            std::iter::once(count).chain(stats).collect()
        }
    }
}

/// All metrics that the summary shows.
pub fn metrics(summary: &Summary) -> impl Iterator<Item = &MetricSummary> {
    summary.metrics.iter().filter(|metric| metric.observed || metric.named)
}
