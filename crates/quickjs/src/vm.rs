//! One virtual machine: runtime and context.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::collections::hash_map::RandomState;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::hash::BuildHasher;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::{self, NonNull};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::class::ClassTable;
use crate::heap::{self, Account};
use crate::module::{self, ModuleHost};
use crate::name::AtomCache;
use crate::root::Roots;
use crate::sys;
use crate::value::Value;

/// Stack below the JavaScript limit that native functions, libc and the engine's own leaves may use.
const NATIVE_RESERVE: usize = 96 * 1024;

/// Bytes of a stack that count as shallow.
pub const SHALLOW: usize = sys::SHALLOW;

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

/// Bytes that a VM holds.
#[derive(Debug, Clone, Copy)]
pub struct MemoryUse {
    /// Taken from the system's allocator.
    pub allocated: u64,
    /// Of it in use by objects, strings, functions.
    pub used: u64,
}

/// A JavaScript runtime with one context.
pub struct Vm {
    /// Made of a box, and made a box again by `Drop`. A pointer, because the engine's callbacks look at it too: a box
    /// that is moved may claim to be alone.
    inner: NonNull<Inner>,
}

pub(crate) struct Inner {
    pub(crate) rt: NonNull<sys::JSRuntime>,
    pub(crate) ctx: NonNull<sys::JSContext>,
    pub(crate) id: u64,
    pub(crate) atoms: AtomCache,
    pub(crate) classes: ClassTable,
    pub(crate) roots: Roots,
    pub(crate) modules: RefCell<Option<Rc<dyn ModuleHost>>>,
    pub(crate) panic: Cell<Option<Box<dyn Any + Send>>>,
    host: Rc<dyn Any>,
    hooks: Hooks,
    /// Lowest and highest address of the stack that was announced last.
    stack: Cell<(usize, usize)>,
    /// The bytes of a buffer are lent out: no JavaScript may run.
    pub(crate) lent: Cell<bool>,
    pub(crate) account: Account,
    /// No module is between its making and its handing over to the engine.
    pub(crate) settled: Cell<bool>,
    /// How many calls into the engine have not returned. They stand on the announced stack.
    entered: Cell<u32>,
    /// The engine is freeing objects and runs a destructor of ours: the VM must not be used.
    pub(crate) freeing: Cell<bool>,
    /// Compiled code that functions of this VM have their texts in.
    held: RefCell<Vec<Arc<[u8]>>>,
}

/// A handle to a VM that is being used; copy it freely.
#[derive(Clone, Copy)]
pub struct Ctx<'js> {
    pub(crate) inner: &'js Inner,
}

static NEXT_ID: AtomicU64 = AtomicU64::new(1);

/// Another number each time, from the operating system's randomness. The engine itself begins at the microsecond of the
/// clock, which VMs of two threads may share.
fn fresh_seed() -> u64 {
    RandomState::new().hash_one(NEXT_ID.load(Ordering::Relaxed))
}

impl Vm {
    /// A new VM on the current stack, of which it may use `stack` bytes.
    ///
    /// `host` is what native functions find through [`Ctx::host`].
    ///
    /// # Panics
    /// If there is no memory for an empty VM.
    pub fn new(host: Rc<dyn Any>, hooks: Hooks, stack: usize) -> Self {
        // SAFETY: creating a runtime has no preconditions.
        let rt =
            NonNull::new(unsafe { sys::JS_NewRuntime() }).expect("memory for a JavaScript runtime");
        // SAFETY: the runtime is alive and belongs to this thread.
        let ctx = NonNull::new(unsafe { sys::JS_NewContextRaw(rt.as_ptr()) })
            .expect("memory for a JavaScript context");
        let id = NEXT_ID.fetch_add(1, Ordering::Relaxed);
        let inner = Box::new(Inner {
            rt,
            ctx,
            id,
            atoms: AtomCache::default(),
            classes: ClassTable::default(),
            roots: Roots::default(),
            modules: RefCell::new(None),
            panic: Cell::new(None),
            host,
            hooks,
            stack: Cell::new((0, 0)),
            lent: Cell::new(false),
            account: Account::default(),
            settled: Cell::new(true),
            entered: Cell::new(0),
            freeing: Cell::new(false),
            held: RefCell::default(),
        });
        let inner = NonNull::from(Box::leak(inner));
        let opaque = inner.as_ptr().cast::<c_void>();
        // SAFETY: `Inner` keeps its address and outlives the runtime, which `Vm::drop` frees first. The callbacks are
        // only called by this runtime, with this opaque pointer.
        unsafe {
            sys::JS_SetRuntimeOpaque(rt.as_ptr(), opaque);
            sys::brunt_set_place(on_place);
            sys::brunt_set_more(heap::on_more);
            sys::brunt_set_scope_hook(on_scope);
            sys::JS_SetInterruptHandler(rt.as_ptr(), Some(on_interrupt), opaque);
            if hooks.rejection.is_some() {
                sys::JS_SetHostPromiseRejectionTracker(rt.as_ptr(), Some(on_rejection), opaque);
            }
            sys::JS_SetModuleLoaderFunc(
                rt.as_ptr(),
                Some(module::normalize),
                Some(module::load),
                opaque,
            );
            sys::brunt_seed_random(ctx.as_ptr(), fresh_seed());
        }
        let vm = Self { inner };
        vm.on_this_stack(stack);
        vm.add_globals();
        vm.limit_memory_as_all();
        vm
    }

