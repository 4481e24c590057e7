//! One test for an agent: its machine, its run, and the tasks that carry actions out.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

use brunt_cluster::{
    Agent, AgentAction, AgentConfig, AgentEvent, Fault, Nanos, Seen, Steering, TakeOver,
    TeardownEnd,
};
use brunt_engine::{AbortReason, Failure as RunFailure, StageError};
use brunt_fiber::clock;
use brunt_leases::Leases;
use brunt_nats::Run;
use bytes::Bytes;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use tokio::time::sleep;

use super::engine::{Engine, Look};
use super::thread::Input;
use super::{End, ToLoad, steered};
use crate::agents::{digest, link, shared};
use crate::exit::Exit;
use crate::run::outcome;

/// An answer about the time that takes longer is of no use.
const CLOCK_LIMIT: Duration = Duration::from_secs(2);

/// The largest archive, and the largest data of `setup()`, in bytes.
const FILE_MAX: u64 = 1 << 30;

/// Attempts to get the archive, a second apart.
const FETCHES: u32 = 60;

/// Stages of a run that may wait: it has five.
const STAGES_WAITING: usize = 16;

/// Something that the machine, or the run, is to hear of.
pub(super) enum Heard {
    Machine(AgentEvent),
    Link(bool),
    Input(Input),
    Tick,
    /// The scenarios are over, and their frames are all there.
    Settled,
    /// So for `teardown()`.
    TornDown(TeardownEnd),
    /// The archive came, or not.
    Fetched(Result<Box<ToLoad>, Fault>),
}

/// A step of the engine; it does one after the other.
enum Stage {
    Setup,
    Take(Option<String>),
    Start(u64, Option<u64>),
    Settle,
    Teardown,
}

pub(super) struct Follower {
    agent: Agent,
    run: Run,
    events: mpsc::Sender<Heard>,
    load: Box<dyn Fn(Box<ToLoad>)>,
    /// Loads of others that this process is to make, too.
    pub(super) substitutes: Vec<TakeOver>,
    engine: Option<Box<Engine>>,
    stages: Option<mpsc::Sender<Stage>>,
    steering: Option<watch::Sender<Steering>>,
    watch: Option<JoinHandle<()>>,
    tasks: Vec<JoinHandle<()>>,
    seat: u32,
    /// The log has that the store is full.
    is_full_told: Arc<AtomicBool>,
    /// The main thread is loading a test.
    is_loading: bool,
    is_told_to_go: bool,
    pub(super) end: Option<End>,
}

impl Drop for Follower {
    fn drop(&mut self) {
        for task in self.tasks.iter().chain(&self.watch) {
            task.abort();
        }
    }
}

impl Follower {
    pub(super) fn new(
        config: AgentConfig,
        run: Run,
        events: mpsc::Sender<Heard>,
        load: impl Fn(Box<ToLoad>) + 'static,
    ) -> Self {
        let seen = |seen: Seen| Heard::Machine(AgentEvent::Seen(seen));
        Self {
            agent: Agent::new(config, clock::now_ns()),
            tasks: vec![
                link::watch_link(run.clone(), false, events.clone(), Heard::Link),
                link::listen(run.clone(), "seen", events.clone(), seen),
            ],
            run,
            events,
            load: Box::new(load),
            substitutes: Vec::new(),
            engine: None,
            stages: None,
            steering: None,
            watch: None,
            seat: 0,
            is_full_told: Arc::default(),
            is_loading: false,
            is_told_to_go: false,
            end: None,
        }
    }

    /// When the machine wants to be called, if nothing happens before.
    pub(super) fn wake_at(&self) -> Option<Nanos> {
        self.agent.wake_at(clock::now_ns())
    }

    /// Whether a signal came.
    pub(super) fn is_told_to_go(&self) -> bool {
        self.is_told_to_go
    }

    /// Lets the run end, if there is one. Returns whether the main thread still has something to do with it.
    pub(super) fn let_go(&self) -> bool {
        if let Some(engine) = &self.engine {
            engine.let_go();
        }
        self.is_loading || self.engine.is_some()
    }

    /// News of the main thread, when all else is over.
    pub(super) fn wind_up(&mut self, input: Input) {
        match input {
            Input::Begun(engine) => {
                self.is_loading = false;
                self.engine = Some(engine);
            }
            Input::NotLoaded(_) => self.is_loading = false,
            Input::Ended(_) => self.engine = None,
            Input::Signal => {}
        }
    }

