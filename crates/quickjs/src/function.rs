//! Native functions and lists of them.

use std::cell::Cell;
use std::ffi::{CStr, c_int, c_void};
use std::mem::size_of;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;
use std::slice;

use crate::ctx::{Ctx, Inner};
use crate::error::{JsResult, Thrown, check};
use crate::sys;
use crate::value::Value;

/// A call of a native function: its arguments and its `this`.
#[derive(Clone, Copy)]
pub struct Call<'js> {
    ctx: Ctx<'js>,
    this: sys::JSValue,
    arguments: &'js [sys::JSValue],
}

impl<'js> Call<'js> {
    /// The VM.
    pub fn ctx(&self) -> Ctx<'js> {
        self.ctx
    }

    /// `this`; in a constructor `new.target`, or `undefined` when called without `new`.
    pub fn this(&self) -> Value<'js> {
        // SAFETY: the engine lends `this` for the time of the call.
        unsafe { Value::borrowed(self.ctx, self.this) }
    }

    /// How many arguments were given.
    pub fn len(&self) -> usize {
        self.arguments.len()
    }

    /// Whether none was given.
    pub fn is_empty(&self) -> bool {
        self.arguments.is_empty()
    }

    /// An argument; `undefined` if it was not given.
    pub fn argument(&self, index: usize) -> Value<'js> {
        match self.arguments.get(index) {
            // SAFETY: the engine lends the arguments for the time of the call.
            Some(&raw) => unsafe { Value::borrowed(self.ctx, raw) },
            None => self.ctx.undefined(),
        }
    }

    /// The arguments from `index` on.
    pub fn arguments_from(&self, index: usize) -> Vec<Value<'js>> {
        (index..self.arguments.len()).map(|index| self.argument(index)).collect()
    }
}

impl std::fmt::Debug for Call<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Call").field("arguments", &self.arguments.len()).finish_non_exhaustive()
    }
}

/// A native function without state: a function item, or a closure that captures nothing.
///
/// `Send` and `Sync`, because the function is conjured up again wherever it is called.
pub trait Native: for<'js> Fn(Call<'js>) -> JsResult<'js> + Copy + Send + Sync + 'static {}
impl<F> Native for F where F: for<'js> Fn(Call<'js>) -> JsResult<'js> + Copy + Send + Sync + 'static {}

/// As [`Native`], for the method `next` of an iterator: `None` when there is no more.
pub trait NativeNext:
    for<'js> Fn(Call<'js>) -> JsResult<'js, Option<Value<'js>>> + Copy + Send + Sync + 'static
{
}
impl<F> NativeNext for F where
    F: for<'js> Fn(Call<'js>) -> JsResult<'js, Option<Value<'js>>> + Copy + Send + Sync + 'static
{
}

/// Names with functions, accessors and constants, made once per process; VMs create the function objects when a
/// script first asks for them.
#[derive(Default)]
pub struct Members(Vec<sys::JSCFunctionListEntry>);

// SAFETY: the entries hold pointers to static strings and to functions, which any thread may read.
unsafe impl Send for Members {}
// SAFETY: as above; nothing in it changes after it was built.
unsafe impl Sync for Members {}

impl std::fmt::Debug for Members {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Members({})", self.0.len())
    }
}

impl Members {
    /// None yet.
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    fn push(mut self, name: &'static CStr, flags: c_int, def_type: u8, u: sys::DefUnion) -> Self {
        let prop_flags = u8::try_from(flags).expect("property flags fit a byte");
        self.0.push(sys::JSCFunctionListEntry {
            name: name.as_ptr(),
            prop_flags,
            def_type,
            magic: 0,
            u,
        });
        self
    }

    /// A function; enumeration shows it, and scripts may replace it.
    #[must_use]
    pub fn function<F: Native>(self, name: &'static CStr, length: u8, function: F) -> Self {
        let func = sys::FuncDef { length, cproto: sys::CFUNC_GENERIC, cfunc: trampoline(function) };
        self.push(name, sys::PROP_C_W_E, sys::DEF_CFUNC, sys::DefUnion { func })
    }

    /// A method of a prototype: enumeration does not show it.
    #[must_use]
    pub fn method<F: Native>(self, name: &'static CStr, length: u8, function: F) -> Self {
        let func = sys::FuncDef { length, cproto: sys::CFUNC_GENERIC, cfunc: trampoline(function) };
        self.push(
            name,
            sys::PROP_CONFIGURABLE | sys::PROP_WRITABLE,
            sys::DEF_CFUNC,
            sys::DefUnion { func },
        )
    }

