//! A counted reference to a JavaScript value.

use crate::ctx::Ctx;
use crate::error::{JsResult, Thrown};
use crate::string::JsStr;
use crate::sys;

/// A JavaScript value of a VM.
pub struct Value<'js> {
    pub(crate) raw: sys::JSValue,
    pub(crate) ctx: Ctx<'js>,
}

impl<'js> Value<'js> {
    /// Takes over a reference that the engine gave away.
    ///
    /// # Safety
    /// `raw` belongs to `ctx`, is not an exception marker, and this reference is the caller's to give.
    pub(crate) unsafe fn owned(ctx: Ctx<'js>, raw: sys::JSValue) -> Self {
        Self { raw, ctx }
    }

    /// Makes a reference of its own to a value that the engine only lends.
    ///
    /// # Safety
    /// `raw` belongs to `ctx` and is alive now.
    pub(crate) unsafe fn borrowed(ctx: Ctx<'js>, raw: sys::JSValue) -> Self {
        // SAFETY: as promised by the caller.
        Self { raw: unsafe { dup(ctx, raw) }, ctx }
    }

    /// A result of the engine: a value, or the marker of an exception.
    ///
    /// # Safety
    /// As [`Value::owned`], but the marker is allowed.
    pub(crate) unsafe fn returned(ctx: Ctx<'js>, raw: sys::JSValue) -> JsResult<'js> {
        if raw.tag == sys::TAG_EXCEPTION { Err(Thrown(())) } else { Ok(Self { raw, ctx }) }
    }

    /// Gives the reference away.
    pub(crate) fn into_raw(self) -> sys::JSValue {
        let raw = self.raw;
        std::mem::forget(self);
        raw
    }

    /// The raw value, for a call into this very context.
    pub(crate) fn raw_for(&self, ctx: Ctx<'_>) -> sys::JSValue {
        assert!(self.ctx.inner.id == ctx.inner.id, "a value is used in the VM that it came from");
        self.raw
    }

    /// The VM's handle.
    pub fn ctx(&self) -> Ctx<'js> {
        self.ctx
    }

    /// `undefined`?
    pub fn is_undefined(&self) -> bool {
        self.raw.tag == sys::TAG_UNDEFINED
    }

    /// `null`?
    pub fn is_null(&self) -> bool {
        self.raw.tag == sys::TAG_NULL
    }

    /// `null` or `undefined`?
    pub fn is_nullish(&self) -> bool {
        self.is_null() || self.is_undefined()
    }

    /// A string?
    pub fn is_string(&self) -> bool {
        matches!(self.raw.tag, sys::TAG_STRING | sys::TAG_STRING_ROPE)
    }

    /// A number (not a `BigInt`)?
    pub fn is_number(&self) -> bool {
        matches!(self.raw.tag, sys::TAG_INT | sys::TAG_FLOAT64)
    }

    /// A boolean?
    pub fn is_bool(&self) -> bool {
        self.raw.tag == sys::TAG_BOOL
    }

    /// A symbol?
    pub fn is_symbol(&self) -> bool {
        self.raw.tag == sys::TAG_SYMBOL
    }

    /// A `BigInt`?
    pub fn is_big_int(&self) -> bool {
        matches!(self.raw.tag, sys::TAG_BIG_INT | sys::TAG_SHORT_BIG_INT)
    }

    /// An object of any kind, functions and arrays included?
    pub fn is_object(&self) -> bool {
        self.raw.tag == sys::TAG_OBJECT
    }

    /// Callable?
    pub fn is_function(&self) -> bool {
        // SAFETY: the value is alive and of this context.
        self.is_object() && unsafe { sys::JS_IsFunction(self.ctx.raw(), self.raw) }
    }

    /// Declared `async`?
    pub fn is_async_function(&self) -> bool {
        // SAFETY: the value is alive.
        self.is_object() && unsafe { sys::JS_IsAsyncFunction(self.raw) }
    }

    /// An array (a proxy of one does not count)?
    pub fn is_array(&self) -> bool {
        // SAFETY: the value is alive.
        self.is_object() && unsafe { sys::JS_IsArray(self.raw) }
    }

    /// Whether it is a `Proxy`.
    pub fn is_proxy(&self) -> bool {
        // SAFETY: the value is alive.
        self.is_object() && unsafe { sys::JS_IsProxy(self.raw) }
    }

