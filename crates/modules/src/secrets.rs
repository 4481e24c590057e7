//! `k6/secrets`: values of `--secret-source`, which log lines do not show.

use std::sync::Arc;

use brunt_fiber::block_on;
use brunt_js::Host;
use brunt_quickjs::error::ErrorKind;
use brunt_quickjs::{Call, Ctx, Deferred, JsResult, Value};
use brunt_secrets::{Answer, SecretError};

use crate::module::Module;
use crate::throwing::{throw, throw_stopped};

/// The module that scripts import.
pub(crate) struct Exports;

impl Module for Exports {
    fn specifier(&self) -> &'static str {
        "k6/secrets"
    }

    fn names(&self) -> Vec<String> {
        ["get", "source"].map(str::to_owned).to_vec()
    }

    fn fill<'js>(&self, ctx: Ctx<'js>, exports: &Value<'js>) -> JsResult<'js, ()> {
        exports.define("get", ctx.function(c"get", 1, |call| get(&call, None))?)?;
        exports.define("source", ctx.function(c"source", 1, source)?)
    }
}

/// `source(name)`: whether there is one is told by its `get()`.
fn source<'js>(call: Call<'js>) -> JsResult<'js> {
    let ctx = call.ctx();
    let name: Arc<str> = call.argument(0).to_string_lossy()?.into();
    let object = ctx.object()?;
    let get = ctx.closure(c"get", 1, move |call: Call<'_>| get(&call, Some(&name)))?;
    object.define("get", get)?;
    Ok(object)
}

fn get<'js>(call: &Call<'js>, source: Option<&str>) -> JsResult<'js> {
    let ctx = call.ctx();
    let key = call.argument(0).to_string_lossy()?;
    let (promise, deferred) = ctx.promise()?;
    let answer = match brunt_secrets::of_process() {
        None => Answer::Known(Err(SecretError::NoSources)),
        Some(secrets) => secrets.ask(source, &key),
    };
    match answer {
        Answer::Known(told) => settle(ctx, deferred, told)?,
        Answer::Later(told) => {
            let gone = || SecretError::Refused("the source of secrets has ended".to_owned());
            let host = Host::of(ctx);
            let told = async move { told.await.unwrap_or_else(|_| Err(gone())) };
            if !brunt_fiber::on_fiber() {
                return Err(throw(ctx, "secrets cannot be asked for here"));
            }
            // While the options are being read, there is no core whose other work could go on meanwhile.
            if host.core().is_some() {
                host.events().spawn(told, move |ctx, told| settle(ctx, deferred, told));
            } else {
                match block_on(told) {
                    Ok(told) => settle(ctx, deferred, told)?,
                    Err(_) => return Err(throw_stopped(ctx)),
                }
            }
        }
    }
    Ok(promise)
}

fn settle<'js>(
    ctx: Ctx<'js>,
    deferred: Deferred,
    told: Result<String, SecretError>,
) -> JsResult<'js, ()> {
    let hidden = |value: String| match brunt_secrets::of_process() {
        Some(secrets) => {
            let hidden = secrets.redactor().hide(&value);
            hidden.map(|()| value).map_err(|_| SecretError::TooMany)
        }
        None => Ok(value),
    };
    let result = match told.and_then(hidden) {
        Ok(value) => Ok(ctx.string(&value)?),
        Err(error) => Err(ctx.error(ErrorKind::Plain, &error.to_string())),
    };
    ctx.settle(deferred, result)
}