    /// The method `next` of an iterator. A `for … of` loop takes its values as they are; whoever calls it in another way gets them in
    /// the objects `{value, done}` that the language wants.
    #[must_use]
    pub fn next<F: NativeNext>(self, function: F) -> Self {
        let cproto = sys::CFUNC_ITERATOR_NEXT;
        let next = next_trampoline(function);
        // SAFETY: both are pointers to functions. The engine calls this one by `cproto`, which says its type.
        let cfunc = unsafe { std::mem::transmute::<sys::JSIteratorNext, sys::JSCFunction>(next) };
        let func = sys::FuncDef { length: 0, cproto, cfunc };
        let flags = sys::PROP_CONFIGURABLE | sys::PROP_WRITABLE;
        self.push(c"next", flags, sys::DEF_CFUNC, sys::DefUnion { func })
    }

    /// A property that is computed when it is read.
    #[must_use]
    pub fn getter<F: Native>(self, name: &'static CStr, getter: F) -> Self {
        let getset = sys::GetSetDef { get: Some(getter_trampoline(getter)), set: None };
        let flags = sys::PROP_CONFIGURABLE | sys::PROP_ENUMERABLE;
        self.push(name, flags, sys::DEF_CGETSET, sys::DefUnion { getset })
    }

    /// A property that is computed when it is read, and that scripts can neither replace nor delete.
    #[must_use]
    pub fn fixed_getter<F: Native>(self, name: &'static CStr, getter: F) -> Self {
        let getset = sys::GetSetDef { get: Some(getter_trampoline(getter)), set: None };
        self.push(name, sys::PROP_ENUMERABLE, sys::DEF_CGETSET, sys::DefUnion { getset })
    }

    /// A function that enumeration shows and that scripts can neither replace nor delete.
    #[must_use]
    pub fn fixed_function<F: Native>(self, name: &'static CStr, length: u8, function: F) -> Self {
        let func = sys::FuncDef { length, cproto: sys::CFUNC_GENERIC, cfunc: trampoline(function) };
        self.push(name, sys::PROP_ENUMERABLE, sys::DEF_CFUNC, sys::DefUnion { func })
    }

    /// A property that is computed when it is read and handled when it is written.
    #[must_use]
    pub fn accessor<G: Native, S: Native>(self, name: &'static CStr, getter: G, setter: S) -> Self {
        let getset = sys::GetSetDef {
            get: Some(getter_trampoline(getter)),
            set: Some(setter_trampoline(setter)),
        };
        let flags = sys::PROP_CONFIGURABLE | sys::PROP_ENUMERABLE;
        self.push(name, flags, sys::DEF_CGETSET, sys::DefUnion { getset })
    }

    /// A constant string.
    #[must_use]
    pub fn string(self, name: &'static CStr, value: &'static CStr) -> Self {
        self.push(
            name,
            sys::PROP_C_W_E,
            sys::DEF_PROP_STRING,
            sys::DefUnion { str: value.as_ptr() },
        )
    }

    /// The same function as the member `of`, which comes before it; enumeration does not show it.
    #[must_use]
    pub fn alias(self, name: &'static CStr, of: &'static CStr) -> Self {
        let alias = sys::AliasDef { name: of.as_ptr(), base: -1 };
        let flags = sys::PROP_CONFIGURABLE | sys::PROP_WRITABLE;
        self.push(name, flags, sys::DEF_ALIAS, sys::DefUnion { alias })
    }

    /// The name of the objects with these members in `Object.prototype.toString`.
    #[must_use]
    pub fn tag(self, tag: &'static CStr) -> Self {
        let text = sys::DefUnion { str: tag.as_ptr() };
        self.push(c"[Symbol.toStringTag]", sys::PROP_CONFIGURABLE, sys::DEF_PROP_STRING, text)
    }

    /// A constant integer.
    #[must_use]
    pub fn int(self, name: &'static CStr, value: i32) -> Self {
        self.push(name, sys::PROP_C_W_E, sys::DEF_PROP_INT32, sys::DefUnion { i32: value })
    }

    /// The names, in order.
    pub fn names(&self) -> impl Iterator<Item = &'static CStr> {
        // SAFETY: every name came in as a `&'static CStr`.
        self.0.iter().map(|entry| unsafe { CStr::from_ptr(entry.name) })
    }
}

