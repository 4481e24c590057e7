//! A run, watched from outside while it goes on.

use std::sync::Arc;
use std::time::Duration;

use brunt_fiber::clock;
use brunt_metrics::{Frame, Summary};
use tokio::sync::{mpsc, oneshot};

use crate::control::{Control, Phase};
use crate::error::StageError;
use crate::gate::may_pause;
use crate::gather::Message;
use crate::helm::Helm;
use crate::scenario::ScenarioState;

/// Watches a run. Clone it and hand it to progress bars, the REST API, the live page; any thread.
#[derive(Clone, Debug)]
pub struct Live {
    pub(crate) control: Arc<Control>,
    pub(crate) scenarios: Arc<[Arc<ScenarioState>]>,
    pub(crate) gather: mpsc::Sender<Message>,
    pub(crate) asks: mpsc::Sender<Ask>,
}

/// A request from outside to a run; the answers go back through the senders.
#[derive(Debug)]
pub(crate) enum Ask {
    /// Run `setup()` now, and keep what it returns.
    Setup(oneshot::Sender<Result<Option<Arc<str>>, StageError>>),
    /// Run `teardown()` now.
    Teardown(oneshot::Sender<Result<(), StageError>>),
    /// Take this for what `setup()` returned.
    Data(Option<Arc<str>>, oneshot::Sender<()>),
    /// Let all cores hand over what they have seen so far.
    HandOver(oneshot::Sender<()>),
    /// Let a scenario that is steered or controlled from outside have `vus` VUs.
    Grow { scenario: usize, vus: u64, answer: oneshot::Sender<Result<(), String>> },
}

/// Questions that may wait; then those who ask wait.
pub(crate) const ASKS_WAITING: usize = 16;

/// Why a test can't be scaled.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ScaleError {
    /// It has no scenario for that.
    #[error(
        "an externally-controlled executor needs to be configured for live configuration updates"
    )]
    NoScenario,
    /// That many it can't have.
    #[error("{0}")]
    Refused(String),
}

/// The coordinator does not answer any more.
const OVER: &str = "the test is over";

impl Live {
    /// Adds measurements that no core made. They are dropped if too much waits, or if the run is over.
    pub fn show(&self, frame: Frame) {
        drop(self.gather.try_send(Message::Frame(frame)));
    }

    /// The wheel and the dials.
    pub fn control(&self) -> &Arc<Control> {
        &self.control
    }

    /// The scenarios, ordered by (start time, name).
    pub fn scenarios(&self) -> &[Arc<ScenarioState>] {
        &self.scenarios
    }

    /// How things stand, at this moment. Reads atomics: as cheap as it looks, ask as often as you like.
    pub fn progress(&self) -> Progress {
        let control = &self.control;
        let now = clock::now_ns();
        Progress {
            phase: control.phase(),
            is_aborting: control.is_aborting(),
            run: control.run_duration(),
            vus_active: control.vus_active(),
            vus_initialized: control.vus_initialized(),
            vus_planned: control.vus_planned(),
            iterations_complete: control.iterations_complete(),
            iterations_interrupted: control.iterations_interrupted(),
            scenarios: self
                .scenarios
                .iter()
                .map(|state| ScenarioProgress::of(state, now))
                .collect(),
        }
    }

    /// Pauses a running test, or lets it go on. Before the start, letting it go on starts it.
    ///
    /// # Errors
    /// It runs a scenario that can't be paused.
    pub fn pause(&self, is_paused: bool) -> Result<(), String> {
        if self.control.phase() >= Phase::Setup {
            let scenarios = self.scenarios.iter().map(|state| state.spec());
            may_pause(scenarios, self.control.is_paused(), is_paused)?;
        } else if is_paused && self.control.is_paused() {
            return Err("execution is already paused".to_owned());
        } else if is_paused && self.control.phase() > Phase::Created {
            return Err("the test has not begun yet: start it with --paused".to_owned());
        }
        for gate in self.scenarios.iter().filter_map(|state| state.gate()) {
            gate.pause(is_paused);
        }
        self.control.set_paused(is_paused);
        Ok(())
    }

