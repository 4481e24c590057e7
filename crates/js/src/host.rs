//! The state of a VU for its native functions.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use brunt_engine::{Core, Iteration, ScenarioHere, StopHandle, VuIds};
use brunt_fiber::clock;
use brunt_quickjs::{Ctx, Root, Value};
use rustc_hash::FxHashMap;

use crate::api::Api;
use crate::core_state::CoreState;
use crate::event_loop::EventLoop;
use crate::exception::Failure;
use crate::program::Program;
use crate::slot::{CoreSlot, Count, Slots, VuSlot};

/// How long JavaScript may run before its neighbours on the core get their turn.
const SLICE_NS: u64 = 2_000_000;

/// Frames that are looked at for the file of a call.
const CALLERS_MOST: i32 = 100;

/// Whether this is the name of a file's code, not of an `eval`.
fn is_file(url: &str) -> bool {
    url.starts_with("file:") || url.starts_with("https:")
}

/// Counts the types of [`VuSlot`]s.
static VU_SLOTS: Count = Count::new();

/// The phase of a VM.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Init code.
    Init,
    /// `setup()`.
    Setup,
    /// An iteration.
    Iteration,
    /// `teardown()`.
    Teardown,
    /// `handleSummary()`.
    Summary,
}

/// The host side of one VM.
pub struct Host {
    pub(crate) program: Arc<Program>,
    pub(crate) api: Arc<dyn Api>,
    core: Option<Rc<Core>>,
    ids: VuIds,
    phase: Cell<Phase>,
    events: EventLoop,
    stop: RefCell<StopHandle>,
    /// The resume count and time (unix ns) at which the running slice was first seen.
    slice: Cell<(u64, u64)>,
    /// Until then (unix ns) a VU that was stopped may hear what came before; 0 at all other times.
    pub(crate) hears_until: Cell<u64>,
    pub(crate) rejections: RefCell<Vec<(Root, Root)>>,
    slots: Slots,
    scenario: RefCell<Option<Rc<ScenarioHere>>>,
    iteration: Cell<Option<Iteration>>,
    /// The reason given to `exec.test.abort()`, if it was called.
    test_aborted: RefCell<Option<String>>,
    /// `module` objects of CommonJS files by URL.
    pub(crate) common_js: RefCell<FxHashMap<String, Root>>,
    /// The CommonJS files whose top level runs now, the innermost last.
    pub(crate) running: RefCell<Vec<String>>,
    /// ES modules are being linked: none of them can be waited for.
    pub(crate) linking: Cell<bool>,
}

impl Host {
    pub(crate) fn new(
        program: Arc<Program>,
        api: Arc<dyn Api>,
        core: Option<Rc<Core>>,
        ids: VuIds,
        stop: StopHandle,
    ) -> Rc<Self> {
        Rc::new(Self {
            program,
            api,
            core,
            ids,
            phase: Cell::new(Phase::Init),
            events: EventLoop::default(),
            stop: RefCell::new(stop),
            slice: Cell::new((0, 0)),
            hears_until: Cell::new(0),
            rejections: RefCell::default(),
            slots: Slots::default(),
            scenario: RefCell::default(),
            iteration: Cell::new(None),
            test_aborted: RefCell::default(),
            common_js: RefCell::default(),
            running: RefCell::default(),
            linking: Cell::new(false),
        })
    }

    /// The host of a VM.
    ///
    /// # Panics
    /// If the VM was not made by this crate.
    pub fn of(ctx: Ctx<'_>) -> &Self {
        ctx.host::<Self>().expect("every VM of a script has a host")
    }

    /// State of a module in this VM; made at the first call.
    pub fn slot<T: VuSlot>(&self) -> &T {
        match self.slots.get(T::key()) {
            Some(kept) => kept,
            None => self.slots.make(T::key(), &VU_SLOTS, || T::new(self)),
        }
    }

    /// The same, if the VM has it already.
    pub fn slot_if_made<T: VuSlot>(&self) -> Option<&T> {
        self.slots.get(T::key())
    }

    /// State of a module on this core, shared by its VUs. Without a core, as while options are read, it is the caller's
    /// alone.
    pub fn core_slot<T: CoreSlot>(&self) -> Rc<T> {
        match self.core_state() {
            Some(core) => Rc::clone(core.slot(self)),
            None => Rc::new(T::new(self)),
        }
    }

