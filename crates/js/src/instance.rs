//! A VM that has run a program's init code.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use brunt_engine::{Core, StopHandle, Stopped, VuIds};
use brunt_fiber::Fiber;
use brunt_fiber::Outcome;
use brunt_quickjs::{Ctx, Hooks, Name, OverLimit, PromiseState, Root, Value, Vm, touched};
use brunt_script::Format;

use crate::api::Api;
use crate::exception::{Failure, panic_text, told, told_of_held};
use crate::host::Host;
use crate::loader::{self, Loader};
use crate::program::Program;

static OPTIONS: Name = Name::new("options");
static REQUIRE: Name = Name::new("require");

/// Heap size at which the cycle collector runs first. Reference counting frees almost everything; a low mark would
/// walk the heap of each VU again and again.
const COLLECT_BEYOND: usize = 1024 * 1024;

/// How long a script that was stopped may hear what had come before, in nanoseconds: it can't give way to others any more.
const LAST_WORDS_NS: u64 = 100_000_000;

/// The most timers of a call that failed or was stopped whose end is told each by itself.
const TOLD_MAX: usize = 100;

/// One VM with the script loaded.
pub struct Instance {
    // The VM goes before the host: freeing it may ask the host.
    vm: Vm,
    host: Rc<Host>,
    namespace: RefCell<Option<Root>>,
}

impl Instance {
    /// Makes a VM and runs the program's init code in it, on a fiber of its own and `stack` bytes of it.
    ///
    /// # Errors
    /// The exception of the init code; [`Failure::Interrupted`] if `stop` was set meanwhile.
    pub async fn create(
        program: Arc<Program>,
        api: Arc<dyn Api>,
        core: Option<Rc<Core>>,
        ids: VuIds,
        fiber: &mut Fiber,
        stack: usize,
        stop: &StopHandle,
    ) -> Result<Rc<Self>, Failure> {
        let host = Host::new(program, api, core, ids, stop.clone());
        let made = Rc::new(RefCell::new(None));
        let out = Rc::clone(&made);
        let inner_host = Rc::clone(&host);
        fiber.start(move || {
            let instance = Self::on_this_fiber(inner_host, stack);
            *out.borrow_mut() = Some(instance);
        });
        let ran = run_fiber(fiber, stop).await;
        let made = made.borrow_mut().take();
        let made = ran.and_then(|()| made.unwrap_or(Err(Failure::Interrupted)));
        made.map_err(|failure| host.explain(failure))
    }

    fn on_this_fiber(host: Rc<Host>, stack: usize) -> Result<Rc<Self>, Failure> {
        let hooks = Hooks {
            interrupt: Some(Host::interrupt),
            rejection: Some(Host::rejection),
            place: Some(Host::author_place),
            scope: Some(Host::scope),
        };
        let vm = Vm::new(Rc::clone(&host) as Rc<dyn std::any::Any>, hooks, stack);
        vm.collect_beyond(COLLECT_BEYOND);
        vm.set_modules(Rc::new(Loader));
        host.events().is_of(vm.ctx());
        let instance = Rc::new(Self { vm, host, namespace: RefCell::new(None) });
        let namespace = instance.within_limit(instance.load())?;
        *instance.namespace.borrow_mut() = Some(namespace);
        Ok(instance)
    }

    fn load(&self) -> Result<Root, Failure> {
        let (host, ctx) = (&*self.host, self.vm.ctx());
        let caught = |thrown| Failure::of_thrown(host, ctx, thrown);
        host.api.install(ctx).map_err(caught)?;
        let entry = host.program.entry();
        let require = loader::require_function(ctx).map_err(caught)?;
        ctx.global().define_hidden(&REQUIRE, require).map_err(caught)?;
        let unit = host.program.unit(entry).ok_or(Failure::Interrupted)?;
        let namespace = match (unit.format, &unit.code) {
            (Format::Esm, Some(code)) => {
                let (namespace, promise) = ctx.run_module(code).map_err(caught)?;
                host.events().run_until_settled(host, ctx, &promise, Failure::of_value)?;
                namespace
            }
            _ => loader::require_common_js(host, ctx, entry).map_err(caught)?,
        };
        host.events().drain(host, ctx)?;
        if let Some(json) = host.api.consolidated_options() {
            show_options(ctx, &namespace, &json).map_err(caught)?;
        }
        Ok(ctx.root(namespace))
    }

