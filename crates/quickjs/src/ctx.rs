//! The handle to a virtual machine, and the parts of the machine.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::ffi::c_int;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::{self, NonNull};
use std::rc::Rc;
use std::sync::Arc;

use crate::class::ClassTable;
use crate::error::{Thrown, check};
use crate::heap::{Account, Ledger};
use crate::module::ModuleHost;
use crate::name::AtomCache;
use crate::root::Roots;
use crate::sys;
use crate::value::Value;

/// Where a place of compiled code lies in the author's file: host, file, line, column.
pub type PlaceHook = fn(&dyn Any, &str, u32, u32) -> Option<Place>;

/// The host's answers to the engine. Plain functions, so that a VM carries no closures.
#[derive(Clone, Copy, Default)]
pub struct Hooks {
    /// Polled every ten thousand operations or so: `true` stops the running code with an uncatchable error. It may
    /// suspend the fiber meanwhile.
    pub interrupt: Option<fn(&dyn Any) -> bool>,
    /// A promise was rejected without a handler (`handled` false), or got a handler after all (`handled` true).
    pub rejection:
        Option<for<'js> fn(Ctx<'js>, promise: Value<'js>, reason: Value<'js>, handled: bool)>,
    /// Asked for each frame of a stack that is being written: where in its author's file a place of compiled code lies.
    /// `None` leaves it as it is.
    pub place: Option<PlaceHook>,
    /// Code runs in another scope from now on: see [`Ctx::enter_scope`].
    pub scope: Option<ScopeHook>,
}

/// Told from which scope to which.
pub type ScopeHook = for<'js> fn(Ctx<'js>, from: i32, to: i32);

/// A place in a file, for stacks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The file, if it is another one.
    pub file: Option<String>,
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1.
    pub column: u32,
}

/// The parts of a VM. They never move, because the engine has its address.
pub(crate) struct Inner {
    pub(crate) rt: NonNull<sys::JSRuntime>,
    pub(crate) ctx: NonNull<sys::JSContext>,
    pub(crate) id: u64,
    pub(crate) atoms: AtomCache,
    pub(crate) classes: ClassTable,
    pub(crate) roots: Roots,
    pub(crate) modules: RefCell<Option<Rc<dyn ModuleHost>>>,
    pub(crate) panic: Cell<Option<Box<dyn Any + Send>>>,
    pub(crate) host: Rc<dyn Any>,
    pub(crate) hooks: Hooks,
    /// Lowest and highest address of the stack that was announced last.
    pub(crate) stack: Cell<(usize, usize)>,
    /// The bytes of a buffer are lent out: no JavaScript may run.
    pub(crate) lent: Cell<bool>,
    pub(crate) account: Account,
    /// Known to who keeps memory for the VM.
    pub(crate) ledger: Rc<Ledger>,
    /// No module is between its making and its handing over to the engine.
    pub(crate) settled: Cell<bool>,
    /// How many calls into the engine have not returned. They are on the announced stack.
    pub(crate) entered: Cell<u32>,
    /// The engine is freeing objects and runs a destructor of ours: the VM must not be used.
    pub(crate) freeing: Cell<bool>,
    /// Compiled code that functions of this VM have their texts in.
    pub(crate) held: RefCell<Vec<Arc<[u8]>>>,
}

/// A handle to a VM that is being used; copy it freely.
#[derive(Clone, Copy)]
pub struct Ctx<'js> {
    pub(crate) inner: &'js Inner,
}

impl Inner {
    /// Keeps compiled code until the engine is gone.
    pub(crate) fn hold(&self, code: &Arc<[u8]>) {
        let mut held = self.held.borrow_mut();
        if !held.iter().any(|known| Arc::ptr_eq(known, code)) {
            held.push(Arc::clone(code));
        }
    }

    /// Runs a destructor of a Rust value while the engine frees the object that held it. The value may know its VM, but
    /// the engine is in the middle of something: every use of the VM panics. Neither that panic nor one of the
    /// destructor's own reaches C.
    ///
    /// # Safety
    /// `rt` was made by [`Vm::new`](crate::Vm::new).
    pub(crate) unsafe fn freeing(rt: *mut sys::JSRuntime, destroy: impl FnOnce()) {
        // SAFETY: as promised by the caller; `Inner` outlives the runtime.
        let inner = unsafe { &*sys::JS_GetRuntimeOpaque(rt).cast::<Inner>() };
        let outer = inner.freeing.replace(true);
        let _ = catch_unwind(AssertUnwindSafe(destroy));
        inner.freeing.set(outer);
    }
}

