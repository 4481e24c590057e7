//! From the bytes of a message to JSON.

use std::borrow::Cow;
use std::fmt::Write as _;

use super::{DEPTH_MAX, base64, known};
use crate::types::{Absent, Field, Kind, MessageId, MessageType, Shape, Types};
use crate::wire::{Broken, Raw, Reader};

/// Why the bytes cannot be shown as a message of the type. The text is Go's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// They are no message.
    #[error("proto: cannot parse invalid wire-format data")]
    Wire,
    /// A string is none.
    #[error("proto: field {0} contains invalid UTF-8")]
    Utf8(String),
    /// Messages are nested too deeply.
    #[error("exceeded maximum recursion depth")]
    Depth,
    /// A message that has a form of its own in JSON has a value without one.
    #[error("proto: {0}")]
    Known(String),
}

impl From<Broken> for DecodeError {
    fn from(_: Broken) -> Self {
        Self::Wire
    }
}

pub(super) type Done = Result<(), DecodeError>;

/// Appends the message as JSON.
pub(crate) fn decode(
    types: &Types,
    id: MessageId,
    bytes: &[u8],
    out: &mut String,
) -> Result<(), DecodeError> {
    Decoder { types, depth: DEPTH_MAX }.message(id, bytes, out)
}

/// Reads bytes and writes JSON.
pub(super) struct Decoder<'a> {
    pub(super) types: &'a Types,
    depth: u32,
}

/// The values of a message in the order of its fields: each with the index of its field.
pub(super) type Values<'a> = Vec<(u16, Raw<'a>)>;

