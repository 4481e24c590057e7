//! Finds the author's line that an exception's stack leads to.

use std::path::Path;

use brunt_script::Files;

use crate::diagnostic::Diagnostic;

/// Larger files (bundles) are not read once more for a picture.
const MOST_BYTES: usize = 8 << 20;

/// The first `file://…:LINE:COLUMN` in a stack, with the text of its line.
pub(super) fn first(stack: &str, files: &dyn Files) -> Option<Diagnostic> {
    let start = stack.find("file://")?;
    let line_end = stack[start..].find('\n').map_or(stack.len(), |end| start + end);
    let (url, line, column) = split(&stack[start..line_end])?;
    let text = line_of(Path::new(url.strip_prefix("file://")?), line, files);
    let column = match &text {
        Some(text) => shown(url, text, column),
        None => column,
    };
    Some(Diagnostic { url: url.to_owned(), line, column, text, ..Diagnostic::default() })
}

/// The column of the caret, in UTF-16 units from 1: stacks count as k6 does, in bytes, and in TypeScript from 0.
fn shown(url: &str, text: &str, column: u32) -> u32 {
    let at = column.max(1) as usize - 1;
    if Path::new(url).extension().is_some_and(|extension| extension == "ts") {
        let is_behind_bracket = text.as_bytes().get(at) == Some(&b'(');
        return if is_behind_bracket { column } else { column.saturating_add(1) };
    }
    let before = text.char_indices().take_while(|(start, _)| *start < at);
    let units: usize = before.map(|(_, c)| c.len_utf16()).sum();
    (units + at.saturating_sub(text.len())) as u32 + 1
}

/// `file:///dir/s.js:12:7(3)` with anything behind it.
fn split(frame: &str) -> Option<(&str, u32, u32)> {
    for (at, _) in frame.match_indices(':').skip(1) {
        let mut numbers = frame[at + 1..].splitn(2, ':');
        let (line, rest) = (numbers.next()?, numbers.next().unwrap_or_default());
        let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        if let (Ok(line), Ok(column)) = (line.parse(), rest[..digits].parse()) {
            return Some((&frame[..at], line, column));
        }
    }
    None
}

/// From where the script came: a stack may name any file.
fn line_of(path: &Path, line: u32, files: &dyn Files) -> Option<String> {
    let text = files.read(path).ok().filter(|bytes| bytes.len() <= MOST_BYTES)?;
    let text = String::from_utf8(text).ok()?;
    text.lines().nth((line as usize).checked_sub(1)?).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use brunt_script::Disk;

    use super::*;

    #[test]
    fn the_first_place_of_a_stack_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a b.js");
        std::fs::write(&file, "one\ntwo two\n").unwrap();
        let url = format!("file://{}", file.display());
        let stack = format!("Error: at 5:4\n\tat f ({url}:2:5(9))\n\tat g ({url}:1:1(1))\n");
        let place = first(&stack, &Disk).unwrap();
        assert_eq!((place.url.as_str(), place.line, place.column), (url.as_str(), 2, 5));
        assert_eq!(place.text.as_deref(), Some("two two"));
    }

    #[test]
    fn the_caret_stands_where_the_author_sees_the_place() {
        let columns = |url, text| [1, 5, 12].map(|column| shown(url, text, column));
        assert_eq!(columns("file:///s.js", "a日b(c"), [1, 3, 10]);
        assert_eq!(columns("file:///s.ts", "abcd(c"), [2, 5, 13]);
    }

    #[test]
    fn a_stack_without_files_has_no_place() {
        assert_eq!(first("Error: x\n\tat native\n", &Disk), None);
        assert_eq!(first("Error: file:///x is gone", &Disk), None);
    }
}
