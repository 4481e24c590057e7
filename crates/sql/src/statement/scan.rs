//! A statement as tokens, by the rules of its database.

use crate::config::Driver;

/// The kinds of tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Blanks and ends of lines.
    Space,
    /// A comment of any form.
    Comment,
    /// A keyword or a bare name.
    Word,
    /// A name in quotes.
    Quoted,
    /// A variable, or a parameter in the eyes of some: `@name` where the database does not bind it.
    Variable,
    /// A string of any form, with the letters before it.
    Text,
    /// A number of any form.
    Number,
    /// A placeholder: `?`, `?1`, `$1`, `:name`, and SQLite's `@name`, `$name`.
    Place,
    /// One character, `::` or `:=`.
    Symbol,
}

/// A token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Token<'a> {
    /// The kind.
    pub kind: Kind,
    /// The whole of it.
    pub text: &'a str,
    /// Where it begins, in bytes.
    pub from: usize,
    /// It has no end: the statement is over in the middle of it.
    pub is_open: bool,
}

impl Token<'_> {
    /// Whether it says nothing to the database.
    pub fn is_blank(&self) -> bool {
        matches!(self.kind, Kind::Space | Kind::Comment)
    }

    /// Whether it is this keyword.
    pub fn is_word(&self, word: &str) -> bool {
        self.kind == Kind::Word && self.text.eq_ignore_ascii_case(word)
    }

    /// Whether it is this symbol.
    pub fn is_symbol(&self, symbol: &str) -> bool {
        self.kind == Kind::Symbol && self.text == symbol
    }
}

/// Reads tokens from left to right. Together they are the whole statement.
#[derive(Debug, Clone)]
pub struct Scanner<'a> {
    sql: &'a str,
    at: usize,
    driver: Driver,
    /// The last token was a name, a value or a closing bracket: a point after it begins no number.
    is_operand: bool,
}

impl<'a> Scanner<'a> {
    /// The tokens of a text.
    pub fn new(sql: &'a str, driver: Driver) -> Self {
        Self { sql, at: 0, driver, is_operand: false }
    }

