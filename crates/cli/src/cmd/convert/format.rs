//! The formats that are converted, and how a file's beginning tells which one it is.

use std::fmt;

use serde::de::{Deserializer as _, IgnoredAny, MapAccess, Visitor};

/// A format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    Har,
    Curl,
    Postman,
}

impl Format {
    /// The value of `--from`.
    pub(super) fn named(name: &str) -> Option<Self> {
        match name.to_ascii_lowercase().as_str() {
            "har" => Some(Self::Har),
            "curl" => Some(Self::Curl),
            "postman" => Some(Self::Postman),
            _ => None,
        }
    }

    /// The format of a file, by its first bytes, and by its name if they don't tell.
    pub(super) fn of(head: &[u8], name: &str) -> Option<Self> {
        let head = text(head);
        let begin = head.trim_start();
        let by_name = || {
            let end = name.rsplit('.').next().unwrap_or_default().to_ascii_lowercase();
            Self::named(&end)
        };
        if begin.starts_with('{') {
            return of_json(begin).or_else(by_name);
        }
        if begin.lines().any(is_curl) {
            return Some(Self::Curl);
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
    let _ = serde_json::Deserializer::from_str(text).deserialize_map(Members(&mut format));
    format
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
            ("curly braces", "x.txt", None),
            ("", "x", None),
            ("{", "-", None),
        ] {
            assert_eq!(Format::of(head.as_bytes(), name), expected, "{head}");
        }
        assert_eq!(Format::of(b"\xff\xfe{\0\"\0l\0o\0g\0\"\0:\0{\0", "x"), Some(Format::Har));
    }
}
