//! How many VUs of a scenario iterate, decided from outside while the test runs (`externally-controlled`).

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};

use brunt_schedule::{Executor, Scenario, Segment};
use tokio::sync::Notify;

use crate::stop::StopHandle;

/// From outside the limit is not raised above this.
const MOST: u64 = 1_000_000;

/// The numbers of VUs and of the limit after a change of a scenario that is controlled from outside, all of the whole test.
///
/// `asked`: VUs and limit, none to leave them as they are; `now`: both as they are; `least`: the limit that the script sets.
///
/// # Errors
/// They can't be, and why, in k6's words.
pub fn weigh(
    (vus, max): (Option<i64>, Option<i64>),
    now: (u64, u64),
    least: u64,
) -> Result<(u64, u64), String> {
    let of = |asked: Option<i64>, now: u64| asked.map_or(i128::from(now), i128::from);
    let (vus, max) = (of(vus, now.0), of(max, now.1));
    let why = if vus < 0 {
        "invalid configuration supplied: the number of VUs can't be negative".to_owned()
    } else if vus > max {
        format!(
            "invalid configuration supplied: the number of active VUs ({vus}) must be less than or equal to the number of \
             maxVUs ({max})"
        )
    } else if max < i128::from(least) {
        format!(
            "the new number of max VUs cannot be lower than the starting number of max VUs ({least})"
        )
    } else if max > i128::from(MOST.max(least)) {
        format!("the number of maxVUs ({max}) can't be raised above {MOST}")
    } else {
        return Ok((vus as u64, max as u64));
    };
    Err(why)
}

/// Whether a test whose scenarios run, and is paused or not, may be paused or go on.
///
/// # Errors
/// It may not, and why, in k6's words: one of its scenarios is not controlled from outside, or nothing would change.
pub fn may_pause<'a>(
    mut scenarios: impl Iterator<Item = &'a Scenario>,
    is_paused: bool,
    wanted: bool,
) -> Result<(), String> {
    let is_gated = |one: &&Scenario| matches!(one.executor, Executor::ExternallyControlled { .. });
    if let Some(spec) = scenarios.find(|one| !is_gated(one)) {
        return Err(format!(
            "{} executor '{}' doesn't support pause and resume operations after its start",
            spec.executor.kind(),
            spec.name
        ));
    }
    if wanted == is_paused {
        let was = if wanted { "was already" } else { "wasn't" };
        return Err(format!("test execution {was} paused"));
    }
    Ok(())
}

/// Lets the first VUs through and keeps the others waiting. Shared by all cores and whoever decides.
#[derive(Debug)]
pub(crate) struct Gate {
    segment: Segment,
    /// Of the whole test.
    vus: AtomicU64,
    /// Of the whole test, too: it may be raised, and lowered again to what the script says.
    max: AtomicU64,
    least: u64,
    is_paused: AtomicBool,
    /// Of this process; 0 while it is paused.
    open: AtomicU64,
    changed: Notify,
}

impl Gate {
    pub(crate) fn new(vus: u64, max: u64, segment: Segment) -> Gate {
        let gate = Gate {
            segment,
            vus: AtomicU64::new(vus),
            max: AtomicU64::new(max),
            least: max,
            is_paused: AtomicBool::new(false),
            open: AtomicU64::new(0),
            changed: Notify::new(),
        };
        gate.apply();
        gate
    }

    fn apply(&self) {
        let vus = if self.is_paused.load(SeqCst) { 0 } else { self.vus.load(SeqCst) };
        self.open.store(self.segment.scale(vus), SeqCst);
        self.changed.notify_waiters();
    }

    /// The numbers of VUs and of the limit after a change: both for the whole test.
    pub(crate) fn weigh(&self, vus: Option<i64>, max: Option<i64>) -> Result<(u64, u64), String> {
        weigh((vus, max), (self.vus.load(SeqCst), self.max()), self.least)
    }

