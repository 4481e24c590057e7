//! The whole test in plain data: what reports are written from.

mod failures;
mod routes;

use std::sync::Arc;
use std::time::Duration;

use crate::frame::Dropped;
use crate::metric::{Contains, Kind, MetricId, builtin};
use crate::sink::Sink;
use crate::stat::{TrendStat, parse_percentile};
use crate::threshold::{Threshold, Timing};
use crate::trend::TrendSink;

pub use self::failures::FailureSummary;
pub(crate) use self::routes::is_of_route;
pub use self::routes::{Outcome, RouteSummary, shared_origin};

/// The result of a test.
#[derive(Clone, Debug)]
pub struct Summary {
    /// From the start of the run (before `setup`) to the end of `teardown`.
    pub run: Duration,
    /// Which numbers of a trend the user wants to see, in this order.
    pub trend_stats: Vec<TrendStat>,
    /// All metrics with samples, and those with a threshold in any case. Sorted by name, each parent
    /// before its submetrics.
    pub metrics: Vec<MetricSummary>,
    /// Brunt's own metrics that were not asked for ([`Registry::hide_own`](crate::Registry::hide_own)).
    pub own: Vec<MetricSummary>,
    /// Every check of every group, in the order of first appearance.
    pub checks: Vec<CheckSummary>,
    /// The tree of groups with their checks; its root has no name and no path.
    pub root: GroupSummary,
    /// One entry per scenario whose name is not `default`, in the order of first appearance, its
    /// groups within. Empty unless the ledger was asked for a breakdown.
    pub scenarios: Vec<Breakdown>,
    /// The top-level groups that belong to the scenario `default` (or none), in the order of first
    /// appearance, deeper groups within. Empty unless the ledger was asked for a breakdown.
    pub groups: Vec<Breakdown>,
    /// The requests route by route, the routes that took the most time first. Empty where requests are not told apart by route.
    pub routes: Vec<RouteSummary>,
    /// The kinds of failed requests, the most frequent first.
    pub failures: Vec<FailureSummary>,
    /// The exceptions that ended iterations.
    pub exceptions: Exceptions,
    /// The values that had no room.
    pub dropped: Dropped,
    /// The measurements of warm-ups, which are in no other number; none if there were none.
    pub left_out: Option<LeftOut>,
}

/// How much was measured in the warm-ups of scenarios.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// Iterations that ended.
    pub iterations: u64,
    /// HTTP requests.
    pub requests: u64,
    /// Results of checks.
    pub checks: u64,
    /// Iterations that could not start.
    pub dropped_iterations: u64,
}

impl LeftOut {
    pub(crate) fn add(&mut self, metric: MetricId, sink: &Sink) {
        let place = match metric {
            builtin::ITERATIONS => &mut self.iterations,
            builtin::HTTP_REQS => &mut self.requests,
            builtin::CHECKS => &mut self.checks,
            builtin::DROPPED_ITERATIONS => &mut self.dropped_iterations,
            _ => return,
        };
        match sink {
            Sink::Counter { sum, .. } => *place += *sum as u64,
            Sink::Rate { total, .. } => *place += total,
            Sink::Gauge { .. } | Sink::Trend(_) => {}
        }
    }
}

/// The exceptions that ended iterations.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exceptions {
    /// The first hundred different ones, in the order of their first appearance.
    pub told: Vec<Exception>,
    /// How many others there were.
    pub others: u64,
}

impl Exceptions {
    /// How many there were.
    pub fn count(&self) -> u64 {
        self.told.iter().map(|exception| exception.count).sum::<u64>() + self.others
    }
}

/// An exception of the script.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exception {
    /// The exception and behind it its place, line by line.
    pub text: String,
    /// How often.
    pub count: u64,
}

impl Exception {
    /// The message: the first line.
    pub fn message(&self) -> &str {
        self.text.lines().next().unwrap_or_default().trim_end()
    }

    /// Where: the innermost place in a file, such as `at default (file:///x/a.js:3:9)`, if it is known.
    pub fn place(&self) -> Option<&str> {
        let mut lines = self.text.lines().skip(1).map(str::trim);
        lines.find(|line| line.starts_with("at ") && !line.contains("native"))
    }
}

impl Summary {
    /// The entry of a metric or submetric, by its full name; also one of its [`own`](Self::own).
    pub fn metric(&self, name: &str) -> Option<&MetricSummary> {
        self.metrics.iter().chain(&self.own).find(|metric| metric.name == name)
    }

    /// Gives a gauge that nothing has recorded its only value, which is known when the test is over, and judges its thresholds
    /// anew. The metric; none if no threshold names it, or if it has values.
    pub fn conclude(&mut self, name: &str, value: f64) -> Option<&MetricSummary> {
        let is_it = |metric: &&mut MetricSummary| {
            metric.name == name && metric.kind == Kind::Gauge && !metric.observed && metric.named
        };
        let metric = self.metrics.iter_mut().find(is_it)?;
        metric.values = Values::Gauge { value, min: value, max: value };
        metric.observed = true;
        for result in &mut metric.thresholds {
            let threshold = Threshold::parse(&result.source, false, None);
            result.value = Some(value);
            result.ok = threshold.is_ok_and(|threshold| threshold.holds(value));
        }
        Some(metric)
    }
}