    /// The VM's handle. Entering JavaScript needs [`Instance::on_this_stack`] first.
    pub fn ctx(&self) -> Ctx<'_> {
        self.vm.ctx()
    }

    /// The host side.
    pub fn host(&self) -> &Rc<Host> {
        &self.host
    }

    /// Bytes that the VM's heap holds.
    pub fn memory(&self) -> brunt_quickjs::MemoryUse {
        self.vm.memory()
    }

    /// The lines of memory where the host side and the VM keep what every iteration needs.
    pub(crate) fn hot_lines(&self) -> Vec<usize> {
        let host = std::ptr::from_ref::<Host>(&self.host).addr();
        let vm = self.vm.place();
        let places = [(host, size_of::<Host>()), vm];
        let line = |address| address / touched::LINE;
        places.iter().flat_map(|&(at, bytes)| line(at)..=line(at + bytes - 1)).collect()
    }

    /// Announces the stack that the VM is entered from.
    pub fn on_this_stack(&self, usable: usize) {
        self.vm.on_this_stack(usable);
    }

    /// Whether the script recursed so deeply that what it left on the stack is worth giving back.
    pub(crate) fn was_deep(&self) -> bool {
        self.vm.was_deep()
    }

    /// An export of the main module; `None` if there is none.
    pub fn export(&self, name: &str) -> Option<Value<'_>> {
        let ctx = self.vm.ctx();
        let namespace = self.namespace.borrow().as_ref().map(|root| ctx.rooted(root))?;
        if !namespace.is_object() {
            return None;
        }
        let value = namespace.get(name);
        if value.is_err() {
            drop(ctx.take_exception());
        }
        value.ok().filter(|value| !value.is_undefined())
    }

    /// The names of all exports.
    pub fn export_names(&self) -> Vec<String> {
        let ctx = self.vm.ctx();
        let namespace = self.namespace.borrow().as_ref().map(|root| ctx.rooted(root));
        let keys = namespace.and_then(|namespace| namespace.keys().ok()).unwrap_or_default();
        keys.iter().filter_map(brunt_quickjs::name::Key::text).collect()
    }

    /// Calls a function and runs the event loop until nothing is left. Returns what it returned, a promise awaited.
    ///
    /// # Errors
    /// The exception of the function, of a timer, a promise or another leftover.
    pub fn call<'js>(
        &'js self,
        function: &Value<'js>,
        arguments: &[Value<'js>],
    ) -> Result<Value<'js>, Failure> {
        let (host, ctx) = (&*self.host, self.vm.ctx());
        ctx.forget_place();
        let result = function.call(&ctx.undefined(), arguments);
        let result =
            result.map_err(|thrown| Failure::of_thrown(host, ctx, thrown)).and_then(|value| {
                let value = if value.is_promise() {
                    host.events().run_until_settled(host, ctx, &value, Failure::of_rejection)?
                } else {
                    value
                };
                host.events().drain(host, ctx)?;
                Ok(value)
            });
        let result = self.within_limit(result);
        if let Err(failure) = &result {
            if matches!(failure, Failure::Exception(_)) {
                self.host.api.thrown(host, ctx);
            }
            if matches!(failure, Failure::Interrupted) && !host.was_aborted_by_script() {
                let until = brunt_fiber::clock::now_ns().saturating_add(LAST_WORDS_NS);
                host.hears_until.set(until);
                host.events().tell_last_words(ctx, until);
                self.host.api.stopped(host, ctx, until);
                host.hears_until.set(0);
            }
            self.clear_leftovers();
        }
        result
    }

    /// As [`call`](Self::call), but failures beside the call itself (a timer that throws, an unhandled rejection) are
    /// only logged.
    ///
    /// # Errors
    /// The exception of the function, or the rejection of its promise.
    pub fn call_in_spite<'js>(
        &'js self,
        function: &Value<'js>,
        arguments: &[Value<'js>],
    ) -> Result<Value<'js>, Failure> {
        let (host, ctx) = (&*self.host, self.vm.ctx());
        ctx.forget_place();
        let result = function
            .call(&ctx.undefined(), arguments)
            .map_err(|thrown| Failure::of_thrown(host, ctx, thrown))
            .and_then(|value| self.settled_in_spite(value));
        let result = result.and_then(|value| match host.events().drain(host, ctx) {
            Err(Failure::Exception(text)) => {
                log::error!("{text}");
                self.clear_leftovers();
                Ok(value)
            }
            drained => drained.map(|()| value),
        });
        let result = self.within_limit(result);
        if result.is_err() {
            self.clear_leftovers();
        }
        result
    }

    /// The result of a script, unless it wanted more memory than its limit, even if it caught that. Afterwards it has
    /// the memory that is left below the limit.
    fn within_limit<T>(&self, result: Result<T, Failure>) -> Result<T, Failure> {
        let ctx = self.vm.ctx();
        if ctx.over_limit().is_none() {
            // Whatever the script left may be large; it may be long until it runs again.
            ctx.catch_up();
            return result;
        }
        // Jobs and timers that wait must not run; the objects that they hold are to go.
        self.clear_leftovers();
        let Some(over) = ctx.take_over_limit() else { return result };
        // All that could be collected is gone now.
        let is_held = matches!(over, OverLimit::Vm(limit) if ctx.memory_used() > limit / 4 * 3);
        let failure = if is_held { told_of_held(over) } else { told(over) };
        let is_stopped = self.host.is_stopped();
        match result {
            Ok(_) => Err(Failure::Exception(failure)),
            // Memory that was denied to Rust code leaves no exception.
            Err(Failure::Interrupted) if !is_stopped => Err(Failure::Exception(failure)),
            Err(Failure::Exception(text)) => {
                let frames = text.strip_prefix(&told(over)).map(|frames| failure + frames);
                Err(Failure::Exception(frames.unwrap_or(text)))
            }
            result => result,
        }
    }

    fn settled_in_spite<'js>(&'js self, value: Value<'js>) -> Result<Value<'js>, Failure> {
        let (host, ctx) = (&*self.host, self.vm.ctx());
        if !value.is_promise() {
            return Ok(value);
        }
        loop {
            let settled = host.events().run_until_settled(host, ctx, &value, Failure::of_rejection);
            match (settled, value.promise_state()) {
                // Each time one task less is left, and there is a time limit.
                (Err(Failure::Exception(text)), Some(PromiseState::Pending)) => {
                    log::error!("{text}");
                }
                (Err(Failure::Exception(text)), Some(PromiseState::Fulfilled(answer))) => {
                    log::error!("{text}");
                    return Ok(answer);
                }
                (settled, _) => return settled,
            }
        }
    }

    /// Drops timers and operations that a failed or stopped call left, telling of the timers.
    pub fn clear_leftovers(&self) {
        let ctx = self.vm.ctx();
        let mut stopped = self.host.events().clear(ctx).into_iter();
        for (made_by, id) in stopped.by_ref().take(TOLD_MAX) {
            log::warn!("{made_by} {id} was stopped because the VU iteration was interrupted");
        }
        if stopped.len() > 0 {
            log::warn!("so were {} more timers", stopped.len());
        }
        let rejections = std::mem::take(&mut *self.host.rejections.borrow_mut());
        for (promise, reason) in rejections {
            drop((ctx.unroot(promise), ctx.unroot(reason)));
        }
        drop(ctx.take_exception());
    }
}

