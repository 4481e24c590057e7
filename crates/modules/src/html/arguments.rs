//! What methods of selections may be given.

use std::rc::Rc;

use brunt_html::{Document, NodeId, Selector};
use brunt_quickjs::{Ctx, JsResult, Value};

use super::Page;
use super::element::Element;
use super::selection::Selection;
use crate::go_error::go_type;
use crate::state::throw;

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

/// A selector, a selection or an element. (k6 takes only those elements that have no methods of their own kind.)
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
        let is_here = Rc::ptr_eq(element.page(), page);
        return Ok(Wanted::Nodes(if is_here { vec![element.node()] } else { Vec::new() }));
    }
    let kind = go_type(value);
    Err(throw(ctx, &format!("invalid argument, cannot use a '{kind}' as a selector")))
}

/// The selector that narrows a step; `None` if it was not given.
pub(super) fn filter_text(value: &Value<'_>) -> JsResult<'static, Option<Selector>> {
    if value.is_nullish() {
        return Ok(None);
    }
    let text = value.to_js_str()?;
    Ok((!text.as_str().is_empty()).then(|| Selector::new(text.as_str())))
}

/// Calls a function with a node's place and the node; whether it returned something true.
///
/// # Errors
/// What it throws.
pub(super) fn is_truthy_call<'js>(
    function: &Value<'js>,
    index: usize,
    one: Value<'js>,
) -> JsResult<'js, bool> {
    let ctx = function.ctx();
    let result = function.call(&ctx.undefined(), &[ctx.number(index as f64), one])?;
    Ok(result.truthy())
}
