//! Which number is wanted of a distribution: `avg`, `p(95)`, …

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// One number out of a trend, as `summaryTrendStats` names it.
#[derive(Clone, Debug, PartialEq)]
pub enum TrendStat {
    /// The mean.
    Avg,
    /// The least value.
    Min,
    /// The median, `p(50)`.
    Med,
    /// The greatest value.
    Max,
    /// How many values.
    Count,
    /// A percentile.
    P {
        /// 0 to 100.
        percent: f64,
        /// The name as it was written, such as `p(99.90)`: it is the key in every report.
        text: Arc<str>,
    },
}

/// An unknown trend statistic, by its name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "\"{0}\" is not a trend statistic: use avg, min, med, max, count or p(N) with N from 0 to 100"
)]
pub struct UnknownStat(pub String);

impl TrendStat {
    /// The six that k6 prints when nothing is said: `avg min med max p(90) p(95)`.
    pub fn defaults() -> Vec<Self> {
        ["avg", "min", "med", "max", "p(90)", "p(95)"]
            .into_iter()
            .filter_map(|name| Self::parse(name).ok())
            .collect()
    }

    /// Reads `avg`, `min`, `med`, `max`, `count` or `p(N)`.
    pub fn parse(text: &str) -> Result<Self, UnknownStat> {
        Ok(match text {
            "avg" => Self::Avg,
            "min" => Self::Min,
            "med" => Self::Med,
            "max" => Self::Max,
            "count" => Self::Count,
            _ => {
                let percent = parse_percentile(text).ok_or_else(|| UnknownStat(text.into()))?;
                Self::P { percent, text: text.into() }
            }
        })
    }
}

/// The N of `p(N)`: a float from 0 to 100.
pub(crate) fn parse_percentile(text: &str) -> Option<f64> {
    let number = text.strip_prefix("p(")?.strip_suffix(')')?;
    let percent: f64 = number.parse().ok()?;
    (0.0..=100.0).contains(&percent).then_some(percent)
}

impl FromStr for TrendStat {
    type Err = UnknownStat;

    fn from_str(text: &str) -> Result<Self, UnknownStat> {
        Self::parse(text)
    }
}

impl fmt::Display for TrendStat {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Avg => "avg",
            Self::Min => "min",
            Self::Med => "med",
            Self::Max => "max",
            Self::Count => "count",
            Self::P { text, .. } => text,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statistic_is_printed_as_it_was_written() {
        for text in ["avg", "min", "med", "max", "count", "p(95)", "p(99.90)", "p(0)"] {
            assert_eq!(TrendStat::parse(text).unwrap().to_string(), text);
        }
    }

    #[test]
    fn what_is_no_statistic_is_refused() {
        for text in ["", "p95", "p()", "p(101)", "p(-1)", "p(x)", "p(nan)", "mean"] {
            assert_eq!(TrendStat::parse(text), Err(UnknownStat(text.into())));
        }
    }
}
