//! Pages of help: the width of their lines, and lines that fit it.

use std::fmt::Write as _;

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

/// A page whose lines are made elsewhere, with those that are too wide in pieces: calls of ours between words, each piece with
/// `\` behind it; lists behind commas; and what has no such place further to the left.
pub(crate) fn fitted(page: &str, width: usize) -> String {
    let mut fitted = String::with_capacity(page.len());
    for line in page.lines() {
        let text = line.trim_start();
        let (indent, length) = (line.len() - text.len(), text.chars().count());
        if indent + length <= width {
            fitted.push_str(line);
        } else if indent > 0 && (text.starts_with("brunt ") || text.contains("| brunt ")) {
            // A pipe stays with the command behind it.
            let text = text.replace("| ", "|\u{a0}");
            let pieces = pieces(&text, &[' '], width.saturating_sub(indent + 4));
            let call = pieces.join(&format!(" \\\n{}", " ".repeat(indent + 2)));
            // Writing to a String can't fail.
            let _ = write!(fitted, "{}{}", " ".repeat(indent), call.replace('\u{a0}', " "));
        } else if length + 2 <= width {
            let _ = write!(fitted, "{text:>width$}");
        } else {
            let indent = " ".repeat(indent);
            let pieces = pieces(text, &[' ', ','], width.saturating_sub(indent.len()));
            let _ = write!(fitted, "{indent}{}", pieces.join(&format!("\n{indent}")));
        }
        fitted.push('\n');
    }
    fitted
}

/// A text in pieces of at most `width` characters, as far as it can be cut behind one of `ends`, outside of quotes.
fn pieces(text: &str, ends: &[char], width: usize) -> Vec<String> {
    let mut pieces = vec![String::new()];
    let mut is_quoted = false;
    let is_end = |c: char| {
        is_quoted ^= c == '\'';
        !is_quoted && ends.contains(&c)
    };
    for word in text.split_inclusive(is_end) {
        let last = pieces.last_mut().filter(|last| {
            last.is_empty() || last.chars().count() + word.trim_end().chars().count() <= width
        });
        match last {
            Some(last) => last.push_str(word),
            None => pieces.push(word.to_owned()),
        }
    }
    pieces.into_iter().map(|piece| piece.trim_end().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_were_made_elsewhere_fit() {
        let page = "Examples:\n  echo 'GET http://a/' | brunt attack -rate=1 | brunt report\n  brunt run s.js\n\n      \
                    --long-flag-of-a-name <LIST>\n          [env: K6_A_LONG_VARIABLE_NAME]\n          \
                    [default: ttl=5m,select=random,policy=preferIPv4]\n";
        let lines = [
            "Examples:",
            "  echo 'GET http://a/' | brunt \\",
            "    attack -rate=1 | brunt \\",
            "    report",
            "  brunt run s.js",
            "",
            "      --long-flag-of-a-name <LIST>",
            "    [env: K6_A_LONG_VARIABLE_NAME]",
            "          [default: ttl=5m,",
            "          select=random,",
            "          policy=preferIPv4]",
        ];
        let fitting = fitted(page, 34);
        assert_eq!(fitting.lines().collect::<Vec<_>>(), lines);
        assert_eq!(fitted(&fitting, 34), fitting);
        assert_eq!(fitted(page, 100), page);
    }

    #[test]
    fn lines_break_between_words() {
        assert_eq!(wrapped("ab cd ef", "  ", 7), "  ab cd\n  ef\n");
        assert_eq!(wrapped("a-long-word b", "", 5), "a-long-word\nb\n");
    }
}
