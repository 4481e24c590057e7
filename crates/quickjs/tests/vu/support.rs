//! A virtual user for tests: a VM whose script runs on a fiber, with natives that wait.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::future::Future;
use std::rc::Rc;
use std::time::{Duration, Instant};

use brunt_fiber::{
    Fiber, Outcome, StackPool, StackSettings, abort_current, block_on, is_aborted, resume_count,
};
use brunt_quickjs::{Call, Ctx, Hooks, JsResult, Vm};

/// How long a VU may run before it lets its neighbours run.
const SLICE: Duration = Duration::from_millis(2);

/// Stacks of 256 KiB: small enough that deep recursion is quick, big enough for every native function.
pub(crate) const SMALL: usize = 256 * 1024;
/// The size that VUs have.
pub(crate) const NORMAL: usize = 1024 * 1024;

/// The state that the natives and the interrupt hook of one VU share.
#[derive(Default)]
pub(crate) struct Host {
    /// The script's log.
    pub(crate) log: RefCell<Vec<String>>,
    /// Stop the script from the interrupt hook at this moment.
    pub(crate) kill_at: Cell<Option<Instant>>,
    /// How often the interrupt hook let other fibers run.
    pub(crate) slices: Cell<u32>,
    slice: Cell<Option<(u64, Instant)>>,
}

/// Why a script did not end well.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Failure {
    /// It threw: `Name: message` and the stack.
    Threw(String),
    /// It was stopped past its own `catch` and `finally`.
    Stopped,
    /// A native function panicked.
    Panicked(String),
}

/// The result of a script: its last value as a string, or why it failed.
pub(crate) type Ended = Result<String, Failure>;

/// A VM, and the fiber that its scripts run on. The fiber comes first: it is dropped, and so aborted, before the VM.
pub(crate) struct Vu {
    pub(crate) fiber: Fiber,
    pub(crate) vm: Rc<Vm>,
    pub(crate) host: Rc<Host>,
    ended: Rc<RefCell<Option<Ended>>>,
    stack: usize,
}

impl Vu {
    pub(crate) fn new(pool: &Rc<StackPool>) -> Self {
        let host = Rc::new(Host::default());
        let hooks = Hooks { interrupt: Some(on_interrupt), ..Hooks::default() };
        let on_worker = 512 * 1024;
        let vm = Vm::new(Rc::clone(&host) as Rc<dyn Any>, hooks, on_worker);
        let ctx = vm.ctx();
        let global = ctx.global();
        global.define("sleep", ctx.function(c"sleep", 1, sleep).unwrap()).unwrap();
        global.define("fail", ctx.function(c"fail", 1, fail).unwrap()).unwrap();
        global.define("log", ctx.function(c"log", 1, log).unwrap()).unwrap();
        drop(global);
        let stack = pool.take().unwrap();
        Self {
            stack: stack.usable(),
            fiber: Fiber::new(stack),
            vm: Rc::new(vm),
            host,
            ended: Rc::default(),
        }
    }

    /// Puts a script onto the fiber; it runs when the fiber is polled.
    pub(crate) fn start(&mut self, script: &str) {
        let script = script.to_owned();
        self.start_with(move |ctx| {
            let value = ctx.eval("vu.js", &script)?;
            value.to_string_lossy()
        });
    }

    /// The same with any body; the jobs that it leaves are drained afterwards.
    pub(crate) fn start_with(
        &mut self,
        body: impl for<'js> FnOnce(Ctx<'js>) -> JsResult<'js, String> + 'static,
    ) {
        let (vm, ended, stack) = (Rc::clone(&self.vm), Rc::clone(&self.ended), self.stack);
        self.fiber.start(move || {
            vm.on_this_stack(stack);
            let ctx = vm.ctx();
            let result = body(ctx).and_then(|text| drain(ctx).map(|()| text));
            if result.is_err() {
                ctx.drop_jobs();
            }
            *ended.borrow_mut() = Some(result.map_err(|_| failure(ctx)));
        });
    }

    /// Runs a script to its end.
    pub(crate) async fn run(&mut self, script: &str) -> Ended {
        self.start(script);
        self.finish().await
    }

    /// Waits for what [`Vu::start`] started.
    pub(crate) async fn finish(&mut self) -> Ended {
        match (&mut self.fiber).await {
            Outcome::Returned { .. } => self.ended().expect("the body left its result"),
            Outcome::Panicked(payload) => std::panic::resume_unwind(payload),
        }
    }

    /// How the script ended, if it did.
    pub(crate) fn ended(&self) -> Option<Ended> {
        self.ended.borrow_mut().take()
    }

    /// The script's log so far.
    pub(crate) fn log(&self) -> Vec<String> {
        self.host.log.take()
    }
}

