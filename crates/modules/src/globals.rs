//! The globals that are no modules: `open`, `__ENV`, `__VU`, `__ITER`, `global`, and what browsers have.

pub(crate) mod base64;
mod collation;
mod environment;
pub(crate) mod math_random;
pub(crate) mod open;
pub(crate) mod structured_clone;
pub(crate) mod text;
pub(crate) mod url;
pub(crate) mod web;

use std::sync::LazyLock;

use brunt_js::Host;
use brunt_quickjs::{Call, Ctx, JsResult, Members, Name};

use self::environment::Environment;
use crate::named::ByName;
use crate::state::VuState;
use crate::throwing::throw;

static ENV: Name = Name::new("__ENV");
static VU: Name = Name::new("__VU");
static ITER: Name = Name::new("__ITER");
static GLOBAL: Name = Name::new("global");

pub(crate) fn install(ctx: Ctx<'_>) -> JsResult<'_, ()> {
    let global = ctx.global();
    if VuState::of(ctx).shared.world.extended {
        global.define_hidden(&GLOBAL, global.clone())?;
    }
    global.define(&VU, ctx.number(Host::of(ctx).ids().local as f64))?;
    install_env(ctx)?;
    install_hints(ctx)?;
    open::install(ctx)?;
    crate::go_error::install(ctx)?;
    crate::crypto::web::install(ctx)?;
    crate::json_parse::install(ctx)?;
    base64::install(ctx)?;
    if Host::of(ctx).program().may_use(collation::NAME) {
        collation::install(ctx)?;
    }
    structured_clone::install(ctx)?;
    text::install(ctx)?;
    url::install(ctx)?;
    web::install(ctx)
}

/// `__ENV` anew: the run's, with the scenario's on top. It is made when it is first read: an environment has dozens of
/// variables, every VU its own copy, and few scripts look at it outside of the init code.
pub(crate) fn install_env(ctx: Ctx<'_>) -> JsResult<'_, ()> {
    static MEMBERS: LazyLock<Members> =
        LazyLock::new(|| Members::new().accessor(c"__ENV", read_env, write_env));
    ctx.global().define_members(&MEMBERS)
}

fn read_env<'js>(call: Call<'js>) -> JsResult<'js> {
    let ctx = call.ctx();
    let env = if VuState::of(ctx).shared.world.freeze_env {
        frozen_env(ctx)?
    } else {
        ctx.instance(ByName(Environment::here(ctx)))?
    };
    ctx.global().define(&ENV, env.clone())?;
    Ok(env)
}

fn frozen_env(ctx: Ctx<'_>) -> JsResult<'_> {
    let scenario = Host::of(ctx).scenario();
    let of_scenario = scenario.iter().flat_map(|scenario| &scenario.spec().env);
    let env = ctx.object()?;
    for (name, value) in VuState::of(ctx).shared.world.env.iter().chain(of_scenario) {
        env.define(name, ctx.string(value)?)?;
    }
    env.freeze()?;
    Ok(env)
}

fn write_env<'js>(call: Call<'js>) -> JsResult<'js> {
    let ctx = call.ctx();
    ctx.global().define(&ENV, call.argument(0))?;
    Ok(ctx.undefined())
}

/// In ES modules `module` and `exports` mean a mistake: touching them throws a hint, as in k6. (CommonJS files have their
/// own.)
fn install_hints(ctx: Ctx<'_>) -> JsResult<'_, ()> {
    static MEMBERS: LazyLock<Members> =
        LazyLock::new(|| {
            Members::new()
                .accessor(c"module", |call| mixed(call, "module"), replace_module)
                .accessor(c"exports", |call| mixed(call, "exports"), replace_exports)
        });
    let program = Host::of(ctx).program();
    if program.has_es_modules() && (program.may_use("module") || program.may_use("exports")) {
        ctx.global().define_members(&MEMBERS)?;
    }
    Ok(())
}

fn mixed<'js>(call: Call<'js>, name: &str) -> JsResult<'js> {
    Err(throw(
        call.ctx(),
        &format!(
            "\"{name}\" is used in an ES module: a file has either `import` and `export`, or `require()` and \
             `module.exports`, not both"
        ),
    ))
}

fn replace_module<'js>(call: Call<'js>) -> JsResult<'js> {
    mixed(call, "module")
}

fn replace_exports<'js>(call: Call<'js>) -> JsResult<'js> {
    mixed(call, "exports")
}

/// `__ITER`, which exists only in VUs that iterate: computed when it is read, so that iterations cost nothing. A script
/// may assign to it, which makes a plain variable; the next iteration has its own number again, see `begin`.
pub(crate) fn install_iteration(ctx: Ctx<'_>) -> JsResult<'_, ()> {
    let getter = ctx.function(c"__ITER", 0, |call| {
        let iteration = Host::of(call.ctx()).iteration();
        Ok(match iteration {
            Some(iteration) => call.ctx().number(iteration.vu_in_instance as f64),
            None => call.ctx().undefined(),
        })
    })?;
    let setter = ctx.function(c"__ITER", 1, |call| {
        let ctx = call.ctx();
        ctx.global().define(&ITER, call.argument(0))?;
        VuState::of(ctx).iterates.set(false);
        Ok(ctx.undefined())
    })?;
    ctx.global().define_accessor(&ITER, getter, Some(setter))
}
