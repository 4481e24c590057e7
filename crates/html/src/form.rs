//! What the fields of a form hold, as k6's `val()` and `serialize()` see them.

use crate::document::{Document, NodeId};

/// The value of a field.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Field {
    /// Any but the next.
    Text(String),
    /// Of a `<select multiple>`.
    List(Vec<String>),
}

/// The value of a field; `None` if the node is no field that has one.
pub fn value(document: &Document, node: NodeId) -> Option<Field> {
    let given = || document.attribute(node, "value").map(str::to_owned);
    let text = match document.tag(node) {
        "input" => given().unwrap_or_else(|| {
            let on = matches!(document.attribute(node, "type"), Some("checkbox" | "radio"));
            if on { "on".to_owned() } else { String::new() }
        }),
        "button" => given().unwrap_or_default(),
        "textarea" => document.inner_html(node).unwrap_or_default(),
        "option" => option_value(document, node),
        "select" => {
            let mut selected = options(document, node)
                .filter(|&option| document.has(option, "selected"))
                .map(|option| option_value(document, option));
            if document.has(node, "multiple") {
                return Some(Field::List(selected.collect()));
            }
            selected.next().unwrap_or_default()
        }
        _ => return None,
    };
    Some(Field::Text(text))
}

/// The `<option>`s of a `<select>` or `<datalist>`.
pub fn options(document: &Document, node: NodeId) -> impl Iterator<Item = NodeId> {
    document.descendants(node).filter(|&inner| document.tag(inner) == "option")
}

/// The value of an `<option>`: what stands in it, if it says no other.
pub fn option_value(document: &Document, option: NodeId) -> String {
    match document.attribute(option, "value") {
        Some(value) => value.to_owned(),
        None => document.inner_html(option).unwrap_or_default(),
    }
}

/// Names and values of the fields at and, if they are forms, in these nodes. Fields without a name don't count, nor
/// do disabled ones, buttons and unchecked boxes. What they are is read from their attributes to the letter, as k6
/// does it: `checked="checked"` is checked, `checked` alone is not.
pub fn entries(document: &Document, nodes: &[NodeId]) -> Vec<(String, Option<Field>)> {
    let mut entries = Vec::new();
    for &node in nodes {
        if document.tag(node) == "form" {
            for inner in document.descendants(node) {
                entry(document, inner, &mut entries);
            }
        } else {
            entry(document, node, &mut entries);
        }
    }
    entries
}

fn entry(document: &Document, node: NodeId, entries: &mut Vec<(String, Option<Field>)>) {
    if !matches!(document.tag(node), "input" | "select" | "textarea" | "keygen") {
        return;
    }
    let Some(name) = document.attribute(node, "name").filter(|name| !name.is_empty()) else {
        return;
    };
    let kind = document.attribute(node, "type").unwrap_or("");
    let is_off = document.attribute(node, "disabled") == Some("disabled")
        || matches!(kind, "submit" | "button" | "reset" | "image" | "file")
        || (matches!(kind, "checkbox" | "radio")
            && document.attribute(node, "checked") != Some("checked"));
    if !is_off {
        entries.push((name.to_owned(), value(document, node)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Selector;

    fn entries_of(html: &str, selector: &str) -> String {
        let document = Document::parse(html).unwrap();
        let nodes = Selector::new(selector).find(&document, &[document.root()]);
        let entries = entries(&document, &nodes);
        format!("{entries:?}").replace("Some(", "").replace("Text(", "").replace(')', "")
    }

    #[test]
    fn what_has_no_name_or_is_off_is_not_sent() {
        let html = "<form><input name=a value=1><input value=2><input name=b type=checkbox checked>\
                    <input name=c type=checkbox checked=checked><input name=d disabled=disabled>\
                    <input type=submit name=e></form>";
        assert_eq!(entries_of(html, "form"), r#"[("a", "1", ("c", "on"]"#);
        assert_eq!(entries_of(html, "input"), r#"[("a", "1", ("c", "on"]"#);
        assert_eq!(entries_of(html, "body"), "[]");
    }

    #[test]
    fn a_select_has_one_value_or_a_list() {
        let html = "<form><select name=a><option>x<option selected>y</select>\
                    <select name=b multiple><option selected value=1>x<option selected>z</select></form>";
        assert_eq!(entries_of(html, "form"), r#"[("a", "y", ("b", List(["1", "z"]]"#);
    }
}
