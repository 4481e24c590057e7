//! Rows as the thread packs them: for each value a letter and its bytes.

use crate::cell::{Cell, Moment};
use crate::column::Column;

/// Rows, one behind the other.
#[derive(Debug, Default)]
pub(super) struct Packed {
    pub(super) bytes: Vec<u8>,
    pub(super) rows: Vec<(usize, usize)>,
}

impl Packed {
    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.rows.clear();
    }

    /// Appends a value. A text or a blob of SQLite has less than 2 GiB.
    #[inline]
    pub(super) fn push(&mut self, cell: Cell<'_>) {
        let out = &mut self.bytes;
        match cell {
            Cell::Null => out.push(b'n'),
            Cell::Bool(value) => out.extend([b'o', u8::from(value)]),
            Cell::Int(value) => put(out, b'i', value.to_le_bytes()),
            Cell::UInt(value) => put(out, b'i', value.to_le_bytes()),
            Cell::Float(value) => put(out, b'f', value.to_le_bytes()),
            Cell::Single(value) => put(out, b'f', f64::from(value).to_le_bytes()),
            Cell::Text(text) | Cell::Raw(text) => put_bytes(out, b't', text),
            Cell::Bytes(bytes) => put_bytes(out, b'b', bytes),
            Cell::Time(moment) => {
                out.push(b'm');
                out.extend(moment.unix_seconds.to_le_bytes());
                out.extend(moment.nanos.to_le_bytes());
                out.extend(moment.offset_seconds.to_le_bytes());
            }
        }
    }
}

#[inline]
fn put(out: &mut Vec<u8>, letter: u8, bytes: [u8; 8]) {
    let mut whole = [letter; 9];
    whole[1..].copy_from_slice(&bytes);
    out.extend_from_slice(&whole);
}

#[inline]
fn put_bytes(out: &mut Vec<u8>, letter: u8, bytes: &[u8]) {
    let len = u32::try_from(bytes.len()).unwrap_or(u32::MAX).to_le_bytes();
    out.extend_from_slice(&[letter, len[0], len[1], len[2], len[3]]);
    out.extend_from_slice(bytes);
}

/// Gives the sink the values of a row.
#[inline]
pub(crate) fn read<E>(
    row: &[u8],
    columns: &[Column],
    mut sink: impl FnMut(usize, Cell<'_>) -> Result<(), E>,
) -> Result<(), Option<E>> {
    let mut rest = row;
    for index in 0..columns.len() {
        let (letter, after) = rest.split_first().ok_or(None)?;
        rest = after;
        let cell = match letter {
            b'n' => Cell::Null,
            b'o' => Cell::Bool(taken::<1, E>(&mut rest)? != [0]),
            b'i' => Cell::Int(i64::from_le_bytes(taken(&mut rest)?)),
            b'f' => Cell::Float(f64::from_le_bytes(taken(&mut rest)?)),
            b't' | b'b' => {
                let len = u32::from_le_bytes(taken(&mut rest)?) as usize;
                let (bytes, after) = rest.split_at_checked(len).ok_or(None)?;
                rest = after;
                if *letter == b't' { Cell::Text(bytes) } else { Cell::Bytes(bytes) }
            }
            b'm' => Cell::Time(Moment {
                unix_seconds: i64::from_le_bytes(taken(&mut rest)?),
                nanos: u32::from_le_bytes(taken(&mut rest)?),
                offset_seconds: i32::from_le_bytes(taken(&mut rest)?),
            }),
            _ => return Err(None),
        };
        sink(index, cell).map_err(Some)?;
    }
    Ok(())
}

#[inline]
fn taken<const N: usize, E>(rest: &mut &[u8]) -> Result<[u8; N], Option<E>> {
    let (bytes, after) = rest.split_first_chunk::<N>().ok_or(None)?;
    *rest = after;
    Ok(*bytes)
}