    pub(super) fn hear(&mut self, heard: Heard) {
        match heard {
            Heard::Machine(event) => self.handle(event),
            Heard::Link(false) => self.handle(AgentEvent::Disconnected),
            Heard::Link(true) => {
                self.handle(AgentEvent::Connected);
                if let Some(watch) = self.watch.take() {
                    watch.abort();
                }
                let event = |news| Heard::Machine(event_of(news));
                self.watch = Some(link::watch_keys(self.run.clone(), self.events.clone(), event));
            }
            Heard::Input(Input::Begun(engine)) => {
                self.is_loading = false;
                self.stages = Some(stages(&engine, self.events.clone()));
                self.steering = Some(steered::start(engine.live.clone()));
                self.engine = Some(engine);
            }
            Heard::Input(Input::NotLoaded(fault)) => {
                self.is_loading = false;
                self.handle(AgentEvent::Loaded(Err(fault)));
            }
            Heard::Input(Input::Ended(fault)) => {
                let was_loading = self.engine.as_ref().is_some_and(|engine| engine.is_loading());
                (self.engine, self.steering) = (None, None);
                let fault = fault.unwrap_or_else(|| Fault::new(255, "the run ended by itself"));
                if was_loading {
                    self.handle(AgentEvent::Loaded(Err(fault)));
                } else {
                    self.handle(AgentEvent::Fault(fault));
                    self.handle(AgentEvent::Ended);
                }
            }
            Heard::Input(Input::Signal) => {
                self.is_told_to_go = true;
                self.handle(AgentEvent::Signal);
            }
            Heard::Tick => self.look(),
            Heard::Settled => {
                self.tell_frames();
                for event in self.engine.as_ref().map(|engine| engine.end()).into_iter().flatten() {
                    self.handle(event);
                }
                self.handle(AgentEvent::Ended);
            }
            Heard::TornDown(end) => {
                self.tell_frames();
                self.handle(AgentEvent::TeardownDone(end));
            }
            Heard::Fetched(Ok(to_load)) => {
                self.is_loading = true;
                (self.load)(to_load);
            }
            Heard::Fetched(Err(fault)) => self.handle(AgentEvent::Loaded(Err(fault))),
        }
    }

    fn look(&mut self) {
        let mut looks = Vec::new();
        if let Some(engine) = &mut self.engine {
            engine.look(&mut looks);
        }
        self.take(looks);
    }

    fn tell_frames(&mut self) {
        let mut looks = Vec::new();
        if let Some(engine) = &mut self.engine {
            engine.frames(&mut looks);
        }
        self.take(looks);
    }

    fn take(&mut self, looks: Vec<Look>) {
        for look in looks {
            match look {
                Look::Tell(event) => self.handle(event),
                Look::Settle => self.stage(Stage::Settle),
            }
        }
    }

    fn handle(&mut self, event: AgentEvent) {
        let mut actions = Vec::new();
        self.agent.handle(clock::now_ns(), event, &mut actions);
        for action in actions {
            self.act(action);
        }
    }

    fn stage(&self, stage: Stage) {
        if let Some(stages) = &self.stages {
            // Else the task is gone with the run.
            drop(stages.try_send(stage));
        }
    }

    fn act(&mut self, action: AgentAction) {
        let (run, events) = (self.run.clone(), self.events.clone());
        match action {
            AgentAction::Write(write) => drop(tokio::spawn(async move {
                let event = match link::write(&run, write).await {
                    None => return,
                    Some(link::Written::Done(key, revision)) => AgentEvent::Wrote { key, revision },
                    Some(link::Written::Conflict(key, current)) => {
                        AgentEvent::Conflict { key, current }
                    }
                };
                drop(events.send(Heard::Machine(event)).await);
            })),
            AgentAction::Publish(publication) => {
                let seat = self.seat;
                let is_told = Arc::clone(&self.is_full_told);
                drop(tokio::spawn(async move {
                    let seq = publication.seq;
                    let id = format!("{}.{}", run.id(), publication.id);
                    let bytes = Bytes::from_owner(publication.payload);
                    let event = match run.put_frame(seat, &id, bytes).await {
                        Ok(_) => AgentEvent::Acked { seq },
                        Err(error) => {
                            if error.is_full() && !is_told.swap(true, Relaxed) {
                                log::error!(
                                    "the NATS server has no room for measurements ({error}); they are kept and sent again: give \
                                     JetStream more room"
                                );
                            }
                            log::debug!("{error}");
                            AgentEvent::NotAcked { seq }
                        }
                    };
                    drop(events.send(Heard::Machine(event)).await);
                }));
            }
            AgentAction::Beat(beat) => {
                let about = format!("beat.{}", beat.seat);
                drop(tokio::spawn(async move { run.say(&about, link::json(&beat)).await }));
            }
            AgentAction::AskClock(ask) => drop(tokio::spawn(async move {
                if let Ok(bytes) = run.ask("clock", link::json(&ask), CLOCK_LIMIT).await
                    && let Ok(reply) = serde_json::from_slice(&bytes)
                {
                    drop(events.send(Heard::Machine(AgentEvent::ClockReply(reply))).await);
                }
            })),
            AgentAction::Load { plan, seat, substitute } => {
                self.seat = seat;
                log::info!("the test {} begins to load", run.id());
                let leases = Leases::new(plan.seats);
                shared::open(&leases, &run, plan.nonce);
                drop(tokio::spawn(async move {
                    let fetched = fetch(&run, &plan.archive.sha256).await;
                    let to_load =
                        |archive| Box::new(ToLoad { plan, seat, substitute, archive, leases });
                    let fetched = fetched.map(to_load);
                    drop(events.send(Heard::Fetched(fetched)).await);
                }));
            }
            AgentAction::Setup => self.stage(Stage::Setup),
            AgentAction::PutSetup(json) => drop(tokio::spawn(async move {
                let put = run.put_file("setup", json.as_bytes()).await;
                let put = put.map_err(|error| error.to_string());
                drop(events.send(Heard::Machine(AgentEvent::SetupPut(put))).await);
            })),
            AgentAction::GetSetup => drop(tokio::spawn(async move {
                let got = run.file_now("setup", FILE_MAX).await.map_err(|error| error.to_string());
                let got = got.and_then(|bytes| {
                    String::from_utf8(bytes)
                        .map_err(|_| "the data of setup() is no text".to_owned())
                });
                drop(events.send(Heard::Machine(AgentEvent::SetupGot(got))).await);
            })),
            AgentAction::TakeSetup(data) => self.stage(Stage::Take(data)),
            AgentAction::Start { at, from } => self.stage(Stage::Start(at, from)),
            AgentAction::Lease { until } => {
                if let Some(engine) = &self.engine {
                    engine.live.control().lease_until(until);
                }
            }
            AgentAction::Substitute(takeover) => {
                log::warn!(
                    "this agent makes the load of seat {} too, as seat {}",
                    takeover.of,
                    takeover.seat
                );
                self.substitutes.push(takeover);
            }
            AgentAction::Stop { reason } => {
                if let Some(engine) = &self.engine {
                    engine.live.control().abort(AbortReason::Leader { reason });
                }
            }
            AgentAction::Teardown => self.stage(Stage::Teardown),
            AgentAction::Steer(steering) => {
                if let Some(steered) = &self.steering {
                    steered.send_replace(steering);
                }
            }
            AgentAction::Tell(level, text) => link::tell(level, &text),
            AgentAction::Finish { code, message, own_summary } => {
                self.end = Some(End { code, message, own_summary });
            }
        }
    }
}

