//! The fields of forms: their values, and what a form would send ("4.10.21.4 Constructing the entry list" of the HTML
//! standard), with the departures that k6 1.8 shows.

use crate::document::{Document, NodeId};
use crate::name::Name;

/// The value of a field.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Field {
    /// Of any field but the next.
    Text(String),
    /// Of a `<select multiple>`: the values of the selected options.
    List(Vec<String>),
}

/// The value of a field; `None` if the node is no field that has one.
pub fn value(document: &Document, node: NodeId) -> Option<Field> {
    match document.element_name(node)? {
        Name::INPUT => Some(Field::Text(input_value(document, node))),
        Name::BUTTON => Some(Field::Text(text_attribute(document, node, Name::VALUE).to_owned())),
        Name::OPTION => Some(Field::Text(option_value(document, node))),
        // As it would be written: `<` is `&lt;` in it. So k6 has it.
        Name::TEXTAREA => Some(Field::Text(document.inner_html(node).unwrap_or_default())),
        Name::SELECT => Some(select_value(document, node)),
        _ => None,
    }
}

/// The `<option>`s of a `<select>` or `<datalist>`.
pub fn options(document: &Document, node: NodeId) -> impl Iterator<Item = NodeId> {
    document.descendants(node).filter(|&inner| document.element_name(inner) == Some(Name::OPTION))
}

/// The value of an `<option>`: its `value`, or what is in it if it has none.
pub fn option_value(document: &Document, option: NodeId) -> String {
    document
        .attribute_known(option, Name::VALUE)
        .map(str::to_owned)
        .or_else(|| document.inner_html(option))
        .unwrap_or_default()
}

/// Names and values of what would be sent, in the document's order, for these nodes: the fields in those that are forms,
/// and the nodes themselves if they are fields.
pub fn entries(document: &Document, nodes: &[NodeId]) -> Vec<(String, Option<Field>)> {
    let fields = nodes.iter().flat_map(|&node| {
        let is_form = document.element_name(node) == Some(Name::FORM);
        let inside = is_form.then(|| document.descendants(node));
        let itself = (!is_form).then_some(node);
        inside.into_iter().flatten().chain(itself)
    });
    fields
        .filter(|&field| is_sent(document, field))
        .map(|field| {
            let name = text_attribute(document, field, Name::NAME).to_owned();
            (name, value(document, field))
        })
        .collect()
}

/// Whether a field is sent with its form. Buttons never are, as none was pressed, and neither are files, as none was
/// chosen. k6 reads `disabled` and `checked` to the letter: `checked="checked"` is checked, `checked` is not.
fn is_sent(document: &Document, field: NodeId) -> bool {
    let says = |name, text| document.attribute_known(field, name) == Some(text);
    let is_field = matches!(
        document.element_name(field),
        Some(Name::INPUT | Name::SELECT | Name::TEXTAREA | Name::KEYGEN)
    );
    if !is_field
        || text_attribute(document, field, Name::NAME).is_empty()
        || says(Name::DISABLED, "disabled")
    {
        return false;
    }
    match text_attribute(document, field, Name::TYPE) {
        "button" | "file" | "image" | "reset" | "submit" => false,
        "checkbox" | "radio" => says(Name::CHECKED, "checked"),
        _ => true,
    }
}

/// A box without a value sends `on`.
fn input_value(document: &Document, input: NodeId) -> String {
    let given = document.attribute_known(input, Name::VALUE);
    let default = match text_attribute(document, input, Name::TYPE) {
        "checkbox" | "radio" => "on",
        _ => "",
    };
    given.unwrap_or(default).to_owned()
}

/// All selected options if there may be several, else the first; nothing if none is.
fn select_value(document: &Document, select: NodeId) -> Field {
    let selected = options(document, select)
        .filter(|&option| document.has(option, "selected"))
        .map(|option| option_value(document, option));
    if document.has(select, "multiple") {
        Field::List(selected.collect())
    } else {
        Field::Text({ selected }.next().unwrap_or_default())
    }
}

fn text_attribute(document: &Document, node: NodeId, name: Name) -> &str {
    document.attribute_known(node, name).unwrap_or_default()
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
