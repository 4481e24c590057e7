//! The measurements of one core in one tick.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::series::{Sample, Series};
use crate::sink::Sink;

/// The measurements since the last tick, on one core or (merged) on many. The one thing that leaves a core.
#[derive(Clone, Debug, Default)]
pub struct Frame {
    /// The core it came from; of a merged frame, the first one's.
    pub core: u32,
    /// When it left the core, in nanoseconds since the Unix epoch; of a merged frame the latest. 0 if it is not known.
    pub at: u64,
    /// How late its core's clockwork was, in nanoseconds: the worst since the last frame.
    pub late: u64,
    /// The series that got values.
    pub series: Vec<SeriesDelta>,
    /// The checks that were made.
    pub checks: Vec<CheckDelta>,
    /// The paths of groups that a core entered for the first time, each with a number: they grow with time, over all cores.
    pub groups: Vec<(u64, Arc<str>)>,
    /// The exceptions that ended iterations.
    pub exceptions: ExceptionDeltas,
    /// Each single value, if somebody asked for them.
    pub samples: Vec<Sample>,
    /// The numbers of iterations that came to their end, where somebody must know which ones did.
    pub done: Vec<NumbersDone>,
    /// The values that had no room.
    pub dropped: Dropped,
    /// Tables that the core needs no more; whoever drops the frame frees them.
    pub retired: Retired,
}

/// Iterations that came to their end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NumbersDone {
    /// The place of their scenario among all, from 0.
    pub scenario: u32,
    /// The first of their numbers in the process, from 0.
    pub first: u64,
    /// The last one; those between are done, too.
    pub last: u64,
}

/// Memory to be freed where that disturbs no measurement.
#[derive(Clone, Default)]
pub struct Retired(Option<Arc<dyn Any + Send + Sync>>);

impl Retired {
    pub(crate) fn new(tables: impl Any + Send + Sync) -> Self {
        Self(Some(Arc::new(tables)))
    }
}

impl fmt::Debug for Retired {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Retired({})", self.0.is_some())
    }
}

/// Exceptions that ended iterations.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExceptionDeltas {
    /// By text.
    pub told: Vec<ExceptionDelta>,
    /// Those whose text had no room.
    pub others: u64,
}

/// An exception.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExceptionDelta {
    /// The exception, with its place behind it.
    pub text: Arc<str>,
    /// How often.
    pub count: u64,
    /// Grows with time, over all cores.
    pub order: u64,
}

impl ExceptionDeltas {
    /// Whether there were none.
    pub fn is_empty(&self) -> bool {
        self.told.is_empty() && self.others == 0
    }
}

/// The new values of one series.
#[derive(Clone, Debug)]
pub struct SeriesDelta {
    /// Which series.
    pub series: Arc<Series>,
    /// Its values since the last tick.
    pub sink: Sink,
}

/// The new results of one check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckDelta {
    /// The path of its group: empty, or `::outer::inner`.
    pub group: Arc<str>,
    /// Its name.
    pub name: Arc<str>,
    /// How often it passed.
    pub passes: u64,
    /// How often it failed.
    pub fails: u64,
    /// Grows with time, over all cores: sorting by it gives the order of first appearance.
    pub first_at_order: u64,
}

/// The values that a core could not keep, by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dropped {
    /// Single samples beyond the bound of a tick (they count in their series all the same).
    pub samples: u64,
    /// Results of checks beyond the bound of different checks.
    pub checks: u64,
    /// Groups entered beyond the bound of different groups.
    pub groups: u64,
    /// Values that were not a number.
    pub not_numbers: u64,
    /// How often the tables were emptied because there were too many series.
    pub resets: u64,
    /// How often tags with new values were told with `(too many values)` in their place, or without them.
    pub crowded: u64,
    /// Values for series of an earlier epoch.
    pub stale: u64,
}

impl Dropped {
    /// Whether nothing was dropped.
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }

    /// Adds up.
    pub fn merge(&mut self, other: Self) {
        self.samples += other.samples;
        self.checks += other.checks;
        self.groups += other.groups;
        self.not_numbers += other.not_numbers;
        self.resets += other.resets;
        self.crowded += other.crowded;
        self.stale += other.stale;
    }
}

impl Frame {
    /// Whether nothing was seen.
    pub fn is_empty(&self) -> bool {
        self.series.is_empty()
            && self.checks.is_empty()
            && self.groups.is_empty()
            && self.exceptions.is_empty()
            && self.samples.is_empty()
            && self.done.is_empty()
            && self.dropped.is_nothing()
    }

    /// Takes in another frame. In whatever order and grouping frames merge, the result is the same
    /// but for the order of its lists.
    pub fn merge(&mut self, other: Self) {
        self.at = self.at.max(other.at);
        self.late = self.late.max(other.late);
        let mut series: FxHashMap<Arc<Series>, usize> =
            self.series.iter().enumerate().map(|(i, s)| (Arc::clone(&s.series), i)).collect();
        let mut places = Vec::with_capacity(other.series.len());
        for delta in other.series {
            if let Some(index) = series.get(&delta.series) {
                self.series[*index].sink.merge(&delta.sink);
                places.push(*index as u32);
            } else {
                places.push(self.series.len() as u32);
                series.insert(Arc::clone(&delta.series), self.series.len());
                self.series.push(delta);
            }
        }

        let mut checks: FxHashMap<(Arc<str>, Arc<str>), usize> =
            self.checks.iter().enumerate().map(|(i, c)| (c.key(), i)).collect();
        for delta in other.checks {
            if let Some(index) = checks.get(&delta.key()) {
                let check = &mut self.checks[*index];
                check.passes += delta.passes;
                check.fails += delta.fails;
                check.first_at_order = check.first_at_order.min(delta.first_at_order);
            } else {
                checks.insert(delta.key(), self.checks.len());
                self.checks.push(delta);
            }
        }

        for delta in other.exceptions.told {
            match self.exceptions.told.iter_mut().find(|known| known.text == delta.text) {
                Some(known) => {
                    known.count += delta.count;
                    known.order = known.order.min(delta.order);
                }
                None => self.exceptions.told.push(delta),
            }
        }
        self.exceptions.others += other.exceptions.others;

        self.groups.extend(other.groups);
        self.groups.sort_unstable();
        let mut seen = FxHashSet::default();
        self.groups.retain(|(_, path)| seen.insert(Arc::clone(path)));
        let moved = |sample: Sample| Sample { series: places[sample.series as usize], ..sample };
        self.samples.extend(other.samples.into_iter().map(moved));
        self.done.extend(other.done);
        self.dropped.merge(other.dropped);
    }
}

impl CheckDelta {
    fn key(&self) -> (Arc<str>, Arc<str>) {
        (Arc::clone(&self.group), Arc::clone(&self.name))
    }
}

#[cfg(test)]
mod tests;
