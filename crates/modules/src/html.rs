//! `k6/html`: documents, what selectors find in them, elements with their attributes as methods.
//!
//! A [`Page`] is parsed once and never changes; selections and elements share it, and it is freed with the last of them.
//! The DOM's properties are methods here, as in k6.

mod address;
mod arguments;
mod attribute;
mod bound;
mod data;
mod element;
pub(crate) mod links;
pub(crate) mod page;
mod parts;
pub(crate) mod selection;
mod typed;

use brunt_quickjs::{Call, Ctx, JsResult, Value};

use self::page::Page;
use self::selection::{Selection, selection};
use crate::module::Module;
use crate::reading::text_or_empty;

/// Whether it is an object whose methods are its own properties.
pub(crate) fn has_own_methods(value: &Value<'_>) -> bool {
    value.instance::<Selection>().is_some() || value.instance::<element::Element>().is_some()
}

/// The module that scripts import.
pub(crate) struct Exports;

impl Module for Exports {
    fn specifier(&self) -> &'static str {
        "k6/html"
    }

    fn names(&self) -> Vec<String> {
        vec!["parseHTML".to_owned()]
    }

    fn fill<'js>(&self, ctx: Ctx<'js>, exports: &Value<'js>) -> JsResult<'js, ()> {
        exports.define("parseHTML", ctx.function(c"parseHTML", 1, parse_html)?)
    }

    fn shares_exports(&self) -> bool {
        true
    }
}

fn parse_html(call: Call<'_>) -> JsResult<'_> {
    let ctx = call.ctx();
    let page = Page::parse(ctx, &text_or_empty(&call.argument(0))?, "")?;
    let root = page.document.root();
    selection(ctx, Selection::of(&page, vec![root]))
}

#[cfg(test)]
mod tests;
