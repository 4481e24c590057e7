//! The figures that are compared, and how one is read from a part of a run.

use std::sync::Arc;

use brunt_metrics::TrendSink;

use crate::run::{Better, Part, Share, Slice};

/// Shorter durations count as this one, in milliseconds: ratios below a microsecond tell nothing.
pub(crate) const DURATION_LEAST_MS: f64 = 0.001;

/// The thing that a comparison speaks of.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Subject {
    /// The whole test.
    All,
    /// The requests of one route.
    Route(Arc<str>),
    /// One check.
    Check(Arc<str>),
    /// One threshold.
    Threshold(Arc<str>),
}

impl Subject {
    /// Its word in all formats.
    pub fn word(&self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Route(_) => "route",
            Self::Check(_) => "check",
            Self::Threshold(_) => "threshold",
        }
    }

    /// The name of the route, check or threshold; empty for the whole test.
    pub fn name(&self) -> &str {
        match self {
            Self::All => "",
            Self::Route(name) | Self::Check(name) | Self::Threshold(name) => name,
        }
    }
}

/// A figure.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Measure {
    /// Requests per second.
    Requests,
    /// Complete iterations per second.
    Iterations,
    /// The share of requests that failed.
    Failed,
    /// The share of checks that passed.
    Checks,
    /// A statistic of a duration, in milliseconds.
    Duration(Arc<str>, Statistic),
    /// The value that a threshold looked at.
    Threshold {
        /// Whether it is a share.
        is_share: bool,
    },
}

/// A statistic of a distribution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Statistic {
    /// The median.
    P50,
    /// The value that one in ten passes.
    P90,
    /// The value that one in twenty passes.
    P95,
    /// The value that one in a hundred passes.
    P99,
    /// The mean.
    Mean,
}

/// How values of a figure are set against each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// By their ratio: changes are relative, 0.1 = a tenth more.
    Ratio,
    /// By their difference: changes are shares, 0.001 = a tenth of a percentage point more.
    Points,
}

impl Statistic {
    /// All of them, in the order of every table.
    pub const ALL: [Self; 5] = [Self::P50, Self::P90, Self::P95, Self::P99, Self::Mean];

    /// Its word in all formats.
    pub fn word(self) -> &'static str {
        match self {
            Self::P50 => "p50",
            Self::P90 => "p90",
            Self::P95 => "p95",
            Self::P99 => "p99",
            Self::Mean => "mean",
        }
    }

    /// The share of values below it; none for the mean.
    pub(crate) fn rank(self) -> Option<f64> {
        match self {
            Self::P50 => Some(0.5),
            Self::P90 => Some(0.9),
            Self::P95 => Some(0.95),
            Self::P99 => Some(0.99),
            Self::Mean => None,
        }
    }

    /// Its value of a distribution, in milliseconds; none of none.
    pub(crate) fn of(self, sink: &TrendSink) -> Option<f64> {
        if sink.is_empty() {
            return None;
        }
        let value = match self.rank() {
            Some(rank) => sink.percentile(rank * 100.0),
            None => sink.avg(),
        };
        value.is_finite().then(|| value.max(DURATION_LEAST_MS))
    }
}

impl Measure {
    /// How its values are set against each other.
    pub fn scale(&self) -> Scale {
        match self {
            Self::Failed | Self::Checks | Self::Threshold { is_share: true } => Scale::Points,
            _ => Scale::Ratio,
        }
    }

    /// Which way is better; a threshold's own word decides for it.
    pub fn better(&self) -> Option<Better> {
        match self {
            Self::Requests | Self::Iterations | Self::Checks => Some(Better::More),
            Self::Failed | Self::Duration(..) => Some(Better::Less),
            Self::Threshold { .. } => None,
        }
    }

