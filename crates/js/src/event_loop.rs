//! A VU's own event loop: promise jobs, timers, operations under way.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::{BTreeMap, VecDeque};
use std::future::Future;
use std::panic::{AssertUnwindSafe, resume_unwind};
use std::rc::Rc;
use std::task::{Poll, Waker};

use brunt_fiber::pause::pause;
use brunt_fiber::{block_on, clock, is_aborted};
use brunt_quickjs::{Ctx, JsResult, PromiseState, Root, Scale, Thrown, Value, Weight};
use futures_util::FutureExt as _;
use tokio::task::AbortHandle;

use crate::exception::{Failure, told};
use crate::host::Host;

/// The maximum number of macrotasks that run before the loop looks at the clock, for the sake of the core's other
/// tasks.
const TURN_TASKS: u32 = 16;

/// How long macrotasks may run one after another before the core's other tasks have their turn.
const TURN_NS: u64 = 2_000_000;

/// Bytes that an operation under way takes beside its future: its task, its place in the lists.
const COST_OF_OPERATION: usize = 512;

type Completion = Box<dyn for<'js> FnOnce(Ctx<'js>) -> JsResult<'js, ()>>;

/// The loop of one VM. Macrotasks run one at a time, and promise jobs are drained after each, as in browsers and k6.
#[derive(Default)]
pub struct EventLoop {
    timers: RefCell<Timers>,
    inbox: Rc<Inbox>,
    /// Operations under way, by id.
    running: RefCell<BTreeMap<u64, Running>>,
    next_operation: Cell<u64>,
    /// Macrotasks since the clock was looked at, and when the loop began to run them without waiting (unix ns).
    tasks: Cell<u32>,
    busy_since: Cell<u64>,
    was_waiting: Cell<bool>,
    /// Operations under way count as memory of this VM: a loop may begin a million of them.
    scale: OnceCell<Scale>,
}

/// An operation under way.
struct Running {
    task: AbortHandle,
    /// Of its future, and of what it holds: they weigh no more as soon as it is given up, though the task goes later.
    _weights: (Option<Weight>, Weight),
}

#[derive(Default)]
struct Timers {
    /// By (due in unix ns, id).
    due: BTreeMap<(u64, u32), Timer>,
    last_id: u32,
}

struct Timer {
    function: Root,
    arguments: Vec<Root>,
    /// Nanoseconds between runs, for intervals.
    every: Option<u64>,
    /// The iteration doesn't wait for it.
    is_idle: bool,
}

/// Finished operations that wait to be told to JavaScript.
#[derive(Default)]
struct Inbox {
    done: RefCell<VecDeque<Done>>,
    waker: RefCell<Option<Waker>>,
}

struct Done {
    /// The operation that ends with it.
    ends: Option<u64>,
    /// Since when it waits (unix ns).
    at: u64,
    /// It is told even if the VU is stopped before.
    is_last_word: bool,
    then: Completion,
}

impl Inbox {
    fn put(&self, ends: Option<u64>, is_last_word: bool, then: Completion) {
        let at = clock::now_ns();
        self.done.borrow_mut().push_back(Done { ends, at, is_last_word, then });
        if let Some(waker) = self.waker.borrow_mut().take() {
            waker.wake();
        }
    }
}

/// How an operation with more than one thing to tell speaks to its loop: see [`EventLoop::spawn_line`].
pub struct Line {
    inbox: Rc<Inbox>,
}

impl Line {
    /// Queues a macrotask. There is no limit: who tells must know when to wait.
    pub fn tell(&self, then: impl for<'js> FnOnce(Ctx<'js>) -> JsResult<'js, ()> + 'static) {
        self.inbox.put(None, false, Box::new(then));
    }
}

impl std::fmt::Debug for Line {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Line").finish_non_exhaustive()
    }
}

impl EventLoop {
    /// It is the loop of this VM.
    pub(crate) fn is_of(&self, ctx: Ctx<'_>) {
        self.scale.get_or_init(|| ctx.scale());
    }