fn event_of(news: link::KeyNews) -> AgentEvent {
    match news {
        link::KeyNews::Current => AgentEvent::Current,
        link::KeyNews::Changed { key, value, revision } => {
            AgentEvent::Changed { key, value, revision }
        }
    }
}

/// Gets the archive, and checks that it is the plan's.
async fn fetch(run: &Run, sha256: &str) -> Result<Vec<u8>, Fault> {
    let mut last = String::new();
    let name = digest::archive_name(sha256);
    for _ in 0..FETCHES {
        match run.file_now(&name, FILE_MAX).await {
            Ok(bytes) if digest::of_bytes(&bytes) == sha256 => return Ok(bytes),
            Ok(_) => "the archive of the test is another than the plan's".clone_into(&mut last),
            Err(error) => last = error.to_string(),
        }
        log::debug!("{last}");
        sleep(Duration::from_secs(1)).await;
    }
    Err(Fault::new(Exit::NotStarted.code(), last))
}

/// The task that has the engine do one thing after the other.
fn stages(engine: &Engine, events: mpsc::Sender<Heard>) -> mpsc::Sender<Stage> {
    let live = engine.live.clone();
    let (sender, mut stages) = mpsc::channel(STAGES_WAITING);
    tokio::spawn(async move {
        while let Some(stage) = stages.recv().await {
            let heard = match stage {
                Stage::Setup => {
                    let done = live.stage_setup().await;
                    let done = done.map(|data| data.map(|data| data.to_string()));
                    let limit = |limit| RunFailure::SetupTimeout(limit);
                    let done = done.map_err(|error| fault(error, RunFailure::Setup, limit));
                    Heard::Machine(AgentEvent::SetupDone(done))
                }
                Stage::Take(data) => {
                    drop(live.set_setup_data(data.map(Arc::from)).await);
                    continue;
                }
                Stage::Start(at, from) => {
                    match from {
                        Some(from) => live.control().resume_at(at, from),
                        None => live.control().start_at(at),
                    }
                    continue;
                }
                Stage::Settle => {
                    drop(live.settle().await);
                    Heard::Settled
                }
                Stage::Teardown => {
                    let done = live.stage_teardown().await;
                    drop(live.settle().await);
                    let limit = |limit| RunFailure::TeardownTimeout(limit);
                    let fault = done.err().map(|error| fault(error, RunFailure::Teardown, limit));
                    Heard::TornDown(TeardownEnd { fault })
                }
            };
            if events.send(heard).await.is_err() {
                return;
            }
        }
    });
    sender
}

/// Why `setup()` or `teardown()` failed, with the exit code of such a failure on one machine.
fn fault(
    error: StageError,
    failed: impl FnOnce(brunt_engine::RunError) -> RunFailure,
    timed_out: impl FnOnce(Duration) -> RunFailure,
) -> Fault {
    let failure = match error {
        StageError::Failed(error) => failed(error),
        StageError::TimedOut(limit) => timed_out(limit),
        other => RunFailure::System(other.to_string()),
    };
    super::fault(&outcome::failure(failure))
}
