//! Reading JSON, with places for error messages.

use std::borrow::Cow;

/// Nesting that is skipped over.
const DEPTH_MAX: u32 = 10_000;

/// A place in a JSON text, from which values are read.
pub(super) struct Reader<'a> {
    text: &'a str,
    pub(super) at: usize,
}

/// The kind of a value, by its first character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sort {
    Null,
    Bool,
    Number,
    String,
    Array,
    Object,
    /// Nothing that could be one.
    Other,
}

/// The text is no JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NoJson;

impl<'a> Reader<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    fn bytes(&self) -> &'a [u8] {
        self.text.as_bytes()
    }

    pub(super) fn skip_space(&mut self) {
        while matches!(self.bytes().get(self.at), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    /// The kind of the next value.
    pub(super) fn sort(&mut self) -> Sort {
        self.skip_space();
        match self.bytes().get(self.at) {
            Some(b'n') => Sort::Null,
            Some(b't' | b'f') => Sort::Bool,
            Some(b'-' | b'0'..=b'9') => Sort::Number,
            Some(b'"') => Sort::String,
            Some(b'[') => Sort::Array,
            Some(b'{') => Sort::Object,
            _ => Sort::Other,
        }
    }

    /// Takes this character if it is the next.
    pub(super) fn take(&mut self, byte: u8) -> bool {
        self.skip_space();
        let is_next = self.bytes().get(self.at) == Some(&byte);
        self.at += usize::from(is_next);
        is_next
    }

    pub(super) fn expect(&mut self, byte: u8) -> Result<(), NoJson> {
        if self.take(byte) { Ok(()) } else { Err(NoJson) }
    }

    /// Line and column of a place, both from 1; columns count characters.
    pub(super) fn place(&self, at: usize) -> (usize, usize) {
        let before = &self.text[..at];
        let line = before.bytes().filter(|&byte| byte == b'\n').count() + 1;
        let begin = before.rfind('\n').map_or(0, |at| at + 1);
        (line, before[begin..].chars().count() + 1)
    }

    /// The text between two places.
    pub(super) fn between(&self, from: usize, to: usize) -> &'a str {
        &self.text[from..to]
    }

    fn word(&mut self, word: &str) -> Result<(), NoJson> {
        if self.text[self.at..].starts_with(word) {
            self.at += word.len();
            return Ok(());
        }
        Err(NoJson)
    }

    pub(super) fn null(&mut self) -> Result<(), NoJson> {
        self.word("null")
    }

    pub(super) fn bool(&mut self) -> Result<bool, NoJson> {
        if self.word("true").is_ok() {
            return Ok(true);
        }
        self.word("false").map(|()| false)
    }

    /// A number as it is written.
    pub(super) fn number(&mut self) -> Result<&'a str, NoJson> {
        let from = self.at;
        while matches!(
            self.bytes().get(self.at),
            Some(b'-' | b'+' | b'.' | b'e' | b'E' | b'0'..=b'9')
        ) {
            self.at += 1;
        }
        if from == self.at { Err(NoJson) } else { Ok(&self.text[from..self.at]) }
    }

    /// A string without its quotes and escapes. Halves of surrogate pairs become U+FFFD.
    pub(super) fn string(&mut self) -> Result<Cow<'a, str>, NoJson> {
        self.expect(b'"')?;
        let from = self.at;
        loop {
            match self.bytes().get(self.at).ok_or(NoJson)? {
                b'"' => {
                    self.at += 1;
                    return Ok(Cow::Borrowed(&self.text[from..self.at - 1]));
                }
                b'\\' => break,
                _ => self.at += 1,
            }
        }
        let mut out = self.text[from..self.at].to_owned();
        loop {
            let rest = &self.text[self.at..];
            let size = rest.find(['"', '\\']).ok_or(NoJson)?;
            out.push_str(&rest[..size]);
            self.at += size + 1;
            if rest.as_bytes()[size] == b'"' {
                return Ok(Cow::Owned(out));
            }
            let escape = *self.bytes().get(self.at).ok_or(NoJson)?;
            self.at += 1;
            out.push(match escape {
                b'b' => '\u{8}',
                b'f' => '\u{c}',
                b'n' => '\n',
                b'r' => '\r',
                b't' => '\t',
                b'u' => self.escaped()?,
                b'"' | b'\\' | b'/' => char::from(escape),
                _ => return Err(NoJson),
            });
        }
    }

    fn escaped(&mut self) -> Result<char, NoJson> {
        let first = self.four_digits()?;
        if (0xd800..0xdc00).contains(&first) && self.text[self.at..].starts_with("\\u") {
            let before = self.at;
            self.at += 2;
            let second = self.four_digits()?;
            if (0xdc00..0xe000).contains(&second) {
                let code = 0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00);
                return char::from_u32(code).ok_or(NoJson);
            }
            self.at = before;
        }
        Ok(char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER))
    }

    fn four_digits(&mut self) -> Result<u32, NoJson> {
        let digits = self.text.get(self.at..self.at + 4).ok_or(NoJson)?;
        self.at += 4;
        u32::from_str_radix(digits, 16).map_err(|_| NoJson)
    }

    /// Reads over a value, whatever it is.
    pub(super) fn skip(&mut self) -> Result<(), NoJson> {
        let mut depth = 0;
        loop {
            match self.sort() {
                Sort::Null => self.null()?,
                Sort::Bool => drop(self.bool()?),
                Sort::Number => drop(self.number()?),
                Sort::String => drop(self.string()?),
                Sort::Array | Sort::Object => {
                    self.at += 1;
                    depth += 1;
                    if depth > DEPTH_MAX {
                        return Err(NoJson);
                    }
                    if !self.take(b']') && !self.take(b'}') {
                        if self.take(b'"') {
                            self.at -= 1;
                        }
                        self.skip_key()?;
                        continue;
                    }
                    depth -= 1;
                }
                Sort::Other => return Err(NoJson),
            }
            // Values end here, perhaps several at once.
            loop {
                if depth == 0 {
                    return Ok(());
                }
                if self.take(b',') {
                    self.skip_key()?;
                    break;
                }
                if !self.take(b']') && !self.take(b'}') {
                    return Err(NoJson);
                }
                depth -= 1;
            }
        }
    }

    /// Reads over a key, if there is one.
    fn skip_key(&mut self) -> Result<(), NoJson> {
        if self.sort() == Sort::String {
            let before = self.at;
            self.string()?;
            if !self.take(b':') {
                self.at = before;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_lose_their_escapes() {
        let read = |text: &str| Reader::new(text).string().map(Cow::into_owned);
        assert_eq!(read(r#""plain""#).as_deref(), Ok("plain"));
        assert_eq!(read(r#""a\n\"\u00e4\ud83d\ude00\\""#).as_deref(), Ok("a\n\"ä😀\\"));
        assert_eq!(read(r#""\ud83dx""#).as_deref(), Ok("\u{fffd}x"));
        for broken in [r#"""#, r#""\""#, r#""\u12""#, r#""\q""#, "x"] {
            assert_eq!(read(broken), Err(NoJson), "{broken}");
        }
    }

    #[test]
    fn any_value_is_skipped() {
        for text in
            ["1", "\"a\"", "[]", "{}", "[1,[2,{\"a\":{}}],\"b\"]", "{\"a\":[null],\"b\":true}"]
        {
            let more = format!("{text},9");
            let mut reader = Reader::new(&more);
            assert_eq!(reader.skip(), Ok(()), "{text}");
            assert_eq!(reader.at, text.len(), "{text}");
        }
        for broken in ["", "[", "{\"a\"", "[1 2]", "nul"] {
            assert_eq!(Reader::new(broken).skip(), Err(NoJson), "{broken}");
        }
        assert_eq!(Reader::new(&"[".repeat(20_000)).skip(), Err(NoJson));
    }

    #[test]
    fn places_are_counted_in_characters_from_one() {
        let reader = Reader::new("{\n  \"ä\": 1}");
        assert_eq!((reader.place(0), reader.place(4)), ((1, 1), (2, 3)));
        assert_eq!(reader.place(8), (2, 6));
    }
}
