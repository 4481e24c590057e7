//! Bodies as texts.

use std::borrow::Cow;

use brunt_traffic::{Body, Headers};

use crate::reply::BODY_MAX;

/// The text of a body; empty if there is none, if it is no text, or if it is too large.
pub(crate) fn body_text<'a>(body: &'a Body, headers: &Headers) -> Cow<'a, str> {
    if body.size().is_none_or(|size| size > BODY_MAX as u64) || is_binary(&headers.media_type()) {
        return Cow::Borrowed("");
    }
    match body {
        Body::Bytes(bytes) => decoded(bytes, headers),
        Body::File { .. } => body
            .read()
            .map_or(Cow::Borrowed(""), |bytes| Cow::Owned(decoded(&bytes, headers).into_owned())),
        Body::Empty | Body::Absent { .. } => Cow::Borrowed(""),
    }
}

fn decoded<'a>(bytes: &'a [u8], headers: &Headers) -> Cow<'a, str> {
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => {
            let is_latin = headers.get("content-type").is_some_and(|value| {
                let value = value.to_ascii_lowercase();
                value.contains("8859-1") || value.contains("1252")
            });
            if is_latin {
                Cow::Owned(bytes.iter().map(|&byte| char::from(byte)).collect())
            } else {
                String::from_utf8_lossy(bytes)
            }
        }
    }
}

/// Media types without text.
fn is_binary(media_type: &str) -> bool {
    let (kind, name) = media_type.split_once('/').unwrap_or((media_type, ""));
    matches!(kind, "image" | "font" | "audio" | "video") && name != "svg+xml"
        || matches!(
            name,
            "octet-stream"
                | "pdf"
                | "zip"
                | "gzip"
                | "wasm"
                | "x-protobuf"
                | "grpc"
                | "woff"
                | "font-woff"
        )
}

/// JSON without what guards it from being read as a script: `)]}',`, `while(1);`, `for(;;);`.
pub(crate) fn without_guard(text: &str) -> &str {
    let text = text.trim_start();
    for guard in [")]}',", ")]}'", "while(1);", "for(;;);"] {
        if let Some(rest) = text.strip_prefix(guard) {
            return rest;
        }
    }
    text
}

/// The data of the events of a body of `text/event-stream`.
pub(crate) fn events(body: &str) -> Vec<String> {
    let mut events = Vec::new();
    let mut data: Option<String> = None;
    for line in body.lines().chain([""]) {
        if line.is_empty() {
            events.extend(data.take());
        } else if let Some(rest) = line.strip_prefix("data:") {
            let rest = rest.strip_prefix(' ').unwrap_or(rest);
            match &mut data {
                Some(data) => {
                    data.push('\n');
                    data.push_str(rest);
                }
                None => data = Some(rest.to_owned()),
            }
        }
    }
    events
}
