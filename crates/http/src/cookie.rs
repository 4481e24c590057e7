//! Cookies, RFC 6265: `Set-Cookie` read, a jar kept, `Cookie` written.

mod date;
mod jar;

pub use jar::{Jar, Scope};

use crate::headers::is_token;

/// The fields of one `Set-Cookie`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SetCookie {
    /// Its name: a token.
    pub name: String,
    /// Its value, quotes taken off.
    pub value: String,
    /// The `Domain` attribute as sent; empty if there is none.
    pub domain: String,
    /// The `Path` attribute as sent; empty if there is none.
    pub path: String,
    /// The `Expires` attribute in milliseconds since the Unix epoch, if it is a date.
    pub expires_ms: Option<i64>,
    /// The `Max-Age` attribute in seconds, with Go's meaning: 0 is none given, -1 is "delete now".
    pub max_age: i64,
    /// The `Secure` attribute.
    pub secure: bool,
    /// The `HttpOnly` attribute.
    pub http_only: bool,
}

impl SetCookie {
    /// Reads one header value. `None` for what Go skips, too: no name, or forbidden characters.
    pub fn parse(line: &[u8]) -> Option<Self> {
        let line = std::str::from_utf8(line).ok()?;
        let mut parts = line.split(';').map(str::trim);
        let (name, value) = parts.next()?.split_once('=')?;
        let name = name.trim();
        if name.is_empty() || !name.bytes().all(is_token) {
            return None;
        }
        let mut cookie = Self {
            name: name.to_owned(),
            value: unquoted(value.trim())?.to_owned(),
            ..Self::default()
        };
        for attribute in parts {
            let (name, value) = attribute.split_once('=').unwrap_or((attribute, ""));
            cookie.attribute(name.trim(), value.trim());
        }
        Some(cookie)
    }

    fn attribute(&mut self, name: &str, value: &str) {
        let is = |other: &str| name.eq_ignore_ascii_case(other);
        if is("domain") {
            value.clone_into(&mut self.domain);
        } else if is("path") {
            value.clone_into(&mut self.path);
        } else if is("secure") {
            self.secure = true;
        } else if is("httponly") {
            self.http_only = true;
        } else if is("expires") {
            self.expires_ms = date::parse(value).map(|seconds| seconds * 1000);
        } else if is("max-age")
            && let Ok(seconds) = value.parse::<i64>()
            // Go takes no leading zeros.
            && (seconds == 0 || !value.starts_with('0'))
        {
            self.max_age = if seconds <= 0 { -1 } else { seconds };
        }
    }

    /// Reads an `Expires` date, in any of the forms that browsers understand: milliseconds since the
    /// Unix epoch.
    pub fn parse_date(text: &str) -> Option<i64> {
        date::parse(text).map(|seconds| seconds * 1000)
    }
}

/// The value without its quotes; `None` if it holds what no value may.
fn unquoted(value: &str) -> Option<&str> {
    let inner = value.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(value);
    inner.bytes().all(is_value).then_some(inner)
}

fn is_value(byte: u8) -> bool {
    (0x20..0x7f).contains(&byte) && !matches!(byte, b'"' | b';' | b'\\')
}

/// Appends `name=value` to the text of a `Cookie` header, as Go does: `; ` between, forbidden bytes of
/// the value left out, quotes around it if it holds a space or a comma.
pub fn append(out: &mut String, name: &str, value: &str) {
    if !out.is_empty() {
        out.push_str("; ");
    }
    out.extend(name.chars().map(|char| if matches!(char, '\r' | '\n') { '-' } else { char }));
    out.push('=');
    let quote = value.contains([' ', ',']);
    if quote {
        out.push('"');
    }
    out.extend(value.bytes().filter(|&byte| is_value(byte)).map(char::from));
    if quote {
        out.push('"');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cookie_with_all_attributes_is_read() {
        let line =
            b"id=\"a3f\"; Expires=Wed, 21 Oct 2015 07:28:00 GMT; max-age=60; Domain=.x.test; \
                     Path=/a; SECURE; HttpOnly; SameSite=Lax";
        let cookie = SetCookie::parse(line).unwrap();
        assert_eq!((cookie.name.as_str(), cookie.value.as_str()), ("id", "a3f"));
        assert_eq!((cookie.domain.as_str(), cookie.path.as_str()), (".x.test", "/a"));
        assert_eq!((cookie.expires_ms, cookie.max_age), (Some(1_445_412_480_000), 60));
        assert!(cookie.secure && cookie.http_only);
    }

    #[test]
    fn what_go_skips_is_skipped() {
        for line in ["", "a", "=b", "a b=c", "a=b\u{e9}", "a=\"b"] {
            assert_eq!(SetCookie::parse(line.as_bytes()), None, "{line}");
        }
        assert_eq!(SetCookie::parse(b"a=").unwrap().value, "");
    }

    #[test]
    fn max_age_has_gos_meaning() {
        let age = |text: &str| {
            SetCookie::parse(format!("a=b; Max-Age={text}").as_bytes()).unwrap().max_age
        };
        assert_eq!((age("0"), age("-5"), age("5"), age("05"), age("x")), (-1, -1, 5, 0, 0));
    }

    #[test]
    fn the_header_is_written_as_go_does() {
        let mut out = String::new();
        append(&mut out, "a", "1");
        append(&mut out, "b", "x y\r\n;");
        assert_eq!(out, "a=1; b=\"x y\"");
    }
}
