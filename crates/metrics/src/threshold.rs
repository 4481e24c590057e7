//! Conditions that a test must meet: `p(95)<500`.

mod error;
mod selector;
mod timing;
mod watch;

use std::fmt;
use std::time::Duration;

pub use self::error::ThresholdError;
pub use self::selector::Selector;
pub use self::timing::{NoData, Timing, TimingError};
pub use self::watch::Watch;
use crate::metric::Kind;
use crate::sink::Sink;
use crate::stat::parse_percentile;

/// One condition on a metric: aggregation, operator, number.
#[derive(Clone, Debug, PartialEq)]
pub struct Threshold {
    /// The expression as the user wrote it.
    pub source: String,
    /// Its left side.
    pub aggregation: Aggregation,
    /// The operator in its middle.
    pub operator: Operator,
    /// Its right side; milliseconds for times, bytes for data.
    pub limit: f64,
    /// Whether the test stops when it fails.
    pub abort_on_fail: bool,
    /// How long it may fail without stopping the test.
    pub delay_abort_eval: Option<Duration>,
    /// When it is looked at, and what else k6 doesn't have.
    pub timing: Timing,
}

/// The thresholds of one metric or submetric.
#[derive(Clone, Debug, PartialEq)]
pub struct ThresholdSet {
    /// `http_req_duration` or `http_req_duration{name:x}`.
    pub metric: String,
    /// The conditions, in the order of the options.
    pub thresholds: Vec<Threshold>,
}

/// The left side of a threshold.
#[derive(Clone, Debug, PartialEq)]
pub enum Aggregation {
    /// The last value of a gauge.
    Value,
    /// The sum of a counter.
    Count,
    /// Of a counter: its sum per second. Of a rate: hits per value.
    Rate,
    /// The mean of a trend.
    Avg,
    /// The least value of a trend.
    Min,
    /// The median of a trend.
    Med,
    /// The greatest value of a trend.
    Max,
    /// A percentile of a trend.
    Percentile {
        /// 0 to 100.
        percent: f64,
        /// As it was written: `p(99.9)`.
        text: String,
    },
}

/// How the two sides of a threshold must compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    /// `<`
    Less,
    /// `<=`
    AtMost,
    /// `>`
    Greater,
    /// `>=`
    AtLeast,
    /// `==` or `===`
    Equal,
    /// `!=`
    Unequal,
}

impl Threshold {
    /// Reads an expression: `avg<100`, `rate >= 0.9`, `p(99.9) <= 1e3`.
    ///
    /// The operators are looked for in the order `<= < >= > === == !=`, as k6 does; blanks around them
    /// do not matter.
    pub fn parse(
        source: &str,
        abort_on_fail: bool,
        delay_abort_eval: Option<Duration>,
    ) -> Result<Self, ThresholdError> {
        const OPERATORS: [(&str, Operator); 7] = [
            ("<=", Operator::AtMost),
            ("<", Operator::Less),
            (">=", Operator::AtLeast),
            (">", Operator::Greater),
            ("===", Operator::Equal),
            ("==", Operator::Equal),
            ("!=", Operator::Unequal),
        ];
        let (left, operator, right) = OPERATORS
            .iter()
            .find_map(|(text, operator)| {
                let (left, right) = source.split_once(text)?;
                Some((left.trim(), *operator, right.trim()))
            })
            .ok_or_else(|| ThresholdError::Malformed(source.to_owned()))?;
        let aggregation = Aggregation::parse(left).ok_or_else(|| ThresholdError::Aggregation {
            source_text: source.to_owned(),
            left: left.to_owned(),
        })?;
        let limit = number(right).ok_or_else(|| ThresholdError::Number {
            source_text: source.to_owned(),
            right: right.to_owned(),
        })?;
        let source = source.to_owned();
        let timing = Timing::default();
        Ok(Self { source, aggregation, operator, limit, abort_on_fail, delay_abort_eval, timing })
    }

