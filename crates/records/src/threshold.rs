//! Conditions on an attack: `p99<50ms`, `success>99%`.

mod course;
mod parse;
mod subject;

use std::fmt;
use std::time::Duration;

use brunt_metrics::Timing;

pub use self::course::Course;
pub use self::subject::{Subject, Twin};
use crate::{Class, Histogram, Summary};

/// A condition on a [`Summary`].
///
/// ```text
/// threshold = metric op value                      op = < <= > >= == !=
/// metric    = [ clock "." ] latency / number
/// clock     = "ok"       latencies of successes alone
///           / "waited"   counted from when each hit was due (needs records that Brunt wrote)
///           / "lag"      from when each hit was due to when it was begun (likewise)
/// latency   = "min" / "mean" / "max" / "p50" … "p99.9"               value: a duration such as 50ms
/// number    = "success"                                              value: 99% or 0.99
///           / "rate" / "throughput" / "offered" / "achieved" / "requests" / "failures" / "bytes_in" / "bytes_out"
/// ```
///
/// Behind it may be words, such as `window=30s for=10s`: then it is judged by a [`Course`].
#[derive(Clone, Debug, PartialEq)]
pub struct Threshold {
    text: String,
    metric: Metric,
    operator: Operator,
    bound: f64,
    timing: Timing,
}

/// The result of a threshold.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// Whether it was reached.
    pub is_ok: bool,
    /// The number that was compared, as a reader wants it; nothing if the records don't tell it, which is no success.
    pub found: Option<String>,
    /// The same as a plain number: nanoseconds, a share of 1, hits a second, bytes.
    pub value: Option<f64>,
}

