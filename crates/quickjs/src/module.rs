//! Modules: compiled once, loaded by every VM; native ones; and who finds them.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::slice;

use crate::ctx::{Ctx, Inner};
use crate::error::{ErrorKind, JsResult, Thrown, check};
use crate::sys;
use crate::value::Value;

/// Bytecode of a script or module, with the texts of its functions. VMs of the same process can load it, as often as they
/// like.
#[derive(Clone)]
pub struct Compiled {
    bytes: std::sync::Arc<[u8]>,
}

impl Compiled {
    /// How many bytes it is.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Never: even an empty script has a head.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }
}

impl std::fmt::Debug for Compiled {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Compiled({} bytes)", self.bytes.len())
    }
}

/// The source of a module.
#[derive(Debug)]
pub enum Loaded {
    /// A compiled ES module.
    Compiled(Compiled),
    /// A module whose exports are made by [`ModuleHost::evaluate`].
    Native {
        /// The names in its namespace.
        shown: Vec<String>,
        /// Names that can be imported, but are not in its namespace.
        hidden: Vec<String>,
    },
}

/// Finds modules for a VM.
pub trait ModuleHost {
    /// The full name of the module that `specifier` means in the module `from`.
    ///
    /// # Errors
    /// A message, thrown as an `Error`.
    fn resolve(&self, ctx: Ctx<'_>, from: &str, specifier: &str) -> Result<String, String>;

    /// The module of that full name.
    ///
    /// # Errors
    /// A message, thrown as an `Error`.
    fn load(&self, ctx: Ctx<'_>, name: &str) -> Result<Loaded, String>;

    /// Fills in the exports of a [`Loaded::Native`] module; asked once per VM, when the module's turn comes.
    ///
    /// # Errors
    /// The exception of making them.
    fn evaluate<'js>(&self, ctx: Ctx<'js>, name: &str, exports: &Exports<'js>)
    -> JsResult<'js, ()>;

    /// Fills in `import.meta` of a compiled module.
    ///
    /// # Errors
    /// The exception of making it.
    fn import_meta<'js>(&self, ctx: Ctx<'js>, name: &str, meta: &Value<'js>) -> JsResult<'js, ()> {
        let _ = (ctx, name, meta);
        Ok(())
    }
}

/// The exports of a native module that is being evaluated.
pub struct Exports<'js> {
    ctx: Ctx<'js>,
    module: *mut sys::JSModuleDef,
}

impl<'js> Exports<'js> {
    /// Sets an export. Its name must be among those that [`Loaded::Native`] announced.
    ///
    /// # Errors
    /// If it is not.
    pub fn set(&self, name: &str, value: Value<'js>) -> Result<(), Thrown> {
        let Ok(name) = CString::new(name) else {
            return Err(self.ctx.throw_type("an export's name has a zero byte"));
        };
        let raw = value.raw_for(self.ctx);
        std::mem::forget(value);
        // SAFETY: the module is being evaluated in this context; the value is given to the engine.
        let done =
            unsafe { sys::JS_SetModuleExport(self.ctx.raw(), self.module, name.as_ptr(), raw) };
        if done < 0 {
            return Err(self
                .ctx
                .throw_type("a native module set an export that it had not announced"));
        }
        Ok(())
    }

    /// Makes an export live: each reading of it reads the property of that name, `object` itself where a `default` is
    /// undefined. All live exports of a module are of the same object. Whether that could be: the export must have been
    /// announced.
    pub fn live(&self, name: &str, object: &Value<'js>) -> bool {
        // SAFETY: the module is being evaluated in this context; the atom is freed after its use, the engine takes a
        // reference of the object.
        unsafe {
            let atom = sys::JS_NewAtomLen(self.ctx.raw(), name.as_ptr().cast(), name.len());
            let object = object.raw_for(self.ctx);
            let live = sys::brunt_live_export(self.ctx.raw(), self.module, atom, object);
            sys::JS_FreeAtom(self.ctx.raw(), atom);
            live > 0
        }
    }

