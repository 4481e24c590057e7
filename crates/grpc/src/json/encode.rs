//! From JSON to the bytes of a message.

use std::borrow::Cow;
use std::fmt;

use prost::encoding::{WireType, encode_key, encode_varint};

use super::parse::{NoJson, Reader, Sort};
use super::{DEPTH_MAX, base64, known};
use crate::types::{EnumType, Field, Kind, MessageId, Shape, Types};
use crate::wire::put_length_at;

/// Why a JSON text is no message of the type. The text is Go's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EncodeError(String);

impl fmt::Display for EncodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for EncodeError {}

pub(super) type Done = Result<(), EncodeError>;

impl From<NoJson> for EncodeError {
    fn from(_: NoJson) -> Self {
        Self("proto: unexpected EOF".to_owned())
    }
}

/// Appends the message that the JSON text describes.
pub(crate) fn encode(
    types: &Types,
    id: MessageId,
    text: &str,
    out: &mut Vec<u8>,
) -> Result<(), EncodeError> {
    let mut encoder = Encoder { types, json: Reader::new(text), depth: DEPTH_MAX };
    encoder.message(id, out)
}

/// Reads JSON and writes bytes.
pub(super) struct Encoder<'a> {
    pub(super) types: &'a Types,
    pub(super) json: Reader<'a>,
    depth: u32,
}

impl<'a> Encoder<'a> {
    /// A mistake at a place.
    pub(super) fn wrong(&self, at: usize, what: &str) -> EncodeError {
        let (line, column) = self.json.place(at);
        EncodeError(format!("proto: (line {line}:{column}): {what}"))
    }

    /// The next token is not the expected one.
    pub(super) fn unexpected(&mut self) -> EncodeError {
        self.json.skip_space();
        let from = self.json.at;
        let token = self.token();
        let (line, column) = self.json.place(from);
        EncodeError(format!("proto: syntax error (line {line}:{column}): unexpected token {token}"))
    }

