//! Texts as wide as there is room.

pub(super) use brunt_summary::escape::{html, markdown, plain};
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// How many columns of a terminal a text takes.
pub(super) fn width(text: &str) -> usize {
    text.width()
}

/// A text cut to a number of columns, with `…` where something was cut off.
pub(super) fn cut(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let mut out = String::new();
    let mut taken = 1;
    for char in text.chars() {
        taken += char.width().unwrap_or(0);
        if taken > columns {
            break;
        }
        out.push(char);
    }
    out.push('…');
    out
}

/// A text with spaces behind it, or before it, up to a number of columns.
pub(super) fn padded(text: &str, columns: usize, is_right: bool) -> String {
    let text = cut(text, columns);
    let spaces = " ".repeat(columns - width(&text).min(columns));
    if is_right { spaces + &text } else { text + &spaces }
}

/// A text broken into lines of at most `columns` columns, at spaces where there are some.
pub(super) fn wrapped(text: &str, columns: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let mut word = word.to_owned();
        loop {
            let line = lines.last_mut().expect("there is one always");
            let gap = usize::from(!line.is_empty());
            if width(line) + gap + width(&word) <= columns {
                if gap > 0 {
                    line.push(' ');
                }
                line.push_str(&word);
                break;
            }
            if !line.is_empty() {
                lines.push(String::new());
                continue;
            }
            // A word wider than the line.
            let mut taken = 0;
            let at = word
                .char_indices()
                .find(|(index, char)| {
                    taken += char.width().unwrap_or(0);
                    taken > columns && *index > 0
                })
                .map_or(word.len(), |(index, _)| index);
            let rest = word.split_off(at);
            line.push_str(&word);
            if rest.is_empty() {
                break;
            }
            word = rest;
            lines.push(String::new());
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn wide_characters_take_two_columns() {
        assert_eq!(cut("你好你好", 5), "你好…");
        assert_eq!(padded("你", 4, true), "  你");
        assert_eq!(cut("abc", 3), "abc");
        assert_eq!(cut("abcd", 3), "ab…");
    }

    proptest! {
        #[test]
        fn lines_are_never_wider(text in "\\PC{0,200}", columns in 10_usize..80) {
            for line in wrapped(&plain(&text), columns) {
                prop_assert!(width(&line) <= columns, "{line}");
            }
            prop_assert!(width(&cut(&plain(&text), columns)) <= columns);
            prop_assert_eq!(width(&padded(&plain(&text), columns, false)), columns);
        }
    }
}
