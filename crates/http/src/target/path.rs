//! Percent-encoding of paths, as Go does it.

use std::borrow::Cow;

use brunt_net::{Excerpt, unescape};

use super::InvalidUrl;

/// Path and query as one text for the request line. `both` is the path, `path_len` bytes of it, and
/// the query with its `?`.
///
/// A path that is validly encoded stays as it is, byte for byte. Any other is decoded and encoded
/// anew.
pub(super) fn on_the_wire(both: &str, path_len: usize) -> Result<Cow<'_, str>, InvalidUrl> {
    let (path, query) = both.split_at(path_len);
    check(path)?;
    if both.is_empty() {
        return Ok(Cow::Borrowed("/"));
    }
    if path.is_empty() {
        return Ok(Cow::Owned(format!("/{query}")));
    }
    if path.bytes().all(is_valid_encoded) {
        return Ok(Cow::Borrowed(both));
    }
    let mut wire = escape(&unescape(path.as_bytes()));
    wire.push_str(query);
    Ok(Cow::Owned(wire))
}

/// Each `%` has its two hex digits.
pub(super) fn check(text: &str) -> Result<(), InvalidUrl> {
    let bytes = text.as_bytes();
    for at in memchr::memchr_iter(b'%', bytes) {
        let escape = &bytes[at..bytes.len().min(at + 3)];
        if escape.len() < 3 || !escape[1..].iter().all(u8::is_ascii_hexdigit) {
            return Err(InvalidUrl::Escape(Excerpt::new(escape)));
        }
    }
    Ok(())
}

fn escape(path: &[u8]) -> String {
    let mut out = String::with_capacity(path.len() + 16);
    for &byte in path {
        if byte.is_ascii_alphanumeric() || b"-_.~$&+,/:;=@".contains(&byte) {
            out.push(char::from(byte));
        } else {
            const HEX: &[u8; 16] = b"0123456789ABCDEF";
            out.push('%');
            out.push(char::from(HEX[usize::from(byte >> 4)]));
            out.push(char::from(HEX[usize::from(byte & 15)]));
        }
    }
    out
}

fn is_valid_encoded(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-_.~!$&'()*+,;=:@[]%/".contains(&byte)
}
