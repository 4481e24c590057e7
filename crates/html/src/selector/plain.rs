//! From what users of jQuery write to what a reader of CSS understands.
//!
//! | written | read |
//! |---|---|
//! | `[a!=b]` | `:not([a=b])` |
//! | `[a#=re]` | `:-attribute-matches(a "re")` |
//! | `:matches(re)`, `:matchesOwn(re)` | the pattern in quotes |
//! | `#1a` | `#\31 a`: an id that begins with a digit |

use std::fmt::Write as _;

/// The maximum number of bytes of a selector: each piece costs memory.
const LENGTH_MAX: usize = 64 * 1024;
/// Brackets in brackets: `:not(:has(…))`.
const DEPTH_MAX: usize = 16;

/// The same selector in plain CSS; `None` if its brackets or quotes don't close, or if it passes a limit.
pub(super) fn plain(text: &str) -> Option<String> {
    if text.len() > LENGTH_MAX {
        return None;
    }
    let mut out = String::with_capacity(text.len() + 16);
    let mut depth = 0_usize;
    let mut rest = text;
    while let Some(letter) = rest.chars().next() {
        let mut length = letter.len_utf8();
        match letter {
            '"' | '\'' => length = quoted(rest)?,
            '\\' => length += rest[1..].chars().next()?.len_utf8(),
            '[' => {
                length = closed(rest)?;
                attribute(&rest[1..length - 1], &mut out)?;
                rest = &rest[length..];
                continue;
            }
            '(' => depth += 1,
            ')' => depth = depth.checked_sub(1)?,
            '#' if rest[1..].starts_with(|letter: char| letter.is_ascii_digit()) => {
                length += 1;
                let _ = write!(out, "#\\{:x} ", u32::from(rest.as_bytes()[1]));
                rest = &rest[length..];
                continue;
            }
            ':' => {
                if let Some((name, length)) = pattern_class(rest) {
                    let end = length - 1 + closed(&rest[length - 1..])?;
                    let _ = write!(out, ":{name}(");
                    quote(&rest[length..end - 1], &mut out);
                    out.push(')');
                    rest = &rest[end..];
                    continue;
                }
            }
            _ => {}
        }
        if depth > DEPTH_MAX {
            return None;
        }
        out.push_str(&rest[..length]);
        rest = &rest[length..];
    }
    (depth == 0).then_some(out)
}

/// The pseudo-classes that have a pattern in their brackets, and the length up to it.
fn pattern_class(text: &str) -> Option<(&'static str, usize)> {
    ["matches", "matchesOwn"].into_iter().find_map(|name| {
        let length = 1 + name.len();
        let is_it = text.get(1..length).is_some_and(|found| found.eq_ignore_ascii_case(name));
        (is_it && text[length..].starts_with('(')).then_some((name, length + 1))
    })
}

/// The length of the quoted text that begins here.
fn quoted(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = 1;
    while *bytes.get(at)? != bytes[0] {
        at += if bytes[at] == b'\\' { 2 } else { 1 };
    }
    Some(at + 1)
}

/// The length up to the bracket that closes the first one. Quotes close before they may hold brackets; one that does
/// not close, as in a pattern, is a letter.
fn closed(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let (mut open, mut at) = (0_usize, 0);
    loop {
        match *bytes.get(at)? {
            b'\\' => at += 1,
            b'"' | b'\'' => at += quoted(&text[at..]).map_or(0, |length| length - 1),
            b'(' | b'[' => open += 1,
            b')' | b']' => open -= 1,
            _ => {}
        }
        at += 1;
        if open == 0 {
            return Some(at);
        }
    }
}

/// Writes the test in square brackets; `None` if a quote in it does not close.
fn attribute(inner: &str, out: &mut String) -> Option<()> {
    let sign = inner.find('=').and_then(|at| inner[..at].chars().next_back());
    let parts =
        |sign: &str| inner.split_once(sign).map(|(name, value)| (name.trim(), value.trim()));
    match sign {
        Some('#') => {
            let (name, pattern) = parts("#=")?;
            let _ = write!(out, ":-attribute-matches({name} ");
            quote(pattern, out);
            out.push(')');
            return Some(());
        }
        Some('!') => {
            let (name, value) = parts("!=")?;
            let _ = write!(out, ":not([{name}={value}])");
        }
        _ => {
            let _ = write!(out, "[{inner}]");
        }
    }
    let mut rest = inner;
    while let Some(at) = rest.find(['"', '\'', '\\']) {
        let length = if rest[at..].starts_with('\\') { 2 } else { quoted(&rest[at..])? };
        rest = rest.get(at + length..)?;
    }
    Some(())
}

/// The text as a string of CSS.
fn quote(text: &str, out: &mut String) {
    out.push('"');
    for letter in text.chars() {
        if matches!(letter, '"' | '\\') || letter.is_control() {
            let _ = write!(out, "\\{:x} ", u32::from(letter));
        } else {
            out.push(letter);
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_jquery_allows_becomes_css() {
        for (written, read) in [
            ("div > p", "div > p"),
            ("[a!=b]", ":not([a=b])"),
            ("[ a != 'x]' ]p", ":not([a='x]'])p"),
            ("[a#=^[f-h]$]", r#":-attribute-matches(a "^[f-h]$")"#),
            ("p:matches(^H(a|b)\\d)", r#"p:matches("^H(a|b)\5c d")"#),
            ("p:matchesown(x).y", r#"p:matchesOwn("x").y"#),
            ("p:contains('(')", "p:contains('(')"),
            ("#1a .b", r"#\31 a .b"),
            ("a[href='x\\'y']", "a[href='x\\'y']"),
        ] {
            assert_eq!(plain(written).as_deref(), Some(read), "{written}");
        }
    }

    #[test]
    fn what_does_not_close_is_no_selector() {
        for text in ["p[", "p[a", "p:not(", "p)", "p:contains('x)", "a\\", "[a=\"]", "p:matches(("]
        {
            assert_eq!(plain(text), None, "{text}");
        }
    }
}
