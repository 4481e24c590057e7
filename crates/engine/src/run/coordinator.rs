//! Leads a run through its life: init, setup, scenarios, teardown, the end. Runs no VU itself.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use brunt_fiber::clock;
use brunt_fiber::timer::CoreTimer;
use brunt_metrics::builtin;
use brunt_schedule::{Peak, Segment};
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{mpsc, oneshot};

use self::asked::Growth;
use super::config::Linger;
use super::late::LateStart;
use super::pool::Pool;
use super::scene::Scene;
use crate::control::{AbortReason, Control, Phase};
use crate::error::{ErrorKind, Failure, RunError, StageError};
use crate::gather::Message;
use crate::health::CoreHealth;
use crate::live::Ask;
use crate::message::{Command, Event, Staged};
use crate::runner::{Runner, VuIds};

mod asked;
mod led;

/// How long to wait before trying again to reach a core whose queue is full.
const RETRY_NS: u64 = 1_000_000;

/// The parts of a new coordinator.
pub(super) struct Parts<R: Runner> {
    pub(super) runner: Arc<R>,
    pub(super) control: Arc<Control>,
    pub(super) segment: Segment,
    pub(super) scenes: Vec<Scene>,
    pub(super) peak: Peak,
    /// To each core.
    pub(super) commands: Vec<mpsc::Sender<Command>>,
    pub(super) events: mpsc::Receiver<Event>,
    pub(super) gather: mpsc::Sender<Message>,
    /// The time limit of `setup()`; `None` to leave it out.
    pub(super) setup: Option<Duration>,
    /// The time limit of `teardown()`; `None` to leave it out.
    pub(super) teardown: Option<Duration>,
    /// The time limits of both, when somebody asks for them.
    pub(super) limits: (Duration, Duration),
    /// Set if the run lingers after its end.
    pub(super) linger: Option<Linger>,
    /// A leader says when what happens.
    pub(super) is_led: bool,
    /// Requests from outside.
    pub(super) asked: mpsc::Receiver<Ask>,
    /// Set if the run is lost before it begins.
    pub(super) failure: Option<Failure>,
}

/// The knowledge of the coordinator at the end.
pub(super) struct Outcome {
    pub(super) failure: Option<Failure>,
    pub(super) setup_data: Option<Arc<str>>,
    pub(super) health: Vec<CoreHealth>,
}

pub(super) struct Coordinator<R: Runner> {
    parts: Parts<R>,
    pool: Pool,
    cores: Vec<CoreLine>,
    /// VUs that have an id.
    numbered: u64,
    /// Unplanned VUs that may still be made.
    spare: u64,
    /// All VUs have been told to stop.
    stopped: bool,
    staged: Option<StageEnd>,
    /// The `setup()` or `teardown()` that runs does so because somebody asked for it.
    asking: Option<Ask>,
    /// VUs that are being made because somebody asked for them.
    growth: Option<Growth>,
    /// Somebody waits for frames of all cores.
    awaiting_frames: Option<oneshot::Sender<()>>,
    health: Vec<CoreHealth>,
}

enum StageEnd {
    Setup(Staged<Option<String>>),
    Teardown(Staged<()>),
}

/// One core, as the coordinator sees it.
#[derive(Default)]
struct CoreLine {
    /// Commands that its channel has no room for yet: at most a few for each VU.
    outbox: VecDeque<Command>,
    initialising: bool,
    staging: bool,
    /// It is to hand over a frame, and has not.
    owes_frame: bool,
    /// It has handed over its last frame, or died.
    gone: bool,
}

impl<R: Runner> Coordinator<R> {
    pub(super) fn new(parts: Parts<R>) -> Coordinator<R> {
        let count = parts.commands.len();
        Coordinator {
            pool: Pool::new(count),
            cores: (0..count).map(|_| CoreLine::default()).collect(),
            numbered: 0,
            spare: parts.peak.possible.saturating_sub(parts.peak.planned),
            stopped: false,
            staged: None,
            asking: None,
            growth: None,
            awaiting_frames: None,
            health: Vec::new(),
            parts,
        }
    }

