//! From text to selector. The grammar is cascadia's, with its liberties.

use regex_lite::Regex;

use super::{AttributeTest, Combinator, Complex, Nth, Operation, Selector, Simple};
use crate::name::NameTest;

/// How long a selector may be, in bytes: nobody writes longer ones, and each piece costs memory.
const LENGTH_MAX: usize = 64 * 1024;
/// Compounds in one selector: they are matched by recursion.
const COMPOUNDS_MAX: usize = 128;
/// Selectors in selectors: `:not(:has(…))`.
const DEPTH_MAX: usize = 16;

/// `None` if it is no selector.
pub(super) fn read(text: &str) -> Option<Selector> {
    if text.len() > LENGTH_MAX {
        return None;
    }
    let mut reader = Reader { text, at: 0, depth: 0 };
    let selector = reader.group()?;
    (reader.at == text.len()).then_some(selector)
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
}

fn is_name_start(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_' || byte > 127
}

fn is_name(byte: u8) -> bool {
    is_name_start(byte) || byte == b'-' || byte.is_ascii_digit()
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | b'\x0c')
}

impl<'a> Reader<'a> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    /// Goes past a byte, if it stands here.
    fn skip(&mut self, byte: u8) -> Option<()> {
        (self.peek() == Some(byte)).then(|| self.at += 1)
    }

    /// Goes past white space and comments.
    fn skip_space(&mut self) -> bool {
        let start = self.at;
        while let Some(byte) = self.peek() {
            if is_space(byte) {
                self.at += 1;
            } else if self.rest().starts_with("/*")
                && let Some(end) = self.rest()[2..].find("*/")
            {
                self.at += end + 4;
            } else {
                break;
            }
        }
        self.at > start
    }

    fn open(&mut self) -> Option<()> {
        self.skip(b'(')?;
        self.skip_space();
        Some(())
    }

    fn close(&mut self) -> Option<()> {
        self.skip_space();
        self.skip(b')')
    }

    /// What a backslash stands for.
    fn escape(&mut self) -> Option<char> {
        self.skip(b'\\')?;
        let first = self.rest().chars().next()?;
        if matches!(first, '\r' | '\n' | '\u{c}') {
            return None;
        }
        if !first.is_ascii_hexdigit() {
            self.at += first.len_utf8();
            return Some(first);
        }
        let digits = self.rest().bytes().take(6).take_while(u8::is_ascii_hexdigit).count();
        let number = u32::from_str_radix(&self.rest()[..digits], 16).ok()?;
        self.at += digits;
        if self.rest().starts_with("\r\n") {
            self.at += 2;
        } else if self.peek().is_some_and(is_space) {
            self.at += 1;
        }
        Some(char::from_u32(number).unwrap_or(char::REPLACEMENT_CHARACTER))
    }

    fn name(&mut self) -> Option<String> {
        let mut name = String::new();
        while let Some(byte) = self.peek() {
            if byte == b'\\' {
                name.push(self.escape()?);
            } else if is_name(byte) {
                let length = self.rest().bytes().take_while(|&byte| is_name(byte)).count();
                name.push_str(&self.rest()[..length]);
                self.at += length;
            } else {
                break;
            }
        }
        (!name.is_empty()).then_some(name)
    }

    fn identifier(&mut self) -> Option<String> {
        let start = self.at;
        while self.skip(b'-').is_some() {}
        let dashes = &self.text[start..self.at];
        let next = self.peek()?;
        if !(is_name_start(next) || next == b'\\') {
            return None;
        }
        let name = self.name()?;
        Some(format!("{dashes}{name}"))
    }

    fn string(&mut self) -> Option<String> {
        let quote = self.peek()?;
        self.at += 1;
        let mut text = String::new();
        loop {
            match self.peek()? {
                byte if byte == quote => {
                    self.at += 1;
                    return Some(text);
                }
                b'\\' => {
                    let after = &self.rest()[1..];
                    if after.starts_with("\r\n") {
                        self.at += 3;
                    } else if after.starts_with(['\r', '\n', '\u{c}']) {
                        self.at += 2;
                    } else {
                        text.push(self.escape()?);
                    }
                }
                b'\r' | b'\n' | b'\x0c' => return None,
                _ => {
                    let next = self.rest().chars().next()?;
                    text.push(next);
                    self.at += next.len_utf8();
                }
            }
        }
    }

    fn string_or_identifier(&mut self) -> Option<String> {
        match self.peek()? {
            b'"' | b'\'' => self.string(),
            _ => self.identifier(),
        }
    }

    /// Up to the bracket that closes none of its own.
    fn pattern(&mut self) -> Option<Box<Regex>> {
        let mut open = 0;
        let end = self.rest().bytes().position(|byte| {
            match byte {
                b'(' | b'[' => open += 1,
                b')' | b']' => open -= 1,
                _ => {}
            }
            open < 0
        })?;
        let pattern = Regex::new(&self.rest()[..end]).ok()?;
        self.at += end;
        Some(Box::new(pattern))
    }

    fn group(&mut self) -> Option<Selector> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return None;
        }
        let mut group = vec![self.complex()?];
        while self.skip(b',').is_some() {
            group.push(self.complex()?);
        }
        self.depth -= 1;
        Some(Selector { group })
    }

    fn complex(&mut self) -> Option<Complex> {
        self.skip_space();
        let mut compounds = vec![(Combinator::None, self.compound()?)];
        loop {
            let mut combinator = Combinator::None;
            if self.skip_space() {
                combinator = Combinator::Descendant;
            }
            let explicit = match self.peek() {
                None | Some(b',' | b')') => break,
                Some(b'+') => Some(Combinator::Next),
                Some(b'>') => Some(Combinator::Child),
                Some(b'~') => Some(Combinator::After),
                _ => None,
            };
            if let Some(explicit) = explicit {
                combinator = explicit;
                self.at += 1;
                self.skip_space();
            }
            if combinator == Combinator::None {
                break;
            }
            compounds.push((combinator, self.compound()?));
            if compounds.len() > COMPOUNDS_MAX {
                return None;
            }
        }
        Some(Complex { compounds })
    }

    fn compound(&mut self) -> Option<Vec<Simple>> {
        let mut tests = Vec::new();
        match self.peek()? {
            b'*' => {
                self.at += 1;
                if self.rest().len() > 2 && self.rest().starts_with("|*") {
                    self.at += 2;
                }
            }
            b'#' | b'.' | b'[' | b':' => {}
            _ => {
                let tag = self.identifier()?.to_ascii_lowercase();
                tests.push(Simple::Tag(NameTest::new(&tag)));
            }
        }
        while let Some(byte) = self.peek() {
            match byte {
                b'#' => {
                    self.at += 1;
                    tests.push(Simple::Id(self.name()?));
                }
                b'.' => {
                    self.at += 1;
                    tests.push(Simple::Class(self.identifier()?));
                }
                b'[' => tests.push(Simple::Attribute(self.attribute()?)),
                b':' => tests.push(self.pseudo_class()?),
                _ => break,
            }
        }
        // `*` alone means elements.
        if tests.is_empty() {
            tests.push(Simple::Not(Selector { group: Vec::new() }));
        }
        Some(tests)
    }

    fn attribute(&mut self) -> Option<AttributeTest> {
        self.skip(b'[')?;
        self.skip_space();
        let name = NameTest::new(&self.identifier()?.to_ascii_lowercase());
        self.skip_space();
        if self.skip(b']').is_some() {
            let operation = Operation::Exists;
            return Some(AttributeTest {
                name,
                operation,
                value: String::new(),
                ignore_case: false,
            });
        }
        let sign = self.peek()?;
        self.at += 1;
        if sign != b'=' {
            self.skip(b'=')?;
        }
        self.skip_space();
        let (operation, value) = if sign == b'#' {
            (Operation::Pattern(self.pattern()?), String::new())
        } else {
            let value = self.string_or_identifier()?;
            let operation = match sign {
                b'=' => Operation::Is,
                b'!' => Operation::IsNot,
                b'~' => Operation::Word,
                b'|' => Operation::Dash,
                b'^' => Operation::Begins,
                b'$' => Operation::Ends,
                b'*' => Operation::Contains,
                _ => return None,
            };
            (operation, value)
        };
        self.skip_space();
        let ignore_case = self.skip(b'i').or_else(|| self.skip(b'I')).is_some();
        self.skip_space();
        self.skip(b']')?;
        Some(AttributeTest { name, operation, value, ignore_case })
    }

    fn pseudo_class(&mut self) -> Option<Simple> {
        self.skip(b':')?;
        let name = self.identifier()?.to_ascii_lowercase();
        let nth = |b, last, of_type| Simple::Nth(Nth { a: 0, b, last, of_type });
        Some(match name.as_str() {
            "not" => Simple::Not(self.in_brackets(Self::group)?),
            "has" => Simple::Has(self.in_brackets(Self::group)?),
            "haschild" => Simple::HasChild(self.in_brackets(Self::group)?),
            "contains" | "containsown" => {
                let text = self.in_brackets(Self::string_or_identifier)?.to_lowercase();
                Simple::Contains { text, own: name == "containsown" }
            }
            "matches" | "matchesown" => {
                let pattern = self.in_brackets(Self::pattern)?;
                Simple::Matches { pattern, own: name == "matchesown" }
            }
            "nth-child" | "nth-last-child" | "nth-of-type" | "nth-last-of-type" => {
                let (a, b) = self.in_brackets(Self::formula)?;
                let (last, of_type) = (name.starts_with("nth-last"), name.ends_with("of-type"));
                Simple::Nth(Nth { a, b, last, of_type })
            }
            "first-child" => nth(1, false, false),
            "last-child" => nth(1, true, false),
            "first-of-type" => nth(1, false, true),
            "last-of-type" => nth(1, true, true),
            "only-child" => Simple::Only { of_type: false },
            "only-of-type" => Simple::Only { of_type: true },
            "input" => Simple::Input,
            "empty" => Simple::Empty,
            "root" => Simple::Root,
            "link" => Simple::Link,
            "lang" => Simple::Lang(self.in_brackets(Self::identifier)?.to_lowercase()),
            "enabled" => Simple::Enabled,
            "disabled" => Simple::Disabled,
            "checked" => Simple::Checked,
            "visited" | "hover" | "active" | "focus" | "target" => Simple::Never,
            _ => return None,
        })
    }

    fn in_brackets<T>(&mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        self.open()?;
        let value = read(self)?;
        self.close()?;
        Some(value)
    }

    fn integer(&mut self) -> Option<i64> {
        let digits = self.rest().bytes().take_while(u8::is_ascii_digit).count();
        let number = self.rest()[..digits].parse().ok()?;
        self.at += digits;
        Some(number)
    }

    /// `2n+1`, `odd`, `5`.
    fn formula(&mut self) -> Option<(i64, i64)> {
        if matches!(self.peek()?, b'o' | b'O' | b'e' | b'E') {
            return match self.name()?.to_ascii_lowercase().as_str() {
                "odd" => Some((2, 1)),
                "even" => Some((2, 0)),
                _ => None,
            };
        }
        let sign = if self.skip(b'-').is_some() {
            -1
        } else {
            let _ = self.skip(b'+');
            1
        };
        let a = match self.peek()? {
            b'0'..=b'9' => sign * self.integer()?,
            _ => sign,
        };
        let digits_came = self.text.as_bytes()[self.at - 1].is_ascii_digit();
        if self.skip(b'n').or_else(|| self.skip(b'N')).is_none() {
            return (digits_came && self.peek().is_some()).then_some((0, a));
        }
        self.skip_space();
        let sign = match self.peek()? {
            b'+' => 1,
            b'-' => -1,
            _ => return Some((a, 0)),
        };
        self.at += 1;
        self.skip_space();
        Some((a, sign * self.integer()?))
    }
}