/// A part of the test (one scenario, one group) in its own numbers.
#[derive(Clone, Debug)]
pub struct Breakdown {
    /// The scenario's name, or the last part of the group's path.
    pub name: String,
    /// Metrics with samples, sorted by name; no submetrics, no thresholds.
    pub metrics: Vec<MetricSummary>,
    /// Its checks (those of groups within included), in the order of first appearance.
    pub checks: Vec<CheckSummary>,
    /// The groups within.
    pub groups: Vec<Breakdown>,
}

/// A group and what is in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GroupSummary {
    /// The last part of the path; empty for the root.
    pub name: String,
    /// `::outer::inner`; empty for the root.
    pub path: String,
    /// Groups directly within, in the order of first appearance.
    pub groups: Vec<GroupSummary>,
    /// Checks directly within, in the order of first appearance.
    pub checks: Vec<CheckSummary>,
}

/// How often a check passed and failed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckSummary {
    /// Its name.
    pub name: String,
    /// The path of its group: empty, or `::outer::inner`.
    pub group: String,
    /// How often it passed.
    pub passes: u64,
    /// How often it failed.
    pub fails: u64,
}

/// A metric or a submetric, and how its thresholds stand.
#[derive(Clone, Debug)]
pub struct MetricSummary {
    /// Its name, such as `http_reqs` or `http_req_duration{name:x}`.
    pub name: String,
    /// The name of the metric that a submetric is part of.
    pub parent: Option<String>,
    /// How its values are put together.
    pub kind: Kind,
    /// The meaning of its values.
    pub contains: Contains,
    /// The numbers.
    pub values: Values,
    /// Its thresholds, in the order of the options.
    pub thresholds: Vec<ThresholdResult>,
    /// Whether it got any value.
    pub observed: bool,
    /// Whether the option `thresholds` names it, perhaps with an empty list: then summaries show it without values, too.
    pub named: bool,
}

impl MetricSummary {
    /// The text between the braces of a submetric's name.
    pub fn suffix(&self) -> Option<&str> {
        let parent = self.parent.as_deref()?;
        self.name.strip_prefix(parent)?.strip_prefix('{')?.strip_suffix('}')
    }
}

/// The numbers of a metric.
#[derive(Clone, Debug)]
pub enum Values {
    /// Of a counter.
    Counter {
        /// The sum.
        count: f64,
        /// Per second of the run; none if the run took no time.
        rate: Option<f64>,
    },
    /// Of a gauge; all 0 if it got no value.
    Gauge {
        /// The last.
        value: f64,
        /// The least.
        min: f64,
        /// The greatest.
        max: f64,
    },
    /// Of a rate.
    Rate {
        /// Hits per value, 0 to 1; none if it got no value.
        rate: Option<f64>,
        /// Values that were not zero.
        passes: u64,
        /// Values that were zero.
        fails: u64,
    },
    /// Of a trend.
    Trend(Arc<TrendSink>),
}

impl Values {
    /// A number by the name that thresholds and reports use: `count`, `rate`, `value`, `min`, `max`,
    /// `passes`, `fails`, `avg`, `med`, `p(N)`. None if this kind has no such number.
    pub fn get(&self, name: &str) -> Option<f64> {
        match self {
            Self::Counter { count, rate } => match name {
                "count" => Some(*count),
                "rate" => *rate,
                _ => None,
            },
            Self::Gauge { value, min, max } => match name {
                "value" => Some(*value),
                "min" => Some(*min),
                "max" => Some(*max),
                _ => None,
            },
            Self::Rate { rate, passes, fails } => match name {
                "rate" => *rate,
                "passes" => Some(*passes as f64),
                "fails" => Some(*fails as f64),
                _ => None,
            },
            Self::Trend(trend) => match name {
                "avg" => Some(trend.avg()),
                "min" => Some(trend.min()),
                "med" => Some(trend.percentile(50.0)),
                "max" => Some(trend.max()),
                "count" => Some(trend.count() as f64),
                _ => parse_percentile(name).map(|percent| trend.percentile(percent)),
            },
        }
    }
}

/// The result of one threshold.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ThresholdResult {
    /// The expression as the user wrote it.
    pub source: String,
    /// Whether it holds. One in time that was broken once does not.
    pub ok: bool,
    /// Its left side when it was last evaluated; none if there was none (a rate without values).
    pub value: Option<f64>,
    /// The name of its left side, such as `p(95)`.
    pub aggregation: String,
    /// Whether it stops the test.
    pub abort_on_fail: bool,
    /// When it is looked at, and what else k6 doesn't have.
    pub timing: Timing,
    /// When it was broken first. One that is not in time may hold again since.
    pub breach: Option<Breach>,
}

/// The first time that a threshold was broken.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Breach {
    /// Since the start of the run.
    pub at: Duration,
    /// Until it held again, or the end.
    pub lasted: Duration,
    /// Its left side then; none if there was none.
    pub value: Option<f64>,
}

impl ThresholdResult {
    /// The expression and the words behind it: `p(95)<200 window=30s`. Without the latter it is as k6 has it.
    pub fn label(&self) -> String {
        format!("{}{}", self.source, self.timing)
    }

    /// The left side that a reader wants to see: that of the breach, if one in time is broken, else the last.
    pub fn shown_value(&self) -> Option<f64> {
        let breach = self.breach.filter(|_| !self.ok && self.timing.is_in_time());
        breach.map_or(self.value, |breach| breach.value)
    }
}
