//! Values as texts: of parameters, of `COPY`, of statements.

use std::io::Write as _;

use super::clock;
use crate::cell::Cell;
use crate::spelling::{self, push_hex, push_int, push_natural};

/// Appends a value as the text of a parameter. `NULL` has none: `false`.
pub(super) fn push_text(out: &mut Vec<u8>, cell: Cell<'_>) -> bool {
    match cell {
        Cell::Null => return false,
        Cell::Text(text) | Cell::Raw(text) | Cell::Bytes(text) => out.extend_from_slice(text),
        Cell::Int(value) => push_int(out, value),
        Cell::Bool(value) => out.extend_from_slice(if value { b"true" } else { b"false" }),
        Cell::UInt(value) => push_natural(out, value),
        Cell::Float(value) => push_float(out, value),
        Cell::Single(value) => push_float(out, f64::from(value)),
        Cell::Time(moment) => clock::push(out, moment),
    }
    true
}

/// Appends a value as `COPY` reads it.
#[inline]
pub(super) fn push_copied(out: &mut Vec<u8>, cell: Cell<'_>) {
    match cell {
        Cell::Text(text) | Cell::Raw(text) => push_escaped(out, text),
        Cell::Null => out.extend_from_slice(b"\\N"),
        Cell::Bytes(bytes) => {
            out.extend_from_slice(b"\\\\x");
            push_hex(out, bytes);
        }
        other => drop(push_text(out, other)),
    }
}

#[inline]
fn push_escaped(out: &mut Vec<u8>, text: &[u8]) {
    let is_special = |byte: u8| byte < 14 || byte == b'\\';
    // Without a branch in it, so that the compiler looks at many bytes at once.
    if !text.iter().fold(false, |has, byte| has | is_special(*byte)) {
        out.extend_from_slice(text);
        return;
    }
    for byte in text {
        match byte {
            b'\\' => out.extend_from_slice(b"\\\\"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            byte => out.push(*byte),
        }
    }
}

/// Appends a value as a literal of a statement.
pub(super) fn push_literal(out: &mut Vec<u8>, cell: Cell<'_>) {
    match cell {
        Cell::Null => out.extend_from_slice(b"NULL"),
        Cell::Text(text) | Cell::Raw(text) => {
            let has_backslash = text.contains(&b'\\');
            out.extend_from_slice(if has_backslash { b" E'" } else { b"'" });
            for byte in text {
                if *byte == b'\'' || *byte == b'\\' {
                    out.push(*byte);
                }
                out.push(*byte);
            }
            out.push(b'\'');
        }
        Cell::Bytes(bytes) => {
            out.extend_from_slice(b" E'\\\\x");
            push_hex(out, bytes);
            out.push(b'\'');
        }
        Cell::Int(value) => push_int(out, value),
        Cell::UInt(value) => push_natural(out, value),
        other => {
            // A date, a boolean, a float that may be infinite: the column tells the type.
            out.push(b'\'');
            push_text(out, other);
            out.push(b'\'');
        }
    }
}

fn push_float(out: &mut Vec<u8>, value: f64) {
    // Writing to memory does not fail.
    let _ = if value.is_nan() {
        write!(out, "NaN")
    } else if value.is_infinite() {
        write!(out, "{}Infinity", if value < 0.0 { "-" } else { "+" })
    } else if value != 0.0 && !(1e-5..1e21).contains(&value.abs()) {
        write!(out, "{value:e}")
    } else {
        write!(out, "{value}")
    };
}

/// Appends a name between double quotes.
pub(super) fn push_name(out: &mut Vec<u8>, name: &str) {
    spelling::push_name(out, name, b'"');
}

/// Appends the name of a table, perhaps with its schema. A name between double quotes stays as it is.
pub(super) fn push_table(out: &mut Vec<u8>, table: &str) {
    spelling::push_table(out, table, b'"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_texts_of_copy_and_of_statements() {
        for (cell, copied, literal) in [
            (Cell::Null, "\\N", "NULL"),
            (Cell::Text(b"it's\ta\\b\n"), "it's\\ta\\\\b\\n", " E'it''s\ta\\\\b\n'"),
            (Cell::Text(b"plain"), "plain", "'plain'"),
            (Cell::Bytes(b"\0\xff"), "\\\\x00ff", " E'\\\\x00ff'"),
            (Cell::Bool(true), "true", "'true'"),
            (Cell::Int(i64::MIN), "-9223372036854775808", "-9223372036854775808"),
            (Cell::Float(f64::NEG_INFINITY), "-Infinity", "'-Infinity'"),
            (Cell::Float(1e300), "1e300", "'1e300'"),
        ] {
            let (mut one, mut other) = (Vec::new(), Vec::new());
            push_copied(&mut one, cell);
            push_literal(&mut other, cell);
            assert_eq!((one.as_slice(), other.as_slice()), (copied.as_bytes(), literal.as_bytes()));
        }
        let mut out = Vec::new();
        push_table(&mut out, "shop.or\"ders");
        assert_eq!(out, b"\"shop\".\"or\"\"ders\"");
    }
}
