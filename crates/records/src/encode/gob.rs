//! Go's binary stream, as far as a record needs it.
//!
//! A message is its length, a type id and a value, or a negative type id and the type's definition. Readers match fields
//! by name and skip the ones they don't know, which is how [`Record::planned`] travels.

use crate::Record;

const INT: i64 = 2;
const UINT: i64 = 3;
const BYTES: i64 = 5;
const STRING: i64 = 6;
const RESULT: i64 = 65;
const TIME: i64 = 66;
const HEADER: i64 = 67;
const STRINGS: i64 = 68;

/// Seconds from year 1 to 1970.
pub(crate) const UNIX_EPOCH_SECONDS: u64 = 62_135_596_800;

const FIELDS: [(&str, i64); 13] = [
    ("Attack", STRING),
    ("Seq", UINT),
    ("Code", UINT),
    ("Timestamp", TIME),
    ("Latency", INT),
    ("BytesOut", UINT),
    ("BytesIn", UINT),
    ("Error", STRING),
    ("Body", BYTES),
    ("Method", STRING),
    ("URL", STRING),
    ("Headers", HEADER),
    ("Planned", INT),
];

/// The output so far.
#[derive(Debug, Default)]
pub(super) struct State {
    types_are_written: bool,
    message: Vec<u8>,
}

/// The definitions of all types.
pub(super) fn beginning() -> Vec<u8> {
    let mut out = Vec::new();
    definitions(&mut out);
    out
}

impl State {
    /// The definitions stand elsewhere.
    pub(super) fn begun() -> Self {
        Self { types_are_written: true, message: Vec::new() }
    }

    pub(super) fn encode(&mut self, record: &Record, out: &mut Vec<u8>) {
        if !self.types_are_written {
            self.types_are_written = true;
            definitions(out);
        }
        let message = &mut self.message;
        message.clear();
        int(message, RESULT);
        let mut fields = Fields { out: message, last: -1 };
        fields.bytes(0, record.attack.as_bytes());
        fields.uint(1, record.seq);
        fields.uint(2, u64::from(record.code));
        fields.key(3);
        let ns = record.timestamp.unix_ns();
        let mut time = [0; 15];
        time[0] = 1;
        let seconds = ns / 1_000_000_000 + UNIX_EPOCH_SECONDS;
        time[1..9].copy_from_slice(&seconds.to_be_bytes());
        time[9..13].copy_from_slice(&((ns % 1_000_000_000) as u32).to_be_bytes());
        time[13..].copy_from_slice(&record.timestamp.zone_minutes().unwrap_or(-1).to_be_bytes());
        bytes(fields.out, &time);
        fields.uint(4, signed(record.latency));
        fields.uint(5, record.bytes_out);
        fields.uint(6, record.bytes_in);
        fields.bytes(7, record.error.as_bytes());
        fields.bytes(8, &record.body);
        fields.bytes(9, record.method.as_bytes());
        fields.bytes(10, record.url.as_bytes());
        if !record.headers.is_empty() {
            fields.key(11);
            uint(fields.out, record.headers.len() as u64);
            for (name, values) in &record.headers {
                bytes(fields.out, name.as_bytes());
                uint(fields.out, values.len() as u64);
                for value in values {
                    bytes(fields.out, value.as_bytes());
                }
            }
        }
        fields.uint(12, signed(record.planned.unwrap_or(0)));
        message.push(0);
        bytes(out, message);
    }
}

/// The fields of a struct: each with its distance from the one before; zeros are left out.
struct Fields<'a> {
    out: &'a mut Vec<u8>,
    last: i64,
}

impl Fields<'_> {
    fn key(&mut self, index: i64) {
        uint(self.out, (index - self.last) as u64);
        self.last = index;
    }

    fn uint(&mut self, index: i64, value: u64) {
        if value != 0 {
            self.key(index);
            uint(self.out, value);
        }
    }

    fn bytes(&mut self, index: i64, value: &[u8]) {
        if !value.is_empty() {
            self.key(index);
            bytes(self.out, value);
        }
    }
}

