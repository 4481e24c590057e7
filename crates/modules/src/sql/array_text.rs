//! Arrays as PostgreSQL writes them: `{1,2,{"a","b"}}`.

use brunt_quickjs::{Ctx, JsResult, Value};

use crate::go_error::throw_go;
use crate::reading::{Room, length_of};

/// Arrays in arrays; the server takes six.
const DEPTH_MAX: usize = 16;

/// The text of an array.
///
/// # Errors
/// An element that is no value of a database; an array that is too long or contains itself.
pub(super) fn of<'js>(ctx: Ctx<'js>, array: &Value<'js>) -> JsResult<'js, String> {
    let mut text = String::new();
    write(ctx, array, &mut text, &mut Room::new(), 0)?;
    Ok(text)
}

fn write<'js>(
    ctx: Ctx<'js>,
    array: &Value<'js>,
    text: &mut String,
    room: &mut Room,
    depth: usize,
) -> JsResult<'js, ()> {
    if depth >= DEPTH_MAX {
        let why = format!("an array has at most {DEPTH_MAX} dimensions as an argument");
        return Err(throw_go(ctx, &why));
    }
    text.push('{');
    for index in 0..length_of(array)? {
        if index > 0 {
            text.push(',');
        }
        let value = array.get_index(index)?;
        let before = text.len();
        if value.is_nullish() {
            text.push_str("NULL");
        } else if let Some(is_true) = value.as_bool() {
            text.push_str(if is_true { "true" } else { "false" });
        } else if value.is_array() {
            write(ctx, &value, text, room, depth + 1)?;
        } else if value.is_number() || value.is_big_int() {
            text.push_str(&value.to_string_lossy()?);
        } else if value.is_date() {
            quote(&value.get("toISOString")?.call(&value, &[])?.to_string_lossy()?, text);
        } else if let Some(string) = value.as_str() {
            quote(string.as_str(), text);
        } else {
            let why = "an array of an argument has numbers, strings, booleans, dates, null and arrays of them";
            return Err(throw_go(ctx, why));
        }
        room.take(ctx, text.len().saturating_sub(before) + 1)?;
        if index % 64 == 63 {
            ctx.poll(640)?;
        }
    }
    text.push('}');
    Ok(())
}

fn quote(string: &str, text: &mut String) {
    text.push('"');
    for letter in string.chars() {
        if matches!(letter, '"' | '\\') {
            text.push('\\');
        }
        text.push(letter);
    }
    text.push('"');
}
