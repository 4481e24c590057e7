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
    /// For a source that was itself generated (`//# sourceMappingURL=`).
    bundle: Option<SourceMap>,
    /// How k6 counts the columns of this module.
    told: Told,
}

/// How a module's columns are told in stacks: as in k6, whatever the reason for it there.
#[derive(Debug, Default)]
pub(crate) enum Told {
    /// In bytes, from 1.
    #[default]
    Bytes,
    /// In bytes, and in the first line from behind the wrapper that k6 puts around CommonJS. A file that names a source map
    /// gets a line of its own for it, which nothing takes away again if the map is missing.
    Wrapped {
        /// Whether the file names a map.
        names_map: bool,
    },
    /// From 0, at the token behind: k6 asks the map of what it compiled for the column after, and that of a map is one less.
    Typed(Arc<str>, Lines),
}

/// The bytes of `(function(module, exports){`.
const K6_WRAPPER: u32 = 27;

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
        Self(Arc::new(Inner { shifts, text, generated, ..Inner::default() }))
    }

    /// The same for code with a head before it, and with the source map of what its author
    /// bundled. To be asked before it is shared.
    pub(crate) fn within(self, head: Option<Shift>, bundle: Option<SourceMap>, told: Told) -> Self {
        let mut inner = Arc::into_inner(self.0).expect("it is not shared yet");
        inner.shifts.splice(0..0, head);
        inner.bundle = bundle;
        inner.told = told;
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

    /// The place as stacks tell it, which is as k6 does: [`Positions::author`] but for the column. Columns count
    /// bytes; columns from source maps, and of TypeScript, count from 0.
    pub fn told(&self, line: u32, column: u32) -> Place<'_> {
        let inner = &*self.0;
        if let Told::Typed(text, lines) = &inner.told {
            if let Some(map) = &inner.generated {
                let column = unshift(&inner.shifts, line, column);
                let column = inner
                    .text
                    .as_ref()
                    .map_or(column, |(code, lines)| lines.utf16_column(code, line, column));
                if let Some(place) = map.told(line, column) {
                    return Place { url: None, ..place };
                }
            }
            let place = self.author(line, column);
            return Place { column: typed_column(text, lines, place.line, place.column), ..place };
        }
        let column = unshift(&inner.shifts, line, column);
        if let Some(place) = inner.bundle.as_ref().and_then(|map| map.told(line, column)) {
            return place;
        }
        let (line, column) = match inner.told {
            Told::Wrapped { names_map: true } if inner.bundle.is_none() => (line + 1, column),
            Told::Wrapped { .. } if line == 1 && inner.bundle.is_none() => {
                (line, column + K6_WRAPPER)
            }
            _ => (line, column),
        };
        Place { url: None, line, column }
    }

    /// Whether [`Positions::told`] gives back what it gets, for all of the code.
    pub fn is_told_as_is(&self) -> bool {
        let inner = &*self.0;
        inner.shifts.is_empty() && inner.bundle.is_none() && matches!(inner.told, Told::Bytes)
    }
}

/// The column, from 0, of what k6's compiler has marked last up to the byte after a place: that itself, but behind the bracket of
/// a call its first argument, or the bracket that ends it. Where that is in another line, it is the name of what is called.
fn typed_column(text: &str, lines: &Lines, line: u32, column: u32) -> u32 {
    let content = lines.content(text, line);
    let offset = (lines.offset(text, line, column) - lines.offset(text, line, 1)) as usize;
    let Some(arguments) = content.get(offset..).and_then(|rest| rest.strip_prefix('(')) else {
        // Behind a name of one letter the bracket that ends a call is marked.
        let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$');
        let mut rest = content.get(offset..).unwrap_or_default().chars();
        let is_last = rest.next().is_some_and(is_part) && rest.next() == Some(')');
        let is_alone = !content[..offset].ends_with(is_part);
        return if is_last && is_alone { column } else { column.saturating_sub(1) };
    };
    let first = arguments.trim_start();
    if !(first.is_empty() || first.starts_with("//") || first.starts_with("/*")) {
        return column + (arguments.len() - first.len()) as u32;
    }
    let name =
        content[..offset].trim_end_matches(|c: char| c.is_alphanumeric() || matches!(c, '_' | '$'));
    name.encode_utf16().count() as u32
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
        assert!(positions.is_told_as_is());
        assert_eq!(author(&positions, 2, 7), (2, 7));
    }

    #[test]
    fn stacks_tell_columns_of_bytes() {
        let positions = Positions::new(Vec::new(), &"x\n'日本' + y()".into(), None);
        assert_eq!(positions.told(2, 12).column, 12);
    }

    #[test]
    fn the_first_line_of_commonjs_is_told_from_behind_the_wrapper() {
        let head = Shift { offset: 0, line: 1, column: 1, bytes: 10 };
        let positions = Positions::new(Vec::new(), &"x()\ny()".into(), None);
        let positions = positions.within(Some(head), None, Told::Wrapped { names_map: false });
        assert_eq!(positions.told(1, 12).column, 29);
        assert_eq!(positions.told(2, 2).column, 2);
    }

    #[test]
    fn a_missing_map_moves_the_lines_of_commonjs() {
        let head = Shift { offset: 0, line: 1, column: 1, bytes: 10 };
        let positions = Positions::new(Vec::new(), &"x()\ny()".into(), None);
        let positions = positions.within(Some(head), None, Told::Wrapped { names_map: true });
        let places = [(1, 12), (2, 2)].map(|(line, column)| {
            let place = positions.told(line, column);
            (place.line, place.column)
        });
        assert_eq!(places, [(2, 2), (3, 2)]);
        assert_eq!(positions.author(2, 2).line, 2);
    }

    #[test]
    fn typescript_is_told_at_the_token_behind_from_0() {
        let text: Arc<str> =
            "  f(a);\n  throw x;\n  h.g( b );\n  h.g(\n    b);\n  f();\n  f(a.b);".into();
        let told = Told::Typed(Arc::clone(&text), Lines::of(&text));
        let positions = Positions::new(Vec::new(), &text, None).within(None, None, told);
        let places = [(1, 4), (2, 3), (3, 6), (4, 6), (6, 4), (7, 7), (9, 9), (1, 99)];
        let columns = places.map(|(line, column)| positions.told(line, column).column);
        assert_eq!(columns, [4, 2, 7, 4, 4, 7, 8, 98]);
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
