//! Any bytes as the replies of a Redis server.
//!
//! The reader must say the same however the bytes were cut, must not invent bytes, and must read a command that looks like
//! a reply as what it says.
#![no_main]

use brunt_redis::resp::{Reader, Reply, encode};
use libfuzzer_sys::fuzz_target;

/// Replies, and how the reading ended; as text, since a number may be none.
fn read<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> (Vec<Reply>, String) {
    let (mut reader, mut replies) = (Reader::default(), Vec::new());
    for mut piece in pieces {
        loop {
            match reader.next(&mut piece) {
                Ok(Some(reply)) => replies.push(reply),
                Ok(None) => {
                    assert!(piece.is_empty(), "more is wanted while there is some");
                    break;
                }
                Err(failure) => return (replies, failure.to_string()),
            }
        }
    }
    (replies, String::new())
}

/// Bytes in it, and how many replies it is.
fn cost(reply: &Reply) -> (usize, usize) {
    let sum = |parts: &mut dyn Iterator<Item = &Reply>| {
        parts.map(cost).fold((0, 1), |all, one| (all.0 + one.0, all.1 + one.1))
    };
    match reply {
        Reply::Text(text) => (text.len(), 1),
        // Each byte that is no UTF-8 becomes three.
        Reply::Error(text) => (text.len() / 3, 1),
        Reply::Array(items) => sum(&mut items.iter()),
        Reply::Map(pairs) => sum(&mut pairs.iter().flat_map(|(key, value)| [key, value])),
        _ => (0, 1),
    }
}

fuzz_target!(|input: &[u8]| {
    let Some((&control, bytes)) = input.split_first() else { return };
    let (replies, end) = read(std::iter::once(bytes));
    let step = usize::from(control) + 1;
    let cut = read(bytes.chunks(step));
    assert_eq!(format!("{cut:?}"), format!("{:?}", (&replies, &end)), "cut after {step} bytes");
    let mut all = (0, 0);
    for reply in &replies {
        let (bytes, count) = cost(reply);
        all = (all.0 + bytes, all.1 + count);
        let Reply::Array(items) = reply else { continue };
        let text = |item: &Reply| match item {
            Reply::Text(text) => Some(text.clone()),
            _ => None,
        };
        if let Some(parts) = items.iter().map(text).collect::<Option<Vec<_>>>() {
            let mut written = Vec::new();
            encode(&parts, &mut written);
            let (back, end) = read(std::iter::once(&written[..]));
            assert_eq!((back.as_slice(), end.as_str()), (std::slice::from_ref(reply), ""));
        }
    }
    assert!(all.0 <= bytes.len() && all.1 <= bytes.len(), "replies out of nothing");
});
