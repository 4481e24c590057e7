//! stub
use brunt_quickjs::{Ctx, Value};
pub(crate) fn encode_setup_data<'js>(
    ctx: Ctx<'js>,
    v: &Value<'js>,
) -> Result<Option<String>, String> {
    ctx.stringify_json(v).map_err(|_| "x".to_owned())
}
