//! The pieces of SQL text: code, quoted text, comments. As much of each database's grammar as is needed to tell them apart.

use std::ops::Range;

use brunt_sql::Driver;

/// The kind of a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Words, signs, numbers, white space.
    Code,
    /// A text, a name in quotes, a dollar-quoted text.
    Quoted,
    /// A comment.
    Comment,
}

/// Something that begins and never ends, and where it begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unterminated {
    pub(crate) what: &'static str,
    pub(crate) at: usize,
}

/// All pieces of a text, one behind the other.
///
/// # Errors
/// A quote or a comment is left open.
pub(crate) fn pieces(
    text: &str,
    driver: Driver,
) -> Result<Vec<(Kind, Range<usize>)>, Unterminated> {
    let bytes = text.as_bytes();
    let mut all = Vec::new();
    let (mut from, mut at) = (0, 0);
    while at < bytes.len() {
        let Some((kind, what, end)) = other_than_code(text, at, driver) else {
            at += 1;
            continue;
        };
        let end = end.ok_or(Unterminated { what, at })?;
        if from < at {
            all.push((Kind::Code, from..at));
        }
        all.push((kind, at..end));
        (from, at) = (end, end);
    }
    if from < bytes.len() {
        all.push((Kind::Code, from..bytes.len()));
    }
    Ok(all)
}

/// The piece that begins here, unless it is code: its kind, its name, and its end if there is one.
fn other_than_code(
    text: &str,
    at: usize,
    driver: Driver,
) -> Option<(Kind, &'static str, Option<usize>)> {
    let bytes = text.as_bytes();
    let rest = &bytes[at..];
    let quoted = |end, what, escapes| Some((Kind::Quoted, what, quote(bytes, at, end, escapes)));
    match rest[0] {
        b'\'' => {
            let escapes = match driver {
                Driver::MySql => true,
                Driver::Postgres => is_escape_text(bytes, at),
                Driver::Sqlite => false,
            };
            quoted(b'\'', "a text in single quotes", escapes)
        }
        b'"' => quoted(b'"', "double quotes", driver == Driver::MySql),
        b'`' if driver != Driver::Postgres => quoted(b'`', "a name in backticks", false),
        b'[' if driver == Driver::Sqlite => {
            let end = memchr_at(bytes, at + 1, b']');
            Some((Kind::Quoted, "a name in brackets", end))
        }
        b'$' if driver == Driver::Postgres => {
            let tag = dollar_tag(bytes, at)?;
            let behind = at + tag.len();
            let end = text[behind..].find(tag).map(|found| behind + found + tag.len());
            Some((Kind::Quoted, "a dollar-quoted text", end))
        }
        b'-' if rest.starts_with(b"--") => {
            // MySQL wants a blank behind the dashes: 5--1 is 6.
            let is_comment = driver != Driver::MySql
                || rest
                    .get(2)
                    .is_none_or(|next| next.is_ascii_whitespace() || next.is_ascii_control());
            is_comment.then(|| (Kind::Comment, "a comment", Some(line_end(bytes, at))))
        }
        b'#' if driver == Driver::MySql => {
            Some((Kind::Comment, "a comment", Some(line_end(bytes, at))))
        }
        b'/' if rest.starts_with(b"/*") => {
            let end = block_end(bytes, at, driver == Driver::Postgres);
            // SQLite's comments may end with the text.
            let end = end.or((driver == Driver::Sqlite).then_some(bytes.len()));
            Some((Kind::Comment, "a comment", end))
        }
        _ => None,
    }
}

fn memchr_at(bytes: &[u8], from: usize, wanted: u8) -> Option<usize> {
    bytes[from..].iter().position(|byte| *byte == wanted).map(|found| from + found + 1)
}

/// The end of a quoted text; a quote that is doubled goes on.
fn quote(bytes: &[u8], from: usize, sign: u8, escapes: bool) -> Option<usize> {
    let mut at = from + 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' if escapes => at += 2,
            byte if byte == sign && bytes.get(at + 1) == Some(&sign) => at += 2,
            byte if byte == sign => return Some(at + 1),
            _ => at += 1,
        }
    }
    None
}

