//! Whatever somebody asks of a run from outside: `setup()` and `teardown()`, data, VUs, frames; and the waiting for such questions
//! after the end.

use std::sync::Arc;

use brunt_fiber::timer::CoreTimer;
use tokio::sync::oneshot;

use super::Coordinator;
use crate::control::Phase;
use crate::live::Ask;
use crate::message::Command;
use crate::runner::Runner;

/// The number of VUs still to be made; at zero, or when one can't be made, the answer is given.
pub(super) struct Growth {
    scenario: usize,
    left: u64,
    failed: Option<String>,
    answer: oneshot::Sender<Result<(), String>>,
}

impl<R: Runner> Coordinator<R> {
    pub(super) fn keep_setup_data(&self, data: Option<Arc<str>>) {
        self.parts.control.keep_setup_data(data.clone());
        self.parts.runner.set_setup_data(data);
    }

    /// Waits for the end of what somebody asked for.
    pub(super) async fn finish_asking(&mut self, timer: &mut CoreTimer) {
        while self.asking.is_some() && !self.cores.iter().all(|core| core.gone) {
            self.step(timer, u64::MAX).await;
        }
    }

    /// Whether there is room for what somebody asks: the VUs are made, and neither `setup()` nor `teardown()` runs.
    pub(super) fn may_be_asked(&self) -> bool {
        let phase = self.parts.control.phase();
        phase >= Phase::Paused
            && (phase < Phase::Ended || self.parts.control.is_lingering())
            && !self.cores.iter().any(|core| core.staging)
            && self.growth.is_none()
            && self.awaiting_frames.is_none()
    }

    /// Does, or begins to do, what somebody asks.
    pub(super) fn answer(&mut self, ask: Ask) {
        let (setup, teardown) = self.parts.limits;
        let command = match ask {
            Ask::Data(data, answer) => {
                self.keep_setup_data(data);
                let _ = answer.send(());
                return;
            }
            Ask::Grow { answer, .. } if self.parts.control.phase() == Phase::Ended => {
                let _ = answer.send(Err("the test is over".to_owned()));
                return;
            }
            Ask::Grow { scenario, vus, answer } => return self.grow_to(scenario, vus, answer),
            Ask::HandOver(answer) => {
                self.ask_for_frames();
                self.awaiting_frames = Some(answer);
                self.frames_awaited();
                return;
            }
            Ask::Setup(_) => Command::Setup { limit: setup },
            Ask::Teardown(_) => {
                Command::Teardown { data: self.parts.control.setup_data(), limit: teardown }
            }
        };
        // Without a living core the question is dropped, which is an answer.
        self.asking = self.stage(command).map(|()| ask);
    }

    /// Lets each core hand over what it has seen.
    fn ask_for_frames(&mut self) {
        for core in 0..self.cores.len() {
            self.cores[core].owes_frame = !self.cores[core].gone;
            self.order(core, Command::HandOver);
        }
    }

    fn owes_frames(&self) -> bool {
        self.cores.iter().any(|core| core.owes_frame)
    }

    /// Tells whoever waits for frames of all cores once they are on their way; none will come from a core that has died.
    pub(super) fn frames_awaited(&mut self) {
        if !self.owes_frames()
            && let Some(answer) = self.awaiting_frames.take()
        {
            let _ = answer.send(());
        }
    }

    /// Makes the VUs that a scenario lacks to have `vus` of them, on all cores in turn.
    fn grow_to(&mut self, scenario: usize, vus: u64, answer: oneshot::Sender<Result<(), String>>) {
        let living: Vec<usize> =
            (0..self.cores.len()).filter(|core| !self.cores[*core].gone).collect();
        let lacking = self.parts.scenes[scenario].lacks(vus);
        if living.is_empty() || lacking == 0 {
            let _ = answer.send(Ok(()));
            return;
        }
        self.spare = self.spare.saturating_sub(lacking);
        for core in living.into_iter().cycle().take(lacking as usize) {
            let ids = self.next_ids();
            self.order(core, Command::Grow { ids, scenario });
        }
        self.growth = Some(Growth { scenario, left: lacking, failed: None, answer });
    }

    /// One of the VUs that somebody asked for is there, or can't be made.
    pub(super) fn grown(&mut self, scenario: usize, failed: Option<String>) {
        let Some(growth) = self.growth.as_mut().filter(|growth| growth.scenario == scenario) else {
            return;
        };
        growth.left -= 1;
        growth.failed = growth.failed.take().or(failed);
        if growth.left > 0 {
            return;
        }
        if let Some(growth) = self.growth.take() {
            let _ = growth.answer.send(growth.failed.map_or(Ok(()), Err));
        }
    }

    /// Waits after the end for whatever is asked, until somebody ends the waiting.
    pub(super) async fn linger(&mut self, timer: &mut CoreTimer) {
        let Some(begin) = self.parts.linger.take() else { return };
        // Numbers are complete before anybody can see that it is over.
        self.ask_for_frames();
        while self.owes_frames() {
            self.step(timer, u64::MAX).await;
        }
        let control = Arc::clone(&self.parts.control);
        control.enter_phase(Phase::Ended);
        // Before the call: from within it somebody may end the waiting already.
        control.begin_linger();
        if !begin() {
            control.end_linger();
        }
        while control.is_lingering() && !self.cores.iter().all(|core| core.gone) {
            self.step(timer, u64::MAX).await;
        }
        control.end_linger();
        self.finish_asking(timer).await;
    }
}
