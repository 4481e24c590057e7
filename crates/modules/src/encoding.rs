//! stub
use brunt_quickjs::{Ctx, JsResult, Value};
pub(crate) fn names() -> Vec<String> {
    vec![]
}
pub(crate) fn install(_: Ctx<'_>) -> JsResult<'_, ()> {
    Ok(())
}
pub(crate) fn fill<'js>(
    _: Ctx<'js>,
    _: &mut dyn FnMut(&str, Value<'js>) -> JsResult<'js, ()>,
) -> JsResult<'js, ()> {
    Ok(())
}