    /// Takes numbers that somebody else has weighed.
    pub(crate) fn follow(&self, is_paused: bool, vus: Option<u64>) {
        self.is_paused.store(is_paused, SeqCst);
        if let Some(vus) = vus {
            self.vus.store(vus, SeqCst);
        }
        self.apply();
    }

    /// Takes a limit that somebody else has weighed.
    pub(crate) fn limit(&self, max: u64) {
        self.max.store(max, SeqCst);
    }

    /// Takes what has been weighed.
    pub(crate) fn set(&self, vus: u64, max: u64) {
        self.vus.store(vus, SeqCst);
        self.max.store(max, SeqCst);
        self.apply();
    }

    /// The limit of the whole test.
    pub(crate) fn max(&self) -> u64 {
        self.max.load(SeqCst)
    }

    /// The limit in this process.
    pub(crate) fn most(&self) -> u64 {
        self.here(self.max())
    }

    /// This process's part of `vus` VUs.
    pub(crate) fn here(&self, vus: u64) -> u64 {
        self.segment.scale(vus)
    }

    /// How many VUs of this process may iterate.
    pub(crate) fn open(&self) -> u64 {
        self.open.load(SeqCst)
    }

    pub(crate) fn pause(&self, is_paused: bool) {
        self.is_paused.store(is_paused, SeqCst);
        self.apply();
    }

    /// Whether this handle's VU may iterate.
    pub(crate) fn admits(&self, handle: u32) -> bool {
        u64::from(handle) < self.open.load(SeqCst)
    }

    /// Waits until it may, or until it is stopped.
    pub(crate) async fn wait(&self, handle: u32, stop: &StopHandle) {
        loop {
            // Before looking: what changes from here on wakes it.
            let changed = self.changed.notified();
            if self.admits(handle) || stop.is_stopped() {
                return;
            }
            tokio::select! {
                () = changed => {}
                () = stop.stopped() => return,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gate_of_a_part_follows_the_numbers_of_the_whole() {
        let gate = Gate::new(2, 4, Segment::parse(Some("1/2:1"), Some("0,1/2,1")).unwrap());
        assert_eq!((gate.open(), gate.most()), (1, 2));
        gate.follow(false, Some(5));
        assert_eq!(gate.open(), gate.here(5));
        gate.follow(true, Some(4));
        assert_eq!(gate.open(), 0);
        gate.follow(false, None);
        assert_eq!(gate.open(), 2);
    }

    #[test]
    fn a_gate_admits_as_many_as_it_is_told() {
        let gate = Gate::new(2, 5, Segment::full());
        let admitted = || (0..5).filter(|handle| gate.admits(*handle)).count();
        assert_eq!(admitted(), 2);
        gate.set(4, 5);
        assert_eq!(admitted(), 4);
        gate.pause(true);
        assert_eq!(admitted(), 0);
        gate.set(1, 5);
        gate.pause(false);
        assert_eq!(admitted(), 1);
    }

    #[test]
    fn what_cannot_be_is_told_and_the_limit_may_rise_and_fall_back() {
        let gate = Gate::new(2, 5, Segment::full());
        assert_eq!(gate.weigh(Some(5), None), Ok((5, 5)));
        assert_eq!(gate.weigh(None, Some(8)), Ok((2, 8)));
        for (vus, max, part) in [
            (Some(6), None, "(6) must be less than or equal to the number of maxVUs (5)"),
            (Some(-1), None, "can't be negative"),
            (None, Some(-3), "(2) must be less than or equal to the number of maxVUs (-3)"),
            (None, Some(4), "cannot be lower than the starting number of max VUs (5)"),
            (None, Some(i64::MAX), "can't be raised above"),
        ] {
            let error = gate.weigh(vus, max).unwrap_err();
            assert!(error.contains(part), "{error}");
        }
        gate.set(2, 8);
        assert_eq!(gate.weigh(Some(8), Some(8)), Ok((8, 8)));
        assert_eq!(gate.weigh(None, Some(5)), Ok((2, 5)));
    }
}
