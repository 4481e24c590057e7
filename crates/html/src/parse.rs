//! From text to tree, as Go's `net/html` does it: HTML's own algorithm, with that package's few ways of its own, since
//! what k6 sees of a page is what that package makes of it.
//!
//! ```text
//! page ──lexemes──▶ pieces ──Parser::token──▶ tokens ──modes, body, table, foreign──▶ tree
//! ```
//!
//! The page is kept once, and nodes point into it: what stands there in other words (`&lt;`, line ends of two letters)
//! is put behind it. The files follow the chapters of the HTML standard ("13.2 Parsing HTML documents").

mod adoption;
mod body;
mod doctype;
mod entities;
mod foreign;
mod lexemes;
mod modes;
mod stack;
mod table;
mod tree;

use std::collections::HashMap;
use std::ops::Range;

use memchr::memchr3;

use crate::document::{Content, Document, Entry, Node, NodeId, Prefix, Span};
use crate::name::Name;
use lexemes::{Lexeme, Lexemes, Text};

/// Elements that may be open at a time, as in Go's parser.
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
}

impl Document {
    /// Parses a whole document; what is missing (`<html>`, `<body>`, end tags) is added as browsers do. Whatever text
    /// there is, it is a document.
    ///
    /// # Errors
    /// If a limit is passed.
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        Self::parse_within(text, NODES_MAX)
    }

    fn parse_within(text: &str, nodes_max: usize) -> Result<Self, ParseError> {
        if text.len() > PAGE_MAX {
            return Err(ParseError::Length);
        }
        let mut parser = Parser::new(text, nodes_max);
        parser.run();
        match parser.error {
            Some(error) => Err(error),
            None => Ok(parser.document),
        }
    }
}

/// What a token is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Text,
    Start,
    End,
    Comment,
    Doctype,
    Eof,
}

/// A piece of the page, as the tree's rules see it.
#[derive(Debug)]
struct Token {
    kind: Kind,
    /// Of tags.
    name: Name,
    /// Of all others.
    text: Span,
    /// Of start tags.
    attributes: Vec<Entry>,
}

/// The rules that hold where the parser is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Mode {
    Initial,
    BeforeHtml,
    BeforeHead,
    InHead,
    AfterHead,
    InBody,
    Text,
    InTable,
    InCaption,
    InColumnGroup,
    InTableBody,
    InRow,
    InCell,
    InTemplate,
    AfterBody,
    InFrameset,
    AfterFrameset,
    AfterAfterBody,
    AfterAfterFrameset,
    /// Go's way out of templates in foreign elements.
    IgnoreTheRest,
}

/// Whether a token is done with; if not, it is looked at again by the rules that hold then.
type IsConsumed = bool;

struct Parser<'a> {
    page: &'a str,
    lexemes: Lexemes<'a>,
    token: Token,
    /// The start tag ends with `/>`, and nobody has heeded that yet.
    is_self_closing: bool,
    document: Document,
    /// The places of the document's own names.
    names: HashMap<Box<str>, Name>,
    /// The elements that are open, the outermost first.
    open: Vec<NodeId>,
    /// The elements of formatting that go on behind the end of what they stand in; `None` marks where they don't.
    formatting: Vec<Option<NodeId>>,
    head: Option<NodeId>,
    form: Option<NodeId>,
    is_frameset_ok: bool,
    is_quirky: bool,
    /// What comes between a table's rows is put before the table.
    is_fostering: bool,
    mode: Mode,
    /// The mode to go back to behind a text.
    original: Option<Mode>,
    templates: Vec<Mode>,
    nodes_max: usize,
    error: Option<ParseError>,
}

impl<'a> Parser<'a> {
    fn new(page: &'a str, nodes_max: usize) -> Self {
        let mut text = String::with_capacity(page.len() + page.len() / 8);
        text.push_str(page);
        let root = Node {
            parent: None,
            first: None,
            last: None,
            previous: None,
            next: None,
            content: Content::Document,
        };
        let mut nodes = Vec::with_capacity(page.len() / 24 + 8);
        nodes.push(root);
        Self {
            page,
            lexemes: Lexemes::new(page),
            token: Token {
                kind: Kind::Eof,
                name: Name::A,
                text: Span::EMPTY,
                attributes: Vec::new(),
            },
            is_self_closing: false,
            document: Document {
                nodes,
                attributes: Vec::with_capacity(page.len() / 64),
                text,
                joined: Vec::new(),
                names: Vec::new(),
                doctypes: Vec::new(),
            },
            names: HashMap::new(),
            open: Vec::new(),
            formatting: Vec::new(),
            head: None,
            form: None,
            is_frameset_ok: true,
            is_quirky: false,
            is_fostering: false,
            mode: Mode::Initial,
            original: None,
            templates: Vec::new(),
            nodes_max,
            error: None,
        }
    }

    fn run(&mut self) {
        loop {
            let is_foreign = self.open.last().is_some_and(|&node| !self.is_in_html(node));
            self.lexemes.allow_cdata = is_foreign;
            let lexeme = self.lexemes.next();
            let is_last = lexeme == Lexeme::Eof;
            self.read(lexeme);
            self.process();
            if is_last || self.error.is_some() {
                return;
            }
        }
    }

