//! A virtual user, as the engine drives it.

use std::cell::{Cell, RefCell};
use std::future::{Future as _, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::rc::Rc;

use brunt_engine::{Ended, Iteration, ScenarioHere, StopHandle, Stopped, Vu};
use brunt_fiber::Fiber;
use brunt_metrics::{Metadata, Recorder, TagsId};
use brunt_quickjs::{Root, SHALLOW, touched};

use crate::core_state::CoreState;
use crate::exception::{Failure, panic_text};
use crate::host::Phase;
use crate::instance::{Instance, run_fiber_until};
use crate::runner::SetupData;

/// A VM, and the fiber that its iterations run on.
pub struct ScriptVu {
    shared: Rc<Shared>,
    fiber: Fiber,
    stack: usize,
    /// The handle that stops the iterations of the scenario, and its future.
    stop: Option<(StopHandle, Stopped)>,
    /// How many iterations have begun.
    iterations: u64,
}

/// Which iterations are watched, for what they touch is fetched ahead from then on: not the first, which makes what the
/// later ones use; and once more when all has found its place.
const WATCHED: [u64; 2] = [3, 30];

/// How large the task of a VU is, roughly. A waker's data begins the task.
const TASK_BYTES: usize = 1280;

/// After this many panics in a row the state of a VU is no longer trusted.
const PANICS_MAX: u32 = 3;

/// The state for the body on the fiber.
struct Shared {
    instance: Rc<Instance>,
    setup_data: std::sync::Arc<SetupData>,
    /// The function of the scenario.
    function: RefCell<Option<Root>>,
    /// `setup()`'s data, decoded in this VM at the first use.
    data: RefCell<Option<Root>>,
    result: RefCell<Result<(), Failure>>,
    /// How many iterations ended with a panic, one after the other.
    panics: Cell<u32>,
}

impl ScriptVu {
    pub(crate) fn new(
        instance: Rc<Instance>,
        setup_data: std::sync::Arc<SetupData>,
        core: &CoreState,
    ) -> Result<Self, brunt_fiber::stack::StackError> {
        let stack = core.stacks().take()?;
        let usable = stack.usable();
        let fiber = Fiber::new(stack);
        fiber.touches(&instance.hot_lines());
        Ok(Self {
            shared: Rc::new(Shared {
                instance,
                setup_data,
                function: RefCell::new(None),
                data: RefCell::new(None),
                result: RefCell::new(Ok(())),
                panics: Cell::new(0),
            }),
            fiber,
            stack: usable,
            stop: None,
            iterations: 0,
        })
    }

    /// Runs the fiber, watched, and has what it touches fetched ahead from now on.
    async fn watch(&mut self) -> Result<(), Failure> {
        let (stop, stopped) = self.stop.as_mut().expect("set by the iteration");
        let mut lines = self.shared.instance.hot_lines();
        let shared = &self.shared;
        let stop = stop.places();
        let result = {
            let mut run = pin!(run_fiber_until(&mut self.fiber, stopped));
            poll_fn(|cx| {
                let task = cx.waker().data().addr();
                touched::watch(&mut lines, || {
                    touched::note_at(task, TASK_BYTES);
                    touched::note_shared(shared);
                    touched::note_shared(&shared.instance);
                    for &(at, bytes) in &stop {
                        touched::note_at(at, bytes);
                    }
                    run.as_mut().poll(cx)
                })
            })
            .await
        };
        self.fiber.touches(&lines);
        result
    }
}

impl Vu for ScriptVu {
    fn activate(&mut self, scenario: &Rc<ScenarioHere>) {
        let (shared, stack) = (Rc::clone(&self.shared), self.stack);
        let scenario = Rc::clone(scenario);
        // Reading an export may run a getter: on the fiber, like all JavaScript of this VU.
        self.fiber.start(move || shared.activate(&scenario, stack));
        let waker = std::task::Waker::noop();
        let mut cx = std::task::Context::from_waker(waker);
        if std::future::Future::poll(std::pin::Pin::new(&mut self.fiber), &mut cx).is_pending() {
            // An export whose getter waits is a mistake.
            self.fiber.abort();
        }
    }

    async fn iterate(&mut self, iteration: Iteration, stop: &StopHandle) -> Ended {
        if self.shared.panics.get() >= PANICS_MAX {
            stop.stopped().await;
            return Ended::Interrupted;
        }
        let host = self.shared.instance.host();
        host.begin(Phase::Iteration, Some(iteration), stop);
        let (shared, stack) = (Rc::clone(&self.shared), self.stack);
        self.fiber.start(move || shared.iterate(&iteration, stack));
        if !self.stop.as_ref().is_some_and(|(known, _)| known.is(stop)) {
            self.stop = Some((stop.clone(), stop.stopped()));
        }
        self.iterations += 1;
        let ran = if WATCHED.contains(&self.iterations) {
            Box::pin(self.watch()).await
        } else {
            let (_, stopped) = self.stop.as_mut().expect("it was just set");
            run_fiber_until(&mut self.fiber, stopped).await
        };
        if self.shared.instance.was_deep() {
            // The part above the VM's first frame counts, too.
            self.fiber.trim_stack(2 * SHALLOW);
        }
        self.shared.finish(ran)
    }

    fn tags(&mut self, recorder: &mut Recorder) -> TagsId {
        let host = self.shared.instance.host();
        host.api.tags(host, recorder)
    }

    fn metadata(&self) -> Option<Metadata> {
        let host = self.shared.instance.host();
        host.api.metadata(host)
    }
}

impl Shared {
    fn activate(&self, scenario: &Rc<ScenarioHere>, stack: usize) {
        let instance = &*self.instance;
        instance.on_this_stack(stack);
        let (host, ctx) = (instance.host(), instance.ctx());
        host.set_scenario(scenario);
        // Init code is over: what comes now comes again.
        ctx.keep_shapes();
        let old = self.function.borrow_mut().take();
        if let Some(old) = old {
            drop(ctx.unroot(old));
        }
        let function = instance.export(&scenario.spec().exec).map(|function| ctx.root(function));
        *self.function.borrow_mut() = function;
        host.api.activate(host, ctx, scenario);
    }

    fn iterate(&self, iteration: &Iteration, stack: usize) {
        let instance = &*self.instance;
        instance.on_this_stack(stack);
        let (host, ctx) = (instance.host(), instance.ctx());
        // A limit that was passed between iterations is not this one's fault.
        let _ = ctx.take_over_limit();
        host.api.begin(host, ctx, Some(iteration));
        let function = self.function.borrow().as_ref().map(|root| ctx.rooted(root));
        let Some(function) = function else {
            *self.result.borrow_mut() =
                Err(Failure::Exception("the scenario's function is gone".to_owned()));
            return;
        };
        let run = || self.data(ctx).and_then(|data| instance.call(&function, &[data]).map(drop));
        let result = catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|payload| {
            instance.clear_leftovers();
            Err(Failure::Panic(panic_text(&*payload)))
        });
        *self.result.borrow_mut() = result;
    }

    fn data<'js>(
        &self,
        ctx: brunt_quickjs::Ctx<'js>,
    ) -> Result<brunt_quickjs::Value<'js>, Failure> {
        if let Some(root) = &*self.data.borrow() {
            return Ok(ctx.rooted(root));
        }
        let value = match self.setup_data.get() {
            None => return Ok(ctx.undefined()),
            Some(json) => ctx.parse_json(json.as_bytes()).map_err(|error| {
                let thrown = ctx.throw_json(error);
                Failure::of_thrown(self.instance.host(), ctx, thrown)
            })?,
        };
        *self.data.borrow_mut() = Some(ctx.root(value.clone()));
        Ok(value)
    }

    fn finish(&self, ran: Result<(), Failure>) -> Ended {
        let host = self.instance.host();
        let result = std::mem::replace(&mut *self.result.borrow_mut(), Ok(()));
        let result = ran.and(result);
        let panics =
            if matches!(result, Err(Failure::Panic(_))) { self.panics.get() + 1 } else { 0 };
        self.panics.set(panics);
        let ended = match result {
            Ok(()) => Ended::Complete,
            Err(Failure::Exception(text)) => {
                host.api.report(host, &text);
                Ended::Complete
            }
            Err(Failure::Interrupted) if host.was_aborted_by_script() => Ended::Aborted,
            Err(Failure::Interrupted | Failure::Aborted(_)) => Ended::Interrupted,
            Err(Failure::Panic(text)) => {
                let vu = host.ids().global;
                if panics < PANICS_MAX {
                    let text = format!(
                        "an iteration of VU {vu} ended by a fault in Brunt ({text}). The test goes on; please report this"
                    );
                    host.api.report(host, &text);
                    Ended::Complete
                } else {
                    log::error!(
                        vu;
                        "VU {vu} ended: {panics} of its iterations, one after the other, met a fault in Brunt ({text}). The test goes on without it; please report this"
                    );
                    Ended::Interrupted
                }
            }
        };
        host.api.end(host, ended);
        ended
    }
}

impl std::fmt::Debug for ScriptVu {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ScriptVu").field("instance", &self.shared.instance).finish_non_exhaustive()
    }
}
