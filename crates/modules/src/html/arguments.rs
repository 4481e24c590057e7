//! The arguments of methods of selections.

use std::rc::Rc;

use brunt_html::{Document, NodeId, Selector};
use brunt_quickjs::{Call, Ctx, JsResult, Thrown, Value};

use super::attribute::Attr;
use super::element::Element;
use super::page::Page;
use super::selection::Selection;
use crate::go_error::go_type;
use crate::throwing::throw;

/// The nodes that are meant.
pub(super) enum Wanted {
    Selector(Selector),
    Nodes(Vec<NodeId>),
}

impl Wanted {
    /// Whether this one is meant.
    pub(super) fn has(&self, document: &Document, node: NodeId) -> bool {
        match self {
            Self::Selector(selector) => selector.matches(document, node),
            Self::Nodes(nodes) => nodes.contains(&node),
        }
    }

    /// All that are meant.
    pub(super) fn everywhere(self, document: &Document) -> Vec<NodeId> {
        match self {
            Self::Selector(selector) => selector.find(document, &[document.root()]),
            Self::Nodes(nodes) => nodes,
        }
    }
}

/// A selector, a selection or an element; as in k6 only elements that have no methods of their own kind.
///
/// # Errors
/// A `GoError` for anything else.
pub(super) fn wanted<'js>(
    ctx: Ctx<'js>,
    page: &Rc<Page>,
    value: &Value<'js>,
) -> JsResult<'js, Wanted> {
    if value.is_string() {
        return Ok(Wanted::Selector(Selector::new(value.to_js_str()?.as_str())));
    }
    // Nodes of another document are none of ours.
    if let Some(selection) = value.instance::<Selection>() {
        let is_here = Rc::ptr_eq(selection.page(), page);
        return Ok(Wanted::Nodes(if is_here { selection.nodes().to_vec() } else { Vec::new() }));
    }
    if let Some(element) = value.instance::<Element>() {
        if let Some(kind) = element.type_name() {
            return Err(refused(ctx, &kind));
        }
        let is_here = Rc::ptr_eq(element.page(), page);
        return Ok(Wanted::Nodes(if is_here { vec![element.node()] } else { Vec::new() }));
    }
    let is_attribute = value.instance::<Attr>().is_some();
    let kind = if is_attribute { "html.Attribute" } else { go_type(value) };
    Err(refused(ctx, kind))
}

/// As [`wanted`], but without elements.
///
/// # Errors
/// A `GoError` for anything else.
pub(super) fn wanted_but_elements<'js>(
    ctx: Ctx<'js>,
    page: &Rc<Page>,
    value: &Value<'js>,
) -> JsResult<'js, Wanted> {
    match value.instance::<Element>() {
        Some(element) => {
            let kind = element.type_name().unwrap_or_else(|| "html.Element".to_owned());
            Err(refused(ctx, &kind))
        }
        None => wanted(ctx, page, value),
    }
}

fn refused(ctx: Ctx<'_>, kind: &str) -> Thrown {
    throw(ctx, &format!("invalid argument, cannot use a '{kind}' as a selector"))
}

/// The selector that narrows a step; `None` if no such argument was given. Whatever was given is one.
///
/// # Errors
/// The exception of the conversion to a string.
pub(super) fn filter_of<'js>(call: &Call<'js>, index: usize) -> JsResult<'js, Option<Selector>> {
    if call.len() <= index {
        return Ok(None);
    }
    Ok(Some(Selector::new(call.argument(index).to_js_str()?.as_str())))
}

/// Calls a function with a node's place and the node; whether it returned something true.
///
/// # Errors
/// Its exception.
pub(super) fn is_truthy_call<'js>(
    function: &Value<'js>,
    index: usize,
    one: Value<'js>,
) -> JsResult<'js, bool> {
    let ctx = function.ctx();
    let result = function.call(&ctx.undefined(), &[ctx.number(index as f64), one])?;
    Ok(result.truthy())
}
