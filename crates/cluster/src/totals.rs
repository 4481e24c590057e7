//! Sums of frames that tell whether anything is missing.

use brunt_metrics::{Frame, Sink, builtin};
use serde::{Deserialize, Serialize};

/// Sums that stay the same however frames are cut and merged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Totals {
    /// Iterations.
    pub iterations: u64,
    /// HTTP requests.
    pub requests: u64,
    /// Results of checks.
    pub checks: u64,
    /// Values of trends and rates.
    pub values: u64,
}

impl Totals {
    /// The totals of a frame.
    pub fn of(frame: &Frame) -> Self {
        let mut totals = Self::default();
        for delta in &frame.series {
            match &delta.sink {
                Sink::Counter { sum, .. } if delta.series.metric == builtin::ITERATIONS => {
                    totals.iterations += whole(*sum);
                }
                Sink::Counter { sum, .. } if delta.series.metric == builtin::HTTP_REQS => {
                    totals.requests += whole(*sum);
                }
                Sink::Rate { total, .. } => totals.values += total,
                Sink::Trend(trend) => totals.values += trend.count(),
                Sink::Counter { .. } | Sink::Gauge { .. } => {}
            }
        }
        totals.checks = frame.checks.iter().map(|check| check.passes + check.fails).sum();
        totals
    }

    /// Adds up.
    pub fn add(&mut self, other: Self) {
        self.iterations = self.iterations.saturating_add(other.iterations);
        self.requests = self.requests.saturating_add(other.requests);
        self.checks = self.checks.saturating_add(other.checks);
        self.values = self.values.saturating_add(other.values);
    }

    /// The sums that these have and others lack.
    pub fn without(self, other: Self) -> Self {
        Self {
            iterations: self.iterations.saturating_sub(other.iterations),
            requests: self.requests.saturating_sub(other.requests),
            checks: self.checks.saturating_sub(other.checks),
            values: self.values.saturating_sub(other.values),
        }
    }

    /// Whether all is zero.
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }
}

/// A counter of things, as a number.
fn whole(sum: f64) -> u64 {
    sum.max(0.0).round() as u64
}
