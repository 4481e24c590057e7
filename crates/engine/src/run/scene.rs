//! A scenario as the coordinator sees it: which VUs it has, and what is to happen next.
//!
//! No clock, no channel: the coordinator tells the time and carries the commands out.

use std::collections::VecDeque;
use std::sync::Arc;

use brunt_schedule::{Budget, ClosedPlan, HandlePlan, Span};

use super::pool::Pool;
use crate::core::{at, span_at};
use crate::message::{Command, Share, VuRef};
use crate::scenario::{Inboxes, Plan, ScenarioState};

/// One scenario.
pub(super) struct Scene {
    pub(super) state: Arc<ScenarioState>,
    /// How many VUs it has on each core.
    attached: Vec<u64>,
    part: Part,
    done: bool,
}

enum Part {
    Closed(Closed),
    Open(Open),
}

struct Closed {
    /// When which handle is to start (unix ns after the launch), ascending.
    starts: Vec<(u64, u32)>,
    next: usize,
    /// Handles that want a VU and have none yet.
    waiting: VecDeque<u32>,
    handles: Vec<Handle>,
}

#[derive(Clone, Copy, Default)]
struct Handle {
    attached: bool,
    waiting: bool,
    /// It has had a VU.
    served: bool,
    /// It has no iterations left to start.
    exhausted: bool,
    core: u32,
}

struct Open {
    inboxes: Option<Inboxes>,
    /// VUs that it shall have and that the pool could not give yet.
    missing: u64,
    paced: bool,
}

/// The commands that the coordinator is to send, each with its core.
pub(super) type Orders = Vec<(usize, Command)>;

impl Scene {
    pub(super) fn new(state: Arc<ScenarioState>, inboxes: Inboxes) -> Scene {
        let part = match state.plan() {
            Plan::Closed(plan) => Part::Closed(Closed::new(plan)),
            Plan::Open(arrivals) => Part::Open(Open {
                inboxes: Some(inboxes),
                missing: arrivals.pre_allocated(),
                paced: false,
            }),
        };
        let attached = vec![0; state.cores()];
        Scene { state, attached, part, done: false }
    }

    /// The scenarios are launched at `launch` (unix ns).
    pub(super) fn launch(&mut self, launch: u64) {
        let start = at(launch, self.state.spec().start_time);
        self.state.set_start(start);
        if let Part::Closed(closed) = &mut self.part {
            for (moment, _) in &mut closed.starts {
                *moment = moment.saturating_add(start);
            }
        }
    }

    pub(super) fn is_done(&self) -> bool {
        self.done
    }

    /// Iterations that were not started and that no other count contains: the rest of a shared budget, and the share
    /// of handles that never got a VU. Asked when it is done.
    pub(super) fn unstarted(&self) -> u64 {
        let (Part::Closed(closed), Some(plan)) = (&self.part, self.state.closed()) else {
            return 0;
        };
        match plan.budget {
            Budget::Unlimited => 0,
            Budget::Shared(all) => self.state.not_begun(all),
            Budget::PerVu(each) => {
                let unserved = closed.handles.iter().filter(|handle| !handle.served).count();
                each.saturating_mul(unserved as u64)
            }
        }
    }

    /// When something is to happen next (unix ns), if no VU moves before.
    pub(super) fn next_moment(&self) -> u64 {
        match &self.part {
            _ if self.done => u64::MAX,
            Part::Closed(closed) => {
                closed.starts.get(closed.next).map_or(u64::MAX, |(moment, _)| *moment)
            }
            Part::Open(open) if open.inboxes.is_some() => self.state.start(),
            Part::Open(_) => u64::MAX,
        }
    }

    /// Does what is due at `now`; `aborting` means that nothing starts any more.
    pub(super) fn advance(
        &mut self,
        now: u64,
        aborting: bool,
        pool: &mut Pool,
        orders: &mut Orders,
    ) {
        if self.done {
            return;
        }
        let (state, attached) = (&self.state, &mut self.attached);
        let is_over = match &mut self.part {
            Part::Closed(closed) => {
                if !aborting {
                    closed.advance(now, state, attached, pool, orders);
                }
                let is_quiet = closed.next == closed.starts.len() && closed.waiting.is_empty();
                is_quiet || aborting
            }
            Part::Open(open) => {
                if !aborting {
                    open.advance(now, state, attached, pool, orders);
                }
                open.paced || aborting
            }
        };
        let vus: u64 = self.attached.iter().sum();
        // At the end they leave, and whoever looks still wants to know how many there were.
        let least = if is_over { self.state.vus_allocated() } else { 0 };
        self.state.set_allocated(vus.max(least));
        if is_over && vus == 0 {
            self.done = true;
            self.state.finish(aborting);
        }
    }

