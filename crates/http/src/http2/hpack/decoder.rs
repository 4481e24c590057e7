//! From a header block to names and values.

use super::table::{FIXED, Table};
use super::{huffman, read_number};

/// The size of the table that we offer: that of the standard.
const TABLE_SIZE: usize = 4096;

/// A block begins with two changes of the table's size at most, as the standard has it; some more are borne.
const RESIZES_MAX: u32 = 16;

/// A header block that breaks the rules. The connection is of no more use.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Undecodable;

/// The receiving side: one per connection, since its table remembers.
#[derive(Debug)]
pub(crate) struct Decoder {
    table: Table,
    /// The buffer for texts that the block has in Huffman's code. Empty between blocks.
    text: Vec<u8>,
}

impl Decoder {
    pub(crate) fn new() -> Self {
        Self { table: Table::new(TABLE_SIZE), text: Vec::new() }
    }

    /// Gives name and value of each header of a block.
    pub(crate) fn decode(
        &mut self,
        block: &[u8],
        each: impl FnMut(&[u8], &[u8]),
    ) -> Result<(), Undecodable> {
        let result = self.read(block, each).ok_or(Undecodable);
        self.text = Vec::new();
        result
    }

    fn read(&mut self, mut block: &[u8], mut each: impl FnMut(&[u8], &[u8])) -> Option<()> {
        let mut resizes = RESIZES_MAX;
        while let Some(&first) = block.first() {
            if first & 0xe0 == 0x20 {
                let size = read_number(&mut block, 5)?;
                if resizes == 0 || size > TABLE_SIZE {
                    return None;
                }
                resizes -= 1;
                self.table.resize(size);
                continue;
            }
            resizes = 0;
            if first & 0x80 != 0 {
                let index = read_number(&mut block, 7)?;
                let (name, value) = self.entry(index)?;
                each(name, value);
                continue;
            }
            let is_kept = first & 0x40 != 0;
            let index = read_number(&mut block, if is_kept { 6 } else { 4 })?;
            self.text.clear();
            let name = if index == 0 { Some(read_text(&mut block, &mut self.text)?) } else { None };
            let value = read_text(&mut block, &mut self.text)?;
            let value = value.of(&self.text);
            let name = match &name {
                Some(name) => name.of(&self.text),
                None => self.entry(index)?.0,
            };
            each(name, value);
            if is_kept {
                let name = name.to_vec();
                self.table.add(&name, value);
            }
        }
        Some(())
    }

    fn entry(&self, index: usize) -> Option<(&[u8], &[u8])> {
        match FIXED.get(index.checked_sub(1)?) {
            Some((name, value)) => Some((name.as_bytes(), value.as_bytes())),
            None => self.table.get(index).map(|entry| (entry.name(), entry.value())),
        }
    }
}

/// A text of a block: there as it is, or decoded elsewhere.
enum Text<'b> {
    Plain(&'b [u8]),
    Decoded { start: usize, end: usize },
}

impl Text<'_> {
    fn of<'a>(&'a self, decoded: &'a [u8]) -> &'a [u8] {
        match self {
            Self::Plain(text) => text,
            Self::Decoded { start, end } => &decoded[*start..*end],
        }
    }
}

fn read_text<'b>(block: &mut &'b [u8], decoded: &mut Vec<u8>) -> Option<Text<'b>> {
    let is_coded = block.first()? & 0x80 != 0;
    let size = read_number(block, 7)?;
    let (text, rest) = block.split_at_checked(size)?;
    *block = rest;
    if !is_coded {
        return Some(Text::Plain(text));
    }
    let start = decoded.len();
    huffman::decode(text, decoded)?;
    Some(Text::Decoded { start, end: decoded.len() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(decoder: &mut Decoder, block: &[u8]) -> Result<String, Undecodable> {
        let mut out = String::new();
        decoder.decode(block, |name, value| {
            out.push_str(&String::from_utf8_lossy(name));
            out.push('=');
            out.push_str(&String::from_utf8_lossy(value));
            out.push(';');
        })?;
        Ok(out)
    }

    /// RFC 7541 C.3 and C.4: three requests, plain and coded.
    #[test]
    fn the_examples_of_the_rfc_are_read() {
        let hex = |text: &str| -> Vec<u8> {
            let digits: Vec<u8> = text.bytes().filter(u8::is_ascii_hexdigit).collect();
            let byte =
                |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
            digits.chunks(2).map(byte).collect()
        };
        let first = ":method=GET;:scheme=http;:path=/;:authority=www.example.com;";
        let third = ":method=GET;:scheme=https;:path=/index.html;:authority=www.example.com;\
                     custom-key=custom-value;";
        let plain = [
            "8286 8441 0f77 7777 2e65 7861 6d70 6c65 2e63 6f6d",
            "8286 84be 5808 6e6f 2d63 6163 6865",
            "8287 85bf 400a 6375 7374 6f6d 2d6b 6579 0c63 7573 746f 6d2d 7661 6c75 65",
        ];
        let coded = [
            "8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff",
            "8286 84be 5886 a8eb 1064 9cbf",
            "8287 85bf 4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf",
        ];
        for blocks in [plain, coded] {
            let mut decoder = Decoder::new();
            assert_eq!(read(&mut decoder, &hex(blocks[0])).as_deref(), Ok(first));
            let second = read(&mut decoder, &hex(blocks[1])).unwrap();
            assert_eq!(second, format!("{first}cache-control=no-cache;"));
            assert_eq!(read(&mut decoder, &hex(blocks[2])).as_deref(), Ok(third));
        }
    }

    #[test]
    fn nonsense_is_refused() {
        for block in [&[0x80][..], &[0xff, 0xff, 1], &[0x40, 5, b'a'], &[0x3f, 0xe2, 0x1f], &[0xc0]]
        {
            assert_eq!(read(&mut Decoder::new(), block), Err(Undecodable), "{block:?}");
        }
        // A table is resized at the beginning only.
        assert_eq!(read(&mut Decoder::new(), &[0x82, 0x20]), Err(Undecodable));
        // And not without end.
        assert!(read(&mut Decoder::new(), &[0x20; RESIZES_MAX as usize]).is_ok());
        assert_eq!(read(&mut Decoder::new(), &[0x20; RESIZES_MAX as usize + 1]), Err(Undecodable));
    }
}