/// The four types, each in a message of its own.
fn definitions(out: &mut Vec<u8>) {
    // The first byte is the field of Go's `wireType` that is set, counted from 1.
    define(out, RESULT, 3, |body| {
        common(body, "Result", RESULT);
        body.push(1);
        uint(body, FIELDS.len() as u64);
        for (name, id) in FIELDS {
            named(body, name, id);
        }
    });
    define(out, TIME, 5, |body| common(body, "Time", TIME));
    define(out, HEADER, 4, |body| {
        common(body, "Header", HEADER);
        body.push(1);
        int(body, STRING);
        body.push(1);
        int(body, STRINGS);
    });
    define(out, STRINGS, 2, |body| {
        common(body, "", STRINGS);
        body.push(1);
        int(body, STRING);
    });
}

fn define(out: &mut Vec<u8>, id: i64, kind: u8, body: impl FnOnce(&mut Vec<u8>)) {
    let mut message = Vec::new();
    int(&mut message, -id);
    message.push(kind);
    body(&mut message);
    // The end of the type's struct, and of `wireType`.
    message.extend([0, 0]);
    bytes(out, &message);
}

/// The beginning of each type definition, as the first field of its struct.
fn common(out: &mut Vec<u8>, name: &str, id: i64) {
    out.push(1);
    named(out, name, id);
}

/// A struct of a name and an id.
fn named(out: &mut Vec<u8>, name: &str, id: i64) {
    let mut fields = Fields { out, last: -1 };
    fields.bytes(0, name.as_bytes());
    fields.key(1);
    int(out, id);
    out.push(0);
}

fn uint(out: &mut Vec<u8>, value: u64) {
    if value < 128 {
        out.push(value as u8);
    } else {
        let bytes = value.to_be_bytes();
        let length = 8 - value.leading_zeros() as usize / 8;
        out.push((length as u8).wrapping_neg());
        out.extend_from_slice(&bytes[8 - length..]);
    }
}

fn int(out: &mut Vec<u8>, value: i64) {
    uint(out, ((value << 1) ^ (value >> 63)) as u64);
}

/// A number that isn't negative, as a signed one. A number of more than 63 bits (292 years) becomes the largest one.
fn signed(value: u64) -> u64 {
    value.min(i64::MAX as u64) << 1
}

fn bytes(out: &mut Vec<u8>, value: &[u8]) {
    uint(out, value.len() as u64);
    out.extend_from_slice(value);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Timestamp;

    #[test]
    fn a_value_has_the_bytes_that_go_writes() {
        let record = Record {
            attack: "a1".to_owned(),
            code: 200,
            latency: 5_369_817,
            bytes_in: 146,
            timestamp: Timestamp::from_unix_ns(
                (0x0e_e293_e0f2 - UNIX_EPOCH_SECONDS) * 1_000_000_000 + 0x1190_73d5,
            )
            .in_zone(0),
            ..Record::default()
        };
        let mut out = Vec::new();
        State { types_are_written: true, ..State::default() }.encode(&record, &mut out);
        let expected = "28 ff82 01026131 02ffc8 010f0100 00000ee293e0f2 119073d5 0000 \
                        01fda3dfb2 02ff92 00";
        let expected: String = expected.split_whitespace().collect();
        let hex: Vec<String> = out.iter().map(|byte| format!("{byte:02x}")).collect();
        let hex = hex.concat();
        // After the length, which our own id doesn't change.
        assert_eq!(hex[2..], expected[2..]);
        assert_eq!(usize::from(out[0]), out.len() - 1);
    }

    #[test]
    fn numbers_take_as_many_bytes_as_they_need() {
        for (value, bytes) in [
            (0, &[0][..]),
            (127, &[127]),
            (128, &[0xff, 128]),
            (256, &[0xfe, 1, 0]),
            (u64::MAX, &[0xf8, 255, 255, 255, 255, 255, 255, 255, 255]),
        ] {
            let mut out = Vec::new();
            uint(&mut out, value);
            assert_eq!(out, bytes);
        }
        let mut out = Vec::new();
        int(&mut out, -65);
        assert_eq!(out, [0xff, 129]);
    }
}
