//! `/ws/*`: WebSockets (RFC 6455), enough of them to talk with a client.
//!
//! A compressed message is echoed as it came: without context takeover, no message depends on another.

use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use bytes::{Buf, BytesMut};
use hyper::StatusCode;
use hyper::header::{CONNECTION, HeaderMap, HeaderName, HeaderValue, UPGRADE};
use hyper::upgrade::{OnUpgrade, Upgraded};
use hyper_util::rt::TokioIo;
use sha1::{Digest, Sha1};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::{Instant, sleep_until};

use crate::call::Call;
use crate::reply::{self, Query, Refusal, Reply};

const GUID: &[u8] = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

/// The longest frame that is echoed; longer ones end the connection.
const FRAME_MAX: u64 = 16 << 20;

/// How often a message may be echoed, and what all echoes of one may take.
const TIMES_MAX: u16 = 10_000;
const ECHOES_SIZE_MAX: usize = 64 << 20;

/// How much one reading can bring.
const READ_SIZE: usize = 64 * 1024;

/// The server's acts beside echoing messages.
#[derive(Debug)]
struct Manner {
    /// Bytes that are sent first, whatever they mean.
    first: Vec<u8>,
    /// Messages to send: how many, and how far apart.
    pushes: u64,
    every: Duration,
    /// It hangs up instead of echoing.
    drops: bool,
    /// How often a message is echoed.
    times: u16,
}

impl Default for Manner {
    fn default() -> Self {
        Self { first: Vec::new(), pushes: 0, every: Duration::ZERO, drops: false, times: 1 }
    }
}

/// `/ws` and `/ws/echo` echo, with `?times=` each message so often (at most 10 000 times); `/ws/close?code=&reason=` closes at once; `/ws/push?n=&every=` sends `n` numbered messages;
/// `/ws/raw?hex=` sends these bytes first; `/ws/drop` hangs up at the first message.
pub(super) fn answer(call: &mut Call<'_>, rest: &str) -> Result<Reply, Refusal> {
    let manner = manner(rest, &call.query())?;
    let headers = &call.parts.headers;
    let key = headers.get("sec-websocket-key").map(HeaderValue::as_bytes);
    let Some(accept) = key.map(accept) else {
        return Err(reply::bad_request("this route wants a WebSocket handshake"));
    };
    let protocol = first_of(headers, "sec-websocket-protocol");
    let compresses = headers
        .get_all("sec-websocket-extensions")
        .iter()
        .any(|value| value.as_bytes().starts_with(b"permessage-deflate"));
    let Some(upgrade) = call.parts.extensions.remove::<OnUpgrade>() else {
        return Err(reply::bad_request("this connection cannot be upgraded: use HTTP/1.1"));
    };
    tokio::spawn(async move {
        if let Ok(stream) = upgrade.await {
            // However it ends: the other side has hung up by then, or will read that we did.
            let _ = talk(TokioIo::new(stream), manner).await;
        }
    });
    let mut reply = reply::bare(StatusCode::SWITCHING_PROTOCOLS);
    let headers = reply.headers_mut();
    headers.insert(UPGRADE, HeaderValue::from_static("websocket"));
    headers.insert(CONNECTION, HeaderValue::from_static("Upgrade"));
    headers.insert(HeaderName::from_static("sec-websocket-accept"), accept);
    if let Some(protocol) = protocol {
        headers.insert(HeaderName::from_static("sec-websocket-protocol"), protocol);
    }
    if compresses {
        headers.insert(
            HeaderName::from_static("sec-websocket-extensions"),
            HeaderValue::from_static(
                "permessage-deflate; server_no_context_takeover; client_no_context_takeover",
            ),
        );
    }
    Ok(reply)
}

fn manner(rest: &str, query: &Query<'_>) -> Result<Manner, Refusal> {
    let mut manner = Manner::default();
    match rest {
        "" | "echo" => {
            manner.times = query.parsed("times", 1)?;
            if manner.times > TIMES_MAX {
                return Err(reply::bad_request("'times' is at most 10000"));
            }
        }
        "close" => {
            let code: u16 = query.parsed("code", 1000)?;
            let mut payload = Vec::from(code.to_be_bytes());
            let reason: String = query.parsed("reason", String::new())?;
            payload.extend_from_slice(reason.as_bytes().get(..123).unwrap_or(reason.as_bytes()));
            frame(&mut manner.first, 0x88, &payload);
        }
        "push" => {
            manner.pushes = query.parsed("n", 10)?;
            manner.every = query.duration("every", Duration::from_millis(100))?;
        }
        "raw" => {
            let hex: String = query.parsed("hex", String::new())?;
            let byte =
                |at: usize| hex.get(at..at + 2).and_then(|two| u8::from_str_radix(two, 16).ok());
            let bytes: Option<Vec<u8>> = (0..hex.len()).step_by(2).map(byte).collect();
            manner.first =
                bytes.ok_or_else(|| reply::bad_request("'hex' is not hexadecimal text"))?;
        }
        "drop" => manner.drops = true,
        _ => return Err(reply::not_found()),
    }
    Ok(manner)
}

/// The answer to a key.
fn accept(key: &[u8]) -> HeaderValue {
    let digest = Sha1::new().chain_update(key).chain_update(GUID).finalize();
    HeaderValue::from_str(&BASE64_STANDARD.encode(digest)).expect("base64 is a header's value")
}

/// The first of a list.
fn first_of(headers: &HeaderMap, name: &str) -> Option<HeaderValue> {
    let list = headers.get(name)?.to_str().ok()?;
    HeaderValue::from_str(list.split(',').next()?.trim()).ok()
}

