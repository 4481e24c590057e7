//! From names and values to a header block.

use super::table::{FIXED, Table};
use super::write_number;

/// The most that our table takes, whatever the server offers.
const TABLE_MAX: usize = 4096;

/// Values up to this size are worth an entry.
const VALUE_MAX: usize = 1024;

/// The sending side: one per connection.
///
/// Headers that the requests of one connection share go out as one byte each from the second request on. Nothing is
/// Huffman-coded: it would cost us and the server more than the bytes are worth on a fast network.
#[derive(Debug)]
pub(crate) struct Encoder {
    table: Table,
    /// The server has changed the size of its table, and is to be told ours.
    resized: bool,
}

impl Encoder {
    pub(crate) fn new() -> Self {
        Self { table: Table::new(TABLE_MAX), resized: false }
    }

    /// The server's table has this size.
    pub(crate) fn resize(&mut self, size: usize) {
        let size = size.min(TABLE_MAX);
        if size != self.table.size_max() {
            self.table.resize(size);
            self.resized = true;
        }
    }

    /// Before the first header of a block.
    pub(crate) fn begin(&mut self, out: &mut Vec<u8>) {
        if std::mem::take(&mut self.resized) {
            write_number(self.table.size_max(), 5, 0x20, out);
        }
    }

    /// A header that is likely to come again. `name` is in lower case.
    pub(crate) fn header(&mut self, name: &[u8], value: &[u8], out: &mut Vec<u8>) {
        let first = FIXED.len() + 1;
        let known = self
            .table
            .iter()
            .position(|entry| entry.value() == value && entry.name() == name)
            .map(|at| at + first)
            .or_else(|| fixed(name, Some(value)));
        if let Some(index) = known {
            write_number(index, 7, 0x80, out);
            return;
        }
        let is_kept = value.len() <= VALUE_MAX && self.table.size_max() > 0;
        let index = fixed(name, None).or_else(|| {
            self.table.iter().position(|entry| entry.name() == name).map(|at| at + first)
        });
        if is_kept {
            write_number(index.unwrap_or(0), 6, 0x40, out);
        } else {
            write_number(index.unwrap_or(0), 4, 0, out);
        }
        if index.is_none() {
            text(name, out);
        }
        text(value, out);
        if is_kept {
            self.table.add(name, value);
        }
    }

    /// A header that is different each time: it takes no entry away from others.
    pub(crate) fn passing(name: &str, value: &[u8], out: &mut Vec<u8>) {
        if let Some(index) = fixed(name.as_bytes(), Some(value)) {
            write_number(index, 7, 0x80, out);
            return;
        }
        let index = fixed(name.as_bytes(), None);
        write_number(index.unwrap_or(0), 4, 0, out);
        if index.is_none() {
            text(name.as_bytes(), out);
        }
        text(value, out);
    }
}

/// The index of a fixed entry.
fn fixed(name: &[u8], value: Option<&[u8]>) -> Option<usize> {
    let fits = |entry: &(&str, &str)| {
        entry.0.as_bytes() == name && value.is_none_or(|value| entry.1.as_bytes() == value)
    };
    FIXED.iter().position(fits).map(|at| at + 1)
}

fn text(text: &[u8], out: &mut Vec<u8>) {
    write_number(text.len(), 7, 0, out);
    out.extend_from_slice(text);
}

#[cfg(test)]
mod tests {
    use super::super::Decoder;
    use super::*;

    #[test]
    fn the_second_time_a_header_is_one_byte() {
        let (mut encoder, mut decoder) = (Encoder::new(), Decoder::new());
        let lines: [(&[u8], &[u8]); 4] = [
            (b":method", b"GET"),
            (b":authority", b"a.test"),
            (b"x-own", b"1"),
            (b"cookie", b"a=b"),
        ];
        let mut sizes = Vec::new();
        for _ in 0..2 {
            let mut block = Vec::new();
            encoder.begin(&mut block);
            for (name, value) in lines {
                encoder.header(name, value, &mut block);
            }
            Encoder::passing(":path", b"/x?y", &mut block);
            let mut seen = Vec::new();
            decoder
                .decode(&block, |name, value| seen.push((name.to_vec(), value.to_vec())))
                .unwrap();
            assert_eq!(seen.pop(), Some((b":path".to_vec(), b"/x?y".to_vec())));
            assert!(seen.iter().zip(lines).all(|(seen, line)| (&*seen.0, &*seen.1) == line));
            sizes.push(block.len());
        }
        assert_eq!(sizes[1], 4 + 6);
    }

    #[test]
    fn a_server_without_a_table_gets_all_in_words() {
        let (mut encoder, mut decoder) = (Encoder::new(), Decoder::new());
        encoder.resize(0);
        for _ in 0..2 {
            let mut block = Vec::new();
            encoder.begin(&mut block);
            encoder.header(b"x-own", b"1", &mut block);
            let mut count = 0;
            decoder.decode(&block, |name, _| count += usize::from(name == b"x-own")).unwrap();
            assert_eq!((count, block.len() >= 9), (1, true));
        }
    }
}