    /// Makes an export and the property of that name one variable: what the property is set to, importers see. Whether that
    /// could be: the export must have been announced, and the object must have it as a plain property of its own.
    ///
    /// # Errors
    /// If the VM's memory limit is reached.
    pub fn share(&self, name: &str, object: &Value<'js>) -> JsResult<'js, bool> {
        // SAFETY: the module is being evaluated in this context; the atom is freed after its use, the object is lent.
        let shared = unsafe {
            let atom = sys::JS_NewAtomLen(self.ctx.raw(), name.as_ptr().cast(), name.len());
            let shared = sys::brunt_share_export(
                self.ctx.raw(),
                self.module,
                atom,
                object.raw_for(self.ctx),
            );
            sys::JS_FreeAtom(self.ctx.raw(), atom);
            shared
        };
        check(shared)?;
        Ok(shared > 0)
    }
}

impl std::fmt::Debug for Exports<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Exports").finish_non_exhaustive()
    }
}

impl<'js> Ctx<'js> {
    /// Compiles a module without running it. The modules it imports are asked for ([`ModuleHost`]).
    ///
    /// # Errors
    /// Syntax errors, and what the host says of the imports.
    pub fn compile_module(self, name: &str, source: &str) -> JsResult<'js, Compiled> {
        self.compile(name, source, sys::EVAL_TYPE_MODULE)
    }

    /// Compiles a script without running it.
    ///
    /// # Errors
    /// Syntax errors.
    pub fn compile_script(self, name: &str, source: &str) -> JsResult<'js, Compiled> {
        self.compile(name, source, sys::EVAL_TYPE_GLOBAL)
    }

    fn compile(self, name: &str, source: &str, kind: c_int) -> JsResult<'js, Compiled> {
        let function = self.eval_raw(name, source, kind | sys::EVAL_FLAG_COMPILE_ONLY)?;
        let mut length = 0;
        let flags = sys::WRITE_OBJ_BYTECODE;
        // SAFETY: the compiled function is alive; the engine returns a block of `length` bytes that is copied and freed.
        unsafe {
            let block = sys::JS_WriteObject(self.raw(), &raw mut length, function.raw, flags);
            if block.is_null() {
                return Err(Thrown(()));
            }
            let bytes = slice::from_raw_parts(block, length).into();
            sys::js_free(self.raw(), block.cast());
            Ok(Compiled { bytes })
        }
    }

    /// Evaluates a script text; for tests and small things. Scripts of users are compiled once.
    ///
    /// # Errors
    /// Syntax errors, and what the script throws.
    pub fn eval(self, name: &str, source: &str) -> JsResult<'js> {
        self.eval_raw(name, source, sys::EVAL_TYPE_GLOBAL)
    }

    fn eval_raw(self, name: &str, source: &str, flags: c_int) -> JsResult<'js> {
        let _inside = self.enter();
        self.assert_settled();
        let name = CString::new(name.replace('\0', "?")).expect("zero bytes were replaced");
        // The engine wants a zero byte after the text.
        let mut text = Vec::with_capacity(source.len() + 1);
        text.extend_from_slice(source.as_bytes());
        text.push(0);
        // SAFETY: the text is zero terminated and lives through the call, as does the name; the result is ours.
        unsafe {
            let result =
                sys::JS_Eval(self.raw(), text.as_ptr().cast(), source.len(), name.as_ptr(), flags);
            Value::returned(self, result)
        }
    }

    /// Runs a compiled script and returns its last value.
    ///
    /// # Errors
    /// Its exception.
    pub fn run_script(self, script: &Compiled) -> JsResult<'js> {
        let _inside = self.enter();
        // SAFETY: the bytes were written by `compile` in this process; the function is given to `JS_EvalFunction`.
        unsafe {
            let function = self.read(script)?;
            Value::returned(self, sys::JS_EvalFunction(self.raw(), function.into_raw()))
        }
    }

    /// Loads a compiled module and what it imports, and evaluates it. Returns its namespace and the promise of its
    /// evaluation, which top-level `await` may leave pending.
    ///
    /// # Errors
    /// The exception of loading or linking. An exception of evaluating rejects the promise.
    pub fn run_module(self, module: &Compiled) -> JsResult<'js, (Value<'js>, Value<'js>)> {
        let _inside = self.enter();
        self.assert_settled();
        // SAFETY: as in `run_script`. A module's value carries the pointer of its definition. The context keeps that as long
        // as it lives, once it is resolved (and it counts as resolved even if its imports cannot be found);
        // `JS_EvalFunction` takes over the reference.
        unsafe {
            let value = self.read(module)?;
            check(sys::JS_ResolveModule(self.raw(), value.raw))?;
            let definition = value.raw.u.ptr.cast::<sys::JSModuleDef>();
            set_import_meta(self, definition)?;
            let promise =
                Value::returned(self, sys::JS_EvalFunction(self.raw(), value.into_raw()))?;
            let namespace =
                Value::returned(self, sys::JS_GetModuleNamespace(self.raw(), definition))?;
            Ok((namespace, promise))
        }
    }

    fn assert_settled(self) {
        assert!(
            self.inner.settled.get(),
            "nothing is compiled or loaded while an imported module's import.meta is made"
        );
    }

    /// # Safety
    /// The bytes were written by this process.
    unsafe fn read(self, code: &Compiled) -> JsResult<'js> {
        self.inner.hold(&code.bytes);
        // SAFETY: pointer and length are those of the code; the engine copies what it keeps, but for the texts of
        // functions, which lie in bytes that are held as long as the engine is.
        unsafe {
            let object = sys::JS_ReadObject(
                self.raw(),
                code.bytes.as_ptr(),
                code.bytes.len(),
                sys::READ_OBJ_BYTECODE,
            );
            Value::returned(self, object)
        }
    }

    /// The name of the script or module that runs `levels` JavaScript frames up. `None` off any.
    pub fn running_module(self, levels: i32) -> Option<String> {
        // SAFETY: the context is alive; the atom comes as a reference of its own.
        unsafe {
            let atom = sys::JS_GetScriptOrModuleName(self.raw(), levels);
            if atom == 0 {
                return None;
            }
            let text = Value::returned(self, sys::JS_AtomToString(self.raw(), atom)).ok();
            sys::JS_FreeAtom(self.raw(), atom);
            text?.to_string_lossy().ok()
        }
    }
}

