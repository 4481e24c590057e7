//! The test as the engine sees it, without JavaScript and HTTP.

use std::future::Future;
use std::rc::Rc;
use std::sync::Arc;

use brunt_metrics::{Metadata, Recorder, TagsId};

use crate::core::Core;
use crate::error::RunError;
use crate::scenario::ScenarioHere;
use crate::stop::StopHandle;

/// A VU's numbers. Both count from 1; 0 is for `setup()`, `teardown()` and the summary.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VuIds {
    /// Among the VUs of this process: `exec.vu.idInInstance`.
    pub local: u64,
    /// Among the VUs of the whole test: `exec.vu.idInTest`, `__VU`.
    pub global: u64,
}

/// The parts of a test. One value, shared by all cores; its futures run on the core that polls them.
pub trait Runner: Send + Sync + 'static {
    /// One virtual user. Lives and dies on one core.
    type Vu: Vu;

    /// Builds a VU on this core; its init code runs here. The core does nothing else until it is done or
    /// awaits.
    fn create(
        &self,
        core: &Rc<Core>,
        ids: VuIds,
    ) -> impl Future<Output = Result<Self::Vu, RunError>>;

    /// Runs `setup()` in a fresh VU of its own; `Ok(None)` if there is none or it returned nothing.
    /// The data is JSON text. Resolves soon after `stop` is set; never dropped while pending.
    fn setup(
        &self,
        core: &Rc<Core>,
        stop: &StopHandle,
    ) -> impl Future<Output = Result<Option<String>, RunError>>;

    /// Runs `teardown(data)` in a fresh VU of its own, if there is one. Resolves soon after `stop` is set;
    /// never dropped while pending. An abort of the test does not set it.
    fn teardown(
        &self,
        core: &Rc<Core>,
        data: Option<&str>,
        stop: &StopHandle,
    ) -> impl Future<Output = Result<(), RunError>>;

    /// Takes the result of `setup()`, before the first iteration starts. Called on the coordinator's thread.
    fn set_setup_data(&self, data: Option<Arc<str>>);
}

/// A virtual user.
pub trait Vu: 'static {
    /// From now on it works for this scenario: tags, env and function are the scenario's, what the
    /// script set before is forgotten.
    fn activate(&mut self, scenario: &Rc<ScenarioHere>);

    /// Runs one iteration. Resolves soon after `stop` is set (then [`Ended::Interrupted`]). Never dropped
    /// while pending, but when its core dies.
    fn iterate(&mut self, iteration: Iteration, stop: &StopHandle) -> impl Future<Output = Ended>;

    /// The tags under which the engine books this VU's `iterations`, `iteration_duration` and
    /// `iteration_lateness`: the scenario's, and what the script added. Asked for each iteration, so keep the
    /// id (and make it anew when [`Recorder::epoch`] changes). Don't borrow the core's recorder here: this
    /// is it.
    fn tags(&mut self, recorder: &mut Recorder) -> TagsId;

    /// The fields of single samples beside the tags (`vu`, `iter`). Asked only if an output wants samples.
    fn metadata(&self) -> Option<Metadata> {
        None
    }
}

/// One iteration to run. All numbers count from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Iteration {
    /// Among those of its scenario in this process: `exec.scenario.iterationInInstance`.
    pub in_scenario_instance: u64,
    /// Among those of its scenario in the whole test: `exec.scenario.iterationInTest`.
    pub in_test: u64,
    /// Among those of this VU for this scenario: `exec.vu.iterationInScenario`.
    pub vu_in_scenario: u64,
    /// Among all of this VU: `exec.vu.iterationInInstance`, `__ITER`.
    pub vu_in_instance: u64,
    /// When it was planned to start, in unix ns; only in open models.
    pub due: Option<u64>,
    /// When it starts, in unix ns.
    pub started: u64,
}

/// How an iteration came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// It returned or threw.
    Complete,
    /// It was stopped: no `iterations`, no `iteration_duration`.
    Interrupted,
    /// It called `exec.test.abort()`: counts as interrupted, but its samples are emitted, as in k6.
    Aborted,
}
