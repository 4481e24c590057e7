//! HPACK (RFC 7541): headers as HTTP/2 sends them.

mod decoder;
mod encoder;
mod huffman;
mod table;

pub(super) use decoder::Decoder;
pub(super) use encoder::Encoder;

/// Writes a number whose first byte has `bits` bits for it, under `flags`.
fn write_number(mut number: usize, bits: u32, flags: u8, out: &mut Vec<u8>) {
    let most = (1 << bits) - 1;
    if number < most {
        out.push(flags | number as u8);
        return;
    }
    out.push(flags | most as u8);
    number -= most;
    while number >= 128 {
        out.push(number as u8 | 128);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Reads a number whose first byte has `bits` bits for it. `None`: it is cut off, or absurd.
fn read_number(block: &mut &[u8], bits: u32) -> Option<usize> {
    let most = (1 << bits) - 1;
    let (first, mut rest) = block.split_first()?;
    let mut number = usize::from(*first) & most;
    if number == most {
        for shift in [0, 7, 14, 21, 28] {
            let (byte, after) = rest.split_first()?;
            rest = after;
            number = number.checked_add(usize::from(byte & 127) << shift)?;
            if byte & 128 == 0 {
                *block = rest;
                return Some(number);
            }
        }
        return None;
    }
    *block = rest;
    Some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_survive_there_and_back() {
        for number in [0, 9, 10, 30, 31, 32, 127, 128, 1337, 1 << 20] {
            for bits in [4, 5, 6, 7] {
                let mut out = Vec::new();
                write_number(number, bits, 0, &mut out);
                out.push(99);
                let mut rest = &out[..];
                assert_eq!(read_number(&mut rest, bits), Some(number));
                assert_eq!(rest, [99]);
            }
        }
    }

    #[test]
    fn numbers_without_end_are_refused() {
        assert_eq!(read_number(&mut &[31, 128][..], 5), None);
        assert_eq!(read_number(&mut &[31, 255, 255, 255, 255, 255, 255, 1][..], 5), None);
    }
}