impl Value<'_> {
    /// Gives the object these members.
    ///
    /// # Errors
    /// If there is no memory.
    pub fn define_members(&self, members: &'static Members) -> Result<(), Thrown> {
        let count = c_int::try_from(members.0.len()).expect("a list of members");
        let ctx = self.ctx();
        // SAFETY: the object is alive and of this context; the list is static, as the engine asks of it.
        check(unsafe {
            sys::JS_SetPropertyFunctionList(ctx.raw(), self.raw, members.0.as_ptr(), count)
        })
    }
}

/// A call that runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Running(usize);

impl<'js> Ctx<'js> {
    /// A function object.
    ///
    /// # Errors
    /// If there is no memory.
    pub fn function<F: Native>(self, name: &CStr, length: u8, function: F) -> JsResult<'js> {
        let raw = trampoline(function);
        let kind = c_int::from(sys::CFUNC_GENERIC);
        // SAFETY: the trampoline has the signature of generic functions; the name lives through the call.
        unsafe {
            let made =
                sys::JS_NewCFunction2(self.raw(), raw, name.as_ptr(), c_int::from(length), kind, 0);
            Value::returned(self, made)
        }
    }

    /// A function object that also works with `new`; `prototype` becomes that of its instances.
    ///
    /// # Errors
    /// If there is no memory.
    pub fn constructor<F: Native>(
        self,
        name: &CStr,
        length: u8,
        function: F,
        prototype: &Value<'js>,
    ) -> JsResult<'js> {
        let raw = trampoline(function);
        let kind = c_int::from(sys::CFUNC_CONSTRUCTOR_OR_FUNC);
        // SAFETY: as in `function`; constructor and prototype are alive and of this context.
        unsafe {
            let made =
                sys::JS_NewCFunction2(self.raw(), raw, name.as_ptr(), c_int::from(length), kind, 0);
            let made = Value::returned(self, made)?;
            check(sys::JS_SetConstructor(self.raw(), made.raw, prototype.raw_for(self)))?;
            Ok(made)
        }
    }

    /// Which call runs, for [`Ctx::returns_to`].
    pub fn running(self) -> Running {
        // SAFETY: the context is alive.
        Running(unsafe { sys::brunt_frame(self.raw()) })
    }

    /// Inside of a native function: whether what it returns goes, as it is, to the call `running`: that called a function
    /// of a script, and that says `return native(...)`. Then no script sees the result.
    pub fn returns_to(self, running: Running) -> bool {
        // SAFETY: the context is alive; the number is compared, never followed.
        unsafe { sys::brunt_returns_to(self.raw(), running.0) != 0 }
    }

    /// A function object with state of its own, dropped with the function. The state must hold no [`Value`]s; it
    /// cannot, as they are not `'static`.
    ///
    /// # Errors
    /// If there is no memory.
    pub fn closure<F>(self, name: &CStr, length: u8, function: F) -> JsResult<'js>
    where
        F: for<'a> Fn(Call<'a>) -> JsResult<'a> + 'static,
    {
        unsafe extern "C" fn call<F>(
            ctx: *mut sys::JSContext,
            this: sys::JSValue,
            argc: c_int,
            argv: *mut sys::JSValue,
            _magic: c_int,
            opaque: *mut c_void,
        ) -> sys::JSValue
        where
            F: for<'a> Fn(Call<'a>) -> JsResult<'a> + 'static,
        {
            // SAFETY: `opaque` is the box made below, alive as long as its function object, which is being called.
            // A function that is called is kept alive by the engine's frame.
            let function = unsafe { &(*opaque.cast::<Closure<F>>()).function };
            // SAFETY: the engine calls with its own context and `argc` arguments at `argv`.
            unsafe { enter(ctx, this, argc, argv, function) }
        }
        unsafe extern "C" fn finalize<F>(opaque: *mut c_void) {
            // SAFETY: the box made below, given back once, while its runtime is alive.
            unsafe {
                let closure = Box::from_raw(opaque.cast::<Closure<F>>());
                Inner::freeing(closure.rt, || drop(closure));
            }
        }
        struct Closure<F> {
            function: F,
            rt: *mut sys::JSRuntime,
        }
        let closure = Box::new(Closure { function, rt: self.inner.rt.as_ptr() });
        let opaque = Box::into_raw(closure).cast::<c_void>();
        // SAFETY: the callbacks match the closure's type; the box is freed by the finalizer.
        unsafe {
            let made = sys::JS_NewCClosure(
                self.raw(),
                call::<F>,
                name.as_ptr(),
                Some(finalize::<F>),
                c_int::from(length),
                0,
                opaque,
            );
            Value::returned(self, made)
        }
    }
}

