//! `multipart/form-data`, read as strictly as RFC 7578 and RFC 2046 §5.1 write it.

use bytes::Bytes;
use memchr::memmem::{self, Finder};

/// The maximum number of parts of one body.
const PARTS_MAX: usize = 1000;
/// Longest headers of one part.
const HEAD_MAX: usize = 16 * 1024;

/// One part of a body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) name: String,
    pub(crate) filename: Option<String>,
    pub(crate) content_type: Option<String>,
    /// A slice of the body; nothing is copied.
    pub(crate) content: Bytes,
}

/// Where a body stops being multipart, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Malformed {
    /// Bytes from the begin of the body.
    pub(crate) offset: usize,
    pub(crate) reason: &'static str,
}

fn malformed<T>(offset: usize, reason: &'static str) -> Result<T, Malformed> {
    Err(Malformed { offset, reason })
}

/// The parts of `body`, whose `Content-Type` header is given.
pub(crate) fn parse(content_type: &str, body: &Bytes) -> Result<Vec<Part>, Malformed> {
    let boundary = boundary(content_type)?;
    let dashes = format!("--{boundary}");
    let finder = Finder::new(dashes.as_bytes());
    let mut at = first_delimiter(body, &finder, dashes.len())?;
    let mut parts = Vec::new();
    loop {
        // `at` is behind a delimiter: either it closes, or its line ends here.
        if body[at..].starts_with(b"--") {
            return epilogue(body, at + 2).map(|()| parts);
        }
        at = end_of_delimiter(body, at)?;
        if parts.len() >= PARTS_MAX {
            return malformed(at, "too many parts");
        }
        let (mut part, begin) = head(body, at)?;
        let end = next_delimiter(body, begin, &finder)?;
        part.content = body.slice(begin..end);
        parts.push(part);
        at = end + 2 + dashes.len();
    }
}

/// The boundary of `multipart/form-data; boundary=…`: 1 to 70 characters of RFC 2046's set, in quotes if it is no token
/// of RFC 2045.
fn boundary(content_type: &str) -> Result<String, Malformed> {
    let (kind, mut rest) = content_type.split_once(';').unwrap_or((content_type, ""));
    if !kind.trim().eq_ignore_ascii_case("multipart/form-data") {
        return malformed(0, "the content type is not multipart/form-data");
    }
    let mut boundary = None;
    while !rest.trim().is_empty() {
        let Some((name, after)) = rest.split_once('=') else {
            return malformed(0, "the content type has a parameter without a value");
        };
        let (text, after) = if let Some(quoted) = after.strip_prefix('"') {
            match quoted_text(quoted) {
                Some(unquoted) => unquoted,
                None => return malformed(0, "the content type has a quote that is not closed"),
            }
        } else {
            let end = after.find(';').unwrap_or(after.len());
            let text = after[..end].trim_end();
            if !text.bytes().all(is_token) {
                return malformed(0, "a parameter of the content type needs quotes (RFC 2045)");
            }
            (text.to_owned(), &after[end..])
        };
        if name.trim().eq_ignore_ascii_case("boundary") && boundary.replace(text).is_some() {
            return malformed(0, "the content type names two boundaries");
        }
        let after = after.trim_start();
        rest = match after.strip_prefix(';') {
            Some(next) => next,
            None if after.is_empty() => after,
            None => return malformed(0, "something follows a parameter of the content type"),
        };
    }
    let boundary = boundary.unwrap_or_default();
    let allowed = |c: u8| c.is_ascii_alphanumeric() || b"'()+_,-./:=? ".contains(&c);
    match boundary.len() {
        0 => malformed(0, "the content type names no boundary"),
        1..=70 if boundary.bytes().all(allowed) && !boundary.ends_with(' ') => Ok(boundary),
        _ => malformed(0, "the boundary has more than 70 characters, or some that are not allowed"),
    }
}

/// The bytes of a token of RFC 2045: no blanks, controls and separators.
fn is_token(byte: u8) -> bool {
    byte.is_ascii_graphic() && !b"()<>@,;:\\\"/[]?=".contains(&byte)
}

/// The end of the first delimiter. A preamble is allowed if it ends with a line.
fn first_delimiter(body: &[u8], finder: &Finder<'_>, size: usize) -> Result<usize, Malformed> {
    match finder.find(body) {
        Some(0) => Ok(size),
        Some(found) if body[..found].ends_with(b"\r\n") => Ok(found + size),
        Some(found) => malformed(found, "the first boundary is not at the begin of a line"),
        None => malformed(0, "there is no boundary in the body"),
    }
}

