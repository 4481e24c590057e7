//! Arguments of scripts, read as k6 reads them.

use std::time::Duration;

use brunt_quickjs::name::Key;
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

/// The most tags, headers, cookies and the like that one object gives: they are looked up by comparing each with each.
pub(crate) const MEMBERS_MAX: usize = 4096;

/// The keys of an object of tags, headers, options and the like. A text or a typed array has one for each of its elements.
///
/// # Errors
/// There are more than a script means: see [`MEMBERS_MAX`].
pub(crate) fn keys_of<'js>(object: &Value<'js>) -> JsResult<'js, Vec<Key<'js>>> {
    let keys = object.keys()?;
    if keys.len() > MEMBERS_MAX {
        let why = too_many(keys.len());
        return Err(throw(object.ctx(), &why));
    }
    Ok(keys)
}

/// The message about more members than [`MEMBERS_MAX`].
pub(crate) fn too_many(count: usize) -> String {
    format!("an object of {count} members is too large here: at most {MEMBERS_MAX}")
}

/// Room for the texts that one call reads from the elements or members of a value. An array may hold the same long text a
/// million times, and counts it once: native code would take each of them.
pub(crate) struct Room(usize);

impl Room {
    const BYTES: usize = 256 << 20;

    /// All of it.
    pub(crate) fn new() -> Self {
        Self(Self::BYTES)
    }

    /// An element or member as text.
    ///
    /// # Errors
    /// The exception of the conversion; there is no more room.
    pub(crate) fn text<'js>(&mut self, value: &Value<'js>) -> JsResult<'js, String> {
        let text = value.to_string_lossy()?;
        self.take(value.ctx(), text.len())?;
        Ok(text)
    }

    /// These bytes of text are kept, too.
    ///
    /// # Errors
    /// There is no more room.
    pub(crate) fn take<'js>(&mut self, ctx: Ctx<'js>, bytes: usize) -> JsResult<'js, ()> {
        match self.0.checked_sub(bytes) {
            Some(left) => {
                self.0 = left;
                Ok(())
            }
            None => {
                let most = Self::BYTES >> 20;
                Err(throw(
                    ctx,
                    &format!("the texts given here are too long together: at most {most} MiB"),
                ))
            }
        }
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
    let mut room = Room::new();
    for key in keys_of(object)? {
        let value = object.get(&key)?;
        let name = key.text().unwrap_or_default();
        match tag_text(&value) {
            Some(text) => {
                room.take(ctx, text.len())?;
                tags.push((name, text));
            }
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
