//! An agent as a state machine.
//!
//! ```text
//!             Load          ready, clock known        setup() done here or elsewhere
//!  Seated ──────────► Loading ─────────► Ready ───────────────────────────────► Armed
//!                                                                                │ Start, Run
//!  Closed ◄──────────────── Finished ◄──────────── Running ◄─────────────────────┘
//!     ▲   Close: all numbered       scenarios over    │ SIGTERM
//!     └─────────────────────────────── Leaving ◄──────┘
//! ```
//!
//! The phase that the leader writes moves it (upper case); each look at the phase and at the own state says what is to be done now,
//! so that a phase that was missed, or seen twice, is no trap.

mod event;
mod lease;
mod life;
mod seating;
mod telling;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

pub use self::event::{AgentAction, AgentConfig, AgentEvent, Loaded, Vitals};
use self::lease::Lease;
use self::life::Progress;
use self::seating::Seating;
use crate::clock::{Clock, shifted};
use crate::code;
use crate::desk::{Clash, Desk};
use crate::keys::Key;
use crate::phase::{Phase, Step};
use crate::plan::Plan;
use crate::seat::{AgentState, Delivery, Seat, State};
use crate::setup::SetupData;
use crate::time::{MILLI, Nanos};
use crate::uplink::Uplink;
use crate::wire;

/// An agent: from waiting for a run to the last frame.
#[derive(Debug)]
pub struct Agent {
    config: AgentConfig,
    born: Nanos,
    desk: Desk,
    is_connected: bool,
    plan: Option<Arc<Plan>>,
    phase: Option<Phase>,
    /// The last phase of another plan: a watch may tell a phase before its plan.
    stray: Option<Phase>,
    leader_heard: Nanos,
    seating: Seating,
    state: AgentState,
    /// The state as it was put on the desk last.
    told: Option<AgentState>,
    clock: Clock,
    /// From the own clock to the leader's, fixed at the start.
    offset: Option<i64>,
    start: Option<Nanos>,
    progress: Progress,
    setup: Option<SetupData>,
    uplink: Option<Uplink>,
    vitals: Vitals,
    beat_at: Nanos,
    warned: BTreeSet<&'static str>,
    lease: Lease,
    /// The seats of take-overs that this process was told to make.
    substitutes: BTreeSet<u32>,
    is_over: bool,
}

impl Agent {
    /// An agent that waits for its plan.
    pub fn new(config: AgentConfig, now: Nanos) -> Self {
        let state = AgentState {
            nonce: 0,
            incarnation: config.incarnation,
            serial: 0,
            state: State::Seated,
            since: now,
            offset_ns: 0,
            rtt_ns: 0,
            digest: None,
            late_ns: None,
            reason: None,
            left_ns: None,
            lapsed: false,
            teardown: None,
            totals: None,
            delivery: Delivery::default(),
            notes: Vec::new(),
            verdict: None,
        };
        Self {
            born: now,
            desk: Desk::default(),
            is_connected: false,
            plan: None,
            phase: None,
            stray: None,
            leader_heard: now,
            seating: Seating::new(
                config.substitute.as_ref().map_or(config.index, |it| Some(it.seat)),
            ),
            state,
            told: None,
            clock: Clock::default(),
            offset: None,
            start: None,
            progress: Progress::default(),
            setup: None,
            uplink: None,
            vitals: Vitals::default(),
            beat_at: now,
            warned: BTreeSet::new(),
            lease: Lease::default(),
            substitutes: BTreeSet::new(),
            is_over: false,
            config,
        }
    }

