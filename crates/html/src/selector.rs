//! Selectors, as cascadia has them.

mod matching;
mod read;

use regex_lite::Regex;

use crate::document::{Document, NodeId};
use crate::name::NameTest;

/// A list of selectors: `div > p, .x:not([y])`.
#[derive(Clone, Debug)]
pub struct Selector {
    /// Any of them.
    pub(crate) group: Vec<Complex>,
}

/// `a > b c`, read from the right: what the element itself must be, and what must be around it.
#[derive(Clone, Debug)]
pub(crate) struct Complex {
    pub(crate) compounds: Vec<(Combinator, Compound)>,
}

/// How a compound is bound to the one before it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Combinator {
    /// It is the first one.
    None,
    Descendant,
    Child,
    /// `+`
    Next,
    /// `~`
    After,
}

/// What stands together: `p.x[y]`. All of it must match.
pub(crate) type Compound = Vec<Simple>;

#[derive(Clone, Debug)]
pub(crate) enum Simple {
    Tag(NameTest),
    Id(String),
    Class(String),
    Attribute(AttributeTest),
    Not(Selector),
    Has(Selector),
    HasChild(Selector),
    Contains {
        text: String,
        own: bool,
    },
    Matches {
        pattern: Box<Regex>,
        own: bool,
    },
    Nth(Nth),
    Only {
        of_type: bool,
    },
    Input,
    Empty,
    Root,
    Link,
    Lang(String),
    Enabled,
    Disabled,
    Checked,
    /// `:hover` and others that a document at rest does not know.
    Never,
}

/// `:nth-child(an+b)` and its kin.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Nth {
    pub(crate) a: i64,
    pub(crate) b: i64,
    pub(crate) last: bool,
    pub(crate) of_type: bool,
}

/// `[name operation value i]`
#[derive(Clone, Debug)]
pub(crate) struct AttributeTest {
    pub(crate) name: NameTest,
    pub(crate) operation: Operation,
    pub(crate) value: String,
    pub(crate) ignore_case: bool,
}

#[derive(Clone, Debug)]
pub(crate) enum Operation {
    Exists,
    /// `=`
    Is,
    /// `!=`
    IsNot,
    /// `~=`
    Word,
    /// `|=`
    Dash,
    /// `^=`
    Begins,
    /// `$=`
    Ends,
    /// `*=`
    Contains,
    /// `#=`
    Pattern(Box<Regex>),
}

impl Selector {
    /// Reads a selector. One that is none matches nothing, as in goquery: that is what this gives then.
    pub fn new(text: &str) -> Self {
        read::read(text).unwrap_or(Self { group: Vec::new() })
    }

    /// Whether it was one.
    pub fn is_valid(&self) -> bool {
        !self.group.is_empty()
    }

    /// Whether the node is one of those.
    pub fn matches(&self, document: &Document, node: NodeId) -> bool {
        self.group.iter().any(|complex| matching::complex(document, complex, node))
    }

    /// All such nodes below each of these, in order, each once.
    pub fn find(&self, document: &Document, below: &[NodeId]) -> Vec<NodeId> {
        let mut found = Vec::new();
        if !self.is_valid() {
            return found;
        }
        for &top in below {
            for child in document.child_elements(top) {
                if self.matches(document, child) {
                    found.push(child);
                }
                let inner = document.descendants(child);
                found.extend(inner.filter(|&node| self.matches(document, node)));
            }
        }
        if below.len() > 1 { crate::query::distinct(found) } else { found }
    }

    /// The first of them.
    pub fn find_first(&self, document: &Document, below: NodeId) -> Option<NodeId> {
        document.child_elements(below).find_map(|child| {
            std::iter::once(child)
                .chain(document.descendants(child))
                .find(|&node| self.matches(document, node))
        })
    }
}

#[cfg(test)]
mod tests;
