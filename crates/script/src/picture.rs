//! The code frame under an error: the line as its author wrote it, and a caret below.

use std::fmt::Write as _;

/// Lines are shown at most this many characters wide; of a longer (minified) one, the part around
/// the caret.
const WIDTH: usize = 100;

/// Draws line number, line and caret. `column` and `length` count UTF-16 units, `column` from 1.
///
/// Tabs stay tabs in both rows, so that the caret is where the terminal puts the character.
pub(crate) fn picture(line: u32, column: u32, length: u32, text: &str) -> String {
    let text = text.trim_end();
    let (caret, span) = characters(text, column, length);
    let (window, caret, clipped_left, clipped_right) = window(text, caret);
    let span = span.clamp(1, window.chars().count().saturating_sub(caret).max(1));
    let number = line.to_string();
    let gutter = " ".repeat(number.len());
    let left = if clipped_left { "… " } else { "" };
    let right = if clipped_right { " …" } else { "" };
    let pad: String = left
        .chars()
        .map(|_| ' ')
        .chain(window.chars().take(caret).map(|c| if c == '\t' { '\t' } else { ' ' }))
        .chain(std::iter::repeat_n(' ', caret.saturating_sub(window.chars().count())))
        .collect();
    let mut out = String::new();
    let _ = writeln!(out, " {gutter} |");
    let _ = writeln!(out, " {number} | {left}{window}{right}");
    let _ = write!(out, " {gutter} | {pad}{}", "^".repeat(span));
    out
}

/// Converts a place in UTF-16 units into (characters before it, characters it covers). Columns count from 1.
pub fn characters(text: &str, column: u32, length: u32) -> (usize, usize) {
    let start = column.max(1) as usize - 1;
    let end = start + length as usize;
    let (mut units, mut before, mut within) = (0, 0, 0);
    for c in text.chars() {
        if units < start {
            before += 1;
        } else if units < end {
            within += 1;
        }
        units += c.len_utf16();
    }
    (before + start.saturating_sub(units), within)
}

/// The part of a line that is shown, the place of the caret in it, and whether each end was cut.
fn window(text: &str, caret: usize) -> (String, usize, bool, bool) {
    let total = text.chars().count();
    if total <= WIDTH {
        return (text.to_owned(), caret.min(total), false, false);
    }
    let start = caret.saturating_sub(WIDTH / 2).min(total - WIDTH);
    let shown = text.chars().skip(start).take(WIDTH).collect();
    (shown, caret.min(total) - start, start > 0, start + WIDTH < total)
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::*;

    #[test]
    fn the_caret_stands_below_the_fault() {
        assert_snapshot!(picture(12, 9, 3, "let x = foo;"), @"
            |
         12 | let x = foo;
            |         ^^^
        ");
    }

    #[test]
    fn tabs_and_wide_units_keep_the_caret_in_place() {
        assert_snapshot!(picture(1, 10, 1, "\tx = '😀';"), @"
           |
         1 | 	x = '😀';
           | 	       ^
        ");
    }

    #[test]
    fn the_end_of_the_line_can_be_pointed_at() {
        assert_snapshot!(picture(3, 4, 0, "foo"), @"
           |
         3 | foo
           |    ^
        ");
    }

    #[test]
    fn of_a_minified_line_only_the_part_around_the_caret_is_shown() {
        let line = "a".repeat(300) + "?" + &"b".repeat(300);
        assert_snapshot!(picture(1, 301, 1, &line), @"
           |
         1 | … aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa?bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb …
           |                                                     ^
        ");
    }
}