    /// Takes in an event; the actions are to be done in their order.
    pub fn handle(&mut self, now: Nanos, event: AgentEvent, out: &mut Vec<AgentAction>) {
        if self.is_over {
            return;
        }
        match event {
            AgentEvent::Connected => {
                self.is_connected = true;
                self.desk.connected();
            }
            AgentEvent::Disconnected => {
                self.is_connected = false;
                if let Some(uplink) = &mut self.uplink {
                    uplink.disconnected();
                }
            }
            AgentEvent::Current => self.seating.is_current = true,
            AgentEvent::Changed { key, revision, .. } if self.desk.is_stale(key, revision) => {}
            AgentEvent::Changed { key, value, .. } => self.changed(now, key, value.as_deref(), out),
            AgentEvent::Wrote { key, revision } => {
                self.desk.wrote(key, revision);
                if let Key::Seat(seat) = key {
                    self.seated(now, seat, out);
                }
            }
            AgentEvent::Conflict { key, current } => self.conflict(now, key, current, out),
            AgentEvent::Seen(seen) if self.is_of_run(seen.nonce) => {
                self.leader_heard = now;
                let (seat, incarnation) = (self.seating.own, self.config.incarnation);
                let of_us = seen
                    .seats
                    .iter()
                    .find(|of| Some(of.seat) == seat && of.incarnation == incarnation);
                let heard = of_us.map_or(0, |of_us| of_us.heard);
                if let Some((uplink, of_us)) = self.uplink.as_mut().zip(of_us) {
                    uplink.seen(now, &of_us.ranges);
                }
                self.heard_until(heard);
            }
            AgentEvent::ClockReply(reply) => {
                self.leader_heard = now;
                self.clock.reply(now, reply);
                self.look_at_clock(now, out);
            }
            AgentEvent::Acked { seq } => {
                if let Some(uplink) = &mut self.uplink {
                    uplink.acked(now, seq);
                }
            }
            AgentEvent::NotAcked { seq } => {
                if let Some(uplink) = &mut self.uplink {
                    uplink.not_acked(now, seq);
                }
            }
            AgentEvent::Frame(frame) => {
                // A frame comes a moment after it was made.
                let made = if frame.at == 0 { now } else { frame.at.min(now) };
                let run_ns = self.run_ns(made);
                let offset = self.offset.unwrap_or_else(|| self.clock.offset());
                if let Some(uplink) = &mut self.uplink {
                    uplink.take(&wire::retime(&frame, offset, run_ns), run_ns);
                }
            }
            AgentEvent::Vitals(vitals) => self.vitals = vitals,
            AgentEvent::Note(note) => self.note(&note),
            AgentEvent::Verdict(verdict) => self.judged(verdict),
            AgentEvent::Fault(fault) => self.fault(fault),
            AgentEvent::Loaded(_)
            | AgentEvent::SetupDone(_)
            | AgentEvent::SetupPut(_)
            | AgentEvent::SetupGot(_)
            | AgentEvent::Started { .. }
            | AgentEvent::Ended
            | AgentEvent::TeardownDone(_) => self.happened(now, event),
            AgentEvent::Signal => self.signal(now, out),
            AgentEvent::Seen(_) | AgentEvent::Wake => {}
        }
        self.advance(now, out);
    }

    /// When to call with [`AgentEvent::Wake`], if nothing comes before.
    pub fn wake_at(&self, now: Nanos) -> Option<Nanos> {
        if self.is_over {
            return None;
        }
        let run_ns = self.run_ns(now);
        let uplink = self.uplink.as_ref();
        let beats = self.plan.is_some().then_some(self.beat_at);
        [
            self.desk.wake_at().filter(|_| self.is_connected),
            self.clock.wake_at(),
            uplink.and_then(|uplink| uplink.wake_at(now, run_ns, self.is_connected)),
            beats,
            Some(self.deadline()),
            self.progress.wake_at(),
        ]
        .into_iter()
        .flatten()
        .min()
    }

    /// The seat it has.
    pub fn seat(&self) -> Option<u32> {
        self.seating.own
    }

    /// How far it is.
    pub fn state(&self) -> State {
        self.state.state
    }

    /// Nanoseconds since the start of its scenarios; 0 before.
    fn run_ns(&self, now: Nanos) -> Nanos {
        self.start.map_or(0, |start| now.saturating_sub(start))
    }

    fn is_of_run(&self, nonce: u64) -> bool {
        self.plan.as_ref().is_some_and(|plan| plan.nonce == nonce)
    }

    fn step(&self) -> Option<Step> {
        self.phase.as_ref().map(|phase| phase.phase)
    }

    fn changed(&mut self, now: Nanos, key: Key, value: Option<&[u8]>, out: &mut Vec<AgentAction>) {
        match (key, value) {
            (Key::Plan, Some(value)) => self.take_plan(now, value, out),
            (Key::Phase, Some(value)) => {
                let Ok(phase) = serde_json::from_slice::<Phase>(value) else { return };
                let is_news = self.phase.as_ref().is_none_or(|known| phase.is_news_after(known));
                if !self.is_of_run(phase.nonce) {
                    self.stray = Some(phase);
                } else if is_news {
                    self.leader_heard = now;
                    self.phase = Some(phase);
                }
            }
            (Key::Leader, Some(_)) => self.leader_heard = now,
            (Key::Setup, Some(value)) => {
                let Ok(data) = serde_json::from_slice::<SetupData>(value) else { return };
                if self.is_of_run(data.nonce) {
                    self.setup = Some(data);
                }
            }
            (Key::Seat(seat), value) => self.seat_changed(now, seat, value, out),
            _ => {}
        }
    }

