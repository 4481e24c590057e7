//! The leader as a state machine.
//!
//! ```text
//! Opening ─► Watching (10 s, if there was a leader) ─► Taking ─► Leading ─► Concluding ─► Ending ─► Over
//!
//! Leading:  Gather ─► Load ─► Setup ─► Start ─► Run ─► Stopping ─► Teardown ─► Close
//!             └─────────┴───────┴────────┴────────┴───────▲ whatever cuts the run short
//! ```
//!
//! All that a successor needs is in the store: the plan, the phase, the agents' keys, a checkpoint of the measurements and the
//! stream since then.

mod cell;
mod event;
mod frames;
mod opening;
mod phases;
mod seats;
mod steering;
mod takeover;
mod verdict;
mod view;

use std::sync::Arc;

pub(crate) use self::cell::{Cell, Kept};
pub use self::event::{LeaderAction, LeaderConfig, LeaderEvent, Outcome, Stored};
use self::frames::Frames;
use self::opening::Stage;
use self::takeover::Spares;
pub use self::view::{SeatView, Touch, View};
use crate::clock::shifted;
use crate::code;
use crate::desk::{Clash, Desk};
use crate::keys::Key;
use crate::level::Level;
use crate::messages::{ClockReply, LeaderSign};
use crate::phase::{Phase, Step};
use crate::plan::Plan;
use crate::seat::Fault;
use crate::setup::SetupData;
use crate::steering::Wish;
use crate::time::{Nanos, SECOND};

/// From one look at all agents to the next.
const TICK: u64 = SECOND;
/// From one renewal of the leader's sign to the next.
const RENEW: u64 = 2 * SECOND;

/// The leader: from the first agent to the verdict.
#[derive(Debug)]
pub struct Leader {
    config: LeaderConfig,
    born: Nanos,
    stage: Stage,
    /// It became the leader, and no other has taken the run over.
    has_led: bool,
    desk: Desk,
    plan: Plan,
    phase: Phase,
    /// Since when the phase lasts, by the own clock.
    phase_at: Nanos,
    /// When the scenarios began, by the own clock.
    start: Option<Nanos>,
    /// A predecessor's clock told the start: the first beat tells it better.
    is_start_foreign: bool,
    /// When the last scenario ended.
    ended: Option<Nanos>,
    cells: Vec<Cell>,
    frames: Frames,
    setup: Option<SetupData>,
    /// Changes of how the run is steered that somebody asked for.
    wishes: Wish,
    /// Why the run is cut short.
    fault: Option<Fault>,
    /// The script marked the test as failed.
    marked: Option<Fault>,
    /// `teardown()` failed.
    teardown_fault: Option<Fault>,
    /// The agents whose load or results are missing, once that is known.
    missing: Vec<String>,
    /// Agents without a seat that could take a load over.
    spares: Spares,
    /// When the test was cut short.
    cut_at: Option<Nanos>,
    /// Since when the broker is gone.
    disconnected: Option<Nanos>,
    tick_at: Nanos,
    renew_at: Nanos,
    renewals: u64,
}

impl Leader {
    /// A leader that waits for [`LeaderEvent::Opened`].
    pub fn new(config: LeaderConfig, now: Nanos) -> Self {
        let plan = config.plan.clone();
        let phase = Phase {
            nonce: plan.nonce,
            phase: Step::Gather,
            since: now,
            start_ns: None,
            setup: None,
            teardown: None,
            reason: None,
            takeovers: Vec::new(),
            told: None,
            ended: None,
            steering: config.steering,
        };
        Self {
            born: now,
            stage: Stage::Opening,
            has_led: false,
            desk: Desk::default(),
            cells: Cell::all(&plan),
            frames: Frames::new(Arc::clone(&config.registry), config.kept_tags.clone(), now),
            plan,
            phase,
            phase_at: now,
            start: None,
            is_start_foreign: false,
            ended: None,
            setup: None,
            wishes: Wish::default(),
            fault: None,
            marked: None,
            teardown_fault: None,
            missing: Vec::new(),
            spares: Spares::default(),
            cut_at: None,
            disconnected: None,
            tick_at: now,
            renew_at: now,
            renewals: 0,
            config,
        }
    }