    /// The next token, as it is written: of arrays and objects, the bracket.
    pub(super) fn token(&mut self) -> &'a str {
        let sort = self.json.sort();
        let from = self.json.at;
        let to = match sort {
            Sort::Array | Sort::Object => from + 1,
            Sort::Other => from,
            _ if self.json.skip().is_ok() => self.json.at,
            _ => from,
        };
        self.json.between(from, to)
    }

    fn invalid(&mut self, at: usize, kind: Kind, name: &str) -> EncodeError {
        self.json.at = at;
        let token = self.token();
        self.wrong(at, &format!("invalid value for {} field {name}: {token}", kind.name()))
    }

    /// Runs `each` for each key of an object, which must come next.
    pub(super) fn object(
        &mut self,
        mut each: impl FnMut(&mut Self, usize, Cow<'a, str>) -> Done,
    ) -> Done {
        if self.json.sort() != Sort::Object {
            return Err(self.unexpected());
        }
        self.json.expect(b'{')?;
        if self.json.take(b'}') {
            return Ok(());
        }
        loop {
            self.json.skip_space();
            let at = self.json.at;
            let key = self.json.string()?;
            self.json.expect(b':')?;
            self.json.skip_space();
            each(self, at, key)?;
            if !self.json.take(b',') {
                return Ok(self.json.expect(b'}')?);
            }
        }
    }

    /// Runs `each` for each element of an array, which must come next.
    pub(super) fn array(&mut self, mut each: impl FnMut(&mut Self) -> Done) -> Done {
        if self.json.sort() != Sort::Array {
            return Err(self.unexpected());
        }
        self.json.expect(b'[')?;
        if self.json.take(b']') {
            return Ok(());
        }
        loop {
            self.json.skip_space();
            each(self)?;
            if !self.json.take(b',') {
                return Ok(self.json.expect(b']')?);
            }
        }
    }

    /// Writes a message, without its length.
    pub(super) fn message(&mut self, id: MessageId, out: &mut Vec<u8>) -> Done {
        let Some(depth) = self.depth.checked_sub(1) else {
            return Err(EncodeError("proto: exceeded max recursion depth".to_owned()));
        };
        self.depth = depth;
        let types = self.types;
        let done = match types.messages[id].known {
            Some(kind) => known::encode(self, kind, id, out),
            None => self.fields(id, None, out),
        };
        self.depth += 1;
        done
    }

    /// Writes the fields of an object; those of the key `except` are left out.
    pub(super) fn fields(
        &mut self,
        id: MessageId,
        except: Option<&str>,
        out: &mut Vec<u8>,
    ) -> Done {
        let types = self.types;
        let message = &types.messages[id];
        let mut seen = Seen::default();
        self.object(|encoder, at, key| {
            if except == Some(&*key) {
                return Ok(encoder.json.skip()?);
            }
            let Some((index, field)) = message.by_name(&key) else {
                return Err(encoder.wrong(at, &format!("unknown field {key:?}")));
            };
            if seen.field(index) {
                return Err(encoder.wrong(at, &format!("duplicate field {key:?}")));
            }
            if encoder.json.sort() == Sort::Null && !encoder.takes_null(field) {
                return Ok(encoder.json.null()?);
            }
            if let Some(oneof) = field.oneof
                && seen.oneof(oneof)
            {
                let name = &message.oneofs[usize::from(oneof)];
                let told =
                    format!("error parsing {key:?}, oneof {}.{name} is already set", message.name);
                return Err(encoder.wrong(at, &told));
            }
            encoder.field(field, out)
        })
    }

    /// `null` is a value of the field, not the lack of one.
    fn takes_null(&self, field: &Field) -> bool {
        match field.kind {
            Kind::Message(id) => {
                field.shape == Shape::Single
                    && self.types.messages[id].known == Some(crate::types::Known::Value)
            }
            Kind::Enum(id) => field.shape == Shape::Single && self.types.enumeration(id).is_null,
            _ => false,
        }
    }

    fn field(&mut self, field: &Field, out: &mut Vec<u8>) -> Done {
        match field.shape {
            Shape::Single => self.single(field, field.is_implicit, out),
            Shape::Map => self.map(field, out),
            Shape::List if field.is_packed => {
                encode_key(field.number, WireType::LengthDelimited, out);
                let start = out.len();
                self.array(|encoder| encoder.scalar(field, out).map(drop))?;
                put_length_at(start, out);
                Ok(())
            }
            Shape::List => self.array(|encoder| encoder.single(field, false, out)),
        }
    }

    /// Writes one value with its tag; nothing for a zero, if so wanted.
    pub(super) fn single(&mut self, field: &Field, skips_zero: bool, out: &mut Vec<u8>) -> Done {
        let before = out.len();
        match field.kind {
            Kind::Message(id) => {
                encode_key(field.number, WireType::LengthDelimited, out);
                let start = out.len();
                self.message(id, out)?;
                put_length_at(start, out);
            }
            Kind::Group(id) => {
                encode_key(field.number, WireType::StartGroup, out);
                self.message(id, out)?;
                encode_key(field.number, WireType::EndGroup, out);
            }
            kind => {
                encode_key(field.number, wire_kind(kind), out);
                if self.scalar(field, out)? && skips_zero {
                    out.truncate(before);
                }
            }
        }
        Ok(())
    }

    fn map(&mut self, field: &Field, out: &mut Vec<u8>) -> Done {
        let types = self.types;
        let entry = match field.kind {
            Kind::Message(entry) => &types.messages[entry],
            _ => return Err(self.unexpected()),
        };
        // The author of the description, a server perhaps, may have forgotten them.
        let (Some((_, key)), Some((_, value))) = (entry.by_name("key"), entry.by_name("value"))
        else {
            return Err(self.unexpected());
        };
        self.object(|encoder, at, name| {
            encode_key(field.number, WireType::LengthDelimited, out);
            let start = out.len();
            encode_key(key.number, wire_kind(key.kind), out);
            if key.kind == Kind::String {
                encode_varint(name.len() as u64, out);
                out.extend_from_slice(name.as_bytes());
            } else if put_key(key.kind, &name, out).is_none() {
                let token = format!("invalid value for {} key: {name:?}", key.kind.name());
                return Err(encoder.wrong(at, &token));
            }
            encoder.single(value, false, out)?;
            put_length_at(start, out);
            Ok(())
        })
    }

    /// Writes a scalar without a tag; returns whether it is zero.
    fn scalar(&mut self, field: &Field, out: &mut Vec<u8>) -> Result<bool, EncodeError> {
        let sort = self.json.sort();
        let at = self.json.at;
        let is_zero = match (field.kind, sort) {
            (Kind::Bool, Sort::Bool) => {
                let value = self.json.bool()?;
                out.push(u8::from(value));
                Some(!value)
            }
            (Kind::String, Sort::String) => {
                let value = self.json.string()?;
                encode_varint(value.len() as u64, out);
                out.extend_from_slice(value.as_bytes());
                Some(value.is_empty())
            }
            (Kind::Bytes, Sort::String) => base64::read(&self.json.string()?).map(|value| {
                encode_varint(value.len() as u64, out);
                out.extend_from_slice(&value);
                value.is_empty()
            }),
            (Kind::Enum(id), _) => {
                self.enumerated(self.types.enumeration(id), sort)?.map(|value| {
                    encode_varint(i64::from(value) as u64, out);
                    value == 0
                })
            }
            (Kind::Bool | Kind::String | Kind::Bytes, _) => None,
            (kind, Sort::Number) => put_number(kind, self.json.number()?, out),
            (kind, Sort::String) => {
                let text = self.json.string()?;
                let is_float = matches!(kind, Kind::Double | Kind::Float);
                match &*text {
                    "NaN" if is_float => Some(put_float(kind, f64::NAN, out)),
                    "Infinity" if is_float => Some(put_float(kind, f64::INFINITY, out)),
                    "-Infinity" if is_float => Some(put_float(kind, f64::NEG_INFINITY, out)),
                    text => put_number(kind, text, out),
                }
            }
            _ => None,
        };
        is_zero.ok_or_else(|| self.invalid(at, field.kind, &field.json_name))
    }

    fn enumerated(&mut self, values: &EnumType, sort: Sort) -> Result<Option<i32>, EncodeError> {
        Ok(match sort {
            Sort::String => {
                let name = self.json.string()?;
                values.number(&name)
            }
            Sort::Number => {
                whole(self.json.number()?).and_then(|number| i32::try_from(number).ok())
            }
            Sort::Null if values.is_null => {
                self.json.null()?;
                Some(0)
            }
            _ => None,
        })
    }
}

