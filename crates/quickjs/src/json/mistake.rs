//! The faults of a JSON text, and Go's messages about them.

/// The fault of a JSON text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{kind} at line {line}, character {column}")]
pub struct JsonError {
    /// The kind of the fault.
    pub kind: JsonErrorKind,
    /// Line, from 1.
    pub line: usize,
    /// Character in the line, from 1.
    pub column: usize,
    /// The byte that was not expected; `None` at the end.
    pub byte: Option<u8>,
    /// The expected token in its place, in Go's words: `looking for beginning of value`.
    pub expected: &'static str,
    /// It is where the first key of an object belongs, which Go's decoder does not tell.
    pub is_first_key: bool,
    /// It is within a string, a number or a word.
    pub is_within: bool,
}

impl JsonError {
    /// A whole value is there, and something behind it.
    pub fn is_behind_the_value(&self) -> bool {
        self.kind == JsonErrorKind::Character && self.expected == TOP_LEVEL
    }

    /// The message of Go's decoder, which reads piece by piece: `JSON.parse` in k6.
    pub fn in_decoder_words(&self) -> String {
        match (self.kind, self.byte) {
            (JsonErrorKind::End, _) if self.is_within => "unexpected EOF".to_owned(),
            (JsonErrorKind::End, _) => "Unexpected end of JSON input (EOF)".to_owned(),
            (JsonErrorKind::Character, Some(byte)) if self.is_first_key => {
                format!("invalid character {:?}", byte as char)
            }
            // The token at that place, if it is one.
            (JsonErrorKind::Character, Some(byte)) if self.expected == TOP_LEVEL => match byte {
                b'{' | b'[' => format!("Unexpected token at the end: {}", byte as char),
                _ => "Unexpected token at the end: <nil>".to_owned(),
            },
            _ => self.in_go_words(),
        }
    }

    /// The message of Go: `invalid character '<' looking for beginning of value`.
    pub fn in_go_words(&self) -> String {
        match (self.kind, self.byte) {
            (JsonErrorKind::Character, Some(byte)) => {
                format!("invalid character {:?} {}", byte as char, self.expected)
            }
            (kind, _) => kind.to_string(),
        }
    }
}

/// The kinds of mistakes in a JSON text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum JsonErrorKind {
    /// The text ends in the middle.
    #[error("unexpected end of JSON input")]
    End,
    /// A character that cannot stand here.
    #[error("invalid character")]
    Character,
    /// Arrays and objects nested deeper than [`DEPTH_MAX`](super::DEPTH_MAX).
    #[error("nested too deeply")]
    Depth,
    /// There is no memory, or what is marked can't be made; the exception waits in the context.
    #[error("out of memory")]
    Memory,
}

/// The same mistake in the middle of a token.
pub(super) fn within(error: JsonError) -> JsonError {
    JsonError { is_within: true, ..error }
}

/// The expectation behind a whole document, in Go's words.
pub(super) const TOP_LEVEL: &str = "after top-level value";

/// The expectation in the literal that begins with this letter, after `index` letters.
pub(super) fn in_literal(first: u8, index: usize) -> &'static str {
    match (first, index) {
        (b't', 1) => "in literal true (expecting 'r')",
        (b't', 2) => "in literal true (expecting 'u')",
        (b't', _) => "in literal true (expecting 'e')",
        (b'f', 1) => "in literal false (expecting 'a')",
        (b'f', 2) => "in literal false (expecting 'l')",
        (b'f', 3) => "in literal false (expecting 's')",
        (b'f', _) => "in literal false (expecting 'e')",
        (_, 1) => "in literal null (expecting 'u')",
        _ => "in literal null (expecting 'l')",
    }
}
