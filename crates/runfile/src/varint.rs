//! Whole numbers in as few bytes as they need (LEB128): seven bits a byte, lowest first, the top bit says that more follow.

/// Writes a number.
pub(crate) fn put(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Writes a number that may be negative: 0, −1, 1, −2, … are 0, 1, 2, 3, …
pub(crate) fn put_signed(out: &mut Vec<u8>, number: i64) {
    put(out, (number << 1 ^ number >> 63) as u64);
}

/// Reads a number, and moves on behind it. `None` if the bytes end within it or it has more than 64 bits.
pub(crate) fn take(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for (place, byte) in bytes.iter().enumerate().take(10) {
        let bits = u64::from(byte & 0x7f);
        if place == 9 && bits > 1 {
            return None;
        }
        number |= bits << (7 * place);
        if byte & 0x80 == 0 {
            *bytes = &bytes[place + 1..];
            return Some(number);
        }
    }
    None
}

/// Reads a number that may be negative.
pub(crate) fn take_signed(bytes: &mut &[u8]) -> Option<i64> {
    let number = take(bytes)?;
    Some((number >> 1) as i64 ^ -((number & 1) as i64))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn bytes_that_are_no_number_are_refused() {
        for bytes in [&[][..], &[0x80], &[0xff; 10], &[0xff; 11]] {
            assert_eq!(take(&mut { bytes }), None, "{bytes:?}");
        }
    }

    proptest! {
        #[test]
        fn numbers_come_back(number: u64, signed: i64, small in -70i64..70) {
            let mut out = Vec::new();
            put(&mut out, number);
            put_signed(&mut out, signed);
            put_signed(&mut out, small);
            let bytes = &mut &*out;
            prop_assert_eq!(take(bytes), Some(number));
            prop_assert_eq!(take_signed(bytes), Some(signed));
            prop_assert_eq!(take_signed(bytes), Some(small));
            prop_assert!(bytes.is_empty());
        }
    }
}