/// Which fields of an object came already.
#[derive(Default)]
struct Seen {
    fields: Bits,
    oneofs: Bits,
}

#[derive(Default)]
struct Bits {
    first: u128,
    more: Vec<u16>,
}

impl Bits {
    /// Notes one; returns whether it was there.
    fn note(&mut self, index: u16) -> bool {
        if index < 128 {
            let bit = 1 << index;
            let was = self.first & bit != 0;
            self.first |= bit;
            return was;
        }
        let was = self.more.contains(&index);
        if !was {
            self.more.push(index);
        }
        was
    }
}

impl Seen {
    fn field(&mut self, index: u16) -> bool {
        self.fields.note(index)
    }

    fn oneof(&mut self, index: u16) -> bool {
        self.oneofs.note(index)
    }
}

fn wire_kind(kind: Kind) -> WireType {
    match kind {
        Kind::Double | Kind::Fixed64 | Kind::Sfixed64 => WireType::SixtyFourBit,
        Kind::Float | Kind::Fixed32 | Kind::Sfixed32 => WireType::ThirtyTwoBit,
        Kind::String | Kind::Bytes | Kind::Message(_) => WireType::LengthDelimited,
        Kind::Group(_) => WireType::StartGroup,
        _ => WireType::Varint,
    }
}

