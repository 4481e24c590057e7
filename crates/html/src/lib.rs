//! HTML documents and what selectors find in them.
//!
//! [`Document::parse`] makes a tree of a text, as browsers do. A tree never changes: it is a list of
//! nodes that name one another by [`NodeId`]. [`Selector`] is CSS as the selector libraries of jQuery's kin have it
//! (`:contains()`, `:has()`, `[a!=b]`, …); [`query`] has their steps from one list of nodes to the next; [`form`] tells what
//! forms would send.
//!
//! ```text
//! text ──Document::parse──▶ Document ──Selector::find──▶ nodes ──query::*──▶ nodes ──▶ text, HTML, attributes, form values
//! ```
//!
//! The parser is html5ever's with html5gum's tokenizer, selectors are read and matched by Servo's `selectors`
//! (decision 13). Absent: JavaScript, changing a document, layout, styles. Where no standard has a rule (the text of
//! a tree, the matches of a broken selector), the result is k6 1.8's.
#![forbid(unsafe_code)]

pub mod document;
pub mod form;
mod name;
mod parse;
pub mod query;
pub mod selector;
mod serialize;

pub use document::{Attribute, Document, Kind, NodeId};
pub use parse::ParseError;
pub use selector::Selector;
