//! YAML as JSON, within bounds: aliases are copies, and a document must not become large by them.

use std::collections::HashMap;

use saphyr_parser::{Event, Marker, Parser, ScalarStyle};
use serde_json::{Map, Number, Value as Json};

use crate::error::Error;

/// The most nodes of a document, copies by aliases included.
const NODES_MAX: usize = 1_000_000;

/// The deepest nesting.
const DEPTH_MAX: usize = 100;

/// A list or an object that is read.
enum Open {
    List(Vec<Json>),
    /// With the key whose value comes next.
    Object(Map<String, Json>, Option<String>),
}

/// The document as far as it has been read.
#[derive(Default)]
struct Builder {
    open: Vec<(Open, usize)>,
    root: Option<Json>,
    /// By anchor, with the count of their nodes.
    anchors: HashMap<usize, (Json, usize)>,
    nodes: usize,
}

fn fault(mark: Marker, what: impl Into<String>) -> Error {
    let place = format!("line {} column {}", mark.line(), mark.col() + 1);
    Error::OpenApi { place, what: what.into() }
}

/// The first document of a text.
pub(super) fn read(text: &str) -> Result<Json, Error> {
    let mut builder = Builder::default();
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|error| {
            fault(*error.marker(), format!("it is neither JSON nor YAML: {}", error.info()))
        })?;
        match event {
            Event::DocumentEnd => break,
            Event::Scalar(text, style, anchor, tag) => {
                let is_text = tag.as_ref().is_some_and(|tag| tag.suffix == "str");
                let json = if style == ScalarStyle::Plain && !is_text {
                    plain(&text)
                } else {
                    Json::String(text.into_owned())
                };
                builder.value(json, 1, anchor, span.start)?;
            }
            Event::SequenceStart(anchor, _) => {
                builder.begin(Open::List(Vec::new()), anchor, span.start)?;
            }
            Event::MappingStart(anchor, _) => {
                builder.begin(Open::Object(Map::new(), None), anchor, span.start)?;
            }
            Event::SequenceEnd | Event::MappingEnd => builder.end(span.start)?,
            Event::Alias(anchor) => {
                let (json, count) = builder.anchors.get(&anchor).cloned().ok_or_else(|| {
                    fault(span.start, "an alias is inside of what it names; write it out")
                })?;
                builder.value(json, count, 0, span.start)?;
            }
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentStart(_) => {}
        }
    }
    Ok(builder.root.unwrap_or(Json::Null))
}

impl Builder {
    fn begin(&mut self, open: Open, anchor: usize, mark: Marker) -> Result<(), Error> {
        if self.open.len() == DEPTH_MAX {
            return Err(fault(mark, format!("it is nested more than {DEPTH_MAX} deep")));
        }
        // A key that is a list or an object has no place in JSON.
        if let Some((Open::Object(_, None), _)) = self.open.last() {
            return Err(fault(mark, "a key is a list or an object; keys are texts"));
        }
        self.open.push((open, anchor));
        Ok(())
    }

    fn end(&mut self, mark: Marker) -> Result<(), Error> {
        let Some((open, anchor)) = self.open.pop() else { return Ok(()) };
        let json = match open {
            Open::List(list) => Json::Array(list),
            Open::Object(object, _) => Json::Object(object),
        };
        let count = if anchor == 0 { 0 } else { count(&json) };
        if anchor != 0 {
            self.grow(count, mark)?;
            self.anchors.insert(anchor, (json.clone(), count));
        }
        self.put(json, mark)
    }

    fn grow(&mut self, nodes: usize, mark: Marker) -> Result<(), Error> {
        self.nodes = self.nodes.saturating_add(nodes);
        if self.nodes > NODES_MAX {
            return Err(fault(
                mark,
                format!("it has more than {NODES_MAX} values, copies by aliases included"),
            ));
        }
        Ok(())
    }

    fn value(
        &mut self,
        json: Json,
        count: usize,
        anchor: usize,
        mark: Marker,
    ) -> Result<(), Error> {
        self.grow(count, mark)?;
        if anchor != 0 {
            self.anchors.insert(anchor, (json.clone(), 1));
        }
        self.put(json, mark)
    }

