//! Laws of the HTTP/2 readers that must hold for any bytes. The fuzz targets and the tests try them; no other build has them.

use super::asked::Asked;
use super::frame::{self, Head, kind};
use super::hpack::{Decoder, Encoder};
use super::protocol::Protocol;
use crate::exchange::{Answer, Fate};
use crate::failure::Failure;
use crate::headers::Headers;
use crate::request::{Body, Request};
use crate::target::Target;

/// The size of a decoder's table: no entry is larger.
const TABLE: usize = 4096;

/// Above any input: pieces would meet a limit earlier than the whole.
const LIMIT: u64 = 1 << 20;

/// Header blocks, each behind its length in one byte, for one decoder.
///
/// # Panics
/// If a header is longer than its bytes can pay for, or differs after it was written and read again.
pub fn hpack(input: &[u8]) {
    let (mut decoder, mut encoder, mut second) = (Decoder::new(), Encoder::new(), Decoder::new());
    let mut rest = input;
    while let Some((&size, after)) = rest.split_first() {
        let (block, after) = after.split_at(after.len().min(usize::from(size)));
        rest = after;
        let mut lines: Vec<(Vec<u8>, Vec<u8>)> = Vec::new();
        let result = decoder.decode(block, |name, value| {
            assert!(name.len() + value.len() <= TABLE + 2 * block.len(), "a header out of nothing");
            lines.push((name.to_vec(), value.to_vec()));
        });
        assert!(lines.len() <= block.len(), "a header costs a byte at least");
        encoder.resize(usize::from(size) * 32);
        let mut written = Vec::new();
        encoder.begin(&mut written);
        for (name, value) in &lines {
            encoder.header(name, value, &mut written);
        }
        let mut again: Vec<(Vec<u8>, Vec<u8>)> = Vec::new();
        let read = second.decode(&written, |name, value| again.push((name.into(), value.into())));
        assert_eq!(read, Ok(()), "what we write can be read");
        assert_eq!(again, lines);
        if result.is_err() {
            return;
        }
    }
}

/// The reactions of the client's side of a connection to a server's bytes.
#[derive(Debug, PartialEq)]
struct Told {
    out: Vec<u8>,
    failure: Option<Failure>,
    is_open: bool,
    has_room: bool,
    streams: Vec<OfStream>,
}

#[derive(Debug, PartialEq)]
struct OfStream {
    answer: String,
    queue: Option<Vec<u8>>,
    body: u64,
    is_done: bool,
    is_unseen: bool,
    failure: Option<Failure>,
    window: i64,
    trailers: Option<Vec<u8>>,
    reset_by_server: Option<u32>,
}

/// The bytes of a server to a client with four open streams, of requests and then of a line. The first byte says how they
/// are cut, and whether the server begins with its settings by itself.
///
/// # Panics
/// If it makes a difference how the bytes were cut, or if the client's own frames are none.
pub fn frames(input: &[u8]) {
    let Some((&control, bytes)) = input.split_first() else { return };
    frames_of(control, bytes, of_requests);
    frames_of(control, bytes, of_a_line);
}

fn frames_of(control: u8, bytes: &[u8], client: fn() -> (Protocol, Vec<u32>)) {
    let greets = control & 1 == 1;
    let whole = told(client(), greets, &mut std::iter::once(bytes));
    assert!(whole.out.len() <= 1024 + 4 * bytes.len(), "answers cost more than the questions");
    let mut own = &whole.out[..];
    while !own.is_empty() {
        let head = Head::read(own).expect("the head of a frame of ours");
        let end = frame::HEAD + head.len;
        own = own.get(end..).expect("a whole frame of ours");
    }
    for stream in &whole.streams {
        assert!(stream.body <= bytes.len() as u64, "a body out of nothing");
    }
    let step = usize::from(control >> 1) + 1;
    let cut = told(client(), greets, &mut bytes.chunks(step));
    assert_eq!(cut, whole, "cut after {step} bytes");
    if bytes.len() <= 256 {
        let cut = told(client(), greets, &mut bytes.chunks(1));
        assert_eq!(cut, whole, "cut after each byte");
    }
}

