//! A place in a body.

use std::io::IoSlice;

use crate::payload::Piece;
use crate::request::Body;

/// The most slices that one system call gets.
pub(crate) const SLICES: usize = 16;

/// The progress in a body: its place is the first byte that is not yet written (or encrypted).
#[derive(Copy, Clone, Debug)]
pub(crate) struct Cursor<'a> {
    parts: Parts<'a>,
    index: usize,
    /// Bytes of the piece at `index` that are done with.
    at: u64,
}

#[derive(Copy, Clone, Debug)]
enum Parts<'a> {
    One(&'a [u8]),
    Pieces(&'a [Piece]),
}

/// The place of the next byte.
#[derive(Copy, Clone, Debug)]
pub(crate) enum Next<'a> {
    /// Memory.
    Memory(&'a [u8]),
    /// A file or a stream, of which this many bytes are done with.
    Other(&'a Piece, u64),
    /// There is none.
    End,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(body: Body<'a>) -> Self {
        let parts = match body {
            Body::Empty | Body::Nothing => Parts::One(&[]),
            Body::Bytes(bytes) => Parts::One(bytes),
            Body::Payload(payload) => Parts::Pieces(payload.pieces()),
        };
        let mut cursor = Self { parts, index: 0, at: 0 };
        cursor.settle();
        cursor
    }

    /// Nothing is left.
    pub(crate) fn is_done(&self) -> bool {
        self.index >= self.count()
    }

    /// The index of its piece.
    pub(crate) fn index(&self) -> usize {
        self.index
    }

    /// Where the next byte lies.
    pub(crate) fn next(&self) -> Next<'a> {
        if self.is_done() {
            return Next::End;
        }
        if let Some(memory) = self.memory(self.index) {
            return Next::Memory(&memory[self.at as usize..]);
        }
        match self.parts {
            Parts::Pieces(pieces) => Next::Other(&pieces[self.index], self.at),
            Parts::One(_) => Next::End,
        }
    }

    /// The memory from here on, as far as it lies in a row.
    pub(crate) fn slices<'s>(&self, into: &mut [IoSlice<'s>]) -> usize
    where
        'a: 's,
    {
        let mut count = 0;
        let mut at = self.at as usize;
        for index in self.index..self.count() {
            let Some(memory) = self.memory(index).filter(|_| count < into.len()) else { break };
            into[count] = IoSlice::new(&memory[at..]);
            count += 1;
            at = 0;
        }
        count
    }

    /// Copies the next pieces in memory to the end of `out`, at most `limit` bytes in all, and goes past them. A piece
    /// that doesn't fit is left, or cut if `may_cut`.
    pub(crate) fn copy(&mut self, out: &mut Vec<u8>, limit: usize, may_cut: bool) {
        let mut room = limit;
        while let Next::Memory(memory) = self.next() {
            let size = memory.len().min(room);
            if size == 0 || (size < memory.len() && !may_cut) {
                return;
            }
            out.extend_from_slice(&memory[..size]);
            room -= size;
            self.advance(size);
        }
    }

    /// `bytes` bytes are done with: they are in memory, or in this one file or stream.
    pub(crate) fn advance(&mut self, bytes: usize) {
        let mut left = bytes as u64;
        while left > 0 && !self.is_done() {
            let Some(memory) = self.memory(self.index) else {
                self.at += left;
                break;
            };
            let step = left.min(memory.len() as u64 - self.at);
            self.at += step;
            left -= step;
            self.settle();
        }
        self.settle();
    }

    /// The stream here has ended.
    pub(crate) fn end_stream(&mut self) {
        self.index += 1;
        self.at = 0;
        self.settle();
    }

    /// Goes past what is over. Only a stream says itself when it is.
    fn settle(&mut self) {
        while !self.is_done() {
            let len = match self.parts {
                Parts::One(bytes) => bytes.len() as u64,
                Parts::Pieces(pieces) => match &pieces[self.index] {
                    Piece::Stream(_) => return,
                    Piece::File(range) => range.len,
                    Piece::Bytes(bytes) => bytes.as_slice().len() as u64,
                    Piece::Static(bytes) => bytes.len() as u64,
                },
            };
            if self.at < len {
                return;
            }
            self.index += 1;
            self.at = 0;
        }
    }

    fn count(&self) -> usize {
        match self.parts {
            Parts::One(_) => 1,
            Parts::Pieces(pieces) => pieces.len(),
        }
    }

    fn memory(&self, index: usize) -> Option<&'a [u8]> {
        match self.parts {
            Parts::One(bytes) => Some(bytes),
            Parts::Pieces(pieces) => pieces[index].as_slice(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::payload::{FileRange, Payload};

    #[test]
    fn pieces_without_bytes_are_passed_over() {
        let mut payload = Payload::from(&b""[..]);
        assert!(Cursor::new(Body::Payload(&payload)).is_done());
        assert!(Cursor::new(Body::Empty).is_done());
        payload.push(FileRange { path: Path::new("a").into(), start: 0, len: 0 });
        payload.push(&b"ab"[..]);
        payload.push(&b""[..]);
        let mut cursor = Cursor::new(Body::Payload(&payload));
        assert!(matches!(cursor.next(), Next::Memory(b"ab")));
        cursor.advance(1);
        assert!(matches!(cursor.next(), Next::Memory(b"b")));
        cursor.advance(1);
        assert!(cursor.is_done());
    }

    #[test]
    fn memory_is_offered_up_to_the_next_file() {
        let mut payload: Payload =
            [Piece::Static(b"abc"), Piece::Static(b"de")].into_iter().collect();
        payload.push(FileRange { path: Path::new("a").into(), start: 0, len: 9 });
        payload.push(&b"f"[..]);
        let mut cursor = Cursor::new(Body::Payload(&payload));
        cursor.advance(2);
        let mut slices = [IoSlice::new(&[]); SLICES];
        assert_eq!(cursor.slices(&mut slices), 2);
        assert_eq!((&*slices[0], &*slices[1]), (&b"c"[..], &b"de"[..]));
        assert_eq!(cursor.slices(&mut slices[..1]), 1);
        cursor.advance(3);
        assert!(matches!(cursor.next(), Next::Other(Piece::File(_), 0)));
        cursor.advance(5);
        assert!(matches!(cursor.next(), Next::Other(Piece::File(_), 5)));
        cursor.advance(4);
        assert!(matches!(cursor.next(), Next::Memory(b"f")));
    }

    #[test]
    fn what_does_not_fit_is_left_or_cut() {
        let payload: Payload =
            [Piece::Static(b"abc"), Piece::Static(b"defg")].into_iter().collect();
        let mut out = Vec::new();
        let mut cursor = Cursor::new(Body::Payload(&payload));
        cursor.copy(&mut out, 5, false);
        assert_eq!(out, b"abc");
        cursor.copy(&mut out, 2, true);
        assert_eq!(out, b"abcde");
        cursor.copy(&mut out, 9, false);
        assert!(out == b"abcdefg" && cursor.is_done());
    }
}