impl Decoder<'_> {
    pub(super) fn message(&mut self, id: MessageId, bytes: &[u8], out: &mut String) -> Done {
        self.depth = self.depth.checked_sub(1).ok_or(DecodeError::Depth)?;
        let types = self.types;
        let done = if let Some(kind) = types.messages[id].known {
            known::decode(self, kind, id, bytes, out)
        } else {
            out.push('{');
            self.fields(id, bytes, out)?;
            out.push('}');
            Ok(())
        };
        self.depth += 1;
        done
    }

    /// The fields without the braces around.
    pub(super) fn fields(&mut self, id: MessageId, bytes: &[u8], out: &mut String) -> Done {
        let types = self.types;
        let message = &types.messages[id];
        let values = collect(message, bytes)?;
        let mut values = values.as_slice();
        let mut is_first = true;
        for (index, field) in message.fields.iter().enumerate() {
            let count = values.iter().take_while(|value| usize::from(value.0) == index).count();
            let (here, rest) = values.split_at(count);
            values = rest;
            let text = match (&field.absent, here.is_empty()) {
                (Absent::Omitted, true) => continue,
                (Absent::Text(text), true) => Some(text),
                (_, false) => None,
            };
            if !std::mem::take(&mut is_first) {
                out.push(',');
            }
            out.push('"');
            // Names are identifiers, but `json_name` may be anything.
            write_escaped(&field.json_name, out);
            out.push_str("\":");
            match text {
                Some(text) => out.push_str(text),
                None => self.field(field, here, out).map_err(|error| match error {
                    DecodeError::Utf8(name) if name.is_empty() => {
                        DecodeError::Utf8(format!("{}.{}", message.name, field.name))
                    }
                    other => other,
                })?,
            }
        }
        Ok(())
    }

    fn field(&mut self, field: &Field, values: &[(u16, Raw<'_>)], out: &mut String) -> Done {
        match field.shape {
            Shape::Single => self.single(field, values, out),
            Shape::Map => self.map(field, values, out),
            Shape::List => {
                out.push('[');
                let begin = out.len();
                for (_, value) in values {
                    if let (Some(_), Raw::Bytes(bytes)) = (packed_kind(field.kind), value) {
                        let mut reader = Reader::new(bytes);
                        while !reader.is_at_end() {
                            separate(begin, out);
                            let value = unpack(field.kind, &mut reader)?;
                            self.value(field.kind, value, out)?;
                        }
                    } else {
                        separate(begin, out);
                        self.value(field.kind, *value, out)?;
                    }
                }
                out.push(']');
                Ok(())
            }
        }
    }

    /// The last value counts; messages are merged.
    pub(super) fn single(
        &mut self,
        field: &Field,
        values: &[(u16, Raw<'_>)],
        out: &mut String,
    ) -> Done {
        let (_, last) = values.last().ok_or(DecodeError::Wire)?;
        if let Kind::Message(id) | Kind::Group(id) = field.kind {
            return self.message(id, &merged(values), out);
        }
        self.value(field.kind, *last, out)
    }

    fn map(&mut self, field: &Field, values: &[(u16, Raw<'_>)], out: &mut String) -> Done {
        let Kind::Message(entry) = field.kind else { return Err(DecodeError::Wire) };
        let types = self.types;
        let entry = &types.messages[entry];
        let (Some((key, key_field)), Some((value, value_field))) =
            (entry.by_name("key"), entry.by_name("value"))
        else {
            return Err(DecodeError::Wire);
        };
        let mut entries: Vec<(String, Values<'_>)> = Vec::with_capacity(values.len());
        for (_, bytes) in values {
            let Raw::Bytes(bytes) = bytes else { return Err(DecodeError::Wire) };
            let parts = collect(entry, bytes)?;
            let split = parts.iter().position(|part| part.0 == value).unwrap_or(parts.len());
            let (keys, rest) = parts.split_at(split);
            let mut name = String::new();
            if keys.last().is_some_and(|part| part.0 == key) {
                self.single(key_field, keys, &mut name)?;
            } else if let Kind::String = key_field.kind {
                name.push_str("\"\"");
            } else {
                name.push_str(if key_field.kind == Kind::Bool { "false" } else { "0" });
            }
            if !name.starts_with('"') {
                name = format!("\"{name}\"");
            }
            entries.push((name, rest.to_vec()));
        }
        sort_keys(key_field.kind, &mut entries);
        // The last of those with the same key counts; the order among them is that in which they came.
        entries.dedup_by(|later, kept| {
            let is_same = later.0 == kept.0;
            if is_same {
                std::mem::swap(later, kept);
            }
            is_same
        });
        out.push('{');
        let begin = out.len();
        for (name, rest) in entries {
            separate(begin, out);
            out.push_str(&name);
            out.push(':');
            match (&value_field.absent, value_field.kind) {
                _ if !rest.is_empty() => self.single(value_field, &rest, out)?,
                (_, Kind::Message(id)) => self.message(id, &[], out)?,
                (Absent::Text(text), _) => out.push_str(text),
                (Absent::Omitted, _) => out.push_str("null"),
            }
        }
        out.push('}');
        Ok(())
    }

    /// One value that is not packed.
    fn value(&mut self, kind: Kind, value: Raw<'_>, out: &mut String) -> Done {
        // Writing to a string cannot fail.
        let _ = match (kind, value) {
            (Kind::Double, Raw::Fixed64(bits)) => {
                double(f64::from_bits(bits), out);
                return Ok(());
            }
            (Kind::Float, Raw::Fixed32(bits)) => {
                float(f32::from_bits(bits), out);
                return Ok(());
            }
            (Kind::Int32, Raw::Varint(value)) => write!(out, "{}", value as i32),
            (Kind::Int64, Raw::Varint(value)) | (Kind::Sfixed64, Raw::Fixed64(value)) => {
                write!(out, "\"{}\"", value as i64)
            }
            (Kind::Uint32, Raw::Varint(value)) => write!(out, "{}", value as u32),
            (Kind::Uint64, Raw::Varint(value)) | (Kind::Fixed64, Raw::Fixed64(value)) => {
                write!(out, "\"{value}\"")
            }
            (Kind::Sint32, Raw::Varint(value)) => {
                let value = value as u32;
                write!(out, "{}", (value >> 1) as i32 ^ -((value & 1) as i32))
            }
            (Kind::Sint64, Raw::Varint(value)) => {
                write!(out, "\"{}\"", (value >> 1) as i64 ^ -((value & 1) as i64))
            }
            (Kind::Fixed32, Raw::Fixed32(value)) => write!(out, "{value}"),
            (Kind::Sfixed32, Raw::Fixed32(value)) => write!(out, "{}", value as i32),
            (Kind::Bool, Raw::Varint(value)) => write!(out, "{}", value != 0),
            (Kind::String, Raw::Bytes(bytes)) => {
                let text =
                    std::str::from_utf8(bytes).map_err(|_| DecodeError::Utf8(String::new()))?;
                write_string(text, out);
                return Ok(());
            }
            (Kind::Bytes, Raw::Bytes(bytes)) => {
                out.push('"');
                base64::write(bytes, out);
                out.push('"');
                return Ok(());
            }
            (Kind::Enum(id), Raw::Varint(value)) => {
                self.types.enumeration(id).write_json(value as i32, out);
                return Ok(());
            }
            (Kind::Message(id), Raw::Bytes(bytes)) | (Kind::Group(id), Raw::Group(bytes)) => {
                return self.message(id, bytes, out);
            }
            // `collect` took only values that fit.
            _ => return Err(DecodeError::Wire),
        };
        Ok(())
    }
}

/// Sorts the known fields of a message; unknown ones, and those on the wire in another form, are left out.
pub(super) fn collect<'a>(
    message: &MessageType,
    bytes: &'a [u8],
) -> Result<Values<'a>, DecodeError> {
    let mut reader = Reader::new(bytes);
    let mut values: Values<'a> = Vec::with_capacity(message.fields.len().min(16));
    let mut is_sorted = true;
    let mut has_oneof = false;
    while !reader.is_at_end() {
        let (number, value) = reader.field()?;
        let Some(index) = message.by_number(number) else { continue };
        let field = &message.fields[usize::from(index)];
        if !fits(field, value) {
            continue;
        }
        has_oneof |= field.oneof.is_some();
        is_sorted &= values.last().is_none_or(|last| last.0 <= index);
        values.push((index, value));
    }
    if has_oneof {
        keep_last_of_oneofs(message, &mut values);
    }
    if !is_sorted {
        values.sort_by_key(|value| value.0);
    }
    Ok(values)
}

/// Of the members of a oneof, the one that came last.
fn keep_last_of_oneofs(message: &MessageType, values: &mut Values<'_>) {
    let oneof = |index: u16| message.fields[usize::from(index)].oneof;
    let mut last: Vec<(u16, u16)> = Vec::new();
    for &(index, _) in values.iter() {
        let Some(oneof) = oneof(index) else { continue };
        match last.iter_mut().find(|known| known.0 == oneof) {
            Some(known) => known.1 = index,
            None => last.push((oneof, index)),
        }
    }
    values.retain(|&(index, _)| oneof(index).is_none_or(|oneof| last.contains(&(oneof, index))));
}

fn fits(field: &Field, value: Raw<'_>) -> bool {
    let single = match field.kind {
        Kind::Double | Kind::Fixed64 | Kind::Sfixed64 => matches!(value, Raw::Fixed64(_)),
        Kind::Float | Kind::Fixed32 | Kind::Sfixed32 => matches!(value, Raw::Fixed32(_)),
        Kind::String | Kind::Bytes | Kind::Message(_) => matches!(value, Raw::Bytes(_)),
        Kind::Group(_) => matches!(value, Raw::Group(_)),
        _ => matches!(value, Raw::Varint(_)),
    };
    single
        || (field.shape == Shape::List
            && packed_kind(field.kind).is_some()
            && matches!(value, Raw::Bytes(_)))
}

/// Kinds of which lists may be packed.
fn packed_kind(kind: Kind) -> Option<Kind> {
    match kind {
        Kind::String | Kind::Bytes | Kind::Message(_) | Kind::Group(_) => None,
        kind => Some(kind),
    }
}

fn unpack<'a>(kind: Kind, reader: &mut Reader<'_>) -> Result<Raw<'a>, Broken> {
    Ok(match kind {
        Kind::Double | Kind::Fixed64 | Kind::Sfixed64 => Raw::Fixed64(reader.fixed64()?),
        Kind::Float | Kind::Fixed32 | Kind::Sfixed32 => Raw::Fixed32(reader.fixed32()?),
        _ => Raw::Varint(reader.varint()?),
    })
}

/// The bytes of a message that came in several parts.
pub(super) fn merged<'a>(values: &[(u16, Raw<'a>)]) -> Cow<'a, [u8]> {
    let bytes = |raw: &Raw<'a>| match raw {
        Raw::Bytes(bytes) | Raw::Group(bytes) => *bytes,
        _ => &[],
    };
    match values {
        [(_, only)] => Cow::Borrowed(bytes(only)),
        many => Cow::Owned(many.iter().flat_map(|(_, raw)| bytes(raw)).copied().collect()),
    }
}

