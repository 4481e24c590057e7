//! Arguments of scripts, read as k6 reads them.

use std::time::Duration;

use brunt_quickjs::{Ctx, JsResult, Value};

use crate::boxed::unbox;
use crate::go_error::go_type;
use crate::throwing::throw;

/// `Object(value)`: strings become objects of their characters, other primitives empty ones.
///
/// # Errors
/// If the VM's memory limit is reached.
pub(crate) fn to_object<'js>(ctx: Ctx<'js>, value: &Value<'js>) -> JsResult<'js> {
    if value.is_object() {
        return Ok(value.clone());
    }
    ctx.global().get("Object")?.call(&ctx.undefined(), std::slice::from_ref(value))
}

/// The length of an array whose elements native code takes one by one, without a look at the time or at `vuMemory`.
///
/// # Errors
/// There are more than a script means: `Array(2 ** 32 - 1)` would hold the core for minutes, and take the machine's memory.
pub(crate) fn length_of<'js>(list: &Value<'js>) -> JsResult<'js, u32> {
    const MOST: u32 = 1 << 20;
    match list.length()? {
        length if length > MOST => {
            let why = format!("an array of {length} elements is too long here: at most {MOST}");
            Err(throw(list.ctx(), &why))
        }
        length => Ok(length),
    }
}

/// An argument as text; `null` and a missing one are empty, as where k6 takes a Go string.
///
/// # Errors
/// The exception of the conversion.
pub(crate) fn text_or_empty(value: &Value<'_>) -> JsResult<'static, String> {
    if value.is_nullish() { Ok(String::new()) } else { value.to_string_lossy() }
}

/// Tag values may be strings, numbers and booleans. `None` for anything else.
pub(crate) fn tag_text(value: &Value<'_>) -> Option<String> {
    if value.is_string() || value.is_number() || value.is_bool() {
        value.to_string_lossy().ok()
    } else {
        // An object around a number or a boolean is what it holds; that around a string is an object to k6.
        let boxed = if value.is_object() { unbox(value) } else { None };
        boxed.filter(|held| held.is_number() || held.is_bool()).and_then(|held| tag_text(&held))
    }
}

/// Reads an object of tags.
///
/// # Errors
/// A `GoError` naming the tag whose value cannot be one, after what `whose` says about its place.
pub(crate) fn read_tags<'js>(
    ctx: Ctx<'js>,
    object: &Value<'js>,
    whose: impl FnOnce() -> String,
) -> JsResult<'js, Vec<(String, String)>> {
    let mut tags = Vec::new();
    if object.is_nullish() {
        return Ok(tags);
    }
    let object = &to_object(ctx, object)?;
    for key in object.keys()? {
        let value = object.get(&key)?;
        let name = key.text().unwrap_or_default();
        match tag_text(&value) {
            Some(text) => tags.push((name, text)),
            None => {
                return Err(throw(
                    ctx,
                    &format!(
                        "{}invalid value for metric tag '{name}': only String, Boolean and Number types are \
                         accepted as a metric tag values",
                        whose()
                    ),
                ));
            }
        }
    }
    Ok(tags)
}

/// A time: a number of milliseconds, or a text such as `1m30s`. A negative number is 0.
///
/// # Errors
/// The fault of the text.
pub(crate) fn timeout_of(value: &Value<'_>) -> Result<Duration, String> {
    if let Some(ms) = value.as_number() {
        // The cast saturates; a century is for ever.
        return Ok(Duration::from_nanos((ms.clamp(0.0, 3.2e12) * 1e6) as u64));
    }
    if let Some(text) = value.as_str() {
        let text = text.as_str();
        let ns = brunt_duration::parse_millis(text).map_err(|why| why.to_string())?;
        return Ok(Duration::from_nanos(u64::try_from(ns).unwrap_or(0)));
    }
    let kind = go_type(value);
    Err(format!("unable to use type {kind} as a duration value"))
}
