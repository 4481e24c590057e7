//! How an agent comes to its seat, and how it loses it.

use super::{Agent, AgentAction, Taken};
use crate::code;
use crate::keys::Key;
use crate::level::Level;
use crate::phase::Step;
use crate::plan::{Plan, Policy};
use crate::seat::Seat;
use crate::time::{Nanos, SECOND};

/// A process in the place of an earlier one tells the leader so for this time.
const KNOCKING: u64 = 3 * SECOND;

/// The seat, and the way to it.
#[derive(Debug)]
pub(super) struct Seating {
    /// The seat it must have; any one if none.
    wanted: Option<u32>,
    /// The seats that others have, with the names of their agents.
    taken: Taken,
    /// The seat it asked for.
    asked: Option<u32>,
    /// The seat it has.
    pub(super) own: Option<u32>,
    /// The seat that an earlier process in this place has: the leader is told of the new one by beats.
    pub(super) knocks_at: Option<u32>,
    /// Since when.
    knocks_since: Nanos,
    /// The watch has told the present.
    pub(super) is_current: bool,
    is_spare: bool,
    /// It told the leader that an earlier process in its place is gone.
    has_knocked: bool,
}

impl Seating {
    pub(super) fn new(wanted: Option<u32>) -> Self {
        Self {
            wanted,
            taken: Taken::new(),
            asked: None,
            own: None,
            knocks_at: None,
            knocks_since: 0,
            is_current: false,
            is_spare: false,
            has_knocked: false,
        }
    }

    /// There is another plan.
    pub(super) fn forget(&mut self) {
        *self = Self { is_current: self.is_current, ..Self::new(self.wanted) };
    }

    /// A seat that is free as far as is known.
    fn free(&self, seats: u32, start: u64) -> Option<u32> {
        match self.wanted {
            Some(seat) if seat > seats => None,
            Some(seat) => (!self.taken.contains_key(&seat)).then_some(seat),
            // Each begins elsewhere, so that a hundred that come at once don't ask for the same one.
            None => (0..seats)
                .map(|n| ((u64::from(n) + start) % u64::from(seats)) as u32 + 1)
                .find(|seat| !self.taken.contains_key(seat)),
        }
    }
}

impl Agent {
    /// Asks for a seat, if it has none.
    pub(super) fn look_for_seat(&mut self, now: Nanos, out: &mut Vec<AgentAction>) {
        let Some(plan) = self.plan.clone() else { return };
        let Some(step) = self.step() else { return };
        if self.seating.own.is_some() || self.seating.asked.is_some() || self.is_over {
            return;
        }
        if !self.seating.is_current {
            return;
        }
        if let Some(seat) = self.config.substitute.as_ref().map(|takeover| takeover.seat) {
            if step >= Step::Stopping {
                self.over(0, Some("the load is over".to_owned()), out);
            } else {
                self.ask_for(now, seat, &plan);
            }
            return;
        }
        let earlier =
            |(seat, agent): (&u32, &String)| (*agent == self.config.agent).then_some(*seat);
        let knocks_at = match self.seating.wanted {
            Some(seat) => self.seating.taken.get_key_value(&seat).and_then(earlier),
            None => self.seating.taken.iter().find_map(earlier),
        };
        if self.seating.knocks_at.is_none() && knocks_at.is_some() && !self.seating.has_knocked {
            // The leader hears of this process at once.
            (self.seating.knocks_at, self.seating.knocks_since, self.beat_at) =
                (knocks_at, now, now);
        }
        if step > Step::Load {
            self.is_too_late(now, step, plan.policy == Policy::TakeOver, out);
            return;
        }
        let start = self.config.incarnation ^ (self.config.incarnation >> 17);
        let Some(seat) = self.seating.free(plan.seats, start % u64::from(plan.seats)) else {
            if !std::mem::replace(&mut self.seating.is_spare, true) {
                let text =
                    "all seats are taken; this agent waits, should one become free".to_owned();
                out.push(AgentAction::Tell(Level::Info, text));
            }
            return;
        };
        self.ask_for(now, seat, &plan);
    }

