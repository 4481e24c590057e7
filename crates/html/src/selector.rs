//! CSS selectors with the liberties of jQuery: read by Servo's `selectors` and `cssparser`, matched by `selectors`.
//!
//! ```text
//! text ──plain──▶ CSS ──grammar──▶ SelectorList ──element──▶ nodes
//! ```

mod element;
mod grammar;
mod plain;

use selectors::SelectorList;
use selectors::context::{
    MatchingContext, MatchingForInvalidation, MatchingMode, NeedsSelectorFlags, QuirksMode,
    SelectorCaches,
};
use selectors::matching::matches_selector_list;

use crate::document::{Document, NodeId};
use element::Element;
use grammar::Grammar;

/// A list of selectors: `div > p, .x:not([y])`.
#[derive(Clone, Debug)]
pub struct Selector {
    /// `None` if the text was no selector.
    list: Option<SelectorList<Grammar>>,
}

impl Selector {
    /// Reads a selector. An invalid one matches nothing, as in k6 1.8.
    pub fn new(text: &str) -> Self {
        Self { list: plain::plain(text).and_then(|text| grammar::read(&text)) }
    }

    /// Whether the text was a selector.
    pub fn is_valid(&self) -> bool {
        self.list.is_some()
    }

    /// Whether the node is an element that the selector means.
    pub fn matches(&self, document: &Document, node: NodeId) -> bool {
        self.with_test(document, |is_meant| is_meant(node))
    }

    /// All such elements below each of these nodes, in order, each once.
    pub fn find(&self, document: &Document, below: &[NodeId]) -> Vec<NodeId> {
        let mut found = Vec::new();
        if !self.is_valid() {
            return found;
        }
        self.with_test(document, |is_meant| {
            for &top in below {
                found.extend(document.descendants(top).filter(|&node| is_meant(node)));
            }
        });
        if below.len() > 1 { crate::query::distinct(found) } else { found }
    }

    /// The first of them.
    pub fn find_first(&self, document: &Document, below: NodeId) -> Option<NodeId> {
        self.with_test(document, |is_meant| {
            document.descendants(below).find(|&node| is_meant(node))
        })
    }

    /// Asks about many nodes: what was found out of one helps with the next.
    fn with_test<T>(
        &self,
        document: &Document,
        ask: impl FnOnce(&mut dyn FnMut(NodeId) -> bool) -> T,
    ) -> T {
        let Some(list) = &self.list else { return ask(&mut |_| false) };
        let mut caches = SelectorCaches::default();
        let mut context = MatchingContext::new(
            MatchingMode::Normal,
            None,
            &mut caches,
            QuirksMode::NoQuirks,
            NeedsSelectorFlags::No,
            MatchingForInvalidation::No,
        );
        ask(&mut |node| {
            Element::new(document, node)
                .is_some_and(|element| matches_selector_list(list, element, &mut context))
        })
    }
}

#[cfg(test)]
mod tests;
