//! A line of a terminal: text in pieces, some of them painted, cut to a width.

use std::fmt::Write as _;

/// How a piece looks on a terminal with colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Paint {
    Plain,
    Faint,
    Red,
    Green,
}

/// Every character used here is one column wide.
#[derive(Debug, Default)]
pub(super) struct Line {
    pieces: Vec<(Paint, String)>,
}

impl Line {
    pub(super) fn push(&mut self, paint: Paint, text: impl Into<String>) -> &mut Self {
        self.pieces.push((paint, text.into()));
        self
    }

    /// Paints the whole of it.
    pub(super) fn paint(&mut self, paint: Paint) -> &mut Self {
        self.pieces.iter_mut().for_each(|(own, _)| *own = paint);
        self
    }

    /// Columns it takes.
    pub(super) fn width(&self) -> usize {
        self.pieces.iter().map(|(_, text)| text.chars().count()).sum()
    }

    /// The text with `\n`. For a terminal of `width` columns it is cut, and so are the blanks at its end.
    pub(super) fn finish(self, width: Option<usize>, color: bool, out: &mut String) {
        let mut left = width.unwrap_or(usize::MAX);
        let mut plain_end = out.len();
        for (paint, text) in self.pieces {
            let text: String = text.chars().take(left).collect();
            left -= text.chars().count();
            let code = match paint {
                Paint::Plain => "",
                Paint::Faint => "2",
                Paint::Red => "31",
                Paint::Green => "32",
            };
            if color && !code.is_empty() && !text.is_empty() {
                let _ = write!(out, "\x1b[{code}m{text}\x1b[0m");
                plain_end = out.len();
            } else {
                out.push_str(&text);
            }
        }
        if width.is_some() {
            let end = out.trim_end_matches(' ').len().max(plain_end);
            out.truncate(end);
        }
        out.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(width: usize, color: bool) -> String {
        let mut line = Line::default();
        line.push(Paint::Plain, "ab ").push(Paint::Red, "cd").push(Paint::Plain, " ef  ");
        assert_eq!(line.width(), 10);
        let mut out = String::new();
        line.finish(Some(width), color, &mut out);
        out
    }

    #[test]
    fn cutting_counts_columns_not_colours() {
        assert_eq!(drawn(80, false), "ab cd ef\n");
        assert_eq!(drawn(4, false), "ab c\n");
        assert_eq!(drawn(4, true), "ab \x1b[31mc\x1b[0m\n");
        assert_eq!(drawn(2, true), "ab\n");
    }
}
