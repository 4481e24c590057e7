//! `multipart/form-data` and its relatives: where the parts of a body are (RFC 7578, RFC 2046).
//!
//! Tolerant, as bodies of HAR files must be read: lines may end in LF alone, the closing line may be missing, text may be damaged.

use std::ops::Range;

use memchr::memmem::Finder;

use crate::{Headers, charset};

/// The most parts of a body; those behind are not read.
pub const PARTS_MAX: usize = 10_000;
/// The most headers of a part; those behind are not read.
const HEADERS_MAX: usize = 100;

/// A part of a body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// Its name in the form; empty if the part has none.
    pub name: String,
    /// The name of the file, if it is one. An empty one is what browsers send for a field of files in which nothing was chosen.
    pub file_name: Option<String>,
    /// As written, with parameters.
    pub content_type: Option<String>,
    /// All of its headers, in order.
    pub headers: Headers,
    /// Its bytes, in the body.
    pub range: Range<usize>,
}

/// The parts of a body, if its headers say that it has some: the `Content-Type` is `multipart/…` with a boundary.
pub fn of(headers: &Headers, body: &[u8]) -> Option<Vec<Part>> {
    let boundary = boundary(headers.get("content-type")?)?;
    Some(parts(body, &boundary))
}

/// The boundary of a `Content-Type`: `multipart/form-data; boundary=abc` has `abc`.
pub fn boundary(content_type: &str) -> Option<String> {
    let is_multipart = content_type
        .trim_start()
        .get(..10)
        .is_some_and(|family| family.eq_ignore_ascii_case("multipart/"));
    let (_, boundary) =
        parameters(content_type).into_iter().find(|(name, _)| name == "boundary")?;
    (is_multipart && !boundary.is_empty()).then_some(boundary)
}

/// The parts between the lines of a boundary, at most [`PARTS_MAX`].
pub fn parts(body: &[u8], boundary: &str) -> Vec<Part> {
    let mark = format!("--{boundary}");
    let finder = Finder::new(mark.as_bytes());
    let mut all = Vec::new();
    // The begin of the content of the open part, behind the line of its boundary.
    let mut open: Option<usize> = None;
    let mut from = 0;
    while let Some(found) = finder.find(&body[from..]) {
        let at = from + found;
        let behind = at + mark.len();
        from = behind;
        let Some((next, is_last)) = line_end(body, behind) else { continue };
        if at > 0 && body[at - 1] != b'\n' {
            continue;
        }
        if let Some(begin) = open {
            all.push(part(body, begin, before_line_end(body, begin, at)));
        }
        open = (!is_last).then_some(next);
        from = next;
        if is_last || all.len() == PARTS_MAX {
            open = None;
            break;
        }
    }
    if let Some(begin) = open {
        all.push(part(body, begin, body.len()));
    }
    all
}

/// The begin of the line behind a boundary's, and whether `--` says that no part follows; `None` if other bytes follow.
fn line_end(body: &[u8], behind: usize) -> Option<(usize, bool)> {
    let is_last = body[behind..].starts_with(b"--");
    let mut at = if is_last { behind + 2 } else { behind };
    while matches!(body.get(at), Some(b' ' | b'\t')) {
        at += 1;
    }
    match body.get(at) {
        Some(b'\r') if body.get(at + 1) == Some(&b'\n') => Some((at + 2, is_last)),
        Some(b'\n') => Some((at + 1, is_last)),
        None => Some((at, true)),
        _ if is_last => Some((at, true)),
        Some(_) => None,
    }
}

/// The end of a part before a boundary: the line end before it belongs to the boundary.
fn before_line_end(body: &[u8], begin: usize, boundary: usize) -> usize {
    let mut end = boundary;
    if end > begin && body[end - 1] == b'\n' {
        end -= 1;
        if end > begin && body[end - 1] == b'\r' {
            end -= 1;
        }
    }
    end
}

/// A part from its headers to its end.
fn part(body: &[u8], begin: usize, end: usize) -> Part {
    let mut headers = Headers::default();
    let mut at = begin.min(end);
    while at < end {
        let line_end = memchr::memchr(b'\n', &body[at..end]).map_or(end, |found| at + found);
        let line = body[at..line_end].strip_suffix(b"\r").unwrap_or(&body[at..line_end]);
        let next = (line_end + 1).min(end);
        if line.is_empty() {
            at = next;
            break;
        }
        let line = String::from_utf8_lossy(line);
        let Some((name, value)) = line.split_once(':') else { break };
        if headers.0.len() < HEADERS_MAX {
            headers.0.push((name.trim().to_owned(), value.trim().to_owned()));
        }
        at = next;
    }
    let disposition = headers.get("content-disposition").map(parameters).unwrap_or_default();
    let find = |name: &str| disposition.iter().find(|(own, _)| own == name).map(|(_, v)| v.clone());
    Part {
        name: find("name").unwrap_or_default(),
        file_name: find("filename*")
            .and_then(|value| extended(&value))
            .or_else(|| find("filename")),
        content_type: headers.get("content-type").map(str::to_owned),
        headers,
        range: at..end,
    }
}

