//! Agents come, tell how far they are, fall silent, come back.

use super::{Cell, Leader, LeaderAction, Touch, json, start_told};
use crate::code;
use crate::keys::Key;
use crate::level::Level;
use crate::messages::Beat;
use crate::phase::Step;
use crate::plan::{Policy, SUSPECT_MS};
use crate::seat::{AgentState, Fault, Seat, State};
use crate::time::{MILLI, Nanos, SECOND};

/// An agent without a beat for so long is suspect.
pub(super) const SUSPECT: u64 = SUSPECT_MS * MILLI;

impl Leader {
    fn index(&self, seat: u32) -> Option<usize> {
        let index = (seat as usize).checked_sub(1)?;
        (index < self.cells.len()).then_some(index)
    }

    pub(super) fn seat_changed(
        &mut self,
        now: Nanos,
        seat: u32,
        value: Option<&[u8]>,
        revision: u64,
        out: &mut Vec<LeaderAction>,
    ) {
        let Some(index) = self.index(seat) else { return };
        let Some(value) = value else { return };
        let Ok(holder) = serde_json::from_slice::<Seat>(value) else { return };
        let cell = &mut self.cells[index];
        if holder.nonce != self.plan.nonce {
            // Of an earlier run under this id.
            if self.phase.phase <= Step::Load && cell.seat.is_none() {
                self.desk.know(Key::Seat(seat), Some(revision));
                self.desk.put(Key::Seat(seat), None);
            }
            return;
        }
        if let Some(takeover) = self.phase.takeovers.iter().find(|takeover| takeover.seat == seat)
            && (&takeover.agent, takeover.incarnation) != (&holder.agent, holder.incarnation)
        {
            return;
        }
        match &cell.seat {
            None if seat > self.plan.seats => {
                let text = format!("seat {seat} is loading, on {}", holder.host);
                out.push(LeaderAction::Tell(Level::Info, text));
                (cell.seat, cell.heard) = (Some(holder), now);
            }
            Some(known) if known.incarnation == holder.incarnation => {
                self.frames.seat_revisions.insert(seat, revision);
            }
            Some(_) if self.phase.phase > Step::Load => {}
            _ => {
                self.desk.forget(Key::Seat(seat));
                self.frames.seat_revisions.insert(seat, revision);
                *cell = Cell {
                    touch: Touch::Alive,
                    heard: now,
                    seat: Some(holder.clone()),
                    ..Cell::default()
                };
                let count = self.cells.iter().filter(|cell| cell.seat.is_some()).count();
                let all = self.cells.len();
                let text =
                    format!("agent {count} of {all} is here: {}", self.cells[index].name(index));
                out.push(LeaderAction::Tell(Level::Info, text));
                if holder.version != self.plan.version {
                    let text = format!(
                        "{} runs brunt {}, the leader {}: run the same version on all machines",
                        self.cells[index].name(index),
                        holder.version,
                        self.plan.version
                    );
                    self.cut_short(now, Fault::new(code::NOT_STARTED, text), out);
                }
            }
        }
    }