/// The order of Go: by number, `false` before `true`, by text.
fn sort_keys(kind: Kind, entries: &mut [(String, Values<'_>)]) {
    let number = |name: &str| name.trim_matches('"').parse::<i128>().unwrap_or(0);
    match kind {
        Kind::String | Kind::Bool => entries.sort_by(|a, b| a.0.cmp(&b.0)),
        _ => entries.sort_by_key(|entry| number(&entry.0)),
    }
}

/// A comma, unless this is the first.
fn separate(begin: usize, out: &mut String) {
    if out.len() > begin {
        out.push(',');
    }
}

fn double(value: f64, out: &mut String) {
    if is_special(value, out) {
        return;
    }
    let size = value.abs();
    // Long forms are readable, but not that long.
    let _ = if size != 0.0 && !(1e-6..1e21).contains(&size) {
        write!(out, "{value:e}")
    } else {
        write!(out, "{value}")
    };
}

fn float(value: f32, out: &mut String) {
    if is_special(f64::from(value), out) {
        return;
    }
    let size = value.abs();
    let _ = if size != 0.0 && !(1e-6..1e21).contains(&size) {
        write!(out, "{value:e}")
    } else {
        write!(out, "{value}")
    };
}

fn is_special(value: f64, out: &mut String) -> bool {
    if value.is_nan() {
        out.push_str("\"NaN\"");
    } else if value.is_infinite() {
        out.push_str(if value > 0.0 { "\"Infinity\"" } else { "\"-Infinity\"" });
    }
    !value.is_finite()
}

/// A text in quotes.
pub(super) fn write_string(text: &str, out: &mut String) {
    out.push('"');
    write_escaped(text, out);
    out.push('"');
}

fn write_escaped(text: &str, out: &mut String) {
    let mut from = 0;
    for (at, byte) in text.bytes().enumerate() {
        if byte >= b' ' && byte != b'"' && byte != b'\\' {
            continue;
        }
        out.push_str(&text[from..at]);
        from = at + 1;
        let _ = match byte {
            b'"' | b'\\' => write!(out, "\\{}", char::from(byte)),
            _ => write!(out, "\\u{byte:04x}"),
        };
    }
    out.push_str(&text[from..]);
}

/// A `google.protobuf.Any` as JSON; if its type is not known, its bytes.
pub(crate) fn any(types: &Types, id: Option<MessageId>, url: &str, bytes: &[u8]) -> String {
    let mut out = String::from("{\"@type\":");
    write_string(url, &mut out);
    let before = out.len();
    let mut decoder = Decoder { types, depth: DEPTH_MAX };
    let done = match id {
        None => Err(DecodeError::Wire),
        Some(id) if types.messages[id].known.is_some() => {
            out.push_str(",\"value\":");
            decoder.message(id, bytes, &mut out)
        }
        Some(id) => {
            out.push(',');
            let done = decoder.fields(id, bytes, &mut out);
            if out.len() == before + 1 {
                out.truncate(before);
            }
            done
        }
    };
    if done.is_err() {
        out.truncate(before);
        out.push_str(",\"value\":\"");
        base64::write(bytes, &mut out);
        out.push('"');
    }
    out.push('}');
    out
}
