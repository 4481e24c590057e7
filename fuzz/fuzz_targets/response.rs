//! Any bytes as a response.
//!
//! The parser must not panic, must not invent bytes, and must say the same however the bytes were cut.
#![no_main]

use brunt_http::http1::{Event, Parser};
use libfuzzer_sys::fuzz_target;

/// Above any input: a limit may be met earlier or later, depending on the cuts.
const HEAD_LIMIT: usize = 1 << 20;

/// Status, minor version, whether the connection stays, reason, and lines of the head.
type Head = (u16, u8, bool, Vec<u8>, Vec<u8>);

#[derive(Debug, PartialEq)]
struct Told {
    head: Option<Head>,
    interim: Vec<u16>,
    body: Vec<u8>,
    left_over: usize,
    end: Result<(), String>,
}

fn feed<'a>(pieces: impl Iterator<Item = &'a [u8]>, to_head_request: bool) -> Told {
    let mut parser = Parser::new(to_head_request, HEAD_LIMIT);
    let mut told =
        Told { head: None, interim: Vec::new(), body: Vec::new(), left_over: 0, end: Ok(()) };
    for mut piece in pieces {
        loop {
            match parser.next(&mut piece) {
                Err(error) => {
                    told.end = Err(error.to_string());
                    return told;
                }
                Ok(Event::More) => {
                    assert!(piece.is_empty(), "more is wanted while there is some");
                    break;
                }
                Ok(Event::Done) => {
                    told.left_over += piece.len();
                    break;
                }
                Ok(Event::Interim(status)) => told.interim.push(status),
                Ok(Event::Head(head)) => {
                    assert!(told.head.is_none(), "a head comes once");
                    told.head = Some((
                        head.status,
                        head.minor,
                        head.keep_alive,
                        head.reason.to_vec(),
                        head.lines.into_owned(),
                    ));
                }
                Ok(Event::Data(data)) => {
                    assert!(!data.is_empty());
                    told.body.extend_from_slice(data);
                }
            }
        }
    }
    told.end = parser.finish().map_err(|truncated| format!("{truncated:?}"));
    told
}

fuzz_target!(|input: &[u8]| {
    let Some((&control, bytes)) = input.split_first() else { return };
    let to_head_request = control & 1 == 1;
    let step = usize::from(control >> 1) + 1;
    let whole = feed(std::iter::once(bytes), to_head_request);
    assert!(whole.body.len() + whole.left_over <= bytes.len());
    assert_eq!(feed(bytes.chunks(step), to_head_request), whole);
    if bytes.len() <= 256 {
        assert_eq!(feed(bytes.chunks(1), to_head_request), whole);
    }
});
