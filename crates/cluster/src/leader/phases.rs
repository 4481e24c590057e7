//! From phase to phase: what each waits for, for how long, and what then.

use super::opening::FAREWELL;
use super::{Cell, Leader, LeaderAction, Outcome, Stage, Touch, json};
use crate::code;
use crate::keys::Key;
use crate::level::Level;
use crate::phase::{Holder, Step};
use crate::report::Report;
use crate::seat::{Fault, State};
use crate::time::{MILLI, Nanos, SECOND};

/// From the last agent's being ready to the start, at least.
const START_MIN: u64 = SECOND;
/// Added to the timeouts of `setup()` and `teardown()`.
const SLACK_MS: u64 = 10_000;
/// Added to the longest time of the scenarios.
const RUN_SLACK_MS: u64 = 30_000;
/// Agents that are named when many are waited for.
const NAMED_MAX: usize = 5;

impl Leader {
    /// Does what the phase waits for, if it is there or the time is up.
    pub(super) fn go_on(&mut self, now: Nanos, out: &mut Vec<LeaderAction>) {
        match self.stage {
            Stage::Ending { .. } => return self.farewell(now, out),
            Stage::Marking { .. } => return self.tell_summary(now, out),
            Stage::Leading => {}
            _ => return,
        }
        if let Some(since) = self.disconnected {
            // The things that happen elsewhere cannot be known; the load goes on.
            let limit = self.plan.limits.leader_timeout_ms;
            if now.saturating_sub(since) >= limit.saturating_mul(MILLI) {
                let text = format!("the broker could not be reached for {}", seconds(limit));
                let fault = Fault::new(code::INCOMPLETE, text);
                self.fault.get_or_insert(fault);
                self.count_missed(out);
                let report = self.report(now);
                self.conclude(now, report, out);
            }
            return;
        }
        // Several phases may pass at once.
        while self.stage.is_leading() {
            let before = self.phase.phase;
            match before {
                Step::Gather => self.gather(now, out),
                Step::Load => self.load(now, out),
                Step::Setup => self.set_up(now, out),
                Step::Start => self.start(now),
                Step::Run => self.run(now, out),
                Step::Stopping => self.stopping(now, out),
                Step::Teardown => self.tear_down(now, out),
                Step::Close => self.close(now, out),
                Step::Done => {}
            }
            if self.phase.phase == before {
                break;
            }
        }
    }

    /// Whether the phase has lasted so long.
    fn is_late(&self, now: Nanos, limit_ms: u64) -> bool {
        now.saturating_sub(self.phase_at) >= limit_ms.saturating_mul(MILLI)
    }

    /// The names of agents of which something is waited for.
    fn names(&self, waits: impl Fn(&Cell) -> bool) -> String {
        let all: Vec<String> = self
            .cells
            .iter()
            .enumerate()
            .filter(|(_, cell)| waits(cell))
            .map(|(index, cell)| cell.name(index))
            .collect();
        let mut text = all.iter().take(NAMED_MAX).cloned().collect::<Vec<_>>().join(", ");
        if all.len() > NAMED_MAX {
            text = format!("{text} and {} others", all.len() - NAMED_MAX);
        }
        text
    }

    fn gather(&mut self, now: Nanos, out: &mut Vec<LeaderAction>) {
        let limit = self.plan.limits.agents_wait_ms;
        let count = self.cells.iter().filter(|cell| cell.seat.is_some()).count();
        if count == self.cells.len() {
            self.set_phase(now, Step::Load);
        } else if self.is_late(now, limit) {
            let (all, wait) = (self.cells.len(), seconds(limit));
            let free = self.names(|cell| cell.seat.is_none());
            let mut here = self.names(|cell| cell.seat.is_some());
            if here.is_empty() {
                here = "none".into();
            }
            let text =
                format!("{count} of {all} agents came within {wait}: {here}; missing: {free}");
            self.cut_short(now, Fault::new(code::NOT_STARTED, text), out);
        }
    }

    fn load(&mut self, now: Nanos, out: &mut Vec<LeaderAction>) {
        let other = |cell: &Cell| {
            let digest = cell.state.as_ref().and_then(|state| state.digest.as_ref());
            digest.is_some_and(|digest| *digest != self.plan.digest)
        };
        if self.cells.iter().any(other) {
            let names = self.names(other);
            let text = format!(
                "the script gives other options on {names} than at the leader: does it read variables or files that differ?"
            );
            self.cut_short(now, Fault::new(code::NOT_STARTED, text), out);
        } else if self.cells.iter().all(|cell| cell.is_at(State::Ready)) {
            if self.is_held(now) {
                return;
            }
            if self.plan.has_setup {
                self.phase.setup = self.cells[0]
                    .seat
                    .as_ref()
                    .map(|seat| Holder { seat: 1, incarnation: seat.incarnation });
                self.set_phase(now, Step::Setup);
            } else {
                self.set_start(now, out);
            }
        } else if self.is_late(now, self.plan.limits.load_ms) {
            let names = self.names(|cell| !cell.is_at(State::Ready));
            let wait = seconds(self.plan.limits.load_ms);
            let text = format!("not ready within {wait}: {names}");
            self.cut_short(now, Fault::new(code::NOT_STARTED, text), out);
        }
    }