    /// The next token that is neither space nor comment, without going on to it.
    pub fn peek(&self) -> Option<Token<'a>> {
        self.clone().find(|token| !token.is_blank())
    }

    fn byte(&self, at: usize) -> u8 {
        self.sql.as_bytes().get(at).copied().unwrap_or(0)
    }

    /// The end of the characters from `at` on that `is_part` knows.
    fn run(&self, at: usize, is_part: impl Fn(u8) -> bool) -> usize {
        let rest = &self.sql.as_bytes()[at..];
        at + rest.iter().position(|byte| !is_part(*byte)).unwrap_or(rest.len())
    }

    /// The end of a text whose opening quote lies at `at`, and whether it lacks its closing one. Two quotes are one within.
    fn quoted(&self, at: usize, close: u8, has_backslashes: bool) -> (usize, bool) {
        let bytes = self.sql.as_bytes();
        let mut next = at + 1;
        loop {
            let found = if has_backslashes {
                memchr::memchr2(close, b'\\', &bytes[next.min(bytes.len())..])
            } else {
                memchr::memchr(close, &bytes[next.min(bytes.len())..])
            };
            let Some(found) = found else { return (bytes.len(), true) };
            next += found;
            let is_escape = has_backslashes && bytes[next] == b'\\';
            if !is_escape && (self.byte(next + 1) != close || close == b']') {
                return (next + 1, false);
            }
            next += 2;
        }
    }

    /// The end of a comment in `/* */`; PostgreSQL nests them.
    fn block(&self, at: usize) -> (usize, bool) {
        let bytes = self.sql.as_bytes();
        let (mut depth, mut next) = (1_usize, at + 2);
        while next + 1 < bytes.len() {
            match (bytes[next], bytes[next + 1]) {
                (b'*', b'/') => {
                    depth -= 1;
                    next += 2;
                    if depth == 0 {
                        return (next, false);
                    }
                }
                (b'/', b'*') if self.driver == Driver::Postgres => {
                    depth += 1;
                    next += 2;
                }
                _ => next += 1,
            }
        }
        (bytes.len(), true)
    }

    /// The end of `$tag$ … $tag$` of PostgreSQL, if one begins here.
    fn dollars(&self, at: usize) -> Option<(usize, bool)> {
        let end = self.run(at + 1, is_name_part_without_dollar);
        if self.byte(end) != b'$' || self.byte(at + 1).is_ascii_digit() {
            return None;
        }
        let tag = &self.sql.as_bytes()[at..=end];
        let found = memchr::memmem::find(&self.sql.as_bytes()[end + 1..], tag);
        Some(found.map_or((self.sql.len(), true), |found| (end + 1 + found + tag.len(), false)))
    }

    fn number(&self, at: usize) -> usize {
        let mut end = at;
        loop {
            end = self.run(end, |byte| is_name_part(byte) || byte == b'.');
            let is_hex = self.byte(at) == b'0' && self.byte(at + 1).eq_ignore_ascii_case(&b'x');
            let is_exponent = !is_hex
                && self.byte(end.saturating_sub(1)).eq_ignore_ascii_case(&b'e')
                && matches!(self.byte(end), b'+' | b'-')
                && self.byte(end + 1).is_ascii_digit();
            if !is_exponent {
                return end;
            }
            end += 1;
        }
    }

    /// A word, or the string whose letters it is: `x'1f'`, `E'\n'`, `U&'…'`.
    fn word(&self, at: usize) -> (Kind, usize, bool) {
        let end = self.run(at, is_name_part);
        let quote = match self.byte(end) {
            b'\'' => Some(end),
            b'&' if self.driver == Driver::Postgres && self.byte(end + 1) == b'\'' => Some(end + 1),
            _ => None,
        };
        let Some(quote) = quote.filter(|_| end - at == 1) else { return (Kind::Word, end, false) };
        let letter = self.byte(at).to_ascii_lowercase();
        if !matches!(letter, b'x' | b'b' | b'n' | b'e' | b'u') {
            return (Kind::Word, end, false);
        }
        let has_backslashes = match self.driver {
            Driver::MySql => true,
            Driver::Postgres => letter == b'e',
            Driver::Sqlite => false,
        };
        let (end, is_open) = self.quoted(quote, b'\'', has_backslashes);
        (Kind::Text, end, is_open)
    }

    fn kind_and_end(&self) -> (Kind, usize, bool) {
        let (at, driver) = (self.at, self.driver);
        let (first, second) = (self.byte(at), self.byte(at + 1));
        let closed = |kind, end| (kind, end, false);
        let in_quotes = |kind, close, has_backslashes| {
            let (end, is_open) = self.quoted(at, close, has_backslashes);
            (kind, end, is_open)
        };
        let is_name = is_name_start(second);
        match first {
            byte if byte.is_ascii_whitespace() || byte == 0x0b => {
                closed(Kind::Space, self.run(at, |byte| byte.is_ascii_whitespace() || byte == 0x0b))
            }
            b'-' if second == b'-' && (driver != Driver::MySql || self.byte(at + 2) <= b' ') => {
                closed(Kind::Comment, self.run(at, |byte| byte != b'\n'))
            }
            b'#' if driver == Driver::MySql => {
                closed(Kind::Comment, self.run(at, |byte| byte != b'\n'))
            }
            b'/' if second == b'*' => {
                let (end, is_open) = self.block(at);
                (Kind::Comment, end, is_open)
            }
            b'\'' => in_quotes(Kind::Text, b'\'', driver == Driver::MySql),
            b'"' if driver == Driver::MySql => in_quotes(Kind::Text, b'"', true),
            b'"' => in_quotes(Kind::Quoted, b'"', false),
            b'`' if driver != Driver::Postgres => in_quotes(Kind::Quoted, b'`', false),
            b'[' if driver == Driver::Sqlite => in_quotes(Kind::Quoted, b']', false),
            b'$' if driver == Driver::Postgres => {
                if second.is_ascii_digit() {
                    return closed(Kind::Place, self.run(at + 1, |byte| byte.is_ascii_digit()));
                }
                self.dollars(at).map_or_else(
                    || closed(Kind::Symbol, at + 1),
                    |(end, is_open)| (Kind::Text, end, is_open),
                )
            }
            b'$' | b'@' if driver == Driver::Sqlite && (is_name || second.is_ascii_digit()) => {
                closed(Kind::Place, self.run(at + 1, is_name_part))
            }
            b'@' if driver != Driver::Sqlite && (is_name || second == b'@') => {
                let from = if second == b'@' { at + 2 } else { at + 1 };
                closed(Kind::Variable, self.run(from, is_name_part))
            }
            b':' if second == b':' || second == b'=' => closed(Kind::Symbol, at + 2),
            b':' if is_name => closed(Kind::Place, self.run(at + 1, is_name_part)),
            b'?' if driver == Driver::Sqlite => {
                closed(Kind::Place, self.run(at + 1, |byte| byte.is_ascii_digit()))
            }
            b'?' if driver == Driver::MySql => closed(Kind::Place, at + 1),
            b'.' if second.is_ascii_digit() && !self.is_operand => {
                closed(Kind::Number, self.number(at))
            }
            byte if byte.is_ascii_digit() => closed(Kind::Number, self.number(at)),
            byte if is_name_start(byte) || (byte == b'$' && driver == Driver::MySql) => {
                self.word(at)
            }
            // Names hold all that is not ASCII: a symbol is one byte.
            _ => closed(Kind::Symbol, at + 1),
        }
    }
}

