//! `multipart/form-data` (RFC 7578), as Go's `mime/multipart` writes it.

use std::fmt::Write as _;

use crate::payload::{Payload, Piece, Shared};

/// One part.
#[derive(Copy, Clone, Debug)]
pub enum Part<'a> {
    /// A plain field.
    Field {
        /// Its name.
        name: &'a str,
        /// Its value.
        value: &'a str,
    },
    /// A file.
    File {
        /// The field's name.
        name: &'a str,
        /// The file's name.
        filename: &'a str,
        /// Its type.
        content_type: &'a str,
        /// Its bytes, wherever they lie.
        data: &'a Payload,
    },
}

/// A whole body.
#[derive(Clone, Debug)]
pub struct Multipart {
    /// The text that separates the parts: 60 random hex digits.
    pub boundary: String,
    /// The body.
    pub body: Payload,
}

impl Multipart {
    /// Writes the parts in their order. Files stay where they are; all between them is one allocation.
    /// The boundary comes from `random`.
    pub fn encode(parts: &[Part<'_>], mut random: impl FnMut() -> u64) -> Self {
        let mut boundary = String::with_capacity(60);
        for _ in 0..4 {
            let _ = write!(boundary, "{:015x}", random() >> 4);
        }
        Self::encode_with(boundary, parts)
    }

    /// The same with a boundary of the caller's, which RFC 2046 allows.
    pub fn encode_with(boundary: String, parts: &[Part<'_>]) -> Self {
        let body = encode_with(&boundary, parts);
        Self { boundary, body }
    }

    /// The `Content-Type` for it.
    pub fn content_type(&self) -> String {
        format!("multipart/form-data; boundary={}", self.boundary)
    }
}

fn encode_with(boundary: &str, parts: &[Part<'_>]) -> Payload {
    let mut text = String::new();
    // Where a file cuts the text.
    let mut cuts: Vec<(usize, &Payload)> = Vec::new();
    for (index, part) in parts.iter().enumerate() {
        let line_end = if index == 0 { "" } else { "\r\n" };
        let _ = write!(text, "{line_end}--{boundary}\r\n");
        cuts.extend(write_part(part, &mut text).map(|data| (text.len(), data)));
    }
    let _ = write!(text, "\r\n--{boundary}--\r\n");
    let text = Shared::from(text.into_bytes());
    let mut pieces: Vec<Piece> = Vec::with_capacity(2 * cuts.len() + 1);
    let mut from = 0;
    for (end, data) in cuts {
        pieces.push(text.slice(from..end).into());
        pieces.extend_from_slice(data.pieces());
        from = end;
    }
    pieces.push(text.slice(from..text.as_slice().len()).into());
    pieces.into_iter().collect()
}

/// Writes a part up to its data, or to its end. Returns the data that follows.
fn write_part<'a>(part: &Part<'a>, out: &mut String) -> Option<&'a Payload> {
    match part {
        Part::Field { name, value } => {
            let name = quoted(name);
            let _ = write!(out, "Content-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}");
            None
        }
        Part::File { name, filename, content_type, data } => {
            let content_type: String =
                content_type.chars().filter(|char| !char.is_ascii_control()).collect();
            let _ = write!(
                out,
                "Content-Disposition: form-data; name=\"{}\"; filename=\"{}\"\r\n\
                 Content-Type: {content_type}\r\n\r\n",
                quoted(name),
                quoted(filename),
            );
            Some(data)
        }
    }
}

/// Backslash and quote with a backslash, line ends by percent: nothing leaves the quotes.
fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            '\\' => out.push_str("\\\\"),
            '"' => out.push_str("\\\""),
            '\r' => out.push_str("%0D"),
            '\n' => out.push_str("%0A"),
            char => out.push(char),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_written_as_go_does() {
        let data = Payload::from(&b"\x00\x01"[..]);
        let parts = [
            Part::Field { name: "a\"b", value: "1" },
            Part::File { name: "f", filename: "x\r\ny", content_type: "text/plain", data: &data },
        ];
        let body = encode_with("BB", &parts);
        assert_eq!(body.pieces().len(), 3);
        assert_eq!(
            String::from_utf8(body.in_memory().unwrap().into_owned()).unwrap(),
            "--BB\r\nContent-Disposition: form-data; name=\"a\\\"b\"\r\n\r\n1\r\n\
             --BB\r\nContent-Disposition: form-data; name=\"f\"; filename=\"x%0D%0Ay\"\r\n\
             Content-Type: text/plain\r\n\r\n\0\u{1}\r\n--BB--\r\n"
        );
    }

    #[test]
    fn boundaries_are_long_and_new_each_time() {
        let (one, two) = (
            Multipart::encode(&[], || fastrand::u64(..)),
            Multipart::encode(&[], || fastrand::u64(..)),
        );
        assert_eq!(one.boundary.len(), 60);
        assert_ne!(one.boundary, two.boundary);
        assert!(one.content_type().ends_with(&one.boundary));
    }
}
