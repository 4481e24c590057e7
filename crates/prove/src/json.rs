//! JSON: members, kinds of values, members that tell of a failure.

use serde_json::{Map, Value};

use crate::body::{Difference, says};
use crate::errors;

/// Members whose presence tells of a failure.
const FAILURES: [&str; 7] =
    ["error", "errors", "exception", "fault", "error_description", "errormessage", "error_code"];

/// Members whose truth tells of success.
const SUCCESSES: [&str; 12] = [
    "success",
    "successful",
    "ok",
    "valid",
    "isvalid",
    "authenticated",
    "isauthenticated",
    "authorized",
    "loggedin",
    "allowed",
    "accepted",
    "succeeded",
];

/// Members whose text tells how it went.
const OUTCOMES: [&str; 12] = [
    "status",
    "result",
    "state",
    "outcome",
    "code",
    "message",
    "msg",
    "detail",
    "details",
    "reason",
    "title",
    "description",
];

/// More differences of one body tell no more.
const MOST: usize = 8;

/// Reads a text, behind the guard that some servers put before it (`)]}',`).
pub(crate) fn parse(text: &str) -> Option<Value> {
    let text = text.trim_start_matches('\u{feff}').trim_start();
    let text = [")]}',", ")]}'", "while(1);", "for(;;);"]
        .iter()
        .find_map(|guard| text.strip_prefix(guard))
        .unwrap_or(text);
    serde_json::from_str(text).ok()
}

/// Compares two texts.
pub(crate) fn compare(recorded: &str, replayed: &str) -> Vec<Difference> {
    let mut found = Vec::new();
    if let (Some(old), Some(new)) = (parse(recorded), parse(replayed)) {
        Walk { found: &mut found }.values(&old, &new, "", false);
    }
    found.truncate(MOST);
    found
}

struct Walk<'a> {
    found: &'a mut Vec<Difference>,
}

impl Walk<'_> {
    fn add(&mut self, is_fault: bool, text: String) {
        self.found.push(Difference { is_fault, text });
    }

    /// `is_entry`: it lies in an array, whose entries may be others.
    fn values(&mut self, old: &Value, new: &Value, path: &str, is_entry: bool) {
        let name = path.rsplit(['.', ']']).next().unwrap_or_default().to_lowercase();
        match (old, new) {
            (Value::Object(old), Value::Object(new)) => self.objects(old, new, path, is_entry),
            (Value::Array(old), Value::Array(new)) => {
                if old.is_empty() && !new.is_empty() && FAILURES.contains(&name.as_str()) {
                    self.add(true, format!("has entries in {path}, and the recorded one has none"));
                } else if new.is_empty() && !old.is_empty() {
                    self.add(false, format!("has no entries in {}", shown(path)));
                }
                if let (Some(old), Some(new)) = (old.first(), new.first()) {
                    self.values(old, new, &format!("{path}[0]"), true);
                }
            }
            (Value::Bool(true), Value::Bool(false)) if SUCCESSES.contains(&name.as_str()) => {
                self.add(!is_entry, format!("has {path} false, recorded true"));
            }
            (Value::Null, Value::Null) => {}
            (Value::Null, other) if FAILURES.contains(&name.as_str()) && !is_nothing(other) => {
                self.add(true, format!("has {path}, which is null in the recorded one"));
            }
            (Value::Object(_) | Value::Array(_), Value::Null) => {
                let is_fault = !is_entry && path.matches('.').count() < 2;
                self.add(is_fault, format!("has null for {}", shown(path)));
            }
            (Value::Null, _) | (_, Value::Null) => {}
            (Value::String(old), Value::String(new)) if OUTCOMES.contains(&name.as_str()) => {
                if let Some(word) = errors::new_word(new, old) {
                    self.add(!is_entry, format!("{} in {path}", says(word)));
                }
            }
            (old, new)
                if (is_nested(old) || is_nested(new))
                    && std::mem::discriminant(old) != std::mem::discriminant(new) =>
            {
                let (new, old) = (kind(new), kind(old));
                self.add(!is_entry, format!("has {new} for {}, recorded {old}", shown(path)));
            }
            _ => {}
        }
    }

    fn objects(
        &mut self,
        old: &Map<String, Value>,
        new: &Map<String, Value>,
        path: &str,
        is_entry: bool,
    ) {
        let at =
            |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
        let is_map = old.keys().chain(new.keys()).any(|key| crate::address::is_made(key));
        let missing: Vec<&str> =
            old.keys().filter(|key| !new.contains_key(*key)).map(String::as_str).collect();
        if !missing.is_empty() {
            let is_fault = !is_entry && !is_map && missing.len() * 2 >= old.len().max(1);
            let some: Vec<&str> = missing.iter().take(5).copied().collect();
            self.add(is_fault, format!("lacks {} of {}", some.join(", "), shown(path)));
        }
        for (name, value) in new.iter().filter(|(name, _)| !old.contains_key(*name)) {
            let lower = name.to_lowercase();
            if FAILURES.contains(&lower.as_str()) && !is_nothing(value) {
                self.add(!is_entry, format!("has {}, which the recorded one has not", at(name)));
            } else if let Some(text) = value.as_str().filter(|_| OUTCOMES.contains(&lower.as_str()))
                && let Some(word) = errors::new_word(text, "")
            {
                self.add(!is_entry, format!("{} in {}", says(word), at(name)));
            }
        }
        for (name, value) in old {
            if let Some(other) = new.get(name) {
                self.values(value, other, &at(name), is_entry);
            }
        }
    }
}