/// A CRLF must follow a delimiter. RFC 2046 lets mail servers pad it with blanks; the sender may not, and over HTTP
/// there is no other party.
fn end_of_delimiter(body: &[u8], at: usize) -> Result<usize, Malformed> {
    if let Some(b' ' | b'\t') = body.get(at) {
        return malformed(at, "a boundary line has blanks after the boundary");
    }
    if body[at.min(body.len())..].starts_with(b"\r\n") {
        Ok(at + 2)
    } else {
        malformed(at, "a boundary line does not end with CRLF")
    }
}

/// After the closing delimiter: nothing, or a line end and whatever follows.
fn epilogue(body: &[u8], at: usize) -> Result<(), Malformed> {
    let rest = &body[at..];
    if rest.is_empty() || rest.starts_with(b"\r\n") {
        Ok(())
    } else {
        malformed(at, "something follows the closing boundary on its line")
    }
}

/// The begin of the CRLF before the next delimiter.
fn next_delimiter(body: &[u8], begin: usize, finder: &Finder<'_>) -> Result<usize, Malformed> {
    match finder.find(&body[begin..]) {
        None => malformed(body.len(), "the closing boundary is missing"),
        Some(found) => {
            let at = begin + found;
            if found >= 2 && &body[at - 2..at] == b"\r\n" {
                Ok(at - 2)
            } else {
                malformed(at, "a boundary is not preceded by CRLF")
            }
        }
    }
}

/// A part's headers from `begin` on; also where its content begins.
fn head(body: &[u8], begin: usize) -> Result<(Part, usize), Malformed> {
    let mut part =
        Part { name: String::new(), filename: None, content_type: None, content: Bytes::new() };
    let mut named = false;
    let mut at = begin;
    loop {
        let window = &body[at..body.len().min(begin + HEAD_MAX)];
        let Some(size) = memmem::find(window, b"\r\n") else {
            return malformed(at, "a part's header line does not end with CRLF");
        };
        let line = &window[..size];
        if let Some(bare) = line.iter().position(|b| matches!(b, b'\n' | b'\r')) {
            return malformed(at + bare, "a line ends with a bare CR or LF");
        }
        if line.is_empty() {
            return if named {
                Ok((part, at + 2))
            } else {
                malformed(at, "a part has no Content-Disposition")
            };
        }
        let Ok(text) = std::str::from_utf8(line) else {
            return malformed(at, "a part's header is not UTF-8");
        };
        let Some((name, value)) = text.split_once(':') else {
            return malformed(at, "a part's header has no colon");
        };
        if name.eq_ignore_ascii_case("content-disposition") {
            let Some((name, filename)) = disposition(value) else {
                return malformed(at, "Content-Disposition is not form-data with a name");
            };
            (part.name, part.filename, named) = (name, filename, true);
        } else if name.eq_ignore_ascii_case("content-type") {
            part.content_type = Some(value.trim().to_owned());
        }
        at += size + 2;
    }
}

/// Name and file name of `form-data; name="…"; filename="…"`.
fn disposition(value: &str) -> Option<(String, Option<String>)> {
    let (kind, mut rest) = value.split_once(';')?;
    if !kind.trim().eq_ignore_ascii_case("form-data") {
        return None;
    }
    let (mut name, mut filename) = (None, None);
    loop {
        let (key, after) = rest.split_once('=')?;
        let (text, after) = if let Some(quoted) = after.trim_start().strip_prefix('"') {
            quoted_text(quoted)?
        } else {
            let end = after.find(';').unwrap_or(after.len());
            (after[..end].trim().to_owned(), &after[end..])
        };
        match key.trim().to_ascii_lowercase().as_str() {
            "name" => name = Some(text),
            "filename" => filename = Some(text),
            _ => {}
        }
        let after = after.trim();
        if after.is_empty() {
            return name.map(|name| (name, filename));
        }
        rest = after.strip_prefix(';')?;
    }
}

