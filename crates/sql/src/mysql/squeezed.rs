//! The compressed protocol (`compress=true`): packets travel in frames that zlib has made smaller.

use std::io::{Read as _, Write as _};

use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;

use super::packet::{PART_MAX, malformed};
use crate::failure::Failure;

/// The bytes before a frame: three of its length, one of its number, three of its length before it was made smaller.
const HEAD: usize = 7;

/// Shorter packets are not worth the work.
const WORTH: usize = 50;

/// One direction's leftover and the number of the next frame.
#[derive(Debug, Default)]
pub(super) struct Squeezed {
    /// The beginning of a frame that has not come whole.
    came: Vec<u8>,
    sequence: u8,
}

impl Squeezed {
    /// A command begins.
    pub(super) fn begin(&mut self) {
        self.sequence = 0;
    }

    /// Room for bytes that come.
    pub(super) fn came(&mut self) -> &mut Vec<u8> {
        &mut self.came
    }

    /// Gives the packets of frames that are whole, at the end of `out`.
    pub(super) fn unpack(&mut self, out: &mut Vec<u8>) -> Result<(), Failure> {
        let mut at = 0;
        while let Some(head) = self.came[at..].first_chunk::<HEAD>() {
            let size = u32::from_le_bytes([head[0], head[1], head[2], 0]) as usize;
            let plain = u32::from_le_bytes([head[4], head[5], head[6], 0]);
            let from = at + HEAD;
            let Some(body) = self.came.get(from..from + size) else { break };
            self.sequence = head[3].wrapping_add(1);
            at = from + size;
            if plain == 0 {
                out.extend_from_slice(body);
                continue;
            }
            let before = out.len();
            // One byte more than it may be: then it lies.
            let read = ZlibDecoder::new(body).take(u64::from(plain) + 1).read_to_end(out);
            if read.is_err() || out.len() - before != plain as usize {
                return Err(malformed());
            }
        }
        self.came.drain(..at);
        Ok(())
    }

    /// Packets as frames.
    pub(super) fn pack(&mut self, packets: &[u8]) -> Vec<u8> {
        let mut out = Vec::with_capacity(packets.len() / 2 + HEAD);
        for part in packets.chunks(PART_MAX) {
            let start = out.len();
            out.extend_from_slice(&[0; HEAD]);
            let is_smaller = part.len() >= WORTH && {
                let mut encoder = ZlibEncoder::new(&mut out, Compression::fast());
                // Writing to memory does not fail.
                let _ = encoder.write_all(part);
                let _ = encoder.finish();
                out.len() - start - HEAD < part.len()
            };
            if !is_smaller {
                out.truncate(start + HEAD);
                out.extend_from_slice(part);
            }
            let size = ((out.len() - start - HEAD) as u32).to_le_bytes();
            let plain = if is_smaller { part.len() as u32 } else { 0 }.to_le_bytes();
            out[start..start + 3].copy_from_slice(&size[..3]);
            out[start + 3] = self.sequence;
            out[start + 4..start + HEAD].copy_from_slice(&plain[..3]);
            self.sequence = self.sequence.wrapping_add(1);
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn packets_come_back_in_whatever_pieces_they_travel(bytes: Vec<u8>, times in 1..50usize, piece in 1..300usize) {
            let packets = bytes.repeat(times);
            let frames = Squeezed::default().pack(&packets);
            let (mut other, mut out) = (Squeezed::default(), Vec::new());
            for part in frames.chunks(piece) {
                other.came().extend_from_slice(part);
                other.unpack(&mut out).unwrap();
            }
            prop_assert_eq!(out, packets);
        }

        #[test]
        fn no_bytes_make_it_panic(bytes: Vec<u8>) {
            let mut squeezed = Squeezed::default();
            squeezed.came().extend_from_slice(&bytes);
            let _ = squeezed.unpack(&mut Vec::new());
        }
    }
}