    /// Its word in all formats: `requests_per_second`, `http_req_duration p95`.
    pub fn word(&self) -> String {
        match self {
            Self::Requests => "requests_per_second".into(),
            Self::Iterations => "iterations_per_second".into(),
            Self::Failed => "failed".into(),
            Self::Checks => "checks_passed".into(),
            Self::Duration(metric, statistic) => format!("{metric} {}", statistic.word()),
            Self::Threshold { .. } => "threshold".into(),
        }
    }

    /// Its value in a part of a run; none if there is nothing to read it from. Rates that are zero count as half a
    /// request, so that they have a ratio to others.
    pub(crate) fn value(&self, subject: &Subject, slice: &Slice) -> Option<f64> {
        let per_second =
            |count: u64| (slice.width_s > 0.0).then(|| (count as f64).max(0.5) / slice.width_s);
        match self {
            Self::Iterations => per_second(slice.iterations),
            Self::Requests => per_second(part(subject, slice)?.requests),
            Self::Failed | Self::Checks => self.share(subject, slice)?.value(),
            Self::Duration(metric, statistic) => {
                part(subject, slice)?.durations.get(metric).and_then(|sink| statistic.of(sink))
            }
            Self::Threshold { .. } => None,
        }
    }

    /// The hits that its value is the share of; none if it is no share.
    pub(crate) fn share(&self, subject: &Subject, slice: &Slice) -> Option<Share> {
        match (self, subject) {
            (Self::Failed, _) => Some(part(subject, slice)?.failed()),
            (Self::Checks, Subject::Check(name)) => slice.checks.get(name).copied(),
            (Self::Checks, _) => {
                let mut all = Share::default();
                slice.checks.values().for_each(|share| all.add(*share));
                Some(all)
            }
            _ => None,
        }
    }
}

/// The requests of a subject; none if it has no such.
pub(crate) fn part<'a>(subject: &Subject, slice: &'a Slice) -> Option<&'a Part> {
    match subject {
        Subject::All => Some(&slice.all),
        Subject::Route(name) => slice.routes.get(name),
        Subject::Check(_) | Subject::Threshold(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slice() -> Slice {
        let mut slice = Slice { width_s: 4.0, iterations: 8, ..Slice::default() };
        slice.all.requests = 20;
        slice.all.failures = 5;
        slice.all.durations.insert("d".into(), TrendSink::from_values([1.0, 2.0, 3.0]));
        slice.checks.insert("x".into(), Share { hits: 3, total: 4 });
        slice.checks.insert("y".into(), Share { hits: 4, total: 4 });
        slice
    }

    #[test]
    fn values_are_read() {
        let slice = slice();
        let value = |measure: Measure, subject: Subject| measure.value(&subject, &slice);
        assert_eq!(value(Measure::Requests, Subject::All), Some(5.0));
        assert_eq!(value(Measure::Iterations, Subject::All), Some(2.0));
        assert_eq!(value(Measure::Failed, Subject::All), Some(0.25));
        assert_eq!(value(Measure::Checks, Subject::All), Some(7.0 / 8.0));
        assert_eq!(value(Measure::Checks, Subject::Check("x".into())), Some(0.75));
        assert_eq!(value(Measure::Duration("d".into(), Statistic::P50), Subject::All), Some(2.0));
        assert_eq!(value(Measure::Duration("e".into(), Statistic::P50), Subject::All), None);
        assert_eq!(value(Measure::Requests, Subject::Route("r".into())), None);
    }

    #[test]
    fn nothing_counts_as_a_little() {
        let empty = Slice { width_s: 2.0, ..Slice::default() };
        assert_eq!(Measure::Requests.value(&Subject::All, &empty), Some(0.25));
        assert_eq!(Measure::Failed.value(&Subject::All, &empty), None);
        assert_eq!(Measure::Requests.value(&Subject::All, &Slice::default()), None);
        assert_eq!(Statistic::P50.of(&TrendSink::from_values([0.0])), Some(DURATION_LEAST_MS));
        assert_eq!(Statistic::Mean.of(&TrendSink::from_values([f64::INFINITY])), None);
    }
}
