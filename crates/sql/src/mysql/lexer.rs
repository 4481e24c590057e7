//! A statement's text as far as it matters here: where placeholders are, and the tuple of an `INSERT`.

/// A part of a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Token {
    /// A word without quotes, or a number: from, to.
    Word(usize, usize),
    /// `?` at a place.
    Placeholder(usize),
    /// `(` at a place.
    Open(usize),
    /// `)` at a place.
    Close(usize),
    /// `,`.
    Comma,
    /// `;`.
    End,
    /// Anything else: a literal, a name between quotes, an operator.
    Other,
}

struct Tokens<'a> {
    text: &'a [u8],
    at: usize,
    has_plain_backslashes: bool,
}

impl Tokens<'_> {
    /// The place behind a literal or a name that began with this mark.
    fn behind_quote(&self, mark: u8) -> usize {
        let mut at = self.at;
        while let Some(&byte) = self.text.get(at) {
            at += 1;
            if byte == mark {
                if self.text.get(at) == Some(&mark) {
                    at += 1;
                } else {
                    return at;
                }
            } else if byte == b'\\' && mark != b'`' && !self.has_plain_backslashes {
                at += 1;
            }
        }
        self.text.len()
    }

    fn behind_line(&self) -> usize {
        let end = memchr::memchr(b'\n', &self.text[self.at..]);
        end.map_or(self.text.len(), |end| self.at + end + 1)
    }
}

impl Iterator for Tokens<'_> {
    type Item = Token;

    fn next(&mut self) -> Option<Token> {
        loop {
            let start = self.at;
            let byte = *self.text.get(start)?;
            self.at += 1;
            let next = self.text.get(self.at).copied();
            return Some(match byte {
                _ if byte.is_ascii_whitespace() => continue,
                b'\'' | b'"' | b'`' => {
                    self.at = self.behind_quote(byte);
                    Token::Other
                }
                b'#' => {
                    self.at = self.behind_line();
                    continue;
                }
                b'-' if next == Some(b'-')
                    && self.text.get(start + 2).is_none_or(u8::is_ascii_whitespace) =>
                {
                    self.at = self.behind_line();
                    continue;
                }
                // A comment that the server runs is text.
                b'/' if next == Some(b'*')
                    && !matches!(self.text.get(start + 2), Some(b'!' | b'M')) =>
                {
                    let end = memchr::memmem::find(&self.text[start + 2..], b"*/");
                    self.at = end.map_or(self.text.len(), |end| start + 2 + end + 2);
                    continue;
                }
                b'?' => Token::Placeholder(start),
                b'(' => Token::Open(start),
                b')' => Token::Close(start),
                b',' => Token::Comma,
                b';' => Token::End,
                _ if is_part(byte) => {
                    while self.text.get(self.at).is_some_and(|byte| is_part(*byte)) {
                        self.at += 1;
                    }
                    Token::Word(start, self.at)
                }
                _ => Token::Other,
            });
        }
    }
}

fn is_part(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'@' | b'.') || byte >= 0x80
}

fn tokens(sql: &str, has_plain_backslashes: bool) -> Tokens<'_> {
    Tokens { text: sql.as_bytes(), at: 0, has_plain_backslashes }
}

/// The places of the placeholders.
pub(super) fn placeholders(sql: &str, has_plain_backslashes: bool) -> impl Iterator<Item = usize> {
    tokens(sql, has_plain_backslashes).filter_map(|token| match token {
        Token::Placeholder(at) => Some(at),
        _ => None,
    })
}

/// An `INSERT` or `REPLACE` of one tuple, taken apart so that it can have many.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Widened<'a> {
    /// Up to the tuple.
    pub(super) head: &'a str,
    /// The tuple's text before, between and behind its placeholders, brackets and all.
    pub(super) parts: Vec<&'a str>,
    /// Behind the tuple: `ON DUPLICATE KEY UPDATE …`.
    pub(super) tail: &'a str,
}