    pub(super) fn agent_changed(
        &mut self,
        now: Nanos,
        seat: u32,
        value: &[u8],
        out: &mut Vec<LeaderAction>,
    ) {
        let Some(index) = self.index(seat) else { return };
        let Ok(state) = serde_json::from_slice::<AgentState>(value) else { return };
        let cell = &mut self.cells[index];
        let is_holder =
            cell.seat.as_ref().is_some_and(|seat| seat.incarnation == state.incarnation);
        let is_news = cell.state.as_ref().is_none_or(|known| state.serial > known.serial);
        if state.nonce != self.plan.nonce || !is_holder || !is_news {
            return;
        }
        if cell.at() != Some(state.state) && cell.kept.states.len() < 16 {
            cell.kept.states.push((state.state, now));
        }
        let was_leaving = cell.state.as_ref().is_some_and(is_leaving);
        let (fault, leaves) = (state.reason.clone(), is_leaving(&state));
        cell.state = Some(state);
        self.heard(now, index, out);
        let name = self.cells[index].name(index);
        match fault {
            Some(_) if leaves && was_leaving => {}
            Some(_) if leaves => self.left(now, index, &name, out),
            Some(fault) if fault.code == code::MARKED => {
                let text = format!("{name}: {}", fault.message);
                self.marked.get_or_insert(Fault::new(fault.code, text));
            }
            // A load that was taken over is lost once more: the test goes on.
            Some(fault)
                if index >= self.plan.seats as usize
                    && !self.cells[index].is_at(State::Running) =>
            {
                self.cells[index].kept.gone = Some(fault.message.clone());
                let text = format!("{name} can't take the load over: {}", fault.message);
                self.lose(now, index, text, out);
            }
            Some(fault) if self.fault.is_none() && self.phase.phase < Step::Close => {
                let text = format!("{name}: {}", fault.message);
                self.cut_short(now, Fault::new(fault.code, text), out);
            }
            _ => {}
        }
    }

    /// An agent said that it goes, as its machine told it to.
    fn left(&mut self, now: Nanos, index: usize, name: &str, out: &mut Vec<LeaderAction>) {
        let cell = &self.cells[index];
        if self.phase.phase < Step::Start {
            let text = format!("{name} was told to stop by its machine before the start");
            self.cut_short(now, Fault::new(code::NOT_STARTED, text), out);
        } else if cell.state.as_ref().is_some_and(|state| state.left_ns.is_some()) {
            self.load_is_lost(now, format!("{name} was told to stop by its machine"), out);
        }
    }

    /// A beat: a sign of life, or a new process that asks for the seat of the one before.
    pub(super) fn beat(&mut self, now: Nanos, beat: Beat, out: &mut Vec<LeaderAction>) {
        if beat.nonce != self.plan.nonce {
            return;
        }
        if beat.seat == 0 {
            self.spares.heard(now, beat);
            return;
        }
        let Some(index) = self.index(beat.seat) else { return };
        let cell = &mut self.cells[index];
        let Some(seat) = cell.seat.as_ref() else { return };
        if seat.incarnation != beat.incarnation {
            if seat.agent == beat.agent && cell.kept.gone.is_none() {
                self.restarted(now, index, out);
            }
            return;
        }
        if cell.kept.gone.is_some() {
            return;
        }
        if self.is_start_foreign
            && let Some(run_ns) = beat.run_ns
        {
            self.own_start(start_told(now, run_ns));
        }
        let cell = &mut self.cells[index];
        cell.kept.cpu_max =
            if beat.cpu.is_finite() { cell.kept.cpu_max.max(beat.cpu) } else { cell.kept.cpu_max };
        cell.kept.numbered = cell.kept.numbered.max(beat.numbered);
        cell.beat = beat;
        cell.look_at_whole();
        self.heard(now, index, out);
    }

    /// The start by this leader's clock: the leader before it may have had another one.
    fn own_start(&mut self, start: Nanos) {
        let before = self.start.replace(start).unwrap_or(start);
        self.is_start_foreign = false;
        let own = |moment: Nanos| moment.wrapping_add(start.wrapping_sub(before));
        self.phase.start_ns = self.phase.start_ns.map(own);
        for takeover in &mut self.phase.takeovers {
            takeover.from_ns = own(takeover.from_ns);
        }
        self.desk.put(Key::Phase, Some(json(&self.phase)));
    }

    /// There is a sign of life.
    fn heard(&mut self, now: Nanos, index: usize, out: &mut Vec<LeaderAction>) {
        let cell = &mut self.cells[index];
        if cell.kept.gone.is_some() {
            return;
        }
        let before = std::mem::replace(&mut cell.touch, Touch::Alive);
        let silence = now.saturating_sub(cell.heard);
        cell.heard = now;
        if matches!(before, Touch::Suspect | Touch::Lost) {
            cell.closes_hole(now);
            let text = format!(
                "{} is back; it was out of touch for {:.1} s",
                cell.name(index),
                silence as f64 / 1e9
            );
            out.push(LeaderAction::Tell(Level::Info, text));
        }
    }

