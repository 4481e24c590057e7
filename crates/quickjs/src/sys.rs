//! The C interface of QuickJS-NG 0.16, as far as this crate uses it. Declarations only; see `quickjs.h` of the package.
//!
//! Each constant, list and layout here is a copy. `build/copies.rs` makes a `_Static_assert` of each, which the C compiler
//! checks against the patched engine; the build fails on a copy that it does not know how to check.
#![allow(non_camel_case_types, non_snake_case, missing_docs, reason = "C names, documented in C")]

use std::ffi::{c_char, c_int, c_void};

#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) union JSValueUnion {
    pub(crate) int32: i32,
    pub(crate) float64: f64,
    pub(crate) ptr: *mut c_void,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct JSValue {
    pub(crate) u: JSValueUnion,
    pub(crate) tag: i64,
}

macro_rules! opaque { ($($name:ident)*) => { $(#[repr(C)] pub(crate) struct $name { _private: [u8; 0] })* } }
opaque! { JSRuntime JSContext JSModuleDef }

/// A line of the cache, in bytes.
pub(crate) const LINE: usize = 64;

/// `engine/touched.c` has the same.
#[repr(C)]
pub(crate) struct BruntTouched {
    pub(crate) count: u32,
    pub(crate) lines: [usize; 256],
    pub(crate) slots: [usize; 1024],
}

impl BruntTouched {
    pub(crate) const EMPTY: Self = Self { count: 0, lines: [0; 256], slots: [0; 1024] };
}

pub(crate) type JSAtom = u32;
pub(crate) type JSClassID = u32;

pub(crate) const TAG_BIG_INT: i64 = -9;
pub(crate) const TAG_SYMBOL: i64 = -8;
pub(crate) const TAG_STRING: i64 = -7;
pub(crate) const TAG_STRING_ROPE: i64 = -6;
pub(crate) const TAG_OBJECT: i64 = -1;
pub(crate) const TAG_INT: i64 = 0;
pub(crate) const TAG_BOOL: i64 = 1;
pub(crate) const TAG_NULL: i64 = 2;
pub(crate) const TAG_UNDEFINED: i64 = 3;
pub(crate) const TAG_EXCEPTION: i64 = 6;
pub(crate) const TAG_SHORT_BIG_INT: i64 = 7;
pub(crate) const TAG_FLOAT64: i64 = 8;

pub(crate) const fn value(tag: i64, int32: i32) -> JSValue {
    JSValue { u: JSValueUnion { int32 }, tag }
}
pub(crate) const UNDEFINED: JSValue = value(TAG_UNDEFINED, 0);
pub(crate) const NULL: JSValue = value(TAG_NULL, 0);
pub(crate) const EXCEPTION: JSValue = value(TAG_EXCEPTION, 0);

pub(crate) const EVAL_TYPE_GLOBAL: c_int = 0;
pub(crate) const EVAL_TYPE_MODULE: c_int = 1;
pub(crate) const EVAL_FLAG_COMPILE_ONLY: c_int = 1 << 5;
pub(crate) const WRITE_OBJ_BYTECODE: c_int = 1;
pub(crate) const READ_OBJ_BYTECODE: c_int = 1;

pub(crate) const PROP_CONFIGURABLE: c_int = 1;
pub(crate) const PROP_WRITABLE: c_int = 1 << 1;
pub(crate) const PROP_ENUMERABLE: c_int = 1 << 2;
pub(crate) const PROP_C_W_E: c_int = 7;
pub(crate) const GPN_STRING_MASK: c_int = 1;
pub(crate) const GPN_ENUM_ONLY: c_int = 1 << 4;

pub(crate) const CFUNC_GENERIC: u8 = 0;
pub(crate) const CFUNC_CONSTRUCTOR_OR_FUNC: u8 = 4;
pub(crate) const CFUNC_ITERATOR_NEXT: u8 = 12;

pub(crate) const DEF_CFUNC: u8 = 0;
pub(crate) const DEF_CGETSET: u8 = 1;
pub(crate) const DEF_PROP_STRING: u8 = 3;
pub(crate) const DEF_PROP_INT32: u8 = 4;
pub(crate) const DEF_ALIAS: u8 = 9;

pub(crate) type JSCFunction =
    unsafe extern "C" fn(*mut JSContext, JSValue, c_int, *mut JSValue) -> JSValue;
pub(crate) type JSIteratorNext = unsafe extern "C" fn(
    *mut JSContext,
    JSValue,
    c_int,
    *mut JSValue,
    *mut c_int,
    c_int,
) -> JSValue;
pub(crate) type JSGetter = unsafe extern "C" fn(*mut JSContext, JSValue) -> JSValue;
pub(crate) type JSSetter = unsafe extern "C" fn(*mut JSContext, JSValue, JSValue) -> JSValue;
pub(crate) type JSCClosure = unsafe extern "C" fn(
    *mut JSContext,
    JSValue,
    c_int,
    *mut JSValue,
    c_int,
    *mut c_void,
) -> JSValue;

#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct FuncDef {
    pub(crate) length: u8,
    pub(crate) cproto: u8,
    pub(crate) cfunc: JSCFunction,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct GetSetDef {
    pub(crate) get: Option<JSGetter>,
    pub(crate) set: Option<JSSetter>,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct AliasDef {
    pub(crate) name: *const c_char,
    /// -1: of the same object.
    pub(crate) base: c_int,
}

#[repr(C)]
pub(crate) union DefUnion {
    pub(crate) func: FuncDef,
    pub(crate) getset: GetSetDef,
    pub(crate) str: *const c_char,
    pub(crate) i32: i32,
    pub(crate) alias: AliasDef,
}

#[repr(C)]
pub(crate) struct JSCFunctionListEntry {
    pub(crate) name: *const c_char,
    pub(crate) prop_flags: u8,
    pub(crate) def_type: u8,
    pub(crate) magic: i16,
    pub(crate) u: DefUnion,
}

#[repr(C)]
pub(crate) struct JSPropertyEnum {
    pub(crate) is_enumerable: bool,
    pub(crate) atom: JSAtom,
}

#[repr(C)]
pub(crate) struct JSPropertyDescriptor {
    pub(crate) flags: c_int,
    pub(crate) value: JSValue,
    pub(crate) getter: JSValue,
    pub(crate) setter: JSValue,
}

#[repr(C)]
pub(crate) struct JSClassExoticMethods {
    pub(crate) get_own_property: Option<
        unsafe extern "C" fn(*mut JSContext, *mut JSPropertyDescriptor, JSValue, JSAtom) -> c_int,
    >,
    pub(crate) get_own_property_names: Option<
        unsafe extern "C" fn(*mut JSContext, *mut *mut JSPropertyEnum, *mut u32, JSValue) -> c_int,
    >,
    pub(crate) delete_property:
        Option<unsafe extern "C" fn(*mut JSContext, JSValue, JSAtom) -> c_int>,
    pub(crate) define_own_property: Option<
        unsafe extern "C" fn(
            *mut JSContext,
            JSValue,
            JSAtom,
            JSValue,
            JSValue,
            JSValue,
            c_int,
        ) -> c_int,
    >,
    pub(crate) has_property: Option<unsafe extern "C" fn(*mut JSContext, JSValue, JSAtom) -> c_int>,
    pub(crate) get_property:
        Option<unsafe extern "C" fn(*mut JSContext, JSValue, JSAtom, JSValue) -> JSValue>,
    pub(crate) set_property: Option<
        unsafe extern "C" fn(*mut JSContext, JSValue, JSAtom, JSValue, JSValue, c_int) -> c_int,
    >,
}

#[repr(C)]
pub(crate) struct JSClassDef {
    pub(crate) class_name: *const c_char,
    pub(crate) finalizer: Option<unsafe extern "C" fn(*mut JSRuntime, JSValue)>,
    pub(crate) gc_mark: Option<unsafe extern "C" fn(*mut JSRuntime, JSValue, JSMarkFunc)>,
    pub(crate) call: Option<unsafe extern "C" fn()>,
    pub(crate) exotic: *const JSClassExoticMethods,
}

#[repr(C)]
#[derive(Default)]
pub(crate) struct JSMemoryUsage {
    pub(crate) malloc_size: i64,
    pub(crate) malloc_limit: i64,
    pub(crate) memory_used_size: i64,
    pub(crate) rest: [i64; 23],
}

/// How a promise is, of those that are not pending.
pub(crate) const PROMISE_FULFILLED: c_int = 1;
pub(crate) const PROMISE_REJECTED: c_int = 2;

/// The classes of typed arrays; the index is the engine's number of the class.
pub(crate) const TYPED_ARRAYS: [&str; 12] = [
    "Uint8ClampedArray",
    "Int8Array",
    "Uint8Array",
    "Int16Array",
    "Uint16Array",
    "Int32Array",
    "Uint32Array",
    "BigInt64Array",
    "BigUint64Array",
    "Float16Array",
    "Float32Array",
    "Float64Array",
];

/// The bit of atoms that are an index of an array; the other bits are the index.
pub(crate) const ATOM_TAG_INT: JSAtom = 1 << 31;

/// Most letters of a string.
pub(crate) const STRING_LEN_MAX: u32 = (1 << 30) - 1;

/// Bytes of a stack that count as shallow.
pub(crate) const SHALLOW: usize = 512 * 1024;

/// The size that asks [`ReallocArrayBuffer`] to make the bytes the buffer's own.
pub(crate) const OWN: usize = usize::MAX;

/// Groups of globals that are made on demand, by their index in `engine/groups.c`.
pub(crate) const GROUP_DATE: c_int = 0;
pub(crate) const GROUP_MAP_SET: c_int = 1;
pub(crate) const GROUP_TYPED_ARRAYS: c_int = 2;
pub(crate) const GROUP_PROXY: c_int = 3;
pub(crate) const GROUP_WEAK_REF: c_int = 4;
pub(crate) const GROUP_DOM_EXCEPTION: c_int = 5;

/// Only handed back to the engine.
pub(crate) type JSMarkFunc = *mut c_void;
pub(crate) type InterruptHandler = unsafe extern "C" fn(*mut JSRuntime, *mut c_void) -> c_int;
pub(crate) type RejectionTracker =
    unsafe extern "C" fn(*mut JSContext, JSValue, JSValue, bool, *mut c_void);
pub(crate) type ModuleNormalize =
    unsafe extern "C" fn(*mut JSContext, *const c_char, *const c_char, *mut c_void) -> *mut c_char;
pub(crate) type ModuleLoader =
    unsafe extern "C" fn(*mut JSContext, *const c_char, *mut c_void) -> *mut JSModuleDef;
pub(crate) type ModuleInit = unsafe extern "C" fn(*mut JSContext, *mut JSModuleDef) -> c_int;
pub(crate) type ReallocArrayBuffer =
    unsafe extern "C" fn(*mut JSRuntime, *mut c_void, *mut c_void, usize) -> *mut c_void;

unsafe extern "C" {
    pub(crate) fn JS_NewRuntime() -> *mut JSRuntime;
    pub(crate) fn JS_FreeRuntime(rt: *mut JSRuntime);
    pub(crate) fn JS_SetRuntimeOpaque(rt: *mut JSRuntime, opaque: *mut c_void);
    pub(crate) fn JS_GetRuntimeOpaque(rt: *mut JSRuntime) -> *mut c_void;
    #[cfg(test)]
    pub(crate) fn JS_SetMemoryLimit(rt: *mut JSRuntime, limit: usize);
    pub(crate) fn JS_GetGCThreshold(rt: *mut JSRuntime) -> usize;
    pub(crate) fn JS_SetGCThreshold(rt: *mut JSRuntime, threshold: usize);
    pub(crate) fn JS_SetMaxStackSize(rt: *mut JSRuntime, size: usize);
    pub(crate) fn JS_UpdateStackTop(rt: *mut JSRuntime);
    pub(crate) fn JS_RunGC(rt: *mut JSRuntime);
    pub(crate) fn JS_ComputeMemoryUsage(rt: *mut JSRuntime, usage: *mut JSMemoryUsage);
    pub(crate) fn JS_SetInterruptHandler(
        rt: *mut JSRuntime,
        cb: Option<InterruptHandler>,
        opaque: *mut c_void,
    );
    pub(crate) fn JS_SetHostPromiseRejectionTracker(
        rt: *mut JSRuntime,
        cb: Option<RejectionTracker>,
        opaque: *mut c_void,
    );
    pub(crate) fn JS_SetModuleLoaderFunc(
        rt: *mut JSRuntime,
        normalize: Option<ModuleNormalize>,
        loader: Option<ModuleLoader>,
        opaque: *mut c_void,
    );

    pub(crate) fn JS_NewContextRaw(rt: *mut JSRuntime) -> *mut JSContext;
    pub(crate) fn JS_FreeContext(ctx: *mut JSContext);
    pub(crate) fn JS_GetRuntime(ctx: *mut JSContext) -> *mut JSRuntime;
    pub(crate) fn JS_AddIntrinsicBaseObjects(ctx: *mut JSContext) -> c_int;
    pub(crate) fn JS_AddIntrinsicEval(ctx: *mut JSContext) -> c_int;
    pub(crate) fn JS_AddIntrinsicRegExp(ctx: *mut JSContext) -> c_int;
    pub(crate) fn JS_AddIntrinsicJSON(ctx: *mut JSContext) -> c_int;
    pub(crate) fn JS_AddIntrinsicPromise(ctx: *mut JSContext) -> c_int;
    pub(crate) fn JS_AddIntrinsicAToB(ctx: *mut JSContext) -> c_int;

    pub(crate) fn JS_NewAtomLen(ctx: *mut JSContext, text: *const c_char, len: usize) -> JSAtom;
    pub(crate) fn JS_DupAtom(ctx: *mut JSContext, atom: JSAtom) -> JSAtom;
    pub(crate) fn JS_FreeAtom(ctx: *mut JSContext, atom: JSAtom);
    pub(crate) fn JS_AtomToString(ctx: *mut JSContext, atom: JSAtom) -> JSValue;

    pub(crate) fn JS_MarkValue(rt: *mut JSRuntime, value: JSValue, visit: JSMarkFunc);
    pub(crate) fn JS_FreeValueRT(rt: *mut JSRuntime, value: JSValue);
    pub(crate) fn JS_FreeValue(ctx: *mut JSContext, value: JSValue);
    pub(crate) fn JS_DupValue(ctx: *mut JSContext, value: JSValue) -> JSValue;
    pub(crate) fn JS_ToBool(ctx: *mut JSContext, value: JSValue) -> c_int;
    pub(crate) fn JS_ToFloat64(ctx: *mut JSContext, out: *mut f64, value: JSValue) -> c_int;
    pub(crate) fn JS_ToInt64(ctx: *mut JSContext, out: *mut i64, value: JSValue) -> c_int;
    pub(crate) fn JS_ToCStringLen2(
        ctx: *mut JSContext,
        len: *mut usize,
        value: JSValue,
        cesu8: bool,
    ) -> *const c_char;
    pub(crate) fn JS_FreeCString(ctx: *mut JSContext, text: *const c_char);
    pub(crate) fn JS_NewStringLen(ctx: *mut JSContext, text: *const c_char, len: usize) -> JSValue;
    pub(crate) fn JS_NewSymbol(
        ctx: *mut JSContext,
        description: *const c_char,
        is_global: bool,
    ) -> JSValue;
    pub(crate) fn JS_NewDate(ctx: *mut JSContext, epoch_ms: f64) -> JSValue;
    pub(crate) fn JS_NewBigInt64(ctx: *mut JSContext, value: i64) -> JSValue;

    pub(crate) fn JS_NewObject(ctx: *mut JSContext) -> JSValue;
    pub(crate) fn JS_NewObjectProto(ctx: *mut JSContext, proto: JSValue) -> JSValue;
    pub(crate) fn JS_NewObjectClass(ctx: *mut JSContext, class: JSClassID) -> JSValue;
    pub(crate) fn JS_NewArray(ctx: *mut JSContext) -> JSValue;
    pub(crate) fn JS_NewArrayFrom(
        ctx: *mut JSContext,
        count: c_int,
        values: *const JSValue,
    ) -> JSValue;
    pub(crate) fn JS_NewProxy(ctx: *mut JSContext, target: JSValue, handler: JSValue) -> JSValue;
    pub(crate) fn JS_GetProperty(ctx: *mut JSContext, this: JSValue, prop: JSAtom) -> JSValue;
    pub(crate) fn JS_GetPropertyUint32(ctx: *mut JSContext, this: JSValue, index: u32) -> JSValue;
    pub(crate) fn JS_SetProperty(
        ctx: *mut JSContext,
        this: JSValue,
        prop: JSAtom,
        value: JSValue,
    ) -> c_int;
    pub(crate) fn JS_SetPropertyUint32(
        ctx: *mut JSContext,
        this: JSValue,
        index: u32,
        value: JSValue,
    ) -> c_int;
    pub(crate) fn JS_HasProperty(ctx: *mut JSContext, this: JSValue, prop: JSAtom) -> c_int;
    pub(crate) fn JS_DeleteProperty(
        ctx: *mut JSContext,
        this: JSValue,
        prop: JSAtom,
        flags: c_int,
    ) -> c_int;
    pub(crate) fn JS_DefinePropertyValue(
        ctx: *mut JSContext,
        this: JSValue,
        prop: JSAtom,
        value: JSValue,
        flags: c_int,
    ) -> c_int;
    pub(crate) fn JS_DefinePropertyGetSet(
        ctx: *mut JSContext,
        this: JSValue,
        prop: JSAtom,
        getter: JSValue,
        setter: JSValue,
        flags: c_int,
    ) -> c_int;
    pub(crate) fn JS_GetOwnPropertyNames(
        ctx: *mut JSContext,
        tab: *mut *mut JSPropertyEnum,
        len: *mut u32,
        obj: JSValue,
        flags: c_int,
    ) -> c_int;
    pub(crate) fn JS_FreePropertyEnum(ctx: *mut JSContext, tab: *mut JSPropertyEnum, len: u32);
    pub(crate) fn js_malloc(ctx: *mut JSContext, size: usize) -> *mut c_void;
    pub(crate) fn JS_SetPropertyFunctionList(
        ctx: *mut JSContext,
        obj: JSValue,
        tab: *const JSCFunctionListEntry,
        len: c_int,
    ) -> c_int;
    pub(crate) fn JS_GetPrototype(ctx: *mut JSContext, value: JSValue) -> JSValue;
    pub(crate) fn JS_SetPrototype(ctx: *mut JSContext, obj: JSValue, proto: JSValue) -> c_int;
    pub(crate) fn JS_GetLength(ctx: *mut JSContext, obj: JSValue, out: *mut i64) -> c_int;
    pub(crate) fn JS_FreezeObject(ctx: *mut JSContext, obj: JSValue) -> c_int;
    pub(crate) fn JS_GetGlobalObject(ctx: *mut JSContext) -> JSValue;
    pub(crate) fn JS_IsInstanceOf(ctx: *mut JSContext, value: JSValue, class: JSValue) -> c_int;
    pub(crate) fn JS_IsStrictEqual(ctx: *mut JSContext, a: JSValue, b: JSValue) -> bool;

    pub(crate) fn JS_IsFunction(ctx: *mut JSContext, value: JSValue) -> bool;
    pub(crate) fn JS_IsAsyncFunction(value: JSValue) -> bool;
    pub(crate) fn JS_IsArray(value: JSValue) -> bool;
    pub(crate) fn JS_IsProxy(value: JSValue) -> bool;
    pub(crate) fn JS_GetProxyTarget(ctx: *mut JSContext, value: JSValue) -> JSValue;
    pub(crate) fn JS_IsError(value: JSValue) -> bool;
    pub(crate) fn JS_IsDate(value: JSValue) -> bool;
    pub(crate) fn JS_IsMap(value: JSValue) -> bool;
    pub(crate) fn JS_IsSet(value: JSValue) -> bool;
    pub(crate) fn JS_IsRegExp(value: JSValue) -> bool;
    pub(crate) fn JS_GetProxyHandler(ctx: *mut JSContext, value: JSValue) -> JSValue;
    pub(crate) fn JS_IsPromise(value: JSValue) -> bool;
    pub(crate) fn JS_IsArrayBuffer(value: JSValue) -> bool;
    pub(crate) fn JS_IsDataView(value: JSValue) -> bool;
    pub(crate) fn JS_IsUncatchableError(value: JSValue) -> bool;
    pub(crate) fn JS_SetUncatchableError(ctx: *mut JSContext, value: JSValue);

    pub(crate) fn JS_Throw(ctx: *mut JSContext, value: JSValue) -> JSValue;
    pub(crate) fn JS_GetException(ctx: *mut JSContext) -> JSValue;
    pub(crate) fn JS_HasException(ctx: *mut JSContext) -> bool;
    pub(crate) fn JS_NewPlainError(ctx: *mut JSContext, fmt: *const c_char, ...) -> JSValue;
    pub(crate) fn JS_NewTypeError(ctx: *mut JSContext, fmt: *const c_char, ...) -> JSValue;
    pub(crate) fn JS_NewRangeError(ctx: *mut JSContext, fmt: *const c_char, ...) -> JSValue;
    pub(crate) fn JS_NewSyntaxError(ctx: *mut JSContext, fmt: *const c_char, ...) -> JSValue;
    pub(crate) fn JS_NewReferenceError(ctx: *mut JSContext, fmt: *const c_char, ...) -> JSValue;

    pub(crate) fn JS_Call(
        ctx: *mut JSContext,
        func: JSValue,
        this: JSValue,
        argc: c_int,
        argv: *mut JSValue,
    ) -> JSValue;
    pub(crate) fn JS_CallConstructor(
        ctx: *mut JSContext,
        func: JSValue,
        argc: c_int,
        argv: *mut JSValue,
    ) -> JSValue;
    pub(crate) fn JS_NewCFunction2(
        ctx: *mut JSContext,
        func: JSCFunction,
        name: *const c_char,
        length: c_int,
        cproto: c_int,
        magic: c_int,
    ) -> JSValue;
    pub(crate) fn JS_NewCClosure(
        ctx: *mut JSContext,
        func: JSCClosure,
        name: *const c_char,
        finalize: Option<unsafe extern "C" fn(*mut c_void)>,
        length: c_int,
        magic: c_int,
        opaque: *mut c_void,
    ) -> JSValue;
    pub(crate) fn JS_SetConstructor(ctx: *mut JSContext, func: JSValue, proto: JSValue) -> c_int;

    pub(crate) fn JS_NewClassID(rt: *mut JSRuntime, id: *mut JSClassID) -> JSClassID;
    pub(crate) fn JS_NewClass(rt: *mut JSRuntime, id: JSClassID, def: *const JSClassDef) -> c_int;
    pub(crate) fn JS_SetClassProto(ctx: *mut JSContext, id: JSClassID, proto: JSValue);
    pub(crate) fn JS_GetClassProto(ctx: *mut JSContext, id: JSClassID) -> JSValue;
    pub(crate) fn JS_SetOpaque(obj: JSValue, opaque: *mut c_void) -> c_int;
    pub(crate) fn JS_GetOpaque(obj: JSValue, id: JSClassID) -> *mut c_void;
    pub(crate) fn JS_GetAnyOpaque(obj: JSValue, id: *mut JSClassID) -> *mut c_void;

    pub(crate) fn JS_JSONStringify(
        ctx: *mut JSContext,
        obj: JSValue,
        replacer: JSValue,
        space: JSValue,
    ) -> JSValue;

    pub(crate) fn JS_NewArrayBuffer(
        ctx: *mut JSContext,
        buf: *mut u8,
        len: usize,
        max_len: usize,
        realloc: Option<ReallocArrayBuffer>,
        opaque: *mut c_void,
        is_shared: bool,
    ) -> JSValue;
    pub(crate) fn JS_NewTypedArray(
        ctx: *mut JSContext,
        argc: c_int,
        argv: *mut JSValue,
        kind: c_int,
    ) -> JSValue;
    pub(crate) fn JS_GetTypedArrayType(obj: JSValue) -> c_int;

    pub(crate) fn JS_NewPromiseCapability(ctx: *mut JSContext, resolving: *mut JSValue) -> JSValue;
    pub(crate) fn JS_PromiseState(ctx: *mut JSContext, promise: JSValue) -> c_int;
    pub(crate) fn JS_PromiseResult(ctx: *mut JSContext, promise: JSValue) -> JSValue;
    pub(crate) fn JS_PromiseMarkAsHandled(ctx: *mut JSContext, promise: JSValue);
    pub(crate) fn JS_ExecutePendingJob(rt: *mut JSRuntime, ctx: *mut *mut JSContext) -> c_int;
    pub(crate) fn JS_IsJobPending(rt: *mut JSRuntime) -> bool;

    pub(crate) fn JS_Eval(
        ctx: *mut JSContext,
        input: *const c_char,
        len: usize,
        filename: *const c_char,
        flags: c_int,
    ) -> JSValue;
    pub(crate) fn JS_EvalFunction(ctx: *mut JSContext, function: JSValue) -> JSValue;
    pub(crate) fn JS_ResolveModule(ctx: *mut JSContext, module: JSValue) -> c_int;
    pub(crate) fn JS_WriteObject(
        ctx: *mut JSContext,
        size: *mut usize,
        obj: JSValue,
        flags: c_int,
    ) -> *mut u8;
    pub(crate) fn js_free(ctx: *mut JSContext, ptr: *mut c_void);
    pub(crate) fn JS_ReadObject(
        ctx: *mut JSContext,
        buf: *const u8,
        len: usize,
        flags: c_int,
    ) -> JSValue;
    pub(crate) fn JS_NewCModule(
        ctx: *mut JSContext,
        name: *const c_char,
        init: ModuleInit,
    ) -> *mut JSModuleDef;
    pub(crate) fn JS_AddModuleExport(
        ctx: *mut JSContext,
        module: *mut JSModuleDef,
        name: *const c_char,
    ) -> c_int;
    pub(crate) fn JS_SetModuleExport(
        ctx: *mut JSContext,
        module: *mut JSModuleDef,
        name: *const c_char,
        value: JSValue,
    ) -> c_int;
    pub(crate) fn JS_GetModuleName(ctx: *mut JSContext, module: *mut JSModuleDef) -> JSAtom;
    pub(crate) fn JS_GetModuleNamespace(ctx: *mut JSContext, module: *mut JSModuleDef) -> JSValue;
    pub(crate) fn JS_GetImportMeta(ctx: *mut JSContext, module: *mut JSModuleDef) -> JSValue;
    /// Ours: who is asked for the author's place of each frame of a stack; for all runtimes.
    pub(crate) fn brunt_set_place(
        place: unsafe extern "C" fn(
            *mut JSRuntime,
            *const c_char,
            *mut c_int,
            *mut c_int,
        ) -> *const c_char,
    );
    pub(crate) fn brunt_set_scope_hook(hook: unsafe extern "C" fn(*mut JSContext, c_int, c_int));
    pub(crate) fn brunt_enter_scope(ctx: *mut JSContext, scope: c_int);
    pub(crate) fn brunt_scope(ctx: *mut JSContext) -> c_int;
    pub(crate) fn JS_GetScriptOrModuleName(ctx: *mut JSContext, levels: c_int) -> JSAtom;

    // Our additions: the C files in `engine`.
    pub(crate) fn brunt_announce(ctx: *mut JSContext, group: c_int) -> c_int;
    pub(crate) fn brunt_need(ctx: *mut JSContext, group: c_int) -> c_int;
    pub(crate) fn brunt_object_like(
        ctx: *mut JSContext,
        like: JSValue,
        count: c_int,
        props: *const JSAtom,
        values: *const JSValue,
    ) -> JSValue;
    pub(crate) fn brunt_share_export(
        ctx: *mut JSContext,
        module: *mut JSModuleDef,
        name: JSAtom,
        obj: JSValue,
    ) -> c_int;
    pub(crate) fn brunt_live_export(
        ctx: *mut JSContext,
        module: *mut JSModuleDef,
        name: JSAtom,
        obj: JSValue,
    ) -> c_int;
    pub(crate) fn brunt_hide_export(ctx: *mut JSContext, module: *mut JSModuleDef, name: JSAtom);
    pub(crate) fn brunt_object_from(
        ctx: *mut JSContext,
        count: c_int,
        props: *const JSAtom,
        values: *const JSValue,
    ) -> JSValue;
    pub(crate) fn brunt_seed_random(ctx: *mut JSContext, seed: u64);
    pub(crate) fn brunt_allocated(rt: *mut JSRuntime) -> usize;
    #[cfg(test)]
    pub(crate) fn brunt_arena_room(rt: *mut JSRuntime) -> usize;
    pub(crate) fn brunt_set_more(
        ask: unsafe extern "C" fn(*mut JSRuntime, used: usize, size: usize) -> usize,
    );
    pub(crate) fn brunt_promise(rt: *mut JSRuntime, promise: usize, max: usize);
    pub(crate) fn brunt_account(rt: *mut JSRuntime, less: usize, more: usize);
    pub(crate) fn brunt_may_take(rt: *mut JSRuntime, size: usize) -> bool;
    pub(crate) fn brunt_is_over(ctx: *mut JSContext);
    pub(crate) fn brunt_recover(rt: *mut JSRuntime);
    pub(crate) fn brunt_catch_up(rt: *mut JSRuntime);
    pub(crate) fn brunt_collect(rt: *mut JSRuntime);
    pub(crate) fn brunt_poll(ctx: *mut JSContext, cost: c_int) -> bool;
    pub(crate) fn brunt_count(ctx: *mut JSContext, cost: usize);
    pub(crate) fn brunt_drop_jobs(rt: *mut JSRuntime);
    pub(crate) fn brunt_watch(touched: *mut BruntTouched);
    pub(crate) fn brunt_note(start: *const c_void, size: usize);
    pub(crate) fn brunt_keep_shapes(rt: *mut JSRuntime);
    pub(crate) fn brunt_buffer(
        obj: JSValue,
        ours: ReallocArrayBuffer,
        opaque: *mut *mut c_void,
        data: *mut *mut u8,
        length: *mut usize,
    ) -> bool;
    pub(crate) fn brunt_lend(
        rt: *mut JSRuntime,
        obj: JSValue,
        ours: ReallocArrayBuffer,
        opaque: *mut c_void,
        data: *mut u8,
    );
    pub(crate) fn brunt_lent_string(
        ctx: *mut JSContext,
        data: *const c_void,
        len: u32,
        is_wide: bool,
        owner: *mut c_void,
        release: unsafe extern "C" fn(*mut c_void),
    ) -> JSValue;
    pub(crate) fn brunt_string_room(
        ctx: *mut JSContext,
        len: u32,
        is_wide: bool,
        letters: *mut *mut c_void,
    ) -> JSValue;
    pub(crate) fn brunt_string_owner(
        value: JSValue,
        release: unsafe extern "C" fn(*mut c_void),
    ) -> *mut c_void;
    pub(crate) fn brunt_take_place(ctx: *mut JSContext) -> JSValue;
    pub(crate) fn brunt_place_of_throw(ctx: *mut JSContext, place: JSValue);
    pub(crate) fn brunt_was_deep(rt: *mut JSRuntime) -> c_int;
    pub(crate) fn brunt_frame(ctx: *mut JSContext) -> usize;
    pub(crate) fn brunt_returns_to(ctx: *mut JSContext, frame: usize) -> c_int;
    pub(crate) fn brunt_data_view(ctx: *mut JSContext, buffer: JSValue) -> JSValue;
    pub(crate) fn brunt_stack(ctx: *mut JSContext, error: JSValue) -> JSValue;
    pub(crate) fn brunt_stringify(
        ctx: *mut JSContext,
        value: JSValue,
        ask: unsafe extern "C" fn(*mut c_void, JSValue) -> c_int,
        opaque: *mut c_void,
    ) -> JSValue;
    pub(crate) fn brunt_make_late(obj: JSValue);
    pub(crate) fn brunt_freeze_bytes(obj: JSValue);
    pub(crate) fn brunt_freeze_json(ctx: *mut JSContext, value: JSValue) -> c_int;
    pub(crate) fn brunt_bytes(
        obj: JSValue,
        to_write: bool,
        data: *mut *mut u8,
        length: *mut usize,
    ) -> bool;
}
