//! One virtual machine: runtime and context.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::collections::hash_map::RandomState;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::hash::BuildHasher;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::{self, NonNull};
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::class::ClassTable;
use crate::ctx::{Ctx, Hooks, Inner};
use crate::heap::{self, Account, Ledger};
use crate::module::{self, ModuleHost};
use crate::name::AtomCache;
use crate::root::Roots;
use crate::sys;
use crate::value::Value;

/// Stack below the JavaScript limit that native functions, libc and the engine's own leaves may use.
const NATIVE_RESERVE: usize = 96 * 1024;

/// Bytes of a stack that count as shallow.
pub const SHALLOW: usize = sys::SHALLOW;

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
            ledger: Ledger::new(rt.as_ptr()),
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

    /// Sets the host that resolves and loads modules.
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
            inner.ledger.close();
        }
        // SAFETY: the box that `Vm::new` leaked; the engine, which had the only other pointer to it, is gone.
        drop(unsafe { Box::from_raw(self.inner.as_ptr()) });
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

impl std::fmt::Debug for Vm {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Vm").field("id", &self.inner().id).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
