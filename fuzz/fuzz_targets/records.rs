//! Any bytes as records of an attack.
//!
//! The decoders must not panic, must not take memory that the input doesn't pay for, and must say the same however the bytes
//! were cut. The records they read must come back from every format that can hold it.
#![no_main]

use std::io::{self, Read};

use brunt_records::{Encoder, Format, Record, decode};
use libfuzzer_sys::fuzz_target;

/// Gives this many bytes at a time.
struct Pieces<'a>(&'a [u8], usize);

impl Read for Pieces<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let length = out.len().min(self.1).min(self.0.len());
        out[..length].copy_from_slice(&self.0[..length]);
        self.0 = &self.0[length..];
        Ok(length)
    }
}

fn read(bytes: &[u8], step: usize) -> (Vec<Record>, String) {
    let mut records = Vec::new();
    let decoder = match decode::open(Pieces(bytes, step), "input") {
        Ok(decoder) => decoder,
        Err(error) => return (records, error.to_string()),
    };
    for record in decoder {
        match record {
            Ok(record) => records.push(record),
            Err(error) => return (records, error.to_string()),
        }
    }
    (records, String::new())
}

fuzz_target!(|input: &[u8]| {
    let Some((&control, bytes)) = input.split_first() else { return };
    let whole = read(bytes, usize::MAX);
    assert_eq!(read(bytes, usize::from(control) + 1), whole);
    let (records, _) = whole;
    if records.is_empty() {
        return;
    }
    for format in [Format::Gob, Format::Json] {
        let mut encoder = Encoder::new(format, Vec::new());
        for record in &records {
            encoder.encode(record).expect("memory takes all");
        }
        let (back, error) = read(&encoder.into_inner(), usize::MAX);
        assert_eq!(error, "", "{format:?}");
        assert_eq!(back.len(), records.len());
    }
});