    /// The expression, and behind it the words that say when it is looked at: `p(95)<200 window=30s`. No two thresholds of
    /// a metric are called the same unless they are the same.
    pub fn label(&self) -> String {
        format!("{}{}", self.source, self.timing)
    }

    /// Reads a [`label`](Self::label).
    ///
    /// # Errors
    /// As [`parse`](Self::parse); a word that can't be read is malformed, too.
    pub fn parse_label(
        label: &str,
        abort_on_fail: bool,
        delay_abort_eval: Option<Duration>,
    ) -> Result<Self, ThresholdError> {
        let malformed = |_| ThresholdError::Malformed(label.to_owned());
        let (source, timing) = Timing::split(label).map_err(malformed)?;
        // The blanks around an expression without words are part of it.
        let source = if timing.is_none() { label } else { source };
        Ok(Self { timing, ..Self::parse(source, abort_on_fail, delay_abort_eval)? })
    }

    /// Whether it holds for this left side.
    #[allow(clippy::float_cmp, reason = "`==` means what it says, as in k6")]
    pub fn holds(&self, left: f64) -> bool {
        match self.operator {
            Operator::Less => left < self.limit,
            Operator::AtMost => left <= self.limit,
            Operator::Greater => left > self.limit,
            Operator::AtLeast => left >= self.limit,
            Operator::Equal => left == self.limit,
            Operator::Unequal => left != self.limit,
        }
    }

    /// Checks that a metric of this kind has such a number; `name` is for the message.
    pub fn check_kind(&self, name: &str, kind: Kind) -> Result<(), ThresholdError> {
        let (fits, allowed) = match kind {
            Kind::Counter => {
                let fits = matches!(self.aggregation, Aggregation::Count | Aggregation::Rate);
                (fits, "count and rate")
            }
            Kind::Gauge => (matches!(self.aggregation, Aggregation::Value), "value"),
            Kind::Rate => (matches!(self.aggregation, Aggregation::Rate), "rate"),
            Kind::Trend => {
                let other = matches!(
                    self.aggregation,
                    Aggregation::Value | Aggregation::Count | Aggregation::Rate
                );
                (!other, "avg, min, med, max and p(N)")
            }
        };
        if fits {
            return Ok(());
        }
        Err(ThresholdError::Unsupported {
            source_text: self.source.clone(),
            name: name.to_owned(),
            kind,
            aggregation: self.aggregation.to_string(),
            allowed,
        })
    }
}

/// A number, perhaps with `_` between its digits.
fn number(text: &str) -> Option<f64> {
    let parts: Vec<&str> = text.split('_').collect();
    let divides = parts.windows(2).all(|pair| {
        pair[0].ends_with(|c: char| c.is_ascii_digit())
            && pair[1].starts_with(|c: char| c.is_ascii_digit())
    });
    divides.then(|| parts.concat().parse().ok()).flatten()
}

impl Aggregation {
    fn parse(text: &str) -> Option<Self> {
        Some(match text {
            "value" => Self::Value,
            "count" => Self::Count,
            "rate" => Self::Rate,
            "avg" => Self::Avg,
            "min" => Self::Min,
            "med" => Self::Med,
            "max" => Self::Max,
            _ => Self::Percentile { percent: parse_percentile(text)?, text: text.to_owned() },
        })
    }

    /// This number of a sink; none if it has none, or none yet.
    pub(crate) fn of(&self, sink: &Sink, elapsed: Duration) -> Option<f64> {
        match sink {
            Sink::Trend(trend) => match self {
                Self::Avg => Some(trend.avg()),
                Self::Min => Some(trend.min()),
                Self::Med => Some(trend.percentile(50.0)),
                Self::Max => Some(trend.max()),
                Self::Percentile { percent, .. } => Some(trend.percentile(*percent)),
                Self::Value | Self::Count | Self::Rate => None,
            },
            // Cheap enough, and its names are the aggregations' names.
            other => other.values(elapsed).get(&self.to_string()),
        }
    }
}