/// The text up to the closing quote, and what follows it. `\"` is a quote.
fn quoted_text(quoted: &str) -> Option<(String, &str)> {
    let mut text = String::new();
    let mut letters = quoted.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '"' => return Some((text, &quoted[at + 1..])),
            '\\' => match letters.next()?.1 {
                escaped @ ('"' | '\\') => text.push(escaped),
                // Browsers once sent whole Windows paths: there a backslash is just that.
                other => text.extend(['\\', other]),
            },
            other => text.push(other),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const TYPE: &str = "multipart/form-data; boundary=xx";

    fn read(body: &str) -> Result<Vec<Part>, Malformed> {
        parse(TYPE, &Bytes::copy_from_slice(body.as_bytes()))
    }

    #[test]
    fn fields_and_files_are_read_byte_for_byte() {
        let body = "--xx\r\nContent-Disposition: form-data; name=\"meta\"\r\n\r\n{\"a\":1}\r\n\
            --xx\r\ncontent-disposition: form-data; name=\"f\"; filename=\"a \\\"b\\\".bin\"\r\n\
            Content-Type: image/png\r\n\r\nline\r\n--x\r\n\n\r\n--xx--\r\n";
        let parts = read(body).unwrap();
        assert_eq!(parts[0].name, "meta");
        assert_eq!(parts[0].content, "{\"a\":1}");
        assert_eq!(parts[1].filename.as_deref(), Some("a \"b\".bin"));
        assert_eq!(parts[1].content_type.as_deref(), Some("image/png"));
        assert_eq!(parts[1].content, "line\r\n--x\r\n\n");
    }

    #[test]
    fn an_empty_part_and_a_preamble_are_fine() {
        let parts =
            read("hello\r\n--xx\r\nContent-Disposition: form-data; name=a\r\n\r\n\r\n--xx--");
        assert_eq!(parts.unwrap()[0].content, "");
    }

    #[test]
    fn what_is_malformed_is_said_with_its_place() {
        let head = "--xx\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n";
        for (body, offset, part) in [
            (String::new(), 0, "no boundary"),
            ("x--xx--".to_owned(), 1, "begin of a line"),
            ("--xx\nA: b\r\n".to_owned(), 4, "end with CRLF"),
            ("--xx\r\nA: b\r\n\r\nv\r\n--xx--".to_owned(), 12, "no Content-Disposition"),
            ("--xx\r\nno colon\r\n\r\n".to_owned(), 6, "no colon"),
            (
                "--xx\r\nContent-Disposition: form-data\r\n\r\n".to_owned(),
                6,
                "form-data with a name",
            ),
            (format!("{head}value\n--xx--"), head.len() + 6, "preceded by CRLF"),
            (format!("{head}value"), head.len() + 5, "closing boundary"),
            (format!("{head}value\r\n--xx--y"), head.len() + 13, "on its line"),
            (format!("{head}value\r\n--xx"), head.len() + 11, "end with CRLF"),
            (format!("{head}value\r\n--xx-- "), head.len() + 13, "on its line"),
            (format!("{head}value\r\n--xx \r\n"), head.len() + 11, "blanks"),
            ("--xx\t\r\n".to_owned(), 4, "blanks"),
        ] {
            let error = read(&body).unwrap_err();
            assert!(error.reason.contains(part), "{body:?}: {error:?}");
            assert_eq!(error.offset, offset, "{body:?}: {error:?}");
        }
    }

    #[test]
    fn the_boundary_is_checked() {
        let body = Bytes::from_static(b"--a b--");
        assert!(parse("multipart/form-data; boundary=\"a b\"", &body).unwrap().is_empty());
        let quoted = "multipart/form-data; x=\"a;boundary=c\" ; BOUNDARY=\"a b\";charset=utf-8";
        assert!(parse(quoted, &body).unwrap().is_empty());
        for (bad, why) in [
            ("text/plain", "not multipart"),
            ("multipart/form-data", "no boundary"),
            ("multipart/form-data; boundary", "without a value"),
            ("multipart/form-data; boundary=\"a \"", "not allowed"),
            ("multipart/form-data; boundary=a b", "quotes"),
            ("multipart/form-data; boundary=a/b", "quotes"),
            ("multipart/form-data; boundary=a:b", "quotes"),
            ("multipart/form-data; boundary=a?", "quotes"),
            ("multipart/form-data; boundary=\"a b", "not closed"),
            ("multipart/form-data; boundary=\"a b\" c", "follows"),
            ("multipart/form-data; boundary=a; boundary=b", "two"),
        ] {
            let error = parse(bad, &body).unwrap_err();
            assert!(error.reason.contains(why), "{bad}: {error:?}");
        }
    }

    #[test]
    fn any_cut_of_a_good_body_is_an_error_not_a_panic() {
        let body = "--xx\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nv\r\n--xx--";
        for cut in 0..body.len() {
            assert!(read(&body[..cut]).is_err(), "cut at {cut}");
        }
        assert!(read(body).is_ok());
    }
}