    /// VUs that iterate; of scenarios that are steered from outside those that are to.
    pub fn vus_wanted(&self) -> u64 {
        self.scenarios.iter().map(|state| state.vus_wanted()).sum()
    }

    /// Changes how many VUs iterate (`vus`) of those that are there (`max`). Waits until VUs that are missing are made.
    ///
    /// # Errors
    /// No scenario is controlled from outside, or it can't have this many VUs.
    pub async fn scale(&self, vus: Option<i64>, max: Option<i64>) -> Result<(), ScaleError> {
        let gated = |state: &Arc<ScenarioState>| state.gate().is_some();
        let state = self.scenarios.iter().find(|state| gated(state));
        let (state, gate) =
            state.and_then(|state| Some((state, state.gate()?))).ok_or(ScaleError::NoScenario)?;
        let (vus, max) = gate.weigh(vus, max).map_err(ScaleError::Refused)?;
        if max > gate.max() {
            let grown = self.grow(state.index(), gate.here(max)).await;
            grown.map_err(ScaleError::Refused)?;
        }
        gate.set(vus, max);
        Ok(())
    }

    /// Does as the leader of a test of which this run is a part wants it. All numbers are of the whole test: `vus` VUs of the first
    /// scenario that is controlled from outside iterate, `max` are there; none: as before. While it is paused, no VU of any such
    /// scenario begins an iteration. Waits until VUs that are missing are made.
    ///
    /// # Errors
    /// A VU can't be made, or the run is over: those that are there iterate as is wanted.
    pub async fn follow(
        &self,
        is_paused: bool,
        vus: Option<u64>,
        max: Option<u64>,
    ) -> Result<(), String> {
        let mut gates = self.scenarios.iter().filter_map(|state| Some((state, state.gate()?)));
        let Some((state, gate)) = gates.next() else { return Ok(()) };
        gate.follow(is_paused, vus);
        gates.for_each(|(_, gate)| gate.follow(is_paused, None));
        let Some(max) = max else { return Ok(()) };
        if max > gate.max() {
            self.grow(state.index(), gate.here(max)).await?;
        }
        gate.limit(max);
        Ok(())
    }

    /// Waits until the scenario has `vus` VUs in this process.
    async fn grow(&self, scenario: usize, vus: u64) -> Result<(), String> {
        let (answer, question) = oneshot::channel();
        self.asks.send(Ask::Grow { scenario, vus, answer }).await.map_err(|_| OVER)?;
        question.await.map_err(|_| OVER)?
    }

    /// A moment from now on this scenario starts `rate` iterations per second; 0 for none. Only where the run is
    /// [`steered`](crate::RunConfig::steered), the scenario is an open one and has begun: else nothing happens.
    pub fn set_rate(&self, scenario: usize, rate: f64) {
        self.at_helm(scenario, |helm, now| helm.set(now, rate));
    }

    /// This scenario starts no more iterations: it ends with the last of those under way. Where [`set_rate`](Self::set_rate)
    /// does nothing, this does nothing.
    pub fn end_course(&self, scenario: usize) {
        self.at_helm(scenario, Helm::end);
    }

    fn at_helm(&self, scenario: usize, act: impl FnOnce(&Helm, Duration)) {
        let Some(state) = self.scenarios.get(scenario) else { return };
        if let (Some(helm), Some(start)) = (state.helm(), state.started_at()) {
            act(helm, Duration::from_nanos(clock::now_ns().saturating_sub(start)));
        }
    }

    /// Lets this scenario have at least `vus` VUs; waits until they are made. For scenarios that are steered or controlled
    /// from outside.
    ///
    /// # Errors
    /// A VU can't be made, or the run is over.
    ///
    /// # Panics
    /// On a thread that runs an async runtime: it waits.
    pub fn have_vus(&self, scenario: usize, vus: u64) -> Result<(), String> {
        let (answer, question) = oneshot::channel();
        let ask = Ask::Grow { scenario, vus, answer };
        self.asks.blocking_send(ask).map_err(|_| OVER)?;
        question.blocking_recv().map_err(|_| OVER)?
    }

