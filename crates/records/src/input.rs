//! Bytes from a reader, with a look ahead of any length.

use std::io::{self, Read};

/// The most bytes that one record may have; more is told as an error.
pub(crate) const RECORD_SIZE_MAX: usize = 256 << 20;

const BUFFER_SIZE: usize = 128 << 10;

/// A reader and the bytes that were read but not used yet. The buffer grows with the bytes that really came, never
/// with what a length field claims.
pub(crate) struct Input<'a> {
    reader: Box<dyn Read + Send + 'a>,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    /// The place of the buffer's first byte in the stream.
    offset: u64,
    is_ended: bool,
    /// Nothing is thrown away, so that [`Input::rewind`] works.
    is_pinned: bool,
}

impl<'a> Input<'a> {
    pub(crate) fn new(reader: impl Read + Send + 'a) -> Self {
        Self {
            reader: Box::new(reader),
            buffer: Vec::new(),
            start: 0,
            end: 0,
            offset: 0,
            is_ended: false,
            is_pinned: true,
        }
    }

    /// The bytes that were read and not used.
    pub(crate) fn available(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    /// Uses up bytes.
    pub(crate) fn consume(&mut self, count: usize) {
        self.start += count;
        assert!(self.start <= self.end, "only what is there can be used");
    }

    /// How many bytes of the stream have been used.
    pub(crate) fn position(&self) -> u64 {
        self.offset + self.start as u64
    }

    /// Goes back to the first byte of the stream. Only before [`Input::unpin`].
    pub(crate) fn rewind(&mut self) {
        assert!(self.is_pinned, "the first bytes are kept only while formats are tried");
        self.start = 0;
    }

    /// From now on, what was used is forgotten.
    pub(crate) fn unpin(&mut self) {
        self.is_pinned = false;
    }

    /// Reads until `count` bytes are available; false = the stream ends before.
    pub(crate) fn ensure(&mut self, count: usize) -> io::Result<bool> {
        while self.end - self.start < count {
            if !self.fill()? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Reads some more; false = the stream has ended.
    pub(crate) fn fill(&mut self) -> io::Result<bool> {
        if self.is_ended {
            return Ok(false);
        }
        if self.end == self.buffer.len() {
            if self.start > 0 && !self.is_pinned {
                self.buffer.copy_within(self.start..self.end, 0);
                self.offset += self.start as u64;
                self.end -= self.start;
                self.start = 0;
            }
            // Less than half is free: a record is large, or nothing may be thrown away.
            if self.end > self.buffer.len() / 2 || self.buffer.is_empty() {
                self.buffer.resize((self.buffer.len() * 2).max(BUFFER_SIZE), 0);
            }
        }
        loop {
            match self.reader.read(&mut self.buffer[self.end..]) {
                Ok(0) => {
                    self.is_ended = true;
                    return Ok(false);
                }
                Ok(count) => {
                    self.end += count;
                    return Ok(true);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}
