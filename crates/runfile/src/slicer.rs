//! From frames to slices: what each series, check and kind of failure saw in one stretch of time.

mod catalogue;
mod failures;

use std::collections::BTreeMap;
use std::sync::Arc;

use brunt_metrics::{Frame, Registry, SeriesDelta, Sink, TrendSink, builtin};
use rustc_hash::FxHashMap;

pub(crate) use self::catalogue::Catalogue;
pub(crate) use self::failures::{Failures, OTHERS};

/// A slice is closed so long after its end: the last frames of slow cores belong to it. Values that come later still are in the next.
const GRACE_NS: u64 = 300_000_000;

/// Checks that are told apart; the recorders have bounds of their own.
const CHECKS_MAX: usize = 20_000;
/// Groups that are told apart.
const GROUPS_MAX: usize = 20_000;

/// All that was seen in one slice.
#[derive(Debug, Default)]
pub(crate) struct Slice {
    /// By the number of the series.
    pub(crate) series: FxHashMap<u32, Seen>,
    /// By the number of the check: passes, fails.
    pub(crate) checks: FxHashMap<u32, (u64, u64)>,
    /// By the number of the failure's kind.
    pub(crate) failures: FxHashMap<u32, u64>,
    /// New ones, with their places in the order of appearance.
    pub(crate) groups: Vec<(u64, Arc<str>)>,
    /// By scenario: iterations that could not start.
    pub(crate) dropped: FxHashMap<usize, u64>,
    /// By scenario: from the planned starts to the actual ones.
    pub(crate) lateness: FxHashMap<usize, TrendSink>,
    /// By core: how late its clockwork was in each tick, in milliseconds.
    pub(crate) late: BTreeMap<u32, TrendSink>,
}

/// A series' values.
#[derive(Debug)]
pub(crate) struct Seen {
    pub(crate) sink: Sink,
    /// The value of a gauge at its first tick.
    pub(crate) first: Option<f64>,
}

/// A check.
#[derive(Debug)]
pub(crate) struct Check {
    pub(crate) group: Arc<str>,
    pub(crate) name: Arc<str>,
    pub(crate) place: u64,
    pub(crate) passes: u64,
    pub(crate) fails: u64,
}

/// Sorts what frames bring into slices. Its memory is that of two or three slices and of its tables, which have bounds.
pub(crate) struct Slicer {
    registry: Arc<Registry>,
    width: u64,
    /// Unix ns; none until the clock of the run started: all that comes before is in the first slice.
    start: Option<u64>,
    open: BTreeMap<u64, Slice>,
    /// The slice that may be written next.
    next: u64,
    pub(crate) catalogue: Catalogue,
    pub(crate) failures: Failures,
    pub(crate) checks: Vec<Check>,
    by_check: FxHashMap<(Arc<str>, Arc<str>), u32>,
    groups: usize,
    scenarios: FxHashMap<String, usize>,
    /// Values that had no room, by what they are.
    pub(crate) lost: brunt_metrics::Dropped,
    /// Results of checks beyond the bound.
    pub(crate) lost_checks: u64,
}

impl Slicer {
    pub(crate) fn new(registry: &Arc<Registry>, width: u64, scenarios: &[String]) -> Self {
        let numbered = scenarios.iter().cloned().enumerate().map(|(n, name)| (name, n));
        Self {
            registry: Arc::clone(registry),
            width,
            start: None,
            open: BTreeMap::new(),
            next: 0,
            catalogue: Catalogue::default(),
            failures: Failures::default(),
            checks: Vec::new(),
            by_check: FxHashMap::default(),
            groups: 0,
            scenarios: numbered.collect(),
            lost: brunt_metrics::Dropped::default(),
            lost_checks: 0,
        }
    }

    /// The clock of the run started. The first call counts.
    pub(crate) fn start(&mut self, at: u64) {
        self.start.get_or_insert(at);
    }

    pub(crate) fn started(&self) -> Option<u64> {
        self.start
    }

    /// Nanoseconds since the start of the run.
    pub(crate) fn since(&self, at: u64) -> u64 {
        self.start.map_or(0, |start| at.saturating_sub(start))
    }

    /// The slice of a moment: one that is not written yet.
    fn slice_of(&self, at: u64) -> u64 {
        (self.since(at) / self.width).max(self.next)
    }