/// The parameters of a header's value behind its first `;`: names in small letters, values without quotes.
///
/// Browsers write `"` in a name as `%22`, and line ends as `%0D%0A`; others put a backslash before it. Both are undone.
fn parameters(value: &str) -> Vec<(String, String)> {
    let mut all = Vec::new();
    let mut rest = value.split_once(';').map_or("", |(_, rest)| rest);
    while !rest.is_empty() {
        let Some(equals) = rest.find(['=', ';']) else { break };
        let name = rest[..equals].trim().to_ascii_lowercase();
        if rest.as_bytes()[equals] == b';' {
            rest = &rest[equals + 1..];
            continue;
        }
        let behind = rest[equals + 1..].trim_start();
        let (text, next) = if let Some(quoted) = behind.strip_prefix('"') {
            unquote(quoted)
        } else {
            let end = behind.find(';').unwrap_or(behind.len());
            (behind[..end].trim().to_owned(), &behind[end..])
        };
        all.push((name, text));
        rest = next.find(';').map_or("", |at| &next[at + 1..]);
    }
    all
}

/// A text up to its closing quote, and what follows it.
fn unquote(quoted: &str) -> (String, &str) {
    let mut text = String::new();
    let mut signs = quoted.char_indices();
    let mut end = quoted.len();
    while let Some((at, sign)) = signs.next() {
        match sign {
            '"' => {
                end = at + 1;
                break;
            }
            '\\' if quoted[at + 1..].starts_with(['"', '\\']) => {
                text.extend(signs.next().map(|(_, sign)| sign));
            }
            _ => text.push(sign),
        }
    }
    let text = text.replace("%22", "\"").replace("%0D", "\r").replace("%0A", "\n");
    (text, &quoted[end..])
}

/// A value of RFC 5987: `UTF-8''na%C3%AFve.txt`.
fn extended(value: &str) -> Option<String> {
    let (label, rest) = value.split_once('\'')?;
    let (_, encoded) = rest.split_once('\'')?;
    let bytes = unpercent(encoded);
    let headers = Headers(vec![("content-type".into(), format!("text/plain; charset={label}"))]);
    Some(charset::decode(&bytes, &headers).into_owned())
}

fn unpercent(text: &str) -> Vec<u8> {
    let bytes = text.as_bytes();
    let mut all = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let digit = |at: usize| bytes.get(at).and_then(|byte| char::from(*byte).to_digit(16));
        match (bytes[at], digit(at + 1), digit(at + 2)) {
            (b'%', Some(high), Some(low)) => {
                all.push((high * 16 + low) as u8);
                at += 3;
            }
            (byte, ..) => {
                all.push(byte);
                at += 1;
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(body: &str) -> Vec<(String, Option<String>, Option<String>, String)> {
        parts(body.as_bytes(), "xx")
            .into_iter()
            .map(|part| (part.name, part.file_name, part.content_type, body[part.range].to_owned()))
            .collect()
    }

    fn field(name: &str, text: &str) -> (String, Option<String>, Option<String>, String) {
        (name.into(), None, None, text.into())
    }

    #[test]
    fn parts_have_names_files_and_types() {
        let body = "--xx\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n2\r\n--xx\r\n\
                    Content-Disposition: form-data; name=\"f\"; filename=\"x \\\"y\\\".txt\"\r\n\
                    Content-Type: text/plain; charset=utf-8\r\n\r\n--xxx\r\n\r\n--xx--\r\n";
        let file = (
            "f".to_owned(),
            Some("x \"y\".txt".to_owned()),
            Some("text/plain; charset=utf-8".to_owned()),
            "--xxx\r\n".to_owned(),
        );
        assert_eq!(read(body), [field("a", "1\r\n2"), file]);
    }

    #[test]
    fn line_feeds_alone_and_a_missing_end_are_read() {
        let body = "preamble\n--xx\nContent-Disposition: form-data; name=a\n\n1\n--xx  \n\
                    content-disposition: form-data; name=b\n\nthe rest";
        assert_eq!(read(body), [field("a", "1"), field("b", "the rest")]);
        assert_eq!(
            read("--xx\r\nContent-Disposition: form-data; name=a\r\n\r\n\r\n--xx--"),
            [field("a", "")]
        );
        assert_eq!(read("--xx--"), []);
        assert_eq!(read("no parts"), []);
        assert_eq!(read("--xx\r\n"), [field("", "")]);
    }

    #[test]
    fn names_of_files_come_in_three_writings() {
        let name = |disposition: &str| {
            let body = format!(
                "--xx\r\nContent-Disposition: form-data; {disposition}\r\n\r\n\r\n--xx--\r\n"
            );
            parts(body.as_bytes(), "xx").remove(0).file_name
        };
        assert_eq!(name("name=a; filename=\"n\u{e4}he.txt\"").as_deref(), Some("nähe.txt"));
        assert_eq!(name("name=a; filename=\"a%22b.txt\"").as_deref(), Some("a\"b.txt"));
        assert_eq!(
            name("name=a; filename=x.txt; filename*=UTF-8''n%C3%A4he.txt").as_deref(),
            Some("nähe.txt")
        );
        assert_eq!(name("name=a; filename*=iso-8859-1'en'%A3.txt").as_deref(), Some("£.txt"));
        assert_eq!(name("name=a; filename=\"\"").as_deref(), Some(""));
        assert_eq!(name("name=a; filename=\"C:\\dir\\x.txt\"").as_deref(), Some("C:\\dir\\x.txt"));
        assert_eq!(name("name=a"), None);
    }

    #[test]
    fn boundaries_are_read_from_types() {
        assert_eq!(boundary("multipart/form-data; boundary=abc").as_deref(), Some("abc"));
        assert_eq!(
            boundary("Multipart/Mixed; charset=x; Boundary=\"a;b\"").as_deref(),
            Some("a;b")
        );
        assert_eq!(boundary("multipart/form-data"), None);
        assert_eq!(boundary("text/plain; boundary=a"), None);
    }
}
