//! Where in a JSON answer the value is: names and numbers with dots between them.

use serde_json::Value;

/// The value at a path, as text. `None` if there is none, or the text is no JSON.
pub(super) fn find(text: &str, path: &str) -> Option<String> {
    let json: Value = serde_json::from_str(text).ok()?;
    let mut here = &json;
    for step in path.split('.') {
        here = match here {
            Value::Object(members) => members.get(step)?,
            Value::Array(items) => items.get(step.parse::<usize>().ok()?)?,
            _ => return None,
        };
    }
    match here {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_leads_through_objects_and_lists() {
        let text = r#"{"a":{"b":[{"c":"x"},5]},"n":null}"#;
        assert_eq!(find(text, "a.b.0.c").as_deref(), Some("x"));
        assert_eq!(find(text, "a.b.1").as_deref(), Some("5"));
        for path in ["n", "a.b.2", "a.x", "a.b.0.c.d", ""] {
            assert_eq!(find(text, path), None, "{path}");
        }
        assert_eq!(find("no json", "a"), None);
    }
}