/// # Safety
/// `definition` is a module of `ctx`.
unsafe fn set_import_meta(ctx: Ctx<'_>, definition: *mut sys::JSModuleDef) -> Result<(), Thrown> {
    let Some(host) = ctx.inner.modules.borrow().clone() else {
        return Ok(());
    };
    // SAFETY: as promised by the caller; atom and object come as references of their own.
    let (name, meta) = unsafe {
        let name = module_name(ctx, definition);
        (name, Value::returned(ctx, sys::JS_GetImportMeta(ctx.raw(), definition))?)
    };
    match catch_unwind(AssertUnwindSafe(|| host.import_meta(ctx, &name, &meta))) {
        Ok(made) => made,
        Err(payload) => {
            ctx.inner.panic.set(Some(payload));
            Err(ctx.throw_uncatchable("a native function panicked"))
        }
    }
}

/// # Safety
/// `definition` is a module of `ctx`.
unsafe fn module_name(ctx: Ctx<'_>, definition: *mut sys::JSModuleDef) -> String {
    // SAFETY: as promised by the caller; the atom comes as a reference of its own.
    unsafe {
        let atom = sys::JS_GetModuleName(ctx.raw(), definition);
        let text = Value::returned(ctx, sys::JS_AtomToString(ctx.raw(), atom));
        sys::JS_FreeAtom(ctx.raw(), atom);
        text.and_then(|text| text.to_string_lossy()).unwrap_or_default()
    }
}

/// # Safety
/// `text` is a zero terminated string.
unsafe fn text<'a>(text: *const c_char) -> std::borrow::Cow<'a, str> {
    // SAFETY: as promised by the caller.
    unsafe { CStr::from_ptr(text) }.to_string_lossy()
}

/// Runs a host callback for the engine: a message becomes an `Error`, a panic is kept.
fn guarded<T>(ctx: Ctx<'_>, run: impl FnOnce() -> Result<T, String>) -> Option<T> {
    match catch_unwind(AssertUnwindSafe(run)) {
        Ok(Ok(value)) => Some(value),
        Ok(Err(message)) => {
            let _ = ctx.throw_error(ErrorKind::Plain, &message);
            None
        }
        Err(payload) => {
            ctx.inner.panic.set(Some(payload));
            let _ = ctx.throw_uncatchable("a native function panicked");
            None
        }
    }
}