fn of_requests() -> (Protocol, Vec<u32>) {
    let mut protocol = Protocol::new(|| 1, 16 * 1024);
    let target = Target::parse("http://a.test/x").expect("a target");
    let headers = Headers::new();
    let mut ids = Vec::new();
    for (method, fate, limit) in [
        ("GET", Fate::Keep, LIMIT),
        ("HEAD", Fate::Discard, LIMIT),
        ("POST", Fate::Begin, 10),
        ("GET", Fate::Stream, LIMIT),
    ] {
        let mut request = Request::new(method, &target, &headers);
        request.body = if method == "POST" { Body::Bytes(b"body") } else { Body::Empty };
        let id = protocol.open(&request, Answer::new(fate, limit));
        if let (Fate::Stream, Some(stream)) = (fate, protocol.stream(id)) {
            stream.queue = Some(Vec::new());
        }
        ids.push(id);
    }
    (protocol, ids)
}

fn of_a_line() -> (Protocol, Vec<u32>) {
    let mut protocol = Protocol::narrow(|| 1, 16 * 1024, 4 << 20);
    let asked =
        Asked { method: "POST", scheme: "http", authority: "a.test", path: "/x", headers: &[] };
    let ids = (0..4).map(|_| protocol.begin(&asked)).collect();
    (protocol, ids)
}

fn told(
    (mut protocol, ids): (Protocol, Vec<u32>),
    greets: bool,
    pieces: &mut dyn Iterator<Item = &[u8]>,
) -> Told {
    protocol.out.clear();
    if greets {
        let mut settings = Vec::new();
        frame::write(kind::SETTINGS, 0, 0, &[], &mut settings);
        protocol.take(&settings);
    }
    pieces.for_each(|piece| protocol.take(piece));
    let streams = ids.into_iter().filter_map(|id| {
        let stream = protocol.stream(id)?;
        Some(OfStream {
            answer: format!("{:?}", stream.answer),
            queue: stream.queue.clone(),
            body: stream.body,
            is_done: stream.is_done,
            is_unseen: stream.is_unseen,
            failure: stream.failure,
            window: stream.window,
            trailers: stream.trailers.clone(),
            reset_by_server: stream.reset_by_server,
        })
    });
    let streams = streams.collect();
    Told {
        failure: protocol.is_lost().then(|| protocol.refusal()),
        is_open: protocol.is_open(),
        has_room: protocol.has_room(),
        out: protocol.out,
        streams,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::sample::Index;

    use super::*;

    fn seeds(name: &str) -> impl Iterator<Item = Vec<u8>> {
        let folder = format!("{}/../../fuzz/seeds/{name}", env!("CARGO_MANIFEST_DIR"));
        let entries = std::fs::read_dir(&folder).expect("a folder of seeds");
        entries.map(|entry| std::fs::read(entry.expect("a seed").path()).expect("a file"))
    }

    #[test]
    fn the_laws_hold_for_every_seed() {
        seeds("hpack").for_each(|seed| hpack(&seed));
        seeds("http2").for_each(|seed| frames(&seed));
    }

    proptest! {
        #[test]
        fn the_laws_hold_for_seeds_with_bytes_that_changed(
            which in any::<Index>(),
            changes in proptest::collection::vec((any::<Index>(), any::<u8>(), 0..3_u8), 0..8),
        ) {
            for (name, law) in [("hpack", hpack as fn(&[u8])), ("http2", frames)] {
                let all: Vec<Vec<u8>> = seeds(name).collect();
                let mut bytes = which.get(&all).clone();
                for (at, byte, how) in &changes {
                    let at = at.index(bytes.len().max(1));
                    match how {
                        0 if at < bytes.len() => bytes[at] = *byte,
                        1 if at < bytes.len() => drop(bytes.remove(at)),
                        _ => bytes.insert(at.min(bytes.len()), *byte),
                    }
                }
                law(&bytes);
            }
        }
    }

    /// The seeds are no good if the client understands nothing of them.
    #[test]
    fn some_seed_is_a_whole_answer() {
        let is_whole = |seed: Vec<u8>| {
            let mut bytes = std::iter::once(&seed[1..]);
            let told = told(of_requests(), seed[0] & 1 == 1, &mut bytes);
            told.failure.is_none() && told.streams.iter().any(|one| one.is_done && one.body > 0)
        };
        assert!(seeds("http2").any(is_whole));
    }
}
