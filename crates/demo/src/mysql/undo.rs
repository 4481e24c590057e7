//! Rows as they were before a transaction, so that it can be rolled back.

use super::trouble::Trouble;

/// The most bytes of a log; a transaction that needs more is refused.
const BYTES_MAX: usize = 2 << 30;

/// Takes back one change.
#[derive(Debug)]
pub(crate) enum Undo {
    /// Rows with these keys, the first and the last of a stretch, are new.
    Inserted { table: u64, first: i64, last: i64 },
    /// A row that was changed or removed.
    Lost { table: u64, key: i64, row: Box<[u8]> },
}

/// The changes of a transaction, in their order.
#[derive(Debug, Default)]
pub(crate) struct Log {
    all: Vec<Undo>,
    bytes: usize,
}

impl Log {
    /// The changes so far.
    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }

    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }

    pub(crate) fn pop(&mut self) -> Option<Undo> {
        self.all.pop()
    }

    /// A row is new. `mark` is where its statement began: what is before stays apart.
    pub(crate) fn inserted(&mut self, table: u64, key: i64, mark: usize) {
        let is_of_it = self.all.len() > mark;
        match self.all.last_mut() {
            Some(Undo::Inserted { table: of, last, .. })
                if is_of_it && *of == table && last.checked_add(1) == Some(key) =>
            {
                *last = key;
            }
            _ => self.all.push(Undo::Inserted { table, first: key, last: key }),
        }
    }

    pub(crate) fn lost(&mut self, table: u64, key: i64, row: &[u8]) -> Result<(), Trouble> {
        self.bytes += size_of::<Undo>() + row.len();
        if self.bytes > BYTES_MAX {
            let text = "The total number of locks exceeds the lock table size";
            return Err(Trouble::new(1206, "HY000", text));
        }
        self.all.push(Undo::Lost { table, key, row: row.into() });
        Ok(())
    }
}