    /// The process of an agent was started anew: its VUs are gone.
    fn restarted(&mut self, now: Nanos, index: usize, out: &mut Vec<LeaderAction>) {
        let name = self.cells[index].name(index);
        if self.phase.phase <= Step::Load {
            self.take_back(index, out);
            return;
        }
        let cell = &mut self.cells[index];
        if cell.is_closed() {
            return;
        }
        cell.kept.gone = Some("its process was started anew".into());
        self.lose(
            now,
            index,
            format!("the process of {name} was started anew: its VUs are gone"),
            out,
        );
    }

    /// Gives the seat of a silent agent away, before the start.
    fn take_back(&mut self, index: usize, out: &mut Vec<LeaderAction>) {
        let seat = index as u32 + 1;
        let text = format!("{} is gone; its seat is free again", self.cells[index].name(index));
        out.push(LeaderAction::Tell(Level::Warn, text));
        let revision = self.frames.seat_revisions.remove(&seat);
        self.desk.know(Key::Seat(seat), revision);
        self.desk.put(Key::Seat(seat), None);
        self.cells[index] = Cell::default();
    }

    /// Once a second: who is silent?
    pub(super) fn look_at_agents(&mut self, now: Nanos, out: &mut Vec<LeaderAction>) {
        let timeout = (self.plan.limits.agent_timeout_ms * MILLI).max(SUSPECT);
        for index in 0..self.cells.len() {
            let cell = &mut self.cells[index];
            let silence = now.saturating_sub(cell.heard);
            if !cell.is_here() || silence < SUSPECT {
                continue;
            }
            let name = cell.name(index);
            if cell.is_closed() && cell.is_complete() && cell.state.as_ref().is_some_and(is_leaving)
            {
                cell.touch = Touch::Gone;
            } else if silence >= timeout {
                let text = format!("{name} is lost: no sign of life for {} s", silence / SECOND);
                if self.phase.phase <= Step::Load {
                    self.take_back(index, out);
                } else {
                    self.lose(now, index, text, out);
                }
            } else if cell.touch == Touch::Alive {
                cell.touch = Touch::Suspect;
                cell.opens_hole(false);
                let text = format!("{name} is out of touch");
                out.push(LeaderAction::Tell(Level::Warn, text));
            }
        }
    }

    /// An agent is given up, until it comes back.
    pub(super) fn lose(
        &mut self,
        now: Nanos,
        index: usize,
        text: String,
        out: &mut Vec<LeaderAction>,
    ) {
        let cell = &mut self.cells[index];
        cell.touch = Touch::Lost;
        cell.opens_hole(true);
        let had_ended = cell.is_at(State::Finished) || self.is_taken(index);
        if (Step::Start..=Step::Run).contains(&self.phase.phase) && !had_ended {
            self.load_is_lost(now, text, out);
        } else if self.phase.phase < Step::Start {
            let text = format!("{text}; the test had not begun");
            self.cut_short(now, Fault::new(code::NOT_STARTED, text), out);
        } else {
            out.push(LeaderAction::Tell(Level::Warn, text));
        }
    }

    /// Load is missing from now on: does what the policy says.
    fn load_is_lost(&mut self, now: Nanos, text: String, out: &mut Vec<LeaderAction>) {
        if self.plan.policy == Policy::Stop && self.phase.phase < Step::Stopping {
            let text = format!("{text}; the test stops (--on-agent-loss stop)");
            self.cut_short(now, Fault::new(code::INCOMPLETE, text), out);
        } else {
            out.push(LeaderAction::Tell(Level::Warn, text));
            self.look_for_takers(now, out);
        }
    }
}

/// Whether an agent's machine told it to go.
pub(super) fn is_leaving(state: &AgentState) -> bool {
    state.reason.as_ref().is_some_and(|reason| reason.code == code::SIGNAL)
}