    /// A VU came back.
    pub(super) fn returned(&mut self, vu: VuRef, handle: Option<u32>, exhausted: bool, now: u64) {
        let here = &mut self.attached[vu.core as usize];
        *here = here.saturating_sub(1);
        let (Part::Closed(closed), Some(index)) = (&mut self.part, handle) else {
            return;
        };
        let handle = &mut closed.handles[index as usize];
        handle.attached = false;
        handle.exhausted |= exhausted;
        let plan = self.state.closed().expect("a closed scenario has a closed plan");
        let is_wanted = span_at(plan.spans(index), self.state.start(), now).is_some();
        if is_wanted && !handle.exhausted && !handle.waiting {
            // It left just before its next span began, which passed while it was on its way.
            handle.waiting = true;
            closed.waiting.push_back(index);
        }
    }

    /// The number of VUs that it lacks to have `vus` of them. Only a scenario that is controlled from outside ever lacks
    /// any.
    pub(super) fn lacks(&self, vus: u64) -> u64 {
        match &self.part {
            Part::Closed(closed) if self.state.gate().is_some() && !self.done => {
                vus.saturating_sub(closed.handles.len() as u64)
            }
            Part::Open(open) if self.state.helm().is_some() && !self.done && !open.paced => {
                vus.saturating_sub(self.attached.iter().sum::<u64>() + open.missing)
            }
            Part::Closed(_) | Part::Open(_) => 0,
        }
    }

    /// An unplanned VU for this scenario is there; `None` if it is over or comes for it itself, and the VU for the pool.
    pub(super) fn join(&mut self, vu: VuRef, aborting: bool) -> Option<Command> {
        let open = match &mut self.part {
            Part::Open(open) => open,
            Part::Closed(closed) => {
                closed.add_handle(&self.state);
                return None;
            }
        };
        if self.done || open.paced || aborting {
            return None;
        }
        self.attached[vu.core as usize] += 1;
        self.state.set_allocated(self.attached.iter().sum());
        Some(Command::Join { slot: vu.slot, scenario: self.state.index() })
    }

    /// The pool shall give it one VU more, as soon as it has one.
    pub(super) fn want_one_more(&mut self) {
        if let Part::Open(open) = &mut self.part {
            open.missing += 1;
        }
    }

    /// All its due times have passed.
    pub(super) fn paced(&mut self) {
        if let Part::Open(open) = &mut self.part {
            open.paced = true;
            open.missing = 0;
        }
    }

    /// A core has died, with the VUs it had there.
    pub(super) fn bury(&mut self, core: u32) {
        self.attached[core as usize] = 0;
        if let Part::Closed(closed) = &mut self.part {
            for handle in closed.handles.iter_mut().filter(|handle| handle.core == core) {
                handle.attached = false;
            }
        }
    }
}

impl Closed {
    fn new(plan: &ClosedPlan) -> Closed {
        let starts_of = |(index, handle): (usize, &HandlePlan)| {
            let start = |span: &Span| (at(0, span.start), index as u32);
            handle.spans.iter().map(start).collect::<Vec<_>>()
        };
        let mut starts: Vec<_> = plan.handles.iter().enumerate().flat_map(starts_of).collect();
        starts.sort_unstable();
        let handles = vec![Handle::default(); plan.handles.len()];
        Closed { starts, next: 0, waiting: VecDeque::new(), handles }
    }

    /// One handle more than was planned, which starts with the scenario or, if that runs, at once.
    fn add_handle(&mut self, state: &ScenarioState) {
        let plan = state.closed().expect("a closed scenario has a closed plan");
        let index = self.handles.len() as u32;
        self.handles.push(Handle::default());
        let launched = state.started_at().unwrap_or(0);
        self.starts.extend(plan.spans(index).iter().map(|span| (at(launched, span.start), index)));
        self.starts[self.next..].sort_unstable();
    }

