//! Records in: gob, JSON or CSV, whichever it is.

use std::{
    fmt,
    io::{self, Read},
};

use crate::{Format, Record, input::Input};

mod csv;
mod gob;
mod json;

/// Why there is no next record.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// The input is none of the three formats, or empty.
    #[error("encode: can't detect encoding of {name:?}")]
    Undetected {
        /// The input.
        name: String,
    },
    /// The reader failed.
    #[error("cannot read {name}")]
    Read {
        /// The input.
        name: String,
        /// The reader's error.
        source: io::Error,
    },
    /// The input ends within a record. All records before it were given out.
    #[error("{name} ends within record {record}, which begins at byte {offset}")]
    Truncated {
        /// The input.
        name: String,
        /// The record's number, counted from 1.
        record: u64,
        /// Where the record begins.
        offset: u64,
    },
    /// A record can't be understood. All records before it were given out.
    #[error("{name}: record {record}, at byte {offset}: {problem}")]
    Malformed {
        /// The input.
        name: String,
        /// The record's number, counted from 1.
        record: u64,
        /// Where the record begins.
        offset: u64,
        /// Its fault.
        problem: String,
    },
}

impl DecodeError {
    /// Whether the input was merely cut off: what writers that are killed leave behind.
    pub fn is_truncated(&self) -> bool {
        matches!(self, Self::Truncated { .. })
    }
}

/// Why a codec has no next record.
enum Fault {
    Read(io::Error),
    Cut,
    Bad(String),
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        Self::Read(error)
    }
}

/// Reads the records of one input, one after the other.
///
/// Its buffer is as large as the largest record, which may have 256 MiB. After an error it gives nothing more.
pub struct Decoder<'a> {
    name: String,
    input: Input<'a>,
    codec: Codec,
    records: u64,
    is_over: bool,
}

enum Codec {
    Gob(gob::Gob),
    Json(json::Json),
    Csv(csv::Csv),
}

/// Finds out the format of an input by decoding its first record, and gives the decoder, which begins with that record.
///
/// `name` is for messages.
///
/// # Errors
/// The input can't be read, is empty, or is none of the formats.
pub fn open<'a>(reader: impl Read + Send + 'a, name: &str) -> Result<Decoder<'a>, DecodeError> {
    let mut input = Input::new(reader);
    let name = name.to_owned();
    let mut record = Record::default();
    for format in [Format::Gob, Format::Json, Format::Csv] {
        let found = Codec::new(format).next(&mut input, &mut record);
        input.rewind();
        match found {
            Ok(true) => {
                input.unpin();
                let codec = Codec::new(format);
                return Ok(Decoder { name, input, codec, records: 0, is_over: false });
            }
            Err(Fault::Read(source)) => return Err(DecodeError::Read { name, source }),
            Ok(false) | Err(_) => {}
        }
    }
    Err(DecodeError::Undetected { name })
}

impl Codec {
    fn new(format: Format) -> Self {
        match format {
            Format::Gob => Self::Gob(gob::Gob::default()),
            Format::Json => Self::Json(json::Json::default()),
            Format::Csv => Self::Csv(csv::Csv::default()),
        }
    }

    /// Decodes into a cleared record; false = the input is at its end.
    fn next(&mut self, input: &mut Input, record: &mut Record) -> Result<bool, Fault> {
        record.clear();
        match self {
            Self::Gob(gob) => gob.next(input, record),
            Self::Json(json) => json.next(input, record),
            Self::Csv(csv) => csv.next(input, record),
        }
    }
}

impl Decoder<'_> {
    /// The format that was found.
    pub fn format(&self) -> Format {
        match self.codec {
            Codec::Gob(_) => Format::Gob,
            Codec::Json(_) => Format::Json,
            Codec::Csv(_) => Format::Csv,
        }
    }

    /// From now on leaves out bodies and headers where that saves time: reports and plots don't look at them.
    pub fn leave_out_content(&mut self) {
        if let Codec::Gob(gob) = &mut self.codec {
            gob.leave_out_content();
        }
    }

    /// The input's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Decodes the next record into `record`, whose memory is used again; false = there is none.
    ///
    /// # Errors
    /// The input can't be read, ends within a record, or holds something else. `record` means nothing then.
    pub fn next_into(&mut self, record: &mut Record) -> Result<bool, DecodeError> {
        if self.is_over {
            return Ok(false);
        }
        let offset = self.input.position();
        let fault = match self.codec.next(&mut self.input, record) {
            Ok(true) => {
                self.records += 1;
                return Ok(true);
            }
            Ok(false) => {
                self.is_over = true;
                return Ok(false);
            }
            Err(fault) => fault,
        };
        self.is_over = true;
        let name = self.name.clone();
        let number = self.records + 1;
        Err(match fault {
            Fault::Read(source) => DecodeError::Read { name, source },
            Fault::Cut => DecodeError::Truncated { name, record: number, offset },
            Fault::Bad(problem) => DecodeError::Malformed { name, record: number, offset, problem },
        })
    }
}

impl Iterator for Decoder<'_> {
    type Item = Result<Record, DecodeError>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut record = Record::default();
        match self.next_into(&mut record) {
            Ok(true) => Some(Ok(record)),
            Ok(false) => None,
            Err(error) => Some(Err(error)),
        }
    }
}

impl fmt::Debug for Decoder<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut decoder = f.debug_struct("Decoder");
        decoder.field("name", &self.name).field("format", &self.format());
        decoder.field("records", &self.records).finish_non_exhaustive()
    }
}

/// Puts bytes into a text that is cleared; what is no UTF-8 is replaced.
fn text(out: &mut String, bytes: &[u8]) {
    match std::str::from_utf8(bytes) {
        Ok(text) => out.push_str(text),
        Err(_) => out.push_str(&String::from_utf8_lossy(bytes)),
    }
}

/// Reads standard base64, with padding.
fn base64(out: &mut Vec<u8>, bytes: &[u8]) -> bool {
    use base64::{Engine as _, engine::general_purpose::STANDARD};
    bytes.is_empty() || STANDARD.decode_vec(bytes, out).is_ok()
}

#[cfg(test)]
mod tests;
