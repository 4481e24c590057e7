//! The marks of a path, apart from mere text: one walk for every search for brackets, pipes and commas.

/// A character of a path that is neither in quotes nor behind a backslash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Mark {
    /// Its place in the path, in bytes.
    pub(super) at: usize,
    pub(super) char: char,
    /// The number of brackets around it; a bracket is counted for itself, too.
    pub(super) depth: usize,
}

impl Mark {
    pub(super) fn is_closing(self) -> bool {
        matches!(self.char, ']' | '}' | ')')
    }
}

/// The marks of a path, in order. Of brackets only the number counts, not the kind.
pub(super) fn marks(path: &str) -> impl Iterator<Item = Mark> {
    let (mut depth, mut is_quoted, mut is_escaped) = (0_usize, false, false);
    path.char_indices().filter_map(move |(at, char)| {
        if std::mem::take(&mut is_escaped) {
            return None;
        }
        match char {
            '\\' => is_escaped = true,
            '"' => is_quoted = !is_quoted,
            _ if is_quoted => {}
            '[' | '{' | '(' => {
                depth += 1;
                return Some(Mark { at, char, depth });
            }
            _ => {
                let mark = Mark { at, char, depth };
                if mark.is_closing() {
                    depth = depth.saturating_sub(1);
                }
                return Some(mark);
            }
        }
        None
    })
}

/// The path up to the first of these marks that is in no bracket, and what comes from there.
pub(super) fn split_at_mark<'p>(path: &'p str, ends: &[char]) -> (&'p str, &'p str) {
    let end = marks(path).find(|mark| mark.depth == 0 && ends.contains(&mark.char));
    path.split_at(end.map_or(path.len(), |mark| mark.at))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_and_backslashes_make_text_of_marks() {
        let shown: Vec<(usize, char, usize)> =
            marks(r#"a(")",\|]|"#).map(|mark| (mark.at, mark.char, mark.depth)).collect();
        assert_eq!(shown, [(0, 'a', 0), (1, '(', 1), (5, ',', 1), (8, ']', 1), (9, '|', 0)]);
    }

    #[test]
    fn a_path_is_split_outside_of_brackets_only() {
        assert_eq!(split_at_mark("#(a|b).c|d", &['|']), ("#(a|b).c", "|d"));
        assert_eq!(split_at_mark("a.b", &['|']), ("a.b", ""));
        assert_eq!(split_at_mark(")|x", &['|']), (")", "|x"));
    }
}
