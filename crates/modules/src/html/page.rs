//! A document of a script.

use std::cell::RefCell;
use std::rc::Rc;

use brunt_html::Document;
use brunt_quickjs::{Ctx, JsResult, Weight};

use crate::throwing::throw;

/// A document, and where it came from.
pub(crate) struct Page {
    pub(crate) document: Document,
    /// The address of the response; empty if it was no response's. Scripts may set another.
    url: RefCell<Rc<str>>,
    /// Of the document: it counts until the last selection of it is gone.
    _weight: Weight,
}

/// Operations that a part of the work counts: more than the engine runs without a look at the clock.
const COST_OF_TURN: i32 = 10_000;

/// Bytes of a node, about.
const NODE: usize = 48;

impl Page {
    /// Parses a text.
    ///
    /// # Errors
    /// A `GoError` if it passes a limit of documents.
    pub(crate) fn parse<'js>(ctx: Ctx<'js>, text: &str, url: &str) -> JsResult<'js, Rc<Self>> {
        let mut stopped = None;
        let goes_on = || match ctx.poll(COST_OF_TURN) {
            Ok(()) => true,
            Err(thrown) => {
                stopped = Some(thrown);
                false
            }
        };
        match Document::parse_while(text, goes_on) {
            Ok(document) => {
                let weight = Weight::of(ctx, text.len() + document.len() * NODE)?;
                Ok(Rc::new(Self { document, url: RefCell::new(url.into()), _weight: weight }))
            }
            Err(error) => Err(stopped.unwrap_or_else(|| throw(ctx, &error.to_string()))),
        }
    }

    /// The address from which links of the page lead; empty if it is not known.
    pub(crate) fn url(&self) -> Rc<str> {
        Rc::clone(&self.url.borrow())
    }

    pub(super) fn set_url(&self, url: &str) {
        *self.url.borrow_mut() = url.into();
    }
}