impl fmt::Display for Aggregation {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Value => "value",
            Self::Count => "count",
            Self::Rate => "rate",
            Self::Avg => "avg",
            Self::Min => "min",
            Self::Med => "med",
            Self::Max => "max",
            Self::Percentile { text, .. } => text,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(source: &str) -> Result<Threshold, ThresholdError> {
        Threshold::parse(source, false, None)
    }

    #[test]
    fn every_operator_is_understood_with_and_without_blanks() {
        for (source, below, at, above) in [
            ("avg<10", true, false, false),
            (" avg <= 10 ", true, true, false),
            ("avg>10", false, false, true),
            ("avg>=1e1", false, true, true),
            ("avg==10", false, true, false),
            ("avg === 10.0", false, true, false),
            ("avg!=+10", true, false, true),
        ] {
            let threshold = parse(source).unwrap();
            let found = [9.0, 10.0, 11.0].map(|left| threshold.holds(left));
            assert_eq!(found, [below, at, above], "{source}");
            assert_eq!(threshold.source, source);
        }
    }

    #[test]
    fn percentiles_keep_their_text() {
        let threshold = parse("p(99.90) < .5").unwrap();
        assert_eq!(threshold.aggregation.to_string(), "p(99.90)");
        assert_eq!(threshold.limit, 0.5);
        assert_eq!(parse("avg<1_000.5").unwrap().limit, 1000.5);
        assert!(parse("avg<_1").is_err() && parse("avg<1_").is_err());
    }

    #[test]
    fn what_does_not_parse_says_which_part() {
        let said = |source: &str| parse(source).unwrap_err().to_string();
        insta::assert_snapshot!(
            ["", "avg", "avg=1", "p(101)<1", "p(95<1", "foo>1", "avg<x", "avg < 1 && max < 2",
             "avg<1s"].map(said).join("\n"),
            @r#"
        malformed threshold "": write it as aggregation, operator, number, such as p(95)<500
        malformed threshold "avg": write it as aggregation, operator, number, such as p(95)<500
        malformed threshold "avg=1": write it as aggregation, operator, number, such as p(95)<500
        malformed threshold "p(101)<1": "p(101)" is not an aggregation; use value, count, rate, avg, min, med, max or p(N) with N from 0 to 100
        malformed threshold "p(95<1": "p(95" is not an aggregation; use value, count, rate, avg, min, med, max or p(N) with N from 0 to 100
        malformed threshold "foo>1": "foo" is not an aggregation; use value, count, rate, avg, min, med, max or p(N) with N from 0 to 100
        malformed threshold "avg<x": "x" is not a number
        malformed threshold "avg < 1 && max < 2": "1 && max < 2" is not a number
        malformed threshold "avg<1s": "1s" is not a number
        "#
        );
    }

    #[test]
    fn each_kind_has_its_own_aggregations() {
        let fits = |source, kind| parse(source).unwrap().check_kind("aa", kind).is_ok();
        for (source, kinds) in [
            ("count>0", &[Kind::Counter][..]),
            ("rate>0", &[Kind::Counter, Kind::Rate]),
            ("value>0", &[Kind::Gauge]),
            ("avg>0", &[Kind::Trend]),
            ("p(9)>0", &[Kind::Trend]),
        ] {
            for kind in [Kind::Counter, Kind::Gauge, Kind::Rate, Kind::Trend] {
                assert_eq!(fits(source, kind), kinds.contains(&kind), "{source} {kind}");
            }
        }
        let error = parse("count>1").unwrap().check_kind("aa{x:y}", Kind::Trend).unwrap_err();
        assert_eq!(
            error.to_string(),
            "threshold \"count>1\" on \"aa{x:y}\": a trend has no count; it has avg, min, med, max and p(N)"
        );
    }
}
