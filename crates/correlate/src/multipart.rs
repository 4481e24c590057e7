//! The parts of `multipart/form-data`.

use brunt_traffic::Request;

/// A part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) name: String,
    /// Whether it has a file name.
    pub(crate) is_file: bool,
    /// Empty for a file.
    pub(crate) text: String,
}

/// The parts of a request's body, in order.
pub(crate) fn parts(request: &Request) -> Vec<Part> {
    let kind = request.headers.get("content-type").unwrap_or_default();
    let Some(boundary) = parameter(kind, "boundary") else { return Vec::new() };
    let Ok(body) = request.body.read() else { return Vec::new() };
    let mark = format!("--{boundary}");
    let finder = memchr::memmem::Finder::new(mark.as_bytes());
    let begins: Vec<usize> = finder.find_iter(&body).collect();
    let mut parts = Vec::new();
    for (index, begin) in begins.iter().enumerate() {
        let begin = begin + mark.len();
        let end = begins.get(index + 1).copied().unwrap_or(body.len());
        let piece = body.get(begin..end).unwrap_or_default();
        if piece.starts_with(b"--") {
            break;
        }
        let piece =
            piece.strip_prefix(b"\r\n").or_else(|| piece.strip_prefix(b"\n")).unwrap_or(piece);
        let Some((head, content)) = split(piece) else { continue };
        parts.push(part(&String::from_utf8_lossy(head), content));
    }
    parts
}

fn split(piece: &[u8]) -> Option<(&[u8], &[u8])> {
    let at = memchr::memmem::find(piece, b"\r\n\r\n").map(|at| (at, 4));
    let (at, size) = at.or_else(|| memchr::memmem::find(piece, b"\n\n").map(|at| (at, 2)))?;
    let content = &piece[at + size..];
    let content = content.strip_suffix(b"\r\n").or_else(|| content.strip_suffix(b"\n"));
    Some((&piece[..at], content.unwrap_or(&piece[at + size..])))
}

fn part(head: &str, content: &[u8]) -> Part {
    let line = head
        .lines()
        .find(|line| {
            line.get(..20).is_some_and(|name| name.eq_ignore_ascii_case("content-disposition:"))
        })
        .unwrap_or_default();
    let is_file = parameter(line, "filename").is_some() || parameter(line, "filename*").is_some();
    let text = if is_file { String::new() } else { String::from_utf8_lossy(content).into_owned() };
    Part { name: parameter(line, "name").unwrap_or_default(), is_file, text }
}

/// A parameter of a header's value, without quotes.
fn parameter(value: &str, name: &str) -> Option<String> {
    let mut rest = value;
    loop {
        rest = rest[rest.find(';')? + 1..].trim_start();
        let (own, after) = rest.split_once('=')?;
        let (text, after) = match after.strip_prefix('"') {
            Some(quoted) => {
                let end = quoted.find('"')?;
                (&quoted[..end], &quoted[end + 1..])
            }
            None => {
                let end = after.find(';').unwrap_or(after.len());
                (after[..end].trim(), &after[end..])
            }
        };
        if own.trim().eq_ignore_ascii_case(name) {
            return Some(text.to_owned());
        }
        rest = after;
    }
}

#[cfg(test)]
mod tests {
    use brunt_traffic::{Body, Headers};

    use super::*;

    #[test]
    fn text_parts_have_their_texts_and_files_have_none() {
        let body = "--X\r\nContent-Disposition: form-data; name=\"a;b\"\r\n\r\n1+/=\r\n--X\r\nContent-Disposition: form-data; \
                    name=\"f\"; filename=\"x.txt\"\r\nContent-Type: text/plain\r\n\r\nhello\r\n--X--\r\n";
        let request = Request {
            method: "POST".to_owned(),
            url: url::Url::parse("http://h/").expect("a URL"),
            version: None,
            headers: Headers(vec![(
                "Content-Type".to_owned(),
                "multipart/form-data; boundary=X".to_owned(),
            )]),
            body: Body::Bytes(body.into()),
        };
        let parts = parts(&request);
        assert_eq!((parts[0].name.as_str(), parts[0].text.as_str()), ("a;b", "1+/="));
        assert!(parts[1].is_file && parts[1].text.is_empty() && parts.len() == 2);
    }
}
