//! Request bodies from fields: URL-encoded forms and multipart.

mod multipart;

pub use multipart::{Multipart, Part};

/// Appends `text` to `out`, escaped as Go's `url.QueryEscape` does: letters, digits and `-_.~` stay, a
/// space is `+`, every other byte `%XX`.
pub fn query_escape(text: &str, out: &mut String) {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                out.push(char::from(byte));
            }
            b' ' => out.push('+'),
            _ => {
                out.push('%');
                out.push(char::from(HEX[usize::from(byte >> 4)]));
                out.push(char::from(HEX[usize::from(byte & 15)]));
            }
        }
    }
}

/// `a=1&b=2`: the fields in their order, names and values escaped.
pub fn urlencode<'a>(fields: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
    let mut out = String::new();
    for (name, value) in fields {
        if !out.is_empty() {
            out.push('&');
        }
        query_escape(name, &mut out);
        out.push('=');
        query_escape(value, &mut out);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_are_escaped_as_go_does() {
        assert_eq!(
            urlencode([("a b", "é&="), ("~-_.", "*+"), ("", "")]),
            "a+b=%C3%A9%26%3D&~-_.=%2A%2B&="
        );
    }
}
