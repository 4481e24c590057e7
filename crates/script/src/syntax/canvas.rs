//! Changing a text in place, so that what stays keeps its line and column.

use oxc_span::Span;

use crate::{lines::Lines, positions::Shift};

/// A copy of a text, of which parts are painted over with blanks of the same size.
pub(super) struct Canvas<'s> {
    text: &'s str,
    bytes: Vec<u8>,
    /// Text to put in before an offset, the last resort: it moves the rest of its line.
    inserts: Vec<(u32, String)>,
    /// Where the last stretch of blanks ends.
    blank_end: u32,
    is_changed: bool,
}

impl<'s> Canvas<'s> {
    pub(super) fn new(text: &'s str) -> Self {
        let bytes = text.as_bytes().to_vec();
        Self { text, bytes, inserts: Vec::new(), blank_end: 0, is_changed: false }
    }

    /// Paints blanks over all but the line ends.
    pub(super) fn blank(&mut self, start: u32, end: u32) {
        for byte in &mut self.bytes[start as usize..end as usize] {
            if !matches!(byte, b'\n' | b'\r') {
                *byte = b' ';
            }
        }
        self.blank_end = end;
        self.is_changed = true;
    }

    pub(super) fn blank_span(&mut self, span: Span) {
        self.blank(span.start, span.end);
    }

    /// Paints ASCII over something that was or will be blanked, or is as short.
    pub(super) fn put(&mut self, offset: u32, ascii: &str) {
        let start = offset as usize;
        self.bytes[start..start + ascii.len()].copy_from_slice(ascii.as_bytes());
        self.is_changed = true;
    }

    pub(super) fn insert(&mut self, offset: u32, text: impl Into<String>) {
        self.inserts.push((offset, text.into()));
        self.is_changed = true;
    }

    /// Whether the last blanks reach exactly up to an offset.
    pub(super) fn is_blank_until(&self, offset: u32) -> bool {
        self.blank_end == offset
    }

    /// Where the next token at or after an offset begins: behind blanks and comments.
    pub(super) fn token(&self, offset: u32) -> u32 {
        skip(self.text, offset as usize) as u32
    }

    /// Whether the text goes on like this.
    pub(super) fn starts_with(&self, offset: u32, start: &str) -> bool {
        self.text.as_bytes()[offset as usize..].starts_with(start.as_bytes())
    }

    /// The identifier or keyword at an offset; empty if there is none.
    pub(super) fn word(&self, offset: u32) -> &'s str {
        let rest = &self.text[offset as usize..];
        let end = rest
            .find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '$' | '\\')))
            .unwrap_or(rest.len());
        &rest[..end]
    }

    pub(super) fn has_line_end(&self, start: u32, end: u32) -> bool {
        self.text[start as usize..end as usize].contains(['\n', '\r', '\u{2028}', '\u{2029}'])
    }

    /// The changed text, if it was changed, and where its lines were moved.
    pub(super) fn finish(mut self) -> Option<(String, Vec<Shift>)> {
        if !self.is_changed {
            return None;
        }
        self.inserts.sort_by_key(|(offset, _)| *offset);
        let lines = Lines::of(self.text);
        let mut code = Vec::with_capacity(self.bytes.len());
        let mut shifts = Vec::new();
        let mut done = 0;
        for (offset, text) in &self.inserts {
            code.extend_from_slice(&self.bytes[done..*offset as usize]);
            code.extend_from_slice(text.as_bytes());
            done = *offset as usize;
            let (line, column) = lines.locate_bytes(*offset);
            shifts.push(Shift { offset: *offset, line, column, bytes: text.len() as u32 });
        }
        code.extend_from_slice(&self.bytes[done..]);
        let code = String::from_utf8(code).expect("whole characters were replaced by ASCII");
        Some((code, shifts))
    }
}

/// The first offset at or after `at` that is neither in blanks nor in a comment.
fn skip(text: &str, mut at: usize) -> usize {
    loop {
        let rest = &text[at..];
        let trimmed = rest.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
        at += rest.len() - trimmed.len();
        let length = if let Some(comment) = trimmed.strip_prefix("/*") {
            comment.find("*/").map_or(trimmed.len(), |end| end + 4)
        } else if trimmed.starts_with("//") {
            trimmed.find(['\n', '\r', '\u{2028}', '\u{2029}']).unwrap_or(trimmed.len())
        } else {
            return at;
        };
        at += length;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_keep_lines_and_bytes() {
        let text = "aé\r\nb日c\nd";
        let mut canvas = Canvas::new(text);
        canvas.blank(1, 9);
        assert_eq!(canvas.finish().expect("changed").0, "a  \r\n    c\nd");
    }

    #[test]
    fn inserts_are_told_as_shifts() {
        let mut canvas = Canvas::new("ab\ncd");
        canvas.insert(4, ")");
        canvas.insert(3, "((");
        let (code, shifts) = canvas.finish().expect("changed");
        assert_eq!(code, "ab\n((c)d");
        assert_eq!(
            shifts,
            [
                Shift { offset: 3, line: 2, column: 1, bytes: 2 },
                Shift { offset: 4, line: 2, column: 2, bytes: 1 }
            ]
        );
    }

    #[test]
    fn an_untouched_text_is_not_copied_back() {
        assert_eq!(Canvas::new("x").finish(), None);
    }

    #[test]
    fn comments_and_blanks_lie_between_tokens() {
        assert_eq!(skip(" /* x */ // y\n\u{a0}z", 0), 16);
        assert_eq!(skip("/* open", 0), 7);
        assert_eq!(skip("// open", 0), 7);
        assert_eq!(skip("/x/", 0), 0);
    }
}
