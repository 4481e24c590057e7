//! The messages between the coordinator and the cores. All of them are rare: none is sent per iteration.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;

use crate::error::RunError;
use crate::health::CoreHealth;
use crate::runner::VuIds;
use crate::scenario::Parcel;

/// Where a VU lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct VuRef {
    pub(crate) core: u32,
    /// Its place among the core's VUs.
    pub(crate) slot: u32,
}

/// From the coordinator to a core.
#[derive(Debug)]
pub(crate) enum Command {
    /// Make the planned VUs, in this order.
    Init(Vec<VuIds>),
    /// Make an unplanned VU for a scenario, while the test runs.
    Grow { ids: VuIds, scenario: usize },
    /// Let a VU work as a closed scenario's handle.
    Attend { slot: u32, scenario: usize, handle: u32 },
    /// An open scenario starts: with these VUs, and this share of its due times.
    Open { scenario: usize, slots: Vec<u32>, share: Share, inbox: mpsc::Receiver<Parcel> },
    /// One more VU for an open scenario.
    Join { slot: u32, scenario: usize },
    /// Interrupt every VU: the run is aborted.
    StopAll,
    /// Run `setup()`.
    Setup { limit: Duration },
    /// Run `teardown()`.
    Teardown { data: Option<Arc<str>>, limit: Duration },
    /// Hand over a frame now: whoever asks for numbers afterwards gets them all.
    HandOver,
    /// Hand over the last frame, let the VUs go, end.
    Shutdown,
}

/// Which of a scenario's due times are a core's own: those whose number, modulo `period`, is in `offsets`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Share {
    pub(crate) period: u64,
    /// Ascending; none if the core has no part.
    pub(crate) offsets: Arc<[u64]>,
}

impl Share {
    /// The number of the core's k-th due time.
    pub(crate) fn number(&self, k: u64) -> u64 {
        let round = self.offsets.len() as u64;
        (k / round) * self.period + self.offsets[(k % round) as usize]
    }

    /// How many of the scenario's first `all` due times are the core's.
    pub(crate) fn part_of(&self, all: u64) -> u64 {
        let (rounds, rest) = (all / self.period, all % self.period);
        let more = self.offsets.partition_point(|offset| *offset < rest);
        rounds * self.offsets.len() as u64 + more as u64
    }
}

/// How `setup()` or `teardown()` ended.
#[derive(Debug)]
pub(crate) enum Staged<T> {
    Done(T),
    Failed(RunError),
    TimedOut,
}

/// From a core to the coordinator.
#[derive(Debug)]
pub(crate) enum Event {
    /// A VU is ready; it was made for this scenario, or for the start.
    Ready {
        vu: VuRef,
        scenario: Option<usize>,
    },
    /// A VU's init code failed.
    InitFailed {
        error: RunError,
        scenario: Option<usize>,
    },
    /// All planned VUs of the core are made, or given up.
    InitDone {
        core: u32,
    },
    /// A VU is free again.
    Returned {
        vu: VuRef,
        scenario: usize,
        handle: Option<u32>,
        exhausted: bool,
    },
    /// An iteration was dropped, a VU more would have helped.
    WantVu {
        scenario: usize,
    },
    /// No core has due times of this scenario left.
    Paced {
        scenario: usize,
    },
    SetupDone(Staged<Option<String>>),
    TeardownDone(Staged<()>),
    /// A frame with all that has been seen so far is on its way.
    HandedOver {
        core: u32,
    },
    /// The last frame is on its way.
    Finished {
        health: CoreHealth,
    },
    /// The core's thread panicked.
    Died {
        core: u32,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_of_all_cores_cover_each_number_once() {
        let shares =
            [vec![0, 2], vec![1]].map(|o: Vec<u64>| Share { period: 3, offsets: o.into() });
        let mut all: Vec<u64> = (0..4).map(|k| shares[0].number(k)).collect();
        all.extend((0..2).map(|k| shares[1].number(k)));
        all.sort_unstable();
        assert_eq!(all, [0, 1, 2, 3, 4, 5]);
    }

    #[test]
    fn a_part_is_as_many_as_there_are_numbers_below() {
        let share = Share { period: 5, offsets: [1, 4].into() };
        for all in 0..23 {
            let numbers = (0..).map(|k| share.number(k)).take_while(|number| *number < all);
            assert_eq!(share.part_of(all), numbers.count() as u64, "{all}");
        }
    }
}