    /// Nothing can be run at all.
    pub(super) fn give_up(self, message: String) -> Outcome {
        let failure = self.parts.failure.or(Some(Failure::System(message)));
        Outcome { failure, setup_data: None, health: Vec::new() }
    }

    pub(super) async fn run(mut self) -> Outcome {
        let mut timer = match CoreTimer::new() {
            Ok(timer) => timer,
            Err(error) => return self.give_up(format!("no timer: {error}")),
        };
        if !timer.is_exact() {
            log::warn!(
                "the system gives no exact timer (timerfd): iterations of an arrival rate start up to 2 ms late; see brunt doctor"
            );
        }
        let mut setup_data = None;
        if self.parts.failure.is_none() {
            self.init(&mut timer).await;
        }
        let is_ready = self.parts.failure.is_none();
        if self.parts.is_led {
            setup_data = self.obey_leader(&mut timer).await;
        } else if self.may_go_on() {
            self.parts.control.start_clock();
            if self.setup(&mut timer).await.is_some() {
                self.scenarios(&mut timer, clock::now_ns()).await;
                self.note_abort();
                self.teardown(&mut timer).await;
                setup_data = self.parts.control.setup_data();
            }
            self.note_abort();
            self.parts.control.stop_clock();
        }
        self.note_abort();
        if is_ready {
            self.linger(&mut timer).await;
        }
        self.shut_down(&mut timer).await;
        self.parts.control.enter_phase(Phase::Ended);
        log::debug!(
            complete = self.parts.control.iterations_complete(),
            interrupted = self.parts.control.iterations_interrupted();
            "The run is over"
        );
        Outcome { failure: self.parts.failure, setup_data, health: self.health }
    }

    fn may_go_on(&self) -> bool {
        self.parts.failure.is_none() && !self.parts.control.is_aborting()
    }

    /// The first failure is the run's; that `teardown()` failed too is at least told.
    fn fail(&mut self, failure: Failure) {
        let is_late = self.parts.failure.is_some();
        if is_late && matches!(failure, Failure::Teardown(_) | Failure::TeardownTimeout(_)) {
            log::error!("{failure}");
        }
        self.parts.failure.get_or_insert(failure);
    }

    /// An abort is a failure too, unless something failed before.
    fn note_abort(&mut self) {
        if let Some(reason) = self.parts.control.abort_reason().cloned() {
            self.fail(Failure::Aborted(reason));
        }
    }

    /// A script's `exec.test.abort()` outside of iterations comes as an error; so does being interrupted.
    fn fail_or_abort(&mut self, error: RunError, failure: impl FnOnce(RunError) -> Failure) {
        let control = &self.parts.control;
        match error.kind {
            ErrorKind::Aborted => {
                control.abort(AbortReason::Test { message: error.message });
                self.note_abort();
            }
            ErrorKind::Interrupted | ErrorKind::Panic if control.is_aborting() => self.note_abort(),
            _ => self.fail(failure(error)),
        }
    }

    // --- init

    /// Makes the planned VUs, all cores at once; then waits while the run is paused.
    async fn init(&mut self, timer: &mut CoreTimer) {
        self.parts.control.enter_phase(Phase::InitVus);
        let count = self.cores.len();
        log::debug!(vus = self.parts.peak.planned, cores = count; "Making the planned VUs");
        let mut ids = vec![Vec::new(); count];
        for number in 0..self.parts.peak.planned {
            ids[(number % count as u64) as usize].push(self.next_ids());
        }
        for (core, ids) in ids.into_iter().enumerate() {
            self.cores[core].initialising = true;
            self.order(core, Command::Init(ids));
        }
        while self.cores.iter().any(|core| core.initialising) {
            self.step(timer, u64::MAX).await;
        }
        self.pool.settle();
        log::debug!(vus = self.parts.control.vus_initialized(); "The planned VUs are made");
        if self.parts.control.is_paused() && self.may_go_on() {
            self.parts.control.enter_phase(Phase::Paused);
            while self.parts.control.is_paused() && self.may_go_on() {
                self.step(timer, u64::MAX).await;
            }
        }
    }