/// Writes the key of a map; `None` if it is none of this kind.
fn put_key(kind: Kind, text: &str, out: &mut Vec<u8>) -> Option<bool> {
    match (kind, text) {
        (Kind::Bool, "true") => {
            out.push(1);
            Some(false)
        }
        (Kind::Bool, "false") => {
            out.push(0);
            Some(true)
        }
        (Kind::Bool, _) => None,
        _ => put_number(kind, text, out),
    }
}

/// Writes a number that is written in decimal; `None` if it is none of this kind, otherwise whether it is zero.
fn put_number(kind: Kind, text: &str, out: &mut Vec<u8>) -> Option<bool> {
    if matches!(kind, Kind::Double | Kind::Float) {
        let begin = *text.as_bytes().first()?;
        if begin != b'-' && !begin.is_ascii_digit() {
            return None;
        }
        let value: f64 = text.parse().ok()?;
        if value.is_infinite() || (kind == Kind::Float && (value as f32).is_infinite()) {
            return None;
        }
        return Some(put_float(kind, value, out));
    }
    let value = whole(text)?;
    match kind {
        Kind::Int32 => encode_varint(i64::from(i32::try_from(value).ok()?) as u64, out),
        Kind::Int64 => encode_varint(i64::try_from(value).ok()? as u64, out),
        Kind::Uint32 => encode_varint(u64::from(u32::try_from(value).ok()?), out),
        Kind::Uint64 => encode_varint(u64::try_from(value).ok()?, out),
        Kind::Sint32 => {
            let value = i32::try_from(value).ok()?;
            encode_varint(u64::from((value << 1 ^ value >> 31) as u32), out);
        }
        Kind::Sint64 => {
            let value = i64::try_from(value).ok()?;
            encode_varint((value << 1 ^ value >> 63) as u64, out);
        }
        Kind::Fixed32 => out.extend(u32::try_from(value).ok()?.to_le_bytes()),
        Kind::Fixed64 => out.extend(u64::try_from(value).ok()?.to_le_bytes()),
        Kind::Sfixed32 => out.extend(i32::try_from(value).ok()?.to_le_bytes()),
        Kind::Sfixed64 => out.extend(i64::try_from(value).ok()?.to_le_bytes()),
        _ => return None,
    }
    Some(value == 0)
}

fn put_float(kind: Kind, value: f64, out: &mut Vec<u8>) -> bool {
    if kind == Kind::Float {
        out.extend((value as f32).to_le_bytes());
    } else {
        out.extend(value.to_le_bytes());
    }
    // A negative zero is a value.
    value.to_bits() == 0
}

/// A whole number, also one with an exponent or zeros behind the point.
fn whole(text: &str) -> Option<i128> {
    let begin = *text.as_bytes().first()?;
    if begin != b'-' && !begin.is_ascii_digit() {
        return None;
    }
    if let Ok(number) = text.parse() {
        return Some(number);
    }
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
        None => (text, 0),
    };
    let (before, after) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let after = after.trim_end_matches('0');
    let digits: i128 = format!("{before}{after}").parse().ok()?;
    if digits == 0 {
        return Some(0);
    }
    let exponent = exponent.checked_sub(i32::try_from(after.len()).ok()?)?;
    if exponent >= 0 {
        let factor = 10_i128.checked_pow(u32::try_from(exponent).ok()?)?;
        return digits.checked_mul(factor);
    }
    let divisor = 10_i128.checked_pow(exponent.unsigned_abs())?;
    (digits % divisor == 0).then_some(digits / divisor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_are_read_in_any_notation() {
        for (text, number) in
            [("0", 0), ("-5", -5), ("1e3", 1000), ("1.50e1", 15), ("10.0", 10), ("20e-1", 2)]
        {
            assert_eq!(whole(text), Some(number), "{text}");
        }
        for text in ["", " 7", "1.5", "x", "1e-1", "+1", "1e999999999999", "1e200", "--1", "1e"] {
            assert_eq!(whole(text), None, "{text}");
        }
    }
}
