//! Values to be bound: the arguments of one statement, or of many rows.

use crate::cell::{Cell, Moment};

/// Values in order. Texts and bytes lie one behind the other in one buffer: an argument allocates nothing.
#[derive(Debug, Default, Clone)]
pub struct Args {
    bytes: Vec<u8>,
    items: Vec<Item>,
}

#[derive(Debug, Clone, Copy)]
enum Item {
    Null,
    Bool(bool),
    Int(i64),
    UInt(u64),
    Float(f64),
    /// From here to the start of the next text or bytes.
    Text(usize, usize),
    Bytes(usize, usize),
    Time(Moment),
}

impl Args {
    /// None yet.
    pub const fn new() -> Self {
        Self { bytes: Vec::new(), items: Vec::new() }
    }

    /// Appends a value. [`Cell::Raw`] is a text here, [`Cell::Single`] a float.
    pub fn push(&mut self, cell: Cell<'_>) {
        let item = match cell {
            Cell::Null => Item::Null,
            Cell::Bool(value) => Item::Bool(value),
            Cell::Int(value) => Item::Int(value),
            Cell::UInt(value) => Item::UInt(value),
            Cell::Float(value) => Item::Float(value),
            Cell::Single(value) => Item::Float(f64::from(value)),
            Cell::Text(text) | Cell::Raw(text) => {
                let (from, to) = self.keep(text);
                Item::Text(from, to)
            }
            Cell::Bytes(bytes) => {
                let (from, to) = self.keep(bytes);
                Item::Bytes(from, to)
            }
            Cell::Time(moment) => Item::Time(moment),
        };
        self.items.push(item);
    }

    fn keep(&mut self, bytes: &[u8]) -> (usize, usize) {
        let from = self.bytes.len();
        self.bytes.extend_from_slice(bytes);
        (from, self.bytes.len())
    }

    /// Forgets the values; their room stays.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.items.clear();
    }

    /// Becomes a copy of others, in the room that it has.
    pub(crate) fn copy_from(&mut self, others: &Self) {
        self.bytes.clone_from(&others.bytes);
        self.items.clone_from(&others.items);
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// How many bytes their texts and bytes have together.
    pub fn byte_count(&self) -> usize {
        self.bytes.len()
    }

    /// The value at a place.
    ///
    /// # Panics
    /// If there are fewer.
    pub fn get(&self, index: usize) -> Cell<'_> {
        self.cell(self.items[index])
    }

    fn cell(&self, item: Item) -> Cell<'_> {
        match item {
            Item::Null => Cell::Null,
            Item::Bool(value) => Cell::Bool(value),
            Item::Int(value) => Cell::Int(value),
            Item::UInt(value) => Cell::UInt(value),
            Item::Float(value) => Cell::Float(value),
            Item::Text(from, to) => Cell::Text(&self.bytes[from..to]),
            Item::Bytes(from, to) => Cell::Bytes(&self.bytes[from..to]),
            Item::Time(moment) => Cell::Time(moment),
        }
    }

    /// All of them, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Cell<'_>> + Clone {
        self.items.iter().map(|item| self.cell(*item))
    }

    /// Those from `from` on, before `to`.
    ///
    /// # Panics
    /// If there are fewer.
    pub fn range(&self, from: usize, to: usize) -> impl ExactSizeIterator<Item = Cell<'_>> + Clone {
        self.items[from..to].iter().map(|item| self.cell(*item))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_out_as_they_went_in() {
        let mut args = Args::new();
        let now = Moment { unix_seconds: -1, nanos: 5, offset_seconds: 3600 };
        let cells = [
            Cell::Null,
            Cell::Bool(true),
            Cell::Text(b"ab"),
            Cell::Int(-5),
            Cell::Bytes(b""),
            Cell::UInt(u64::MAX),
            Cell::Bytes(b"\0\xff"),
            Cell::Float(1.5),
            Cell::Time(now),
        ];
        for cell in cells {
            args.push(cell);
        }
        assert_eq!(args.iter().collect::<Vec<_>>(), cells);
        assert_eq!(args.range(2, 4).collect::<Vec<_>>(), cells[2..4]);
        assert_eq!((args.len(), args.byte_count(), args.get(6)), (9, 4, Cell::Bytes(b"\0\xff")));
        args.clear();
        assert!(args.is_empty());
    }
}
