//! Values of scripts as arguments of statements.

use std::rc::Rc;

use brunt_quickjs::name::Key;
use brunt_quickjs::{Ctx, JsResult, Value, Weight};
use brunt_sql::{Args, Cell, Driver, Moment};

use super::array_text;
use super::core::{Named, Statement};
use super::failing::throw;
use super::go_time::GoTime;
use crate::boxed::unbox;
use crate::go_error::{go_type, throw_go};
use crate::reading::{keys_of, text_or_empty};

/// Bytes that an argument takes beside its text.
pub(super) const COST: usize = 32;

/// The text of a call's statement.
///
/// # Errors
/// The exception of the conversion.
pub(super) fn sql_text<'js>(value: &Value<'js>) -> JsResult<'js, String> {
    text_or_empty(value)
}

/// Appends a value; `number`: that of the argument, from 1, for messages.
///
/// # Errors
/// Go's words about a type that is no argument.
#[inline]
pub(super) fn push<'js>(
    ctx: Ctx<'js>,
    args: &mut Args,
    value: &Value<'js>,
    number: usize,
    driver: Driver,
) -> JsResult<'js, ()> {
    if let Some(text) = value.as_str() {
        args.push(Cell::Text(text.as_bytes()));
    } else if let Some(number) = value.as_number() {
        args.push(self::number(number));
    } else if value.is_nullish() {
        args.push(Cell::Null);
    } else if let Some(value) = value.as_bool() {
        args.push(Cell::Bool(value));
    } else {
        return push_other(ctx, args, value, number, driver);
    }
    Ok(())
}

fn number(number: f64) -> Cell<'static> {
    /// The first whole number beyond those of 64 bits.
    const END: f64 = 9_223_372_036_854_775_808.0;
    let is_whole = number.fract() == 0.0 && (-END..END).contains(&number);
    if is_whole && (number != 0.0 || number.is_sign_positive()) {
        Cell::Int(number as i64)
    } else {
        Cell::Float(number)
    }
}

fn push_other<'js>(
    ctx: Ctx<'js>,
    args: &mut Args,
    value: &Value<'js>,
    number: usize,
    driver: Driver,
) -> JsResult<'js, ()> {
    if value.is_big_int() {
        let text = value.to_string_lossy()?;
        let small = text.parse().map(Cell::Int).or_else(|_| text.parse().map(Cell::UInt));
        args.push(small.unwrap_or(Cell::Text(text.as_bytes())));
        return Ok(());
    }
    if value.is_symbol() {
        let description = value.get("description")?;
        args.push(Cell::Text(description.to_string_lossy()?.as_bytes()));
        return Ok(());
    }
    if value.is_date() {
        let ms = value.to_number()?;
        if !ms.is_finite() {
            return Err(throw_go(ctx, &format!("argument ${number} is a Date without a time")));
        }
        args.push(Cell::Time(moment_of_ms(ms)));
        return Ok(());
    }
    if let Some(time) = value.instance::<GoTime>() {
        args.push(Cell::Time(time.moment()));
        return Ok(());
    }
    if value.with_bytes(|bytes| args.push(Cell::Bytes(bytes))).is_some() {
        return Ok(());
    }
    if driver == Driver::Postgres && value.is_array() {
        let text = array_text::of(ctx, value)?;
        args.push(Cell::Text(text.as_bytes()));
        return Ok(());
    }
    match unbox(value) {
        Some(inner) if !inner.is_string() => push(ctx, args, &inner, number, driver),
        _ => Err(throw_go(ctx, &unsupported(value, number))),
    }
}

/// A time of JavaScript in UTC.
fn moment_of_ms(ms: f64) -> Moment {
    let ms = ms as i64;
    let nanos = u32::try_from(ms.rem_euclid(1000) * 1_000_000).expect("less than a second");
    Moment { unix_seconds: ms.div_euclid(1000), nanos, offset_seconds: 0 }
}

fn unsupported(value: &Value<'_>, number: usize) -> String {
    let name = go_type(value);
    let kind = match name {
        "[]interface {}" => "a slice of interface",
        "[][2]interface {}" => "a slice of array",
        name if name.starts_with("func") => "a func",
        _ => "a map",
    };
    format!("sql: converting argument ${number} type: unsupported type {name}, {kind}")
}

/// The arguments of a call, and how many bytes they weigh on its VM.
///
/// # Errors
/// As [`push`].
pub(super) fn list<'js>(
    ctx: Ctx<'js>,
    args: &mut Args,
    values: &[Value<'js>],
    driver: Driver,
) -> JsResult<'js, Weight> {
    for (index, value) in values.iter().enumerate() {
        push(ctx, args, value, index + 1, driver)?;
    }
    Weight::of(ctx, weight(args))
}

/// The bytes of these arguments.
pub(super) fn weight(args: &Args) -> usize {
    // Few small ones are not worth counting.
    if args.byte_count() < 4096 && args.len() < 128 {
        return 0;
    }
    args.byte_count() + args.len() * COST
}

/// Whether a value may be an object of named arguments: a plain one.
pub(super) fn is_named(value: &Value<'_>) -> bool {
    // A look at the prototype of a proxy runs code of the script.
    if !value.is_object() || value.is_proxy() || value.is_array() || value.is_function() {
        return false;
    }
    let is_plain = |prototype: Value<'_>| {
        prototype.is_null() || prototype.prototype().is_ok_and(|next| next.is_null())
    };
    value.prototype().is_ok_and(is_plain)
}

/// A statement with placeholders in place of the names of an object's members.
///
/// # Errors
/// Members and parameters are not the same.
pub(super) fn named<'js>(
    ctx: Ctx<'js>,
    statement: &Statement,
    object: &Value<'js>,
    driver: Driver,
) -> JsResult<'js, Rc<Named>> {
    let names = keys_of(object)?.iter().filter_map(Key::text).collect();
    statement.named(driver, names).map_err(|failure| throw(ctx, &failure))
}
