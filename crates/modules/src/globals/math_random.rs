//! stub
use brunt_quickjs::{Ctx, JsResult};
pub(crate) fn seed_random(_: Ctx<'_>, _: i64) -> JsResult<'_, ()> {
    Ok(())
}
