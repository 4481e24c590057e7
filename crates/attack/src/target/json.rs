//! The `json` format: one object a line.

use std::collections::BTreeMap;
use std::io::BufRead;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;

use super::lines::Lines;
use super::{Defaults, Target, TargetError};

#[derive(Deserialize)]
struct Object {
    #[serde(default)]
    method: Option<String>,
    #[serde(default)]
    url: Option<String>,
    #[serde(default)]
    body: Option<String>,
    #[serde(default)]
    header: Option<BTreeMap<String, Vec<String>>>,
}

/// The next target; `None` at the end.
pub(super) fn next<R: BufRead>(
    lines: &mut Lines<R>,
    defaults: &Defaults,
) -> Result<Option<Target>, TargetError> {
    let parsed = loop {
        match lines.next()? {
            None => return Ok(None),
            Some("") => {}
            Some(text) => {
                break serde_json::from_str::<Object>(text).map_err(|why| why.to_string());
            }
        }
    };
    let line = lines.number;
    let wrong = |text: String| TargetError::Target { text, line };
    let object = parsed.map_err(wrong)?;
    let needed = |value: Option<String>, key| {
        value.filter(|text| !text.is_empty()).ok_or(TargetError::Missing { key, line })
    };
    let method = needed(object.method, "method")?;
    let url = needed(object.url, "url")?;
    let body = object.body.unwrap_or_default();
    let body = STANDARD.decode(body).map_err(|why| wrong(format!("body is not Base64: {why}")))?;
    let mut headers = Vec::new();
    for (name, values) in object.header.unwrap_or_default() {
        headers.extend(values.into_iter().map(|value| (name.clone(), value)));
    }
    Target::new(&method, &url, &headers, Some(body.into()), defaults, line).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str) -> Result<Vec<Target>, TargetError> {
        let mut lines = Lines::new(text.as_bytes());
        let defaults = Defaults { body: b"default"[..].into(), ..Defaults::default() };
        std::iter::from_fn(|| next(&mut lines, &defaults).transpose()).collect()
    }

    #[test]
    fn an_object_a_line_the_last_one_without_an_end() {
        let text = concat!(
            r#"{"method":"post","url":"http://a.test/","body":"aGk=","header":{"A":["1","2"]},"x":[]}"#,
            "\n\n",
            r#"{"url":"http://b.test/","method":"GET","body":null}"#
        );
        let targets = all(text).unwrap();
        assert_eq!((targets.len(), targets[0].method.as_str()), (2, "post"));
        assert_eq!((&*targets[0].body, &*targets[1].body), (&b"hi"[..], &b"default"[..]));
        assert_eq!(targets[0].headers.iter().filter(|(name, _)| *name == "A").count(), 2);
    }

    #[test]
    fn nonsense_is_told_with_its_line() {
        for (text, said) in [
            ("{}", "target: required method is missing (line 1)"),
            ("\n{\"method\":\"GET\",\"url\":\"\"}", "target: required url is missing (line 2)"),
            ("{\"method\":\"GET\",", "bad target: EOF while parsing"),
            ("{\"method\":\"GET\",\"url\":\"http://a\",\"body\":\"?\"}", "bad target: body is no"),
        ] {
            let error = all(text).unwrap_err().to_string();
            assert!(error.starts_with(said), "{error}");
        }
    }
}