    /// Takes in an event; the actions are to be done in their order.
    pub fn handle(&mut self, now: Nanos, event: LeaderEvent, out: &mut Vec<LeaderAction>) {
        if self.stage.is_over() {
            return;
        }
        match event {
            LeaderEvent::Opened(stored) => self.opened(now, stored),
            LeaderEvent::Changed { key, value, revision } if !self.stage.leads() => {
                self.stage.changed(key, value, revision);
            }
            LeaderEvent::Changed { key, revision, .. } if self.desk.is_stale(key, revision) => {}
            LeaderEvent::Changed { key, value, revision } => {
                self.changed(now, key, value.as_deref(), revision, out);
            }
            LeaderEvent::Connected => {
                self.desk.connected();
                self.is_back(now);
                // The store may be a new one: what was stored must come again.
                self.frames.store_soon(now);
            }
            LeaderEvent::Disconnected => drop(self.disconnected.get_or_insert(now)),
            LeaderEvent::Wrote { key, revision } => {
                self.desk.wrote(key, revision);
                self.sign_is_written(now, key, out);
            }
            LeaderEvent::Conflict { key, current } => self.conflict(now, key, current, out),
            LeaderEvent::Message { payload, stream_seq } => {
                if self.stage.is_leading() {
                    self.message(now, &payload, stream_seq, out);
                }
            }
            LeaderEvent::Beat(beat) => {
                if self.stage.leads() {
                    self.beat(now, beat, out);
                }
            }
            LeaderEvent::AskClock(ask) => {
                if self.stage.leads() {
                    let reply = ClockReply { t1: ask.t1, t2: now, t3: now };
                    out.push(LeaderAction::ReplyClock(reply));
                }
            }
            LeaderEvent::CheckpointPut(result) => self.checkpoint_put(now, result, out),
            LeaderEvent::Abort(fault) => self.abort(now, fault, out),
            LeaderEvent::Steer(wish) => self.wish(wish),
            LeaderEvent::Concluded(crossed) => self.concluded(now, crossed),
            LeaderEvent::Wake => {}
        }
        self.advance(now, out);
    }

    /// When to call with [`LeaderEvent::Wake`], if nothing comes before.
    pub fn wake_at(&self) -> Option<Nanos> {
        if self.stage.is_over() {
            return None;
        }
        let waits = self.phase.phase == Step::Start && self.disconnected.is_none();
        let start = self.start.filter(|_| waits);
        [self.desk.wake_at(), Some(self.tick_at), start].into_iter().flatten().min()
    }

    /// Whether the run is this leader's: it became the leader, and no other has taken the run over. Else its frames and files
    /// are another's, and must stay.
    pub fn has_led(&self) -> bool {
        self.has_led
    }

    /// How things are, for a screen.
    pub fn view(&self, now: Nanos) -> View {
        View {
            step: self.stage.leads().then_some(self.phase.phase),
            since: self.phase_at,
            run_ns: self.start.map(|start| self.ended.unwrap_or(now).saturating_sub(start)),
            steering: self.phase.steering,
            is_cut_short: self.fault.is_some(),
            is_marked: self.marked.is_some(),
            seats: self.cells.iter().map(Cell::view).collect(),
        }
    }

    fn advance(&mut self, now: Nanos, out: &mut Vec<LeaderAction>) {
        self.open(now, out);
        self.steer();
        if self.stage.leads() {
            if now >= self.tick_at && self.disconnected.is_none() {
                self.look_at_agents(now, out);
                self.look_for_takers(now, out);
                self.tick(now, out);
            }
            if now >= self.renew_at {
                self.sign(now);
            }
            self.go_on(now, out);
        }
        if now >= self.tick_at {
            self.tick_at = now + TICK;
        }
        if !self.stage.is_over() {
            self.desk.poll(now, |write| out.push(LeaderAction::Write(write)));
        }
    }

    /// The broker is there again: the silence was not the agents'.
    fn is_back(&mut self, now: Nanos) {
        let Some(since) = self.disconnected.take() else { return };
        self.phase_at += now.saturating_sub(since);
        for cell in self.cells.iter_mut().filter(|cell| cell.is_here()) {
            cell.heard = now;
        }
    }

    /// Renews the sign of life.
    fn sign(&mut self, now: Nanos) {
        self.renew_at = now + RENEW;
        self.renewals += 1;
        let (id, incarnation) = (self.config.id.clone(), self.config.incarnation);
        let sign = LeaderSign { id, incarnation, beat: self.renewals };
        self.desk.put(Key::Leader, Some(json(&sign)));
    }

    /// Writes the phase.
    fn set_phase(&mut self, now: Nanos, step: Step) {
        debug_assert!(step > self.phase.phase, "phases go forward: {step:?}");
        (self.phase.phase, self.phase.since) = (step, now);
        self.phase_at = now;
        self.desk.put(Key::Phase, Some(json(&self.phase)));
        self.tick_at = self.tick_at.min(now + TICK);
    }

