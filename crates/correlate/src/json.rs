//! JSON texts as trees that keep numbers as they are written.

use crate::plan::PathStep;

/// Objects and arrays in one another, at the most; what is deeper is no JSON.
const DEPTH_MAX: usize = 200;

/// A JSON text.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Json {
    /// `null`.
    Null,
    /// `true`, `false`.
    Bool(bool),
    /// As written.
    Number(String),
    /// Without its escapes.
    String(String),
    /// Elements.
    Array(Vec<Json>),
    /// Members in the text's order.
    Object(Vec<(String, Json)>),
}

impl Json {
    /// Reads a whole text; `None` if it is no JSON.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let mut reader = Reader { text, at: 0 };
        reader.blanks();
        let value = reader.value(0)?;
        reader.blanks();
        (reader.at == text.len()).then_some(value)
    }

    /// Whether a text is worth reading: it begins as an object or an array does.
    pub(crate) fn is_likely(text: &str) -> bool {
        let text = text.trim();
        (text.starts_with('{') && text.ends_with('}'))
            || (text.starts_with('[') && text.ends_with(']'))
    }

    /// The text of a leaf.
    pub(crate) fn text(&self) -> Option<&str> {
        match self {
            Self::Bool(true) => Some("true"),
            Self::Bool(false) => Some("false"),
            Self::Number(text) | Self::String(text) => Some(text),
            Self::Null | Self::Array(_) | Self::Object(_) => None,
        }
    }

    /// The member of this name; the last of several, as JavaScript has it.
    pub(crate) fn member(&self, key: &str) -> Option<&Self> {
        match self {
            Self::Object(members) => {
                members.iter().rev().find(|(own, _)| own == key).map(|(_, value)| value)
            }
            _ => None,
        }
    }

    /// The value that a path leads to; `text_of` gives the text of a step's pieces.
    pub(crate) fn at(
        &self,
        path: &[PathStep],
        text_of: &dyn Fn(&[crate::plan::Piece]) -> Option<String>,
    ) -> Option<&Self> {
        let Some((step, rest)) = path.split_first() else { return Some(self) };
        let next = match (step, self) {
            (PathStep::Key(key), _) => self.member(key)?,
            (PathStep::Index(index), Self::Array(elements)) => elements.get(*index)?,
            (PathStep::Where { key, is }, Self::Array(elements)) => {
                let wanted = text_of(is)?;
                elements.iter().find(|element| {
                    element.member(key).and_then(Self::text) == Some(wanted.as_str())
                })?
            }
            _ => return None,
        };
        next.at(rest, text_of)
    }

    /// Calls `see` with the path and the value of each leaf that has a text.
    pub(crate) fn leaves(&self, see: &mut dyn FnMut(&[PathStep], &Self)) {
        self.leaves_below(&mut Vec::new(), see);
    }

    fn leaves_below(&self, path: &mut Vec<PathStep>, see: &mut dyn FnMut(&[PathStep], &Self)) {
        match self {
            Self::Array(elements) => {
                for (index, element) in elements.iter().enumerate() {
                    path.push(PathStep::Index(index));
                    element.leaves_below(path, see);
                    path.pop();
                }
            }
            Self::Object(members) => {
                for (key, value) in members {
                    path.push(PathStep::Key(key.clone()));
                    value.leaves_below(path, see);
                    path.pop();
                }
            }
            Self::Null => {}
            _ => see(path, self),
        }
    }
}

/// The inside of a JSON or JavaScript string without its escapes.
pub(crate) fn unescape(inside: &str) -> String {
    let mut text = String::with_capacity(inside.len());
    let mut rest = inside.chars();
    let mut high: Option<u32> = None;
    while let Some(c) = rest.next() {
        if c != '\\' {
            high = None;
            text.push(c);
            continue;
        }
        let Some(kind) = rest.next() else { break };
        let code = match kind {
            'n' => 10,
            't' => 9,
            'r' => 13,
            'b' => 8,
            'f' => 12,
            'u' | 'x' => {
                let digits = rest.as_str().get(..if kind == 'u' { 4 } else { 2 });
                let Some(code) = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok())
                else {
                    text.push(kind);
                    continue;
                };
                for _ in 0..if kind == 'u' { 4 } else { 2 } {
                    rest.next();
                }
                code
            }
            other => u32::from(other),
        };
        match (high.take(), code) {
            (Some(first), 0xDC00..=0xDFFF) => {
                text.pop();
                let code = 0x1_0000 + ((first - 0xD800) << 10) + (code - 0xDC00);
                text.push(char::from_u32(code).unwrap_or('\u{FFFD}'));
            }
            (_, 0xD800..=0xDBFF) => {
                high = Some(code);
                text.push('\u{FFFD}');
            }
            _ => text.push(char::from_u32(code).unwrap_or('\u{FFFD}')),
        }
    }
    text
}

