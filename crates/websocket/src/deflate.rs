//! permessage-deflate without context takeover (RFC 7692): each message stands for itself.

use std::cell::RefCell;

use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};

use crate::decoder::Violation;

/// What ends a message's last block, and is not sent.
const TAIL: [u8; 4] = [0, 0, 0xff, 0xff];

/// Room that is offered at a time.
const STEP: usize = 16 * 1024;

thread_local! {
    // Each is some hundred kilobytes, and in use for the time of one message only: one of each for all sockets of a core.
    static COMPRESS: RefCell<Option<Compress>> = const { RefCell::new(None) };
    static DECOMPRESS: RefCell<Option<Decompress>> = const { RefCell::new(None) };
}

/// The message as it is sent.
pub(crate) fn compress(plain: &[u8]) -> Vec<u8> {
    COMPRESS.with_borrow_mut(|kept| {
        let compress = kept.get_or_insert_with(|| Compress::new(Compression::fast(), false));
        compress.reset();
        let mut out = Vec::with_capacity(plain.len() / 2 + 64);
        loop {
            let used = compress.total_in() as usize;
            if out.len() == out.capacity() {
                out.reserve(STEP);
            }
            let before = out.len();
            compress
                .compress_vec(&plain[used..], &mut out, FlushCompress::Sync)
                .expect("compressing into memory cannot fail");
            let is_done = compress.total_in() as usize == plain.len() && out.len() < out.capacity();
            if is_done || (out.len() == before && out.len() < out.capacity()) {
                break;
            }
        }
        if out.ends_with(&TAIL) {
            out.truncate(out.len() - TAIL.len());
        }
        out
    })
}

/// The message that was compressed; no longer than `limit`.
pub(crate) fn decompress(packed: &[u8], limit: usize) -> Result<Vec<u8>, Violation> {
    DECOMPRESS.with_borrow_mut(|kept| {
        let decompress = kept.get_or_insert_with(|| Decompress::new(false));
        decompress.reset(false);
        let mut out = Vec::with_capacity((packed.len() * 3).clamp(64, 1 << 20));
        for input in [packed, &TAIL] {
            let start = decompress.total_in();
            loop {
                let used = (decompress.total_in() - start) as usize;
                if out.len() == out.capacity() {
                    out.reserve(STEP.max(out.len() / 2));
                }
                let before = out.len();
                let status = decompress
                    .decompress_vec(&input[used..], &mut out, FlushDecompress::Sync)
                    .map_err(|_| Violation::Compressed)?;
                if out.len() > limit {
                    return Err(Violation::TooLong);
                }
                let used = (decompress.total_in() - start) as usize;
                let is_stuck = out.len() == before && out.len() < out.capacity();
                if status == Status::StreamEnd
                    || (used == input.len() && out.len() < out.capacity())
                    || is_stuck
                {
                    break;
                }
            }
        }
        Ok(out)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 7692 §7.2.3.1.
    #[test]
    fn the_example_of_the_standard_is_understood() {
        let packed = [0xf2, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00];
        assert_eq!(decompress(&packed, 100).unwrap(), b"Hello");
    }

    #[test]
    fn what_was_compressed_comes_out_again() {
        for length in [0, 1, 5, 1000, 70_000, 1_000_000] {
            let plain: Vec<u8> =
                (0..length).map(|i: u32| (i.wrapping_mul(i) % 251) as u8).collect();
            let packed = compress(&plain);
            assert!(!packed.ends_with(&TAIL));
            assert_eq!(decompress(&packed, plain.len()).unwrap(), plain);
        }
    }

    #[test]
    fn a_bomb_is_refused() {
        let packed = compress(&vec![0; 10_000_000]);
        assert!(packed.len() < 100_000);
        assert_eq!(decompress(&packed, 1 << 20), Err(Violation::TooLong));
        assert_eq!(decompress(&[0xff, 0xff, 0xff], 100), Err(Violation::Compressed));
    }
}
