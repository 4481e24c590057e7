//! stub
use brunt_quickjs::{Ctx, JsResult, Value};
#[derive(Default)]
pub(crate) struct SharedArrays;
pub(crate) fn construct<'js>(
    ctx: Ctx<'js>,
    _: &SharedArrays,
    _: bool,
    _: &Value<'js>,
    cb: &Value<'js>,
) -> JsResult<'js> {
    cb.call(&ctx.undefined(), &[])
}
