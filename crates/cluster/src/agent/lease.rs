//! Under take-over: until when an agent may begin iterations, and the loads of others that it makes.
//!
//! An agent that is cut off from the broker is given up after a while, and another one makes its load. So it must have stopped by
//! then, without hearing of it: it may begin iterations for two thirds of that time since it last sent something that the broker
//! answered. Once that time has passed, it waits for the leader's word that its beats are heard again.

use super::{Agent, AgentAction};
use crate::level::Level;
use crate::phase::Step;
use crate::time::{Nanos, SECOND};

/// The time in which iterations may begin.
#[derive(Debug, Default)]
pub(super) struct Lease {
    /// The moment that was told last.
    until: Nanos,
    /// The time passed: the leader must have heard of a beat with this number.
    awaits: Option<u64>,
    /// The last beat's number.
    pub(super) beats: u64,
    /// When a state is written only to have an answer.
    renew_at: Nanos,
}

impl Agent {
    /// The scenarios are about to begin.
    pub(super) fn begin_lease(&mut self, now: Nanos, out: &mut Vec<AgentAction>) {
        let Some(fence) = self.plan.as_ref().and_then(|plan| plan.fence()) else { return };
        // An agent that hears of the start late may have been given up already.
        self.lease.until = self.answered() + fence;
        out.push(AgentAction::Lease { until: self.lease.until });
        self.look_at_lapse(now, fence, out);
    }

    /// When the last thing that the broker answered was sent.
    fn answered(&self) -> Nanos {
        let of_frames = self.uplink.as_ref().map_or(0, crate::uplink::Uplink::answered);
        self.desk.answered().max(of_frames)
    }

    /// Whether the state is to be written, only to hear from the broker.
    pub(super) fn wants_answer(&mut self, now: Nanos) -> bool {
        let Some(fence) = self.plan.as_ref().and_then(|plan| plan.fence()) else { return false };
        let may_run = !self.progress.is_fresh() && !self.progress.has_ended();
        if !may_run || now < self.lease.renew_at {
            return false;
        }
        self.lease.renew_at = now + fence / 5;
        true
    }

    /// Prolongs the time after an answer of the broker, or notes that it is over.
    pub(super) fn look_at_lease(&mut self, now: Nanos, out: &mut Vec<AgentAction>) {
        let Some(fence) = self.plan.as_ref().and_then(|plan| plan.fence()) else { return };
        if !self.progress.runs() {
            return;
        }
        let until = self.answered() + fence;
        if self.lease.awaits.is_none() && until > self.lease.until && !self.is_given_away() {
            self.lease.until = until;
            out.push(AgentAction::Lease { until });
        }
        self.look_at_lapse(now, fence, out);
    }

    /// Once the time is over, the leader must hear this agent before it goes on.
    fn look_at_lapse(&mut self, now: Nanos, fence: u64, out: &mut Vec<AgentAction>) {
        if now < self.lease.until || self.lease.awaits.is_some() {
            return;
        }
        self.lease.awaits = Some(self.lease.beats + 1);
        self.state.lapsed = true;
        let text = format!(
            "NATS did not answer for {} s: no iteration begins until the leader hears this agent again (--on-agent-loss take-over)",
            fence / SECOND
        );
        self.note(&text);
        out.push(AgentAction::Tell(Level::Warn, text));
    }

    /// The leader has heard a beat with this number.
    pub(super) fn heard_until(&mut self, serial: u64) {
        if self.lease.awaits.is_some_and(|awaited| serial >= awaited) {
            self.lease.awaits = None;
        }
    }

    /// Whether no iteration may begin now.
    pub(super) fn has_lapsed(&self, now: Nanos) -> bool {
        let is_fenced = self.plan.as_ref().is_some_and(|plan| plan.fence().is_some());
        is_fenced && now >= self.lease.until
    }

    /// Whether another agent makes this one's load.
    pub(super) fn is_given_away(&self) -> bool {
        let taken = self.phase.as_ref().zip(self.seating.own);
        taken.is_some_and(|(phase, seat)| phase.taken(seat).is_some())
    }

    /// Begins to make the loads that the leader gave to this process.
    pub(super) fn look_for_takeovers(&mut self, out: &mut Vec<AgentAction>) {
        let Some(phase) = self.phase.as_ref().filter(|phase| phase.phase < Step::Stopping) else {
            return;
        };
        if self.config.substitute.is_some() || self.progress.is_leaving() {
            return;
        }
        let (agent, incarnation) = (&self.config.agent, self.config.incarnation);
        for takeover in &phase.takeovers {
            let is_ours = takeover.agent == *agent && takeover.incarnation == incarnation;
            if is_ours && self.substitutes.insert(takeover.seat) {
                out.push(AgentAction::Substitute(takeover.clone()));
            }
        }
    }
}
