//! The thread of a core: it does what the coordinator says until that says to end.

use std::cell::{OnceCell, RefCell};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use brunt_fiber::core::CoreRuntime;
use brunt_metrics::{Recorder, Registry};
use tokio::sync::mpsc;
use tokio::task::spawn_local;

use super::caught::{caught, words};
use super::open::{self, OpenHere};
use super::{Core, Reaper, Runner, Worker, closed, stage, tick};
use crate::control::{AbortReason, Control};
use crate::gather;
use crate::health::CoreWatch;
use crate::message::{Command, Event};
use crate::runner::VuIds;
use crate::scenario::ScenarioState;

/// Stack of a core's thread, in bytes: init code of scripts runs on it. Only touched pages take memory.
const STACK_SIZE: usize = 16 << 20;

/// After this many steps of tasks a core looks at its sockets, timers and messages of other threads, busy or not.
/// With tokio's 61, and scripts that compute for their whole slice of 2 ms each, that could be a tenth of a second
/// apart.
const STEPS_BETWEEN_POLLS: u32 = 8;

/// The parts of a new core.
pub(crate) struct CoreSeed<R: Runner> {
    pub(crate) index: u32,
    pub(crate) runner: Arc<R>,
    pub(crate) control: Arc<Control>,
    pub(crate) states: Arc<[Arc<ScenarioState>]>,
    pub(crate) registry: Arc<Registry>,
    pub(crate) want_samples: bool,
    pub(crate) min_iteration: Duration,
    pub(crate) is_last: bool,
    pub(crate) commands: mpsc::Receiver<Command>,
    pub(crate) events: mpsc::Sender<Event>,
    pub(crate) frames: mpsc::Sender<gather::Message>,
}

/// Starts the thread of a core.
pub(crate) fn spawn<R: Runner>(seed: CoreSeed<R>) -> io::Result<JoinHandle<()>> {
    let (index, control, events) = (seed.index, seed.control.clone(), seed.events.clone());
    let body = move || {
        let reason = match catch_unwind(AssertUnwindSafe(|| live(seed))) {
            Ok(Ok(())) => return,
            Ok(Err(error)) => {
                AbortReason::System { message: format!("core {index} cannot start: {error}") }
            }
            Err(payload) => AbortReason::Panic {
                message: format!("core {index} panicked: {}", words(&*payload)),
            },
        };
        control.abort(reason);
        if events.blocking_send(Event::Died { core: index }).is_err() {
            log::debug!(core = index; "died after the coordinator");
        }
    };
    std::thread::Builder::new().name(format!("core-{index}")).stack_size(STACK_SIZE).spawn(body)
}

/// Fails if the system refuses a reactor, which takes three open files.
fn live<R: Runner>(seed: CoreSeed<R>) -> io::Result<()> {
    CoreRuntime::new(STEPS_BETWEEN_POLLS)?.block_on(obey(seed));
    Ok(())
}

async fn obey<R: Runner>(seed: CoreSeed<R>) {
    let mut commands = seed.commands;
    let is_last = seed.is_last;
    let scenarios = seed.states.len();
    let worker = Rc::new(Worker {
        core: Rc::new(Core {
            index: seed.index,
            recorder: RefCell::new(Recorder::new(seed.registry, seed.index, seed.want_samples)),
            control: seed.control,
            slot: OnceCell::new(),
        }),
        runner: seed.runner,
        states: seed.states,
        min_iteration: seed.min_iteration,
        events: seed.events,
        frames: seed.frames,
        residents: RefCell::default(),
        here: RefCell::new((0..scenarios).map(|_| None).collect()),
        open: RefCell::new((0..scenarios).map(|_| None).collect()),
        reaper: Reaper::default(),
    });
    let watch = Rc::new(CoreWatch::default());
    let ticker = spawn_local(tick::run(Rc::clone(&worker), Rc::clone(&watch)));
    let reaping = Rc::clone(&worker);
    let reaper = spawn_local(async move { reaping.reaper.run().await });
    while let Some(command) = commands.recv().await {
        match command {
            Command::Shutdown => break,
            command => carry_out(&worker, command),
        }
    }
    ticker.abort();
    reaper.abort();
    tick::hand_over_last(&worker).await;
    let health = watch.sum_up(worker.core.index);
    worker.tell(Event::Finished { health }).await;
    // Here, on their own core and inside its runtime, and not wherever the last task is dropped.
    let residents = worker.residents.take();
    if is_last {
        std::mem::forget(residents);
    } else {
        drop(residents);
    }
}

fn carry_out<R: Runner>(worker: &Rc<Worker<R>>, command: Command) {
    let own = Rc::clone(worker);
    match command {
        Command::Init(ids) => drop(spawn_local(init(own, ids))),
        Command::Grow { ids, scenario } => drop(spawn_local(grow(own, ids, scenario))),
        Command::Attend { slot, scenario, handle } => {
            drop(spawn_local(closed::attend(own, slot, scenario, handle)));
        }
        Command::Open { scenario, slots, share, inbox } => {
            let here = OpenHere::new(worker.scenario(scenario));
            worker.open.borrow_mut()[scenario] = Some(Rc::clone(&here));
            for slot in slots {
                drop(spawn_local(open::sit(Rc::clone(worker), Rc::clone(&here), slot)));
            }
            drop(spawn_local(open::receive(Rc::clone(worker), Rc::clone(&here), inbox)));
            if !share.offsets.is_empty() {
                drop(spawn_local(open::pace(own, here, share)));
            }
        }
        Command::Join { slot, scenario } => {
            let open = worker.open.borrow()[scenario].clone();
            let open = open.expect("a VU joins a scenario that has started");
            drop(spawn_local(open::sit(own, open, slot)));
        }
        Command::StopAll => worker.stop_all(),
        Command::Setup { limit } => drop(spawn_local(stage::setup(own, limit))),
        Command::Teardown { data, limit } => drop(spawn_local(stage::teardown(own, data, limit))),
        Command::HandOver => drop(spawn_local(hand_over(own))),
        Command::Shutdown => unreachable!("the loop ends with it"),
    }
}

/// A task: hands over what has been seen so far.
async fn hand_over<R: Runner>(worker: Rc<Worker<R>>) {
    tick::hand_over_last(&worker).await;
    let core = worker.core.index();
    worker.tell(Event::HandedOver { core }).await;
}

/// A task: makes the planned VUs, one after the other, and stops at the first that fails.
async fn init<R: Runner>(worker: Rc<Worker<R>>, ids: Vec<VuIds>) {
    for ids in ids {
        if worker.core.control.is_aborting() {
            break;
        }
        let made = caught(&worker.core, "a VU's init code", pin!(worker.make_vu(ids))).await;
        match made {
            Some(Ok(vu)) => worker.tell(Event::Ready { vu, scenario: None }).await,
            Some(Err(error)) => {
                worker.tell(Event::InitFailed { error, scenario: None }).await;
                break;
            }
            None => break,
        }
        // Frames and commands need their turn.
        tokio::task::yield_now().await;
    }
    let core = worker.core.index;
    worker.tell(Event::InitDone { core }).await;
}

/// A task: makes one unplanned VU.
async fn grow<R: Runner>(worker: Rc<Worker<R>>, ids: VuIds, scenario: usize) {
    let made = caught(&worker.core, "a VU's init code", pin!(worker.make_vu(ids))).await;
    let scenario = Some(scenario);
    match made {
        Some(Ok(vu)) => worker.tell(Event::Ready { vu, scenario }).await,
        Some(Err(error)) => worker.tell(Event::InitFailed { error, scenario }).await,
        None => {}
    }
}
