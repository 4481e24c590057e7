//! The bytes of messages: tags, varints, lengths.

/// What stands behind a tag.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Raw<'a> {
    Varint(u64),
    Fixed64(u64),
    Bytes(&'a [u8]),
    /// What is between a group's begin and end.
    Group(&'a [u8]),
    Fixed32(u32),
}

/// The bytes are no message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Broken;

/// Nesting of groups that is followed.
const GROUPS_MAX: u32 = 100;

/// Reads the fields of a message one by one.
pub(crate) struct Reader<'a> {
    bytes: &'a [u8],
}

impl<'a> Reader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes }
    }

    pub(crate) fn is_at_end(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The number of the next field, and its value.
    pub(crate) fn field(&mut self) -> Result<(u32, Raw<'a>), Broken> {
        let tag = self.tag()?;
        Ok((tag.0, self.value(tag, GROUPS_MAX)?))
    }

    fn tag(&mut self) -> Result<(u32, u8), Broken> {
        let tag = self.varint()?;
        let number = u32::try_from(tag >> 3).map_err(|_| Broken)?;
        if number == 0 || number > 0x1fff_ffff {
            return Err(Broken);
        }
        Ok((number, (tag & 7) as u8))
    }

    fn value(&mut self, (number, kind): (u32, u8), depth: u32) -> Result<Raw<'a>, Broken> {
        Ok(match kind {
            0 => Raw::Varint(self.varint()?),
            1 => Raw::Fixed64(self.fixed64()?),
            2 => {
                let size = usize::try_from(self.varint()?).map_err(|_| Broken)?;
                Raw::Bytes(self.take(size)?)
            }
            3 => {
                let depth = depth.checked_sub(1).ok_or(Broken)?;
                let begin = self.bytes;
                loop {
                    let inside = begin.len() - self.bytes.len();
                    let tag = self.tag()?;
                    if tag == (number, 4) {
                        return Ok(Raw::Group(&begin[..inside]));
                    }
                    self.value(tag, depth)?;
                }
            }
            5 => Raw::Fixed32(self.fixed32()?),
            _ => return Err(Broken),
        })
    }

    pub(crate) fn varint(&mut self) -> Result<u64, Broken> {
        let mut value = 0u64;
        for (index, &byte) in self.bytes.iter().take(10).enumerate() {
            // The tenth byte has room for one bit.
            if index == 9 && byte > 1 {
                return Err(Broken);
            }
            value |= u64::from(byte & 0x7f) << (7 * index);
            if byte < 0x80 {
                self.bytes = &self.bytes[index + 1..];
                return Ok(value);
            }
        }
        Err(Broken)
    }

    pub(crate) fn fixed32(&mut self) -> Result<u32, Broken> {
        let bytes = self.take(4)?.try_into().map_err(|_| Broken)?;
        Ok(u32::from_le_bytes(bytes))
    }

    pub(crate) fn fixed64(&mut self) -> Result<u64, Broken> {
        let bytes = self.take(8)?.try_into().map_err(|_| Broken)?;
        Ok(u64::from_le_bytes(bytes))
    }

    fn take(&mut self, size: usize) -> Result<&'a [u8], Broken> {
        let (taken, rest) = self.bytes.split_at_checked(size).ok_or(Broken)?;
        self.bytes = rest;
        Ok(taken)
    }
}

/// Appends a varint.
pub(crate) fn put_varint(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Appends a tag.
pub(crate) fn put_tag(number: u32, kind: u8, out: &mut Vec<u8>) {
    put_varint(u64::from(number) << 3 | u64::from(kind), out);
}

/// Appends a field of bytes.
pub(crate) fn put_bytes(number: u32, bytes: &[u8], out: &mut Vec<u8>) {
    put_tag(number, 2, out);
    put_varint(bytes.len() as u64, out);
    out.extend_from_slice(bytes);
}

/// Puts the length of what stands from `start` on before it.
pub(crate) fn put_length_at(start: usize, out: &mut Vec<u8>) {
    let size = out.len() - start;
    if size < 0x80 {
        out.insert(start, size as u8);
        return;
    }
    let mut length = Vec::with_capacity(10);
    put_varint(size as u64, &mut length);
    out.splice(start..start, length);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_put_is_read() {
        let mut out = Vec::new();
        for (number, value) in [(1, 0), (15, 127), (16, 128), (0x1fff_ffff, u64::MAX)] {
            put_tag(number, 0, &mut out);
            put_varint(value, &mut out);
        }
        put_bytes(3, &[7; 300], &mut out);
        let mut reader = Reader::new(&out);
        assert_eq!(reader.field(), Ok((1, Raw::Varint(0))));
        assert_eq!(reader.field(), Ok((15, Raw::Varint(127))));
        assert_eq!(reader.field(), Ok((16, Raw::Varint(128))));
        assert_eq!(reader.field(), Ok((0x1fff_ffff, Raw::Varint(u64::MAX))));
        assert_eq!(reader.field(), Ok((3, Raw::Bytes(&[7; 300]))));
        assert!(reader.is_at_end());
    }

    #[test]
    fn lengths_are_put_before_what_they_count() {
        for size in [0, 1, 127, 128, 70_000] {
            let mut out = vec![9];
            out.resize(1 + size, 5);
            put_length_at(1, &mut out);
            let mut reader = Reader::new(&out[1..]);
            assert_eq!(reader.varint(), Ok(size as u64));
            assert_eq!(reader.bytes.len(), size);
        }
    }

    #[test]
    fn broken_bytes_are_told() {
        for broken in [
            &[0x08][..],
            &[0x00, 1],
            &[0x0a, 5, 1],
            &[0x0f, 1],
            &[0x0b, 0x08, 1],
            &[0x0c],
            &[0xff; 11],
        ] {
            assert_eq!(Reader::new(broken).field().err(), Some(Broken), "{broken:?}");
        }
        let groups = vec![0x0b; 100_000];
        assert_eq!(Reader::new(&groups).field().err(), Some(Broken));
    }

    #[test]
    fn a_group_is_what_is_between_its_ends() {
        let bytes = [0x0b, 0x08, 5, 0x0c, 0x10, 1];
        let mut reader = Reader::new(&bytes);
        assert_eq!(reader.field(), Ok((1, Raw::Group(&[0x08, 5]))));
        assert_eq!(reader.field(), Ok((2, Raw::Varint(1))));
    }
}