fn is_name_start(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_' || byte >= 0x80
}

fn is_name_part_without_dollar(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

fn is_name_part(byte: u8) -> bool {
    is_name_part_without_dollar(byte) || byte == b'$'
}

impl<'a> Iterator for Scanner<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        if self.at >= self.sql.len() {
            return None;
        }
        let (kind, mut end, is_open) = self.kind_and_end();
        end = end.min(self.sql.len());
        // A backslash before the last character may have led beyond its first byte.
        while !self.sql.is_char_boundary(end) {
            end += 1;
        }
        let (from, text) = (self.at, &self.sql[self.at..end]);
        self.at = end;
        let token = Token { kind, text, from, is_open };
        if !token.is_blank() {
            self.is_operand = match kind {
                Kind::Symbol => matches!(text, ")" | "]"),
                _ => true,
            };
        }
        Some(token)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn kinds(sql: &str, driver: Driver) -> Vec<(Kind, &str)> {
        let tokens = Scanner::new(sql, driver).filter(|token| token.kind != Kind::Space);
        tokens.map(|token| (token.kind, token.text)).collect()
    }

    #[test]
    fn each_database_has_its_own_strings_and_comments() {
        use Kind::{Comment, Place, Quoted, Symbol, Text, Variable, Word};
        let sql = r"'a\' q' # c";
        assert_eq!(kinds(sql, Driver::MySql), [(Text, r"'a\' q'"), (Comment, "# c")]);
        assert_eq!(kinds(sql, Driver::Postgres)[..2], [(Text, r"'a\'"), (Word, "q")]);
        let dollars = "$a$ it's $b$ $a$ $1 x$";
        let expected = [(Text, "$a$ it's $b$ $a$"), (Place, "$1"), (Word, "x$")];
        assert_eq!(kinds(dollars, Driver::Postgres), expected);
        assert_eq!(kinds("/* a /* b */ c */", Driver::Postgres).len(), 1);
        assert_eq!(kinds("/* a /* b */ c */", Driver::Sqlite)[1], (Word, "c"));
        let quoted = r#""a" `b` [c]"#;
        assert!(kinds(quoted, Driver::Sqlite).iter().all(|(kind, _)| *kind == Quoted));
        assert_eq!(kinds(quoted, Driver::MySql)[..2], [(Text, r#""a""#), (Quoted, "`b`")]);
        assert_eq!(
            kinds("a::int := :b @c", Driver::Postgres),
            [
                (Word, "a"),
                (Symbol, "::"),
                (Word, "int"),
                (Symbol, ":="),
                (Place, ":b"),
                (Variable, "@c")
            ]
        );
        assert_eq!(kinds("5--3", Driver::MySql).len(), 4);
        assert_eq!(kinds("5--3", Driver::Sqlite).len(), 2);
    }

    proptest! {
        #[test]
        fn tokens_together_are_the_statement(sql in "[a-z0-9 '\"`$\\[\\]\\\\:@?#*/.é\n-]{0,60}") {
            for driver in Driver::ALL {
                let back: String = Scanner::new(&sql, driver).map(|token| token.text).collect();
                prop_assert_eq!(&back, &sql);
            }
        }
    }
}