    fn ask_for(&mut self, now: Nanos, seat: u32, plan: &Plan) {
        self.seating.asked = Some(seat);
        let value = Seat {
            nonce: plan.nonce,
            agent: self.config.agent.clone(),
            host: self.config.host.clone(),
            incarnation: self.config.incarnation,
            version: self.config.version.clone(),
            cores: self.config.cores,
            memory: self.config.memory,
            index: self.config.index,
        };
        let json = serde_json::to_vec(&value).expect("a seat is plain data");
        self.desk.put(Key::Seat(seat), Some(json));
        self.beat_at = now;
    }

    /// The test has begun without this agent: it goes, but for the time in which it tells the leader that an earlier process in its
    /// place is gone. Where loads are taken over, it stays, as a spare.
    fn is_too_late(
        &mut self,
        now: Nanos,
        step: Step,
        takes_over: bool,
        out: &mut Vec<AgentAction>,
    ) {
        match self.seating.knocks_at {
            _ if self.seating.has_knocked && step < Step::Stopping => {}
            Some(_) if step < Step::Done && now < self.seating.knocks_since + KNOCKING => {}
            Some(_) if takes_over && step < Step::Stopping => {
                (self.seating.has_knocked, self.seating.knocks_at) = (true, None);
            }
            Some(seat) => {
                let text = format!(
                    "the process of seat {seat} was started anew while the test ran; its VUs are gone, and the test goes on without them"
                );
                self.over(code::INCOMPLETE, Some(text), out);
            }
            None if takes_over && step < Step::Stopping => {}
            // It made loads of others.
            None if !self.substitutes.is_empty() => {
                self.over(0, Some("the test is over".to_owned()), out);
            }
            None if step >= Step::Start => {
                let text =
                    "the test has begun with other agents; this one is not needed".to_owned();
                self.over(0, Some(text), out);
            }
            None => {}
        }
    }

    /// The store has the seat as ours.
    pub(super) fn seated(&mut self, now: Nanos, seat: u32, out: &mut Vec<AgentAction>) {
        if self.seating.asked == Some(seat) {
            self.seating.asked = None;
            self.seating.own = Some(seat);
            self.seating.knocks_at = None;
            self.beat_at = now;
            out.push(AgentAction::Tell(Level::Info, format!("this agent has seat {seat}")));
        }
    }

    /// The seat that its beats tell: 0 for an agent that has none and could take a load over.
    pub(super) fn place(&self) -> Option<u32> {
        let takes_over = self.plan.as_ref().is_some_and(|plan| plan.policy == Policy::TakeOver);
        let is_spare = takes_over
            && self.config.substitute.is_none()
            && self.plan.as_ref().is_some_and(|plan| plan.version == self.config.version)
            && self.step().is_some_and(|step| (Step::Load..Step::Stopping).contains(&step));
        self.seating.own.or(self.seating.knocks_at).or(is_spare.then_some(0))
    }

    fn leave_seat(&mut self, seat: u32) {
        self.desk.forget(Key::Seat(seat));
        self.desk.forget(Key::Agent(seat));
        self.seating.own = None;
        self.told = None;
    }

    /// A seat as the watch, or a refused write, tells it.
    pub(super) fn seat_changed(
        &mut self,
        now: Nanos,
        seat: u32,
        value: Option<&[u8]>,
        out: &mut Vec<AgentAction>,
    ) {
        let holder = value.and_then(|value| serde_json::from_slice::<Seat>(value).ok());
        let Some(holder) = holder else {
            self.seating.taken.remove(&seat);
            if self.seating.own == Some(seat) && value.is_none() {
                // The leader took it back, as it had not heard of this agent.
                if self.progress.is_fresh() {
                    self.leave_seat(seat);
                } else {
                    self.give_up("the leader has given this agent's seat away", out);
                }
            }
            return;
        };
        let is_ours = holder.incarnation == self.config.incarnation
            && holder.agent == self.config.agent
            && self.is_of_run(holder.nonce);
        if is_ours {
            if self.seating.asked == Some(seat) {
                self.seated(now, seat, out);
            }
            return;
        }
        self.seating.taken.insert(seat, holder.agent.clone());
        if self.seating.asked == Some(seat) {
            self.desk.forget(Key::Seat(seat));
            self.seating.asked = None;
        }
        if self.seating.own == Some(seat) {
            if self.progress.is_fresh() {
                // The store was emptied, and the other one was faster: there is another seat.
                self.leave_seat(seat);
            } else {
                let text = format!("another agent ({}) has this one's seat {seat}", holder.host);
                self.give_up(&text, out);
            }
        }
    }
}
