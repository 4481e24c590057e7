//! Text of bodies: which charset they are written in, as browsers decide it.

use std::borrow::Cow;

use encoding_rs::{Encoding, UTF_8, WINDOWS_1252};

use crate::{Body, Headers};

/// A page tells its charset within this number of bytes (the HTML standard's rule).
const PRESCAN_SIZE: usize = 1024;

/// The text of a body; `None` if it is absent, can't be read, or is not text (pictures, archives, bytes with a NUL among
/// them).
///
/// A body in a file is read whole. Bytes that the charset does not have become U+FFFD.
pub fn text<'a>(body: &'a Body, headers: &Headers) -> Option<Cow<'a, str>> {
    match body {
        Body::Empty => Some(Cow::Borrowed("")),
        Body::Bytes(bytes) => is_text(bytes, headers).then(|| decode(bytes, headers)),
        Body::File { .. } => {
            let bytes = body.read().ok()?;
            is_text(&bytes, headers).then(|| Cow::Owned(decode(&bytes, headers).into_owned()))
        }
        Body::Absent { .. } => None,
    }
}

/// The text of bytes, whatever they are. A byte order mark is not part of it.
pub fn decode<'a>(bytes: &'a [u8], headers: &Headers) -> Cow<'a, str> {
    let encoding = encoding(bytes, headers);
    encoding.decode_with_bom_removal(bytes).0
}

/// The charset of bytes: a byte order mark, `charset` of `Content-Type`, `<meta charset>` of a page, `encoding` of an XML
/// declaration; else UTF-8 if the bytes are valid, and windows-1252 if not.
pub fn encoding(bytes: &[u8], headers: &Headers) -> &'static Encoding {
    if let Some((encoding, _)) = Encoding::for_bom(bytes) {
        return encoding;
    }
    let declared = headers.get("content-type").and_then(|value| parameter(value, "charset"));
    if let Some(encoding) = declared.and_then(|label| Encoding::for_label(label.as_bytes())) {
        return encoding;
    }
    if let Some(encoding) = prescan(bytes, &headers.media_type()) {
        return encoding;
    }
    if std::str::from_utf8(bytes).is_ok() { UTF_8 } else { WINDOWS_1252 }
}

/// Whether bytes are text: by their media type if it says so, else because there is no NUL in their first kilobytes.
pub fn is_text(bytes: &[u8], headers: &Headers) -> bool {
    let media_type = headers.media_type();
    let (family, kind) = media_type.split_once('/').unwrap_or_default();
    let is_binary = match family {
        "image" => !kind.starts_with("svg"),
        "audio" | "video" | "font" => true,
        "application" => {
            matches!(kind, "pdf" | "zip" | "gzip" | "wasm" | "protobuf" | "grpc" | "x-protobuf")
                || kind.starts_with("font")
                || kind.starts_with("vnd.ms-fontobject")
        }
        _ => false,
    };
    let is_wide = Encoding::for_bom(bytes).is_some_and(|(encoding, _)| encoding != UTF_8)
        || headers.get("content-type").is_some_and(|value| {
            parameter(value, "charset")
                .is_some_and(|label| label.to_ascii_lowercase().contains("utf-16"))
        });
    !is_binary && (is_wide || memchr::memchr(0, &bytes[..bytes.len().min(8192)]).is_none())
}

/// A parameter of a header's value: `charset` of `text/html; charset="utf-8"`. Quotes are taken off.
pub fn parameter<'a>(value: &'a str, name: &str) -> Option<&'a str> {
    value.split(';').skip(1).find_map(|parameter| {
        let (own, value) = parameter.split_once('=')?;
        own.trim().eq_ignore_ascii_case(name).then(|| value.trim().trim_matches(['"', '\'']))
    })
}

/// The charset that the beginning of a page or of an XML document tells.
fn prescan(bytes: &[u8], media_type: &str) -> Option<&'static Encoding> {
    let head = &bytes[..bytes.len().min(PRESCAN_SIZE)];
    let head = String::from_utf8_lossy(head).to_ascii_lowercase();
    let label = if head.trim_start().starts_with("<?xml") {
        let declaration = &head[..head.find("?>")?];
        after(declaration, "encoding")
    } else if media_type.is_empty() || media_type.contains("html") {
        let mut rest = head.as_str();
        let mut found = None;
        while let Some(at) = rest.find("<meta") {
            let tag = &rest[at..];
            let end = tag.find('>').unwrap_or(tag.len());
            found = after(&tag[..end], "charset");
            if found.is_some() {
                break;
            }
            rest = &tag[end..];
        }
        found
    } else {
        None
    }?;
    // A page whose `<meta>` could be read is no UTF-16, whatever it says.
    Encoding::for_label(label.as_bytes())
        .map(|encoding| if encoding.is_ascii_compatible() { encoding } else { UTF_8 })
}

/// The value behind `name=`, with or without quotes.
fn after<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let behind = text[text.find(name)? + name.len()..].trim_start().strip_prefix('=')?;
    let behind = behind.trim_start().trim_start_matches(['"', '\'']);
    let end = behind
        .find(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '-' | '_' | ':' | '.' | '+'))
        .unwrap_or(behind.len());
    (end > 0).then(|| &behind[..end])
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;

    fn of(content_type: &str, bytes: &'static [u8]) -> Option<String> {
        let headers = Headers(vec![("content-type".into(), content_type.into())]);
        let body = Body::Bytes(Bytes::from_static(bytes));
        text(&body, &headers).map(Cow::into_owned)
    }

    #[test]
    fn the_charset_is_the_marks_then_the_headers_then_the_pages() {
        assert_eq!(of("text/plain; charset=iso-8859-1", b"caf\xe9").as_deref(), Some("caf\u{e9}"));
        assert_eq!(
            of("text/html; charset=\"UTF-8\"", "caf\u{e9}".as_bytes()).as_deref(),
            Some("café")
        );
        assert_eq!(
            of("text/html; charset=latin1", b"\xef\xbb\xbfcaf\xc3\xa9").as_deref(),
            Some("café")
        );
        let page =
            b"<html><META http-equiv=Content-Type content='text/html; charset=windows-1251'>\xcf";
        assert!(of("text/html", page).is_some_and(|text| text.ends_with('П')));
        assert!(
            of("text/html", b"<meta name=a><meta charset=\"koi8-r\">\xf0")
                .is_some_and(|t| t.ends_with('П'))
        );
        let xml = b"<?xml version='1.0' encoding='iso-8859-15'?>\xa4";
        assert!(of("application/xml", xml).is_some_and(|text| text.ends_with('€')));
        assert_eq!(of("text/plain", b"\x80uro").as_deref(), Some("€uro"));
        assert_eq!(of("text/plain", b"\xff\xfea\0b\0").as_deref(), Some("ab"));
    }

    #[test]
    fn pictures_and_bytes_with_a_nul_are_no_text() {
        assert_eq!(of("image/png", b"abc"), None);
        assert_eq!(of("image/svg+xml", b"<svg/>").as_deref(), Some("<svg/>"));
        assert_eq!(of("application/octet-stream", b"a\0b"), None);
        assert_eq!(of("application/octet-stream", b"ab").as_deref(), Some("ab"));
        assert_eq!(text(&Body::Empty, &Headers::default()).as_deref(), Some(""));
        let absent = Body::Absent { why: "the file has no bodies".into(), size: None };
        assert_eq!(text(&absent, &Headers::default()), None);
    }
}
