//! The values of the chart, read from the part of YAML in which `deploy/helm/brunt/values.yaml` is written: maps by
//! indentation, and one scalar, `[]` or `{}` in a line.

use serde_json::{Map, Value, json};

/// Reads them.
///
/// # Panics
/// A line is of another kind: the file is a part of this program, and a test reads it.
pub(super) fn read(text: &str) -> Value {
    let lines = text.lines().filter(|line| {
        let line = line.trim();
        !line.is_empty() && !line.starts_with('#')
    });
    let mut lines: Vec<&str> = lines.collect();
    lines.reverse();
    map(&mut lines, 0)
}

/// The map whose lines are indented by `indent` blanks. `lines` are those to come, the next one last.
fn map(lines: &mut Vec<&str>, indent: usize) -> Value {
    let mut found = Map::new();
    while let Some(line) = lines.last().copied() {
        let own = line.len() - line.trim_start().len();
        if own < indent {
            break;
        }
        let (key, value) = line.trim().split_once(':').expect("a value has a key");
        lines.pop();
        let value = match value.trim() {
            "" => map(lines, own + 1),
            text => scalar(text),
        };
        found.insert(key.to_owned(), value);
    }
    Value::Object(found)
}

fn scalar(text: &str) -> Value {
    match text {
        "[]" => json!([]),
        "{}" => json!({}),
        "true" => json!(true),
        "false" => json!(false),
        _ => text
            .trim_matches('"')
            .parse::<i64>()
            .ok()
            .filter(|_| !text.starts_with('"'))
            .map_or_else(|| Value::from(text.trim_matches('"')), Value::from),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maps_and_scalars_are_read() {
        let text = "# a comment\na: \"1\"\nb: 1\n\nc:\n  # another\n  d: []\n  e: true\n  f:\n    g: x y\nh: {}\n";
        let read = read(text);
        assert_eq!(
            read,
            json!({ "a": "1", "b": 1, "c": { "d": [], "e": true, "f": { "g": "x y" } }, "h": {} })
        );
    }
}
