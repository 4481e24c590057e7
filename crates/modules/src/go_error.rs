//! `GoError`, which k6's native functions throw: scripts look at its name and message.

use std::ffi::CStr;
use std::sync::LazyLock;

use brunt_quickjs::error::ErrorKind;
use brunt_quickjs::{Call, Class, Ctx, JsResult, Members, Name, Thrown, Value};

use crate::boxed::unbox;
use crate::lazy::{LazyGlobal, lazy};

static NAME: Name = Name::new("name");
static MESSAGE: Name = Name::new("message");
static STACK: Name = Name::new("stack");
static VALUE: Name = Name::new("value");
static ERROR: Name = Name::new("error");
static TO_STRING: Name = Name::new("toString");

/// Has no instances: it makes each VM keep the prototype where no script can replace it.
struct Prototype;

impl Class for Prototype {
    const NAME: &'static CStr = c"GoError";
    fn members() -> &'static Members {
        static MEMBERS: Members = Members::new();
        &MEMBERS
    }
}

struct GoError;

impl LazyGlobal for GoError {
    const NAME: &'static CStr = c"GoError";
    fn make(ctx: Ctx<'_>) -> JsResult<'_> {
        prototype(ctx)?.get("constructor")
    }
}

/// Gives the VM its global class `GoError`.
pub(crate) fn install(ctx: Ctx<'_>) -> JsResult<'_, ()> {
    static MEMBERS: LazyLock<Members> = LazyLock::new(|| lazy::<GoError>(Members::new()));
    ctx.global().define_members(&MEMBERS)
}

/// Throws a `GoError` with this message.
pub(crate) fn throw_go(ctx: Ctx<'_>, message: &str) -> Thrown {
    match make(ctx, message) {
        Ok(error) => ctx.throw(error),
        Err(thrown) => thrown,
    }
}

/// A `GoError` with the current stack. Like k6's it owns `stack`, `message` and `value`, which is an object with the text.
pub(crate) fn make<'js>(ctx: Ctx<'js>, message: &str) -> JsResult<'js> {
    let error = ctx.error(ErrorKind::Plain, message);
    error.set_prototype(&prototype(ctx)?)?;
    // The engine wrote the stack while the error was still a plain one.
    let stack = error.get(&STACK)?.to_string_lossy()?;
    let frames = stack.find("\n\tat ").map_or("\n", |start| &stack[start..]);
    let head = if message.is_empty() { "GoError" } else { "GoError: " };
    error.define_hidden(&STACK, ctx.string(&format!("{head}{message}{frames}"))?)?;
    // k6's is an error of Go: without members that are shown, but with a text.
    let value = ctx.object()?;
    let text = message.to_owned();
    let to_string = ctx.closure(c"toString", 0, move |call: Call<'_>| call.ctx().string(&text))?;
    value.define_hidden(&TO_STRING, to_string)?;
    error.define(&VALUE, value)?;
    Ok(error)
}

/// An error of Go as such, which k6 rejects promises with and tells to handlers: no `Error`, without a stack or members that
/// `JSON.stringify` shows. `String(error)`, `error.error()` and the console give its text.
pub(crate) struct BareError(String);

impl BareError {
    /// Its text.
    pub(crate) fn text(&self) -> &str {
        &self.0
    }
}

impl Class for BareError {
    const NAME: &'static CStr = c"Object";
    fn members() -> &'static Members {
        static MEMBERS: LazyLock<Members> =
            LazyLock::new(|| Members::new().method(c"toString", 0, tell_bare));
        &MEMBERS
    }
}

fn tell_bare<'js>(call: Call<'js>) -> JsResult<'js> {
    let this = call.this();
    call.ctx().string(this.instance::<BareError>().map_or("", BareError::text))
}

/// One with this text, without `error()`: other members may come before that.
pub(crate) fn bare_start<'js>(ctx: Ctx<'js>, text: &str) -> JsResult<'js> {
    ctx.instance(BareError(text.to_owned()))
}

/// Gives a [`BareError`] its method `error()`.
pub(crate) fn bare_end<'js>(ctx: Ctx<'js>, error: &Value<'js>) -> JsResult<'js, ()> {
    error.define(&ERROR, ctx.function(c"error", 0, tell_bare)?)
}

/// A [`BareError`] with this text.
pub(crate) fn bare<'js>(ctx: Ctx<'js>, text: &str) -> JsResult<'js> {
    let error = bare_start(ctx, text)?;
    bare_end(ctx, &error)?;
    Ok(error)
}

/// The rejection of a promise where a call would have thrown `value`: a `GoError` becomes the error in it.
pub(crate) fn bared<'js>(ctx: Ctx<'js>, value: Value<'js>) -> JsResult<'js> {
    if !value.is_error() || !value.prototype()?.strict_equals(&prototype(ctx)?) {
        return Ok(value);
    }
    bare(ctx, &value.get(&MESSAGE)?.to_string_lossy()?)
}

