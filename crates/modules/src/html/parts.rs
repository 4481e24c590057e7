//! The parts of the methods of typed elements.

use brunt_html::{Document, NodeId, form};
use brunt_http::resolve;
use brunt_quickjs::{Call, JsResult};

use super::address::Address;
use super::element::{Element, elements, maybe, strings, with};
use crate::http::url::escape_path;

/// An attribute; empty if it is not there.
pub(super) fn text<'js>(call: Call<'js>, name: &str) -> JsResult<'js> {
    text_or(call, name, "")
}

/// An attribute, or this.
pub(super) fn text_or<'js>(call: Call<'js>, name: &str, default: &str) -> JsResult<'js> {
    with(call, |ctx, this| {
        ctx.string(this.document().attribute(this.node(), name).unwrap_or(default))
    })
}

/// An attribute that is an address: the whole one, if it is known where the page lies; empty for a malformed one.
pub(super) fn link<'js>(call: Call<'js>, name: &str) -> JsResult<'js> {
    with(call, |ctx, this| {
        let link = this.document().attribute(this.node(), name);
        ctx.string(&link.map_or_else(String::new, |link| whole(&this.page().url(), link)))
    })
}

/// Where a link on a page leads.
fn whole(base: &str, link: &str) -> String {
    if base.is_empty() {
        return link.to_owned();
    }
    match Address::of(base, link) {
        address if address.scheme.is_empty() => String::new(),
        address => {
            let whole = escape_path(resolve(base, link));
            // Schemes are written in lower case.
            let rest = whole.get(address.scheme.len()..).unwrap_or("");
            format!("{}{rest}", address.scheme)
        }
    }
}

/// The address that a button sends its form to.
pub(super) fn form_action(call: Call<'_>) -> JsResult<'_> {
    with(call, |ctx, this| {
        let action = of_form(this.document(), this.node(), "formaction", "action");
        ctx.string(&action.map_or_else(String::new, |link| whole(&this.page().url(), link)))
    })
}

/// Whether the attribute is there.
pub(super) fn flag<'js>(call: Call<'js>, name: &str) -> JsResult<'js> {
    with(call, |ctx, this| Ok(ctx.bool(this.document().has(this.node(), name))))
}

/// An attribute that is a whole number, or this.
pub(super) fn number<'js>(call: Call<'js>, name: &str, default: i64) -> JsResult<'js> {
    with(call, |ctx, this| {
        let number =
            this.document().attribute(this.node(), name).and_then(|text| text.parse().ok());
        Ok(ctx.number(number.unwrap_or(default) as f64))
    })
}

/// An attribute that is one of these words, or this.
pub(super) fn word<'js>(
    call: Call<'js>,
    name: &str,
    words: &[&str],
    default: &str,
) -> JsResult<'js> {
    with(call, |ctx, this| {
        let word = this.document().attribute(this.node(), name);
        ctx.string(word.filter(|word| words.contains(word)).unwrap_or(default))
    })
}

/// A word that is `undefined` if it is none of these.
pub(super) fn word_or_undefined<'js>(call: Call<'js>, name: &str, words: &[&str]) -> JsResult<'js> {
    with(call, |ctx, this| match this.document().attribute(this.node(), name) {
        Some(word) if words.contains(&word) => ctx.string(word),
        _ => Ok(ctx.undefined()),
    })
}

/// Something computed from document and node.
pub(super) fn computed<'js>(
    call: Call<'js>,
    compute: impl FnOnce(&Document, NodeId) -> String,
) -> JsResult<'js> {
    with(call, |ctx, this| ctx.string(&compute(this.document(), this.node())))
}

/// Something counted.
pub(super) fn counted<'js>(
    call: Call<'js>,
    count: impl FnOnce(&Document, NodeId) -> f64,
) -> JsResult<'js> {
    with(call, |ctx, this| Ok(ctx.number(count(this.document(), this.node()))))
}

/// A claim.
pub(super) fn claimed<'js>(
    call: Call<'js>,
    claim: impl FnOnce(&Document, NodeId) -> bool,
) -> JsResult<'js> {
    with(call, |ctx, this| Ok(ctx.bool(claim(this.document(), this.node()))))
}

/// Another element, or `undefined`.
pub(super) fn related<'js>(
    call: Call<'js>,
    find: impl FnOnce(&Document, NodeId) -> Option<NodeId>,
) -> JsResult<'js> {
    with(call, |ctx, this| maybe(ctx, this, find(this.document(), this.node())))
}

/// Elements below that have one of these names.
pub(super) fn inside<'js>(call: Call<'js>, tags: &[&str]) -> JsResult<'js> {
    with(call, |ctx, this| {
        let document = this.document();
        let found = document.descendants(this.node());
        elements(ctx, this.page(), found.filter(|&node| tags.contains(&document.tag(node))))
    })
}

/// Elements that something finds.
pub(super) fn many<'js>(
    call: Call<'js>,
    find: impl FnOnce(&Document, NodeId) -> Vec<NodeId>,
) -> JsResult<'js> {
    with(call, |ctx, this| elements(ctx, this.page(), find(this.document(), this.node())))
}

/// A part of the address in `href`.
pub(super) fn address<'js>(
    call: Call<'js>,
    part: impl FnOnce(&Address) -> String,
) -> JsResult<'js> {
    with(call, |ctx, this: &Element| {
        let link = this.document().attribute(this.node(), "href");
        let address = link.map(|link| Address::of(&this.page().url(), link));
        ctx.string(&part(&address.unwrap_or_default()))
    })
}

/// A mark and what follows it, if anything does.
pub(super) fn marked(mark: char, text: &str) -> String {
    if text.is_empty() { String::new() } else { format!("{mark}{text}") }
}

/// `rel` as a list.
pub(super) fn rel_list(call: Call<'_>) -> JsResult<'_> {
    with(call, |ctx, this| {
        let rel = this.document().attribute(this.node(), "rel").filter(|rel| !rel.is_empty());
        strings(ctx, rel.iter().flat_map(|rel| rel.split(' ')))
    })
}

/// The form that a field belongs to: the one around it, or else the one it names.
pub(super) fn form_of(document: &Document, node: NodeId) -> Option<NodeId> {
    document.closest_tag(node, "form").or_else(|| {
        let id = document.attribute(node, "form")?;
        document.by_id(id).filter(|&form| document.tag(form) == "form")
    })
}

/// The way to send a form that a button sets, or else the form.
pub(super) fn of_form<'a>(
    document: &'a Document,
    node: NodeId,
    own: &str,
    of_form: &str,
) -> Option<&'a str> {
    document.attribute(node, own).or_else(|| document.attribute(form_of(document, node)?, of_form))
}

/// The labels of a field: those around it and those that name it.
pub(super) fn labels(document: &Document, node: NodeId) -> Vec<NodeId> {
    let is_label = |&other: &NodeId| document.tag(other) == "label";
    let mut labels: Vec<_> = document.ancestors(node).filter(is_label).collect();
    if let Some(id) = document.attribute(node, "id") {
        let named = document.descendants(document.root()).filter(is_label);
        labels.extend(named.filter(|&label| document.attribute(label, "for") == Some(id)));
    }
    brunt_html::query::distinct(labels)
}

/// The options of a list, with the place of the first selected one.
pub(super) fn selected(document: &Document, node: NodeId) -> impl Iterator<Item = (usize, NodeId)> {
    form::options(document, node)
        .enumerate()
        .filter(|&(_, option)| document.has(option, "selected"))
}
