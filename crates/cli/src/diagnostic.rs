//! Draws the line of the script that an error is about, with a caret under the column.
//!
//! ```text
//!   --> /home/you/script.js:3:16
//!    |
//!  3 | export default functon () {
//!    |                ^
//!    = help: did you mean `function`?
//! ```

use std::fmt::Write as _;

/// A place in the author's file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Diagnostic {
    /// The file: a path, or a URL (`file://` is cut off when drawn).
    pub(crate) url: String,
    /// Counts from 1; 0 if unknown.
    pub(crate) line: u32,
    /// Counts UTF-16 units from 1, as JavaScript does; 0 if unknown.
    pub(crate) column: u32,
    /// How many UTF-16 units are meant; 0 counts as 1.
    pub(crate) length: u32,
    /// The text of that line, without its end.
    pub(crate) text: Option<String>,
    /// The faults at this place, unless the message above the drawing is about this place alone.
    pub(crate) notes: Vec<String>,
    /// The remedy.
    pub(crate) help: Option<String>,
}

/// Longer lines (minified bundles) are cut to a window around the column.
const WINDOW: usize = 100;

impl Diagnostic {
    /// The drawing, several lines, each with its `\n`. With `color`, ANSI sequences mark the parts.
    pub(crate) fn draw(&self, color: bool) -> String {
        let paint = |code: &str, text: &str| {
            if color { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
        };
        // Writing to a String can't fail.
        let number = self.line.to_string();
        let margin = " ".repeat(if self.text.is_some() { number.len() } else { 0 });
        let mut place = self.url.strip_prefix("file://").unwrap_or(&self.url).to_owned();
        if self.line > 0 {
            let _ = write!(place, ":{}", self.line);
            if self.column > 0 {
                let _ = write!(place, ":{}", self.column);
            }
        }
        let mut out = format!(" {margin}{} {place}\n", paint("34", "-->"));
        if let (Some(text), true) = (&self.text, self.line > 0) {
            let bar = paint("34", "|");
            let (column, length) = self.in_characters(text);
            let (shown, caret) = window(text, column);
            let _ = writeln!(out, " {margin} {bar}");
            let _ = writeln!(out, " {} {bar} {shown}", paint("34", &number));
            if let Some(caret) = caret {
                let gap = " ".repeat(caret);
                let room = shown.chars().count().saturating_sub(caret).max(1);
                let carets = "^".repeat(length.clamp(1, room));
                let _ = writeln!(out, " {margin} {bar} {gap}{}", paint("31", &carets));
            }
        }
        for note in &self.notes {
            let _ = writeln!(out, " {margin} {} {note}", paint("34", "="));
        }
        if let Some(help) = &self.help {
            let _ = writeln!(out, " {margin} {} help: {help}", paint("34", "="));
        }
        out
    }

    /// Column (from 1; 0 if unknown) and length in characters.
    fn in_characters(&self, text: &str) -> (usize, usize) {
        if self.column == 0 {
            return (0, 0);
        }
        let (before, within) = brunt_script::characters(text, self.column, self.length);
        (before + 1, within)
    }
}

/// The part of a line that is shown, and the columns before the caret. Tabs become one blank, and control characters
/// become `�`, so that the caret stays under its character.
fn window(text: &str, column: usize) -> (String, Option<usize>) {
    let clean: Vec<char> = text
        .trim_end()
        .chars()
        .map(|c| match c {
            '\t' => ' ',
            c if c.is_control() => '\u{fffd}',
            c => c,
        })
        .collect();
    let caret = column.checked_sub(1).filter(|&at| at <= clean.len());
    if clean.len() <= WINDOW {
        return (clean.into_iter().collect(), caret);
    }
    let middle = caret.unwrap_or(0);
    let start = middle.saturating_sub(WINDOW / 2).min(clean.len() - WINDOW);
    let mut shown = String::new();
    let mut shift = 0;
    if start > 0 {
        shown.push('…');
        shift = 1;
    }
    shown.extend(&clean[start..start + WINDOW]);
    if start + WINDOW < clean.len() {
        shown.push('…');
    }
    (shown, caret.map(|at| at - start + shift))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(line: u32, column: u32, text: Option<&str>) -> Diagnostic {
        Diagnostic {
            url: "file:///s/script.js".into(),
            line,
            column,
            length: 0,
            text: text.map(Into::into),
            ..Diagnostic::default()
        }
    }

    #[test]
    fn the_caret_stands_under_the_column() {
        let mut place = at(12, 16, Some("export default functon () {"));
        place.help = Some("did you mean `function`?".into());
        insta::assert_snapshot!(place.draw(false), @r"
           --> /s/script.js:12:16
            |
         12 | export default functon () {
            |                ^
            = help: did you mean `function`?
        ");
    }

    #[test]
    fn what_is_meant_is_underlined_and_emojis_are_one_character() {
        let mut place = at(1, 9, Some("const 😀 = nope;"));
        place.length = 4;
        place.column = 12;
        let drawn = place.draw(false);
        assert!(drawn.contains("1 | const 😀 = nope;\n   |           ^^^^\n"), "{drawn}");
    }

    #[test]
    fn without_a_line_only_the_file_is_named() {
        assert_eq!(at(0, 0, None).draw(false), " --> /s/script.js\n");
    }

    #[test]
    fn a_long_line_is_cut_around_the_caret() {
        let text = format!("{}X{}", "a".repeat(500), "b".repeat(500));
        let drawn = at(1, 501, Some(&text)).draw(false);
        let lines: Vec<&str> = drawn.lines().collect();
        let caret = lines[3].chars().position(|c| c == '^').unwrap();
        assert_eq!(lines[2].chars().nth(caret), Some('X'));
        assert!(lines[2].chars().count() < 120);
    }

    #[test]
    fn a_column_past_the_line_draws_no_caret_and_control_characters_are_replaced() {
        let drawn = at(1, 900, Some("a\tb\x1b[31m")).draw(false);
        assert!(
            !drawn.contains('^') && !drawn.contains('\x1b') && drawn.contains("a b\u{fffd}[31m")
        );
    }
}
