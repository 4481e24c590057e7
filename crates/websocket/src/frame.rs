//! Frames as bytes (RFC 6455 §5.2).

/// The kind of a frame.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Opcode {
    /// More of the message that was begun.
    Continuation = 0,
    /// A message of text.
    Text = 1,
    /// A message of bytes.
    Binary = 2,
    /// The end.
    Close = 8,
    /// "Are you there?"
    Ping = 9,
    /// "I am."
    Pong = 10,
}

impl Opcode {
    /// Of the low four bits of a frame's first byte.
    pub fn of(bits: u8) -> Option<Self> {
        Some(match bits {
            0 => Self::Continuation,
            1 => Self::Text,
            2 => Self::Binary,
            8 => Self::Close,
            9 => Self::Ping,
            10 => Self::Pong,
            _ => return None,
        })
    }

    /// Whether it is about the connection: short, never in parts.
    pub fn is_control(self) -> bool {
        self as u8 >= 8
    }
}

/// The most bytes that a control frame may carry.
pub const CONTROL_MAX: usize = 125;

/// Appends a whole frame. `mask` is what a client must give; `is_compressed` sets RSV1.
pub fn encode(
    out: &mut Vec<u8>,
    opcode: Opcode,
    payload: &[u8],
    mask: Option<[u8; 4]>,
    is_compressed: bool,
) {
    out.reserve(payload.len() + 14);
    out.push(0x80 | if is_compressed { 0x40 } else { 0 } | opcode as u8);
    let masked = if mask.is_some() { 0x80 } else { 0 };
    match payload.len() {
        length @ ..=125 => out.push(masked | length as u8),
        length @ 126..=0xffff => {
            out.push(masked | 0x7e);
            out.extend_from_slice(&(length as u16).to_be_bytes());
        }
        length => {
            out.push(masked | 0x7f);
            out.extend_from_slice(&(length as u64).to_be_bytes());
        }
    }
    if let Some(mask) = mask {
        out.extend_from_slice(&mask);
        let from = out.len();
        out.extend_from_slice(payload);
        apply(&mut out[from..], mask);
    } else {
        out.extend_from_slice(payload);
    }
}

/// Masks or unmasks bytes whose first one meets the mask's first byte.
pub fn apply(bytes: &mut [u8], mask: [u8; 4]) {
    let [a, b, c, d] = mask;
    let wide = u64::from_ne_bytes([a, b, c, d, a, b, c, d]);
    let (words, rest) = bytes.as_chunks_mut::<8>();
    for word in words {
        *word = (u64::from_ne_bytes(*word) ^ wide).to_ne_bytes();
    }
    for (byte, mask) in rest.iter_mut().zip(mask.iter().cycle()) {
        *byte ^= mask;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 6455 §5.7.
    #[test]
    fn the_examples_of_the_standard_are_encoded_so() {
        let mut out = Vec::new();
        encode(&mut out, Opcode::Text, b"Hello", None, false);
        assert_eq!(out, [0x81, 5, 0x48, 0x65, 0x6c, 0x6c, 0x6f]);
        out.clear();
        encode(&mut out, Opcode::Text, b"Hello", Some([0x37, 0xfa, 0x21, 0x3d]), false);
        assert_eq!(out, [0x81, 0x85, 0x37, 0xfa, 0x21, 0x3d, 0x7f, 0x9f, 0x4d, 0x51, 0x58]);
        out.clear();
        encode(&mut out, Opcode::Binary, &[0; 256], None, false);
        assert_eq!(out[..4], [0x82, 0x7e, 1, 0]);
        out.clear();
        encode(&mut out, Opcode::Binary, &vec![0; 65536], None, true);
        assert_eq!(out[..10], [0xc2, 0x7f, 0, 0, 0, 0, 0, 1, 0, 0]);
    }

    #[test]
    fn masking_twice_is_no_masking() {
        for length in 0..40 {
            let plain: Vec<u8> = (0..length).collect();
            let mut bytes = plain.clone();
            apply(&mut bytes, [1, 2, 3, 4]);
            assert!(
                bytes.iter().zip(&plain).enumerate().all(|(i, (a, b))| *a == b ^ (i as u8 % 4 + 1))
            );
            apply(&mut bytes, [1, 2, 3, 4]);
            assert_eq!(bytes, plain);
        }
    }
}
