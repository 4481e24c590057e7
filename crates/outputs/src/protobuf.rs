//! Protocol buffers, written: the little of the wire format that outputs need.

/// Varints.
const VARINT: u64 = 0;
/// Eight bytes.
const FIXED64: u64 = 1;
/// A length, and then that number of bytes.
const BYTES: u64 = 2;

pub(crate) fn varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Small for small numbers of either sign.
pub(crate) fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)) as u64
}

pub(crate) fn uint(out: &mut Vec<u8>, field: u64, value: u64) {
    varint(out, field << 3 | VARINT);
    varint(out, value);
}

pub(crate) fn sint(out: &mut Vec<u8>, field: u64, value: i64) {
    uint(out, field, zigzag(value));
}

pub(crate) fn fixed(out: &mut Vec<u8>, field: u64, value: u64) {
    varint(out, field << 3 | FIXED64);
    out.extend_from_slice(&value.to_le_bytes());
}

pub(crate) fn double(out: &mut Vec<u8>, field: u64, value: f64) {
    fixed(out, field, value.to_bits());
}

pub(crate) fn bytes(out: &mut Vec<u8>, field: u64, value: &[u8]) {
    varint(out, field << 3 | BYTES);
    varint(out, value.len() as u64);
    out.extend_from_slice(value);
}

pub(crate) fn text(out: &mut Vec<u8>, field: u64, value: &str) {
    bytes(out, field, value.as_bytes());
}

/// A message within a message; its length comes first, so what `write` wrote is moved to make room.
pub(crate) fn message(out: &mut Vec<u8>, field: u64, write: impl FnOnce(&mut Vec<u8>)) {
    varint(out, field << 3 | BYTES);
    let start = out.len();
    // Most are shorter than 128 bytes or so: room for one byte of length is made beforehand.
    out.push(0);
    write(out);
    let length = out.len() - start - 1;
    if length < 0x80 {
        out[start] = length as u8;
        return;
    }
    let mut head = Vec::with_capacity(10);
    varint(&mut head, length as u64);
    out.splice(start..=start, head);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_take_as_many_bytes_as_they_need() {
        let written = |value| {
            let mut out = Vec::new();
            varint(&mut out, value);
            out
        };
        assert_eq!(written(0), [0]);
        assert_eq!(written(300), [0xac, 2]);
        assert_eq!(written(u64::MAX).len(), 10);
        assert_eq!([0, -1, 1, -2].map(zigzag), [0, 1, 2, 3]);
    }

    #[test]
    fn a_message_begins_with_its_length_however_long_it_is() {
        for size in [0usize, 1, 127, 128, 20_000] {
            let mut out = vec![9];
            message(&mut out, 2, |out| out.resize(out.len() + size, 7));
            let mut expected = vec![9, 2 << 3 | 2];
            varint(&mut expected, size as u64);
            expected.resize(expected.len() + size, 7);
            assert_eq!(out, expected, "{size}");
        }
    }
}