    /// `setTimeout` (or `setInterval`, with `repeat`): returns the timer's id, counted from 1.
    pub fn set_timer<'js>(
        &self,
        ctx: Ctx<'js>,
        function: Value<'js>,
        arguments: Vec<Value<'js>>,
        delay_ns: u64,
        repeat: bool,
    ) -> u32 {
        let function = ctx.root(function);
        let arguments = arguments.into_iter().map(|argument| ctx.root(argument)).collect();
        // An interval of 0 would leave no room for anything else.
        let every = repeat.then_some(delay_ns.max(1_000_000));
        self.add_timer(Timer { function, arguments, every, is_idle: false }, delay_ns)
    }

    /// A timer that the iteration doesn't wait for: if nothing else is left to do, it is dropped.
    pub fn set_idle_timer<'js>(&self, ctx: Ctx<'js>, function: Value<'js>, delay_ns: u64) {
        let (function, arguments) = (ctx.root(function), Vec::new());
        self.add_timer(Timer { function, arguments, every: None, is_idle: true }, delay_ns);
    }

    fn add_timer(&self, timer: Timer, delay_ns: u64) -> u32 {
        let mut timers = self.timers.borrow_mut();
        timers.last_id += 1;
        let id = timers.last_id;
        let due = clock::now_ns().saturating_add(delay_ns);
        timers.due.insert((due, id), timer);
        id
    }

    /// `clearTimeout`: unknown ids are ignored.
    pub fn clear_timer(&self, ctx: Ctx<'_>, id: u32) {
        let mut timers = self.timers.borrow_mut();
        let key = timers.due.keys().find(|key| key.1 == id).copied();
        let timer = key.and_then(|key| timers.due.remove(&key));
        drop(timers);
        if let Some(timer) = timer {
            release(ctx, timer);
        }
    }

    /// Starts an operation that goes on while JavaScript runs or waits. Its end is a macrotask: `then` is called
    /// with the result. Until then the iteration is not over.
    ///
    /// Call it on a fiber of a core. If the VU is stopped, the operation is dropped and `then` never called.
    pub fn spawn<T: 'static>(
        &self,
        operation: impl Future<Output = T> + 'static,
        then: impl for<'js> FnOnce(Ctx<'js>, T) -> JsResult<'js, ()> + 'static,
    ) {
        self.spawn_as(false, Weight::default(), operation, then);
    }

    /// As [`spawn`](Self::spawn), for an operation that holds so much.
    pub fn spawn_weighing<T: 'static>(
        &self,
        weight: Weight,
        operation: impl Future<Output = T> + 'static,
        then: impl for<'js> FnOnce(Ctx<'js>, T) -> JsResult<'js, ()> + 'static,
    ) {
        self.spawn_as(false, weight, operation, then);
    }

    /// As [`spawn`](Self::spawn), but what was done before the VU was stopped is told all the same: see
    /// [`tell_last_words`](Self::tell_last_words).
    pub fn spawn_heard<T: 'static>(
        &self,
        operation: impl Future<Output = T> + 'static,
        then: impl for<'js> FnOnce(Ctx<'js>, T) -> JsResult<'js, ()> + 'static,
    ) {
        self.spawn_as(true, Weight::default(), operation, then);
    }

    fn spawn_as<T: 'static>(
        &self,
        is_last_word: bool,
        weight: Weight,
        operation: impl Future<Output = T> + 'static,
        then: impl for<'js> FnOnce(Ctx<'js>, T) -> JsResult<'js, ()> + 'static,
    ) {
        let id = self.next_id();
        let inbox = Rc::clone(&self.inbox);
        let bytes = size_of_val(&operation);
        let task = tokio::task::spawn_local(async move {
            match AssertUnwindSafe(operation).catch_unwind().await {
                Ok(result) => {
                    inbox.put(Some(id), is_last_word, Box::new(move |ctx| then(ctx, result)));
                }
                // It belongs to the iteration, not to a task whose end is not looked at.
                Err(payload) => {
                    inbox.put(Some(id), false, Box::new(move |_| resume_unwind(payload)));
                }
            }
        });
        self.keep(id, task.abort_handle(), bytes, weight);
    }

    /// Starts an operation that has something to tell again and again, through its [`Line`]. The iteration is not over
    /// until the operation is, and all that it told.
    ///
    /// Call it on a fiber of a core. If the VU is stopped, the operation is dropped, and with it what was not heard.
    pub fn spawn_line<F: Future<Output = ()> + 'static>(&self, operation: impl FnOnce(Line) -> F) {
        let id = self.next_id();
        let inbox = Rc::clone(&self.inbox);
        let operation = operation(Line { inbox: Rc::clone(&inbox) });
        let bytes = size_of_val(&operation);
        let task = tokio::task::spawn_local(async move {
            let end: Completion = match AssertUnwindSafe(operation).catch_unwind().await {
                Ok(()) => Box::new(|_| Ok(())),
                Err(payload) => Box::new(move |_| resume_unwind(payload)),
            };
            inbox.put(Some(id), false, end);
        });
        self.keep(id, task.abort_handle(), bytes, Weight::default());
    }

    fn keep(&self, id: u64, task: AbortHandle, bytes: usize, weight: Weight) {
        let own = self.scale.get().map(|scale| scale.weigh(bytes + COST_OF_OPERATION));
        self.running.borrow_mut().insert(id, Running { task, _weights: (own, weight) });
    }

    fn next_id(&self) -> u64 {
        let id = self.next_operation.get();
        self.next_operation.set(id + 1);
        id
    }

    /// Whether nothing is left that could run JavaScript later.
    fn is_empty(&self) -> bool {
        self.running.borrow().is_empty() && self.timers.borrow().due.is_empty()
    }

    /// Whether nothing is left that is waited for.
    fn is_done(&self) -> bool {
        self.running.borrow().is_empty()
            && self.timers.borrow().due.values().all(|timer| timer.is_idle)
    }

    fn drop_idle_timers(&self, ctx: Ctx<'_>) {
        let timers = std::mem::take(&mut self.timers.borrow_mut().due);
        for timer in timers.into_values() {
            release(ctx, timer);
        }
    }

    /// Runs everything there is: until no job, timer or operation is left.
    ///
    /// # Errors
    /// The first exception of a task, or an unhandled rejection; the rest is dropped.
    pub fn drain(&self, host: &Host, ctx: Ctx<'_>) -> Result<(), Failure> {
        loop {
            drain_jobs(host, ctx)?;
            if self.is_done() {
                self.drop_idle_timers(ctx);
                let Some(remains) = host.api.remains(host) else { return Ok(()) };
                return block_on(remains).map_err(|_| Failure::Interrupted);
            }
            self.turn(host, ctx)?;
        }
    }

    /// Runs until a promise is settled; other work goes on meanwhile and may be left over.
    ///
    /// # Errors
    /// As [`EventLoop::drain`], and the rejection of the promise itself, made into a failure by `rejected`. A promise
    /// that nothing can settle any more counts as fulfilled with `undefined`.
    pub fn run_until_settled<'js>(
        &self,
        host: &Host,
        ctx: Ctx<'js>,
        promise: &Value<'js>,
        rejected: fn(&Host, &Value<'_>) -> Failure,
    ) -> Result<Value<'js>, Failure> {
        promise.mark_handled();
        loop {
            let jobs = drain_jobs(host, ctx);
            match promise.promise_state() {
                None => return Ok(promise.clone()),
                Some(PromiseState::Fulfilled(value)) => return jobs.map(|()| value),
                Some(PromiseState::Rejected(reason)) => {
                    return Err(rejected(host, &reason));
                }
                Some(PromiseState::Pending) => jobs?,
            }
            if self.is_empty() {
                return Ok(ctx.undefined());
            }
            self.turn(host, ctx)?;
        }
    }

    /// Lets the core's other tasks, timers and sockets have their turn, if this loop was busy for long.
    fn give_way(&self) -> Result<(), Failure> {
        self.tasks.set(self.tasks.get() + 1);
        if self.tasks.get() < TURN_TASKS {
            return Ok(());
        }
        self.tasks.set(0);
        let now = clock::now_ns();
        if self.busy_since.get() == 0 {
            self.busy_since.set(now);
        } else if now.saturating_sub(self.busy_since.get()) > TURN_NS {
            self.busy_since.set(0);
            return brunt_fiber::yield_now().map_err(|_| Failure::Interrupted);
        }
        Ok(())
    }

    /// The timer that was due before anything that waits was done. As in k6, what was first goes first; and whoever is always
    /// done can't keep a timer waiting for ever.
    fn first_timer(&self) -> Option<(u64, u32)> {
        let key = self.timers.borrow().due.keys().next().copied()?;
        let done = self.inbox.done.borrow();
        done.front().is_some_and(|done| key.0 <= done.at).then_some(key)
    }

    /// Waits for the next macrotask and runs it.
    fn turn(&self, host: &Host, ctx: Ctx<'_>) -> Result<(), Failure> {
        self.give_way()?;
        if let Some(key) = self.first_timer() {
            return self.fire(host, ctx, key);
        }
        let next = self.inbox.done.borrow_mut().pop_front();
        if let Some(Done { ends, then, .. }) = next {
            if let Some(id) = ends {
                self.running.borrow_mut().remove(&id);
            }
            return caught(host, ctx, then(ctx));
        }
        let due = self.timers.borrow().due.keys().next().copied();
        let now = clock::now_ns();
        match due {
            Some(key) if key.0 <= now => self.fire(host, ctx, key),
            _ => self.wait(due.map(|key| key.0.saturating_sub(now))),
        }
    }

    fn wait(&self, timer_ns: Option<u64>) -> Result<(), Failure> {
        self.tasks.set(0);
        self.busy_since.set(0);
        let inbox = Rc::clone(&self.inbox);
        let arrived = std::future::poll_fn(move |cx| {
            if inbox.done.borrow().is_empty() {
                *inbox.waker.borrow_mut() = Some(cx.waker().clone());
                Poll::Pending
            } else {
                Poll::Ready(())
            }
        });
        let waited = match timer_ns {
            None => block_on(arrived),
            Some(ns) => block_on(async {
                tokio::select! {
                    () = arrived => {}
                    () = pause(std::time::Duration::from_nanos(ns)) => {}
                }
            }),
        };
        self.was_waiting.set(waited.is_err());
        waited.map_err(|_| Failure::Interrupted)
    }

    /// Whether the VU was stopped while this loop waited, not in the middle of a script.
    pub fn was_waiting(&self) -> bool {
        self.was_waiting.get()
    }

    /// The VU was stopped: tells what was done before by those who want that ([`spawn_heard`](Self::spawn_heard)), until a
    /// time (unix ns). The script can't wait for anything any more, and is interrupted if it takes long. Its
    /// exceptions are lost.
    pub fn tell_last_words(&self, ctx: Ctx<'_>, until: u64) {
        let mut done: VecDeque<_> = self.inbox.done.take();
        done.retain(|done| done.is_last_word);
        while let Some(Done { then, .. }) = done.pop_front() {
            if then(ctx).is_err() {
                drop(ctx.take_exception());
            }
            if !done.is_empty() && clock::now_ns() > until {
                log::warn!("the iteration was stopped before {} results were told", done.len());
                return;
            }
        }
    }

    fn fire(&self, host: &Host, ctx: Ctx<'_>, key: (u64, u32)) -> Result<(), Failure> {
        let timer = self.timers.borrow_mut().due.remove(&key);
        let Some(timer) = timer else { return Ok(()) };
        let function = ctx.rooted(&timer.function);
        let arguments: Vec<_> =
            timer.arguments.iter().map(|argument| ctx.rooted(argument)).collect();
        let every = timer.every;
        match every {
            // It stays, so that its function can clear it.
            Some(_) => drop(self.timers.borrow_mut().due.insert(key, timer)),
            None => release(ctx, timer),
        }
        ctx.forget_place();
        let ran = function.call(&ctx.undefined(), &arguments).map(drop);
        if let Some(every) = every {
            // As in k6, the next run is counted from the end of this one: a timeout of ten intervals comes before the
            // tenth run.
            let mut timers = self.timers.borrow_mut();
            if let Some(timer) = timers.due.remove(&key) {
                timers.due.insert((clock::now_ns().saturating_add(every), key.1), timer);
            }
        }
        caught(host, ctx, ran)
    }

    /// Drops everything that is left. Returns the timers that were pending: what made them, and their ids.
    pub fn clear(&self, ctx: Ctx<'_>) -> Vec<(&'static str, u32)> {
        for (_, running) in std::mem::take(&mut *self.running.borrow_mut()) {
            running.task.abort();
        }
        self.inbox.done.borrow_mut().clear();
        self.was_waiting.set(false);
        // Jobs of a stopped iteration must not go on in the next one.
        ctx.drop_jobs();
        let timers = std::mem::take(&mut self.timers.borrow_mut().due);
        let made_by =
            |timer: &Timer| if timer.every.is_some() { "setInterval" } else { "setTimeout" };
        let ids = timers.iter().map(|(key, timer)| (made_by(timer), key.1)).collect();
        for timer in timers.into_values() {
            release(ctx, timer);
        }
        ids
    }
}

