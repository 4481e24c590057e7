//! From byte offsets to lines and columns.

/// Where the lines of a text begin.
///
/// Lines end with LF, CR LF or CR, as both editors and the engine count them. (The engine also
/// breaks at U+2028 and U+2029 outside of strings; no editor does, and neither do we.)
#[derive(Debug, Clone)]
pub(crate) struct Lines {
    /// Byte offset of each line's first character; never empty.
    starts: Vec<u32>,
}

impl Lines {
    pub(crate) fn of(text: &str) -> Self {
        let bytes = text.as_bytes();
        let mut starts = vec![0];
        for (i, byte) in bytes.iter().enumerate() {
            match byte {
                b'\n' => starts.push(i as u32 + 1),
                b'\r' if bytes.get(i + 1) != Some(&b'\n') => starts.push(i as u32 + 1),
                _ => {}
            }
        }
        Self { starts }
    }

    /// Line and column, both from 1, of a byte offset. The column counts UTF-16 units, as editors,
    /// source maps and other JavaScript engines do.
    pub(crate) fn locate(&self, text: &str, offset: u32) -> (u32, u32) {
        let (line, column) = self.locate_bytes(offset);
        (line, self.utf16_column(text, line, column))
    }

    /// Like [`Lines::locate`], with the column in bytes, as QuickJS counts.
    pub(crate) fn locate_bytes(&self, offset: u32) -> (u32, u32) {
        let line = self.starts.partition_point(|&start| start <= offset);
        (line as u32, offset - self.starts[line - 1] + 1)
    }

    /// Turns a column in bytes (from 1) into one in UTF-16 units (from 1). A column past the end
    /// of its line, or in a line that does not exist, stays as far past it.
    pub(crate) fn utf16_column(&self, text: &str, line: u32, column: u32) -> u32 {
        let content = self.content(text, line);
        let mut at = (column.max(1) - 1) as usize;
        let past = at.saturating_sub(content.len());
        at -= past;
        while !content.is_char_boundary(at) {
            at -= 1;
        }
        (content[..at].encode_utf16().count() + past) as u32 + 1
    }

    /// The byte offset of a line and column as [`Lines::locate`] gives them; the end of the line,
    /// or of the text, if there is no such place.
    pub(crate) fn offset(&self, text: &str, line: u32, column: u32) -> u32 {
        let start = (line as usize).checked_sub(1).and_then(|index| self.starts.get(index));
        let Some(&start) = start else {
            return text.len() as u32;
        };
        let mut units = 1;
        let before = self.content(text, line).chars().take_while(|c| {
            let is_before = units < column;
            units += c.len_utf16() as u32;
            is_before
        });
        start + before.map(char::len_utf8).sum::<usize>() as u32
    }

    /// The text of a line (from 1) without its line end; empty if there is no such line.
    pub(crate) fn content<'t>(&self, text: &'t str, line: u32) -> &'t str {
        let Some(index) = (line as usize).checked_sub(1) else {
            return "";
        };
        let Some(&start) = self.starts.get(index) else {
            return "";
        };
        let end = self.starts.get(index + 1).map_or(text.len(), |&end| end as usize);
        text[start as usize..end].trim_end_matches(['\n', '\r'])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_line_end_counts_once() {
        let text = "a\nb\r\nc\rd";
        let lines = Lines::of(text);
        let found: Vec<_> = (1..=5).map(|line| lines.content(text, line)).collect();
        assert_eq!(found, ["a", "b", "c", "d", ""]);
        assert_eq!(lines.locate(text, 7), (4, 1));
    }

    #[test]
    fn columns_count_utf16_units_not_bytes() {
        let text = "é日😀x";
        assert_eq!(Lines::of(text).locate(text, 9), (1, 5));
        assert_eq!(Lines::of(text).locate_bytes(9), (1, 10));
        assert_eq!(Lines::of(text).offset(text, 1, 5), 9);
        assert_eq!(Lines::of(text).offset(text, 1, 50), 10);
        assert_eq!(Lines::of(text).offset(text, 2, 1), 10);
    }

    #[test]
    fn a_column_past_the_end_or_within_a_character_does_not_panic() {
        let text = "日x\n";
        let lines = Lines::of(text);
        assert_eq!(lines.utf16_column(text, 1, 2), 1);
        assert_eq!(lines.utf16_column(text, 1, 9), 7);
        assert_eq!(lines.utf16_column(text, 7, 3), 3);
        assert_eq!(lines.utf16_column(text, 0, 0), 1);
    }
}
