//! From places in compiled code back to the author's file.

use std::sync::Arc;

use crate::{lines::Lines, source_map::SourceMap};

/// Maps places in a module's `code`, as the engine reports them, to what its author wrote.
///
/// Most modules are compiled as they are, or with their types blanked in place, so that nothing
/// but the unit of the columns changes. Cheap to clone and to share.
#[derive(Debug, Clone)]
pub struct Positions(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    /// Texts put into `code` that are not in the source, in order.
    shifts: Vec<Shift>,
    /// The text that byte columns are counted in; none if it is all ASCII, where a column is the
    /// same in every unit.
    text: Option<(Arc<str>, Lines)>,
    /// For code that was generated from the source.
    generated: Option<SourceMap>,
    /// The source of code whose types were taken out.
    typed: Option<(Arc<str>, Lines)>,
    /// For a source that was itself generated (`//# sourceMappingURL=`).
    bundle: Option<SourceMap>,
}

/// Text put in between the characters of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shift {
    /// Before which byte of the original text, from 0.
    pub(crate) offset: u32,
    /// The same place as a line, from 1,
    pub(crate) line: u32,
    /// and a byte of that line, from 1.
    pub(crate) column: u32,
    /// How much, in bytes.
    pub(crate) bytes: u32,
}

/// A place in what the author wrote.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place<'a> {
    /// The file, if it is not the module's own: a source map (`//# sourceMappingURL=`) led there.
    pub url: Option<&'a str>,
    /// Line, from 1.
    pub line: u32,
    /// Column in UTF-16 units, from 1.
    pub column: u32,
}

impl Positions {
    /// `text` is what the columns of `shifts` count in: the source, or what was generated of it.
    pub(crate) fn new(shifts: Vec<Shift>, text: &Arc<str>, generated: Option<SourceMap>) -> Self {
        let text = (!text.is_ascii()).then(|| (Arc::clone(text), Lines::of(text)));
        Self(Arc::new(Inner { shifts, text, generated, typed: None, bundle: None }))
    }

    /// The same for code without the types of this source. To be asked before it is shared.
    pub(crate) fn without_types(self, source: &Arc<str>) -> Self {
        let mut inner = Arc::into_inner(self.0).expect("nobody shares it yet");
        inner.typed = Some((Arc::clone(source), Lines::of(source)));
        Self(Arc::new(inner))
    }

    /// The same for code with a head before it, and with the source map of what its author
    /// bundled. To be asked before it is shared.
    pub(crate) fn within(self, head: Option<Shift>, bundle: Option<SourceMap>) -> Self {
        let mut inner = Arc::into_inner(self.0).expect("nobody shares it yet");
        inner.shifts.splice(0..0, head);
        inner.bundle = bundle;
        Self(Arc::new(inner))
    }

    /// The author's place of a place in `code`: `line` from 1, `column` in bytes from 1, as
    /// QuickJS counts them. Never fails: what lies in no map stays where it is.
    pub fn author(&self, line: u32, column: u32) -> Place<'_> {
        let inner = &*self.0;
        let column = unshift(&inner.shifts, line, column);
        let column = match &inner.text {
            Some((text, lines)) => lines.utf16_column(text, line, column),
            None => column,
        };
        let (line, column) = match &inner.generated {
            Some(map) => map.nearest(line, column),
            None => (line, column),
        };
        match inner.bundle.as_ref().and_then(|map| map.lookup(line, column)) {
            Some(place) => place,
            None => Place { url: None, line, column },
        }
    }

    /// The author's place as a stack tells it. In TypeScript that is where k6's source map leads: one column before
    /// the place, and for a call, what stands behind its parenthesis.
    pub fn told(&self, line: u32, column: u32) -> Place<'_> {
        let place = self.author(line, column);
        match &self.0.typed {
            Some((source, lines)) if place.url.is_none() => {
                let (line, column) = behind_call(source, lines, place.line, place.column);
                Place { url: None, line, column: column.saturating_sub(1) }
            }
            _ => place,
        }
    }

    /// Whether [`Positions::told`] gives back what it gets, for all of the code.
    pub fn is_identity(&self) -> bool {
        let inner = &*self.0;
        inner.shifts.is_empty()
            && inner.text.is_none()
            && inner.generated.is_none()
            && inner.typed.is_none()
            && inner.bundle.is_none()
    }
}