impl Drop for EventLoop {
    fn drop(&mut self) {
        for running in self.running.get_mut().values() {
            running.task.abort();
        }
    }
}

impl std::fmt::Debug for EventLoop {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EventLoop")
            .field("timers", &self.timers.borrow().due.len())
            .field("running", &self.running.borrow().len())
            .finish_non_exhaustive()
    }
}

fn release(ctx: Ctx<'_>, timer: Timer) {
    drop(ctx.unroot(timer.function));
    for argument in timer.arguments {
        drop(ctx.unroot(argument));
    }
}

/// Runs promise jobs until none is left, then looks for unhandled rejections.
fn drain_jobs(host: &Host, ctx: Ctx<'_>) -> Result<(), Failure> {
    loop {
        // Some built-ins turn even an uncatchable error into a rejection: the flag is the authority.
        if is_aborted() {
            return Err(Failure::Interrupted);
        }
        if let Some(over) = ctx.over_limit() {
            return Err(Failure::Exception(told(over)));
        }
        ctx.forget_place();
        match ctx.run_job() {
            Ok(true) => {}
            Ok(false) => break,
            Err(thrown) => return Err(Failure::of_thrown(host, ctx, thrown)),
        }
    }
    let rejections = std::mem::take(&mut *host.rejections.borrow_mut());
    let mut first = None;
    for (promise, reason) in rejections {
        drop(ctx.unroot(promise));
        let reason = ctx.unroot(reason);
        first.get_or_insert_with(|| Failure::of_rejection(host, &reason));
    }
    first.map_or(Ok(()), Err)
}

fn caught(host: &Host, ctx: Ctx<'_>, result: Result<(), Thrown>) -> Result<(), Failure> {
    result.map_err(|thrown| Failure::of_thrown(host, ctx, thrown))
}
