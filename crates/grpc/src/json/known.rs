//! Messages of `google.protobuf` that have a form of their own in JSON.

use prost::encoding::{WireType, encode_key, encode_varint};

use super::decode::{self, DecodeError, Decoder, collect, merged, write_string};
use super::encode::{self, EncodeError, Encoder};
use super::parse::Sort;
use super::time;
use crate::types::{Kind, Known, MessageId};
use crate::wire::{Raw, put_bytes, put_length_at};

/// The field of `Value` for each sort.
const NULL: u32 = 1;
const NUMBER: u32 = 2;
const STRING: u32 = 3;
const BOOL: u32 = 4;
const STRUCT: u32 = 5;
const LIST: u32 = 6;

/// Nesting of values inside values.
const VALUES_MAX: u32 = 200;

pub(super) fn encode(
    encoder: &mut Encoder<'_>,
    kind: Known,
    id: MessageId,
    out: &mut Vec<u8>,
) -> encode::Done {
    match kind {
        Known::Any => encode_any(encoder, out),
        Known::Empty => encoder.fields(id, None, out),
        Known::Struct => encode_struct(encoder, VALUES_MAX, out),
        Known::ListValue => encode_list(encoder, VALUES_MAX, out),
        Known::Value => encode_value(encoder, VALUES_MAX, out),
        Known::Wrapper => {
            let types = encoder.types;
            let field = &types.messages[id].fields[0];
            encoder.single(field, true, out)
        }
        Known::Timestamp | Known::Duration => {
            let (at, text) = text(encoder)?;
            let (read, name) = if kind == Known::Timestamp {
                (time::read_timestamp(&text), "Timestamp")
            } else {
                (time::read_duration(&text), "Duration")
            };
            let Some((seconds, nanos)) = read else {
                let told = format!("invalid google.protobuf.{name} value {text:?}");
                return Err(encoder.wrong(at, &told));
            };
            for (number, value) in [(1, seconds), (2, i64::from(nanos))] {
                if value != 0 {
                    encode_key(number, WireType::Varint, out);
                    encode_varint(value as u64, out);
                }
            }
            Ok(())
        }
        Known::FieldMask => {
            let (at, text) = text(encoder)?;
            for path in text.split(',').filter(|path| !path.is_empty()) {
                let Some(path) = snake(path.trim()) else {
                    let told =
                        format!("google.protobuf.FieldMask.paths contains invalid path: {path:?}");
                    return Err(encoder.wrong(at, &told));
                };
                put_bytes(1, path.as_bytes(), out);
            }
            Ok(())
        }
    }
}

/// A string, which must come next, and its place.
fn text(encoder: &mut Encoder<'_>) -> Result<(usize, String), EncodeError> {
    if encoder.json.sort() != Sort::String {
        return Err(encoder.unexpected());
    }
    let at = encoder.json.at;
    Ok((at, encoder.json.string()?.into_owned()))
}

fn encode_any(encoder: &mut Encoder<'_>, out: &mut Vec<u8>) -> encode::Done {
    let begin = {
        if encoder.json.sort() != Sort::Object {
            return Err(encoder.unexpected());
        }
        encoder.json.at
    };
    let mut url: Option<(usize, String)> = None;
    let mut value = None;
    let mut count = 0;
    encoder.object(|encoder, _, key| {
        count += 1;
        let at = encoder.json.at;
        match &*key {
            "@type" if encoder.json.sort() == Sort::String => {
                url = Some((at, encoder.json.string()?.into_owned()));
                return Ok(());
            }
            "value" => value = Some(at),
            _ => {}
        }
        Ok(encoder.json.skip()?)
    })?;
    let end = encoder.json.at;
    let Some((at, url)) = url else {
        if count == 0 {
            return Ok(());
        }
        return Err(encoder.wrong(begin, "missing \"@type\" field"));
    };
    let types = encoder.types;
    let name = url.rsplit('/').next().unwrap_or_default();
    let Some(id) = types.find(name) else {
        let told = format!("unable to resolve {url:?}: \"not found\"");
        return Err(encoder.wrong(at, &told));
    };
    put_bytes(1, url.as_bytes(), out);
    encode_key(2, WireType::LengthDelimited, out);
    let start = out.len();
    if types.messages[id].known.is_some() {
        let Some(value) = value else {
            return Err(encoder.wrong(begin, "missing \"value\" field"));
        };
        encoder.json.at = value;
        encoder.message(id, out)?;
    } else {
        encoder.json.at = begin;
        encoder.fields(id, Some("@type"), out)?;
    }
    put_length_at(start, out);
    encoder.json.at = end;
    Ok(())
}