    fn next_ids(&mut self) -> VuIds {
        self.numbered += 1;
        let global = self.parts.segment.global(self.numbered - 1) + 1;
        VuIds { local: self.numbered, global }
    }

    // --- setup and teardown

    /// Runs `setup()`. `None` if it failed, and nothing may follow.
    async fn setup(&mut self, timer: &mut CoreTimer) -> Option<()> {
        self.parts.control.enter_phase(Phase::Setup);
        let Some(limit) = self.parts.setup else {
            return Some(());
        };
        self.finish_asking(timer).await;
        log::debug!("Running setup()");
        self.stage(Command::Setup { limit })?;
        let end = loop {
            if let Some(StageEnd::Setup(end)) = self.staged.take() {
                break end;
            }
            self.pass_on_abort();
            self.step(timer, u64::MAX).await;
        };
        match end {
            Staged::Done(data) => {
                self.keep_setup_data(data.map(Arc::from));
                return Some(());
            }
            Staged::Failed(error) => self.fail_or_abort(error, Failure::Setup),
            Staged::TimedOut => self.fail(Failure::SetupTimeout(limit)),
        }
        None
    }

    async fn teardown(&mut self, timer: &mut CoreTimer) {
        self.parts.control.enter_phase(Phase::Teardown);
        let Some(limit) = self.parts.teardown else {
            return;
        };
        self.finish_asking(timer).await;
        let data = self.parts.control.setup_data();
        log::debug!("Running teardown()");
        if self.stage(Command::Teardown { data, limit }).is_none() {
            return;
        }
        let end = loop {
            if let Some(StageEnd::Teardown(end)) = self.staged.take() {
                break end;
            }
            self.step(timer, u64::MAX).await;
        };
        match end {
            Staged::Done(()) => {}
            Staged::Failed(error) => self.fail_or_abort(error, Failure::Teardown),
            Staged::TimedOut => self.fail(Failure::TeardownTimeout(limit)),
        }
    }

    /// Sends the command to some core that lives; `None` if there is none.
    fn stage(&mut self, command: Command) -> Option<()> {
        let core = self.cores.iter().position(|core| !core.gone)?;
        self.cores[core].staging = true;
        self.order(core, command);
        Some(())
    }

    // --- scenarios

    /// Runs the scenarios, which begin at `launch` (unix ns); that may lie ahead or, in a run that is led, behind.
    async fn scenarios(&mut self, timer: &mut CoreTimer, launch: u64) {
        if self.parts.control.is_aborting() {
            return;
        }
        let from = self.parts.control.resume_moment();
        while from.is_some_and(|from| clock::now_ns() < from) && self.may_go_on() {
            self.step(timer, from.unwrap_or(u64::MAX)).await;
        }
        let begins = from.unwrap_or(launch).max(launch);
        let mut late = LateStart::new(begins, self.parts.is_led);
        for scene in &mut self.parts.scenes {
            scene.launch(launch);
            if let Some(from) = from {
                scene.state.leave_until(from);
            }
            if let Some(now) = late.missed_until(clock::now_ns()) {
                scene.state.miss_until(now);
            }
            let spec = scene.state.spec();
            log::debug!(scenario = spec.name.as_str(), executor = spec.executor.kind();
                "Starts after {}", brunt_duration::wait::format(spec.start_time));
        }
        self.parts.control.enter_phase(Phase::Running);
        let launched = Message::Launched(self.parts.control.run_duration());
        if self.parts.gather.send(launched).await.is_err() {
            log::debug!("the gatherer is gone");
        }
        loop {
            self.pass_on_abort();
            self.advance().await;
            let is_over = self.parts.scenes.iter().all(Scene::is_done);
            // Scenarios that have nothing to do here are over before they begin.
            let is_idle = is_over && !self.stopped;
            let now = clock::now_ns();
            if let Some(late_ns) = late.began(if is_idle { now.max(begins) } else { now }) {
                self.parts.control.note_start(late_ns);
            }
            if is_over || self.cores.iter().all(|core| core.gone) {
                return;
            }
            let moments = self.parts.scenes.iter().map(Scene::next_moment);
            let next = moments.min().unwrap_or(u64::MAX).min(late.awaited());
            let next = if self.stopped { u64::MAX } else { next };
            self.step(timer, next).await;
        }
    }