    /// The globals of the language. Groups of them that many scripts do without are made at their first use.
    fn add_globals(&self) {
        const ON_DEMAND: [c_int; 6] = [
            sys::GROUP_DATE,
            sys::GROUP_MAP_SET,
            sys::GROUP_TYPED_ARRAYS,
            sys::GROUP_PROXY,
            sys::GROUP_WEAK_REF,
            sys::GROUP_DOM_EXCEPTION,
        ];
        let ctx = self.inner().ctx.as_ptr();
        // SAFETY: a fresh raw context takes each group once, base objects first, as `JS_NewContext` does.
        let failed = unsafe {
            let mut failed = sys::JS_AddIntrinsicBaseObjects(ctx)
                | sys::JS_AddIntrinsicEval(ctx)
                | sys::JS_AddIntrinsicRegExp(ctx)
                | sys::JS_AddIntrinsicJSON(ctx)
                | sys::JS_AddIntrinsicPromise(ctx);
            for group in ON_DEMAND {
                failed |= sys::brunt_announce(ctx, group);
            }
            failed | sys::JS_AddIntrinsicAToB(ctx)
        };
        assert!(failed == 0, "memory for the JavaScript globals");
        self.drop_trace_makers();
    }

    /// k6 does not have these. Libraries look for `captureStackTrace`, and make other traces without it.
    fn drop_trace_makers(&self) {
        let ctx = self.ctx();
        let dropped = ctx.global().get("Error").and_then(|error| {
            ["captureStackTrace", "stackTraceLimit", "prepareStackTrace"]
                .into_iter()
                .try_for_each(|name| error.delete(name))
        });
        assert!(dropped.is_ok(), "Error has these members, and they can be deleted");
    }

    /// Where the VM keeps what nearly every operation needs, as numbers: (address, bytes), for fetching it into the
    /// cache. Memory that the engine keeps is noted by itself.
    pub fn place(&self) -> (usize, usize) {
        (std::ptr::from_ref(self.inner()).addr(), size_of::<Inner>())
    }

    /// The VM's own part. Every public method comes through here or through [`Vm::ctx`].
    ///
    /// # Panics
    /// In the destructor of a value that the engine is freeing.
    fn inner(&self) -> &Inner {
        // SAFETY: made by `Vm::new`, freed by `Vm::drop`; only ever shared in between.
        let inner = unsafe { self.inner.as_ref() };
        assert!(!inner.freeing.get(), "a destructor cannot use the VM that is freeing its value");
        inner
    }

