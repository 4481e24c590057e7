//! One fiber: suspend, resume, abort.
//!
//! ```text
//!            run(body)              block_on: future pending
//!   idle ───────────────▶ running ──────────────────────────▶ suspended
//!    ▲                     │   ▲                                  │
//!    └───────── returned ──┘   └──── future done, or abort ───────┘
//! ```

use std::any::Any;
use std::cell::Cell;
use std::future::Future;
use std::marker::PhantomData;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::{Pin, pin};
use std::ptr;
use std::rc::Rc;
use std::task::{Context, Poll};

use corosensei::{Coroutine, CoroutineResult, Yielder};

use crate::ahead::{Ahead, LINE, RANGES};
use crate::stack::Stack;

/// The fiber that waits was told to stop. Return to the caller at once, cleaning up as you go; every further
/// [`block_on`] of this body fails in the same way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the VU was stopped")]
pub struct Aborted;

/// How a body ended.
#[derive(Debug)]
pub enum Outcome {
    /// It returned. `aborted` tells whether it was told to stop before it did.
    Returned {
        /// Whether [`Fiber::abort`] or [`abort_current`] was called during this run.
        aborted: bool,
    },
    /// It panicked; this is the payload.
    Panicked(Box<dyn Any + Send>),
}

enum Resume {
    Go,
    Abort,
}

