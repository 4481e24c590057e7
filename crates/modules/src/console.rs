//! stub
use brunt_quickjs::{Ctx, JsResult};
pub(crate) fn install(ctx: Ctx<'_>) -> JsResult<'_, ()> {
    let o = ctx.object()?;
    for n in ["log", "error", "warn", "info"] {
        o.define(
            n,
            ctx.function(c"log", 1, |call| {
                eprintln!("{}", call.argument(0).to_string_lossy()?);
                Ok(call.ctx().undefined())
            })?,
        )?;
    }
    ctx.global().define("console", o)
}
