//! The life of a test.

mod config;
mod coordinator;
mod late;
mod pool;
mod scene;

use std::io;
use std::num::NonZero;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::thread::{JoinHandle, available_parallelism};
use std::time::Duration;

use brunt_metrics::{Ledger, LedgerConfig, Registry, TagSet, Verdict};
use brunt_schedule::{Scenario, peak, regular_duration};
use tokio::runtime::Builder;
use tokio::sync::mpsc;

use self::coordinator::{Coordinator, Outcome};
use self::scene::Scene;
use crate::control::{AbortReason, Control};
use crate::core::thread::{CoreSeed, spawn};
use crate::core::words;
use crate::error::Failure;
use crate::gather::{Gathered, Gatherer, Message, WAITING_PER_CORE};
use crate::live::{ASKS_WAITING, Ask, Live};
use crate::runner::Runner;
use crate::scenario::ScenarioState;

pub use self::config::{Linger, RunConfig, RunReport};

/// Commands that may wait for a core; the coordinator keeps more with itself.
const COMMANDS_WAITING: usize = 1024;

/// Events that may wait for the coordinator; then cores wait.
const EVENTS_WAITING: usize = 1024;

/// A test, ready to run.
pub struct Run<R: Runner> {
    config: RunConfig,
    runner: Arc<R>,
    scenes: Vec<Scene>,
    live: Live,
    messages: mpsc::Receiver<Message>,
    asked: mpsc::Receiver<Ask>,
}

impl<R: Runner> Run<R> {
    /// Lays everything out; starts nothing.
    pub fn new(mut config: RunConfig, runner: Arc<R>) -> Run<R> {
        if config.workers == 0 {
            config.workers = available_parallelism().map_or(1, NonZero::get);
        }
        let cores = config.workers;
        config.scenarios.sort_by(|a, b| a.order().cmp(&b.order()));
        let (mut states, mut inboxes) = (Vec::new(), Vec::new());
        for (index, spec) in config.scenarios.iter().enumerate() {
            let tags = scenario_tags(&config, spec);
            let (mut state, inbox) =
                ScenarioState::new(index, spec.clone(), tags, &config.segment, cores);
            if config.steered {
                state.steer();
            }
            if config.tells_done {
                state.tell_done();
            }
            let mut resumed = config.resumed.iter().flatten();
            if let Some(resumed) = resumed.find(|resumed| resumed.scenario as usize == index) {
                state.resume(resumed);
            }
            states.push(Arc::new(state));
            inboxes.push(inbox);
        }
        let scenes = states.iter().cloned().zip(inboxes);
        let scenes = scenes.map(|(state, inbox)| Scene::new(state, inbox)).collect();
        let control = Arc::new(Control::new(cores, config.paused));
        let (gather, messages) = mpsc::channel(WAITING_PER_CORE * cores + 16);
        let (asks, asked) = mpsc::channel(ASKS_WAITING);
        let live = Live { control, scenarios: states.into(), gather, asks };
        Run { config, runner, scenes, live, messages, asked }
    }

    /// The wheel: for the signal handler, the script API, the REST API.
    pub fn control(&self) -> Arc<Control> {
        Arc::clone(&self.live.control)
    }

    /// The view from outside: for progress bars, the REST API, the live page.
    pub fn live(&self) -> Live {
        self.live.clone()
    }

    /// Lets it linger after its end, as [`RunConfig::linger`] tells: for functions that need its [`Control`].
    #[must_use]
    pub fn lingering(mut self, linger: Linger) -> Run<R> {
        self.config.linger = Some(linger);
        self
    }