    fn set_up(&mut self, now: Nanos, out: &mut Vec<LeaderAction>) {
        let limit = self.plan.limits.setup_ms.saturating_add(SLACK_MS);
        if let Some(fault) = self.setup_fault() {
            let fault = fault.clone();
            self.cut_short(now, fault, out);
        } else if self.cells.iter().all(|cell| cell.is_at(State::Armed)) {
            self.set_start(now, out);
        } else if self.is_late(now, limit) {
            let names = self.names(|cell| !cell.is_at(State::Armed));
            let text = if self.setup.is_none() {
                let wait = seconds(self.plan.limits.setup_ms);
                format!(
                    "setup() did not end within {wait} (on {})",
                    self.holder_name(self.phase.setup)
                )
            } else {
                format!("the data of setup() did not reach {names}")
            };
            self.cut_short(now, Fault::new(code::SETUP_TIMEOUT, text), out);
        }
    }

    fn holder_name(&self, holder: Option<Holder>) -> String {
        let index = holder.map_or(0, |holder| holder.seat.saturating_sub(1) as usize);
        self.cells.get(index).map_or_else(String::new, |cell| cell.name(index))
    }

    fn set_start(&mut self, now: Nanos, out: &mut Vec<LeaderAction>) {
        let trips = self.cells.iter().filter_map(|cell| cell.state.as_ref());
        let worst = trips.map(|state| state.rtt_ns).max().unwrap_or(0);
        let at = now + START_MIN.max(worst.min(10 * SECOND) * 4);
        self.phase.start_ns = Some(at);
        self.start = Some(at);
        self.set_phase(now, Step::Start);
        out.push(LeaderAction::Started { at });
    }

    fn start(&mut self, now: Nanos) {
        if self.start.is_none_or(|start| now >= start) {
            self.set_phase(now, Step::Run);
        }
    }

    /// Whether an agent's scenarios are awaited.
    fn is_busy(cell: &Cell) -> bool {
        cell.is_here() && !cell.is_at(State::Finished)
    }

    fn run(&mut self, now: Nanos, out: &mut Vec<LeaderAction>) {
        let limit = self.plan.limits.run_ms.saturating_add(RUN_SLACK_MS);
        let is_late = self.is_late(now, limit);
        let is_out_of_touch = |cell: &Cell| {
            cell.touch == Touch::Lost && cell.kept.gone.is_none() && !cell.is_at(State::Finished)
        };
        // If all are lost, the wire is to blame: perhaps they come back.
        let waits = self.cells.iter().all(|cell| !cell.is_here())
            && self.cells.iter().any(is_out_of_touch)
            && !is_late;
        if !waits && !self.cells.iter().any(Self::is_busy) {
            self.ended = Some(now);
            self.after_scenarios(now, out);
        } else if is_late {
            let names = self.names(Self::is_busy);
            let text = format!("the scenarios did not end within {}: {names}", seconds(limit));
            self.cut_short(now, Fault::new(code::INCOMPLETE, text), out);
        }
    }

    /// Those who were to take a load over, and have not come, are not awaited any more.
    fn forget_late_takers(&mut self) {
        let seats = self.plan.seats as usize;
        let late = self.cells.iter_mut().skip(seats).filter(|cell| cell.seat.is_none());
        late.for_each(|cell| cell.touch = Touch::Lost);
    }

    fn stopping(&mut self, now: Nanos, out: &mut Vec<LeaderAction>) {
        self.forget_late_takers();
        let is_late = self.is_late(now, self.plan.limits.stopping_ms);
        if is_late {
            for index in 0..self.cells.len() {
                if Self::is_busy(&self.cells[index]) {
                    let name = self.cells[index].name(index);
                    let wait = seconds(self.plan.limits.stopping_ms);
                    self.lose(now, index, format!("{name} did not stop within {wait}"), out);
                }
            }
        }
        if !self.cells.iter().any(Self::is_busy) {
            self.ended = Some(now);
            self.after_scenarios(now, out);
        }
    }