/// Runs promise jobs until none is left. The flag is the authority, not the exception: see the rules of the fiber.
fn drain(ctx: Ctx<'_>) -> JsResult<'_, ()> {
    while ctx.has_jobs() {
        if is_aborted() {
            return Err(ctx.throw_uncatchable("the VU was stopped"));
        }
        ctx.run_job()?;
    }
    Ok(())
}

fn failure(ctx: Ctx<'_>) -> Failure {
    let exception = ctx.take_exception();
    if let Some(payload) = ctx.take_panic() {
        let text = payload.downcast_ref::<&str>().map_or("?", |text| text);
        return Failure::Panicked(text.to_owned());
    }
    match exception {
        Some(exception) if !exception.uncatchable && !is_aborted() => {
            let stack = exception.value.get("stack").and_then(|stack| stack.to_string_lossy());
            let text = match stack {
                Ok(stack) if exception.value.is_error() => stack,
                _ => exception.value.to_string_lossy().unwrap_or_default(),
            };
            Failure::Threw(text)
        }
        _ => Failure::Stopped,
    }
}

/// `sleep(ms)` returns `ms`.
fn sleep(call: Call<'_>) -> JsResult<'_> {
    let ms = call.argument(0).to_number()?;
    match block_on(tokio::time::sleep(Duration::from_secs_f64(ms / 1000.0))) {
        Ok(()) => Ok(call.ctx().number(ms)),
        Err(aborted) => Err(call.ctx().throw_uncatchable(&aborted.to_string())),
    }
}

/// `fail(ms)` sleeps, then throws what a script can catch.
fn fail(call: Call<'_>) -> JsResult<'_> {
    sleep(call)?;
    Err(call.ctx().throw_type("request failed"))
}

fn log(call: Call<'_>) -> JsResult<'_> {
    let text = call.argument(0).to_string_lossy()?;
    let host = call.ctx().host::<Host>().expect("the VM's host");
    host.log.borrow_mut().push(text);
    Ok(call.ctx().undefined())
}

fn on_interrupt(host: &dyn Any) -> bool {
    let host = host.downcast_ref::<Host>().expect("the VM's host");
    if host.kill_at.get().is_some_and(|at| Instant::now() >= at) {
        // The exception alone may be swallowed, by a Promise constructor or a job.
        abort_current();
    }
    if is_aborted() {
        return true;
    }
    let resumed = resume_count();
    if resumed == 0 {
        return false;
    }
    match host.slice.get() {
        Some((of, began)) if of == resumed => {
            if began.elapsed() < SLICE {
                return false;
            }
            host.slices.set(host.slices.get() + 1);
            brunt_fiber::yield_now().is_err()
        }
        _ => {
            host.slice.set(Some((resumed, Instant::now())));
            false
        }
    }
}

pub(crate) fn pool(usable: usize) -> Rc<StackPool> {
    StackPool::new(StackSettings { usable })
}

/// Runs a future on a core's runtime, with a clock that jumps ahead when everybody waits: `sleep` costs no time.
pub(crate) fn on_a_core<F: Future>(work: F) -> F::Output {
    core(true, work)
}

/// The same with the real clock.
pub(crate) fn in_real_time<F: Future>(work: F) -> F::Output {
    core(false, work)
}

fn core<F: Future>(paused: bool, work: F) -> F::Output {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(paused)
        .build()
        .unwrap();
    tokio::task::LocalSet::new().block_on(&runtime, work)
}

/// Runs one script on a VU of its own.
pub(crate) fn run(stack: usize, script: &str) -> (Ended, Vec<String>) {
    let mut vu = Vu::new(&pool(stack));
    let ended = on_a_core(vu.run(script));
    let log = vu.log();
    (ended, log)
}
