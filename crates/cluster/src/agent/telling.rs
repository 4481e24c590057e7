//! An agent tells of itself: its state, beats, errors, its clock.

use super::{Agent, AgentAction};
use crate::code;
use crate::keys::Key;
use crate::level::Level;
use crate::messages::Beat;
use crate::plan::Plan;
use crate::seat::{AgentState, Fault, NOTE_MAX, NOTES_MAX, VERDICT_MAX};
use crate::time::Nanos;
use crate::uplink::Uplink;

impl Agent {
    /// Puts the state on the desk, if it is another one.
    pub(super) fn put_state(&mut self, now: Nanos, seat: u32) {
        let wants_answer = self.wants_answer(now);
        let is_same = self.told.as_ref().is_some_and(|told| {
            let same = AgentState {
                serial: told.serial,
                since: told.since,
                offset_ns: told.offset_ns,
                rtt_ns: told.rtt_ns,
                ..self.state.clone()
            };
            same == *told
        });
        if is_same && !wants_answer {
            return;
        }
        self.state.serial += 1;
        if self.told.as_ref().is_none_or(|told| told.state != self.state.state) {
            self.state.since = now;
        }
        self.state.offset_ns = self.offset.unwrap_or_else(|| self.clock.offset());
        self.state.rtt_ns = self.clock.rtt();
        let json = serde_json::to_vec(&self.state).expect("a state is plain data");
        self.desk.put(Key::Agent(seat), Some(json));
        self.told = Some(self.state.clone());
    }

    pub(super) fn beat(&self, now: Nanos, plan: &Plan, seat: u32) -> Beat {
        let uplink = self.uplink.as_ref();
        Beat {
            nonce: plan.nonce,
            seat,
            agent: self.config.agent.clone(),
            incarnation: self.config.incarnation,
            state: self.seating.own.map(|_| self.state.state),
            run_ns: self.start.map(|_| self.run_ns(now)).filter(|_| !self.progress.has_ended()),
            vus: self.vitals.vus,
            vus_max: self.vitals.vus_max,
            iterations: self.vitals.iterations,
            cpu: self.vitals.cpu,
            lateness_p99_ms: self.vitals.lateness_p99_ms,
            numbered: uplink.map_or(0, |uplink| uplink.delivery().numbered),
            waiting: uplink.map_or(0, Uplink::waiting),
            load: self.vitals.load.clone(),
            serial: self.lease.beats,
            whole_ns: uplink.map_or(0, |uplink| uplink.whole_until(self.run_ns(now))),
        }
    }

    pub(super) fn judged(&mut self, verdict: serde_json::Value) {
        if verdict.to_string().len() <= VERDICT_MAX {
            self.state.verdict = Some(verdict);
        }
    }

    pub(super) fn note(&mut self, note: &str) {
        let note = &note[..note.floor_char_boundary(NOTE_MAX)];
        if self.state.notes.len() < NOTES_MAX && !self.state.notes.iter().any(|known| known == note)
        {
            self.state.notes.push(note.to_owned());
        }
    }

    pub(super) fn fault(&mut self, fault: Fault) {
        let is_weightier = |known: &Fault| known.code == code::MARKED && fault.code != code::MARKED;
        if self.state.reason.as_ref().is_none_or(is_weightier) {
            self.state.reason = Some(fault);
        }
    }

    pub(super) fn look_at_clock(&mut self, now: Nanos, out: &mut Vec<AgentAction>) {
        let offset = self.clock.offset();
        if self.clock.is_ready()
            && offset.unsigned_abs() > crate::time::SECOND
            && self.warned.insert("offset")
        {
            let behind = if offset > 0 { "behind" } else { "ahead of" };
            let text = format!(
                "this machine's clock is {:.1} s {behind} the leader's; the times of its measurements are corrected",
                offset.unsigned_abs() as f64 / 1e9
            );
            out.push(AgentAction::Tell(Level::Warn, text));
        }
        if let Some(drift) = self.clock.drift_ppm(now)
            && drift.abs() > 50.0
            && self.warned.insert("drift")
        {
            let text = format!(
                "this machine's clock and the leader's part by {drift:.0} microseconds a second"
            );
            out.push(AgentAction::Tell(Level::Warn, text));
        }
    }
}