impl std::fmt::Debug for Instance {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Instance").field("host", &self.host).finish_non_exhaustive()
    }
}

/// Polls a fiber until its body is over, aborting it when `stop` is set.
///
/// # Errors
/// [`Failure::Interrupted`] if it was stopped, [`Failure::Panic`] if the body panicked.
pub(crate) async fn run_fiber(fiber: &mut Fiber, stop: &StopHandle) -> Result<(), Failure> {
    let mut stopped = stop.stopped();
    run_fiber_until(fiber, &mut stopped).await
}

/// As [`run_fiber`], with a future that resolves when the fiber must stop. It can be used again, which keeps the waker
/// where it is.
pub(crate) async fn run_fiber_until(
    fiber: &mut Fiber,
    stopped: &mut Stopped,
) -> Result<(), Failure> {
    let outcome = std::future::poll_fn(|cx| {
        use std::future::Future;
        use std::pin::Pin;
        use std::task::Poll;
        if let Poll::Ready(outcome) = Pin::new(&mut *fiber).poll(cx) {
            return Poll::Ready(outcome);
        }
        match Pin::new(&mut *stopped).poll(cx) {
            Poll::Ready(()) => {
                Poll::Ready(fiber.abort().unwrap_or(Outcome::Returned { aborted: true }))
            }
            Poll::Pending => Poll::Pending,
        }
    })
    .await;
    match outcome {
        Outcome::Returned { aborted: false } => Ok(()),
        Outcome::Returned { aborted: true } => Err(Failure::Interrupted),
        Outcome::Panicked(payload) => Err(Failure::Panic(panic_text(&*payload))),
    }
}

/// Writes the consolidated values over the script's exported `options`, as k6 does after each VU's init.
fn show_options<'js>(
    ctx: Ctx<'js>,
    namespace: &Value<'js>,
    json: &str,
) -> Result<(), brunt_quickjs::Thrown> {
    if !namespace.is_object() {
        return Ok(());
    }
    let options = namespace.get(&OPTIONS)?;
    if !options.is_object() || options.is_function() {
        return Ok(());
    }
    let values = ctx.parse_json(json.as_bytes()).map_err(|error| ctx.throw_json(error))?;
    for key in values.keys()? {
        let value = values.get(&key)?;
        if options.set(&key, value).is_err() {
            // A frozen options object stays as it is.
            drop(ctx.take_exception());
            break;
        }
    }
    Ok(())
}
