//! One JSON object per line, keys in any order; what is missing is zero, what is unknown is passed over.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::{Fault, base64};
use crate::{
    Record, Timestamp,
    input::{Input, RECORD_SIZE_MAX},
    moment::Reader,
};

#[derive(Deserialize)]
struct Line {
    attack: Option<String>,
    seq: Option<u64>,
    code: Option<u16>,
    timestamp: Option<String>,
    // A clock that was set back gave vegeta less than nothing; CSV may hold what no `i64` can.
    latency: Option<i128>,
    bytes_out: Option<u64>,
    bytes_in: Option<u64>,
    error: Option<String>,
    body: Option<String>,
    method: Option<String>,
    url: Option<String>,
    headers: Option<Map<String, Value>>,
    planned: Option<u64>,
}

/// Reads lines.
#[derive(Default)]
pub(super) struct Json {
    moments: Reader,
}

impl Json {
    pub(super) fn next(&mut self, input: &mut Input, record: &mut Record) -> Result<bool, Fault> {
        loop {
            let Some((length, is_whole)) = line(input)? else { return Ok(false) };
            let line = input.available()[..length].trim_ascii();
            if line.is_empty() {
                input.consume(length);
                continue;
            }
            let read = self.read(line, record);
            if let Err(problem) = read {
                // The last line has no end: it is what a writer left that was killed.
                return Err(if is_whole { Fault::Bad(problem) } else { Fault::Cut });
            }
            input.consume(length);
            return Ok(true);
        }
    }

    fn read(&mut self, line: &[u8], record: &mut Record) -> Result<(), String> {
        let lossy = String::from_utf8_lossy(line);
        let line: Line = serde_json::from_str(&lossy).map_err(|error| error.to_string())?;
        record.attack = line.attack.unwrap_or_default();
        record.seq = line.seq.unwrap_or(0);
        record.code = line.code.unwrap_or(0);
        record.timestamp = match line.timestamp {
            None => Timestamp::default(),
            Some(text) => {
                self.moments.read(&text).ok_or_else(|| format!("{text:?} is not a timestamp"))?
            }
        };
        record.latency = line.latency.unwrap_or(0).clamp(0, i128::from(u64::MAX)) as u64;
        record.bytes_out = line.bytes_out.unwrap_or(0);
        record.bytes_in = line.bytes_in.unwrap_or(0);
        record.error = line.error.unwrap_or_default();
        if !base64(&mut record.body, line.body.unwrap_or_default().as_bytes()) {
            return Err("its body is not base64".to_owned());
        }
        record.method = line.method.unwrap_or_default();
        record.url = line.url.unwrap_or_default();
        for (name, values) in line.headers.unwrap_or_default() {
            let Value::Array(values) = values else {
                return Err(format!("the header {name:?} is not a list"));
            };
            let texts: Option<Vec<String>> =
                values.iter().map(|value| value.as_str().map(str::to_owned)).collect();
            let texts =
                texts.ok_or_else(|| format!("the header {name:?} is not a list of texts"))?;
            record.headers.push((name, texts));
        }
        record.planned = line.planned;
        Ok(())
    }
}

/// The length of the next line, and whether it has an end.
fn line(input: &mut Input) -> Result<Option<(usize, bool)>, Fault> {
    let mut searched = 0;
    loop {
        let available = input.available();
        // While formats are tried, what isn't JSON need not have lines.
        let first = available.trim_ascii_start().first();
        if first.is_some_and(|first| *first != b'{') {
            return Err(Fault::Bad("it is no JSON object".to_owned()));
        }
        if let Some(end) = memchr::memchr(b'\n', &available[searched..]) {
            return Ok(Some((searched + end + 1, true)));
        }
        if available.len() > RECORD_SIZE_MAX {
            return Err(Fault::Bad(format!("it has more than {RECORD_SIZE_MAX} bytes")));
        }
        searched = available.len();
        if !input.fill()? {
            return Ok((searched > 0).then_some((searched, false)));
        }
    }
}
