//! Frames (RFC 9113 §4 and §6): their heads, and the small ones whole.

/// The bytes before a frame's payload.
pub(super) const HEAD: usize = 9;

/// The most that we take in one frame: the standard's, since we offer no more.
pub(super) const SIZE_MAX: usize = 16 * 1024;

/// The first bytes of a client.
pub(super) const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// The kinds of frames that we know.
pub(super) mod kind {
    pub(crate) const DATA: u8 = 0;
    pub(crate) const HEADERS: u8 = 1;
    pub(crate) const PRIORITY: u8 = 2;
    pub(crate) const RST_STREAM: u8 = 3;
    pub(crate) const SETTINGS: u8 = 4;
    pub(crate) const PUSH_PROMISE: u8 = 5;
    pub(crate) const PING: u8 = 6;
    pub(crate) const GOAWAY: u8 = 7;
    pub(crate) const WINDOW_UPDATE: u8 = 8;
    pub(crate) const CONTINUATION: u8 = 9;
}

pub(super) mod flag {
    /// Of DATA and HEADERS.
    pub(crate) const END_STREAM: u8 = 1;
    /// Of SETTINGS and PING.
    pub(crate) const ACK: u8 = 1;
    pub(crate) const END_HEADERS: u8 = 4;
    pub(crate) const PADDED: u8 = 8;
    pub(crate) const PRIORITY: u8 = 32;
}

/// The settings of a SETTINGS frame.
pub(super) mod setting {
    pub(crate) const HEADER_TABLE_SIZE: u16 = 1;
    pub(crate) const ENABLE_PUSH: u16 = 2;
    pub(crate) const MAX_CONCURRENT_STREAMS: u16 = 3;
    pub(crate) const INITIAL_WINDOW_SIZE: u16 = 4;
    pub(crate) const MAX_FRAME_SIZE: u16 = 5;
    pub(crate) const MAX_HEADER_LIST_SIZE: u16 = 6;
}

/// Reasons (RFC 9113 §7).
pub(super) mod reason {
    pub(crate) const NO_ERROR: u32 = 0;
    pub(crate) const PROTOCOL_ERROR: u32 = 1;
    pub(crate) const FLOW_CONTROL_ERROR: u32 = 3;
    pub(crate) const FRAME_SIZE_ERROR: u32 = 6;
    pub(crate) const REFUSED_STREAM: u32 = 7;
    pub(crate) const CANCEL: u32 = 8;
    pub(crate) const COMPRESSION_ERROR: u32 = 9;
    pub(crate) const ENHANCE_YOUR_CALM: u32 = 11;
}

/// The head of a frame.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) len: usize,
    pub(super) kind: u8,
    pub(super) flags: u8,
    pub(super) stream: u32,
}

impl Head {
    /// `None`: it isn't all there.
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let bytes = bytes.first_chunk::<HEAD>()?;
        let [a, b, c, kind, flags, s0, s1, s2, s3] = *bytes;
        Some(Self {
            len: u32::from_be_bytes([0, a, b, c]) as usize,
            kind,
            flags,
            stream: u32::from_be_bytes([s0 & 0x7f, s1, s2, s3]),
        })
    }

    pub(super) fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    pub(super) fn bytes(&self) -> [u8; HEAD] {
        let [_, a, b, c] = (self.len as u32).to_be_bytes();
        let [s0, s1, s2, s3] = self.stream.to_be_bytes();
        [a, b, c, self.kind, self.flags, s0, s1, s2, s3]
    }
}

/// Writes a frame whose payload is known.
pub(super) fn write(kind: u8, flags: u8, stream: u32, payload: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(&Head { len: payload.len(), kind, flags, stream }.bytes());
    out.extend_from_slice(payload);
}

/// Writes a frame that carries one number: RST_STREAM, WINDOW_UPDATE.
pub(super) fn write_number(kind: u8, stream: u32, number: u32, out: &mut Vec<u8>) {
    write(kind, 0, stream, &number.to_be_bytes(), out);
}

/// The number that a frame carries, its highest bit left out.
pub(super) fn number(payload: &[u8]) -> Option<u32> {
    payload.first_chunk().map(|bytes| u32::from_be_bytes(*bytes) & 0x7fff_ffff)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_survive_there_and_back() {
        let head = Head { len: 70_000, kind: kind::DATA, flags: flag::END_STREAM, stream: 77 };
        assert_eq!(Head::read(&head.bytes()), Some(head));
        assert_eq!(Head::read(&head.bytes()[..8]), None);
    }
}
