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
    /// Whether a stack tells columns in UTF-16 units: those of typed files. Those of JavaScript are in bytes, as in k6,
    /// which maps the former through esbuild and takes the latter as its engine counts them.
    is_typed: bool,
    /// For code that was generated from the source.
    generated: Option<SourceMap>,
    /// For a source that was itself generated (`//# sourceMappingURL=`).
    bundle: Option<SourceMap>,
    /// Whether a stack tells one line too many: k6 puts a line before a CommonJS file that names a source map, and
    /// nothing takes it away again if the map is missing.
    is_a_line_down: bool,
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
        Self(Arc::new(Inner {
            shifts,
            text,
            is_typed: false,
            generated,
            bundle: None,
            is_a_line_down: false,
        }))
    }

    /// The same for code whose types were taken away, or not. To be asked before it is shared.
    pub(crate) fn typed(self, is_typed: bool) -> Self {
        let mut inner = Arc::into_inner(self.0).expect("nobody shares it yet");
        inner.is_typed = is_typed;
        Self(Arc::new(inner))
    }

    /// The same for code with a head before it, and with the source map of what its author
    /// bundled, if it could be had (`names_map` says that there should be one). To be asked before it is shared.
    pub(crate) fn within(
        self,
        head: Option<Shift>,
        bundle: Option<SourceMap>,
        names_map: bool,
    ) -> Self {
        let mut inner = Arc::into_inner(self.0).expect("nobody shares it yet");
        inner.is_a_line_down = head.is_some() && names_map && bundle.is_none();
        inner.shifts.splice(0..0, head);
        inner.bundle = bundle;
        Self(Arc::new(inner))
    }

    /// The author's place of a place in `code`: `line` from 1, `column` in bytes from 1, as
    /// QuickJS counts them. Never fails: what lies in no map stays where it is.
    pub fn author(&self, line: u32, column: u32) -> Place<'_> {
        self.place(line, column, true)
    }

    /// The same as a stack tells it: in a file without types, the column is in bytes.
    pub fn in_stack(&self, line: u32, column: u32) -> Place<'_> {
        let mut place = self.place(line, column, self.0.is_typed || self.0.generated.is_some());
        place.line += u32::from(self.0.is_a_line_down);
        place
    }

    fn place(&self, line: u32, column: u32, in_utf16: bool) -> Place<'_> {
        let inner = &*self.0;
        let column = unshift(&inner.shifts, line, column);
        let column = match &inner.text {
            Some((text, lines)) if in_utf16 => lines.utf16_column(text, line, column),
            _ => column,
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

    /// Whether [`Positions::author`] gives back what it gets, for all of the code.
    pub fn is_identity(&self) -> bool {
        let inner = &*self.0;
        inner.shifts.is_empty()
            && inner.text.is_none()
            && inner.generated.is_none()
            && inner.bundle.is_none()
            && !inner.is_a_line_down
    }
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
    fn a_missing_map_moves_the_lines_of_a_wrapped_file() {
        let head = Shift { offset: 0, line: 1, column: 1, bytes: 10 };
        let positions = |head, names_map| {
            Positions::new(Vec::new(), &"x\ny".into(), None).within(head, None, names_map)
        };
        assert_eq!(positions(Some(head), true).in_stack(2, 1).line, 3);
        assert_eq!(positions(Some(head), true).author(2, 1).line, 2);
        assert_eq!(positions(Some(head), false).in_stack(2, 1).line, 2);
        assert_eq!(positions(None, true).in_stack(2, 1).line, 2);
    }

    #[test]
    fn a_stack_tells_bytes_where_there_are_no_types() {
        let positions = Positions::new(Vec::new(), &"x\n'日本' + y()".into(), None);
        assert_eq!(positions.in_stack(2, 12).column, 12);
        assert_eq!(positions.typed(true).in_stack(2, 12).column, 8);
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
