//! Lines of a source, counted.

use std::io::BufRead;

use super::TargetError;

/// The longest line, in bytes: more than any body in Base64 that one would keep in a list of targets.
pub const LINE_MAX: usize = 64 << 20;

/// Reads lines one by one: trimmed, without a byte order mark at the beginning.
pub(super) struct Lines<R> {
    source: R,
    buffer: Vec<u8>,
    /// The number of the last line, from 1.
    pub(super) number: u64,
    /// It is to be given once more.
    is_peeked: bool,
}

impl<R: BufRead> Lines<R> {
    pub(super) fn new(source: R) -> Self {
        Self { source, buffer: Vec::new(), number: 0, is_peeked: false }
    }

    /// The next line; `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<&str>, TargetError> {
        if !std::mem::take(&mut self.is_peeked) {
            self.buffer.clear();
            self.number += 1;
            let limit = LINE_MAX as u64 + 1;
            let mut limited = std::io::Read::take(&mut self.source, limit);
            if limited.read_until(b'\n', &mut self.buffer)? == 0 {
                return Ok(None);
            }
            if self.buffer.len() > LINE_MAX {
                return Err(TargetError::TooLong { line: self.number });
            }
            if self.number == 1 && self.buffer.starts_with(b"\xef\xbb\xbf") {
                self.buffer.drain(..3);
            }
        }
        let line = self.number;
        let text = std::str::from_utf8(&self.buffer);
        text.map(|text| Some(text.trim())).map_err(|_| TargetError::NotUtf8 { line })
    }

    /// The line that came last comes again.
    pub(super) fn back(&mut self) {
        self.is_peeked = true;
    }
}