/// The same place, unless a parenthesis opens there: then the place of what follows it, or if nothing does in that
/// line, of the name before it. Line and column from 1.
fn behind_call(source: &str, lines: &Lines, line: u32, column: u32) -> (u32, u32) {
    let offset = lines.offset(source, line, column) as usize;
    let Some(rest) = source.get(offset..).and_then(|rest| rest.strip_prefix('(')) else {
        return (line, column);
    };
    let argument = rest.trim_start_matches([' ', '\t']);
    if !argument.is_empty() && !argument.starts_with(['\n', '\r', '/']) {
        return lines.locate(source, (source.len() - argument.len()) as u32);
    }
    let called = source[..offset].trim_end();
    let name = called.trim_end_matches(|c: char| c.is_alphanumeric() || c == '_' || c == '$');
    let start = if name.len() == called.len() { offset } else { name.len() };
    lines.locate(source, start as u32)
}

/// Takes away what was put in before a column; a place within an insertion becomes the place
/// where it was put in.
fn unshift(shifts: &[Shift], line: u32, column: u32) -> u32 {
    let mut inserted = 0;
    for shift in shifts.iter().filter(|shift| shift.line == line) {
        let start = shift.column + inserted;
        if column < start {
            break;
        }
        if column < start + shift.bytes {
            return shift.column;
        }
        inserted += shift.bytes;
    }
    column - inserted
}

/// The same for an offset in the whole text.
pub(crate) fn unshift_offset(shifts: &[Shift], offset: u32) -> u32 {
    let mut inserted = 0;
    for shift in shifts {
        let start = shift.offset + inserted;
        if offset < start {
            break;
        }
        if offset < start + shift.bytes {
            return shift.offset;
        }
        inserted += shift.bytes;
    }
    offset - inserted
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Observed in k6 1.8.1.
    #[test]
    fn typescript_is_told_one_column_early_and_calls_by_their_argument() {
        let source: Arc<str> =
            "  throw new Error('x');\n  call(a);\n  call();\n  check(\n    a,\n  );\n".into();
        let positions = Positions::new(Vec::new(), &source, None).without_types(&source);
        let told = |line, column| {
            let place = positions.told(line, column);
            (place.line, place.column)
        };
        assert_eq!(told(1, 9), (1, 8));
        assert_eq!(told(2, 7), (2, 7));
        assert_eq!(told(3, 7), (3, 7));
        assert_eq!(told(4, 8), (4, 2));
        assert_eq!(told(99, 1), (99, 0));
        assert!(!positions.is_identity());
    }

    fn author(positions: &Positions, line: u32, column: u32) -> (u32, u32) {
        let place = positions.author(line, column);
        assert_eq!(place.url, None);
        (place.line, place.column)
    }

    #[test]
    fn plain_ascii_is_the_identity() {
        let positions = Positions::new(Vec::new(), &"a\nb".into(), None);
        assert!(positions.is_identity());
        assert_eq!(author(&positions, 2, 7), (2, 7));
    }

    #[test]
    fn byte_columns_become_utf16_columns() {
        let positions = Positions::new(Vec::new(), &"x\n'日本' + y()".into(), None);
        assert_eq!(author(&positions, 2, 12), (2, 8));
        assert_eq!(author(&positions, 1, 1), (1, 1));
    }

    #[test]
    fn insertions_are_taken_away_on_their_line_only() {
        let shifts = vec![
            Shift { offset: 0, line: 1, column: 1, bytes: 10 },
            Shift { offset: 4, line: 1, column: 5, bytes: 3 },
            Shift { offset: 12, line: 3, column: 2, bytes: 1 },
        ];
        let positions = Positions::new(shifts.clone(), &"abcdefgh\nx\nxyz".into(), None);
        let columns: Vec<_> =
            [1, 10, 11, 14, 15, 17, 18, 19].map(|column| author(&positions, 1, column).1).into();
        assert_eq!(columns, [1, 1, 1, 4, 5, 5, 5, 6]);
        assert_eq!(author(&positions, 2, 1), (2, 1));
        assert_eq!(author(&positions, 3, 3), (3, 2));
        let offsets: Vec<_> =
            [0, 9, 10, 13, 14, 16, 17].map(|offset| unshift_offset(&shifts, offset)).into();
        assert_eq!(offsets, [0, 0, 0, 3, 4, 4, 4]);
    }

    #[test]
    fn no_line_and_no_column_are_too_far_off_to_be_asked_for() {
        let shifts = vec![Shift { offset: 0, line: 1, column: 1, bytes: 10 }];
        let positions = Positions::new(shifts, &"é".into(), None);
        author(&positions, 0, 0);
        author(&positions, u32::MAX, u32::MAX);
    }
}
