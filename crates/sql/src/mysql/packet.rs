//! Packets: the head of each, the two that end a statement, and a reader of their fields.

use crate::failure::{Failure, Trouble};

/// The bytes before each packet: three of its length, one of its number.
pub(crate) const HEAD: usize = 4;

/// A packet of this many bytes has another behind it that belongs to it.
pub(crate) const PART_MAX: usize = 0xff_ff_ff;

/// Status: a transaction is open.
pub(crate) const IN_TRANSACTION: u16 = 0x0001;
/// Status: another result follows.
pub(crate) const MORE_RESULTS: u16 = 0x0008;
/// Status: a backslash in a literal is a backslash.
pub(crate) const NO_BACKSLASH_ESCAPES: u16 = 0x0200;

/// A server that speaks something else.
pub(crate) fn malformed() -> Failure {
    Failure::new(Trouble::Protocol, "malformed packet")
}

/// Reads fields, from left to right. `None`: there are not enough bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fields<'a>(pub(crate) &'a [u8]);

impl<'a> Fields<'a> {
    /// The next bytes, this many.
    #[inline]
    pub(crate) fn take(&mut self, size: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(size)?;
        self.0 = rest;
        Some(taken)
    }

    /// The same, as an array.
    #[inline]
    pub(crate) fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (taken, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*taken)
    }

    /// A byte.
    #[inline]
    pub(crate) fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    /// A number of 16 bits.
    #[inline]
    pub(crate) fn short(&mut self) -> Option<u16> {
        self.array().map(u16::from_le_bytes)
    }

    /// A number of 32 bits.
    #[inline]
    pub(crate) fn long(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    /// A number that says itself how many bytes it has.
    #[inline]
    pub(crate) fn number(&mut self) -> Option<u64> {
        let first = self.byte()?;
        if first < 0xfb {
            return Some(u64::from(first));
        }
        self.long_number(first)
    }

    fn long_number(&mut self, first: u8) -> Option<u64> {
        match first {
            0xfc => self.short().map(u64::from),
            0xfd => self.array::<3>().map(|b| u64::from(u32::from_le_bytes([b[0], b[1], b[2], 0]))),
            0xfe => self.array().map(u64::from_le_bytes),
            _ => None,
        }
    }

    /// Bytes behind a number that says how many.
    #[inline]
    pub(crate) fn text(&mut self) -> Option<&'a [u8]> {
        let size = self.number()?;
        self.take(usize::try_from(size).ok()?)
    }

    /// Bytes before a zero, which is skipped; all of them if there is none.
    pub(crate) fn until_zero(&mut self) -> &'a [u8] {
        let end = memchr::memchr(0, self.0);
        let text = &self.0[..end.unwrap_or(self.0.len())];
        self.0 = end.map_or(&[], |end| &self.0[end + 1..]);
        text
    }
}

/// A statement, or a part of it, went well.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Done {
    pub(crate) affected: u64,
    pub(crate) last_insert_id: u64,
    pub(crate) status: u16,
    pub(crate) warnings: u16,
}

impl Done {
    /// Reads the packet `OK`, whose first byte is 0x00 or 0xfe.
    pub(crate) fn read(packet: &[u8]) -> Option<Self> {
        let mut fields = Fields(packet.get(1..)?);
        Some(Self {
            affected: fields.number()?,
            last_insert_id: fields.number()?,
            status: fields.short()?,
            warnings: fields.short()?,
        })
    }

    /// Reads the packet `EOF` of servers without the newer end of rows.
    pub(crate) fn read_old(packet: &[u8]) -> Option<Self> {
        let mut fields = Fields(packet.get(1..)?);
        let warnings = fields.short()?;
        Some(Self { warnings, status: fields.short()?, ..Self::default() })
    }
}

/// Reads the packet `ERR`, in the Go driver's words: `Error 1146 (42S02): Table …`.
pub(crate) fn refusal(packet: &[u8]) -> Failure {
    let mut fields = Fields(packet);
    let Some((_, number)) = fields.byte().zip(fields.short()) else { return malformed() };
    let mut state = None;
    if let Some([b'#', digits @ ..]) = fields.0.first_chunk::<6>() {
        state = Some(String::from_utf8_lossy(digits).into_owned());
        fields.0 = &fields.0[6..];
    }
    let text = String::from_utf8_lossy(fields.0);
    let text = match &state {
        Some(state) => format!("Error {number} ({state}): {text}"),
        None => format!("Error {number}: {text}"),
    };
    let trouble = match (number, state.as_deref()) {
        (1213, _) | (_, Some("40001")) => Trouble::Retry,
        _ => Trouble::Server,
    };
    // A server that has no room for one more says so before it has agreed on codes.
    let code = state.unwrap_or_else(|| if number == 1040 { "08004" } else { "HY000" }.to_owned());
    Failure::new(trouble, text).with_code(code, i64::from(number))
}

