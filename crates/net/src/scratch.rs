//! Buffers that belong to whoever is at work: a connection that waits holds none.

use crate::quiet::QUIET_IN_HANDSHAKE;

/// How much one reading can bring.
const READ_SIZE: usize = 64 * 1024;

/// The most a scratch buffer grows to, for TLS handshake messages of absurd size: more than a session keeps of one that is
/// not whole, and one reading.
const READ_MAX: usize = 2 * QUIET_IN_HANDSHAKE;

/// Writing buffers that grew beyond this are given back.
const WRITE_KEEP: usize = 256 * 1024;

/// The buffers of one core.
#[derive(Debug)]
pub struct Scratch {
    /// The bytes of one reading.
    pub read: Vec<u8>,
    /// Plaintext to be sent.
    pub plain: Vec<u8>,
    /// Ciphertext to be sent.
    pub cipher: Vec<u8>,
}

impl Scratch {
    pub(crate) fn new() -> Self {
        Self { read: vec![0; READ_SIZE], plain: Vec::new(), cipher: Vec::new() }
    }

    /// Sees to it that `room` bytes are free after the first `kept`; up to a bound.
    pub(crate) fn make_room(&mut self, kept: usize, room: usize) {
        if self.read.len() < kept + room {
            self.read.resize((kept + room).next_multiple_of(READ_SIZE).min(READ_MAX), 0);
        }
    }

    /// Empties the writing buffers; gives memory back after something large.
    #[inline]
    pub fn clear_writing(&mut self) {
        for buffer in [&mut self.plain, &mut self.cipher] {
            buffer.clear();
            if buffer.capacity() > WRITE_KEEP {
                *buffer = Vec::new();
            }
        }
    }
}
