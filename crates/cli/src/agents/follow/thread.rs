//! The broker's thread of an agent: one connection for the life of the process, one machine for each test.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::mpsc::{Receiver, SyncSender};
use std::time::Duration;

use brunt_cluster::{AgentConfig, AgentEvent, Fault};
use brunt_fiber::clock;
use brunt_nats::{Broker, Run};
use tokio::sync::{Notify, mpsc};
use tokio::task::LocalSet;
use tokio::time::{MissedTickBehavior, interval, sleep, timeout};

use super::engine::Engine;
use super::follower::{Follower, Heard};
use super::substitute::{Job, Substitute};
use super::{End, Order, Request};
use crate::Context;
use crate::agents::broker::{self, REACH};
use crate::agents::lead::pool::{self, Standing};
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::version;

/// From one look at the run to the next.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// From one look at the pool to the next.
const POOL_AGAIN: Duration = Duration::from_millis(300);

/// Events that may wait for the machine; then the tasks that bring them wait.
pub(super) const EVENTS_WAITING: usize = 4096;

/// Facts about this agent.
pub(super) struct Place {
    request: Request,
    agent: String,
    host: String,
    cores: u32,
    memory: u64,
    /// Of the log.
    errors: Receiver<String>,
}

impl Place {
    /// Looks around.
    pub(super) fn of(context: &Context, mut request: Request) -> Self {
        let host = host(context);
        // An index of a job is a place that a new process takes over.
        let of_job = context.environment.get("JOB_COMPLETION_INDEX");
        let of_job: Option<u32> = of_job.and_then(|text| text.parse().ok());
        request.index = request.index.or(of_job.map(|index| index.saturating_add(1)));
        let agent = match request.index {
            Some(index) => format!("{host}/{index}"),
            None => format!("{host}/{}", std::process::id()),
        };
        let cores = request.workers.unwrap_or_else(|| {
            std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
        });
        Self {
            agent,
            host,
            cores: cores as u32,
            memory: crate::memory::of_process(),
            errors: context.logging.errors(),
            request,
        }
    }
}

/// The machine's name.
pub(in crate::agents) fn host(context: &Context) -> String {
    let read = || std::fs::read_to_string("/proc/sys/kernel/hostname").ok();
    let own = context.environment.get("HOSTNAME").map(str::to_owned);
    let host = own.filter(|host| !host.is_empty()).or_else(read).unwrap_or_default();
    let host = host.trim();
    if host.is_empty() { "unknown".to_owned() } else { host.to_owned() }
}

/// From the main thread.
pub(super) enum Input {
    /// A test has been loaded, its run begins.
    Begun(Box<Engine>),
    /// It could not be loaded.
    NotLoaded(Fault),
    /// The run is over; with a fault if it failed.
    Ended(Option<Fault>),
    /// A signal came.
    Signal,
}

/// The main thread's end of the thread.
#[derive(Clone)]
pub(super) struct Handle {
    inputs: mpsc::Sender<Input>,
    told_to_go: Arc<AtomicBool>,
    /// Set while a test is led: a signal then ends the test, not the process.
    in_test: Arc<AtomicBool>,
    going: Arc<Notify>,
}

impl Handle {
    pub(super) fn send(&self, input: Input) {
        // The thread is gone: so is the test.
        drop(self.inputs.blocking_send(input));
    }

    /// A signal came.
    pub(super) fn signal(&self) {
        self.told_to_go.store(true, SeqCst);
        if self.in_test.load(SeqCst) {
            drop(self.inputs.try_send(Input::Signal));
        }
        self.going.notify_one();
    }

    pub(super) fn is_told_to_go(&self) -> bool {
        self.told_to_go.load(SeqCst)
    }
}

/// Starts the thread.
///
/// # Errors
/// The system gives no thread.
pub(super) fn start(
    place: Place,
    orders: SyncSender<Order>,
    beside: SyncSender<Job>,
) -> Outcome<Handle> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let (inputs, given) = mpsc::channel(16);
    let handle = Handle {
        inputs,
        told_to_go: Arc::default(),
        in_test: Arc::default(),
        going: Arc::default(),
    };
    let own = handle.clone();
    std::thread::Builder::new().name("brunt-broker".to_owned()).spawn(move || {
        let life = Life { place, orders: orders.clone(), beside, given, handle: own };
        // Loads of other agents are tasks of this thread.
        if let Err(failure) = LocalSet::new().block_on(&runtime, life.live()) {
            drop(orders.send(Order::Gone(failure)));
        }
    })?;
    Ok(handle)
}

struct Life {
    place: Place,
    orders: SyncSender<Order>,
    beside: SyncSender<Job>,
    given: mpsc::Receiver<Input>,
    handle: Handle,
}

impl Life {
    async fn live(mut self) -> Outcome<()> {
        let meeting = self.place.request.meeting.clone();
        let name = format!("brunt agent {}", self.place.agent);
        let limit = if self.place.request.once { self.place.request.wait } else { REACH };
        let going = Arc::clone(&self.handle.going);
        let broker = tokio::select! {
            connected = broker::connect(&meeting, &name, limit, false) => connected?,
            () = going.notified() => return Err(signalled()),
        };
        log::info!("agent {} is ready at {}", self.place.agent, broker.shown());
        let mut done = BTreeSet::new();
        loop {
            let run = match (&meeting.run, &meeting.pool) {
                (Some(run), _) => run.clone(),
                (None, pool) => {
                    let pool = pool.clone().unwrap_or_default();
                    let wait = self.place.request.once.then_some(self.place.request.wait);
                    tokio::select! {
                        run = run_of_pool(&broker, &pool, &done, wait) => run?,
                        () = going.notified() => return Err(signalled()),
                    }
                }
            };
            let led = broker.run(&run).map_err(Failure::usage)?;
            self.handle.in_test.store(true, SeqCst);
            let end = self.follow(led).await;
            self.handle.in_test.store(false, SeqCst);
            let is_last = meeting.run.is_some()
                || self.handle.is_told_to_go()
                || self.place.request.once && !self.is_left(&broker, &run, &end).await;
            // Only the last few runs of a pool can still be its run.
            if done.len() > 64 {
                done.clear();
            }
            done.insert(run);
            drop(self.orders.send(Order::Over(end, is_last)));
            if is_last {
                broker.close().await;
                return Ok(());
            }
        }
    }