/// Takes an `INSERT` apart. `None`: it cannot have many tuples, or not without doing something else.
pub(super) fn widened(sql: &str, width: usize, has_plain_backslashes: bool) -> Option<Widened<'_>> {
    let word = |from: usize, to: usize| &sql[from..to];
    let mut all = tokens(sql, has_plain_backslashes);
    match all.next()? {
        Token::Word(from, to)
            if ["insert", "replace"].iter().any(|it| word(from, to).eq_ignore_ascii_case(it)) => {}
        _ => return None,
    }
    let mut depth = 0_usize;
    loop {
        match all.next()? {
            Token::Open(_) => depth += 1,
            Token::Close(_) => depth = depth.checked_sub(1)?,
            Token::Placeholder(_) | Token::End => return None,
            Token::Word(from, to) if depth == 0 => {
                let word = word(from, to);
                if word.eq_ignore_ascii_case("values") || word.eq_ignore_ascii_case("value") {
                    break;
                }
                if word.eq_ignore_ascii_case("select") || word.eq_ignore_ascii_case("set") {
                    return None;
                }
            }
            _ => {}
        }
    }
    let Token::Open(open) = all.next()? else { return None };
    let (mut parts, mut from) = (Vec::with_capacity(width + 1), open);
    depth = 1;
    let close = loop {
        match all.next()? {
            Token::Open(_) => depth += 1,
            Token::Close(at) => {
                depth -= 1;
                if depth == 0 {
                    break at;
                }
            }
            Token::Placeholder(at) => {
                parts.push(&sql[from..at]);
                from = at + 1;
            }
            Token::End => return None,
            _ => {}
        }
    };
    parts.push(&sql[from..=close]);
    let mut tail = &sql[close + 1..];
    let mut is_first = true;
    while let Some(token) = all.next() {
        match token {
            Token::Placeholder(_) => return None,
            // A second tuple, or an alias of the first row, which is fine.
            Token::Comma if is_first => return None,
            Token::End => {
                let end = all.at - 1;
                if all.next().is_some() {
                    return None;
                }
                tail = &sql[close + 1..end];
                break;
            }
            Token::Word(from, to) if word(from, to).eq_ignore_ascii_case("returning") => {
                return None;
            }
            // The id of a row of many is not the id that a statement of one would have had.
            Token::Word(from, to) if word(from, to).eq_ignore_ascii_case("last_insert_id") => {
                return None;
            }
            _ => {}
        }
        is_first = false;
    }
    (parts.len() == width + 1).then_some(Widened { head: &sql[..open], parts, tail })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn placeholders_are_found_outside_of_literals_and_comments() {
        let sql = r#"SELECT ?, '?', "?\"?", `?`, 'it''s ?' /* ? */, ? -- ?
            , ? # ?"#;
        assert_eq!(placeholders(sql, false).count(), 3);
        assert_eq!(placeholders(r"SELECT '\', ?, '?'", true).count(), 1);
        assert_eq!(placeholders("SELECT 1--?", false).count(), 1, "no comment without a blank");
    }

    #[test]
    fn an_insert_of_one_tuple_is_taken_apart() {
        let it = widened(
            "INSERT IGNORE INTO t (a, b) VALUES (?, upper(?)) ON DUPLICATE KEY UPDATE b = VALUES(b);",
            2,
            false,
        );
        assert_eq!(
            it.unwrap(),
            Widened {
                head: "INSERT IGNORE INTO t (a, b) VALUES ",
                parts: vec!["(", ", upper(", "))"],
                tail: " ON DUPLICATE KEY UPDATE b = VALUES(b)",
            }
        );
        assert!(widened("replace t values(?)", 1, false).is_some());
    }

    #[test]
    fn other_statements_stay_as_they_are() {
        for sql in [
            "UPDATE t SET a = ?",
            "INSERT INTO t VALUES (?), (?)",
            "INSERT INTO t VALUES (?), (1)",
            "INSERT INTO t SELECT ?",
            "INSERT INTO t SET a = ?",
            "INSERT INTO t VALUES (?) ON DUPLICATE KEY UPDATE a = ?",
            "INSERT INTO t VALUES (?) RETURNING id",
            "INSERT INTO t VALUES (?); DELETE FROM t",
            "INSERT INTO t VALUES (?",
            "",
        ] {
            assert_eq!(widened(sql, 1, false), None, "{sql}");
        }
        assert_eq!(widened("INSERT INTO t VALUES (?)", 2, false), None);
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(sql in "[a-z?()',;\"`\\\\/*# é-]{0,40}", is_plain: bool) {
            let _ = placeholders(&sql, is_plain).count();
            let _ = widened(&format!("insert values {sql}"), 1, is_plain);
            let _ = widened(&sql, 1, is_plain);
        }
    }
}
