//! Conditions on an attack as they are written.

use std::str::FromStr;

use brunt_metrics::Timing;

use super::{Clock, Metric, Operator, Stat, Threshold, ThresholdError};

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

#[cfg(test)]
mod tests {
    use super::*;

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
