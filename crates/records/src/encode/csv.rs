//! Twelve columns without a header row; quoted where they need it.

use super::{base64, number};
use crate::Record;

pub(super) fn encode(record: &Record, out: &mut Vec<u8>) {
    number(out, record.timestamp.unix_ns());
    out.push(b',');
    number(out, u64::from(record.code));
    for value in [record.latency, record.bytes_out, record.bytes_in] {
        out.push(b',');
        number(out, value);
    }
    out.push(b',');
    text(out, &record.error);
    out.push(b',');
    base64(out, &record.body);
    out.push(b',');
    text(out, &record.attack);
    out.push(b',');
    number(out, record.seq);
    out.push(b',');
    text(out, &record.method);
    out.push(b',');
    text(out, &record.url);
    out.push(b',');
    if !record.headers.is_empty() {
        base64(out, &head(record));
    }
    out.push(b'\n');
}

/// The headers as they stand in a response, sorted by name.
fn head(record: &Record) -> Vec<u8> {
    let mut sorted: Vec<_> = record.headers.iter().collect();
    sorted.sort_by(|a, b| a.0.cmp(&b.0));
    let mut head = Vec::new();
    for (name, values) in sorted {
        for value in values {
            head.extend_from_slice(name.as_bytes());
            head.extend_from_slice(b": ");
            // A line end inside would begin another header.
            let tame =
                value.bytes().map(|byte| if matches!(byte, b'\r' | b'\n') { b' ' } else { byte });
            head.extend(tame);
            head.extend_from_slice(b"\r\n");
        }
    }
    head.extend_from_slice(b"\r\n");
    head
}

fn text(out: &mut Vec<u8>, text: &str) {
    let needs_quotes = text == "\\."
        || text.starts_with(char::is_whitespace)
        || text.bytes().any(|byte| matches!(byte, b',' | b'"' | b'\r' | b'\n'));
    if !needs_quotes {
        out.extend_from_slice(text.as_bytes());
        return;
    }
    out.push(b'"');
    for byte in text.bytes() {
        if byte == b'"' {
            out.push(b'"');
        }
        out.push(byte);
    }
    out.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Timestamp;

    #[test]
    fn a_row_has_twelve_columns_and_few_quotes() {
        let record = Record {
            attack: "a".to_owned(),
            seq: 3,
            code: 200,
            timestamp: Timestamp::from_unix_ns(1_000_000_001),
            latency: 5,
            bytes_in: 2,
            error: "a, \"b\"".to_owned(),
            body: b"hi".to_vec(),
            method: "GET".to_owned(),
            url: "http://h/?a=b c".to_owned(),
            headers: vec![
                ("B".to_owned(), vec!["2".to_owned()]),
                ("A".to_owned(), vec!["1".to_owned()]),
            ],
            planned: Some(1),
            ..Record::default()
        };
        let mut out = Vec::new();
        encode(&record, &mut out);
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "1000000001,200,5,0,2,\"a, \"\"b\"\"\",aGk=,a,3,GET,http://h/?a=b c,QTogMQ0KQjogMg0KDQo=\n"
        );
    }
}
