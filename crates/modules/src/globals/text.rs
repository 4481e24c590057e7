//! stub
use brunt_quickjs::{Ctx, JsResult};
pub(crate) fn install(_: Ctx<'_>) -> JsResult<'_, ()> {
    Ok(())
}
