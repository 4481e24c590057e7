//! From `html5gum`'s tokenizer to html5ever's tree builder: each piece that the one finds is a token of the other.

use html5ever::interface::QualName;
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::states::RawKind;
use html5ever::tokenizer::{Doctype, Tag, TagKind, Token, TokenSink, TokenSinkResult};
use html5ever::tree_builder::TreeBuilder;
use html5ever::{Attribute, LocalName, ns};
use html5gum::{Emitter, Error, State};
use rustc_hash::{FxHashMap, FxHashSet};

use super::ParseError;
use super::sink::{Handle, Sink};

/// Up to this number, attributes are searched one by one.
const FEW: usize = 32;

/// The work between two questions whether to go on: that of 64 KiB of text, a part of a millisecond.
const TURN: usize = 64 << 10;

/// The work of a tag or an attribute: that of as many bytes of text.
const PIECE: usize = 64;

/// The token that grows, and where it goes.
pub(super) struct Tokens<'a> {
    builder: &'a TreeBuilder<Handle, Sink>,
    goes_on: &'a mut dyn FnMut() -> bool,
    /// The work until the next question.
    left: usize,
    /// The atoms of the names seen: to ask html5ever for one costs more than the rest of a short tag.
    atoms: FxHashMap<Box<[u8]>, LocalName>,
    text: Vec<u8>,
    kind: TagKind,
    /// The name of a tag or doctype.
    name: Vec<u8>,
    attributes: Vec<Attribute>,
    /// The names of the attributes, once there are too many to look through.
    many: FxHashSet<LocalName>,
    /// The attribute that grows; none if its name is empty.
    attribute: Vec<u8>,
    value: Vec<u8>,
    is_self_closing: bool,
    /// The name of the last start tag.
    started: Vec<u8>,
    comment: Vec<u8>,
    public: Option<Vec<u8>>,
    system: Option<Vec<u8>>,
    is_quirky: bool,
}

impl<'a> Tokens<'a> {
    pub(super) fn new(
        builder: &'a TreeBuilder<Handle, Sink>,
        goes_on: &'a mut dyn FnMut() -> bool,
    ) -> Self {
        Self {
            builder,
            goes_on,
            left: TURN,
            atoms: FxHashMap::default(),
            text: Vec::new(),
            kind: TagKind::StartTag,
            name: Vec::new(),
            attributes: Vec::new(),
            many: FxHashSet::default(),
            attribute: Vec::new(),
            value: Vec::new(),
            is_self_closing: false,
            started: Vec::new(),
            comment: Vec::new(),
            public: None,
            system: None,
            is_quirky: false,
        }
    }

    /// Counts work, and asks now and then whether to go on.
    fn worked(&mut self, work: usize) {
        match self.left.checked_sub(work) {
            Some(left) => self.left = left,
            None => self.turn(),
        }
    }

    #[cold]
    fn turn(&mut self) {
        self.left = TURN;
        if !(self.goes_on)() {
            self.builder.sink.fail(ParseError::Stopped);
        }
    }

    /// Hands a token on; the state in which the tokenizer goes on, if not in its own.
    fn give(&self, token: Token) -> Option<State> {
        match self.builder.process_token(token, 1) {
            TokenSinkResult::Continue | TokenSinkResult::EncodingIndicator(_) => None,
            // Nothing runs the script: what is behind it is read as what is behind any other element.
            TokenSinkResult::Script(_) => Some(State::Data),
            TokenSinkResult::Plaintext => Some(State::PlainText),
            TokenSinkResult::RawData(RawKind::Rcdata) => Some(State::RcData),
            TokenSinkResult::RawData(RawKind::Rawtext) => Some(State::RawText),
            TokenSinkResult::RawData(RawKind::ScriptData | RawKind::ScriptDataEscaped(_)) => {
                Some(State::ScriptData)
            }
        }
    }

    /// Hands on the text before a tag or comment.
    fn give_text(&mut self) {
        if self.text.is_empty() {
            return;
        }
        let mut text = std::mem::take(&mut self.text);
        for (index, piece) in text.split(|&byte| byte == 0).enumerate() {
            if index > 0 {
                self.give(Token::NullCharacterToken);
            }
            if !piece.is_empty() {
                self.give(Token::CharacterTokens(tendril(piece)));
            }
        }
        text.clear();
        self.text = text;
    }

    fn atom(&mut self, name: &[u8]) -> LocalName {
        if let Some(atom) = self.atoms.get(name) {
            return atom.clone();
        }
        let atom = LocalName::from(&*String::from_utf8_lossy(name));
        self.atoms.insert(name.into(), atom.clone());
        atom
    }

    /// Puts the attribute that has grown to the tag's others; of two with one name the first counts.
    fn end_attribute(&mut self) {
        if self.attribute.is_empty() {
            return;
        }
        self.worked(PIECE + self.value.len());
        let attribute = std::mem::take(&mut self.attribute);
        let name = self.atom(&attribute);
        self.attribute = attribute;
        self.attribute.clear();
        if self.kind == TagKind::StartTag && self.is_new(&name) {
            let name = QualName::new(None, ns!(), name);
            self.attributes.push(Attribute { name, value: tendril(&self.value) });
        }
        self.value.clear();
    }