    /// Lets `vus` VUs of this scenario, which is controlled from outside, iterate; waits until those that are missing are
    /// made.
    ///
    /// # Errors
    /// It is not controlled from outside, it can't have this many VUs, or the run is over.
    ///
    /// # Panics
    /// On a thread that runs an async runtime: it waits.
    pub fn let_iterate(&self, scenario: usize, vus: u64) -> Result<(), String> {
        let state = self.scenarios.get(scenario);
        let gate = state.and_then(|state| state.gate());
        let gate = gate.ok_or_else(|| ScaleError::NoScenario.to_string())?;
        let asked = |vus: u64| Some(i64::try_from(vus).unwrap_or(i64::MAX));
        let (vus, max) = gate.weigh(asked(vus), asked(gate.max().max(vus)))?;
        if max > gate.max() {
            self.have_vus(scenario, gate.here(max))?;
        }
        gate.set(vus, max);
        Ok(())
    }

    /// Runs `setup()` now, whether or not the run will do so by itself, and keeps what it returns (JSON) for all VUs.
    /// Waits for the planned VUs to be made, and for a `setup()` or `teardown()` that is running.
    ///
    /// # Errors
    /// The exception that it threw, its timeout, or the end of the run.
    pub async fn run_setup(&self) -> Result<Option<Arc<str>>, String> {
        self.stage_setup().await.map_err(|error| error.to_string())
    }

    /// The same, for those who tell one failure from another.
    ///
    /// # Errors
    /// The exception that it threw, its timeout, or the end of the run.
    pub async fn stage_setup(&self) -> Result<Option<Arc<str>>, StageError> {
        let (answer, question) = oneshot::channel();
        self.asks.send(Ask::Setup(answer)).await.map_err(|_| StageError::Over)?;
        question.await.map_err(|_| StageError::Over)?
    }

    /// Runs `teardown()` now, likewise.
    ///
    /// # Errors
    /// The same as [`run_setup`](Self::run_setup).
    pub async fn run_teardown(&self) -> Result<(), String> {
        self.stage_teardown().await.map_err(|error| error.to_string())
    }

    /// The same, for those who tell one failure from another.
    ///
    /// # Errors
    /// The exception that it threw, its timeout, or the end of the run.
    pub async fn stage_teardown(&self) -> Result<(), StageError> {
        let (answer, question) = oneshot::channel();
        self.asks.send(Ask::Teardown(answer)).await.map_err(|_| StageError::Over)?;
        question.await.map_err(|_| StageError::Over)?
    }

    /// Waits until all that the cores have seen so far has been gathered and shown to all listeners. Between the start of a
    /// run's VUs and its end.
    ///
    /// # Errors
    /// The run is over.
    pub async fn settle(&self) -> Result<(), String> {
        let (answer, question) = oneshot::channel();
        self.asks.send(Ask::HandOver(answer)).await.map_err(|_| OVER)?;
        question.await.map_err(|_| OVER)?;
        let (answer, question) = oneshot::channel();
        self.gather.send(Message::Mark(answer)).await.map_err(|_| OVER)?;
        question.await.map_err(|_| OVER.to_owned())
    }

    /// Takes this (JSON) for what `setup()` returned.
    ///
    /// # Errors
    /// The run is over.
    pub async fn set_setup_data(&self, data: Option<Arc<str>>) -> Result<(), String> {
        let (answer, question) = oneshot::channel();
        self.asks.send(Ask::Data(data, answer)).await.map_err(|_| OVER)?;
        question.await.map_err(|_| OVER.to_owned())
    }

    /// The summary of what has been gathered so far. `None` once the run is over, or if the gatherer does
    /// not answer.
    ///
    /// # Panics
    /// On a thread that runs an async runtime: it waits.
    pub fn summary(&self) -> Option<Summary> {
        let (answer, question) = oneshot::channel();
        self.gather.blocking_send(Message::Ask(answer)).ok()?;
        question.blocking_recv().ok()
    }