/// A future that lies on the suspended fiber's own stack.
type Operation = *mut (dyn Future<Output = ()> + 'static);

/// The state that the running body finds through [`CURRENT`]. Counted, so that its address outlasts moves of the
/// fiber and the body shares it.
struct Shared {
    yielder: Cell<*const Yielder<Resume, Operation>>,
    aborted: Cell<bool>,
    resumed: Cell<u64>,
    /// The highest address of the stack.
    top: usize,
    ahead: Rc<Ahead>,
}

/// How much of the stack lies below the frame that waits and is soon used again.
const BELOW: usize = 768;

/// Places in the list of what a fiber touches: see [`Ahead`].
const STACK: usize = 0;
const TASK: usize = 1;
const HELD: usize = 2;

thread_local! {
    static CURRENT: Cell<*const Shared> = const { Cell::new(ptr::null()) };
}

type Body = Coroutine<Resume, Operation, Result<(), Box<dyn Any + Send>>, Stack>;

/// A stack, and the body that runs on it, if any.
///
/// As a future it resolves when the body has returned. Poll it only on the thread that made it (it is not `Send`).
pub struct Fiber {
    body: Option<Body>,
    stack: Option<Stack>,
    operation: Option<Operation>,
    shared: Rc<Shared>,
    not_send: PhantomData<*mut ()>,
}

impl Fiber {
    /// An idle fiber on this stack.
    pub fn new(stack: Stack) -> Self {
        let top = stack.top();
        Self {
            body: None,
            stack: Some(stack),
            operation: None,
            shared: Rc::new(Shared {
                yielder: Cell::new(ptr::null()),
                aborted: Cell::new(false),
                resumed: Cell::new(0),
                top,
                ahead: Rc::default(),
            }),
            not_send: PhantomData,
        }
    }

    /// Puts a body onto the idle fiber. It starts when the fiber is polled.
    ///
    /// # Panics
    /// If a body is still running.
    pub fn start(&mut self, body: impl FnOnce() + 'static) {
        let stack = self.stack.take().expect("a fiber runs one body at a time");
        self.shared.aborted.set(false);
        let shared = Rc::clone(&self.shared);
        self.body = Some(Coroutine::with_stack(stack, move |yielder, first| {
            shared.yielder.set(ptr::from_ref(yielder));
            let result = match first {
                Resume::Go => catch_unwind(AssertUnwindSafe(body)),
                Resume::Abort => Ok(()),
            };
            shared.yielder.set(ptr::null());
            result
        }));
    }

    /// Says what else the fiber touches whenever it goes on, beside its stack: lines of memory, as addresses divided
    /// by 64. They are fetched into the cache while the fiber before it still runs.
    pub fn touches(&self, lines: &[usize]) {
        let shared = &*self.shared;
        let own = [
            (ptr::from_ref(shared).addr(), size_of::<Shared>()),
            (ptr::from_ref(&*shared.ahead).addr(), size_of::<Ahead>()),
        ];
        let own = own.iter().flat_map(|&(at, bytes)| at / LINE..=(at + bytes - 1) / LINE);
        shared.ahead.set_lines(&own.chain(lines.iter().copied()).collect::<Vec<_>>());
    }

    /// Gives what a deep recursion touched back to the system: all but the first `kept` bytes of the stack. Does
    /// nothing while a body runs.
    pub fn trim_stack(&mut self, kept: usize) {
        if let Some(stack) = &mut self.stack {
            stack.trim(kept);
        }
    }

    /// Whether no body runs.
    pub fn is_idle(&self) -> bool {
        self.body.is_none()
    }

    /// Tells the body to stop and lets it run to its end: the suspended [`block_on`] returns [`Aborted`], and so
    /// does each one after it. One resume is enough, since an aborted body cannot suspend any more.
    ///
    /// Returns how it ended, or `None` if no body was running. Must not be called by the body itself
    /// (that is [`abort_current`]).
    pub fn abort(&mut self) -> Option<Outcome> {
        if self.is_idle() {
            return None;
        }
        self.shared.aborted.set(true);
        // The operation is dropped by the frame that owns it, as that frame returns. A body that has not started is
        // dropped without running.
        self.operation = None;
        match self.resume(Resume::Abort) {
            Some(outcome) => Some(outcome),
            None => unreachable!("an aborted fiber cannot suspend: block_on fails at once"),
        }
    }

    fn resume(&mut self, with: Resume) -> Option<Outcome> {
        let body = self.body.as_mut().expect("resume is called while a body runs");
        let shared = Rc::as_ptr(&self.shared);
        self.shared.resumed.set(self.shared.resumed.get().wrapping_add(1));
        self.shared.ahead.resumed();
        let outer = CURRENT.replace(shared);
        let result = body.resume(with);
        CURRENT.set(outer);
        match result {
            CoroutineResult::Yield(operation) => {
                self.operation = Some(operation);
                None
            }
            CoroutineResult::Return(result) => {
                let body = self.body.take().expect("the body that just returned");
                self.stack = Some(body.into_stack());
                Some(match result {
                    Ok(()) => Outcome::Returned { aborted: self.shared.aborted.get() },
                    Err(payload) => Outcome::Panicked(payload),
                })
            }
        }
    }
}

impl Future for Fiber {
    type Output = Outcome;

    /// # Panics
    /// If no body was started.
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Outcome> {
        let fiber = self.get_mut();
        let here = ptr::from_ref(&*fiber).addr();
        fiber.shared.ahead.set(TASK, here.saturating_sub(512), 1024);
        loop {
            if let Some(operation) = fiber.operation {
                // SAFETY: the operation was pinned by `block_on` on the stack of this suspended fiber. That frame
                // can neither move nor return before the fiber is resumed, and the pointer is forgotten before
                // that (here and in `abort`).
                let operation = unsafe { Pin::new_unchecked(&mut *operation) };
                match operation.poll(cx) {
                    Poll::Pending => return Poll::Pending,
                    Poll::Ready(()) => fiber.operation = None,
                }
            }
            if let Some(outcome) = fiber.resume(Resume::Go) {
                return Poll::Ready(outcome);
            }
        }
    }
}

impl Drop for Fiber {
    fn drop(&mut self) {
        self.abort();
    }
}

impl std::fmt::Debug for Fiber {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Fiber")
            .field("idle", &self.is_idle())
            .field("suspended", &self.operation.is_some())
            .field("aborted", &self.shared.aborted.get())
            .finish_non_exhaustive()
    }
}