    fn advance(
        &mut self,
        now: u64,
        state: &ScenarioState,
        attached: &mut [u64],
        pool: &mut Pool,
        orders: &mut Orders,
    ) {
        while let Some((_, index)) = self.starts.get(self.next).filter(|(moment, _)| *moment <= now)
        {
            self.next += 1;
            let handle = &mut self.handles[*index as usize];
            // Still attached: it was wanted back in time and goes on by itself, or comes back soon and
            // is then looked at again.
            if !handle.attached && !handle.waiting && !handle.exhausted {
                handle.waiting = true;
                self.waiting.push_back(*index);
            }
        }
        let plan = state.closed().expect("a closed scenario has a closed plan");
        while let Some(index) = self.waiting.front().copied() {
            let is_wanted = span_at(plan.spans(index), state.start(), now).is_some();
            let vu = if is_wanted { pool.take() } else { None };
            if is_wanted && vu.is_none() {
                if !state.warned.swap(true, std::sync::atomic::Ordering::Relaxed) {
                    let name = state.spec().name.as_str();
                    log::debug!(scenario = name; "waiting for another scenario to return a VU");
                }
                return;
            }
            self.waiting.pop_front();
            let handle = &mut self.handles[index as usize];
            handle.waiting = false;
            if let Some(vu) = vu {
                handle.attached = true;
                handle.served = true;
                handle.core = vu.core;
                attached[vu.core as usize] += 1;
                let scenario = state.index();
                let order = Command::Attend { slot: vu.slot, scenario, handle: index };
                orders.push((vu.core as usize, order));
            }
        }
    }
}

impl Open {
    fn advance(
        &mut self,
        now: u64,
        state: &ScenarioState,
        attached: &mut [u64],
        pool: &mut Pool,
        orders: &mut Orders,
    ) {
        if state.start() > now {
            return;
        }
        let vus: Vec<VuRef> = std::iter::from_fn(|| {
            let vu = if self.missing > 0 { pool.take() } else { None };
            self.missing -= u64::from(vu.is_some());
            vu
        })
        .collect();
        for vu in &vus {
            attached[vu.core as usize] += 1;
        }
        let scenario = state.index();
        let Some(inboxes) = self.inboxes.take() else {
            for vu in vus {
                state.growing.store(false, std::sync::atomic::Ordering::Relaxed);
                orders.push((vu.core as usize, Command::Join { slot: vu.slot, scenario }));
            }
            return;
        };
        let shares = shares(&vus, state.cores());
        let pacers = shares.iter().filter(|share| !share.offsets.is_empty()).count();
        state.pacers.store(pacers as u32, std::sync::atomic::Ordering::Release);
        for (core, (share, inbox)) in shares.into_iter().zip(inboxes).enumerate() {
            let here = vus.iter().filter(|vu| vu.core as usize == core);
            let slots = here.map(|vu| vu.slot).collect();
            orders.push((core, Command::Open { scenario, slots, share, inbox }));
        }
    }
}

/// Deals the due times out to the cores as the VUs are dealt out: the k-th due time belongs to the core of
/// the k-th VU, and round again. Without VUs, all cores get the same.
fn shares(vus: &[VuRef], cores: usize) -> Vec<Share> {
    let mut counts = vec![0_usize; cores];
    for vu in vus {
        counts[vu.core as usize] += 1;
    }
    let is_even = counts.iter().all(|count| *count == counts[0]);
    let owners: Vec<usize> = if is_even {
        (0..cores).collect()
    } else {
        vus.iter().map(|vu| vu.core as usize).collect()
    };
    let period = owners.len() as u64;
    let offsets_of = |core: usize| {
        let own = owners.iter().enumerate().filter(|(_, owner)| **owner == core);
        own.map(|(offset, _)| offset as u64).collect::<Vec<_>>().into()
    };
    (0..cores).map(|core| Share { period, offsets: offsets_of(core) }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vu(core: u32, slot: u32) -> VuRef {
        VuRef { core, slot }
    }

    #[test]
    fn evenly_spread_vus_share_in_turns() {
        let shares = shares(&[vu(0, 0), vu(1, 0), vu(0, 1), vu(1, 1)], 2);
        assert_eq!(shares[0], Share { period: 2, offsets: [0].into() });
        assert_eq!(shares[1], Share { period: 2, offsets: [1].into() });
    }

    #[test]
    fn a_core_without_vus_has_no_due_times() {
        let shares = shares(&[vu(1, 0)], 2);
        assert!(shares[0].offsets.is_empty());
        assert_eq!(shares[1], Share { period: 1, offsets: [0].into() });
    }

    #[test]
    fn without_any_vu_all_cores_pace() {
        let shares = shares(&[], 3);
        assert!(shares.iter().all(|share| share.offsets.len() == 1 && share.period == 3));
    }
}