    fn put(&mut self, json: Json, mark: Marker) -> Result<(), Error> {
        match self.open.last_mut() {
            None => {
                self.root.get_or_insert(json);
            }
            Some((Open::List(list), _)) => list.push(json),
            Some((Open::Object(object, key), _)) => match key.take() {
                None => {
                    *key = Some(match json {
                        Json::String(text) => text,
                        Json::Array(_) | Json::Object(_) => {
                            return Err(fault(
                                mark,
                                "a key is a list or an object; keys are texts",
                            ));
                        }
                        other => other.to_string(),
                    });
                }
                Some(key) if key == "<<" => merge(object, json),
                Some(key) => {
                    object.insert(key, json);
                }
            },
        }
        Ok(())
    }
}

/// `<<: *base`: what is there already wins.
fn merge(into: &mut Map<String, Json>, from: Json) {
    match from {
        Json::Object(object) => {
            for (key, value) in object {
                into.entry(key).or_insert(value);
            }
        }
        Json::Array(list) => list.into_iter().for_each(|own| merge(into, own)),
        _ => {}
    }
}

fn count(json: &Json) -> usize {
    1 + match json {
        Json::Array(list) => list.iter().map(count).sum(),
        Json::Object(object) => object.values().map(count).sum(),
        _ => 0,
    }
}

/// A scalar without quotes, by the core schema of YAML 1.2.
fn plain(text: &str) -> Json {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Json::Null,
        "true" | "True" | "TRUE" => return Json::Bool(true),
        "false" | "False" | "FALSE" => return Json::Bool(false),
        _ => {}
    }
    let radix = |start: &str, radix: u32| {
        text.strip_prefix(start).and_then(|digits| u64::from_str_radix(digits, radix).ok())
    };
    if let Some(number) = radix("0x", 16).or_else(|| radix("0o", 8)) {
        return Json::from(number);
    }
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    if digits.bytes().all(|byte| byte.is_ascii_digit())
        && let Ok(number) = text.parse::<i64>()
    {
        return Json::from(number);
    }
    let is_number = digits.starts_with(|c: char| c.is_ascii_digit() || c == '.')
        && digits.bytes().all(|byte| byte.is_ascii_digit() || b".eE+-".contains(&byte));
    let number = text.parse::<f64>().ok().filter(|_| is_number).and_then(Number::from_f64);
    number.map_or_else(|| Json::String(text.to_owned()), Json::Number)
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use serde_json::json;

    use super::*;

    #[test]
    fn scalars_are_those_of_the_core_schema() {
        let got = read("a: 1\nb: -2.5e3\nc: yes\nd: '1'\ne: ~\nf: 0x1F\ng: 1.2.3\nh: true\ni: +1\n200: ok\nj: 2026-01-01\nk: !!str 5\n").unwrap();
        assert_eq!(
            got,
            json!({"a": 1, "b": -2500.0, "c": "yes", "d": "1", "e": null, "f": 31, "g": "1.2.3",
                "h": true, "i": 1, "200": "ok", "j": "2026-01-01", "k": "5"})
        );
    }

    #[test]
    fn aliases_are_copies_and_merged() {
        let got = read("x: &x {a: 1, b: 2}\ny: *x\nz: {b: 3, <<: *x}\n").unwrap();
        assert_eq!(got["y"], json!({"a": 1, "b": 2}));
        assert_eq!(got["z"], json!({"b": 3, "a": 1}));
    }

    #[test]
    fn a_bomb_of_aliases_is_refused() {
        let mut text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
        for level in 1..12 {
            let list = vec![format!("*a{}", level - 1); 10].join(", ");
            let _ = writeln!(text, "a{level}: &a{level} [{list}]");
        }
        let error = read(&text).unwrap_err().to_string();
        assert!(error.contains("more than 1000000 values"), "{error}");
    }

    #[test]
    fn faults_have_line_and_column() {
        for (text, part) in [
            ("a: [1", "line "),
            ("a:\n  - b\n c: d\n", "line 3"),
            ("a: &x [*x]", "an alias is inside of what it names"),
            ("? [a]\n: b", "a key is a list"),
        ] {
            let error = read(text).unwrap_err().to_string();
            assert!(error.contains(part), "{text}: {error}");
        }
        assert!(read(&"[".repeat(101)).unwrap_err().to_string().contains("100 deep"));
    }
}