    /// Whether the tag has no attribute of this name yet.
    fn is_new(&mut self, name: &LocalName) -> bool {
        if self.attributes.len() < FEW {
            return self.attributes.iter().all(|attribute| attribute.name.local != *name);
        }
        if self.many.is_empty() {
            self.many.extend(self.attributes.iter().map(|attribute| attribute.name.local.clone()));
        }
        self.many.insert(name.clone())
    }

    fn begin_tag(&mut self, kind: TagKind) {
        self.kind = kind;
        self.name.clear();
        self.attributes.clear();
        self.many.clear();
        self.attribute.clear();
        self.value.clear();
        self.is_self_closing = false;
    }
}

/// The page is UTF-8, and the tokenizer cuts at letters of ASCII.
fn tendril(bytes: &[u8]) -> StrTendril {
    match std::str::from_utf8(bytes) {
        Ok(text) => StrTendril::from_slice(text),
        Err(_) => StrTendril::from_slice(&String::from_utf8_lossy(bytes)),
    }
}

impl Emitter for Tokens<'_> {
    /// Why parsing ends before the page does.
    type Token = ParseError;

    fn pop_token(&mut self) -> Option<ParseError> {
        self.builder.sink.error()
    }

    fn set_last_start_tag(&mut self, name: Option<&[u8]>) {
        self.started.clear();
        self.started.extend_from_slice(name.unwrap_or_default());
    }

    fn emit_eof(&mut self) {
        self.give_text();
        self.give(Token::EOFToken);
        self.builder.end();
    }

    fn emit_error(&mut self, _error: Error) {}

    #[inline]
    fn should_emit_errors(&mut self) -> bool {
        false
    }

    fn emit_string(&mut self, text: &[u8]) {
        self.text.extend_from_slice(text);
    }

    fn init_start_tag(&mut self) {
        self.begin_tag(TagKind::StartTag);
    }

    fn init_end_tag(&mut self) {
        self.begin_tag(TagKind::EndTag);
    }

    fn init_comment(&mut self) {
        self.comment.clear();
    }

    fn emit_current_tag(&mut self) -> Option<State> {
        self.worked(PIECE + self.text.len());
        self.give_text();
        self.end_attribute();
        let bytes = std::mem::take(&mut self.name);
        let name = self.atom(&bytes);
        self.name = bytes;
        if self.kind == TagKind::StartTag {
            self.started.clone_from(&self.name);
        }
        let attrs = std::mem::take(&mut self.attributes);
        self.give(Token::TagToken(Tag {
            kind: self.kind,
            name,
            self_closing: self.is_self_closing,
            attrs,
            had_duplicate_attributes: false,
        }))
    }

    fn emit_current_comment(&mut self) {
        self.worked(PIECE + self.comment.len());
        self.give_text();
        self.give(Token::CommentToken(tendril(&self.comment)));
    }

    fn emit_current_doctype(&mut self) {
        self.give_text();
        let text = |bytes: Option<Vec<u8>>| bytes.map(|bytes| tendril(&bytes));
        let doctype = Doctype {
            name: (!self.name.is_empty()).then(|| tendril(&self.name)),
            public_id: text(self.public.take()),
            system_id: text(self.system.take()),
            force_quirks: self.is_quirky,
        };
        self.give(Token::DoctypeToken(doctype));
    }

    fn set_self_closing(&mut self) {
        self.is_self_closing = true;
    }

    fn set_force_quirks(&mut self) {
        self.is_quirky = true;
    }

    fn push_tag_name(&mut self, text: &[u8]) {
        self.name.extend_from_slice(text);
    }

    fn push_comment(&mut self, text: &[u8]) {
        self.comment.extend_from_slice(text);
    }

    fn push_doctype_name(&mut self, text: &[u8]) {
        self.name.extend_from_slice(text);
    }

    fn init_doctype(&mut self) {
        self.name.clear();
        (self.public, self.system, self.is_quirky) = (None, None, false);
    }

    fn init_attribute(&mut self) {
        self.end_attribute();
    }

    fn push_attribute_name(&mut self, text: &[u8]) {
        self.attribute.extend_from_slice(text);
    }

    fn push_attribute_value(&mut self, text: &[u8]) {
        self.value.extend_from_slice(text);
    }

    fn set_doctype_public_identifier(&mut self, text: &[u8]) {
        self.public = Some(text.to_vec());
    }

    fn set_doctype_system_identifier(&mut self, text: &[u8]) {
        self.system = Some(text.to_vec());
    }

    fn push_doctype_public_identifier(&mut self, text: &[u8]) {
        self.public.get_or_insert_default().extend_from_slice(text);
    }

    fn push_doctype_system_identifier(&mut self, text: &[u8]) {
        self.system.get_or_insert_default().extend_from_slice(text);
    }

    fn current_is_appropriate_end_tag_token(&mut self) -> bool {
        self.kind == TagKind::EndTag && !self.started.is_empty() && self.started == self.name
    }

    fn adjusted_current_node_present_but_not_in_html_namespace(&mut self) -> bool {
        self.builder.adjusted_current_node_present_but_not_in_html_namespace()
    }
}