fn deeper(depth: u32) -> Result<u32, EncodeError> {
    depth.checked_sub(1).ok_or_else(|| super::parse::NoJson.into())
}

fn encode_struct(encoder: &mut Encoder<'_>, depth: u32, out: &mut Vec<u8>) -> encode::Done {
    let depth = deeper(depth)?;
    encoder.object(|encoder, _, key| {
        encode_key(1, WireType::LengthDelimited, out);
        let entry = out.len();
        put_bytes(1, key.as_bytes(), out);
        encode_key(2, WireType::LengthDelimited, out);
        let start = out.len();
        encode_value(encoder, depth, out)?;
        put_length_at(start, out);
        put_length_at(entry, out);
        Ok(())
    })
}

fn encode_list(encoder: &mut Encoder<'_>, depth: u32, out: &mut Vec<u8>) -> encode::Done {
    let depth = deeper(depth)?;
    encoder.array(|encoder| {
        encode_key(1, WireType::LengthDelimited, out);
        let start = out.len();
        encode_value(encoder, depth, out)?;
        put_length_at(start, out);
        Ok(())
    })
}

fn encode_value(encoder: &mut Encoder<'_>, depth: u32, out: &mut Vec<u8>) -> encode::Done {
    match encoder.json.sort() {
        Sort::Null => {
            encoder.json.null()?;
            encode_key(NULL, WireType::Varint, out);
            out.push(0);
        }
        Sort::Bool => {
            let value = encoder.json.bool()?;
            encode_key(BOOL, WireType::Varint, out);
            out.push(u8::from(value));
        }
        Sort::Number => {
            let value: f64 = encoder.json.number()?.parse().map_err(|_| super::parse::NoJson)?;
            encode_key(NUMBER, WireType::SixtyFourBit, out);
            out.extend(value.to_le_bytes());
        }
        Sort::String => {
            let value = encoder.json.string()?;
            put_bytes(STRING, value.as_bytes(), out);
        }
        Sort::Object => {
            encode_key(STRUCT, WireType::LengthDelimited, out);
            let start = out.len();
            encode_struct(encoder, depth, out)?;
            put_length_at(start, out);
        }
        Sort::Array => {
            encode_key(LIST, WireType::LengthDelimited, out);
            let start = out.len();
            encode_list(encoder, depth, out)?;
            put_length_at(start, out);
        }
        Sort::Other => return Err(encoder.unexpected()),
    }
    Ok(())
}

/// `aB.c` is `a_b.c`; `None` if the path has an underscore, which would not come back.
fn snake(path: &str) -> Option<String> {
    let mut out = String::with_capacity(path.len() + 4);
    for letter in path.chars() {
        match letter {
            '_' | ' ' => return None,
            'A'..='Z' => {
                out.push('_');
                out.push(letter.to_ascii_lowercase());
            }
            _ => out.push(letter),
        }
    }
    Some(out)
}

/// `a_b.c` is `aB.c`; `None` if it would not come back.
fn camel(path: &str) -> Option<String> {
    let mut out = String::with_capacity(path.len());
    let mut letters = path.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '_' => out.push(letters.next().filter(char::is_ascii_lowercase)?.to_ascii_uppercase()),
            'A'..='Z' => return None,
            _ => out.push(letter),
        }
    }
    Some(out)
}

