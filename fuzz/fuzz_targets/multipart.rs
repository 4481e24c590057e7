//! Any bytes as a multipart body: what `Response.formData()` reads, in whatever `Content-Type` says.
//!
//! Entries must come from the body, and be the same after they were written and read again.
#![no_main]
#![allow(dead_code, reason = "of this file only the reader and the writer are tried")]

use brunt_http::Shared;
use libfuzzer_sys::fuzz_target;

/// The bytes of a file, as much of them as forms need.
mod blob {
    use brunt_http::Payload;

    pub(crate) struct BlobData {
        payload: Payload,
        kind: String,
    }

    impl BlobData {
        pub(crate) fn new(payload: Payload, kind: &str) -> Self {
            Self { payload, kind: kind.to_owned() }
        }

        pub(crate) fn payload(&self) -> &Payload {
            &self.payload
        }

        pub(crate) fn kind(&self) -> &str {
            &self.kind
        }
    }

    pub(crate) struct NamedBlob {
        pub(crate) data: BlobData,
        pub(crate) name: String,
        pub(crate) last_modified: f64,
    }

    pub(crate) fn now_ms() -> f64 {
        0.0
    }
}

#[path = "../../crates/modules/src/globals/web/form_parts.rs"]
mod form_parts;

use form_parts::{Entry, EntryValue};

/// Name, and text or file name with type and bytes.
#[derive(Debug, PartialEq)]
struct Told {
    name: String,
    text: Option<String>,
    file: Option<(String, String, Vec<u8>)>,
}

/// Line ends as they are after they were written.
fn with_crlf(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\r', "\n").replace('\n', "\r\n")
}

fn told(entry: &Entry) -> Told {
    let name = with_crlf(&entry.name);
    match &entry.value {
        EntryValue::Text(text) => Told { name, text: Some(with_crlf(text)), file: None },
        EntryValue::File(file) => {
            let bytes = file.data.payload().in_memory().expect("it came from memory");
            let kind = file.data.kind().chars().filter(|char| !char.is_ascii_control());
            let kind = kind.collect::<String>();
            let kind =
                if kind.trim().is_empty() { "application/octet-stream" } else { kind.trim() };
            let file = (file.name.clone(), kind.to_owned(), bytes.into_owned());
            Told { name, text: None, file: Some(file) }
        }
    }
}

fuzz_target!(|input: &[u8]| {
    let Some(end) = input.iter().position(|byte| *byte == b'\n') else { return };
    let kind = String::from_utf8_lossy(&input[..end]);
    let body = &input[end + 1..];
    let _ = form_parts::Boundary::of(Some(&kind), 7);
    let Ok(entries) = form_parts::parse(&Shared::from(body), &kind) else { return };
    let all: Vec<Told> = entries.iter().map(told).collect();
    let size = |told: &Told| {
        let file = told.file.as_ref().map_or(0, |(.., bytes)| bytes.len());
        told.name.len() / 3 + file.max(told.text.as_ref().map_or(0, |text| text.len() / 3))
    };
    assert!(all.iter().map(size).sum::<usize>() <= body.len(), "entries out of nothing");
    let boundary = form_parts::boundary(7);
    let payload = form_parts::encode(&entries, &boundary);
    let written = payload.in_memory().expect("all is in memory").into_owned();
    assert_eq!(payload.len(), Some(written.len() as u64));
    let kind = format!("multipart/form-data; boundary={boundary}");
    let again = form_parts::parse(&written.into(), &kind).expect("what we wrote can be read");
    assert_eq!(again.iter().map(told).collect::<Vec<_>>(), all);
});
