//! Twelve columns, no header row.

use std::ops::Range;

use super::{Fault, base64, text};
use crate::{
    Record, Timestamp,
    input::{Input, RECORD_SIZE_MAX},
};

const COLUMNS: [&str; 12] = [
    "timestamp",
    "status code",
    "latency",
    "bytes out",
    "bytes in",
    "error",
    "body",
    "attack name",
    "sequence number",
    "method",
    "URL",
    "headers",
];

/// Memory that is used again for each row.
#[derive(Default)]
pub(super) struct Csv {
    /// Fields without their quotes, one after the other.
    text: Vec<u8>,
    fields: Vec<Range<usize>>,
}

impl Csv {
    pub(super) fn next(&mut self, input: &mut Input, record: &mut Record) -> Result<bool, Fault> {
        loop {
            let Some((length, is_whole)) = row(input)? else { return Ok(false) };
            let row = &input.available()[..length];
            let row = row.strip_suffix(b"\n").unwrap_or(row);
            let row = row.strip_suffix(b"\r").unwrap_or(row);
            if row.is_empty() {
                input.consume(length);
                continue;
            }
            if let Err(problem) = self.split(row).and_then(|()| self.read(record)) {
                return Err(if is_whole { Fault::Bad(problem) } else { Fault::Cut });
            }
            input.consume(length);
            return Ok(true);
        }
    }

    /// Cuts a row into its fields.
    fn split(&mut self, row: &[u8]) -> Result<(), String> {
        self.text.clear();
        self.fields.clear();
        let mut rest = row;
        loop {
            let start = self.text.len();
            let mut is_last = true;
            if let Some(mut quoted) = rest.strip_prefix(b"\"") {
                loop {
                    let end = memchr::memchr(b'"', quoted).ok_or("a quote is not closed")?;
                    self.text.extend_from_slice(&quoted[..end]);
                    quoted = &quoted[end + 1..];
                    match quoted.first() {
                        Some(b'"') => {
                            self.text.push(b'"');
                            quoted = &quoted[1..];
                        }
                        Some(b',') => {
                            rest = &quoted[1..];
                            is_last = false;
                            break;
                        }
                        None => break,
                        Some(_) => return Err("a closing quote is followed by text".to_owned()),
                    }
                }
            } else if let Some(end) = memchr::memchr(b',', rest) {
                self.text.extend_from_slice(&rest[..end]);
                rest = &rest[end + 1..];
                is_last = false;
            } else {
                self.text.extend_from_slice(rest);
            }
            self.fields.push(start..self.text.len());
            if is_last {
                break;
            }
            if self.fields.len() > COLUMNS.len() {
                break;
            }
        }
        match self.fields.len() {
            12 => Ok(()),
            count if count > 12 => Err("wrong number of fields: more than 12".to_owned()),
            count => Err(format!("wrong number of fields: {count}, not 12")),
        }
    }

    fn read(&self, record: &mut Record) -> Result<(), String> {
        record.timestamp = Timestamp::from_unix_ns(self.number(0)?);
        record.code = u16::try_from(self.number(1)?).map_err(|_| "the status code is too large")?;
        record.latency = self.number(2)?;
        record.bytes_out = self.number(3)?;
        record.bytes_in = self.number(4)?;
        text(&mut record.error, self.field(5));
        if !base64(&mut record.body, self.field(6)) {
            return Err("the body is not Base64".to_owned());
        }
        text(&mut record.attack, self.field(7));
        record.seq = self.number(8)?;
        text(&mut record.method, self.field(9));
        text(&mut record.url, self.field(10));
        let mut head = Vec::new();
        if !base64(&mut head, self.field(11)) {
            return Err("the headers are not Base64".to_owned());
        }
        headers(&head, record)
    }

    fn field(&self, index: usize) -> &[u8] {
        &self.text[self.fields[index].clone()]
    }

    fn number(&self, index: usize) -> Result<u64, String> {
        let field = self.field(index);
        let digits = std::str::from_utf8(field).ok().map(|digits| match digits.strip_prefix('-') {
            // A clock that was set back: nothing took less than no time.
            Some(digits) => digits.parse::<u64>().map(|_| 0),
            None => digits.parse(),
        });
        if let Some(Ok(number)) = digits {
            return Ok(number);
        }
        let field = String::from_utf8_lossy(&field[..field.len().min(40)]);
        Err(format!("column {} ({}): {field:?} is not a number", index + 1, COLUMNS[index]))
    }
}

/// The length of the next row, and whether it has an end. Line ends within quotes don't end it.
fn row(input: &mut Input) -> Result<Option<(usize, bool)>, Fault> {
    if !input.ensure(1)? {
        return Ok(None);
    }
    let mut searched = 0;
    let mut is_quoted = false;
    loop {
        let available = input.available();
        // While formats are tried, what isn't CSV need not have lines.
        if !matches!(available[0], b'0'..=b'9' | b'"' | b'-' | b'\r' | b'\n') {
            return Err(Fault::Bad("it does not begin with a timestamp".to_owned()));
        }
        while let Some(at) = memchr::memchr2(b'"', b'\n', &available[searched..]) {
            let byte = available[searched + at];
            searched += at + 1;
            match byte {
                b'"' => is_quoted = !is_quoted,
                _ if !is_quoted => return Ok(Some((searched, true))),
                _ => {}
            }
        }
        searched = available.len();
        if searched > RECORD_SIZE_MAX {
            return Err(Fault::Bad(format!("it has more than {RECORD_SIZE_MAX} bytes")));
        }
        if !input.fill()? {
            return Ok(Some((searched, false)));
        }
    }
}

/// Reads headers as they stand in a response.
fn headers(head: &[u8], record: &mut Record) -> Result<(), String> {
    for line in head.split(|byte| *byte == b'\n') {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.is_empty() {
            continue;
        }
        let colon = memchr::memchr(b':', line).ok_or("a header has no colon")?;
        let (mut name, mut value) = (String::new(), String::new());
        text(&mut name, &line[..colon]);
        text(&mut value, line[colon + 1..].trim_ascii());
        match record.headers.last_mut() {
            Some((last, values)) if *last == name => values.push(value),
            _ => record.headers.push((name, vec![value])),
        }
    }
    Ok(())
}