    /// The handler of a `Proxy`; `None` for anything else, and if it was revoked.
    pub fn proxy_handler(&self) -> Option<Self> {
        if !self.is_proxy() {
            return None;
        }
        // SAFETY: the value is alive and of this context; the handler comes as a reference of its own.
        let handler = unsafe { sys::JS_GetProxyHandler(self.ctx.raw(), self.raw) };
        if handler.tag == sys::TAG_EXCEPTION {
            drop(self.ctx.take_exception());
            return None;
        }
        // SAFETY: as above.
        Some(unsafe { Self::owned(self.ctx, handler) })
    }

    /// An array, or a proxy of one, as `Array.isArray` says.
    pub fn is_array_like_proxy(&self) -> bool {
        if self.is_array() {
            return true;
        }
        // SAFETY: the value is alive and of this context; the target comes as a reference of its own.
        unsafe {
            self.is_object() && sys::JS_IsProxy(self.raw) && {
                let target = sys::JS_GetProxyTarget(self.ctx.raw(), self.raw);
                let is_array = sys::JS_IsArray(target);
                sys::JS_FreeValue(self.ctx.raw(), target);
                is_array
            }
        }
    }

    /// An `Error` or one of its subclasses?
    pub fn is_error(&self) -> bool {
        // SAFETY: the value is alive.
        self.is_object() && unsafe { sys::JS_IsError(self.raw) }
    }

    /// The trace of an error as it was made, whatever a script has put in its place.
    pub fn error_stack(&self) -> Option<Value<'js>> {
        // SAFETY: the value is alive and of this context; the result is a reference of ours.
        let stack = unsafe {
            Value::returned(self.ctx(), sys::brunt_stack(self.ctx().raw(), self.raw)).ok()?
        };
        (!stack.is_undefined()).then_some(stack)
    }

    /// A `Date`?
    pub fn is_date(&self) -> bool {
        // SAFETY: the value is alive.
        self.is_object() && unsafe { sys::JS_IsDate(self.raw) }
    }

    /// A `Map`?
    pub fn is_map(&self) -> bool {
        // SAFETY: the value is alive.
        self.is_object() && unsafe { sys::JS_IsMap(self.raw) }
    }

    /// A `Set`?
    pub fn is_set(&self) -> bool {
        // SAFETY: the value is alive.
        self.is_object() && unsafe { sys::JS_IsSet(self.raw) }
    }

    /// A `RegExp`?
    pub fn is_reg_exp(&self) -> bool {
        // SAFETY: the value is alive.
        self.is_object() && unsafe { sys::JS_IsRegExp(self.raw) }
    }

    /// A `Promise`?
    pub fn is_promise(&self) -> bool {
        // SAFETY: the value is alive.
        self.is_object() && unsafe { sys::JS_IsPromise(self.raw) }
    }

    /// The number, if it is one. No conversion.
    pub fn as_number(&self) -> Option<f64> {
        match self.raw.tag {
            // SAFETY: the tag says which member of the union is set.
            sys::TAG_INT => Some(f64::from(unsafe { self.raw.u.int32 })),
            // SAFETY: as above.
            sys::TAG_FLOAT64 => Some(unsafe { self.raw.u.float64 }),
            _ => None,
        }
    }

    /// The boolean, if it is one. No conversion.
    pub fn as_bool(&self) -> Option<bool> {
        // SAFETY: every member is an initialized integer when the tag says boolean, and all bytes are initialized otherwise.
        self.is_bool().then_some(unsafe { self.raw.u.int32 } != 0)
    }

    /// The string, if it is one. No conversion.
    pub fn as_str(&self) -> Option<JsStr<'js>> {
        if self.is_string() { self.to_js_str().ok() } else { None }
    }

    /// Truthiness.
    pub fn truthy(&self) -> bool {
        // SAFETY: the value is alive and of this context. Conversion to boolean runs no script and throws nothing.
        unsafe { sys::JS_ToBool(self.ctx.raw(), self.raw) > 0 }
    }

    /// `Number(value)`: may run `valueOf`.
    ///
    /// # Errors
    /// The exception of the conversion (symbols, BigInts, the script's own code).
    pub fn to_number(&self) -> Result<f64, Thrown> {
        if let Some(number) = self.as_number() {
            return Ok(number);
        }
        let _inside = self.ctx.enter();
        let mut number = 0.0;
        // SAFETY: the value is alive and of this context; `number` is written on success.
        let result = unsafe { sys::JS_ToFloat64(self.ctx.raw(), &raw mut number, self.raw) };
        if result == 0 { Ok(number) } else { Err(Thrown(())) }
    }

    /// The number as an integer, cut towards zero; `NaN` is 0.
    ///
    /// # Errors
    /// As [`Value::to_number`].
    pub fn to_integer(&self) -> Result<i64, Thrown> {
        let mut integer = 0;
        let _inside = self.ctx.enter();
        // SAFETY: as in `to_number`.
        let result = unsafe { sys::JS_ToInt64(self.ctx.raw(), &raw mut integer, self.raw) };
        if result == 0 { Ok(integer) } else { Err(Thrown(())) }
    }

    /// `String(value)`: may run `toString`.
    ///
    /// # Errors
    /// The exception of the conversion.
    pub fn to_js_str(&self) -> Result<JsStr<'js>, Thrown> {
        JsStr::new(self)
    }

    /// `String(value)` as an owned string.
    ///
    /// # Errors
    /// As [`Value::to_js_str`].
    pub fn to_string_lossy(&self) -> Result<String, Thrown> {
        Ok(self.to_js_str()?.as_str().to_owned())
    }

    /// `===`.
    pub fn strict_equals(&self, other: &Value<'_>) -> bool {
        // SAFETY: both are alive and of this context (checked); comparing runs no script.
        unsafe { sys::JS_IsStrictEqual(self.ctx.raw(), self.raw, other.raw_for(self.ctx)) }
    }
}

