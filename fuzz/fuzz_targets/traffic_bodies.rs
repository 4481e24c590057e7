//! Any bytes as bodies of recorded requests. The first line is the `Content-Type`, the rest the body.
//!
//! Parts lie in the body, one after the other; pairs are the same after they were written and read again; nothing unpacked passes
//! its bound.
#![no_main]

use brunt_traffic::{Body, Headers, charset, coding, cookies, form, multipart};
use libfuzzer_sys::fuzz_target;

const UNPACKED_MAX: u64 = 1 << 20;

fuzz_target!(|input: &[u8]| {
    let Some(end) = input.iter().position(|byte| *byte == b'\n') else { return };
    let kind = String::from_utf8_lossy(&input[..end]).into_owned();
    let body = &input[end + 1..];
    let headers = Headers(vec![
        ("Content-Type".to_owned(), kind.clone()),
        ("Cookie".to_owned(), kind.clone()),
        ("Set-Cookie".to_owned(), kind.clone()),
    ]);
    let mut last = 0;
    for part in multipart::of(&headers, body).unwrap_or_default() {
        assert!(last <= part.range.start && part.range.start <= part.range.end);
        assert!(part.range.end <= body.len());
        last = part.range.end;
    }
    let pairs = form::pairs(body);
    let written = form::encode(pairs.iter().map(|(name, value)| (name, value)));
    assert_eq!(form::pairs(written.as_bytes()), pairs);
    let bytes = bytes::Bytes::copy_from_slice(body);
    if let Some(text) = charset::text(&Body::Bytes(bytes.clone()), &headers) {
        assert!(text.len() <= 3 * body.len(), "at most three bytes for each");
        let _ = form::decode(&text);
    }
    assert!(cookies::sent(&headers).all(|(name, _)| !name.is_empty()));
    assert!(cookies::set(&headers).all(|cookie| !cookie.name.is_empty()));
    for name in ["gzip", "deflate", "br", "zstd", "br, gzip"] {
        if let Ok(unpacked) = coding::undo(name, &bytes, UNPACKED_MAX) {
            assert!(unpacked.len() as u64 <= UNPACKED_MAX);
        }
    }
});
