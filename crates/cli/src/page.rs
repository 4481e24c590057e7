//! Pages of help: the width of their lines, and lines that fit it.

/// The width without a terminal.
const USUAL: usize = 100;

/// The columns of the terminal.
pub(crate) fn width() -> usize {
    terminal_size::terminal_size().map_or(USUAL, |(width, _)| usize::from(width.0))
}

/// The words of `text` in lines of at most `width` columns, where words allow; each behind `indent`.
pub(crate) fn wrapped(text: &str, indent: &str, width: usize) -> String {
    let mut lines = String::new();
    let mut column = 0;
    for word in text.split(' ') {
        let length = word.chars().count();
        if column > 0 && column + 1 + length > width {
            lines.push('\n');
            column = 0;
        }
        if column == 0 {
            lines.push_str(indent);
            column = indent.len();
        } else {
            lines.push(' ');
            column += 1;
        }
        lines.push_str(word);
        column += length;
    }
    lines.push('\n');
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_between_words() {
        assert_eq!(wrapped("ab cd ef", "  ", 7), "  ab cd\n  ef\n");
        assert_eq!(wrapped("a-long-word b", "", 5), "a-long-word\nb\n");
    }
}