    fn conflict(
        &mut self,
        now: Nanos,
        key: Key,
        current: Option<(Vec<u8>, u64)>,
        out: &mut Vec<LeaderAction>,
    ) {
        let incarnation = self.config.incarnation;
        let nonce = self.plan.nonce;
        let is_ours = |value: &[u8]| match key {
            Key::Leader => serde_json::from_slice::<LeaderSign>(value)
                .is_ok_and(|sign| sign.incarnation == incarnation),
            Key::Plan => Plan::read(value).is_ok_and(|plan| plan.nonce == nonce),
            _ => false,
        };
        match (self.desk.conflict(key, current, is_ours), key) {
            (Clash::Ours, Key::Leader) if self.desk.is_done(key) => {
                self.sign_is_written(now, key, out);
            }
            (Clash::Foreign(value, revision), Key::Leader) => {
                self.superseded(now, &value, revision, out);
            }
            (Clash::Foreign(_, revision), Key::Plan) => self.desk.know(key, Some(revision)),
            (Clash::Foreign(value, revision), Key::Phase) => {
                self.desk.know(key, Some(revision));
                // A predecessor's write that came late: agents may have seen it.
                let other = serde_json::from_slice::<Phase>(&value);
                if let Ok(other) = other
                    && other.nonce == nonce
                {
                    let steering = self.phase.steering.after(other.steering);
                    if other.phase >= self.phase.phase {
                        self.adopt(now, other);
                    }
                    self.phase.steering = steering;
                    self.desk.put(Key::Phase, Some(json(&self.phase)));
                }
            }
            (Clash::Foreign(value, revision), Key::Seat(_)) => {
                // It was to be deleted, and somebody else has it now.
                self.desk.forget(key);
                self.changed(now, key, Some(&value), revision, out);
            }
            _ => {}
        }
    }

    /// Goes on from a phase that was written before.
    fn adopt(&mut self, now: Nanos, phase: Phase) {
        if let Some(start_ns) = phase.start_ns
            && self.start.is_none()
        {
            (self.start, self.is_start_foreign) = (Some(start_ns), true);
        }
        if self.fault.is_none() {
            self.fault.clone_from(&phase.reason);
        }
        self.phase = phase;
        self.phase_at = now;
        self.know_takeovers(now);
    }

    fn changed(
        &mut self,
        now: Nanos,
        key: Key,
        value: Option<&[u8]>,
        revision: u64,
        out: &mut Vec<LeaderAction>,
    ) {
        match (key, value) {
            (Key::Seat(seat), value) => self.seat_changed(now, seat, value, revision, out),
            (Key::Agent(seat), Some(value)) => self.agent_changed(now, seat, value, out),
            (Key::Setup, Some(value)) => {
                let Ok(data) = serde_json::from_slice::<SetupData>(value) else { return };
                if data.nonce == self.plan.nonce {
                    self.setup = Some(data);
                }
            }
            _ => {}
        }
    }

    fn abort(&mut self, now: Nanos, fault: Fault, out: &mut Vec<LeaderAction>) {
        if self.stage.is_leading() {
            self.cut_short(now, fault, out);
        } else if !self.stage.leads() {
            self.stage = Stage::Over;
            let (code, message) = (Some(fault.code), Some(fault.message));
            out.push(LeaderAction::Finish { code, message });
        }
    }

    /// Ends the test for this reason; the first one counts.
    fn cut_short(&mut self, now: Nanos, fault: Fault, out: &mut Vec<LeaderAction>) {
        let is_first = self.fault.is_none();
        if is_first {
            out.push(LeaderAction::Tell(Level::Error, fault.message.clone()));
            self.fault = Some(fault);
        }
        if self.phase.phase < Step::Stopping {
            self.cut_at = Some(now);
            self.phase.reason.clone_from(&self.fault);
            self.set_phase(now, Step::Stopping);
        }
    }

    /// Whether the scenarios began, or are about to.
    fn has_begun(&self) -> bool {
        self.phase.start_ns.is_some()
    }

    /// A moment of the leader's clock in nanoseconds since the start.
    fn since_start(&self, at: Nanos) -> u64 {
        self.start.map_or(0, |start| at.saturating_sub(start))
    }
}

/// Plain data as JSON.
fn json(value: &impl serde::Serialize) -> Vec<u8> {
    serde_json::to_vec(value).expect("it is plain data")
}

/// The start as the first beat after a restart tells it.
fn start_told(now: Nanos, run_ns: u64) -> Nanos {
    shifted(now, -(run_ns.min(i64::MAX as u64) as i64))
}

/// The exit code of a run whose store has another leader.
const SUPERSEDED: u8 = code::NOT_STARTED;
