//! The VUs that no scenario has at the moment.

use std::collections::VecDeque;

use crate::message::VuRef;

/// First in, first out, like k6's; but among the cores the one with the least VUs at work is asked first.
#[derive(Debug)]
pub(super) struct Pool {
    lanes: Vec<Lane>,
    /// Numbers the VUs in the order in which they came.
    clock: u64,
}

#[derive(Debug, Default)]
struct Lane {
    free: VecDeque<(u64, u32)>,
    working: u64,
    dead: bool,
}

impl Pool {
    pub(super) fn new(cores: usize) -> Pool {
        Pool { lanes: (0..cores).map(|_| Lane::default()).collect(), clock: 0 }
    }

    /// A VU that has just been made, or has come back (then see [`give_back`](Self::give_back)).
    pub(super) fn put(&mut self, vu: VuRef) {
        self.clock += 1;
        let lane = &mut self.lanes[vu.core as usize];
        if !lane.dead {
            lane.free.push_back((self.clock, vu.slot));
        }
    }

    /// All planned VUs are there: from now on they come out in the order of their ids, whichever core was
    /// ready first. The k-th VU of core c has been numbered k · cores + c.
    pub(super) fn settle(&mut self) {
        let cores = self.lanes.len() as u64;
        for (core, lane) in self.lanes.iter_mut().enumerate() {
            for (order, slot) in &mut lane.free {
                *order = u64::from(*slot) * cores + core as u64;
                self.clock = self.clock.max(*order);
            }
        }
    }

    /// A VU that [`take`](Self::take) gave away comes back.
    pub(super) fn give_back(&mut self, vu: VuRef) {
        let lane = &mut self.lanes[vu.core as usize];
        lane.working = lane.working.saturating_sub(1);
        self.put(vu);
    }

    /// A VU goes to work that never was in the pool: one made for a scenario.
    pub(super) fn employ(&mut self, vu: VuRef) {
        self.lanes[vu.core as usize].working += 1;
    }

    /// The VU that waited longest on the core with the least to do.
    pub(super) fn take(&mut self) -> Option<VuRef> {
        let with_vus = self.lanes.iter().enumerate().filter(|(_, lane)| !lane.dead);
        let best = with_vus
            .filter_map(|(core, lane)| Some((lane.working, lane.free.front()?.0, core)))
            .min()?;
        let core = best.2;
        let lane = &mut self.lanes[core];
        let (_, slot) = lane.free.pop_front()?;
        lane.working += 1;
        Some(VuRef { core: core as u32, slot })
    }

    /// The living core with the fewest VUs: where to make the next.
    pub(super) fn emptiest_core(&self) -> Option<usize> {
        let living = self.lanes.iter().enumerate().filter(|(_, lane)| !lane.dead);
        living.min_by_key(|(_, lane)| lane.working + lane.free.len() as u64).map(|(core, _)| core)
    }

    /// A core has died, with all its VUs.
    pub(super) fn bury(&mut self, core: u32) {
        let lane = &mut self.lanes[core as usize];
        lane.dead = true;
        lane.free.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vu(core: u32, slot: u32) -> VuRef {
        VuRef { core, slot }
    }

    #[test]
    fn vus_come_out_in_the_order_in_which_they_were_made_and_from_all_cores() {
        let mut pool = Pool::new(2);
        for number in 0..6 {
            pool.put(vu(number % 2, number / 2));
        }
        let taken: Vec<_> = std::iter::from_fn(|| pool.take()).collect();
        assert_eq!(taken, [vu(0, 0), vu(1, 0), vu(0, 1), vu(1, 1), vu(0, 2), vu(1, 2)]);
    }

    #[test]
    fn the_core_that_was_ready_first_gets_no_advantage() {
        let mut pool = Pool::new(2);
        for (core, slot) in [(1, 0), (1, 1), (0, 0), (0, 1)] {
            pool.put(vu(core, slot));
        }
        pool.settle();
        let taken: Vec<_> = std::iter::from_fn(|| pool.take()).collect();
        assert_eq!(taken, [vu(0, 0), vu(1, 0), vu(0, 1), vu(1, 1)]);
    }

    #[test]
    fn the_core_with_less_to_do_is_asked_first() {
        let mut pool = Pool::new(2);
        for slot in 0..3 {
            pool.put(vu(0, slot));
            pool.put(vu(1, slot));
        }
        let (first, second) = (pool.take().unwrap(), pool.take().unwrap());
        pool.give_back(second);
        assert_eq!((first.core, second.core), (0, 1));
        assert_eq!(pool.take().map(|vu| vu.core), Some(1));
    }

    #[test]
    fn a_dead_core_gives_nothing() {
        let mut pool = Pool::new(2);
        pool.put(vu(0, 0));
        pool.bury(0);
        pool.give_back(vu(0, 1));
        assert_eq!(pool.take(), None);
        assert_eq!(pool.emptiest_core(), Some(1));
    }
}
