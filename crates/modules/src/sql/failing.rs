//! Failures of databases as exceptions: `GoError`s with the server's code.

use brunt_quickjs::{Ctx, JsResult, Name, Thrown, Value};
use brunt_sql::{Failure, Trouble};

use crate::go_error::make;

static CODE: Name = Name::new("code");
static NUMBER: Name = Name::new("number");
static IS_RETRYABLE: Name = Name::new("retryable");

/// The fault of a caller.
pub(super) fn usage(text: impl Into<String>) -> Failure {
    Failure::new(Trouble::Usage, text)
}

/// A `GoError` with the text of the failure; `code`, `number` and `retryable` of it, which enumeration does not show.
pub(super) fn error<'js>(ctx: Ctx<'js>, failure: &Failure) -> JsResult<'js> {
    let error = make(ctx, failure.text())?;
    error.define_hidden(&CODE, ctx.string(failure.code())?)?;
    error.define_hidden(&NUMBER, ctx.number(failure.number() as f64))?;
    error.define_hidden(&IS_RETRYABLE, ctx.bool(failure.trouble() == Trouble::Retry))?;
    Ok(error)
}

/// Throws it.
pub(super) fn throw(ctx: Ctx<'_>, failure: &Failure) -> Thrown {
    match error(ctx, failure) {
        Ok(error) => ctx.throw(error),
        Err(thrown) => thrown,
    }
}

/// The settling of a promise: a value, or the failure as its reason.
pub(super) fn settling<'js>(
    ctx: Ctx<'js>,
    result: Result<Value<'js>, Failure>,
) -> JsResult<'js, Result<Value<'js>, Value<'js>>> {
    match result {
        Ok(value) => Ok(Ok(value)),
        Err(failure) => Ok(Err(error(ctx, &failure)?)),
    }
}