/// Runs a native function for the engine: no panic crosses into C.
///
/// # Safety
/// `ctx` belongs to a [`crate::Vm`]; `this` and `argc` values at `argv` are lent for the time of the call.
unsafe fn enter(
    ctx: *mut sys::JSContext,
    this: sys::JSValue,
    argc: c_int,
    argv: *mut sys::JSValue,
    function: &impl for<'a> Fn(Call<'a>) -> JsResult<'a>,
) -> sys::JSValue {
    let count = usize::try_from(argc).unwrap_or(0);
    // SAFETY: as promised by the caller; an empty list may come with a null pointer.
    let (ctx, arguments) = unsafe {
        let arguments: &[sys::JSValue] =
            if count == 0 { &[] } else { slice::from_raw_parts(argv, count) };
        (Ctx::from_raw(ctx), arguments)
    };
    let call = Call { ctx, this, arguments };
    match catch_unwind(AssertUnwindSafe(|| function(call))) {
        Ok(Ok(value)) if value.ctx().inner.id == ctx.inner.id => value.into_raw(),
        Ok(Ok(_)) => {
            let _ = ctx.throw_uncatchable("a native function returned a value of another VM");
            sys::EXCEPTION
        }
        Ok(Err(Thrown(()))) => sys::EXCEPTION,
        Err(payload) => {
            ctx.inner.panic.set(Some(payload));
            let _ = ctx.throw_uncatchable("a native function panicked");
            sys::EXCEPTION
        }
    }
}

/// The function itself: it captures nothing, so it needs no memory to exist in.
fn conjure<F: Copy>() -> F {
    const { assert!(size_of::<F>() == 0, "a native function captures nothing") };
    // SAFETY: `F` has size 0 and is `Copy`, so reading one from a dangling, aligned pointer is reading nothing; a value
    // of it existed when the trampoline was made.
    unsafe { NonNull::<F>::dangling().read() }
}

pub(crate) fn trampoline<F: Native>(_: F) -> sys::JSCFunction {
    unsafe extern "C" fn call<F: Native>(
        ctx: *mut sys::JSContext,
        this: sys::JSValue,
        argc: c_int,
        argv: *mut sys::JSValue,
    ) -> sys::JSValue {
        // SAFETY: the engine calls with its own context and `argc` arguments at `argv`.
        unsafe { enter(ctx, this, argc, argv, &conjure::<F>()) }
    }
    call::<F>
}

/// Tells the compiler the type of a closure.
fn native<F: for<'a> Fn(Call<'a>) -> JsResult<'a>>(function: F) -> F {
    function
}

fn next_trampoline<F: NativeNext>(_: F) -> sys::JSIteratorNext {
    unsafe extern "C" fn call<F: NativeNext>(
        ctx: *mut sys::JSContext,
        this: sys::JSValue,
        argc: c_int,
        argv: *mut sys::JSValue,
        done: *mut c_int,
        _magic: c_int,
    ) -> sys::JSValue {
        let is_over = Cell::new(false);
        let next = native(|call| {
            let value = conjure::<F>()(call)?;
            is_over.set(value.is_none());
            Ok(value.unwrap_or_else(|| call.ctx().undefined()))
        });
        // SAFETY: the engine calls with its own context and `argc` arguments at `argv`; `done` is a place of its own.
        unsafe {
            let value = enter(ctx, this, argc, argv, &next);
            *done = c_int::from(is_over.get());
            value
        }
    }
    call::<F>
}

fn getter_trampoline<F: Native>(_: F) -> sys::JSGetter {
    unsafe extern "C" fn call<F: Native>(
        ctx: *mut sys::JSContext,
        this: sys::JSValue,
    ) -> sys::JSValue {
        // SAFETY: the engine calls with its own context; a getter has no arguments.
        unsafe { enter(ctx, this, 0, std::ptr::null_mut(), &conjure::<F>()) }
    }
    call::<F>
}

fn setter_trampoline<F: Native>(_: F) -> sys::JSSetter {
    unsafe extern "C" fn call<F: Native>(
        ctx: *mut sys::JSContext,
        this: sys::JSValue,
        mut value: sys::JSValue,
    ) -> sys::JSValue {
        // SAFETY: the engine calls with its own context; a setter has one argument.
        unsafe { enter(ctx, this, 1, &raw mut value, &conjure::<F>()) }
    }
    call::<F>
}