/// A text that is no threshold.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("bad threshold {text:?}: {problem}")]
pub struct ThresholdError {
    text: String,
    problem: String,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Metric {
    Latency(Clock, Stat),
    Success,
    Rate,
    Throughput,
    Offered,
    Achieved,
    Requests,
    Failures,
    BytesIn,
    BytesOut,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Clock {
    All,
    Ok,
    Waited,
    Lag,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Stat {
    Min,
    Mean,
    Max,
    Quantile(f64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    Less,
    LessOrEqual,
    More,
    MoreOrEqual,
    Equal,
    NotEqual,
}

impl Threshold {
    /// Compares. A threshold in time is judged by its [`Course`] instead.
    pub fn judge(&self, summary: &Summary) -> Verdict {
        let value = if summary.requests() == 0 { None } else { self.value(summary) };
        Verdict {
            is_ok: value.is_some_and(|value| self.holds(value)),
            found: value.map(|value| self.shown(value)),
            value,
        }
    }

    /// As it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// When it is looked at, and its exit code.
    pub fn timing(&self) -> &Timing {
        &self.timing
    }

    fn holds(&self, value: f64) -> bool {
        match self.operator {
            Operator::Less => value < self.bound,
            Operator::LessOrEqual => value <= self.bound,
            Operator::More => value > self.bound,
            Operator::MoreOrEqual => value >= self.bound,
            Operator::Equal => (value - self.bound).abs() < 1e-9,
            Operator::NotEqual => (value - self.bound).abs() >= 1e-9,
        }
    }

    fn shown(&self, value: f64) -> String {
        match self.metric {
            Metric::Latency(..) => brunt_duration::format_rounded(value as i64),
            Metric::Success => format!("{:.2}%", value * 100.0),
            Metric::Rate | Metric::Throughput | Metric::Offered | Metric::Achieved => {
                format!("{value:.2}")
            }
            _ => format!("{value:.0}"),
        }
    }

    /// Whether no hit at all is a number of it: 0.
    fn counts(&self) -> bool {
        matches!(
            self.metric,
            Metric::Requests
                | Metric::Failures
                | Metric::BytesIn
                | Metric::BytesOut
                | Metric::Rate
                | Metric::Throughput
        )
    }

    /// The number of a window, whose hits ended in it. Its rates are of the whole of its time: a server that hangs
    /// leaves no gaps between hits to measure.
    fn value_in(&self, hits: &Summary, window: Duration) -> Option<f64> {
        let a_second = |count: u64| count as f64 / window.as_secs_f64();
        match self.metric {
            Metric::Rate => Some(a_second(hits.requests())),
            Metric::Throughput => Some(a_second(hits.successes())),
            _ => self.value(hits),
        }
    }

    fn value(&self, summary: &Summary) -> Option<f64> {
        let schedule = summary.schedule();
        Some(match self.metric {
            Metric::Latency(clock, stat) => {
                let all;
                let histogram = match clock {
                    Clock::All => {
                        all = summary.latencies();
                        &all
                    }
                    Clock::Ok => summary.class(Class::Success),
                    Clock::Waited => &schedule?.response_times,
                    Clock::Lag => &schedule?.lags,
                };
                of(histogram, stat)?
            }
            Metric::Success => summary.success(),
            Metric::Rate => summary.rate(),
            Metric::Throughput => summary.throughput(),
            Metric::Offered => schedule?.offered_rate(),
            Metric::Achieved => schedule?.achieved_rate(),
            Metric::Requests => summary.requests() as f64,
            Metric::Failures => (summary.requests() - summary.successes()) as f64,
            Metric::BytesIn => summary.bytes_in() as f64,
            Metric::BytesOut => summary.bytes_out() as f64,
        })
    }
}

fn of(histogram: &Histogram, stat: Stat) -> Option<f64> {
    if histogram.count() == 0 {
        return None;
    }
    Some(match stat {
        Stat::Min => histogram.min() as f64,
        Stat::Mean => histogram.mean() as f64,
        Stat::Max => histogram.max() as f64,
        Stat::Quantile(share) => histogram.quantile(share) as f64,
    })
}

impl fmt::Display for Threshold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Record, Timestamp};

    fn summary() -> Summary {
        let mut summary = Summary::default();
        for n in 1..=100_u64 {
            summary.add(&Record {
                code: if n == 100 { 500 } else { 200 },
                timestamp: Timestamp::from_unix_ns(n * 10_000_000),
                latency: n * 1_000_000,
                planned: Some(n * 10_000_000 - 1_000_000),
                ..Record::default()
            });
        }
        summary
    }

    #[test]
    fn thresholds_are_judged() {
        let summary = summary();
        for (text, is_ok, found) in [
            ("p99<100ms", true, "99ms"),
            ("p99 < 99ms", false, "99ms"),
            ("p99.9<=100ms", true, "100ms"),
            ("ok.max<100ms", true, "99ms"),
            ("max>=100ms", true, "100ms"),
            ("mean<51ms", true, "50.5ms"),
            ("waited.p50==51ms", true, "51ms"),
            ("lag.max<1ms", false, "1ms"),
            ("success>99%", false, "99.00%"),
            ("success>=0.99", true, "99.00%"),
            ("rate>101", true, "101.01"),
            ("achieved<100.1", true, "100.00"),
            ("requests==100", true, "100"),
            ("failures!=0", true, "1"),
        ] {
            let verdict = text.parse::<Threshold>().unwrap().judge(&summary);
            assert_eq!((verdict.is_ok, verdict.found.as_deref()), (is_ok, Some(found)), "{text}");
        }
    }

    #[test]
    fn what_nobody_measured_is_not_reached() {
        for text in ["p99<1h", "success>=0", "requests>=0"] {
            let verdict = text.parse::<Threshold>().unwrap().judge(&Summary::default());
            assert_eq!(verdict, Verdict { is_ok: false, found: None, value: None }, "{text}");
        }
        let mut summary = Summary::default();
        summary.add(&Record { code: 500, ..Record::default() });
        for text in ["ok.p99<1h", "waited.p99<1h", "offered>0"] {
            assert!(!text.parse::<Threshold>().unwrap().judge(&summary).is_ok, "{text}");
        }
    }
}
