//! From text to tree: `html5ever` finds the tags and applies the rules of the HTML standard ("13.2 Parsing HTML documents"), and the
//! [sink](sink::Sink) builds the flat [`Document`].
//!
//! ```text
//! page ──pieces──▶ html5ever: tokenizer, tree builder ──TreeSink──▶ Document
//! ```
//!
//! The page is given in pieces. Between two pieces the limits are looked at, so that a page made to hurt ends early.

mod sink;
mod tokens;

use html5ever::tree_builder::{TreeBuilder, TreeBuilderOpts};
use html5gum::Tokenizer;

use crate::document::Document;
use sink::Sink;
use tokens::Tokens;

/// Elements that may be open at a time. k6 1.8 refuses deeper pages with the same number.
const DEPTH_MAX: usize = 512;

/// Nodes that a document may have, and attributes. A page of some megabytes has a tenth of that.
const NODES_MAX: usize = 2 << 20;

/// Bytes of a page: even if each of them becomes four, a number of 32 bits names them all.
const PAGE_MAX: usize = 1 << 29;

/// Why a text is no document.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ParseError {
    /// Elements in elements in elements.
    #[error("html: open stack of elements exceeds 512 nodes")]
    Depth,
    /// More nodes than a document may have.
    #[error("html: the document has more than 2097152 nodes")]
    Nodes,
    /// More text than a document may have.
    #[error("html: the document is longer than 512 MiB")]
    Length,
    /// The caller of [`Document::parse_while`] wanted no more.
    #[error("html: the parser was stopped")]
    Stopped,
}

impl Document {
    /// Parses a whole document; what is missing (`<html>`, `<body>`, end tags) is added as browsers do. Whatever text
    /// there is, it is a document.
    ///
    /// # Errors
    /// If a limit is passed.
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        Self::parse_within(text, NODES_MAX, || true)
    }

    /// As [`Document::parse`]; again and again, after a part of a millisecond, it asks whether to go on.
    ///
    /// # Errors
    /// If a limit is passed, or the answer is no.
    pub fn parse_while(text: &str, goes_on: impl FnMut() -> bool) -> Result<Self, ParseError> {
        Self::parse_within(text, NODES_MAX, goes_on)
    }

    fn parse_within(
        text: &str,
        nodes_max: usize,
        mut goes_on: impl FnMut() -> bool,
    ) -> Result<Self, ParseError> {
        if text.len() > PAGE_MAX {
            return Err(ParseError::Length);
        }
        let builder =
            TreeBuilder::new(Sink::new(text.len(), nodes_max), TreeBuilderOpts::default());
        let tokens = Tokens::new(&builder, &mut goes_on);
        let Ok(error) = Tokenizer::new_with_emitter(text, tokens).next().transpose();
        match error {
            Some(error) => Err(error),
            None => builder.sink.into_document(),
        }
    }
}

#[cfg(test)]
mod tests;
