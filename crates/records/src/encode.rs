//! Records out: gob, JSON or CSV, as vegeta writes them.

use std::io::{self, Write};

use crate::{Record, moment::Moments};

mod csv;
mod gob;
mod json;

pub(crate) use self::json::text as json_text;

/// A file format of records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Go's binary stream: what `brunt attack` writes.
    Gob,
    /// One JSON object per line.
    Json,
    /// Twelve columns, no header row. There is none for [`Record::planned`], which is lost.
    Csv,
}

impl Format {
    /// The format of this name: `gob`, `json`, `csv`.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "gob" => Some(Self::Gob),
            "json" => Some(Self::Json),
            "csv" => Some(Self::Csv),
            _ => None,
        }
    }

    /// The beginning of a stream, in front of its first record: for streams that several [`Encoder::after_beginning`]
    /// write together.
    pub fn beginning(self) -> Vec<u8> {
        match self {
            Self::Gob => gob::beginning(),
            Self::Json | Self::Csv => Vec::new(),
        }
    }
}

/// Writes records, each with one `write_all` of its own: hand it a buffered writer.
///
/// It keeps one buffer, as large as the largest record so far.
#[derive(Debug)]
pub struct Encoder<W> {
    format: Format,
    out: W,
    buffer: Vec<u8>,
    gob: gob::State,
    moments: Moments,
}

impl<W: Write> Encoder<W> {
    /// Writes `format` to `out`.
    pub fn new(format: Format, out: W) -> Self {
        Self::with(format, out, gob::State::default())
    }

    /// Writes `format` to a stream whose [`Format::beginning`] is written elsewhere.
    pub fn after_beginning(format: Format, out: W) -> Self {
        Self::with(format, out, gob::State::begun())
    }

    fn with(format: Format, out: W, gob: gob::State) -> Self {
        Self { format, out, buffer: Vec::new(), gob, moments: Moments::default() }
    }

    /// Writes gob to `out`.
    pub fn gob(out: W) -> Self {
        Self::new(Format::Gob, out)
    }

    /// Writes JSON to `out`.
    pub fn json(out: W) -> Self {
        Self::new(Format::Json, out)
    }

    /// Writes CSV to `out`.
    pub fn csv(out: W) -> Self {
        Self::new(Format::Csv, out)
    }

    /// Writes one record.
    ///
    /// # Errors
    /// The writer's.
    pub fn encode(&mut self, record: &Record) -> io::Result<()> {
        self.buffer.clear();
        match self.format {
            Format::Gob => self.gob.encode(record, &mut self.buffer),
            Format::Json => json::encode(record, &mut self.moments, &mut self.buffer),
            Format::Csv => csv::encode(record, &mut self.buffer),
        }
        self.out.write_all(&self.buffer)
    }

    /// The writer, to look at it.
    pub fn get_ref(&self) -> &W {
        &self.out
    }

    /// The writer, to flush it.
    pub fn get_mut(&mut self) -> &mut W {
        &mut self.out
    }

    /// Gives the writer back.
    pub fn into_inner(self) -> W {
        self.out
    }
}

/// Appends a whole number.
fn number(out: &mut Vec<u8>, mut value: u64) {
    let mut digits = [0; 20];
    let mut start = digits.len();
    loop {
        start -= 1;
        digits[start] = b'0' + (value % 10) as u8;
        value /= 10;
        if value == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[start..]);
}

/// Appends standard base64 with padding.
fn base64(out: &mut Vec<u8>, bytes: &[u8]) {
    use base64::{Engine as _, engine::general_purpose::STANDARD};
    let start = out.len();
    out.resize(start + bytes.len().div_ceil(3) * 4, 0);
    let length = STANDARD.encode_slice(bytes, &mut out[start..]);
    debug_assert_eq!(length, Ok(out.len() - start));
}