    pub(crate) fn take_in(&mut self, frame: &Frame) {
        let n = self.slice_of(frame.at);
        let mut slice = self.open.remove(&n).unwrap_or_default();
        let at = self.since(frame.at);
        for delta in &frame.series {
            self.take_series(&mut slice, delta, at);
        }
        for delta in &frame.checks {
            let Some(check) = self.check(&delta.group, &delta.name) else {
                self.lost_checks += delta.passes + delta.fails;
                continue;
            };
            let known = &mut self.checks[check as usize];
            known.place = known.place.min(delta.first_at_order);
            known.passes += delta.passes;
            known.fails += delta.fails;
            let seen = slice.checks.entry(check).or_default();
            seen.0 += delta.passes;
            seen.1 += delta.fails;
        }
        for group in &frame.groups {
            if self.groups < GROUPS_MAX {
                self.groups += 1;
                slice.groups.push(group.clone());
            }
        }
        for exception in &frame.exceptions.told {
            let kind = self.failures.exception(&exception.text, exception.order);
            self.failures.count(kind, exception.count, at);
            *slice.failures.entry(kind).or_default() += exception.count;
        }
        if frame.exceptions.others > 0 {
            let kind = self.failures.exception(OTHERS, i64::MAX as u64);
            self.failures.count(kind, frame.exceptions.others, at);
            *slice.failures.entry(kind).or_default() += frame.exceptions.others;
        }
        if frame.core != u32::MAX {
            slice.late.entry(frame.core).or_default().add(frame.late as f64 / 1e6);
        }
        self.lost.merge(frame.dropped);
        self.open.insert(n, slice);
    }

    fn take_series(&mut self, slice: &mut Slice, delta: &SeriesDelta, at: u64) {
        let SeriesDelta { series, sink } = delta;
        let id = self.catalogue.find(series, &self.registry);
        let seen = slice.series.entry(id).or_insert_with(|| Seen {
            sink: Sink::empty(sink.kind()),
            first: match sink {
                Sink::Gauge { last, .. } => Some(*last),
                _ => None,
            },
        });
        seen.sink.merge(sink);
        if let Some((kind, count)) = self.failures.of(self.catalogue.own(id), series, sink) {
            self.failures.count(kind, count, at);
            *slice.failures.entry(kind).or_default() += count;
        }
        let scenario = || {
            let name = series.tags.get("scenario")?;
            self.scenarios.get(name).copied()
        };
        match (series.metric, sink) {
            (builtin::DROPPED_ITERATIONS, Sink::Counter { sum, .. }) => {
                if let Some(scenario) = scenario() {
                    *slice.dropped.entry(scenario).or_default() += *sum as u64;
                }
            }
            (builtin::ITERATION_LATENESS, Sink::Trend(trend)) => {
                if let Some(scenario) = scenario() {
                    slice.lateness.entry(scenario).or_default().merge(trend);
                }
            }
            _ => {}
        }
    }

    fn check(&mut self, group: &Arc<str>, name: &Arc<str>) -> Option<u32> {
        let key = (Arc::clone(group), Arc::clone(name));
        if let Some(check) = self.by_check.get(&key) {
            return Some(*check);
        }
        let check = self.checks.len();
        (check < CHECKS_MAX).then(|| {
            let (group, name) = key.clone();
            self.checks.push(Check { group, name, place: u64::MAX, passes: 0, fails: 0 });
            self.by_check.insert(key, check as u32);
            check as u32
        })
    }

    /// Whether a slice is over at this moment, late frames included.
    pub(crate) fn is_due(&self, now: u64) -> bool {
        let end = (self.next + 1).saturating_mul(self.width).saturating_add(GRACE_NS);
        self.start.is_some() && self.since(now) >= end
    }

    /// The oldest slice that is over; none if it is still going on. Slices without anything are left out.
    pub(crate) fn close(&mut self, now: u64) -> Option<(u64, Slice)> {
        if !self.is_due(now) {
            return None;
        }
        // All that is over but for the last one can't be any more than nothing: frames go into the present.
        let last = (self.since(now).saturating_sub(GRACE_NS) / self.width).saturating_sub(1);
        let n = self.open.keys().next().copied().filter(|n| *n <= last).unwrap_or(last);
        self.next = n + 1;
        Some((n, self.open.remove(&n).unwrap_or_default()))
    }

    /// All that is left, at the end.
    pub(crate) fn close_all(&mut self) -> Vec<(u64, Slice)> {
        let all = std::mem::take(&mut self.open);
        self.next = all.keys().last().map_or(self.next, |n| n + 1);
        all.into_iter().collect()
    }
}