    /// Runs the test on this thread and as many more as it has cores; returns when it is over.
    ///
    /// # Panics
    /// On a thread that already runs an async runtime.
    pub fn execute(self) -> RunReport {
        let Run { config, runner, scenes, live, messages, asked } = self;
        let Live { control, scenarios: states, gather, .. } = live;
        let cores = config.workers;
        let peak = peak(&config.scenarios, &config.segment);
        control.plan_vus(peak.planned);

        let gatherer = Gatherer {
            control: Arc::clone(&control),
            registry: Arc::clone(&config.registry),
            ledger: config.ledger,
            listeners: config.listeners,
            run_tags: config.run_tags,
            want_samples: config.want_samples,
            regular: regular_duration(&config.scenarios),
            is_led: config.led,
        };
        let (gathering, mut failure) = match start_gatherer(gatherer, messages) {
            Ok(thread) => (Some(thread), None),
            Err(error) => (None, Some(Failure::System(format!("no gathering thread: {error}")))),
        };

        let (events, heard) = mpsc::channel(EVENTS_WAITING);
        let mut commands = Vec::new();
        let mut threads = Vec::new();
        for index in 0..cores as u32 {
            let (sender, receiver) = mpsc::channel(COMMANDS_WAITING);
            let seed = CoreSeed {
                index,
                runner: Arc::clone(&runner),
                control: Arc::clone(&control),
                states: Arc::clone(&states),
                registry: Arc::clone(&config.registry),
                want_samples: config.want_samples,
                min_iteration: config.min_iteration_duration,
                is_last: config.is_last,
                commands: receiver,
                events: events.clone(),
                frames: gather.clone(),
            };
            match spawn(seed) {
                Ok(thread) => {
                    threads.push(thread);
                    commands.push(sender);
                }
                Err(error) => {
                    failure = Some(Failure::System(format!("no thread for core {index}: {error}")));
                    break;
                }
            }
        }
        drop(events);

        let coordinator = Coordinator::new(coordinator::Parts {
            runner,
            control: Arc::clone(&control),
            segment: config.segment,
            scenes,
            peak,
            commands,
            events: heard,
            gather: gather.clone(),
            setup: (!config.no_setup).then_some(config.setup_timeout),
            teardown: (!config.no_teardown).then_some(config.teardown_timeout),
            limits: (config.setup_timeout, config.teardown_timeout),
            linger: config.linger,
            is_led: config.led,
            asked,
            failure,
        });
        let runtime = Builder::new_current_thread().enable_io().enable_time().build();
        let outcome = match runtime {
            Ok(runtime) => runtime.block_on(coordinator.run()),
            Err(error) => coordinator.give_up(format!("no reactor: {error}")),
        };
        let duration = control.run_duration();
        if gather.blocking_send(Message::End { run: duration }).is_err() {
            log::debug!("the gatherer is gone");
        }
        let gathered = gathering.and_then(|thread| thread.join().ok());
        for thread in threads {
            // A core catches its own panics.
            drop(thread.join());
        }
        let gathered = gathered.unwrap_or_else(|| nothing(&config.registry, duration));
        report(&control, outcome, gathered, duration)
    }
}

/// Runs a test: [`Run::new`], then [`Run::execute`], for those who need neither its [`Control`] nor a
/// [`Live`] view.
pub fn run<R: Runner>(config: RunConfig, runner: Arc<R>) -> RunReport {
    Run::new(config, runner).execute()
}

/// The tags of what a scenario's VUs measure, and those of the iterations that it drops.
fn scenario_tags(config: &RunConfig, spec: &Scenario) -> (TagSet, TagSet) {
    let own: Vec<(&str, &str)> =
        spec.tags.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
    let named = |tags: TagSet| {
        if config.scenario_tag { tags.with("scenario", &spec.name) } else { tags }
    };
    (named(config.run_tags.with_all(&own)), named(config.run_tags.clone()))
}

fn start_gatherer(
    gatherer: Gatherer,
    messages: mpsc::Receiver<Message>,
) -> io::Result<JoinHandle<Gathered>> {
    let runtime = Builder::new_current_thread().enable_time().build()?;
    let control = Arc::clone(&gatherer.control);
    let body = move || {
        let gathering = AssertUnwindSafe(|| runtime.block_on(gatherer.run(messages)));
        catch_unwind(gathering).unwrap_or_else(|payload| {
            // A run must not go on uncounted.
            let message = format!("the gathering thread panicked: {}", words(&*payload));
            control.abort(AbortReason::Panic { message });
            resume_unwind(payload)
        })
    };
    std::thread::Builder::new().name("gather".into()).spawn(body)
}

/// The empty result for a gatherer that is lost.
fn nothing(registry: &Arc<Registry>, run: Duration) -> Gathered {
    let ledger = Ledger::new(Arc::clone(registry), LedgerConfig::default());
    let ledger = ledger.expect("without thresholds there is nothing to refuse");
    Gathered { summary: ledger.summary(run), verdict: Verdict::default(), series: 0 }
}

fn report(
    control: &Control,
    outcome: Outcome,
    gathered: Gathered,
    duration: Duration,
) -> RunReport {
    // The gatherer may have panicked after the coordinator looked.
    let lost = || control.abort_reason().cloned().map(Failure::Aborted);
    let mut cores = outcome.health;
    cores.sort_by_key(|core| core.core);
    RunReport {
        failure: outcome.failure.or_else(lost),
        abort: control.abort_reason().cloned(),
        crossed: gathered.verdict.crossed,
        exit_code: gathered.verdict.exit_code,
        marked_failed: control.is_marked_failed(),
        started: control.started_at().is_some(),
        iterations_complete: control.iterations_complete(),
        iterations_interrupted: control.iterations_interrupted(),
        duration,
        setup_data: outcome.setup_data,
        series: gathered.series,
        cores,
        summary: gathered.summary,
    }
}