    /// Does what is due in all scenarios.
    async fn advance(&mut self) {
        let now = clock::now_ns();
        let aborting = self.stopped;
        let mut orders = Vec::new();
        let mut unstarted = Vec::new();
        for scene in &mut self.parts.scenes {
            let was_done = scene.is_done();
            scene.advance(now, aborting, &mut self.pool, &mut orders);
            if scene.is_done() && !was_done {
                log::debug!(scenario = scene.state.spec().name.as_str(), iterations = scene.state.complete();
                    "The scenario is over");
            }
            if scene.is_done() && !was_done && !aborting {
                unstarted.push((scene.state.tags_of_drops(now), scene.unstarted()));
            }
        }
        for (core, command) in orders {
            self.order(core, command);
        }
        for (tags, count) in unstarted.into_iter().filter(|(_, count)| *count > 0) {
            let (metric, value) = (builtin::DROPPED_ITERATIONS, count as f64);
            let message = Message::Value { metric, tags, value };
            if self.parts.gather.send(message).await.is_err() {
                log::debug!("the gatherer is gone");
            }
        }
    }

    /// Tells all cores, once, that the run is being cut short.
    fn pass_on_abort(&mut self) {
        if self.stopped || !self.parts.control.is_aborting() {
            return;
        }
        self.stopped = true;
        for core in 0..self.cores.len() {
            self.order(core, Command::StopAll);
        }
    }

    /// A scenario could do with one VU more.
    fn grow(&mut self, scenario: usize) {
        let core = if self.spare > 0 { self.pool.emptiest_core() } else { None };
        match core {
            Some(core) => {
                self.spare -= 1;
                let ids = self.next_ids();
                self.order(core, Command::Grow { ids, scenario });
            }
            // All that may exist do: one of them will come back from another scenario.
            None => self.parts.scenes[scenario].want_one_more(),
        }
    }

    // --- the end

    async fn shut_down(&mut self, timer: &mut CoreTimer) {
        for core in 0..self.cores.len() {
            self.order(core, Command::Shutdown);
        }
        while self.cores.iter().any(|core| !core.gone) {
            self.step(timer, u64::MAX).await;
        }
    }

    // --- speaking with the cores

    fn order(&mut self, core: usize, command: Command) {
        if !self.cores[core].gone {
            self.cores[core].outbox.push_back(command);
        }
    }

    /// Sends what there is to send. Returns whether some core had no room.
    fn flush(&mut self) -> bool {
        let mut congested = false;
        for (line, queue) in self.cores.iter_mut().zip(&self.parts.commands) {
            while let Some(command) = line.outbox.pop_front() {
                match queue.try_send(command) {
                    Ok(()) => {}
                    Err(TrySendError::Full(command)) => {
                        line.outbox.push_front(command);
                        congested = true;
                        break;
                    }
                    // It has died; its last word is on the way.
                    Err(TrySendError::Closed(_)) => line.outbox.clear(),
                }
            }
        }
        congested
    }

    /// Sends what there is to send, then waits until something happens, or until `until` (unix ns).
    async fn step(&mut self, timer: &mut CoreTimer, until: u64) {
        let congested = self.flush();
        let until = if congested { until.min(clock::now_ns() + RETRY_NS) } else { until };
        let may_be_asked = self.may_be_asked();
        let event = tokio::select! {
            event = self.parts.events.recv() => event,
            Some(ask) = self.parts.asked.recv(), if may_be_asked => return self.answer(ask),
            () = timer.sleep_until(until), if until != u64::MAX => return,
            () = self.parts.control.wake.notified() => return,
        };
        let Some(event) = event else {
            // Every core has dropped its end.
            self.cores.iter_mut().for_each(CoreLine::bury);
            self.fail(Failure::System("all cores are gone".into()));
            return;
        };
        self.hear(event);
        while let Ok(event) = self.parts.events.try_recv() {
            self.hear(event);
        }
    }