    /// The handle to work with.
    ///
    /// # Panics
    /// In the destructor of a value that the engine is freeing; so for all methods of the VM.
    pub fn ctx(&self) -> Ctx<'_> {
        Ctx { inner: self.inner() }
    }

    /// Announces that the VM is entered from the current stack, of which `usable` bytes lie below the caller. Beyond
    /// them (less a reserve for native code) recursion is a `RangeError`.
    ///
    /// Must be called before the first entry, and again whenever the stack changes: on a new fiber, or back on the
    /// thread's own stack.
    ///
    /// # Panics
    /// If JavaScript is running or suspended: its frames lie on the stack that was announced before.
    pub fn on_this_stack(&self, usable: usize) {
        let inner = self.inner();
        assert!(inner.entered.get() == 0, "a VM that is suspended stays on its stack");
        let here = 0u8;
        let top = ptr::from_ref(&here) as usize;
        inner.stack.set((top.saturating_sub(usable), top + 16 * 1024));
        // SAFETY: the runtime is alive and does not run: no entry has not returned, as just checked.
        unsafe {
            sys::JS_UpdateStackTop(inner.rt.as_ptr());
            let limit = usable.saturating_sub(NATIVE_RESERVE).max(32 * 1024);
            sys::JS_SetMaxStackSize(inner.rt.as_ptr(), limit);
        }
    }

    /// Whether more than [`SHALLOW`] bytes of the stack were used since it was announced.
    pub fn was_deep(&self) -> bool {
        // SAFETY: the runtime is alive.
        unsafe { sys::brunt_was_deep(self.inner().rt.as_ptr()) != 0 }
    }

    /// Runs the cycle collector.
    pub fn collect(&self) {
        // SAFETY: the runtime is alive; finalizers of classes run, which touch no JavaScript.
        unsafe { sys::JS_RunGC(self.inner().rt.as_ptr()) };
    }

    /// The heap size at which the cycle collector runs next; it moves with the heap afterwards.
    pub fn collect_beyond(&self, bytes: usize) {
        // SAFETY: the runtime is alive.
        unsafe { sys::JS_SetGCThreshold(self.inner().rt.as_ptr(), bytes) };
    }

    /// How much the heap holds. Walks it: not for the hot path.
    pub fn memory(&self) -> MemoryUse {
        let mut usage = sys::JSMemoryUsage::default();
        // SAFETY: `usage` has the layout of the C struct and is written in full.
        unsafe { sys::JS_ComputeMemoryUsage(self.inner().rt.as_ptr(), &raw mut usage) };
        MemoryUse {
            allocated: u64::try_from(usage.malloc_size).unwrap_or(0),
            used: u64::try_from(usage.memory_used_size).unwrap_or(0),
        }
    }

    /// Who resolves and loads modules.
    pub fn set_modules(&self, modules: Rc<dyn ModuleHost>) {
        *self.inner().modules.borrow_mut() = Some(modules);
    }
}

impl Drop for Vm {
    fn drop(&mut self) {
        {
            let inner = self.inner();
            let (rt, ctx) = (inner.rt.as_ptr(), inner.ctx.as_ptr());
            // The engine's frees run on whatever stack drops the VM.
            // SAFETY: the runtime is alive and nothing of it runs: no `Ctx` can be left, it would borrow the VM.
            unsafe { sys::JS_UpdateStackTop(rt) };
            inner.roots.clear(inner.ctx);
            inner.classes.clear(inner.ctx);
            inner.atoms.clear(inner.ctx);
            // SAFETY: values are gone (they borrow the VM), roots and atoms were just freed, so the context and then
            // the runtime can be. Debug builds of the engine assert that nothing leaked.
            unsafe {
                sys::JS_FreeContext(ctx);
                sys::JS_FreeRuntime(rt);
            }
        }
        // SAFETY: the box that `Vm::new` leaked; the engine, which had the only other pointer to it, is gone.
        drop(unsafe { Box::from_raw(self.inner.as_ptr()) });
    }
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
    /// `rt` was made by [`Vm::new`].
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
    /// `ctx` belongs to a runtime made by [`Vm::new`], and the returned handle is not used beyond the callback.
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
    /// [`crate::Thrown`] if the job threw, which promise jobs do only for uncatchable errors.
    pub fn run_job(self) -> Result<bool, crate::Thrown> {
        let _inside = self.enter();
        let mut ctx = ptr::null_mut();
        // SAFETY: the runtime is alive and entered from its announced stack.
        match unsafe { sys::JS_ExecutePendingJob(self.inner.rt.as_ptr(), &raw mut ctx) } {
            0 => Ok(false),
            done if done > 0 => Ok(true),
            _ => Err(crate::Thrown(())),
        }
    }

