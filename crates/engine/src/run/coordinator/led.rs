//! A run that is a part of one test on several machines.

use std::sync::Arc;

use brunt_fiber::timer::CoreTimer;

use super::Coordinator;
use crate::control::Phase;
use crate::runner::Runner;

impl<R: Runner> Coordinator<R> {
    /// Begins the scenarios when the leader wants it, and stays until it needs the run no more: it may ask for `setup()` before
    /// and for `teardown()` after them. Returns the data of `setup()`.
    pub(super) async fn obey_leader(&mut self, timer: &mut CoreTimer) -> Option<Arc<str>> {
        if !self.may_go_on() {
            return None;
        }
        self.parts.control.enter_phase(Phase::Paused);
        while self.parts.control.start_moment().is_none() && self.may_go_on() {
            self.step(timer, u64::MAX).await;
        }
        // A `setup()` under way hears of an abort.
        self.pass_on_abort();
        self.finish_asking(timer).await;
        if let Some(launch) = self.parts.control.start_moment().filter(|_| self.may_go_on()) {
            self.parts.control.start_clock_at(launch);
            self.scenarios(timer, launch).await;
        }
        self.note_abort();
        self.parts.control.enter_phase(Phase::Teardown);
        while !self.parts.control.is_released() && !self.cores.iter().all(|core| core.gone) {
            self.step(timer, u64::MAX).await;
        }
        self.finish_asking(timer).await;
        self.parts.control.stop_clock();
        self.parts.control.setup_data()
    }
}
