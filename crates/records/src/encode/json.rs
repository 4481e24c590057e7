//! One object per line, in the order of vegeta's keys, with `planned` behind them when it is known.

use super::{base64, number};
use crate::{Record, moment::Moments};

pub(super) fn encode(record: &Record, moments: &mut Moments, out: &mut Vec<u8>) {
    out.extend(b"{\"attack\":");
    text(out, &record.attack);
    out.extend(b",\"seq\":");
    number(out, record.seq);
    out.extend(b",\"code\":");
    number(out, u64::from(record.code));
    out.extend(b",\"timestamp\":\"");
    moments.write(out, record.timestamp);
    out.extend(b"\",\"latency\":");
    number(out, record.latency);
    out.extend(b",\"bytes_out\":");
    number(out, record.bytes_out);
    out.extend(b",\"bytes_in\":");
    number(out, record.bytes_in);
    out.extend(b",\"error\":");
    text(out, &record.error);
    out.extend(b",\"body\":");
    if record.body.is_empty() {
        out.extend(b"null");
    } else {
        out.push(b'"');
        base64(out, &record.body);
        out.push(b'"');
    }
    out.extend(b",\"method\":");
    text(out, &record.method);
    out.extend(b",\"url\":");
    text(out, &record.url);
    out.extend(b",\"headers\":");
    if record.headers.is_empty() {
        out.extend(b"null");
    } else {
        out.push(b'{');
        for (index, (name, values)) in record.headers.iter().enumerate() {
            if index > 0 {
                out.push(b',');
            }
            text(out, name);
            out.extend(b":[");
            for (index, value) in values.iter().enumerate() {
                if index > 0 {
                    out.push(b',');
                }
                text(out, value);
            }
            out.push(b']');
        }
        out.push(b'}');
    }
    if let Some(planned) = record.planned {
        out.extend(b",\"planned\":");
        number(out, planned);
    }
    out.extend(b"}\n");
}

/// A string, escaped as Go does it: `<`, `>` and `&` too, for the sake of HTML pages.
pub(crate) fn text(out: &mut Vec<u8>, text: &str) {
    out.push(b'"');
    let bytes = text.as_bytes();
    let mut copied = 0;
    for (index, &byte) in bytes.iter().enumerate() {
        let line_separator =
            byte == 0xe2 && matches!(bytes.get(index + 1..index + 3), Some([0x80, 0xa8 | 0xa9]));
        let plain = byte >= 0x20 && !matches!(byte, b'"' | b'\\' | b'<' | b'>' | b'&');
        if plain && !line_separator {
            continue;
        }
        out.extend_from_slice(&bytes[copied..index]);
        copied = index + 1;
        match byte {
            b'"' => out.extend(b"\\\""),
            b'\\' => out.extend(b"\\\\"),
            b'\n' => out.extend(b"\\n"),
            b'\r' => out.extend(b"\\r"),
            b'\t' => out.extend(b"\\t"),
            0xe2 => {
                out.extend(b"\\u202");
                out.push(if bytes[index + 2] == 0xa8 { b'8' } else { b'9' });
                copied = index + 3;
            }
            _ => {
                out.extend(b"\\u00");
                out.extend([byte >> 4, byte & 15].map(|half| b"0123456789abcdef"[half as usize]));
            }
        }
    }
    out.extend_from_slice(&bytes[copied..]);
    out.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Timestamp;

    fn line(record: &Record) -> String {
        let mut out = Vec::new();
        encode(record, &mut Moments::default(), &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_line_is_vegetas_line() {
        let record = Record {
            seq: 2,
            timestamp: Timestamp::from_unix_ns(1_795_287_541_895_402_269),
            latency: 21_112,
            error: "no targets to attack".to_owned(),
            ..Record::default()
        };
        assert_eq!(
            line(&record),
            "{\"attack\":\"\",\"seq\":2,\"code\":0,\"timestamp\":\"2026-11-21T18:59:01.895402269Z\",\
             \"latency\":21112,\"bytes_out\":0,\"bytes_in\":0,\"error\":\"no targets to attack\",\
             \"body\":null,\"method\":\"\",\"url\":\"\",\"headers\":null}\n"
        );
    }

    #[test]
    fn what_brunt_adds_stands_behind() {
        let record = Record {
            planned: Some(7),
            headers: vec![("A".to_owned(), vec!["1".to_owned(), "<2>".to_owned()])],
            body: b"hi".to_vec(),
            ..Record::default()
        };
        let text = line(&record);
        assert!(text.ends_with("\"headers\":{\"A\":[\"1\",\"\\u003c2\\u003e\"]},\"planned\":7}\n"));
        assert!(text.contains("\"body\":\"aGk=\""));
    }

    #[test]
    fn strings_are_escaped_and_stay_readable() {
        let strange = "a\"b\\c\n\t\r\u{1}\u{7f}é\u{2028}\u{2029}â€&";
        let mut out = Vec::new();
        text(&mut out, strange);
        let out = String::from_utf8(out).unwrap();
        assert_eq!(serde_json::from_str::<String>(&out).unwrap(), strange);
        assert!(out.contains("\\u2028\\u2029") && out.contains("\\u0026") && out.contains("é"));
    }
}
