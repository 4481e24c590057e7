//! The exceptions of native functions, and how promises hear of them.

use brunt_js::{Host, Phase};
use brunt_quickjs::error::ErrorKind;
use brunt_quickjs::{Ctx, Deferred, JsResult, Thrown};

use crate::go_error::throw_go;

/// Refuses what init code must not do.
pub(crate) fn not_in_init(ctx: Ctx<'_>, what: &str) -> Result<(), Thrown> {
    if Host::of(ctx).phase() == Phase::Init {
        return Err(throw(ctx, &format!("{what} in the init context is not supported")));
    }
    Ok(())
}

/// Throws what k6 throws from native functions.
pub(crate) fn throw(ctx: Ctx<'_>, message: &str) -> Thrown {
    throw_go(ctx, message)
}

/// Throws a `TypeError`.
pub(crate) fn throw_type(ctx: Ctx<'_>, message: &str) -> Thrown {
    ctx.throw_error(ErrorKind::Type, message)
}

/// The VU was stopped while it waited: unwinds past all `catch` and `finally`.
pub(crate) fn throw_stopped(ctx: Ctx<'_>) -> Thrown {
    ctx.throw_uncatchable("the VU was stopped")
}

/// Settles a promise with what a function returned or threw.
///
/// # Errors
/// An exception that cannot be caught: the VU was stopped.
pub(crate) fn settle<'js>(
    ctx: Ctx<'js>,
    deferred: Deferred,
    outcome: JsResult<'js>,
) -> JsResult<'js, ()> {
    match outcome {
        Ok(value) => ctx.settle(deferred, Ok(value)),
        Err(thrown) => match ctx.take_exception() {
            Some(exception) => ctx.settle(deferred, Err(exception.value)),
            None => Err(thrown),
        },
    }
}

/// A promise that is settled with what a function returned or threw.
///
/// # Errors
/// As [`settle`].
pub(crate) fn settled<'js>(ctx: Ctx<'js>, outcome: JsResult<'js>) -> JsResult<'js> {
    let (promise, deferred) = ctx.promise()?;
    settle(ctx, deferred, outcome)?;
    Ok(promise)
}