    /// Makes the token of a piece.
    fn read(&mut self, lexeme: Lexeme) {
        self.token.attributes.clear();
        self.is_self_closing = false;
        let (kind, text) = match lexeme {
            Lexeme::Text(range, Text::Plain) => (Kind::Text, self.decoded(range, &PLAIN)),
            Lexeme::Text(range, Text::Escapable) => (Kind::Text, self.decoded(range, &ESCAPABLE)),
            Lexeme::Text(range, Text::Raw) => (Kind::Text, self.decoded(range, &RAW)),
            Lexeme::Comment(range) => (Kind::Comment, self.decoded(range, &ESCAPABLE)),
            Lexeme::Doctype(range) => (Kind::Doctype, self.decoded(range, &PLAIN)),
            Lexeme::Eof => (Kind::Eof, Span::EMPTY),
            Lexeme::End { name } => {
                self.token.name = self.lowered_name(name);
                (Kind::End, Span::EMPTY)
            }
            Lexeme::Start { name, is_closed } => {
                self.is_self_closing = is_closed;
                self.token.name = self.lowered_name(name);
                let pairs = std::mem::take(&mut self.lexemes.pairs);
                for pair in &pairs {
                    let name = self.lowered_name(pair.name.clone());
                    let value = self.decoded(pair.value.clone(), &ATTRIBUTE);
                    self.token.attributes.push(Entry { prefix: Prefix::None, name, value });
                }
                self.lexemes.pairs = pairs;
                (Kind::Start, Span::EMPTY)
            }
        };
        (self.token.kind, self.token.text) = (kind, text);
    }

    /// Applies the rules to the token until one has consumed it.
    fn process(&mut self) {
        while self.error.is_none() {
            let is_consumed = if self.is_in_foreign_content() {
                self.in_foreign_content()
            } else {
                self.by_mode()
            };
            if is_consumed {
                break;
            }
        }
        self.is_self_closing = false;
    }

    /// As if a tag without attributes had come before the token.
    fn imply(&mut self, kind: Kind, name: Name) {
        let implied = Token { kind, name, text: Span::EMPTY, attributes: Vec::new() };
        let token = std::mem::replace(&mut self.token, implied);
        let is_self_closing = std::mem::replace(&mut self.is_self_closing, false);
        self.process();
        (self.token, self.is_self_closing) = (token, is_self_closing);
    }

    fn by_mode(&mut self) -> IsConsumed {
        match self.mode {
            Mode::Initial => self.initial(),
            Mode::BeforeHtml => self.before_html(),
            Mode::BeforeHead => self.before_head(),
            Mode::InHead => self.in_head(),
            Mode::AfterHead => self.after_head(),
            Mode::InBody => self.in_body(),
            Mode::Text => self.in_text(),
            Mode::InTable => self.in_table(),
            Mode::InCaption => self.in_caption(),
            Mode::InColumnGroup => self.in_column_group(),
            Mode::InTableBody => self.in_table_body(),
            Mode::InRow => self.in_row(),
            Mode::InCell => self.in_cell(),
            Mode::InTemplate => self.in_template(),
            Mode::AfterBody => self.after_body(),
            Mode::InFrameset => self.in_frameset(),
            Mode::AfterFrameset => self.after_frameset(),
            Mode::AfterAfterBody => self.after_after_body(),
            Mode::AfterAfterFrameset => self.after_after_frameset(),
            Mode::IgnoreTheRest => true,
        }
    }

    /// The name that stands here, in lower case.
    fn lowered_name(&mut self, range: Range<usize>) -> Name {
        let text = &self.page[range];
        if let Some(known) = Name::known_lowered(text.as_bytes()) {
            return known;
        }
        self.own_name(&text.to_ascii_lowercase().replace('\0', "\u{fffd}"))
    }

    /// The name that has this text; a new one if need be.
    fn own_name(&mut self, text: &str) -> Name {
        if let Some(known) = Name::known(text) {
            return known;
        }
        if let Some(&name) = self.names.get(text) {
            return name;
        }
        let name = Name::own(self.document.names.len());
        self.document.names.push(text.into());
        self.names.insert(text.into(), name);
        name
    }

    /// A piece of the page as it is meant.
    fn decoded(&mut self, range: Range<usize>, how: &Decoding) -> Span {
        let piece = &self.page[range.clone()];
        if memchr3(b'&', b'\r', 0, piece.as_bytes()).is_none() {
            return Span { start: range.start as u32, end: range.end as u32 };
        }
        let start = self.document.text.len();
        how.decode(piece, &mut self.document.text);
        Span { start: start as u32, end: self.document.text.len() as u32 }
    }
}

/// What is done with the letters of a piece, beside line ends that are made one letter.
struct Decoding {
    /// `&…;` stands for other letters.
    references: bool,
    in_attribute: bool,
    /// Zero bytes become `�`.
    zeros: bool,
}

const PLAIN: Decoding = Decoding { references: true, in_attribute: false, zeros: false };
const ESCAPABLE: Decoding = Decoding { zeros: true, ..PLAIN };
const RAW: Decoding = Decoding { references: false, in_attribute: false, zeros: true };
const ATTRIBUTE: Decoding = Decoding { references: true, in_attribute: true, zeros: true };

impl Decoding {
    fn decode(&self, piece: &str, to: &mut String) {
        let mut rest = piece;
        while let Some(at) = memchr3(b'&', b'\r', 0, rest.as_bytes()) {
            to.push_str(&rest[..at]);
            let special = rest.as_bytes()[at];
            rest = &rest[at + 1..];
            match special {
                b'\r' => {
                    to.push('\n');
                    rest = rest.strip_prefix('\n').unwrap_or(rest);
                }
                0 if self.zeros => to.push(char::REPLACEMENT_CHARACTER),
                0 => to.push('\0'),
                _ => {
                    let found =
                        self.references.then(|| entities::reference(rest, self.in_attribute));
                    match found.flatten() {
                        Some((first, second, length)) => {
                            to.push(first);
                            to.extend(second);
                            rest = &rest[length..];
                        }
                        None => to.push('&'),
                    }
                }
            }
        }
        to.push_str(rest);
    }
}

#[cfg(test)]
mod tests;
