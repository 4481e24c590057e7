//! The `http` format: request lines with headers, as they stand in a request.

use std::fs::File;
use std::io::{self, BufRead, Read as _};
use std::sync::Arc;

use super::lines::Lines;
use super::{Defaults, Target, TargetError};

/// The next target; `None` at the end.
pub(super) fn next<R: BufRead>(
    lines: &mut Lines<R>,
    defaults: &Defaults,
) -> Result<Option<Target>, TargetError> {
    let first = loop {
        match lines.next()? {
            None => return Ok(None),
            Some(line) if line.is_empty() || line.starts_with('#') => {}
            Some(line) => break line.to_owned(),
        }
    };
    let line = lines.number;
    let (method, url) =
        first.split_once(' ').ok_or_else(|| TargetError::Target { text: first.clone(), line })?;
    if !is_method(method) {
        return Err(TargetError::Method { text: method.to_owned(), line });
    }
    let (headers, body) = block(lines)?;
    Target::new(method, url.trim(), &headers, body, defaults, line).map(Some)
}

/// The maximum size of a body, in bytes.
const BODY_MAX: u64 = 1 << 30;

/// The body that a file holds.
fn read(path: &str) -> io::Result<Vec<u8>> {
    // A pipe without a writer would hold up the attack.
    if !std::fs::metadata(path)?.is_file() {
        return Err(io::Error::other("is not a regular file"));
    }
    let mut body = Vec::new();
    File::open(path)?.take(BODY_MAX + 1).read_to_end(&mut body)?;
    if body.len() as u64 > BODY_MAX {
        return Err(io::Error::other(format!("is longer than {BODY_MAX} bytes")));
    }
    Ok(body)
}

type Block = (Vec<(String, String)>, Option<Arc<[u8]>>);

/// The headers, and the body if a file is named.
fn block<R: BufRead>(lines: &mut Lines<R>) -> Result<Block, TargetError> {
    let mut headers = Vec::new();
    loop {
        let Some(line) = lines.next()? else { return Ok((headers, None)) };
        if line.is_empty() {
            return Ok((headers, None));
        }
        if line.starts_with('#') {
            continue;
        }
        let text = line.to_owned();
        let line = lines.number;
        if let Some(path) = text.strip_prefix('@') {
            let path = path.trim();
            let body = read(path).map_err(|source| TargetError::Body {
                source: std::io::Error::new(source.kind(), format!("open {path}: {source}")),
                line,
            })?;
            return Ok((headers, Some(body.into())));
        }
        if is_request(&text) {
            if headers.is_empty() {
                lines.back();
                return Ok((headers, None));
            }
            return Err(TargetError::NoBlankLine { text, line });
        }
        let header = text.split_once(':').map(|(name, value)| (name.trim(), value.trim()));
        match header {
            Some((name, value)) if !name.is_empty() && !value.is_empty() => {
                headers.push((name.to_owned(), value.to_owned()));
            }
            _ => return Err(TargetError::Header { text, line }),
        }
    }
}

fn is_method(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_uppercase())
}

/// It begins a target: a method, and behind it what may be a URL.
fn is_request(line: &str) -> bool {
    let Some((method, url)) = line.split_once(' ') else { return false };
    is_method(method) && (url.trim_start().starts_with('/') || url.contains("://"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str) -> Result<Vec<Target>, TargetError> {
        let mut lines = Lines::new(text.as_bytes());
        std::iter::from_fn(|| next(&mut lines, &Defaults::default()).transpose()).collect()
    }

    fn error(text: &str) -> String {
        all(text).unwrap_err().to_string()
    }

    #[test]
    fn targets_without_headers_may_follow_each_other() {
        let text = "\u{feff}GET http://a.test/1\r\n# a word\r\nPURGE http://a.test/2\n\n\nSUBSCRIBE /x?a b";
        let targets = all(text).unwrap();
        let urls: Vec<_> = targets.iter().map(|it| (it.method.as_str(), &*it.url)).collect();
        let expected =
            [("GET", "http://a.test/1"), ("PURGE", "http://a.test/2"), ("SUBSCRIBE", "/x?a b")];
        assert_eq!(urls, expected);
    }

    #[test]
    fn a_body_ends_its_target_at_once() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "hello").unwrap();
        let path = file.path().display();
        let text =
            format!("POST http://a.test/\nX-lower: 1\n# no header\n@{path}\nGET http://a.test/");
        let targets = all(&text).unwrap();
        assert_eq!(
            (targets.len(), &*targets[0].body, targets[1].body.len()),
            (2, &b"hello"[..], 0)
        );
        assert_eq!(targets[0].headers.get("X-lower"), Some("1"));
        let after = format!("POST http://a.test/\n@{path}\nX-a: 1");
        assert_eq!(error(&after), "bad method: X-a: (line 3)");
    }

    #[test]
    fn a_body_without_end_is_refused() {
        let text = "POST http://a.test/\n@/dev/zero\n";
        assert!(error(text).contains("open /dev/zero: is not a regular file"), "{}", error(text));
    }

    #[test]
    fn nonsense_is_told_with_its_line() {
        for (text, said) in [
            ("\nGET", "bad target: GET (line 2)"),
            ("get http://a", "bad method: get (line 1)"),
            (
                "GET http://a b/",
                "bad URL: http://a b/, parse \"http://a b/\": invalid character \" \" in host name (line 1)",
            ),
            ("GET http://a\nX:", "bad header: X: (line 2)"),
            ("GET http://a\n: x", "bad header: : x (line 2)"),
            ("GET http://a\nno header", "bad header: no header (line 2)"),
            ("GET http://a\nA b: c", "bad header: A b: c (line 1)"),
            (
                "GET http://a\nX: 1\nGET http://b",
                "missing blank line before next target: GET http://b (line 3)",
            ),
        ] {
            assert_eq!(error(text), said);
        }
        let missing = error("GET http://a\n@/no/such/file");
        assert!(missing.starts_with("bad body: open /no/such/file: "), "{missing}");
    }
}