async fn talk(mut stream: TokioIo<Upgraded>, mut manner: Manner) -> std::io::Result<()> {
    let mut came = BytesMut::with_capacity(READ_SIZE);
    let mut out = std::mem::take(&mut manner.first);
    let mut pushed = 0;
    let mut next_push = Instant::now();
    loop {
        if !out.is_empty() {
            stream.write_all(&out).await?;
            stream.flush().await?;
            out.clear();
        }
        came.reserve(READ_SIZE);
        if pushed < manner.pushes {
            tokio::select! {
                size = stream.read_buf(&mut came) => if size? == 0 { return Ok(()) },
                () = sleep_until(next_push) => {
                    pushed += 1;
                    next_push += manner.every;
                    frame(&mut out, 0x81, format!("{{\"n\":{pushed}}}").as_bytes());
                }
            }
        } else if stream.read_buf(&mut came).await? == 0 {
            return Ok(());
        }
        while let Some(step) = step(&mut came, &mut out, &manner) {
            if step == Step::Hang {
                stream.write_all(&out).await?;
                return stream.shutdown().await;
            }
        }
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Step {
    On,
    Hang,
}

/// Takes one frame and answers it. `None`: it is not whole yet.
fn step(came: &mut BytesMut, out: &mut Vec<u8>, manner: &Manner) -> Option<Step> {
    let [first, second, ..] = came[..] else { return None };
    let (length, header) = match second & 0x7f {
        126 => (u64::from(u16::from_be_bytes(came.get(2..4)?.try_into().ok()?)), 4),
        127 => (u64::from_be_bytes(came.get(2..10)?.try_into().ok()?), 10),
        short => (u64::from(short), 2),
    };
    if length > FRAME_MAX || second & 0x80 == 0 {
        let code: u16 = if length > FRAME_MAX { 1009 } else { 1002 };
        frame(out, 0x88, &code.to_be_bytes());
        return Some(Step::Hang);
    }
    let (mask_at, length) = (header, length as usize);
    let from = mask_at + 4;
    if came.len() < from + length {
        return None;
    }
    let mask: [u8; 4] = came[mask_at..from].try_into().ok()?;
    let payload = &mut came[from..from + length];
    for (byte, mask) in payload.iter_mut().zip(mask.iter().cycle()) {
        *byte ^= mask;
    }
    let step = match first & 0x0f {
        8 => {
            frame(out, 0x88, payload);
            Step::Hang
        }
        9 => {
            frame(out, 0x8a, payload);
            Step::On
        }
        10 => Step::On,
        _ if manner.drops => Step::Hang,
        // Parts of a message are echoed one by one.
        _ if out.len().saturating_add(length * usize::from(manner.times)) > ECHOES_SIZE_MAX => {
            frame(out, 0x88, &1009_u16.to_be_bytes());
            Step::Hang
        }
        _ => {
            (0..manner.times).for_each(|_| frame(out, first, payload));
            Step::On
        }
    };
    came.advance(from + length);
    Some(step)
}

fn frame(out: &mut Vec<u8>, first: u8, payload: &[u8]) {
    out.push(first);
    match payload.len() {
        length @ ..=125 => out.push(length as u8),
        length @ 126..=0xffff => {
            out.push(126);
            out.extend_from_slice(&(length as u16).to_be_bytes());
        }
        length => {
            out.push(127);
            out.extend_from_slice(&(length as u64).to_be_bytes());
        }
    }
    out.extend_from_slice(payload);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answered(bytes: &[u8]) -> (Vec<u8>, Option<Step>) {
        answered_by(&Manner::default(), bytes)
    }

    fn answered_by(manner: &Manner, bytes: &[u8]) -> (Vec<u8>, Option<Step>) {
        let (mut came, mut out) = (BytesMut::from(bytes), Vec::new());
        let step = step(&mut came, &mut out, manner);
        (out, step)
    }

    #[test]
    fn a_message_is_echoed_as_often_as_asked_up_to_a_size() {
        let manner = Manner { times: 3, ..Manner::default() };
        let (out, step) = answered_by(&manner, b"\x81\x81\0\0\0\0x");
        assert_eq!((out.as_slice(), step), (&b"\x81\x01x\x81\x01x\x81\x01x"[..], Some(Step::On)));
        let manner = Manner { times: TIMES_MAX, ..Manner::default() };
        let mut long = vec![0x82, 0xff];
        long.extend((1_u64 << 20).to_be_bytes());
        long.resize(14 + (1 << 20), 0);
        let (out, step) = answered_by(&manner, &long);
        assert_eq!((out.as_slice(), step), (&b"\x88\x02\x03\xf1"[..], Some(Step::Hang)));
    }

    /// RFC 6455 §1.3.
    #[test]
    fn a_key_is_answered_as_the_standard_says() {
        assert_eq!(accept(b"dGhlIHNhbXBsZSBub25jZQ=="), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
    }

    #[test]
    fn frames_are_echoed_without_their_mask() {
        let hello = [0x81, 0x85, 0x37, 0xfa, 0x21, 0x3d, 0x7f, 0x9f, 0x4d, 0x51, 0x58];
        assert_eq!(answered(&hello), (b"\x81\x05Hello".to_vec(), Some(Step::On)));
        assert_eq!(answered(&hello[..9]), (vec![], None));
        assert_eq!(answered(b"\x89\x81\0\0\0\0x").0, b"\x8a\x01x");
        assert_eq!(answered(b"\x81\x01x"), (b"\x88\x02\x03\xea".to_vec(), Some(Step::Hang)));
    }
}
