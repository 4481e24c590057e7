//! Conditions on an attack: `p99<50ms`, `success>99%`.

use std::{fmt, str::FromStr};

mod course;

use brunt_metrics::Timing;

pub use self::course::Course;
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
}

/// The number of the page that a threshold is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subject {
    /// A metric.
    pub metric: &'static str,
    /// A tag of it.
    pub tag: Option<(&'static str, &'static str)>,
    /// Its statistic.
    pub stat: String,
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

/// Longer ones first: `<` is the beginning of `<=`.
const OPERATORS: [(&str, Operator); 7] = [
    ("<=", Operator::LessOrEqual),
    (">=", Operator::MoreOrEqual),
    ("==", Operator::Equal),
    ("!=", Operator::NotEqual),
    ("<", Operator::Less),
    (">", Operator::More),
    ("=", Operator::Equal),
];

impl FromStr for Threshold {
    type Err = ThresholdError;

    fn from_str(text: &str) -> Result<Self, ThresholdError> {
        let whole = text;
        let wrong = |problem: String| ThresholdError { text: whole.to_owned(), problem };
        let (text, timing) = Timing::split(text).map_err(|error| wrong(error.to_string()))?;
        check(&timing).map_err(wrong)?;
        let at = text.find(['<', '>', '=', '!']);
        let at = at.ok_or_else(|| wrong("it compares nothing; write p99<50ms".to_owned()))?;
        let (name, rest) = text.split_at(at);
        let name = name.trim();
        let found = OPERATORS.iter().find_map(|(sign, operator)| {
            rest.strip_prefix(sign).map(|value| (*operator, value.trim()))
        });
        let (operator, value) = found.ok_or_else(|| wrong("! is not an operator".to_owned()))?;
        let metric = metric(name).ok_or_else(|| {
            wrong(format!(
                "there is no metric {name:?}; use p50 … p99.9, min, mean, max (also ok.p99, waited.p99, lag.p99), success, \
                 rate, throughput, offered, achieved, requests, failures, bytes_in, bytes_out"
            ))
        })?;
        let bound = match metric {
            Metric::Latency(..) => {
                brunt_duration::parse(value).map_err(|error| error.to_string()).map(|ns| ns as f64)
            }
            Metric::Success => {
                share(value).ok_or_else(|| format!("{value:?} is not a share, such as 99% or 0.99"))
            }
            _ => number(value).ok_or_else(|| format!("{value:?} is not a number")),
        };
        let bound = bound.map_err(wrong)?;
        Ok(Self { text: whole.to_owned(), metric, operator, bound, timing })
    }
}

/// Whether the words make sense, as far as can be said without the length of the attack.
fn check(timing: &Timing) -> Result<(), String> {
    let shown = brunt_duration::wait::format;
    match (timing.window, timing.hold) {
        (Some(window), _) if window < Timing::WINDOW_MIN => {
            Err(format!("window must be at least 1s, got {}", shown(window)))
        }
        (Some(window), Some(hold)) if hold > window => {
            Err(format!("for is {}, but its window is {}", shown(hold), shown(window)))
        }
        _ => Ok(()),
    }
}

fn metric(name: &str) -> Option<Metric> {
    let (clock, stat_name) = match name.split_once('.') {
        Some(("ok", stat)) => (Clock::Ok, stat),
        Some(("waited", stat)) => (Clock::Waited, stat),
        Some(("lag", stat)) => (Clock::Lag, stat),
        _ => (Clock::All, name),
    };
    let stat = match stat_name {
        "min" => Some(Stat::Min),
        "mean" | "avg" => Some(Stat::Mean),
        "max" => Some(Stat::Max),
        "med" | "median" => Some(Stat::Quantile(0.5)),
        _ => stat_name.strip_prefix('p').and_then(|percent| {
            let percent = number(percent).filter(|percent| (0.0..=100.0).contains(percent))?;
            Some(Stat::Quantile(percent / 100.0))
        }),
    };
    if let Some(stat) = stat {
        return Some(Metric::Latency(clock, stat));
    }
    Some(match name {
        "success" => Metric::Success,
        "rate" => Metric::Rate,
        "throughput" => Metric::Throughput,
        "offered" => Metric::Offered,
        "achieved" => Metric::Achieved,
        "requests" | "count" => Metric::Requests,
        "failures" => Metric::Failures,
        "bytes_in" => Metric::BytesIn,
        "bytes_out" => Metric::BytesOut,
        _ => return None,
    })
}

