//! The globals that are no modules: `open`, `__ENV`, `__VU`, `__ITER`, `global`, and what browsers have.

pub(crate) mod base64;
pub(crate) mod math_random;
mod open;
pub(crate) mod structured_clone;
pub(crate) mod text;
pub(crate) mod url;

use std::collections::BTreeMap;

use brunt_js::Host;
use brunt_quickjs::{Ctx, JsResult, Name};

use crate::api::Shared;

static ENV: Name = Name::new("__ENV");
static VU: Name = Name::new("__VU");
static ITER: Name = Name::new("__ITER");
static GLOBAL: Name = Name::new("global");

pub(crate) use math_random::seed_random;

pub(crate) fn install<'js>(ctx: Ctx<'js>, shared: &Shared) -> JsResult<'js, ()> {
    let global = ctx.global();
    if shared.world.extended {
        global.define_hidden(&GLOBAL, global.clone())?;
    }
    global.define(&VU, ctx.number(Host::of(ctx).ids().local as f64))?;
    install_env(ctx, shared, None)?;
    open::install(ctx)?;
    crate::go_error::install(ctx)?;
    crate::crypto::install(ctx)?;
    crate::json_parse::install(ctx)?;
    base64::install(ctx)?;
    structured_clone::install(ctx)?;
    text::install(ctx)?;
    url::install(ctx)
}

/// `__ENV` anew: the run's, with a scenario's on top.
pub(crate) fn install_env<'js>(
    ctx: Ctx<'js>,
    shared: &Shared,
    scenario: Option<&BTreeMap<String, String>>,
) -> JsResult<'js, ()> {
    let env = ctx.object()?;
    for (name, value) in shared.world.env.iter().chain(scenario.into_iter().flatten()) {
        env.define(name, ctx.string(value)?)?;
    }
    ctx.global().define(&ENV, env)
}

/// `__ITER`, which exists only in VUs that iterate: computed when it is read, so that iterations cost nothing.
pub(crate) fn install_iteration(ctx: Ctx<'_>) -> JsResult<'_, ()> {
    let getter = ctx.function(c"__ITER", 0, |call| {
        let iteration = Host::of(call.ctx()).iteration();
        Ok(match iteration {
            Some(iteration) => call.ctx().number(iteration.vu_in_instance as f64),
            None => call.ctx().undefined(),
        })
    })?;
    ctx.global().define_accessor(&ITER, getter, None)
}
