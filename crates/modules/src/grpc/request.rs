//! A request object as the bytes of a message.

use std::sync::Arc;

use brunt_grpc::{Method, Schema};
use brunt_quickjs::{Call, Ctx, JsResult, Value};

/// The bytes; `Err` tells why the object is no such message.
pub(super) fn bytes<'js>(
    ctx: Ctx<'js>,
    schema: &Schema,
    method: &Arc<Method>,
    object: &Value<'js>,
) -> JsResult<'js, Result<Vec<u8>, String>> {
    let mut text = ctx.stringify_json(object)?.unwrap_or_else(|| "null".to_owned());
    // JSON has no NaN and no infinity, but messages have: they are texts there.
    if text.contains("null") {
        let json = ctx.global().get("JSON")?;
        let replacer = ctx.function(c"", 2, spelled_out)?;
        let arguments = [object.clone(), replacer];
        text = json.get("stringify")?.call(&json, &arguments)?.to_string_lossy()?;
    }
    let mut bytes = Vec::with_capacity(text.len());
    let encoded = schema.encode(method, &text, &mut bytes);
    Ok(encoded.map(|()| bytes).map_err(|error| error.to_string()))
}

/// A replacer for `JSON.stringify`.
fn spelled_out(call: Call<'_>) -> JsResult<'_> {
    let value = call.argument(1);
    match value.as_number() {
        Some(number) if number.is_nan() => call.ctx().string("NaN"),
        Some(f64::INFINITY) => call.ctx().string("Infinity"),
        Some(f64::NEG_INFINITY) => call.ctx().string("-Infinity"),
        _ => Ok(value),
    }
}
