//! Rows as they came.

use crate::cell::Cell;
use crate::column::Column;
use crate::{mysql, postgres, sqlite};

/// How many bytes of rows a chunk gathers before it is handed over. A row that is longer comes alone.
pub const ROOM: usize = 64 * 1024;

/// The form of the rows of a chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Rows of MySQL's text protocol: each value a length-encoded string.
    MySqlText,
    /// Rows of MySQL's binary protocol.
    MySqlBinary,
    /// The body of PostgreSQL's `DataRow`, values in text.
    Postgres,
    /// Rows as our SQLite thread packs them.
    Sqlite,
}

/// Some rows of one result, one behind the other in one buffer. It is filled again and again.
#[derive(Debug)]
pub struct Chunk {
    format: Format,
    bytes: Vec<u8>,
    rows: Vec<(usize, usize)>,
}

impl Default for Chunk {
    fn default() -> Self {
        Self { format: Format::Postgres, bytes: Vec::new(), rows: Vec::new() }
    }
}

impl Chunk {
    /// Empties it for rows of this form; its room stays.
    pub fn begin(&mut self, format: Format) {
        self.format = format;
        self.rows.clear();
        if self.bytes.capacity() > 4 * ROOM {
            self.bytes = Vec::new();
        }
        self.bytes.clear();
    }

    /// Appends a row.
    pub fn push(&mut self, row: &[u8]) {
        let from = self.bytes.len();
        self.bytes.extend_from_slice(row);
        self.rows.push((from, self.bytes.len()));
    }

    /// Takes a whole buffer and the places of the rows in it, and gives the old buffer back, empty.
    pub fn swap(&mut self, bytes: &mut Vec<u8>, rows: impl IntoIterator<Item = (usize, usize)>) {
        std::mem::swap(&mut self.bytes, bytes);
        bytes.clear();
        self.rows.clear();
        self.rows.extend(rows);
    }

    /// The buffer and the places of rows, for a driver that fills them itself.
    pub(crate) fn parts(&mut self) -> (&mut Vec<u8>, &mut Vec<(usize, usize)>) {
        (&mut self.bytes, &mut self.rows)
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Whether it should be handed over.
    pub fn is_full(&self) -> bool {
        self.bytes.len() >= ROOM
    }

    /// The bytes that its rows have together.
    pub fn byte_count(&self) -> usize {
        self.bytes.len()
    }

    /// Gives the sink each value of a row with the number of its column, from left to right, until the sink breaks off with an error.
    ///
    /// # Errors
    /// `Err(Some(error))` of the sink; `Err(None)`: the row is not what its columns promise, which is the server's fault.
    ///
    /// # Panics
    /// If there are fewer rows.
    #[inline]
    pub fn read<E>(
        &self,
        row: usize,
        columns: &[Column],
        sink: impl FnMut(usize, Cell<'_>) -> Result<(), E>,
    ) -> Result<(), Option<E>> {
        let (from, to) = self.rows[row];
        let bytes = &self.bytes[from..to];
        match self.format {
            Format::MySqlText => mysql::row::read_text(bytes, columns, sink),
            Format::MySqlBinary => mysql::row::read_binary(bytes, columns, sink),
            Format::Postgres => postgres::row::read(bytes, columns, sink),
            Format::Sqlite => sqlite::row::read(bytes, columns, sink),
        }
    }
}
