//! Values as SQL.

use super::session::Session;
use super::zone;
use crate::cell::Cell;
use crate::spelling::{self, push_int, push_natural};

/// How literals are written on a connection.
#[derive(Debug, Clone)]
pub(super) struct Literals {
    /// A backslash is a backslash (`NO_BACKSLASH_ESCAPES`).
    has_plain_backslashes: bool,
    /// Texts are written in hexadecimal, behind the name of their character set: in it, a backslash may be a part of a character.
    introducer: Option<String>,
    /// The zone of dates by its number.
    zone: u8,
}

impl Literals {
    /// As the session wants them.
    pub(super) fn of(session: &Session) -> Self {
        let options = &session.options;
        let charset = options.charsets.first().or(options.collation.as_ref());
        let charset = charset.filter(|_| options.is_unsafe());
        let name = |name: &String| name.split('_').next().unwrap_or_default().to_owned();
        Self {
            has_plain_backslashes: session.has_plain_backslashes(),
            introducer: charset.map(name),
            zone: zone::number(&options.zone).unwrap_or(zone::UTC),
        }
    }

    /// Appends a value.
    #[inline]
    pub(super) fn push(&self, out: &mut Vec<u8>, cell: Cell<'_>) {
        match cell {
            Cell::Text(text) | Cell::Raw(text) => self.push_text(out, text),
            Cell::Int(value) => push_int(out, value),
            Cell::Null => out.extend_from_slice(b"NULL"),
            Cell::Bytes(bytes) => push_hex(out, bytes),
            Cell::Bool(value) => out.push(b'0' + u8::from(value)),
            Cell::UInt(value) => push_natural(out, value),
            Cell::Float(value) => push_float(out, value),
            Cell::Single(value) => push_float(out, f64::from(value)),
            Cell::Time(moment) => {
                out.push(b'\'');
                zone::push(out, moment, self.zone);
                out.push(b'\'');
            }
        }
    }

    #[inline]
    fn push_text(&self, out: &mut Vec<u8>, text: &[u8]) {
        if let Some(charset) = &self.introducer {
            out.push(b'_');
            out.extend_from_slice(charset.as_bytes());
            out.push(b' ');
            push_hex(out, text);
            return;
        }
        out.reserve(text.len() + 2);
        out.push(b'\'');
        // Without a branch in it, so that the compiler looks at many bytes at once.
        let is_special = |byte: u8| u8::from(byte == b'\'') | u8::from(byte == b'\\');
        if text.iter().fold(0, |any, byte| any | is_special(*byte)) != 0 {
            self.push_special(out, text);
        } else {
            out.extend_from_slice(text);
        }
        out.push(b'\'');
    }

    fn push_special(&self, out: &mut Vec<u8>, text: &[u8]) {
        for byte in text {
            if *byte == b'\'' || *byte == b'\\' && !self.has_plain_backslashes {
                out.push(*byte);
            }
            out.push(*byte);
        }
    }
}

/// Appends a floating number, with an exponent: else it would be a DECIMAL.
pub(super) fn push_float(out: &mut Vec<u8>, value: f64) {
    use std::io::Write as _;
    // Writing to memory does not fail.
    let _ = if value.is_finite() { write!(out, "{value:e}") } else { write!(out, "{value}") };
}

/// Appends bytes in hexadecimal.
pub(super) fn push_hex(out: &mut Vec<u8>, bytes: &[u8]) {
    out.reserve(bytes.len() * 2 + 3);
    out.extend_from_slice(b"x'");
    spelling::push_hex(out, bytes);
    out.push(b'\'');
}

/// Appends a name between backticks.
pub(super) fn push_name(out: &mut Vec<u8>, name: &str) {
    spelling::push_name(out, name, b'`');
}

/// Appends the name of a table, perhaps with its schema. A name between backticks stays as it is.
pub(super) fn push_table(out: &mut Vec<u8>, table: &str) {
    spelling::push_table(out, table, b'`');
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn usual() -> Literals {
        Literals { has_plain_backslashes: false, introducer: None, zone: zone::UTC }
    }

    fn shown(literals: &Literals, cell: Cell<'_>) -> String {
        let mut out = Vec::new();
        literals.push(&mut out, cell);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn values_are_sql() {
        for (cell, sql) in [
            (Cell::Null, "NULL"),
            (Cell::Bool(true), "1"),
            (Cell::Int(i64::MIN), "-9223372036854775808"),
            (Cell::UInt(u64::MAX), "18446744073709551615"),
            (Cell::Float(1.5), "1.5e0"),
            (Cell::Float(-1e300), "-1e300"),
            (Cell::Bytes(b"\x00\xff"), "x'00ff'"),
            (Cell::Bytes(b""), "x''"),
            (Cell::Text(b"it's a \\"), r"'it''s a \\'"),
        ] {
            assert_eq!(shown(&usual(), cell), sql);
        }
        let plain = Literals { has_plain_backslashes: true, ..usual() };
        assert_eq!(shown(&plain, Cell::Text(b"it's a \\")), r"'it''s a \'");
        let gbk = Literals { introducer: Some("gbk".to_owned()), ..usual() };
        assert_eq!(shown(&gbk, Cell::Text(b"\xbf'")), "_gbk x'bf27'");
    }

    #[test]
    fn names_are_quoted() {
        let shown = |table| {
            let mut out = Vec::new();
            push_table(&mut out, table);
            String::from_utf8(out).unwrap()
        };
        assert_eq!(shown("shop.or`ders"), "`shop`.`or``ders`");
        assert_eq!(shown("`a.b`"), "`a.b`");
    }

    proptest! {
        #[test]
        fn no_text_ends_its_literal(text: Vec<u8>, has_plain_backslashes: bool) {
            let literals = Literals { has_plain_backslashes, ..usual() };
            let mut out = Vec::new();
            literals.push(&mut out, Cell::Text(&text));
            let (mut read, mut at) = (Vec::new(), 1);
            while at < out.len() - 1 {
                let is_escape = out[at] == b'\'' || out[at] == b'\\' && !has_plain_backslashes;
                prop_assert!(!is_escape || out[at + 1] == out[at]);
                at += usize::from(is_escape);
                read.push(out[at]);
                at += 1;
            }
            prop_assert_eq!(at, out.len() - 1);
            prop_assert_eq!(read, text);
        }
    }
}