fn shown(path: &str) -> &str {
    if path.is_empty() { "the whole" } else { path }
}

/// Whether a value means: no error.
fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::String(text) => text.is_empty(),
        Value::Array(list) => list.is_empty(),
        Value::Object(map) => map.is_empty(),
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::Bool(true) => false,
    }
}

fn is_nested(value: &Value) -> bool {
    value.is_object() || value.is_array()
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(old: &str, new: &str) -> usize {
        compare(old, new).iter().filter(|one| one.is_fault).count()
    }

    #[test]
    fn values_entries_and_optional_members_are_no_faults() {
        for (old, new) in [
            (r#"{"id":1,"at":"x"}"#, r#"{"id":2,"at":"y"}"#),
            (r#"{"items":[{"id":1,"note":"a"}]}"#, r#"{"items":[{"id":2}]}"#),
            (r#"{"items":[{"id":1}],"next":"a","n":1}"#, r#"{"items":[],"n":0}"#),
            (r#"{"a17":{"x":1}}"#, r#"{"b18":{"x":1}}"#),
            (r#"{"error":null}"#, r#"{"error":null}"#),
            (r#"{"jobs":[{"status":"done"}]}"#, r#"{"jobs":[{"status":"failed"}]}"#),
            (")]}',\n{\"a\":1}", ")]}',\n{\"a\":2}"),
        ] {
            assert_eq!(faults(old, new), 0, "{old} {new} {:?}", compare(old, new));
        }
    }

    #[test]
    fn errors_in_a_response_of_status_200_are_faults() {
        for (old, new) in [
            (r#"{"data":{"me":{"id":1}}}"#, r#"{"data":null,"errors":[{"message":"x"}]}"#),
            (r#"{"data":{"me":{"id":1}}}"#, r#"{"data":{"me":null}}"#),
            (r#"{"success":true}"#, r#"{"success":false}"#),
            (r#"{"status":"ok"}"#, r#"{"status":"error"}"#),
            (r#"{"token":"a","user":1}"#, r#"{"message":"Invalid credentials"}"#),
            (r"[1]", r#"{"x":1}"#),
            (r#"{"items":[1]}"#, r#"{"items":"none"}"#),
            (r#"{"errors":[]}"#, r#"{"errors":["x"]}"#),
        ] {
            assert!(faults(old, new) > 0, "{old} {new}");
        }
    }
}