    /// Forgets the promise jobs that wait: those of a script that was stopped must not run in the next one.
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
    pub(crate) fn need(self, group: c_int) -> Result<(), crate::Thrown> {
        // SAFETY: the context is alive; making a group runs no script.
        crate::object::check(unsafe { sys::brunt_need(self.raw(), group) })
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

unsafe extern "C" fn on_interrupt(_: *mut sys::JSRuntime, opaque: *mut c_void) -> c_int {
    // SAFETY: the opaque pointer is the VM's `Inner` (see `Vm::new`).
    let inner = unsafe { &*opaque.cast::<Inner>() };
    if inner.is_over_limit() {
        return 1;
    }
    inner.settle_memory();
    let Some(interrupt) = inner.hooks.interrupt else {
        return 0;
    };
    match catch_unwind(AssertUnwindSafe(|| interrupt(&*inner.host))) {
        Ok(stop) => c_int::from(stop),
        Err(payload) => {
            inner.panic.set(Some(payload));
            1
        }
    }
}

/// The text of the file that the last answer of [`on_place`] named.
fn keep_file(file: String) -> *const c_char {
    thread_local! {
        static FILE: RefCell<CString> = RefCell::default();
    }
    FILE.with(|kept| {
        let mut kept = kept.borrow_mut();
        *kept = CString::new(file).unwrap_or_default();
        kept.as_ptr()
    })
}

/// Moves line and column to the author's place. Returns the author's file if it is another one, else null.
unsafe extern "C" fn on_place(
    rt: *mut sys::JSRuntime,
    file: *const c_char,
    line: *mut c_int,
    column: *mut c_int,
) -> *const c_char {
    // SAFETY: the runtime was made by `Vm::new`, whose boxed `Inner` its opaque pointer is; the engine lends the
    // others for the time of the call. Lines and columns are never negative here.
    let (inner, file, line, column) = unsafe {
        let inner = &*sys::JS_GetRuntimeOpaque(rt).cast::<Inner>();
        (inner, CStr::from_ptr(file).to_str(), &mut *line, &mut *column)
    };
    let (Some(place), Ok(file)) = (inner.hooks.place, file) else {
        return ptr::null();
    };
    let (row, col) = (line.unsigned_abs(), column.unsigned_abs());
    let Ok(Some(place)) = catch_unwind(AssertUnwindSafe(|| place(&*inner.host, file, row, col)))
    else {
        return ptr::null();
    };
    *line = c_int::try_from(place.line).unwrap_or(c_int::MAX);
    *column = c_int::try_from(place.column).unwrap_or(c_int::MAX);
    place.file.map_or(ptr::null(), keep_file)
}

unsafe extern "C" fn on_scope(ctx: *mut sys::JSContext, from: c_int, to: c_int) {
    // SAFETY: `ctx` is the context of a VM that `Vm::new` made, whose boxed `Inner` is its runtime's opaque pointer.
    let (inner, ctx) = unsafe {
        let rt = sys::JS_GetRuntime(ctx);
        (&*sys::JS_GetRuntimeOpaque(rt).cast::<Inner>(), Ctx::from_raw(ctx))
    };
    let Some(scope) = inner.hooks.scope else { return };
    if let Err(payload) = catch_unwind(AssertUnwindSafe(|| scope(ctx, from, to))) {
        inner.panic.set(Some(payload));
    }
}

unsafe extern "C" fn on_rejection(
    ctx: *mut sys::JSContext,
    promise: sys::JSValue,
    reason: sys::JSValue,
    handled: bool,
    opaque: *mut c_void,
) {
    // SAFETY: the opaque pointer is the VM's `Inner` (see `Vm::new`).
    let inner = unsafe { &*opaque.cast::<Inner>() };
    let Some(rejection) = inner.hooks.rejection else {
        return;
    };
    // SAFETY: `ctx` is this VM's context; both values are borrowed from the engine and duplicated here.
    let (ctx, promise, reason) = unsafe {
        let ctx = Ctx::from_raw(ctx);
        (ctx, Value::borrowed(ctx, promise), Value::borrowed(ctx, reason))
    };
    if let Err(payload) =
        catch_unwind(AssertUnwindSafe(|| rejection(ctx, promise, reason, handled)))
    {
        inner.panic.set(Some(payload));
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

impl std::fmt::Debug for Vm {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Vm").field("id", &self.inner().id).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Ctx<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ctx").field("vm", &self.inner.id).finish()
    }
}

#[cfg(test)]
mod tests;
