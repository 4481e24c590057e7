//! The place of an option in a script or in a configuration file.

use crate::{lines::Lines, loader::on_large_stack, syntax::option};

/// A place in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OptionPlace {
    /// From 1.
    pub line: u32,
    /// In UTF-16 units, from 1.
    pub column: u32,
    /// How many UTF-16 units of that line are meant.
    pub length: u32,
    /// The text of that line.
    pub source_line: String,
}

impl OptionPlace {
    /// The place of the option with this path (`scenarios.browse.vus`) in the text of a script; of its nearest parent where
    /// it is missing or computed.
    pub fn in_script(text: &str, path: &str) -> Option<Self> {
        let found = on_large_stack(|| option::in_script(text, path))?;
        Some(Self::at(text, found.start, found.end))
    }

    /// The same in a file that is JSON.
    pub fn in_json(text: &str, path: &str) -> Option<Self> {
        let found = on_large_stack(|| option::in_json(text, path))?;
        Some(Self::at(text, found.start, found.end))
    }

    fn at(text: &str, start: u32, end: u32) -> Self {
        let lines = Lines::of(text);
        let bound = |offset: u32| offset.min(text.len() as u32);
        let (line, column) = lines.locate(text, bound(start));
        let (end_line, end_column) = lines.locate(text, bound(end));
        let source_line = lines.content(text, line).to_owned();
        let line_end = source_line.encode_utf16().count() as u32 + 1;
        let end = if end_line == line { end_column } else { line_end };
        Self { line, column, length: end.saturating_sub(column), source_line }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_columns_are_those_of_an_editor() {
        let text = "// é\nexport const options = { tags: { '😀': 5 } };\n";
        let place = OptionPlace::in_script(text, "tags.😀").unwrap();
        assert_eq!((place.line, place.column, place.length), (2, 40, 1));
        assert!(place.source_line.starts_with("export"), "{place:?}");
    }
}