/// Whether an `E` stands before the quote as a word of its own.
fn is_escape_text(bytes: &[u8], quote: usize) -> bool {
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || *byte >= 0x80;
    let before = |back: usize| quote.checked_sub(back).and_then(|at| bytes.get(at));
    before(1).is_some_and(|byte| byte.eq_ignore_ascii_case(&b'e'))
        && !before(2).is_some_and(is_word)
}

/// `$$` or `$tag$`, which is no `$1` and no part of a word.
fn dollar_tag(bytes: &[u8], at: usize) -> Option<&str> {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80;
    if at.checked_sub(1).is_some_and(|before| is_word(bytes[before]) || bytes[before] == b'$') {
        return None;
    }
    let length = bytes[at + 1..].iter().position(|byte| !is_word(*byte))?;
    let end = at + 1 + length;
    let is_tag = bytes[end] == b'$' && !bytes[at + 1].is_ascii_digit();
    is_tag.then(|| std::str::from_utf8(&bytes[at..=end]).ok()).flatten()
}

fn line_end(bytes: &[u8], at: usize) -> usize {
    memchr_at(bytes, at, b'\n').unwrap_or(bytes.len())
}

fn block_end(bytes: &[u8], from: usize, nests: bool) -> Option<usize> {
    let (mut at, mut depth) = (from + 2, 1);
    while at + 1 < bytes.len() {
        match &bytes[at..at + 2] {
            b"*/" => {
                depth -= 1;
                at += 2;
                if depth == 0 {
                    return Some(at);
                }
            }
            b"/*" if nests => {
                depth += 1;
                at += 2;
            }
            _ => at += 1,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str, driver: Driver) -> String {
        let pieces = pieces(text, driver).unwrap().into_iter();
        let letter = |kind| match kind {
            Kind::Code => 'c',
            Kind::Quoted => 'q',
            Kind::Comment => '-',
        };
        pieces.map(|(kind, range)| letter(kind).to_string().repeat(range.len())).collect()
    }

    #[test]
    fn each_database_has_quotes_and_comments_of_its_own() {
        use Driver::{MySql, Postgres, Sqlite};
        for (driver, text, kinds) in [
            (MySql, r"a'\';'b", "cqqqqqc"),
            (Sqlite, r"a'\';b", "cqqqcc"),
            (Sqlite, "a''';'b", "cqqqqqc"),
            (Postgres, r"E'\''x", "cqqqqc"),
            (Postgres, r"'\'xx", "qqqcc"),
            (Postgres, "$$;$$a", "qqqqqc"),
            (Postgres, "$a$;$$$a$b", "qqqqqqqqqc"),
            (Postgres, "$1;$2", "ccccc"),
            (Postgres, "a$b$c", "ccccc"),
            (MySql, "5--1", "cccc"),
            (Sqlite, "5--1", "c---"),
            (MySql, "a#;\nb", "c---c"),
            (Postgres, "a#b", "ccc"),
            (Postgres, "/*/*;*/*/a", "---------c"),
            (MySql, "/*/*;*/a", "-------c"),
            (Sqlite, "[;]`;`", "qqqqqq"),
            (Postgres, "a[1]", "cccc"),
        ] {
            assert_eq!(shown(text, driver), kinds, "{driver:?} {text}");
        }
    }

    #[test]
    fn an_open_quote_is_told_with_its_place() {
        let open = pieces("SELECT 'é", Driver::Sqlite).unwrap_err();
        assert_eq!(open, Unterminated { what: "a text in single quotes", at: 7 });
        assert!(pieces("a /* b", Driver::Postgres).is_err());
        assert!(pieces("a /* b", Driver::Sqlite).is_ok());
    }

    proptest::proptest! {
        #[test]
        fn pieces_make_the_whole(text in "[-a'\"`$;/*#\\\\\n \\[\\]é1]{0,24}") {
            for driver in Driver::ALL {
                if let Ok(pieces) = pieces(&text, driver) {
                    let joined: String = pieces.into_iter().map(|(_, range)| &text[range]).collect();
                    proptest::prop_assert_eq!(&joined, &text);
                }
            }
        }
    }
}
