//! `setTimeout` and its kin: globals, and `k6/timers`.

use std::sync::LazyLock;

use brunt_js::Host;
use brunt_quickjs::{Call, Ctx, JsResult, Members, Thrown, Value};

use crate::module::Module;
use crate::throwing::{throw, throw_type};

static MEMBERS: LazyLock<Members> = LazyLock::new(|| {
    Members::new()
        .function(c"clearInterval", 1, clear)
        .function(c"clearTimeout", 1, clear)
        .function(c"setInterval", 2, |call| set(call, true))
        .function(c"setTimeout", 2, |call| set(call, false))
});

/// The module that scripts import.
pub(crate) struct Exports;

impl Module for Exports {
    fn specifier(&self) -> &'static str {
        "k6/timers"
    }

    fn names(&self) -> Vec<String> {
        MEMBERS.names().map(|name| name.to_string_lossy().into_owned()).collect()
    }

    fn fill<'js>(&self, ctx: Ctx<'js>, exports: &Value<'js>) -> JsResult<'js, ()> {
        for name in self.names() {
            exports.define(&name, ctx.global().get(&name)?)?;
        }
        Ok(())
    }
}

pub(crate) fn install(ctx: Ctx<'_>) -> JsResult<'_, ()> {
    ctx.global().define_members(&MEMBERS)
}

fn set<'js>(call: Call<'js>, repeat: bool) -> JsResult<'js> {
    let ctx = call.ctx();
    let function = call.argument(0);
    if !function.is_function() {
        let name = if repeat { "setInterval" } else { "setTimeout" };
        return Err(refuse(ctx, name, &function));
    }
    let delay = call.argument(1);
    let delay_ms = if delay.is_undefined() { 0.0 } else { delay.to_number()? };
    // NaN, negative delays and those of centuries are 0, as in k6.
    let delay_ns = delay_ms.max(0.0) * 1e6;
    let delay_ns = if delay_ns < i64::MAX as f64 { delay_ns as u64 } else { 0 };
    let id =
        Host::of(ctx).events().set_timer(ctx, function, call.arguments_from(2), delay_ns, repeat);
    Ok(ctx.number(f64::from(id)))
}

/// In k6's words, whose missing function is another error than a value that is no function.
fn refuse(ctx: Ctx<'_>, name: &str, given: &Value<'_>) -> Thrown {
    if given.is_nullish() {
        return throw(ctx, &format!("{name}'s callback isn't a callable function"));
    }
    let shown = if given.is_symbol() { given.get("description") } else { Ok(given.clone()) };
    match shown.and_then(|shown| shown.to_string_lossy()) {
        Ok(shown) => throw_type(
            ctx,
            &format!(
                "could not convert function call parameter 0: could not convert {shown} to sobek.Callable"
            ),
        ),
        Err(thrown) => thrown,
    }
}

fn clear<'js>(call: Call<'js>) -> JsResult<'js> {
    let ctx = call.ctx();
    let id = call.argument(0);
    if id.is_number() || id.is_string() {
        // A value that is no number of a timer clears none.
        Host::of(ctx).events().clear_timer(ctx, id.to_number()? as u32);
    }
    Ok(ctx.undefined())
}
