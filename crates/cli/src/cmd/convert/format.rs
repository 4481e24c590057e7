//! The formats that are converted, and how a file's beginning tells which one it is.

use std::fmt;

use serde::de::{Deserializer as _, IgnoredAny, MapAccess, Visitor};

/// A format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    Har,
    Curl,
    Postman,
    OpenApi,
    Log,
}

impl Format {
    /// The value of `--from`.
    pub(super) fn named(name: &str) -> Option<Self> {
        match name.to_ascii_lowercase().as_str() {
            "har" => Some(Self::Har),
            "curl" => Some(Self::Curl),
            "postman" => Some(Self::Postman),
            "openapi" => Some(Self::OpenApi),
            "log" => Some(Self::Log),
            _ => None,
        }
    }

    /// The format of a file, by its first bytes, and by its name if they don't tell.
    pub(super) fn of(head: &[u8], name: &str) -> Option<Self> {
        // Of all formats logs alone are packed.
        if head.starts_with(b"\x1f\x8b") {
            return Some(Self::Log);
        }
        let head = text(head);
        let begin = head.trim_start();
        let by_name = || {
            let end = name.rsplit('.').next().unwrap_or_default().to_ascii_lowercase();
            Self::named(&end)
        };
        if begin.starts_with('{') {
            return of_json(begin).or_else(by_name);
        }
        // Before curl: descriptions of operations show commands.
        let is_yaml = |line: &str| line.starts_with("openapi:") || line.starts_with("swagger:");
        if begin.lines().any(is_yaml) {
            return Some(Self::OpenApi);
        }
        if begin.lines().any(is_curl) {
            return Some(Self::Curl);
        }
        if begin.starts_with("#Version:")
            || begin.starts_with("#Fields:")
            || begin.lines().any(is_logged)
        {
            return Some(Self::Log);
        }
        by_name()
    }
}

fn text(head: &[u8]) -> String {
    // Each second byte of UTF-16 is a zero.
    let is_wide = head.starts_with(b"\xff\xfe") || head.starts_with(b"\xfe\xff");
    let head: Vec<u8> = if is_wide {
        head[2..].iter().copied().filter(|byte| *byte != 0).collect()
    } else {
        head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).to_vec()
    };
    String::from_utf8_lossy(&head).into_owned()
}

fn is_curl(line: &str) -> bool {
    let line = line.trim_start().trim_start_matches(['$', '>', '#']).trim_start();
    let mut words = line.split_whitespace();
    words.next().is_some_and(|word| matches!(word, "curl" | "curl.exe"))
}

/// A line with a request: `"GET /path HTTP/1.1"`.
fn is_logged(line: &str) -> bool {
    ["\"GET ", "\"POST ", "\"HEAD "].iter().any(|mark| {
        line.split_once(mark)
            .is_some_and(|(_, rest)| rest.contains(" HTTP/") || rest.contains("\" "))
    })
}

/// The format of a JSON object, by the first of its members that one format alone has.
fn of_json(text: &str) -> Option<Format> {
    struct Members<'f>(&'f mut Option<Format>);

    impl<'de> Visitor<'de> for Members<'_> {
        type Value = ();

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
            while let Some(key) = map.next_key::<String>()? {
                *self.0 = match key.as_str() {
                    "log" | "entries" => Some(Format::Har),
                    "item" | "collection" => Some(Format::Postman),
                    "openapi" | "swagger" => Some(Format::OpenApi),
                    _ => None,
                };
                if self.0.is_some() {
                    return Ok(());
                }
                map.next_value::<IgnoredAny>()?;
            }
            Ok(())
        }
    }

    let mut format = None;
    // The head ends somewhere, and the first telling member is enough: an error here says nothing.
    let mut first = serde_json::Deserializer::from_str(text);
    let is_whole = first.deserialize_map(Members(&mut format)).is_ok();
    // An object in a line of its own is a line of a log.
    let is_line = || {
        let line = text.lines().next().unwrap_or_default().trim_end();
        let names = [
            "\"status\"",
            "\"uri\"",
            "\"method\"",
            "\"request\"",
            "\"verb\"",
            "\"url\"",
            "\"path\"",
        ];
        line.ends_with('}') && names.iter().any(|name| line.contains(name))
    };
    format.or_else(|| (is_whole && is_line()).then_some(Format::Log))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_format_is_told_by_its_beginning() {
        for (head, name, expected) in [
            ("{\"log\": {\"version\": \"1.2\", \"entr", "x", Some(Format::Har)),
            ("\u{feff}\n {\"log\":", "x", Some(Format::Har)),
            ("{\"info\": {\"name\": \"log\"}, \"item\": [", "x.json", Some(Format::Postman)),
            ("{\"info\": {", "x.har", Some(Format::Har)),
            ("# a comment\ncurl 'http://a.test/'", "-", Some(Format::Curl)),
            ("$ curl http://a.test/", "-", Some(Format::Curl)),
            ("openapi: 3.1.0\ninfo:", "x.yaml", Some(Format::OpenApi)),
            ("{\"openapi\": \"3.0.3\"", "x.json", Some(Format::OpenApi)),
            (
                "openapi: 3.1.0\ninfo:\n  description: |\n    curl http://a.test/",
                "x",
                Some(Format::OpenApi),
            ),
            (
                "1.2.3.4 - - [26/Nov/2026:10:00:00 +0000] \"GET / HTTP/1.1\" 200 1",
                "x",
                Some(Format::Log),
            ),
            ("#Version: 1.0\n#Fields: date", "x", Some(Format::Log)),
            ("{\"time\": 1, \"method\": \"GET\", \"path\": \"/\"}\n{\"ti", "x", Some(Format::Log)),
            ("curly braces", "x.txt", None),
            ("", "x", None),
            ("{", "-", None),
        ] {
            assert_eq!(Format::of(head.as_bytes(), name), expected, "{head}");
        }
        assert_eq!(Format::of(b"\x1f\x8b\x08\0", "access.log.1.gz"), Some(Format::Log));
        assert_eq!(Format::of(b"\xff\xfe{\0\"\0l\0o\0g\0\"\0:\0{\0", "x"), Some(Format::Har));
    }
}