/// Begins a packet at the end of `out`; [`end`] fills in its head.
pub(crate) fn begin(out: &mut Vec<u8>) -> usize {
    let start = out.len();
    out.extend_from_slice(&[0; HEAD]);
    start
}

/// Ends the packet that began at `start`, whose number is `sequence`. One that is too long becomes several. Returns the number of the
/// packet that comes next.
pub(crate) fn end(out: &mut Vec<u8>, start: usize, sequence: u8) -> u8 {
    let size = out.len() - start - HEAD;
    if size < PART_MAX {
        write_head(&mut out[start..], size, sequence);
        return sequence.wrapping_add(1);
    }
    let payload = out.split_off(start + HEAD);
    out.truncate(start);
    let (mut rest, mut sequence) = (&payload[..], sequence);
    out.reserve(payload.len() + HEAD * (payload.len() / PART_MAX + 1));
    loop {
        let (part, behind) = rest.split_at(rest.len().min(PART_MAX));
        let at = begin(out);
        write_head(&mut out[at..], part.len(), sequence);
        out.extend_from_slice(part);
        (rest, sequence) = (behind, sequence.wrapping_add(1));
        if part.len() < PART_MAX {
            return sequence;
        }
    }
}

fn write_head(head: &mut [u8], size: usize, sequence: u8) {
    head[..3].copy_from_slice(&(size as u32).to_le_bytes()[..3]);
    head[3] = sequence;
}

/// Appends a number that says itself how many bytes it has.
pub(crate) fn push_number(out: &mut Vec<u8>, number: u64) {
    let bytes = number.to_le_bytes();
    match number {
        0..0xfb => out.push(bytes[0]),
        0xfb..0x1_0000 => {
            out.push(0xfc);
            out.extend_from_slice(&bytes[..2]);
        }
        0x1_0000..0x100_0000 => {
            out.push(0xfd);
            out.extend_from_slice(&bytes[..3]);
        }
        _ => {
            out.push(0xfe);
            out.extend_from_slice(&bytes);
        }
    }
}

/// Appends bytes behind a number that says how many.
pub(crate) fn push_text(out: &mut Vec<u8>, text: &[u8]) {
    push_number(out, text.len() as u64);
    out.extend_from_slice(text);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_refusal_has_the_words_of_the_go_driver() {
        let failure = refusal(b"\xff\x7a\x04#42S02Table 'a.b' doesn't exist");
        assert_eq!(failure.text(), "Error 1146 (42S02): Table 'a.b' doesn't exist");
        assert_eq!((failure.code(), failure.number()), ("42S02", 1146));
        assert_eq!(failure.trouble(), Trouble::Server);
        let early = refusal(b"\xff\x10\x04Too many connections");
        assert_eq!(early.text(), "Error 1040: Too many connections");
        assert_eq!(early.code(), "08004");
        assert_eq!(refusal(b"\xff\xbd\x04#40001Deadlock").trouble(), Trouble::Retry);
        assert_eq!(refusal(b"\xff\x01").trouble(), Trouble::Protocol);
    }

    #[test]
    fn a_long_packet_goes_out_in_parts() {
        let mut out = b"before".to_vec();
        let start = begin(&mut out);
        out.resize(start + HEAD + PART_MAX + 5, b'x');
        assert_eq!(end(&mut out, start, 0), 2);
        assert_eq!(out[6..10], [0xff, 0xff, 0xff, 0]);
        assert_eq!(out[10 + PART_MAX..], *b"\x05\0\0\x01xxxxx");
        let mut out = Vec::new();
        let start = begin(&mut out);
        out.resize(HEAD + PART_MAX, b'x');
        assert_eq!(end(&mut out, start, 3), 5, "a part that is full is followed by an empty one");
        assert_eq!(out[HEAD + PART_MAX..], [0, 0, 0, 4]);
    }

    proptest! {
        #[test]
        fn numbers_come_back(number: u64, text: Vec<u8>) {
            let mut out = Vec::new();
            push_number(&mut out, number);
            push_text(&mut out, &text);
            let mut fields = Fields(&out);
            prop_assert_eq!(fields.number(), Some(number));
            prop_assert_eq!(fields.text(), Some(&text[..]));
            prop_assert!(fields.0.is_empty());
        }

        #[test]
        fn no_bytes_make_it_panic(bytes: Vec<u8>) {
            let _ = Done::read(&bytes);
            let _ = Done::read_old(&bytes);
            let _ = refusal(&bytes);
            let mut fields = Fields(&bytes);
            while fields.text().is_some() {}
            fields.until_zero();
        }
    }
}
