//! The measurements of one step: a ledger of its own, which sees the frames of a stretch of time.

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use brunt_engine::Listener;
use brunt_metrics::{
    Frame, Ledger, LedgerConfig, MetricSummary, Registry, Summary, ThresholdSet, TrendSink,
    summary::Values,
};

use super::goal::Goal;

/// A stretch of time. The gatherer's thread writes, the driver's thread reads; no load core takes its lock.
pub(super) struct Window {
    registry: Arc<Registry>,
    goals: Vec<ThresholdSet>,
    open: Mutex<Open>,
    /// A frame has come.
    came: Condvar,
}

#[derive(Default)]
struct Open {
    ledger: Option<Ledger>,
    /// The same for the latest slice of it.
    slice: Option<Ledger>,
    /// How late each core's ticks were, in milliseconds.
    late: BTreeMap<u32, TrendSink>,
}

/// The numbers of a stretch of time. Counts, not rates.
#[derive(Clone, Debug, Default)]
pub(super) struct Seen {
    pub(super) finished: f64,
    pub(super) dropped: f64,
    pub(super) good: f64,
    pub(super) failed: f64,
    pub(super) latency_ms: Option<f64>,
    pub(super) median_ms: Option<f64>,
    pub(super) iteration_ms: Option<f64>,
    /// How late iterations started: median, 95th percentile, maximum.
    pub(super) lateness: Option<[f64; 3]>,
    pub(super) late: BTreeMap<u32, TrendSink>,
    pub(super) goals: Vec<brunt_find::Goal>,
}

impl Window {
    pub(super) fn new(registry: Arc<Registry>, goals: &[Goal]) -> Arc<Self> {
        let goals = goals.iter().map(Goal::set).collect();
        Arc::new(Self { registry, goals, open: Mutex::default(), came: Condvar::new() })
    }

    pub(super) fn listener(self: &Arc<Self>) -> Box<dyn Listener> {
        Box::new(Feed(Arc::clone(self)))
    }

    fn lock(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until this moment, or a frame.
    pub(super) fn wait(&self, until: Instant) {
        let time = until.saturating_duration_since(Instant::now());
        let waited = self.came.wait_timeout(self.lock(), time);
        drop(waited.unwrap_or_else(PoisonError::into_inner));
    }

    /// From now on frames count; those before are forgotten.
    pub(super) fn begin(&self) {
        let (ledger, slice) = (self.ledger(), self.ledger());
        *self.lock() = Open { ledger, slice, late: BTreeMap::new() };
    }

    fn ledger(&self) -> Option<Ledger> {
        let config = LedgerConfig { thresholds: self.goals.clone(), ..LedgerConfig::default() };
        Ledger::new(Arc::clone(&self.registry), config).ok()
    }

    /// Ends a slice that lasted so long and begins the next one: by goal, its value in the slice as a number that its limit
    /// bounds from above.
    pub(super) fn slice(&self, elapsed: Duration, goals: &[Goal]) -> Vec<Option<f64>> {
        let next = self.ledger();
        let slice = std::mem::replace(&mut self.lock().slice, next);
        let Some(mut slice) = slice else { return vec![None; goals.len()] };
        slice.evaluate(elapsed, true);
        let summary = slice.summary(elapsed);
        let value = |goal: &Goal| {
            let seen = standing(goal, &summary);
            seen.value.map(|value| if seen.share_min.is_some() { 1.0 - value } else { value })
        };
        goals.iter().map(value).collect()
    }

    /// The numbers since [`begin`](Self::begin), `elapsed` ago. The stretch goes on.
    pub(super) fn seen(&self, elapsed: Duration, goals: &[Goal]) -> Seen {
        let mut open = self.lock();
        let late = open.late.clone();
        let Some(ledger) = &mut open.ledger else { return Seen::default() };
        ledger.evaluate(elapsed, true);
        let summary = ledger.summary(elapsed);
        drop(open);
        Seen { late, ..seen(&summary, goals) }
    }
}

fn seen(summary: &Summary, goals: &[Goal]) -> Seen {
    let count = |name: &str| {
        let metric = summary.metric(name);
        metric.and_then(|metric| metric.values.get("count")).unwrap_or(0.0)
    };
    let trend = |name: &str| match &summary.metric(name)?.values {
        Values::Trend(trend) if trend.count() > 0 => Some(Arc::clone(trend)),
        _ => None,
    };
    let finished = count("iterations");
    let requests = count("http_reqs");
    let failed = summary.metric("http_req_failed").and_then(|metric| metric.values.get("passes"));
    let failed = failed.unwrap_or(0.0);
    let good = if requests > 0.0 { (requests - failed).max(0.0) } else { finished };
    // The latency to watch is that of the first goal about a time.
    let timed = goals.iter().find_map(|goal| Some((&*goal.metric, goal.percentile()?)));
    let (metric, percent) = timed.unwrap_or(("http_req_duration", 95.0));
    let latency = trend(metric).or_else(|| trend("iteration_duration"));
    let iterations = trend("iteration_duration");
    let lateness = trend("iteration_lateness");
    Seen {
        finished,
        dropped: count("dropped_iterations"),
        good,
        failed,
        latency_ms: latency.as_ref().map(|trend| trend.percentile(percent)),
        median_ms: latency.as_ref().map(|trend| trend.percentile(50.0)),
        iteration_ms: iterations.map(|trend| trend.avg()),
        lateness: lateness
            .map(|trend| [trend.percentile(50.0), trend.percentile(95.0), trend.max()]),
        late: BTreeMap::new(),
        goals: goals.iter().map(|goal| standing(goal, summary)).collect(),
    }
}

/// The state of a goal.
fn standing(goal: &Goal, summary: &Summary) -> brunt_find::Goal {
    let has_it = |metric: &&MetricSummary| {
        // A submetric of the same tags may bear the name of another goal.
        (metric.name == goal.metric || metric.parent.is_some())
            && metric.thresholds.iter().any(|result| result.source == goal.threshold.source)
    };
    let exact = summary.metric(&goal.metric).filter(has_it);
    let metric = exact.or_else(|| summary.metrics.iter().chain(&summary.own).find(has_it));
    let result = metric.and_then(|metric| {
        metric.thresholds.iter().find(|result| result.source == goal.threshold.source)
    });
    let is_measured = metric.is_some_and(|metric| metric.observed) || !goal.needs_values;
    let value = result.and_then(|result| result.value).filter(|_| is_measured);
    brunt_find::Goal {
        name: goal.name.clone(),
        value,
        holds: result.is_some_and(|result| result.ok) && is_measured,
        limit: goal.limit(),
        share_min: goal.share_min(),
        spread: None,
        is_time: goal.is_time,
        needs_values: goal.needs_values,
    }
}

struct Feed(Arc<Window>);

impl Listener for Feed {
    fn frame(&mut self, frame: &Arc<Frame>) {
        let mut open = self.0.lock();
        self.0.came.notify_all();
        let open = &mut *open;
        let Some(ledger) = &mut open.ledger else { return };
        ledger.absorb(frame);
        if let Some(slice) = &mut open.slice {
            slice.absorb(frame);
        }
        if frame.core != u32::MAX {
            open.late.entry(frame.core).or_default().add(frame.late as f64 / 1e6);
        }
    }
}