    /// State of the API in the whole test.
    ///
    /// # Panics
    /// If the API keeps something else.
    pub fn shared<T: Send + Sync + 'static>(&self) -> Arc<T> {
        self.api.shared().downcast().expect("an API keeps one type of state for a test")
    }

    /// The script.
    pub fn program(&self) -> &Arc<Program> {
        &self.program
    }

    /// The core it lives on; `None` while options are being read, before the engine runs.
    pub fn core(&self) -> Option<&Rc<Core>> {
        self.core.as_ref()
    }

    /// The core's state for its VUs, if there is a core.
    pub fn core_state(&self) -> Option<&CoreState> {
        self.core.as_deref().map(CoreState::of)
    }

    /// The VU's numbers; 0 for what is not a VU.
    pub fn ids(&self) -> VuIds {
        self.ids
    }

    /// The phase of the VM.
    pub fn phase(&self) -> Phase {
        self.phase.get()
    }

    /// Timers and pending operations.
    pub fn events(&self) -> &EventLoop {
        &self.events
    }

    /// The scenario that the VU works for.
    pub fn scenario(&self) -> Option<Rc<ScenarioHere>> {
        self.scenario.borrow().clone()
    }

    pub(crate) fn set_scenario(&self, scenario: &Rc<ScenarioHere>) {
        *self.scenario.borrow_mut() = Some(Rc::clone(scenario));
    }

    /// The iteration that runs.
    pub fn iteration(&self) -> Option<Iteration> {
        self.iteration.get()
    }

    pub(crate) fn begin(&self, phase: Phase, iteration: Option<Iteration>, stop: &StopHandle) {
        self.phase.set(phase);
        self.iteration.set(iteration);
        *self.test_aborted.borrow_mut() = None;
        *self.stop.borrow_mut() = stop.clone();
    }

    /// The script called for the end of the whole test: unwinds it like a stop, but counts otherwise.
    pub fn abort_by_script(&self, message: String) {
        *self.test_aborted.borrow_mut() = Some(message);
        brunt_fiber::abort_current();
    }

    /// Whether the script did so in this iteration.
    pub fn was_aborted_by_script(&self) -> bool {
        self.test_aborted.borrow().is_some()
    }

    /// A stop that the script asked for itself, told apart from others.
    pub(crate) fn explain(&self, failure: Failure) -> Failure {
        match (failure, &*self.test_aborted.borrow()) {
            (Failure::Interrupted, Some(message)) => Failure::Aborted(message.clone()),
            (other, _) => other,
        }
    }

    /// The file in which the call of the native function that runs is written.
    pub fn calling_module(&self, ctx: Ctx<'_>) -> Option<String> {
        // Level 0 is the native function; another one, such as `map`, may stand in between, or code of an `eval`.
        let mut callers = (1..CALLERS_MOST).filter_map(|level| ctx.running_module(level));
        callers.find(|url| is_file(url))
    }

    /// The file whose top level runs: the one being imported or required.
    pub fn loading_module(&self, ctx: Ctx<'_>) -> Option<String> {
        if let Some(url) = self.running.borrow().last() {
            return Some(url.clone());
        }
        let mut callers = (1..CALLERS_MOST).filter_map(|level| ctx.running_module(level));
        callers.rfind(|url| is_file(url))
    }

    /// Whether what runs was told to stop.
    pub fn is_stopped(&self) -> bool {
        brunt_fiber::is_aborted() || self.stop.borrow().is_stopped()
    }

    /// The handle that stops the current work.
    pub fn stop_handle(&self) -> StopHandle {
        self.stop.borrow().clone()
    }

    /// The engine's interrupt handler: stops a VU that must stop, and lets the neighbours run when a slice is over.
    pub(crate) fn interrupt(host: &dyn Any) -> bool {
        let Some(host) = host.downcast_ref::<Self>() else { return false };
        let stop = host.stop.borrow().clone();
        if brunt_fiber::is_aborted() {
            return clock::now_ns() >= host.hears_until.get();
        }
        if stop.check() {
            brunt_fiber::abort_current();
            return true;
        }
        if !brunt_fiber::on_fiber() {
            return false;
        }
        // Requests of others shouldn't wait for a script that computes.
        brunt_fiber::core::carry_out_chores();
        let (resumed, since) = host.slice.get();
        let now = clock::now_ns();
        if resumed != brunt_fiber::resume_count() {
            host.slice.set((brunt_fiber::resume_count(), now));
        } else if now.saturating_sub(since) > SLICE_NS {
            if brunt_fiber::yield_now().is_err() {
                return true;
            }
            host.slice.set((brunt_fiber::resume_count(), clock::now_ns()));
        }
        false
    }

    /// Stacks tell the author's places, not those of the code that was made of the file.
    pub(crate) fn author_place(
        host: &dyn Any,
        file: &str,
        line: u32,
        column: u32,
    ) -> Option<brunt_quickjs::Place> {
        host.downcast_ref::<Self>()?.program.author_place(file, line, column)
    }

    pub(crate) fn scope(ctx: Ctx<'_>, from: i32, to: i32) {
        let host = Self::of(ctx);
        host.api.scope(host, from, to);
    }

    pub(crate) fn rejection<'js>(
        ctx: Ctx<'js>,
        promise: Value<'js>,
        reason: Value<'js>,
        handled: bool,
    ) {
        let host = Self::of(ctx);
        if handled {
            let mut rejections = host.rejections.borrow_mut();
            let place =
                rejections.iter().position(|(known, _)| ctx.rooted(known).strict_equals(&promise));
            if let Some(place) = place {
                let (promise, reason) = rejections.swap_remove(place);
                drop((ctx.unroot(promise), ctx.unroot(reason)));
            }
        } else {
            host.rejections.borrow_mut().push((ctx.root(promise), ctx.root(reason)));
        }
    }
}

impl std::fmt::Debug for Host {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Host")
            .field("ids", &self.ids)
            .field("phase", &self.phase)
            .finish_non_exhaustive()
    }
}
