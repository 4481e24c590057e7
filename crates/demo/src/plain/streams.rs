//! Bodies that come or go piece by piece: `/chunked`, `/sse`, `/source`, `/stream`, `/sink`.

use std::sync::LazyLock;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use hyper::Response;
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderValue};
use serde_json::json;
use sha2::{Digest, Sha256};
use tokio::time::Instant;

use super::upload::hex;
use crate::body::Body;
use crate::call::Call;
use crate::reply::{self, Refusal, Reply};
use crate::timing::milliseconds;

/// Largest piece of a body.
const PIECE_MAX: usize = 1 << 20;

/// The bytes of streams: the alphabet again and again. Slices of it cost nothing.
static PATTERN: LazyLock<Bytes> =
    LazyLock::new(|| (0..PIECE_MAX).map(|i| b'a' + (i % 26) as u8).collect::<Vec<_>>().into());

fn streamed(content_type: &'static str, body: Body) -> Reply {
    let mut answer = Response::new(body);
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    answer
}

/// `n` chunks (default 10) of `size` bytes (default 100), `delay` apart (default 0).
pub(super) fn chunked(call: &Call<'_>) -> Result<Reply, Refusal> {
    let query = call.query();
    let mut left: u64 = query.parsed("n", 10)?;
    let size = query.parsed("size", 100)?.clamp(1, PIECE_MAX);
    let delay = query.duration("delay", Duration::ZERO)?;
    let produce = move || {
        left = left.checked_sub(1)?;
        Some(PATTERN.slice(..size))
    };
    Ok(streamed("text/plain; charset=utf-8", Body::paced(produce, delay, None)))
}

/// `n` server-sent events (default 10), `every` apart (default 100 ms).
pub(super) fn events(call: &Call<'_>) -> Result<Reply, Refusal> {
    let query = call.query();
    let count: u64 = query.parsed("n", 10)?;
    let every = query.duration("every", Duration::from_millis(100))?;
    let mut sent = 0;
    let produce = move || {
        if sent >= count {
            return None;
        }
        sent += 1;
        Some(Bytes::from(format!("id: {sent}\nevent: tick\ndata: {{\"n\":{sent}}}\n\n")))
    };
    let mut answer = streamed("text/event-stream", Body::paced(produce, every, None));
    answer.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    Ok(answer)
}

/// `bytes` in all (default 1 MiB), in pieces of `chunk` (default 64 KiB), `delay` apart.
pub(super) fn source(call: &Call<'_>) -> Result<Reply, Refusal> {
    let query = call.query();
    let total: u64 = query.parsed("bytes", 1 << 20)?;
    let chunk = query.parsed("chunk", 64 * 1024)?.clamp(1, PIECE_MAX);
    let delay = query.duration("delay", Duration::ZERO)?;
    let mut left = total;
    let produce = move || {
        let size = left.min(chunk as u64);
        left -= size;
        (size > 0).then(|| PATTERN.slice(..size as usize))
    };
    Ok(streamed("application/octet-stream", Body::paced(produce, delay, Some(total))))
}

/// `n` lines of JSON (default 10), `every` apart (default 100 ms), each `size` bytes long (default 64)
/// with its number and when it left: `{"n":1,"at":1795296757147.25,"pad":"…"}`, `at` in ms since the Unix
/// epoch.
pub(super) fn lines(call: &Call<'_>) -> Result<Reply, Refusal> {
    let query = call.query();
    let count: u64 = query.parsed("n", 10)?;
    let size = query.parsed("size", 64)?.clamp(1, PIECE_MAX);
    let every = query.duration("every", Duration::from_millis(100))?;
    let mut sent = 0;
    let produce = move || {
        if sent >= count {
            return None;
        }
        sent += 1;
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Some(line(sent, now.as_secs_f64() * 1e3, size))
    };
    Ok(streamed("application/x-ndjson", Body::paced(produce, every, None)))
}

/// One line of `/stream`, its LF included: padded to `size` bytes, longer if it must.
fn line(number: u64, at_ms: f64, size: usize) -> Bytes {
    let begin = format!("{{\"n\":{number},\"at\":{at_ms:.3},\"pad\":\"");
    let padding = size.saturating_sub(begin.len() + 3);
    let mut line = Vec::with_capacity(begin.len() + padding + 3);
    line.extend_from_slice(begin.as_bytes());
    line.extend_from_slice(&PATTERN[..padding]);
    line.extend_from_slice(b"\"}\n");
    line.into()
}

/// Counts and hashes any number of bytes, holding none: `{"bytes","sha256","ms"}`. With `?hash=0`
/// it only counts.
pub(super) async fn sink(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    let begin = Instant::now();
    let hashing = call.query().parsed("hash", 1u8)? != 0;
    let mut hash = Sha256::new();
    let mut total = 0u64;
    while let Some(piece) = call.piece().await? {
        total += piece.len() as u64;
        if hashing {
            call.compute(|| hash.update(&piece));
        }
    }
    let sha256 = hashing.then(|| hex(&hash.finalize()));
    let ms = milliseconds(begin.elapsed());
    Ok(reply::json(&json!({ "bytes": total, "sha256": sha256, "ms": ms })))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_json_of_the_size_asked_for() {
        let padded = line(7, 1.5, 100);
        assert_eq!(padded.len(), 100);
        let value: serde_json::Value = serde_json::from_slice(&padded).unwrap();
        assert_eq!((&value["n"], &value["at"]), (&json!(7), &json!(1.5)));
        let least = line(7, 1.5, 1);
        assert!(serde_json::from_slice::<serde_json::Value>(&least).is_ok());
    }
}