    /// Chooses who runs `teardown()`, if it is to be run.
    fn after_scenarios(&mut self, now: Nanos, out: &mut Vec<LeaderAction>) {
        self.forget_late_takers();
        if !self.plan.has_teardown || !self.has_begun() {
            self.set_phase(now, Step::Close);
            return;
        }
        let can = |cell: &Cell| {
            cell.is_here() && cell.is_at(State::Ready) && !cell.is_closed() && !leaves(cell)
        };
        let of_setup = self.phase.setup.map(|holder| holder.seat as usize - 1);
        let first = of_setup.filter(|index| self.cells.get(*index).is_some_and(can));
        let chosen = first.or_else(|| self.cells.iter().position(can));
        let holder = chosen.and_then(|index| {
            let seat = self.cells[index].seat.as_ref()?;
            Some(Holder { seat: index as u32 + 1, incarnation: seat.incarnation })
        });
        if holder.is_none() {
            let text = "teardown() was not run: no agent is left";
            out.push(LeaderAction::Tell(Level::Error, text.into()));
            self.teardown_fault = Some(Fault::new(code::INCOMPLETE, text));
            self.set_phase(now, Step::Close);
            return;
        }
        self.phase.teardown = holder;
        self.set_phase(now, Step::Teardown);
    }

    fn tear_down(&mut self, now: Nanos, out: &mut Vec<LeaderAction>) {
        let index = self.phase.teardown.map_or(0, |holder| holder.seat.saturating_sub(1) as usize);
        let limit = self.plan.limits.teardown_ms.saturating_add(SLACK_MS);
        let Some(cell) = self.cells.get(index) else { return self.set_phase(now, Step::Close) };
        let name = cell.name(index);
        let fault = match cell.state.as_ref().and_then(|state| state.teardown.as_ref()) {
            Some(end) => end.fault.clone(),
            None if !cell.is_here() || cell.is_closed() => {
                let text = format!("{name} was lost while it ran teardown()");
                Some(Fault::new(code::INCOMPLETE, text))
            }
            None if self.is_late(now, limit) => {
                let wait = seconds(self.plan.limits.teardown_ms);
                let text = format!("teardown() did not end within {wait} (on {name})");
                Some(Fault::new(code::TEARDOWN_TIMEOUT, text))
            }
            None => return,
        };
        if let Some(fault) = fault {
            out.push(LeaderAction::Tell(Level::Error, fault.message.clone()));
            self.teardown_fault = Some(fault);
        }
        self.ended = Some(now);
        self.set_phase(now, Step::Close);
    }

    fn close(&mut self, now: Nanos, out: &mut Vec<LeaderAction>) {
        let is_open = |cell: &Cell| {
            let is_there = cell.is_here() || cell.touch == Touch::Gone;
            is_there && !(cell.is_closed() && cell.is_complete())
        };
        if self.cells.iter().any(is_open) && !self.is_late(now, self.plan.limits.close_ms) {
            return;
        }
        self.count_missed(out);
        let report = self.report(now);
        for text in &report.missing {
            out.push(LeaderAction::Tell(Level::Error, text.clone()));
        }
        self.conclude(now, report, out);
    }

    fn conclude(&mut self, now: Nanos, report: Report, out: &mut Vec<LeaderAction>) {
        let has_measured = self.has_begun() || self.phase.setup.is_some();
        self.missing.clone_from(&report.missing);
        if !has_measured {
            self.stage = Stage::Concluding;
            self.concluded(now, None);
            return;
        }
        let wait = if self.disconnected.is_some() { 0 } else { FAREWELL };
        self.stage = Stage::Marking { until: now + wait, report: Box::new(report) };
        if self.phase.told.is_none() {
            self.phase.told = Some(self.config.incarnation);
            self.desk.put(Key::Phase, Some(json(&self.phase)));
        }
        self.tell_summary(now, out);
    }

    /// Has the summary told, once the store knows that it is.
    fn tell_summary(&mut self, now: Nanos, out: &mut Vec<LeaderAction>) {
        let Stage::Marking { until, report } = &mut self.stage else { return };
        if !self.desk.is_done(Key::Phase) && now < *until {
            return;
        }
        let report = std::mem::take(&mut **report);
        self.stage = Stage::Concluding;
        let (code, message) = self.verdict();
        let run_ns = self.ended.map_or(0, |ended| self.since_start(ended));
        let was_told = self.phase.told.is_some_and(|by| by != self.config.incarnation);
        let outcome = Outcome { code, message, run_ns, report, was_told };
        out.push(LeaderAction::Conclude(outcome));
    }
}

/// Whether its machine told an agent to go.
fn leaves(cell: &Cell) -> bool {
    let reason = cell.state.as_ref().and_then(|state| state.reason.as_ref());
    reason.is_some_and(|reason| reason.code == code::SIGNAL)
}

/// Milliseconds for people.
fn seconds(ms: u64) -> String {
    brunt_duration::format(ms.saturating_mul(MILLI).min(i64::MAX as u64) as i64)
}