    /// Whether the test had no need of this agent because its leader has left it behind: the next leader of the pool needs it.
    async fn is_left(&self, broker: &Broker, run: &str, end: &End) -> bool {
        end.is_spare()
            && tokio::select! {
                standing = pool::standing(broker, run) => matches!(standing, Ok(Standing::Left)),
                () = self.handle.going.notified() => false,
            }
    }

    /// Takes part in one run, to its end.
    async fn follow(&mut self, run: Run) -> End {
        let (events, mut heard) = mpsc::channel(EVENTS_WAITING);
        let place = &self.place;
        // Errors of before are none of this test's.
        place.errors.try_iter().for_each(drop);
        let config = AgentConfig {
            run: run.id().to_owned(),
            agent: place.agent.clone(),
            host: place.host.clone(),
            incarnation: clock::now_ns(),
            version: version::line(),
            cores: place.cores,
            memory: place.memory,
            index: place.request.index,
            wait: u64::try_from(place.request.wait.as_nanos()).unwrap_or(u64::MAX),
            substitute: None,
        };
        let orders = self.orders.clone();
        // The main thread does nothing else now.
        let load = move |to_load| drop(orders.send(Order::Load(to_load)));
        let mut follower = Follower::new(config.clone(), run.clone(), events, load);
        let mut substitutes: Vec<Substitute> = Vec::new();
        let end = attend(&mut follower, &mut heard, &mut self.given, |follower| {
            for error in place.errors.try_iter() {
                follower.hear(Heard::Machine(AgentEvent::Note(error)));
            }
            if follower.is_told_to_go() {
                substitutes.iter().for_each(Substitute::signal);
            }
            for takeover in follower.substitutes.drain(..) {
                let (run, beside) = (run.clone(), self.beside.clone());
                substitutes.push(Substitute::start(&config, run, takeover, beside));
            }
        })
        .await;
        // The loads of others go on to their own ends.
        while substitutes.iter().any(|substitute| !substitute.is_over()) {
            tokio::select! {
                Some(Input::Signal) = self.given.recv() => {
                    substitutes.iter().for_each(Substitute::signal);
                }
                () = sleep(LOOK_EVERY) => {}
            }
        }
        end
    }
}

/// Has a follower hear all that happens, to its end and that of its run; `each` is called before each event.
pub(super) async fn attend(
    follower: &mut Follower,
    heard: &mut mpsc::Receiver<Heard>,
    given: &mut mpsc::Receiver<Input>,
    mut each: impl FnMut(&mut Follower),
) -> End {
    let mut ticks = interval(LOOK_EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
    while follower.end.is_none() {
        let wait = follower.wake_at();
        let wait = wait.map(|at| Duration::from_nanos(at.saturating_sub(clock::now_ns())));
        let heard = tokio::select! {
            heard = heard.recv() => heard,
            input = given.recv() => input.map(Heard::Input),
            _ = ticks.tick() => Some(Heard::Tick),
            () = sleep(wait.unwrap_or(LOOK_EVERY)), if wait.is_some() => Some(Heard::Machine(AgentEvent::Wake)),
        };
        let Some(heard) = heard else { break };
        each(follower);
        follower.hear(heard);
    }
    let end = follower.end.take();
    // The main thread may be in the middle of the run.
    while follower.let_go() {
        let Some(input) = given.recv().await else { break };
        follower.wind_up(input);
    }
    end.unwrap_or(End { code: 255, message: None, own_summary: false })
}

/// Waits for a run of the pool that is none of those that are over.
async fn run_of_pool(
    broker: &Broker,
    pool: &str,
    done: &BTreeSet<String>,
    limit: Option<Duration>,
) -> Outcome<String> {
    log::info!("waiting for a test of the pool \"{pool}\"");
    // Asked, not watched: there is no bucket before the first leader comes.
    let wait = async {
        loop {
            match broker.pool_now(pool).await {
                Ok(now) => {
                    let run = now.and_then(|now| pool_run(&now.value?));
                    if let Some(run) = run.filter(|run| !done.contains(run)) {
                        return run;
                    }
                }
                Err(error) => log::debug!("{error}"),
            }
            sleep(POOL_AGAIN).await;
        }
    };
    match limit {
        None => Ok(wait.await),
        Some(limit) => timeout(limit, wait).await.map_err(|_| {
            let limit = brunt_duration::wait::format(limit);
            let told = format!("no leader led the pool \"{pool}\" within {limit}");
            Failure::new(Exit::NotStarted, anyhow::Error::msg(told))
        }),
    }
}

/// The run that a pool's key names.
pub(in crate::agents) fn pool_run(value: &[u8]) -> Option<String> {
    let json: serde_json::Value = serde_json::from_slice(value).ok()?;
    Some(json.get("run")?.as_str()?.to_owned())
}

fn signalled() -> Failure {
    Failure::new(Exit::Signal, anyhow::anyhow!("stopped by a signal while no test ran"))
}
