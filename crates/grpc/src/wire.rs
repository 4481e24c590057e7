//! The bytes of messages, field by field: `prost` reads and writes keys and numbers, this file keeps what is between them as
//! it is, so that no message is built only to become JSON.

use prost::bytes::Buf as _;
use prost::encoding::{
    DecodeContext, WireType, decode_key, decode_varint, encode_key, encode_varint, skip_field,
};

/// The value of a field.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Raw<'a> {
    Varint(u64),
    Fixed64(u64),
    Bytes(&'a [u8]),
    /// The bytes between a group's begin and end.
    Group(&'a [u8]),
    Fixed32(u32),
}

/// The bytes are no message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Broken;

impl From<prost::DecodeError> for Broken {
    fn from(_: prost::DecodeError) -> Self {
        Self
    }
}

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
        let (number, kind) = decode_key(&mut self.bytes)?;
        let value = match kind {
            WireType::Varint => Raw::Varint(self.varint()?),
            WireType::SixtyFourBit => Raw::Fixed64(self.fixed64()?),
            WireType::LengthDelimited => {
                let size = usize::try_from(self.varint()?).map_err(|_| Broken)?;
                let (taken, rest) = self.bytes.split_at_checked(size).ok_or(Broken)?;
                self.bytes = rest;
                Raw::Bytes(taken)
            }
            WireType::StartGroup => Raw::Group(self.group(number)?),
            WireType::EndGroup => return Err(Broken),
            WireType::ThirtyTwoBit => Raw::Fixed32(self.fixed32()?),
        };
        Ok((number, value))
    }

    /// The bytes before the end of the group of this number.
    fn group(&mut self, number: u32) -> Result<&'a [u8], Broken> {
        let begin = self.bytes;
        loop {
            let inside = begin.len() - self.bytes.len();
            match decode_key(&mut self.bytes)? {
                (end, WireType::EndGroup) if end == number => return Ok(&begin[..inside]),
                (inner, kind) => {
                    skip_field(kind, inner, &mut self.bytes, DecodeContext::default())?;
                }
            }
        }
    }

    pub(crate) fn varint(&mut self) -> Result<u64, Broken> {
        Ok(decode_varint(&mut self.bytes)?)
    }

    pub(crate) fn fixed32(&mut self) -> Result<u32, Broken> {
        self.bytes.try_get_u32_le().map_err(|_| Broken)
    }

    pub(crate) fn fixed64(&mut self) -> Result<u64, Broken> {
        self.bytes.try_get_u64_le().map_err(|_| Broken)
    }
}

/// Appends a field of bytes.
pub(crate) fn put_bytes(number: u32, bytes: &[u8], out: &mut Vec<u8>) {
    encode_key(number, WireType::LengthDelimited, out);
    encode_varint(bytes.len() as u64, out);
    out.extend_from_slice(bytes);
}

/// Puts the length of the bytes from `start` on before them.
pub(crate) fn put_length_at(start: usize, out: &mut Vec<u8>) {
    let size = out.len() - start;
    if size < 0x80 {
        out.insert(start, size as u8);
        return;
    }
    let mut length = Vec::with_capacity(10);
    encode_varint(size as u64, &mut length);
    out.splice(start..start, length);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_put_is_read() {
        let mut out = Vec::new();
        for (number, value) in [(1, 0), (15, 127), (16, 128), (0x1fff_ffff, u64::MAX)] {
            encode_key(number, WireType::Varint, &mut out);
            encode_varint(value, &mut out);
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