/// The prototype, complete from its first use on.
fn prototype(ctx: Ctx<'_>) -> JsResult<'_> {
    let prototype = ctx.class_prototype::<Prototype>()?;
    if prototype.has(&NAME)? {
        return Ok(prototype);
    }
    let parent = ctx.error(ErrorKind::Plain, "").prototype()?;
    prototype.set_prototype(&parent)?;
    prototype.define_hidden(&NAME, ctx.string("GoError")?)?;
    prototype.define_hidden(&MESSAGE, ctx.string("")?)?;
    let constructor = ctx.constructor(c"GoError", 1, construct, &prototype)?;
    constructor.set_prototype(&parent.get("constructor")?)?;
    Ok(prototype)
}

fn construct<'js>(call: Call<'js>) -> JsResult<'js> {
    let message = call.argument(0);
    let message = if message.is_undefined() { String::new() } else { message.to_string_lossy()? };
    let error = make(call.ctx(), &message)?;
    adopt(&call, &error)?;
    Ok(error)
}

/// Makes what a constructor made an instance of the class that was called with `new`, which may extend ours.
pub(crate) fn adopt<'js>(call: &Call<'js>, made: &Value<'js>) -> JsResult<'js, ()> {
    let class = call.this();
    if class.is_object() {
        let prototype = class.get("prototype")?;
        if prototype.is_object() && !prototype.strict_equals(&made.prototype()?) {
            made.set_prototype(&prototype)?;
        }
    }
    Ok(())
}

/// The type of a value in k6's messages: the one that Go sees.
pub(crate) fn go_type(value: &Value<'_>) -> &'static str {
    if value.is_nullish() {
        return "<nil>";
    }
    if let Some(number) = value.as_number() {
        return if number.fract() == 0.0 && number.abs() < 9e18 { "int64" } else { "float64" };
    }
    if value.is_string() || value.is_symbol() {
        return "string";
    }
    if value.is_bool() {
        return "bool";
    }
    if value.is_big_int() {
        return "*big.Int";
    }
    if value.is_function() {
        return "func(sobek.FunctionCall) sobek.Value";
    }
    if value.is_array() || value.is_set() {
        return "[]interface {}";
    }
    if value.is_map() {
        return "[][2]interface {}";
    }
    if value.is_date() {
        return "time.Time";
    }
    // The wrapper of a string is an object to Go.
    if let Some(primitive) = unbox(value)
        && !primitive.is_string()
    {
        return go_type(&primitive);
    }
    match value.typed_array_name() {
        Some("Uint8Array" | "Uint8ClampedArray") => "[]uint8",
        Some("Int8Array") => "[]int8",
        Some("Int16Array") => "[]int16",
        Some("Uint16Array") => "[]uint16",
        Some("Int32Array") => "[]int32",
        Some("Uint32Array") => "[]uint32",
        Some("BigInt64Array") => "[]int64",
        Some("BigUint64Array") => "[]uint64",
        Some("Float32Array") => "[]float32",
        Some("Float64Array") => "[]float64",
        _ => "map[string]interface {}",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::{all, vm};

    #[test]
    fn it_is_an_error_with_a_name_of_its_own() {
        let vm = vm(|ctx| {
            install(ctx)?;
            let fail = ctx.function(c"fail", 1, |call| {
                Err(throw_go(call.ctx(), &call.argument(0).to_string_lossy()?))
            })?;
            ctx.global().define("fail", fail)
        });
        all(
            &vm,
            &[
                (
                    "function f() { fail('no size') } try { f() } catch (e) { var e0 = e } String(e0)",
                    "GoError: no size",
                ),
                (
                    "[e0 instanceof Error, e0 instanceof GoError, e0.name, e0.constructor === GoError, e0.value, Object.keys(e0)].join()",
                    "true,true,GoError,true,no size,value",
                ),
                (
                    "e0.stack.split('\\n').slice(0, 3).map(l => l.replace(/:\\d.*/, '')).join('|')",
                    "GoError: no size|\tat fail (native)|\tat f (test.js",
                ),
                (
                    "try { fail('x'.repeat(999)) } catch (e) { `${e.message.length} ${e.stack.split('\\n')[0].length}` }",
                    "999 1008",
                ),
                (
                    "class Mine extends GoError {} const m = new Mine('a'); `${m} ${m instanceof Mine} ${GoError('b').message}`",
                    "GoError: a true b",
                ),
                ("Object.getPrototypeOf(GoError) === Error", "true"),
            ],
        );
    }

    #[test]
    fn a_script_that_replaces_the_global_gets_the_real_class_thrown() {
        let vm = vm(install);
        vm.ctx().eval("t.js", "GoError = 5").unwrap();
        let error = make(vm.ctx(), "x").unwrap();
        assert!(error.is_error());
        all(&vm, &[("GoError", "5")]);
    }
}