    fn hear(&mut self, event: Event) {
        match event {
            Event::Ready { vu, scenario: None } => self.pool.put(vu),
            Event::Ready { vu, scenario: Some(scenario) } => {
                let scene = &mut self.parts.scenes[scenario];
                scene.state.growing.store(false, Relaxed);
                match scene.join(vu, self.stopped) {
                    Some(command) => {
                        self.pool.employ(vu);
                        self.order(vu.core as usize, command);
                    }
                    None => self.pool.put(vu),
                }
                self.grown(scenario, None);
            }
            Event::InitFailed { error, scenario: None } => {
                self.fail_or_abort(error, Failure::Init);
                self.parts.control.abort(AbortReason::Init);
            }
            Event::InitFailed { error, scenario: Some(scenario) } => {
                let state = &self.parts.scenes[scenario].state;
                state.growing.store(false, Relaxed);
                let spec = state.spec();
                log::error!(
                    executor = spec.executor.kind(), scenario = spec.name.as_str(),
                    error = error.message.as_str();
                    "Error while allocating unplanned VU"
                );
                self.grown(scenario, Some(error.message));
            }
            Event::InitDone { core } => self.cores[core as usize].initialising = false,
            Event::Returned { vu, scenario, handle, exhausted } => {
                self.pool.give_back(vu);
                let now = clock::now_ns();
                self.parts.scenes[scenario].returned(vu, handle, exhausted, now);
            }
            Event::WantVu { .. } if self.stopped => {}
            Event::WantVu { scenario } => self.grow(scenario),
            Event::Paced { scenario } => self.parts.scenes[scenario].paced(),
            Event::SetupDone(end) => self.stage_ended(StageEnd::Setup(end)),
            Event::TeardownDone(end) => self.stage_ended(StageEnd::Teardown(end)),
            Event::HandedOver { core } => {
                self.cores[core as usize].owes_frame = false;
                self.frames_awaited();
            }
            Event::Finished { health } => {
                self.cores[health.core as usize].gone = true;
                self.health.push(health);
            }
            Event::Died { core } => {
                if self.cores[core as usize].staging {
                    let error = RunError::new(ErrorKind::Panic, format!("core {core} panicked"));
                    let is_teardown = match &self.asking {
                        Some(ask) => matches!(ask, Ask::Teardown(_)),
                        None => self.parts.control.phase() == Phase::Teardown,
                    };
                    self.stage_ended(if is_teardown {
                        StageEnd::Teardown(Staged::Failed(error))
                    } else {
                        StageEnd::Setup(Staged::Failed(error))
                    });
                }
                self.cores[core as usize].bury();
                self.frames_awaited();
                self.pool.bury(core);
                self.parts.scenes.iter_mut().for_each(|scene| scene.bury(core));
            }
        }
    }

    fn stage_ended(&mut self, end: StageEnd) {
        self.cores.iter_mut().for_each(|core| core.staging = false);
        match (self.asking.take(), end) {
            (Some(Ask::Setup(answer)), StageEnd::Setup(end)) => {
                let told = told(end, self.parts.limits.0).map(|data| data.map(Arc::from));
                if let Ok(data) = &told {
                    self.keep_setup_data(data.clone());
                }
                let _ = answer.send(told);
            }
            (Some(Ask::Teardown(answer)), StageEnd::Teardown(end)) => {
                let _ = answer.send(told(end, self.parts.limits.1));
            }
            (_, end) => self.staged = Some(end),
        }
    }
}

/// How a stage ended, for somebody outside.
fn told<T>(end: Staged<T>, limit: Duration) -> Result<T, StageError> {
    match end {
        Staged::Done(value) => Ok(value),
        Staged::Failed(error) => Err(StageError::Failed(error)),
        Staged::TimedOut => Err(StageError::TimedOut(limit)),
    }
}

impl CoreLine {
    /// Nothing more will come from it.
    fn bury(&mut self) {
        *self = CoreLine { gone: true, ..CoreLine::default() };
    }
}