    fn take_plan(&mut self, now: Nanos, value: &[u8], out: &mut Vec<AgentAction>) {
        let plan = match Plan::read(value) {
            Ok(plan) => plan,
            Err(error) if self.seating.own.is_none() => {
                self.over(code::NOT_STARTED, Some(error.to_string()), out);
                return;
            }
            Err(_) => return,
        };
        if let Some(own) = &self.plan
            && own.nonce != plan.nonce
            && self.seating.own.is_some()
        {
            let text = "the run was begun anew under the same id, without this agent";
            self.give_up(text, out);
            return;
        }
        if self.plan.as_ref().is_none_or(|own| own.nonce != plan.nonce) {
            self.leader_heard = now;
            self.state.nonce = plan.nonce;
            self.phase = self.stray.take().filter(|phase| phase.nonce == plan.nonce);
            // A leader that lost its broker writes the plan again: a process that comes then may be told of the seats first.
            if self.plan.is_some() {
                self.seating.forget();
            }
            self.plan = Some(Arc::new(plan));
        }
    }

    fn conflict(
        &mut self,
        now: Nanos,
        key: Key,
        current: Option<(Vec<u8>, u64)>,
        out: &mut Vec<AgentAction>,
    ) {
        let (nonce, incarnation) = (self.state.nonce, self.config.incarnation);
        let is_ours = |value: &[u8]| match key {
            Key::Agent(_) => serde_json::from_slice::<AgentState>(value)
                .is_ok_and(|state| (state.nonce, state.incarnation) == (nonce, incarnation)),
            Key::Seat(_) => serde_json::from_slice::<Seat>(value)
                .is_ok_and(|seat| (seat.nonce, seat.incarnation) == (nonce, incarnation)),
            _ => false,
        };
        match (self.desk.conflict(key, current, is_ours), key) {
            (Clash::Ours, Key::Seat(seat)) if self.desk.is_done(key) => self.seated(now, seat, out),
            (Clash::Foreign(value, _), Key::Seat(seat)) => {
                self.desk.forget(key);
                self.seat_changed(now, seat, Some(&value), out);
            }
            // A state of an earlier agent in this seat: it is ours now.
            (Clash::Foreign(_, revision), Key::Agent(_)) => self.desk.know(key, Some(revision)),
            (Clash::Foreign(value, revision), Key::Setup) => {
                let other = serde_json::from_slice::<SetupData>(&value);
                if other.is_ok_and(|data| data.nonce == nonce) {
                    // It was written already, and this answer is the second one.
                    self.desk.forget(key);
                } else {
                    self.desk.know(key, Some(revision));
                }
            }
            _ => {}
        }
    }

    /// Does what is due now.
    fn advance(&mut self, now: Nanos, out: &mut Vec<AgentAction>) {
        self.look_for_seat(now, out);
        self.look_for_takeovers(out);
        self.live(now, out);
        self.look_at_lease(now, out);
        let run_ns = self.run_ns(now);
        if let Some(uplink) = &mut self.uplink {
            uplink.poll(now, run_ns, self.is_connected, |publication| {
                out.push(AgentAction::Publish(publication));
            });
            if uplink.is_numbered() {
                self.live(now, out);
            }
        }
        self.look_at_deadline(now, out);
        if self.is_over {
            return;
        }
        if let Some(seat) = self.seating.own {
            self.put_state(now, seat);
        }
        self.desk.poll(now, |write| out.push(AgentAction::Write(write)));
        if let Some(ask) = self.clock.ask(now) {
            out.push(AgentAction::AskClock(ask));
        }
        if now >= self.beat_at
            && let Some(plan) = &self.plan
            && let Some(seat) = self.place()
        {
            self.beat_at = now + plan.beat_ms.max(10) * MILLI;
            self.lease.beats += 1;
            out.push(AgentAction::Beat(self.beat(now, plan, seat)));
        } else if now >= self.beat_at {
            self.beat_at = now + crate::time::SECOND;
        }
    }

    /// It is over.
    fn over(&mut self, code: u8, message: Option<String>, out: &mut Vec<AgentAction>) {
        self.end(code, message, false, out);
    }

    fn end(
        &mut self,
        code: u8,
        message: Option<String>,
        own_summary: bool,
        out: &mut Vec<AgentAction>,
    ) {
        if !self.is_over {
            self.is_over = true;
            out.push(AgentAction::Finish { code, message, own_summary });
        }
    }

    /// The seat is lost, or the run is: nothing of this agent counts any more.
    fn give_up(&mut self, text: &str, out: &mut Vec<AgentAction>) {
        if self.progress.runs() {
            out.push(AgentAction::Stop { reason: text.to_owned() });
        }
        let code = if self.start.is_some() { code::INCOMPLETE } else { code::NOT_STARTED };
        self.over(code, Some(text.to_owned()), out);
    }

    fn start_at(&mut self, start_ns: Nanos) -> Nanos {
        let offset = self.clock.offset();
        let start = shifted(start_ns, offset.saturating_neg());
        (self.offset, self.start) = (Some(offset), Some(start));
        start
    }
}

/// Seats that others have.
type Taken = BTreeMap<u32, String>;
