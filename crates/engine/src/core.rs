//! One core: one thread, one tokio runtime, its own VUs, its own tables.

mod caught;
mod closed;
mod open;
mod reaper;
mod stage;
pub(crate) mod thread;
mod tick;
mod visit;

use std::any::Any;
use std::cell::{OnceCell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use brunt_fiber::clock;
use brunt_metrics::Recorder;
use tokio::sync::mpsc;

use crate::control::Control;
use crate::gather;
use crate::message::{Event, VuRef};
use crate::runner::{Runner, VuIds};
use crate::scenario::{ScenarioHere, ScenarioState};

pub(crate) use self::caught::words;
pub(crate) use self::closed::{at, span_at};
use self::open::OpenHere;
use self::reaper::Reaper;

/// The services of a core for the tasks on it. An `Rc` on its own thread.
pub struct Core {
    index: u32,
    recorder: RefCell<Recorder>,
    control: Arc<Control>,
    slot: OnceCell<Box<dyn Any>>,
}

impl Core {
    /// Which core it is, from 0.
    pub fn index(&self) -> u32 {
        self.index
    }

    /// Its tables of measurements. Never hold the borrow across a suspension.
    pub fn recorder(&self) -> &RefCell<Recorder> {
        &self.recorder
    }

    /// The wheel of the run.
    pub fn control(&self) -> &Arc<Control> {
        &self.control
    }

    /// A handle that only an abort of the run stops: for init code.
    pub fn stop_of_run(&self) -> crate::StopHandle {
        crate::StopHandle::of_run(Arc::clone(&self.control), u64::MAX)
    }

    /// This moment, in unix ns.
    pub fn now(&self) -> u64 {
        clock::now_ns()
    }

    /// The runner's own state on this core, made at the first call.
    ///
    /// # Panics
    /// If it is asked for with another type than at first.
    pub fn slot<T: 'static>(&self, make: impl FnOnce() -> T) -> &T {
        let kept = self.slot.get_or_init(|| Box::new(make()));
        kept.downcast_ref().expect("one runner keeps one type of state on a core")
    }
}

impl std::fmt::Debug for Core {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Core").field("index", &self.index).finish_non_exhaustive()
    }
}

/// A VU that lives on this core, and what the engine remembers of it.
struct Resident<V> {
    vu: V,
    slot: u32,
    /// Its number in the whole test.
    number: u64,
    /// How many iterations panicked, one after the other.
    panics: u32,
    /// Iterations begun, of all scenarios.
    iterations: u64,
    by_scenario: ByScenario,
}

/// Iterations begun, by scenario. Most tests have one, and the first lies beside the VU, where its memory is anyway.
#[derive(Default)]
struct ByScenario {
    first: u64,
    /// Those after the first, as far as the highest that the VU worked for.
    others: Vec<u64>,
}

impl ByScenario {
    fn of(&mut self, scenario: usize) -> &mut u64 {
        let Some(other) = scenario.checked_sub(1) else { return &mut self.first };
        if self.others.len() <= other {
            self.others.resize(other + 1, 0);
        }
        &mut self.others[other]
    }
}

/// Where a VU is kept while it does not work.
type Place<V> = Option<Box<Resident<V>>>;

/// The inside of a core: everything its tasks share.
struct Worker<R: Runner> {
    core: Rc<Core>,
    runner: Arc<R>,
    states: Arc<[Arc<ScenarioState>]>,
    min_iteration: Duration,
    events: mpsc::Sender<Event>,
    frames: mpsc::Sender<gather::Message>,
    /// By slot; empty while a VU works.
    residents: RefCell<Vec<Place<R::Vu>>>,
    /// By scenario.
    here: RefCell<Vec<Option<Rc<ScenarioHere>>>>,
    /// By scenario: the open ones that have started.
    open: RefCell<Vec<Option<Rc<OpenHere>>>>,
    reaper: Reaper,
}

impl<R: Runner> Worker<R> {
    /// This core's side of a scenario.
    fn scenario(&self, index: usize) -> Rc<ScenarioHere> {
        let make = || ScenarioHere::new(Arc::clone(&self.states[index]));
        Rc::clone(self.here.borrow_mut()[index].get_or_insert_with(make))
    }

    fn vu_ref(&self, slot: u32) -> VuRef {
        VuRef { core: self.core.index, slot }
    }

    /// Tells the coordinator. It may be gone only if the whole run is.
    async fn tell(&self, event: Event) {
        if self.events.send(event).await.is_err() {
            log::debug!(core = self.core.index; "the coordinator is gone");
        }
    }

    /// Interrupts whoever hears aborts.
    fn stop_all(&self) {
        self.reaper.stop_all();
        let open: Vec<_> = self.open.borrow().iter().flatten().cloned().collect();
        for scenario in open {
            scenario.abandon(self.core.index);
        }
    }

    /// Makes a VU, and gives it a slot.
    async fn make_vu(&self, ids: VuIds) -> Result<VuRef, crate::RunError> {
        let vu = self.runner.create(&self.core, ids).await?;
        let mut residents = self.residents.borrow_mut();
        let slot = residents.len() as u32;
        let resident = Resident {
            vu,
            slot,
            number: ids.global,
            panics: 0,
            iterations: 0,
            by_scenario: ByScenario::default(),
        };
        residents.push(Some(Box::new(resident)));
        drop(residents);
        self.core.control.count_initialized();
        Ok(self.vu_ref(slot))
    }
}