pub(crate) unsafe extern "C" fn normalize(
    ctx: *mut sys::JSContext,
    from: *const c_char,
    specifier: *const c_char,
    _: *mut c_void,
) -> *mut c_char {
    // SAFETY: the engine lends its context and two strings.
    let (ctx, from, specifier) = unsafe { (Ctx::from_raw(ctx), text(from), text(specifier)) };
    let host = ctx.inner.modules.borrow().clone();
    let resolved = guarded(ctx, || match &host {
        Some(host) => host.resolve(ctx, &from, &specifier),
        None => Err(format!("no module {specifier}: this VM has no modules")),
    });
    let Some(resolved) = resolved else {
        return ptr::null_mut();
    };
    let bytes = resolved.as_bytes();
    // SAFETY: the block has room for the text and its zero byte, and becomes the engine's.
    unsafe {
        let block = sys::js_malloc(ctx.raw(), bytes.len() + 1).cast::<u8>();
        if !block.is_null() {
            ptr::copy_nonoverlapping(bytes.as_ptr(), block, bytes.len());
            *block.add(bytes.len()) = 0;
        }
        block.cast()
    }
}

pub(crate) unsafe extern "C" fn load(
    ctx: *mut sys::JSContext,
    name: *const c_char,
    _: *mut c_void,
) -> *mut sys::JSModuleDef {
    // SAFETY: the engine lends its context and a string.
    let (ctx, module_name) = unsafe { (Ctx::from_raw(ctx), text(name)) };
    let host = ctx.inner.modules.borrow().clone();
    let loaded = guarded(ctx, || match &host {
        Some(host) => host.load(ctx, &module_name),
        None => Err(format!("no module {module_name}: this VM has no modules")),
    });
    match loaded {
        None => ptr::null_mut(),
        // SAFETY: the code is ours; the context keeps the definition, the value's reference is not needed.
        Some(Loaded::Compiled(code)) => unsafe {
            let Ok(value) = ctx.read(&code) else {
                return ptr::null_mut();
            };
            let definition = value.raw.u.ptr.cast::<sys::JSModuleDef>();
            // The engine throws away modules that are not resolved when it fails to load another one: nothing may
            // be loaded before this one is handed over.
            let settled = ctx.inner.settled.replace(false);
            let meta = set_import_meta(ctx, definition);
            ctx.inner.settled.set(settled);
            if meta.is_err() {
                return ptr::null_mut();
            }
            definition
        },
        // SAFETY: the name is lent by the engine, which copies it, as it does with the texts of exports; the init function
        // matches, and each atom is freed after its use.
        Some(Loaded::Native { shown, hidden }) => unsafe {
            let definition = sys::JS_NewCModule(ctx.raw(), name, evaluate);
            if definition.is_null() {
                return ptr::null_mut();
            }
            let shown = shown.into_iter().map(|name| (name, false));
            for (export, is_hidden) in shown.chain(hidden.into_iter().map(|name| (name, true))) {
                let Ok(text) = CString::new(export) else {
                    continue;
                };
                if sys::JS_AddModuleExport(ctx.raw(), definition, text.as_ptr()) < 0 {
                    return ptr::null_mut();
                }
                if is_hidden {
                    let length = text.as_bytes().len();
                    let atom = sys::JS_NewAtomLen(ctx.raw(), text.as_ptr(), length);
                    sys::brunt_hide_export(ctx.raw(), definition, atom);
                    sys::JS_FreeAtom(ctx.raw(), atom);
                }
            }
            definition
        },
    }
}

unsafe extern "C" fn evaluate(ctx: *mut sys::JSContext, module: *mut sys::JSModuleDef) -> c_int {
    // SAFETY: the engine evaluates a module of its own context.
    let (ctx, name) = unsafe {
        let ctx = Ctx::from_raw(ctx);
        (ctx, module_name(ctx, module))
    };
    let inner: &Inner = ctx.inner;
    let Some(host) = inner.modules.borrow().clone() else {
        return -1;
    };
    let exports = Exports { ctx, module };
    match catch_unwind(AssertUnwindSafe(|| host.evaluate(ctx, &name, &exports))) {
        Ok(Ok(())) => 0,
        Ok(Err(Thrown(()))) => -1,
        Err(payload) => {
            inner.panic.set(Some(payload));
            let _ = ctx.throw_uncatchable("a native function panicked");
            -1
        }
    }
}