/// A plain decimal number, no `inf`, no `nan`.
fn number(text: &str) -> Option<f64> {
    let is_plain = text.chars().all(|c| c.is_ascii_digit() || c == '.');
    text.parse().ok().filter(|_| is_plain)
}

fn share(text: &str) -> Option<f64> {
    match text.strip_suffix('%') {
        Some(percent) => Some(number(percent.trim())? / 100.0),
        None => number(text),
    }
}

impl Threshold {
    /// Compares. A threshold in time is judged by its [`Course`] instead.
    pub fn judge(&self, summary: &Summary) -> Verdict {
        let value = if summary.requests() == 0 { None } else { self.value(summary) };
        Verdict {
            is_ok: value.is_some_and(|value| self.holds(value)),
            found: value.map(|value| self.shown(value)),
        }
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
            Metric::Requests | Metric::Failures | Metric::BytesIn | Metric::BytesOut
        )
    }

    /// The number that is compared and the one it is compared with, as a page shows them: times in milliseconds.
    pub fn numbers(&self, summary: &Summary) -> (Option<f64>, f64) {
        let scale = if matches!(self.metric, Metric::Latency(..)) { 1e6 } else { 1.0 };
        let value = if summary.requests() == 0 { None } else { self.value(summary) };
        (value.map(|value| value / scale), self.bound / scale)
    }

    /// The number of the page that it is about; none where the page has no such number.
    pub fn of(&self) -> Option<Subject> {
        let (metric, tag, stat) = match self.metric {
            Metric::Latency(clock, stat) => {
                let (metric, tag) = match clock {
                    Clock::All => ("http_req_duration", None),
                    Clock::Ok => ("http_req_duration", Some(("expected_response", "true"))),
                    Clock::Waited => ("http_req_duration_planned", None),
                    Clock::Lag => ("load.lateness", None),
                };
                let stat = match stat {
                    Stat::Min => "min".to_owned(),
                    Stat::Mean => "avg".to_owned(),
                    Stat::Max => "max".to_owned(),
                    // No digits of binary fractions: 99.9, not 99.90000000000001.
                    Stat::Quantile(share) => format!("p({})", (share * 1e8).round() / 1e6),
                };
                (metric, tag, stat)
            }
            Metric::Requests => ("http_reqs", None, "count".to_owned()),
            Metric::BytesIn => ("data_received", None, "count".to_owned()),
            Metric::BytesOut => ("data_sent", None, "count".to_owned()),
            _ => return None,
        };
        Some(Subject { metric, tag, stat })
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
            assert_eq!(verdict, Verdict { is_ok: false, found: None }, "{text}");
        }
        let mut summary = Summary::default();
        summary.add(&Record { code: 500, ..Record::default() });
        for text in ["ok.p99<1h", "waited.p99<1h", "offered>0"] {
            assert!(!text.parse::<Threshold>().unwrap().judge(&summary).is_ok, "{text}");
        }
    }

    #[test]
    fn what_is_no_threshold_says_why() {
        for (text, part) in [
            ("p99", "it compares nothing"),
            ("p101<5ms", "there is no metric \"p101\""),
            ("p99<50", "missing unit"),
            ("p99!50ms", "! is not an operator"),
            ("success>lots", "is not a share"),
            ("rate>inf", "is not a number"),
            ("ok.success>1", "there is no metric \"ok.success\""),
            ("pnan<1s", "there is no metric"),
        ] {
            let error = text.parse::<Threshold>().unwrap_err().to_string();
            assert!(error.starts_with(&format!("bad threshold {text:?}: ")), "{error}");
            assert!(error.contains(part), "{error}");
        }
    }
}
