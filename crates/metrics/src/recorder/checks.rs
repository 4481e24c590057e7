//! The checks and groups that a core has met.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use rustc_hash::{FxHashMap, FxHashSet};

use crate::frame::CheckDelta;
use crate::tags::bounded;

/// Different checks that a core tells apart; results of others are dropped and counted.
const CHECKS_MAX: usize = 10_000;
/// Different groups that a core tells apart; others are dropped and counted.
const GROUPS_MAX: usize = 10_000;
/// The bytes of all names of checks and groups; when there are more, it is as if there were too many.
const BYTES_MAX: usize = 16 << 20;

/// Numbers what any core meets for the first time: summaries tell checks and groups in the order in which they came, whichever
/// core met them. Rare enough to be shared.
static MET: AtomicU64 = AtomicU64::new(0);

pub(super) fn next_number() -> u64 {
    MET.fetch_add(1, Relaxed)
}

/// A check in a [`Recorder`](crate::Recorder). Valid until the recorder's epoch changes; numbers are not used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CheckId(u32);

impl CheckId {
    /// The check in place of all that had no room.
    const NONE: Self = Self(u32::MAX);
}

#[derive(Debug, Default)]
pub(super) struct Checks {
    by_name: FxHashMap<Arc<str>, FxHashMap<Arc<str>, CheckId>>,
    /// The number of the first slot.
    first: u32,
    slots: Vec<Slot>,
    bytes: usize,
    /// The places of slots with results since the last frame.
    touched: Vec<u32>,
    groups: FxHashSet<Arc<str>>,
    new_groups: Vec<(u64, Arc<str>)>,
}

#[derive(Debug)]
struct Slot {
    group: Arc<str>,
    name: Arc<str>,
    passes: u64,
    fails: u64,
    order: u64,
}

impl Checks {
    /// A check that was met before.
    pub(super) fn find(&self, group: &str, name: &str) -> Option<CheckId> {
        self.by_name.get(group).and_then(|names| names.get(name)).copied()
    }

    pub(super) fn check(&mut self, group: &str, name: &str) -> CheckId {
        let (group, name) = (bounded(group), bounded(name));
        if let Some(id) = self.find(&group, &name) {
            return id;
        }
        if self.slots.len() >= CHECKS_MAX || self.bytes >= BYTES_MAX {
            return CheckId::NONE;
        }
        // Groups are told in the order in which anything happened in them: setup() is one that is never entered.
        self.enter(&group);
        let id = CheckId(self.first + self.slots.len() as u32);
        self.bytes += group.len() + name.len();
        let (group, name): (Arc<str>, Arc<str>) = (group.into(), name.into());
        let names = self.by_name.entry(Arc::clone(&group)).or_default();
        names.insert(Arc::clone(&name), id);
        self.slots.push(Slot { group, name, passes: 0, fails: 0, order: next_number() });
        id
    }

    /// Counts a result; false if the check has no place.
    pub(super) fn add(&mut self, id: CheckId, pass: bool) -> bool {
        let index = id.0.wrapping_sub(self.first);
        let Some(slot) = self.slots.get_mut(index as usize) else {
            return false;
        };
        if slot.passes + slot.fails == 0 {
            self.touched.push(index);
        }
        if pass {
            slot.passes += 1;
        } else {
            slot.fails += 1;
        }
        true
    }

    /// Whether nothing is to be done for a group.
    pub(super) fn has_entered(&self, path: &str) -> bool {
        path.is_empty() || self.groups.contains(path)
    }

    /// Remembers a group; false if there is no room for it.
    pub(super) fn enter(&mut self, path: &str) -> bool {
        let path = bounded(path);
        if self.has_entered(&path) {
            return true;
        }
        if self.groups.len() >= GROUPS_MAX || self.bytes >= BYTES_MAX {
            return false;
        }
        self.bytes += path.len();
        let path: Arc<str> = path.into();
        self.groups.insert(Arc::clone(&path));
        self.new_groups.push((next_number(), path));
        true
    }

    pub(super) fn take(&mut self) -> (Vec<CheckDelta>, Vec<(u64, Arc<str>)>) {
        let mut checks = Vec::with_capacity(self.touched.len());
        for index in self.touched.drain(..) {
            let slot = &mut self.slots[index as usize];
            checks.push(CheckDelta {
                group: Arc::clone(&slot.group),
                name: Arc::clone(&slot.name),
                passes: std::mem::take(&mut slot.passes),
                fails: std::mem::take(&mut slot.fails),
                first_at_order: slot.order,
            });
        }
        (checks, std::mem::take(&mut self.new_groups))
    }

    /// Forgets all checks and groups.
    pub(super) fn reset(&mut self) {
        // A few thousands an epoch: numbers last longer than those of series.
        let first = self.first.wrapping_add(self.slots.len() as u32);
        *self = Self { first, ..Self::default() };
    }
}
