//! `k6/html`: documents, what selectors find in them, elements with their attributes as methods.
//!
//! A [`Page`] is parsed once and never changes; selections and elements share it, and it is freed with the last of them.
//! What the DOM calls properties are methods here, as in k6.

mod address;
mod arguments;
mod attribute;
mod bound;
mod data;
mod element;
pub(crate) mod links;
mod parts;
mod selection;
mod typed;

use std::cell::RefCell;
use std::rc::Rc;

use brunt_html::Document;
use brunt_quickjs::{Call, Ctx, JsResult, Value};

use crate::state::{text_or_empty, throw};
pub(crate) use selection::{Selection, selection};

/// A document, and where it came from.
pub(crate) struct Page {
    pub(crate) document: Document,
    /// The address of the response; empty if it was no response's. Scripts may set another.
    url: RefCell<Rc<str>>,
}

impl Page {
    /// Parses a text.
    ///
    /// # Errors
    /// A `GoError` if it passes a limit of documents.
    pub(crate) fn parse<'js>(ctx: Ctx<'js>, text: &str, url: &str) -> JsResult<'js, Rc<Self>> {
        match Document::parse(text) {
            Ok(document) => Ok(Rc::new(Self { document, url: RefCell::new(url.into()) })),
            Err(error) => Err(throw(ctx, &error.to_string())),
        }
    }

    /// Where links of the page lead from; empty if nobody knows.
    pub(crate) fn url(&self) -> Rc<str> {
        Rc::clone(&self.url.borrow())
    }

    fn set_url(&self, url: &str) {
        *self.url.borrow_mut() = url.into();
    }
}

/// Whether it is an object whose methods are its own properties.
pub(crate) fn has_own_methods(value: &Value<'_>) -> bool {
    value.instance::<Selection>().is_some() || value.instance::<element::Element>().is_some()
}

pub(crate) fn names() -> Vec<String> {
    vec!["parseHTML".to_owned()]
}

pub(crate) fn fill<'js>(
    ctx: Ctx<'js>,
    set: &mut dyn FnMut(&str, Value<'js>) -> JsResult<'js, ()>,
) -> JsResult<'js, ()> {
    set("parseHTML", ctx.function(c"parseHTML", 1, parse_html)?)
}

fn parse_html(call: Call<'_>) -> JsResult<'_> {
    let ctx = call.ctx();
    let page = Page::parse(ctx, &text_or_empty(&call.argument(0))?, "")?;
    let root = page.document.root();
    selection(ctx, Selection::of(&page, vec![root]))
}

#[cfg(test)]
mod tests;