    /// The same, for async callers.
    pub async fn summary_async(&self) -> Option<Summary> {
        let (answer, question) = oneshot::channel();
        self.gather.send(Message::Ask(answer)).await.ok()?;
        question.await.ok()
    }
}

/// The progress of a run.
#[derive(Clone, Debug)]
pub struct Progress {
    /// How far it is.
    pub phase: Phase,
    /// It is being cut short.
    pub is_aborting: bool,
    /// Since the run's clock started.
    pub run: Duration,
    /// VUs at work.
    pub vus_active: u64,
    /// VUs made.
    pub vus_initialized: u64,
    /// VUs to be made before the start.
    pub vus_planned: u64,
    /// Iterations that came to their end.
    pub iterations_complete: u64,
    /// Iterations that were cut off.
    pub iterations_interrupted: u64,
    /// Each scenario, ordered by (start time, name).
    pub scenarios: Vec<ScenarioProgress>,
}

/// Where a scenario is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScenarioPhase {
    /// Its start time has not come.
    Waiting,
    /// Iterations start.
    Running,
    /// None start any more, the last ones may finish.
    Stopping,
    /// Over before all was done: the run was cut short, or shared iterations were left at `maxDuration`.
    Interrupted,
    /// Over.
    Done,
}

/// The progress of a scenario.
#[derive(Clone, Debug)]
pub struct ScenarioProgress {
    /// Its name.
    pub name: String,
    /// Its executor: `constant-vus`.
    pub kind: &'static str,
    /// Where it is in its life.
    pub state: ScenarioPhase,
    /// Until its start; its start time, if the scenarios have not been launched.
    pub starts_in: Duration,
    /// Since its start, at most until its hard end.
    pub elapsed: Duration,
    /// How long iterations may start.
    pub regular_duration: Duration,
    /// 0 to 1.
    pub progress: f64,
    /// VUs at work; of open models those inside an iteration.
    pub vus_active: u64,
    /// VUs it has.
    pub vus_allocated: u64,
    /// VUs it may come to.
    pub vus_max: u64,
    /// Iterations that came to their end.
    pub iterations_complete: u64,
    /// Iterations that have begun.
    pub iterations_begun: u64,
    /// Iterations it is to run, if that is given.
    pub iterations_total: Option<u64>,
    /// Iterations per second planned now; open models only.
    pub rate: Option<f64>,
}

impl ScenarioProgress {
    fn of(state: &ScenarioState, now: u64) -> ScenarioProgress {
        let spec = state.spec();
        // Its clock stops with it.
        let now = state.ended_at().unwrap_or(now);
        let regular = spec.executor.regular_duration();
        let start = state.started_at();
        let elapsed = start.map_or(Duration::ZERO, |at| {
            Duration::from_nanos(now.saturating_sub(at)).min(spec.max_duration())
        });
        let progress_state = match start {
            _ if state.is_unfinished() => ScenarioPhase::Interrupted,
            _ if state.is_done() => ScenarioPhase::Done,
            Some(at) if now >= at && elapsed >= regular => ScenarioPhase::Stopping,
            Some(at) if now >= at => ScenarioPhase::Running,
            _ => ScenarioPhase::Waiting,
        };
        let until =
            start.map_or(spec.start_time, |at| Duration::from_nanos(at.saturating_sub(now)));
        ScenarioProgress {
            name: spec.name.clone(),
            kind: spec.executor.kind(),
            state: progress_state,
            starts_in: until,
            elapsed,
            regular_duration: regular,
            progress: state.progress(),
            vus_active: state.vus_active(),
            vus_allocated: state.vus_allocated(),
            vus_max: state.vus_max(),
            iterations_complete: state.complete(),
            iterations_begun: state.begun(),
            iterations_total: state.iterations_total(),
            rate: state.rate(),
        }
    }
}
