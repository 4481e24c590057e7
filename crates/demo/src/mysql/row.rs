//! A row as its table keeps it: the columns but the key, each as the text protocol sends it. So most of a result is copied as it is.

/// Begins a column that is NULL.
const NULL: u8 = 0xfb;

/// Appends a number as the protocol writes lengths.
pub(crate) fn put_length(out: &mut Vec<u8>, length: u64) {
    match length {
        0..=250 => out.push(length as u8),
        251..=0xffff => {
            out.push(0xfc);
            out.extend_from_slice(&(length as u16).to_le_bytes());
        }
        0x1_0000..=0xff_ffff => {
            out.push(0xfd);
            out.extend_from_slice(&(length as u32).to_le_bytes()[..3]);
        }
        _ => {
            out.push(0xfe);
            out.extend_from_slice(&length.to_le_bytes());
        }
    }
}

/// Appends a column.
pub(crate) fn put_cell(out: &mut Vec<u8>, cell: Option<&[u8]>) {
    match cell {
        None => out.push(NULL),
        Some(text) => {
            put_length(out, text.len() as u64);
            out.extend_from_slice(text);
        }
    }
}

/// The columns of a row.
#[derive(Debug, Clone)]
pub(crate) struct Cells<'a>(&'a [u8]);

/// The columns of `row`, in order.
pub(crate) fn cells(row: &[u8]) -> Cells<'_> {
    Cells(row)
}

impl<'a> Iterator for Cells<'a> {
    type Item = Option<&'a [u8]>;

    fn next(&mut self) -> Option<Self::Item> {
        let (&first, rest) = self.0.split_first()?;
        let (size, bytes) = match first {
            NULL => {
                self.0 = rest;
                return Some(None);
            }
            0xfc => (2, u64::from(u16::from_le_bytes(*rest.first_chunk()?))),
            0xfd => (3, u64::from_le_bytes([rest[0], rest[1], rest[2], 0, 0, 0, 0, 0])),
            0xfe => (8, u64::from_le_bytes(*rest.first_chunk()?)),
            _ => (0, u64::from(first)),
        };
        let (text, behind) = rest[size..].split_at(bytes as usize);
        self.0 = behind;
        Some(Some(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_come_out_as_they_went_in() {
        let long = [vec![b'x'; 250], vec![b'y'; 251], vec![b'z'; 70_000]];
        let mut row = Vec::new();
        let all =
            [None, Some(&b""[..]), Some(b"a"), Some(&long[0]), Some(&long[1]), Some(&long[2])];
        all.iter().for_each(|cell| put_cell(&mut row, *cell));
        assert_eq!(cells(&row).collect::<Vec<_>>(), all);
    }
}