/// The inside of a JSON string for this text, as `JSON.stringify` has it.
pub(crate) fn escape(text: &str) -> String {
    use std::fmt::Write as _;
    let mut inside = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '"' => inside.push_str("\\\""),
            '\\' => inside.push_str("\\\\"),
            '\n' => inside.push_str("\\n"),
            '\r' => inside.push_str("\\r"),
            '\t' => inside.push_str("\\t"),
            '\u{8}' => inside.push_str("\\b"),
            '\u{C}' => inside.push_str("\\f"),
            c if c < ' ' => {
                let _ = write!(inside, "\\u{:04x}", u32::from(c));
            }
            c => inside.push(c),
        }
    }
    inside
}

/// Where the reading is.
struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
    }

    fn takes(&mut self, byte: u8) -> bool {
        let is_next = self.peek() == Some(byte);
        self.at += usize::from(is_next);
        is_next
    }

    fn word(&mut self, word: &str, value: Json) -> Option<Json> {
        self.text.get(self.at..)?.starts_with(word).then(|| {
            self.at += word.len();
            value
        })
    }

    fn value(&mut self, depth: usize) -> Option<Json> {
        if depth > DEPTH_MAX {
            return None;
        }
        match self.peek()? {
            b'{' => self.object(depth),
            b'[' => self.array(depth),
            b'"' => self.string().map(Json::String),
            b't' => self.word("true", Json::Bool(true)),
            b'f' => self.word("false", Json::Bool(false)),
            b'n' => self.word("null", Json::Null),
            b'-' | b'0'..=b'9' => {
                let begin = self.at;
                while matches!(self.peek(), Some(b'-' | b'+' | b'.' | b'e' | b'E' | b'0'..=b'9')) {
                    self.at += 1;
                }
                Some(Json::Number(self.text[begin..self.at].to_owned()))
            }
            _ => None,
        }
    }

    fn object(&mut self, depth: usize) -> Option<Json> {
        self.at += 1;
        let mut members = Vec::new();
        self.blanks();
        if self.takes(b'}') {
            return Some(Json::Object(members));
        }
        loop {
            self.blanks();
            let key = self.string()?;
            self.blanks();
            if !self.takes(b':') {
                return None;
            }
            self.blanks();
            members.push((key, self.value(depth + 1)?));
            self.blanks();
            if self.takes(b'}') {
                return Some(Json::Object(members));
            }
            if !self.takes(b',') {
                return None;
            }
        }
    }

    fn array(&mut self, depth: usize) -> Option<Json> {
        self.at += 1;
        let mut elements = Vec::new();
        self.blanks();
        if self.takes(b']') {
            return Some(Json::Array(elements));
        }
        loop {
            self.blanks();
            elements.push(self.value(depth + 1)?);
            self.blanks();
            if self.takes(b']') {
                return Some(Json::Array(elements));
            }
            if !self.takes(b',') {
                return None;
            }
        }
    }

    fn string(&mut self) -> Option<String> {
        if !self.takes(b'"') {
            return None;
        }
        let begin = self.at;
        let mut has_escape = false;
        loop {
            let rest = self.text.as_bytes().get(self.at..)?;
            let next = memchr::memchr2(b'"', b'\\', rest)?;
            self.at += next;
            if rest[next] == b'"' {
                break;
            }
            has_escape = true;
            self.at += 2;
        }
        let inside = self.text.get(begin..self.at)?;
        self.at += 1;
        Some(if has_escape { unescape(inside) } else { inside.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stay_as_they_are_written() {
        let json = Json::parse(r#" {"a":[1.50,12345678901234567890],"b":"\u00e9\n\ud83d\ude00"} "#);
        let mut seen = Vec::new();
        json.expect("JSON").leaves(&mut |path, leaf| {
            seen.push(format!("{}={}", path.len(), leaf.text().unwrap_or_default()));
        });
        assert_eq!(seen, ["2=1.50", "2=12345678901234567890", "1=é\n😀"]);
    }

    #[test]
    fn a_broken_text_is_no_json() {
        for text in ["", "{", "[1,]", "{\"a\"}", "\"a", "nul", "{}x", "\"\\"] {
            assert_eq!(Json::parse(text), None, "{text}");
        }
        assert_eq!(Json::parse(&"[".repeat(100_000)), None);
    }
}
