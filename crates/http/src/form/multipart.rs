//! `multipart/form-data` (RFC 7578), as Go's `mime/multipart` writes it.

use std::fmt::Write as _;

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
        /// Its bytes.
        data: &'a [u8],
    },
}

/// A whole body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Multipart {
    /// What separates the parts: 60 random hex digits.
    pub boundary: String,
    /// The body.
    pub body: Vec<u8>,
}

impl Multipart {
    /// Writes the parts in their order, each byte of their data copied once.
    pub fn encode(parts: &[Part<'_>]) -> Self {
        let mut boundary = String::with_capacity(60);
        for _ in 0..4 {
            let _ = write!(boundary, "{:015x}", fastrand::u64(..) >> 4);
        }
        let body = encode_with(&boundary, parts);
        Self { boundary, body }
    }

    /// The `Content-Type` for it.
    pub fn content_type(&self) -> String {
        format!("multipart/form-data; boundary={}", self.boundary)
    }
}

fn encode_with(boundary: &str, parts: &[Part<'_>]) -> Vec<u8> {
    let heads: Vec<(String, &[u8])> = parts.iter().map(|part| head(part)).collect();
    let size: usize = heads.iter().map(|(head, data)| head.len() + data.len()).sum();
    let mut body = Vec::with_capacity(size + (boundary.len() + 8) * (parts.len() + 1));
    for (index, (head, data)) in heads.iter().enumerate() {
        body.extend_from_slice(if index == 0 { b"--" } else { b"\r\n--" });
        body.extend_from_slice(boundary.as_bytes());
        body.extend_from_slice(b"\r\n");
        body.extend_from_slice(head.as_bytes());
        body.extend_from_slice(data);
    }
    body.extend_from_slice(b"\r\n--");
    body.extend_from_slice(boundary.as_bytes());
    body.extend_from_slice(b"--\r\n");
    body
}

fn head<'a>(part: &Part<'a>) -> (String, &'a [u8]) {
    match part {
        Part::Field { name, value } => {
            let head = format!("Content-Disposition: form-data; name=\"{}\"\r\n\r\n", quoted(name));
            (head, value.as_bytes())
        }
        Part::File { name, filename, content_type, data } => {
            let content_type: String =
                content_type.chars().filter(|char| !char.is_ascii_control()).collect();
            let head = format!(
                "Content-Disposition: form-data; name=\"{}\"; filename=\"{}\"\r\n\
                 Content-Type: {content_type}\r\n\r\n",
                quoted(name),
                quoted(filename),
            );
            (head, data)
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
        let parts = [
            Part::Field { name: "a\"b", value: "1" },
            Part::File {
                name: "f",
                filename: "x\r\ny",
                content_type: "text/plain",
                data: b"\x00\x01",
            },
        ];
        let body = encode_with("BB", &parts);
        assert_eq!(
            String::from_utf8(body.clone()).unwrap(),
            "--BB\r\nContent-Disposition: form-data; name=\"a\\\"b\"\r\n\r\n1\r\n\
             --BB\r\nContent-Disposition: form-data; name=\"f\"; filename=\"x%0D%0Ay\"\r\n\
             Content-Type: text/plain\r\n\r\n\0\u{1}\r\n--BB--\r\n"
        );
    }

    #[test]
    fn boundaries_are_long_and_new_each_time() {
        let (one, two) = (Multipart::encode(&[]), Multipart::encode(&[]));
        assert_eq!(one.boundary.len(), 60);
        assert_ne!(one.boundary, two.boundary);
        assert!(one.content_type().ends_with(&one.boundary));
    }
}