pub(super) fn decode(
    decoder: &mut Decoder<'_>,
    kind: Known,
    id: MessageId,
    bytes: &[u8],
    out: &mut String,
) -> decode::Done {
    let types = decoder.types;
    let message = &types.messages[id];
    let values = collect(message, bytes)?;
    // The values of a field by its number.
    let of = |number: u32| {
        let index = message.by_number(number);
        values.iter().filter(move |value| Some(value.0) == index).map(|value| value.1)
    };
    let integer = |number: u32| match of(number).next_back() {
        Some(Raw::Varint(value)) => value as i64,
        _ => 0,
    };
    match kind {
        Known::Empty => out.push_str("{}"),
        Known::Any => return decode_any(decoder, of(1).next_back(), of(2).next_back(), out),
        Known::Timestamp => {
            let (seconds, nanos) = (integer(1), integer(2) as i32);
            out.push('"');
            time::write_timestamp(seconds, nanos, out).ok_or_else(|| {
                let what = if time::SECONDS.contains(&seconds) { "nanos" } else { "seconds" };
                DecodeError::Known(format!("google.protobuf.Timestamp: {what} out of range"))
            })?;
            out.push('"');
        }
        Known::Duration => {
            out.push('"');
            time::write_duration(integer(1), integer(2) as i32, out).ok_or_else(|| {
                DecodeError::Known("google.protobuf.Duration: out of range".to_owned())
            })?;
            out.push('"');
        }
        Known::FieldMask => {
            let mut paths = Vec::new();
            for path in of(1) {
                let Raw::Bytes(path) = path else { return Err(DecodeError::Wire) };
                let path =
                    std::str::from_utf8(path).map_err(|_| DecodeError::Utf8(String::new()))?;
                paths.push(camel(path).ok_or_else(|| {
                    DecodeError::Known(format!("google.protobuf.FieldMask: invalid path {path:?}"))
                })?);
            }
            write_string(&paths.join(","), out);
        }
        // Their maps and lists are fields like others; only the braces and names around are missing.
        Known::Struct | Known::ListValue => {
            let mut inner = String::new();
            decoder.fields(id, bytes, &mut inner)?;
            let from = inner.find(':').map_or(inner.len(), |at| at + 1);
            out.push_str(&inner[from..]);
        }
        Known::Value => match values.last() {
            None => out.push_str("null"),
            Some(&(index, value)) => {
                let field = &message.fields[usize::from(index)];
                if let (NUMBER, Raw::Fixed64(bits)) = (field.number, value)
                    && !f64::from_bits(bits).is_finite()
                {
                    let told = "google.protobuf.Value cannot have NaN or infinite numbers";
                    return Err(DecodeError::Known(told.to_owned()));
                }
                let first = values.iter().position(|value| value.0 == index).unwrap_or(0);
                return decoder.single(field, &values[first..], out);
            }
        },
        Known::Wrapper => {
            let field = &message.fields[0];
            if values.is_empty() {
                let text = match field.kind {
                    Kind::Int64 | Kind::Uint64 => "\"0\"",
                    Kind::Bool => "false",
                    Kind::String | Kind::Bytes => "\"\"",
                    _ => "0",
                };
                out.push_str(text);
                return Ok(());
            }
            return decoder.single(field, &values, out);
        }
    }
    Ok(())
}

fn decode_any(
    decoder: &mut Decoder<'_>,
    url: Option<Raw<'_>>,
    value: Option<Raw<'_>>,
    out: &mut String,
) -> decode::Done {
    let value = value.map(|value| (0, value));
    let bytes = merged(value.as_slice());
    let url = match url {
        Some(Raw::Bytes(url)) => {
            std::str::from_utf8(url).map_err(|_| DecodeError::Utf8(String::new()))?
        }
        _ if bytes.is_empty() => {
            out.push_str("{}");
            return Ok(());
        }
        _ => {
            let told = "google.protobuf.Any: empty type URL";
            return Err(DecodeError::Known(told.to_owned()));
        }
    };
    let types = decoder.types;
    let name = url.rsplit('/').next().unwrap_or_default();
    let id = types.find(name).ok_or_else(|| {
        DecodeError::Known(format!("google.protobuf.Any: unable to resolve {url:?}: not found"))
    })?;
    out.push_str("{\"@type\":");
    write_string(url, out);
    if types.messages[id].known.is_some() {
        out.push_str(",\"value\":");
        decoder.message(id, &bytes, out)?;
    } else {
        let before = out.len();
        out.push(',');
        decoder.fields(id, &bytes, out)?;
        if out.len() == before + 1 {
            out.truncate(before);
        }
    }
    out.push('}');
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_change_their_case_and_back() {
        for (there, here) in [("aB.c", "a_b.c"), ("", ""), ("abc", "abc")] {
            assert_eq!(snake(there).as_deref(), Some(here));
            assert_eq!(camel(here).as_deref(), Some(there));
        }
        assert_eq!(
            (snake("a_b"), camel("aB"), camel("a_"), camel("a_B")),
            (None, None, None, None)
        );
    }
}
