//! The wishes of a script: limits of a pool, forms of values, tags.

use std::rc::Rc;
use std::time::Duration;

use brunt_quickjs::{Ctx, JsResult, Value};
use brunt_sql::PoolOptions;

use super::core::Marks;
use crate::go_error::throw_go;
use crate::reading::{read_tags, tag_text};

/// The most that a result may grow the heap of a VM by, unless the script says otherwise.
const RESULT_MAX: usize = 256 << 20;

/// Whole numbers in JavaScript.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Integers {
    /// Numbers, which are exact up to 2^53.
    Number,
    /// `BigInt`s.
    BigInt,
    /// Numbers as long as they are exact.
    Auto,
}

/// The forms of values, of a database or of a view of it.
#[derive(Debug, Clone)]
pub(super) struct Options {
    /// Texts that the Go driver hands over as bytes are strings.
    pub(super) is_text: bool,
    pub(super) integers: Integers,
    /// Bytes are `Uint8Array`s, not arrays of numbers.
    pub(super) is_typed: bool,
    /// Times are `Date`s, not Go's.
    pub(super) is_date: bool,
    /// The server keeps each statement that has arguments.
    pub(super) is_prepared: bool,
    pub(super) timeout: Option<Duration>,
    /// Bytes.
    pub(super) max_result: usize,
    pub(super) marks: Rc<Marks>,
}

impl Options {
    /// xk6-sql's.
    pub(super) fn new(marks: Rc<Marks>) -> Self {
        Self {
            is_text: false,
            integers: Integers::Number,
            is_typed: false,
            is_date: false,
            is_prepared: true,
            timeout: None,
            max_result: RESULT_MAX,
            marks,
        }
    }

    /// These, and what an object of options changes. Its tags come back beside.
    pub(super) fn read<'js>(
        &self,
        ctx: Ctx<'js>,
        given: &Value<'js>,
    ) -> JsResult<'js, (Self, Marks)> {
        let (mut options, mut marks) = (self.clone(), (*self.marks).clone());
        if !given.is_object() {
            return Ok((options, marks));
        }
        if let Some(text) = word(ctx, given, "text", &["string", "bytes"])? {
            options.is_text = text == 0;
        }
        if let Some(integers) = word(ctx, given, "integers", &["number", "bigint", "auto"])? {
            options.integers = [Integers::Number, Integers::BigInt, Integers::Auto][integers];
        }
        if let Some(bytes) = word(ctx, given, "bytes", &["array", "uint8array"])? {
            options.is_typed = bytes == 1;
        }
        if let Some(times) = word(ctx, given, "times", &["go", "date"])? {
            options.is_date = times == 1;
        }
        let is_prepared = given.get("prepared")?;
        if !is_prepared.is_nullish() {
            options.is_prepared = is_prepared.truthy();
        }
        let timeout = given.get("timeout")?;
        if !timeout.is_nullish() {
            options.timeout = Some(duration(ctx, &timeout)?);
        }
        let most = given.get("maxResult")?;
        if !most.is_nullish() {
            let bytes = most.to_number()?;
            if bytes.is_nan() || bytes < 1.0 {
                return Err(throw_go(ctx, "maxResult is a number of bytes, at least 1"));
            }
            options.max_result = bytes as usize;
        }
        let name = given.get("name")?;
        if !name.is_nullish() {
            let Some(name) = tag_text(&name) else {
                return Err(throw_go(ctx, "the option name is a string, the value of a tag"));
            };
            marks.name = Some(name);
        }
        for (key, value) in read_tags(ctx, &given.get("tags")?, String::new)? {
            marks.tags.retain(|(known, _)| *known != key);
            marks.tags.push((key, value));
        }
        Ok((options, marks))
    }
}

/// The index of a word among those that an option may be; `None` if it is not given.
fn word<'js>(
    ctx: Ctx<'js>,
    given: &Value<'js>,
    name: &str,
    words: &[&str],
) -> JsResult<'js, Option<usize>> {
    let value = given.get(name)?;
    if value.is_nullish() {
        return Ok(None);
    }
    let text = if value.is_symbol() { String::new() } else { value.to_string_lossy()? };
    let found = words.iter().position(|word| *word == text);
    found.map(Some).ok_or_else(|| {
        let words = words.join("\", \"");
        throw_go(ctx, &format!("the option {name} is {text:?}: it may be \"{words}\""))
    })
}

/// A duration as Go reads it.
///
/// # Errors
/// Go's words.
pub(super) fn duration<'js>(ctx: Ctx<'js>, value: &Value<'js>) -> JsResult<'js, Duration> {
    let text = if value.is_nullish() { String::new() } else { value.to_string_lossy()? };
    match brunt_duration::parse(&text) {
        Ok(ns) => Ok(Duration::from_nanos(u64::try_from(ns).unwrap_or(0))),
        Err(why) => Err(throw_go(ctx, &why.to_string())),
    }
}

/// The limits of a pool, and whether the VUs of a core share it.
pub(super) fn pool<'js>(ctx: Ctx<'js>, given: &Value<'js>) -> JsResult<'js, (PoolOptions, bool)> {
    let mut options = PoolOptions::default();
    if !given.is_object() {
        return Ok((options, false));
    }
    for (name, span) in [
        ("conn_max_idle_time", &mut options.max_idle_time),
        ("conn_max_lifetime", &mut options.max_lifetime),
    ] {
        let value = given.get(name)?;
        if !value.is_nullish() {
            *span = duration(ctx, &value)?;
        }
    }
    for (name, count) in
        [("max_idle_conns", &mut options.max_idle), ("max_open_conns", &mut options.max_open)]
    {
        let value = given.get(name)?;
        if !value.is_nullish() {
            // Go: a negative number of open connections is no limit, of idle ones none.
            *count = usize::try_from(value.to_integer()?).unwrap_or(0);
        }
    }
    if options.max_open > 0 {
        options.max_idle = options.max_idle.min(options.max_open);
    }
    Ok((options, given.get("shared")?.truthy()))
}
