//! Lines of a log, unpacked, of bounded length, read by the format that the first ones have.

use std::io::{BufRead, BufReader, Cursor, Read};

use flate2::bufread::MultiGzDecoder;

use super::entry::{Entry, Tally};
use super::w3c::Columns;
use super::{json, quoted};
use crate::error::Error;

/// The longest line that is read; the rest of a longer one is passed over, and it is counted as malformed.
const LINE_MAX: usize = 256 << 10;

/// Lines that may be malformed before the format is known.
const UNKNOWN_MAX: u64 = 1000;

/// A format, once it is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    Common,
    Json,
    W3c,
    Balancer,
}

/// The reader of lines.
pub(super) struct Lines<'a> {
    from: Box<dyn BufRead + 'a>,
    line: Vec<u8>,
    number: u64,
    format: Option<Format>,
    columns: Columns,
}

impl<'a> Lines<'a> {
    /// Begins to read; looks at the first two bytes.
    pub(super) fn new(log: impl Read + 'a) -> Result<Self, Error> {
        let mut log = log;
        let mut head = Vec::with_capacity(2);
        log.by_ref().take(2).read_to_end(&mut head).map_err(Error::Read)?;
        let is_gzip = head == [0x1F, 0x8B];
        let whole = BufReader::with_capacity(1 << 16, Cursor::new(head).chain(log));
        let from: Box<dyn BufRead + 'a> = if is_gzip {
            Box::new(BufReader::with_capacity(1 << 16, MultiGzDecoder::new(whole)))
        } else {
            Box::new(whole)
        };
        Ok(Self { from, line: Vec::new(), number: 0, format: None, columns: Columns::default() })
    }

    /// Of the line that was read last, from 1.
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// The next line; whether it was short enough.
    fn read(&mut self) -> Result<Option<bool>, Error> {
        self.line.clear();
        let mut is_whole = true;
        let mut is_any = false;
        loop {
            let available = self.from.fill_buf().map_err(Error::Read)?;
            if available.is_empty() {
                self.number += u64::from(is_any);
                return Ok(is_any.then_some(is_whole));
            }
            is_any = true;
            let end = available.iter().position(|byte| *byte == b'\n');
            let part = &available[..end.unwrap_or(available.len())];
            let room = LINE_MAX.saturating_sub(self.line.len());
            is_whole &= part.len() <= room;
            self.line.extend_from_slice(&part[..part.len().min(room)]);
            let used = part.len() + usize::from(end.is_some());
            self.from.consume(used);
            if end.is_some() {
                self.number += 1;
                return Ok(Some(is_whole));
            }
        }
    }

    /// The next request. Other lines are counted.
    pub(super) fn next(&mut self, tally: &mut Tally) -> Result<Option<Entry>, Error> {
        while let Some(is_whole) = self.read()? {
            let line = std::mem::take(&mut self.line);
            let text = String::from_utf8_lossy(&line);
            let text = text.trim_start_matches('\u{FEFF}').trim();
            let entry = if text.is_empty() {
                None
            } else if text.starts_with('#') {
                self.columns.directive(text);
                None
            } else {
                tally.lines += 1;
                let entry = if is_whole { self.entry(text) } else { None };
                if entry.is_none() {
                    tally.malformed(self.number, text);
                }
                entry
            };
            self.line = line;
            if let Some(format) = self.format {
                tally.format = match format {
                    Format::Common => "common or combined",
                    Format::Json => "JSON",
                    Format::W3c => "W3C",
                    Format::Balancer => "ALB",
                };
            } else if tally.malformed >= UNKNOWN_MAX {
                return Ok(None);
            }
            if entry.is_some() {
                return Ok(entry);
            }
        }
        Ok(None)
    }

    /// A line by the known format, or by the one that it seems to have.
    fn entry(&mut self, line: &str) -> Option<Entry> {
        let format = self.format.unwrap_or_else(|| {
            if self.columns.are_known() {
                Format::W3c
            } else if line.starts_with('{') {
                Format::Json
            } else if quoted::is_balancer(line) {
                Format::Balancer
            } else {
                Format::Common
            }
        });
        let entry = match format {
            Format::Common => quoted::common(line),
            Format::Json => json::entry(line),
            Format::W3c => self.columns.entry(line),
            Format::Balancer => quoted::balancer(line),
        }?;
        self.format = Some(format);
        Some(entry)
    }
}