impl Clone for Value<'_> {
    fn clone(&self) -> Self {
        // SAFETY: the value is alive and of this context.
        Self { raw: unsafe { dup(self.ctx, self.raw) }, ctx: self.ctx }
    }
}

impl Drop for Value<'_> {
    fn drop(&mut self) {
        if self.raw.tag < 0 {
            // SAFETY: the reference is ours. Freeing runs class finalizers, which touch no JavaScript.
            unsafe { sys::JS_FreeValue(self.ctx.raw(), self.raw) };
        }
    }
}

impl std::fmt::Debug for Value<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.as_number(), self.as_bool()) {
            (Some(number), _) => write!(f, "Value({number})"),
            (_, Some(boolean)) => write!(f, "Value({boolean})"),
            _ => write!(f, "Value(tag {})", self.raw.tag),
        }
    }
}

/// # Safety
/// `raw` belongs to `ctx` and is alive.
unsafe fn dup(ctx: Ctx<'_>, raw: sys::JSValue) -> sys::JSValue {
    if raw.tag < 0 {
        // SAFETY: as promised by the caller.
        unsafe { sys::JS_DupValue(ctx.raw(), raw) }
    } else {
        raw
    }
}

impl<'js> Ctx<'js> {
    /// From now on `Math.random` gives the numbers of this seed.
    pub fn seed_random(self, seed: u64) {
        // SAFETY: the context is alive as long as a `Ctx` is.
        unsafe { sys::brunt_seed_random(self.raw(), seed) }
    }

    /// `undefined`.
    pub fn undefined(self) -> Value<'js> {
        Value { raw: sys::UNDEFINED, ctx: self }
    }

    /// `null`.
    pub fn null(self) -> Value<'js> {
        Value { raw: sys::NULL, ctx: self }
    }

    /// A boolean.
    pub fn bool(self, value: bool) -> Value<'js> {
        Value { raw: sys::value(sys::TAG_BOOL, i32::from(value)), ctx: self }
    }

    /// A small integer.
    pub fn int(self, value: i32) -> Value<'js> {
        Value { raw: sys::value(sys::TAG_INT, value), ctx: self }
    }

    /// A number; integral ones in the engine's integer form.
    pub fn number(self, value: f64) -> Value<'js> {
        let integer = value as i32;
        #[allow(clippy::float_cmp, reason = "exactly this integer, or not")]
        if f64::from(integer) == value && (integer != 0 || value.is_sign_positive()) {
            return self.int(integer);
        }
        Value {
            raw: sys::JSValue { u: sys::JSValueUnion { float64: value }, tag: sys::TAG_FLOAT64 },
            ctx: self,
        }
    }

    /// A `BigInt`.
    pub fn big_int(self, value: i64) -> Value<'js> {
        // SAFETY: the context is alive; the result is ours.
        unsafe { Value::owned(self, sys::JS_NewBigInt64(self.raw(), value)) }
    }
}
