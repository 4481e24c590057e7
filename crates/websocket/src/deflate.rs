//! permessage-deflate without context takeover (RFC 7692): no message depends on another.

use std::cell::RefCell;

use brunt_net::budget::{Share, growth};
use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};

use crate::decoder::Violation;

/// The end of a message's last block, which is not sent.
const TAIL: [u8; 4] = [0, 0, 0xff, 0xff];

/// Room that is offered at a time.
const STEP: usize = 16 * 1024;

thread_local! {
    // Each is some hundred kilobytes, and in use for the time of one message, or of one slice: one of each for all sockets
    // of a core. A message of many slices keeps the one that it has taken.
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

/// Bytes that are unpacked at a time: about a millisecond.
const SLICE: usize = 256 * 1024;

/// A message that is being unpacked, slice by slice: a few kilobytes can become a gigabyte.
#[derive(Debug)]
pub(crate) struct Inflation {
    packed: Vec<u8>,
    /// Taken back from the core's when the message is too long for one slice.
    decompress: Option<Decompress>,
    out: Vec<u8>,
    /// The number of packed bytes, and of bytes of [`TAIL`] behind them, that were taken.
    used: usize,
    share: Share,
    packed_share: Share,
}

impl Inflation {
    /// `share` covers the packed bytes.
    pub(crate) fn new(packed: Vec<u8>, share: Share) -> Self {
        let out = Vec::with_capacity((packed.len() * 3).clamp(64, SLICE));
        let share_out = Share::default();
        Self { packed, decompress: None, out, used: 0, share: share_out, packed_share: share }
    }

    /// Unpacks a slice. `None`: there is more to do.
    ///
    /// # Errors
    /// If it is damaged, longer than `limit`, or too much for the process.
    pub(crate) fn next(&mut self, limit: usize) -> Result<Option<Vec<u8>>, Violation> {
        let mut decompress = self.decompress.take().unwrap_or_else(|| {
            let kept = DECOMPRESS.take();
            let mut decompress = kept.unwrap_or_else(|| Decompress::new(false));
            decompress.reset(false);
            decompress
        });
        let is_over = self.unpack(&mut decompress, limit)?;
        if !is_over {
            self.decompress = Some(decompress);
            return Ok(None);
        }
        DECOMPRESS.set(Some(decompress));
        self.share.release();
        self.packed_share.release();
        Ok(Some(std::mem::take(&mut self.out)))
    }

    fn unpack(&mut self, decompress: &mut Decompress, limit: usize) -> Result<bool, Violation> {
        let end = self.out.len() + SLICE;
        loop {
            if self.out.len() > limit {
                return Err(Violation::TooLong);
            }
            if self.out.len() >= end {
                return Ok(false);
            }
            if self.out.len() == self.out.capacity() {
                let most = (limit - self.out.len()) as u64 + 1;
                if let Some(size) = growth(self.out.len(), 0, STEP, most) {
                    let whole = (self.out.len() + size) as u64;
                    self.share.cover(whole).map_err(|_| Violation::TooMuch)?;
                    self.out.reserve_exact(size);
                }
            }
            let is_tail = self.used >= self.packed.len();
            let input = if is_tail {
                &TAIL[(self.used - self.packed.len()).min(TAIL.len())..]
            } else {
                &self.packed[self.used..]
            };
            // No more than a slice at a time, whatever room there is.
            let input = &input[..input.len().min(SLICE)];
            let (taken, before) = (decompress.total_in(), self.out.len());
            let room = self.out.capacity() - before;
            let status = if room <= SLICE {
                decompress.decompress_vec(input, &mut self.out, FlushDecompress::Sync)
            } else {
                self.out.resize(before + SLICE, 0);
                let came = decompress.total_out();
                let room = &mut self.out[before..];
                let status = decompress.decompress(input, room, FlushDecompress::Sync);
                self.out.truncate(before + (decompress.total_out() - came) as usize);
                status
            };
            let status = status.map_err(|_| Violation::Compressed)?;
            let taken = (decompress.total_in() - taken) as usize;
            self.used += taken;
            let is_whole = self.used >= self.packed.len() + TAIL.len();
            let has_room = self.out.len() < self.out.capacity();
            let is_stuck = taken == 0 && self.out.len() == before && has_room;
            if status == Status::StreamEnd || is_stuck || (is_whole && has_room) {
                return if self.out.len() > limit { Err(Violation::TooLong) } else { Ok(true) };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decompress(packed: &[u8], limit: usize) -> Result<Vec<u8>, Violation> {
        let mut inflation = Inflation::new(packed.to_vec(), Share::default());
        loop {
            if let Some(message) = inflation.next(limit)? {
                return Ok(message);
            }
        }
    }

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
    fn a_long_message_is_unpacked_in_slices_and_others_meanwhile() {
        let plain = vec![7; 10 * SLICE];
        let mut long = Inflation::new(compress(&plain), Share::default());
        let mut slices = 0;
        let message = loop {
            slices += 1;
            assert_eq!(decompress(&compress(b"short"), 10).unwrap(), b"short");
            if let Some(message) = long.next(plain.len()).unwrap() {
                break message;
            }
        };
        assert_eq!(message, plain);
        assert!(slices >= 5, "{slices}");
    }

    #[test]
    fn the_limit_is_the_longest_message() {
        for length in [0, 1, 100, SLICE - 1, SLICE, SLICE + 1, 3 * SLICE] {
            let packed = compress(&vec![1; length]);
            assert_eq!(decompress(&packed, length).unwrap().len(), length);
            if length > 0 {
                assert_eq!(decompress(&packed, length - 1), Err(Violation::TooLong), "{length}");
            }
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
