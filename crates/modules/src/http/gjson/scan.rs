//! Steps through the text of valid JSON.

use std::borrow::Cow;

use memchr::memchr2;

/// The kind of value that a text holds.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Object,
    Array,
    Scalar,
}

pub(super) fn kind(json: &str) -> Kind {
    match json.trim_start().as_bytes().first() {
        Some(b'{') => Kind::Object,
        Some(b'[') => Kind::Array,
        _ => Kind::Scalar,
    }
}

/// It is one JSON value.
pub(in crate::http) fn is_valid(json: &str) -> bool {
    serde_json::from_str::<serde::de::IgnoredAny>(json).is_ok()
}

/// A text as a JSON string.
pub(super) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// The text of a JSON string, given with its quotes.
pub(super) fn key_text(raw: &str) -> Cow<'_, str> {
    if raw.contains('\\') {
        let text: Option<String> = serde_json::from_str(raw).ok();
        return text.unwrap_or_default().into();
    }
    raw.trim_matches('"').into()
}

/// The elements of an array.
pub(super) fn elements(json: &str) -> impl Iterator<Item = &str> {
    let mut rest = inside(json);
    std::iter::from_fn(move || {
        let value = take_value(&mut rest)?;
        skip(&mut rest, ',');
        Some(value)
    })
}

/// Keys (with quotes) and values of an object.
pub(super) fn members(json: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut rest = inside(json);
    std::iter::from_fn(move || {
        let key = take_value(&mut rest)?;
        skip(&mut rest, ':');
        let value = take_value(&mut rest)?;
        skip(&mut rest, ',');
        Some((key, value))
    })
}

/// The text between the brackets.
fn inside(json: &str) -> &str {
    let json = json.trim();
    json.get(1..json.len().saturating_sub(1)).unwrap_or_default()
}

fn skip(rest: &mut &str, mark: char) {
    let trimmed = rest.trim_start();
    *rest = trimmed.strip_prefix(mark).unwrap_or(trimmed);
}

/// Takes one value off the front. `None` at the end.
fn take_value<'a>(rest: &mut &'a str) -> Option<&'a str> {
    let text = rest.trim_start();
    let bytes = text.as_bytes();
    let (mut at, mut depth) = (0, 0_usize);
    while at < bytes.len() {
        match bytes[at] {
            b'"' => at = string_end(bytes, at + 1),
            b'[' | b'{' => depth += 1,
            b']' | b'}' => depth = depth.saturating_sub(1),
            b',' | b':' if depth == 0 => break,
            _ => {}
        }
        at += 1;
    }
    let (value, after) = text.split_at(at.min(bytes.len()));
    *rest = after;
    let value = value.trim_end();
    (!value.is_empty()).then_some(value)
}

/// The place of the quote that ends a string, from a place within it.
fn string_end(bytes: &[u8], mut at: usize) -> usize {
    while let Some(found) = bytes.get(at..).and_then(|rest| memchr2(b'"', b'\\', rest)) {
        at += found;
        if bytes[at] == b'"' {
            return at;
        }
        at += 2;
    }
    bytes.len()
}
