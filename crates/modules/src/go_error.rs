//! stub
use brunt_quickjs::{Ctx, JsResult, Thrown};
pub(crate) fn install(_: Ctx<'_>) -> JsResult<'_, ()> {
    Ok(())
}
pub(crate) fn throw_go(ctx: Ctx<'_>, message: &str) -> Thrown {
    ctx.throw_error(brunt_quickjs::error::ErrorKind::Plain, message)
}