/// A call into the engine that has not returned.
pub(crate) struct Entered<'js>(&'js Cell<u32>);

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        self.0.set(self.0.get() - 1);
    }
}

impl<'js> Ctx<'js> {
    /// The handle inside a callback of the engine.
    ///
    /// # Safety
    /// `ctx` belongs to a runtime made by [`Vm::new`](crate::Vm::new), and the returned handle is not used beyond the callback.
    pub(crate) unsafe fn from_raw(ctx: *mut sys::JSContext) -> Self {
        // SAFETY: the opaque pointer of such a runtime is its boxed `Inner`, which lives as long as the runtime.
        let inner = unsafe { &*sys::JS_GetRuntimeOpaque(sys::JS_GetRuntime(ctx)).cast::<Inner>() };
        Self { inner }
    }

    pub(crate) fn raw(self) -> *mut sys::JSContext {
        self.inner.ctx.as_ptr()
    }

    /// The host that the VM was made with, if it is a `T`.
    pub fn host<T: 'static>(self) -> Option<&'js T> {
        self.inner.host.downcast_ref::<T>()
    }

    /// The panic of a native function, if one ended the last entry.
    pub fn take_panic(self) -> Option<Box<dyn Any + Send>> {
        self.inner.panic.take()
    }

    /// Runs one pending promise job. `Ok(false)` if there was none.
    ///
    /// # Errors
    /// [`Thrown`] if the job threw, which promise jobs do only for uncatchable errors.
    pub fn run_job(self) -> Result<bool, Thrown> {
        let _inside = self.enter();
        let mut ctx = ptr::null_mut();
        // SAFETY: the runtime is alive and entered from its announced stack.
        match unsafe { sys::JS_ExecutePendingJob(self.inner.rt.as_ptr(), &raw mut ctx) } {
            0 => Ok(false),
            done if done > 0 => Ok(true),
            _ => Err(Thrown(())),
        }
    }

    /// Forgets the promise jobs that wait: jobs of a stopped script must not run in the next one.
    pub fn drop_jobs(self) {
        // SAFETY: the runtime is alive. A job that is running is no longer in the list.
        unsafe { sys::brunt_drop_jobs(self.inner.rt.as_ptr()) };
    }

    /// From now on keeps the shapes of small objects that are gone, for the next ones like them: for code that runs again
    /// and again.
    pub fn keep_shapes(self) {
        // SAFETY: the runtime is alive.
        unsafe { sys::brunt_keep_shapes(self.inner.rt.as_ptr()) };
    }

    /// Makes sure that the classes of a group of globals are there, before native code makes objects of them.
    pub(crate) fn need(self, group: c_int) -> Result<(), Thrown> {
        // SAFETY: the context is alive; making a group runs no script.
        check(unsafe { sys::brunt_need(self.raw(), group) })
    }

    /// Whether a promise job waits.
    pub fn has_jobs(self) -> bool {
        // SAFETY: the runtime is alive.
        unsafe { sys::JS_IsJobPending(self.inner.rt.as_ptr()) }
    }

    /// JavaScript is about to run: it must be on the announced stack, or the engine's frames of two stacks would mix.
    /// Until the guard is dropped the VM stays on that stack.
    pub(crate) fn enter(self) -> Entered<'js> {
        let here = 0u8;
        let address = ptr::from_ref(&here) as usize;
        let (low, high) = self.inner.stack.get();
        assert!(
            (low..high).contains(&address),
            "a VM is entered from the stack that was announced with Vm::on_this_stack"
        );
        assert!(!self.inner.lent.get(), "no JavaScript runs while a buffer's bytes are lent out");
        let entered = &self.inner.entered;
        entered.set(entered.get() + 1);
        Entered(entered)
    }
}

impl Ctx<'_> {
    /// The scope in which code runs: 0 unless somebody entered another.
    pub fn scope(self) -> i32 {
        // SAFETY: the context is alive.
        unsafe { sys::brunt_scope(self.raw()) }
    }

    /// Code runs in this scope from now on. An async function that is called in it is in it again after each `await`.
    /// [`Hooks::scope`] is told of every change.
    pub fn enter_scope(self, scope: i32) {
        // SAFETY: the context is alive.
        unsafe { sys::brunt_enter_scope(self.raw(), scope) }
    }
}

impl std::fmt::Debug for Ctx<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ctx").field("vm", &self.inner.id).finish()
    }
}