/// Waits for a future by suspending the current fiber. The future is polled on the core's own stack.
///
/// No borrow of a `RefCell`, lock or the like may be held across this call: another fiber of the same core runs
/// meanwhile and would trip over it.
///
/// # Errors
/// [`Aborted`], at once if the fiber was told to stop before, else when it is told while it waits.
///
/// # Panics
/// If the caller is not on a fiber; and if the future panics: here, on the fiber, whose own affair it is, and not in whoever
/// polls it.
pub fn block_on<F: Future>(future: F) -> Result<F::Output, Aborted> {
    let shared = CURRENT.get();
    assert!(!shared.is_null(), "block_on is called on a fiber");
    // SAFETY: CURRENT points to the running fiber's shared part, which lives as long as its body runs: now.
    let shared = unsafe { &*shared };
    if shared.aborted.get() {
        return Err(Aborted);
    }
    let mut output = None;
    {
        // Borrowed, not moved into an async block: futures of requests are kilobytes, and each copy is a copy on the
        // fiber's stack.
        let future = pin!(future);
        let mut operation = Waiting { future, output: &mut output };
        let pointer: *mut (dyn Future<Output = ()> + '_) = &raw mut operation;
        #[expect(clippy::transmute_ptr_to_ptr, reason = "a cast cannot prolong the lifetime")]
        // SAFETY: only the lifetime is erased. The pointer is used while this frame is suspended, and never after:
        // see `Fiber::poll`.
        let pointer =
            unsafe { mem::transmute::<*mut (dyn Future<Output = ()> + '_), Operation>(pointer) };
        let yielder = shared.yielder.get();
        assert!(!yielder.is_null(), "a running body has its yielder");
        let here = pointer.cast::<u8>().addr().saturating_sub(BELOW);
        shared.ahead.set(STACK, here, shared.top.saturating_sub(here));
        // SAFETY: set by the body's first frame, which is still on this stack.
        match unsafe { &*yielder }.suspend(pointer) {
            Resume::Go => {}
            Resume::Abort => return Err(Aborted),
        }
    }
    match output.expect("a fiber is resumed with Go only after its future is ready") {
        Ok(output) => Ok(output),
        Err(payload) => resume_unwind(payload),
    }
}

/// A future, and the place for its output; both belong to the frame that waits.
struct Waiting<'a, F: Future> {
    future: Pin<&'a mut F>,
    output: &'a mut Option<Result<F::Output, Box<dyn Any + Send>>>,
}

impl<F: Future> Future for Waiting<'_, F> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        // Both fields are references, so that nothing in here is pinned by its place.
        let this = self.get_mut();
        // Put down where it belongs at once: outputs are large.
        let poll = || this.future.as_mut().poll(cx).map(|output| *this.output = Some(Ok(output)));
        catch_unwind(AssertUnwindSafe(poll)).unwrap_or_else(|payload| {
            *this.output = Some(Err(payload));
            Poll::Ready(())
        })
    }
}

/// Lets the core's other tasks, timers and sockets have their turn, then goes on.
///
/// # Errors
/// [`Aborted`] as in [`block_on`].
pub fn yield_now() -> Result<(), Aborted> {
    // tokio's own, which waits until timers and sockets were looked at. A task that merely wakes itself comes before
    // them, 61 times over: fibers with slices of 2 ms would keep them waiting for 120 ms.
    crate::core::have_chores_done();
    block_on(tokio::task::yield_now())
}

/// Whether the current fiber was told to stop; `false` off a fiber. This flag, not an exception on its way, is the
/// authority: JavaScript can swallow exceptions.
pub fn is_aborted() -> bool {
    let shared = CURRENT.get();
    // SAFETY: as in `block_on`.
    !shared.is_null() && unsafe { &*shared }.aborted.get()
}

/// Says where lies what the current fiber made and will take up when it goes on: (address, bytes). It is fetched into
/// the cache while the fiber before it still runs. The next call replaces it. Does nothing off a fiber.
pub fn holds(places: [(usize, usize); RANGES - HELD]) {
    let shared = CURRENT.get();
    if !shared.is_null() {
        // SAFETY: as in `block_on`.
        let ahead = unsafe { &(*shared).ahead };
        for (index, (address, bytes)) in places.into_iter().enumerate() {
            ahead.set(HELD + index, address, bytes);
        }
    }
}

/// Whether the caller runs on a fiber, and can therefore [`block_on`].
pub fn on_fiber() -> bool {
    !CURRENT.get().is_null()
}

/// How often the current fiber was resumed; 0 off a fiber. Lets a time slice notice without a clock that it began anew.
pub fn resume_count() -> u64 {
    let shared = CURRENT.get();
    // SAFETY: as in `block_on`.
    if shared.is_null() { 0 } else { unsafe { &*shared }.resumed.get() }
}

/// The current fiber tells itself to stop: from now on every [`block_on`] fails. Does nothing off a fiber.
pub fn abort_current() {
    let shared = CURRENT.get();
    if !shared.is_null() {
        // SAFETY: as in `block_on`.
        unsafe { &*shared }.aborted.set(true);
    }
}

#[cfg(test)]
mod tests;
