//! Any bytes as the frames of a WebSocket.
//!
//! The decoder must say the same however the bytes were cut, must keep to its limit, compressed or not, and what it gives
//! must be the same after it was encoded and decoded again.
#![no_main]

use brunt_websocket::frame::{Opcode, encode};
use brunt_websocket::{Close, Decoder, Event, Kind, Violation};
use libfuzzer_sys::fuzz_target;

/// The longest message, in bytes.
const LIMIT: usize = 1 << 16;

type Told = (Vec<Event>, Option<Violation>);

fn read<'a>(mut decoder: Decoder, pieces: impl Iterator<Item = &'a [u8]>) -> Told {
    let mut events = Vec::new();
    for mut piece in pieces {
        loop {
            let before = piece.len();
            match decoder.next(&mut piece) {
                Err(violation) => return (events, Some(violation)),
                Ok(Some(event)) => events.push(event),
                Ok(None) if decoder.is_unpacking() => {}
                Ok(None) => {
                    assert!(piece.is_empty(), "more is wanted while there is some");
                    break;
                }
            }
            assert!(piece.len() <= before);
        }
    }
    (events, None)
}

fn again(event: &Event, out: &mut Vec<u8>) {
    match event {
        Event::Message(Kind::Text, bytes) => encode(out, Opcode::Text, bytes, None, false),
        Event::Message(Kind::Binary, bytes) => encode(out, Opcode::Binary, bytes, None, false),
        Event::Ping(bytes) => encode(out, Opcode::Ping, bytes, None, false),
        Event::Pong(bytes) => encode(out, Opcode::Pong, bytes, None, false),
        Event::Close(Close { code: Close::NO_STATUS, .. }) => {
            encode(out, Opcode::Close, &[], None, false);
        }
        Event::Close(Close { code, reason }) => {
            let payload = [&code.to_be_bytes()[..], reason.as_bytes()].concat();
            encode(out, Opcode::Close, &payload, None, false);
        }
    }
}

fuzz_target!(|input: &[u8]| {
    let Some((&control, bytes)) = input.split_first() else { return };
    let decoder = || Decoder::new(control & 1 == 1, control & 2 == 2, LIMIT);
    let whole = read(decoder(), std::iter::once(bytes));
    let step = usize::from(control >> 2) + 1;
    assert_eq!(read(decoder(), bytes.chunks(step)), whole, "cut after {step} bytes");
    let mut frames = Vec::new();
    for event in &whole.0 {
        if let Event::Message(_, message) = event {
            assert!(message.len() <= LIMIT);
        }
        again(event, &mut frames);
    }
    let told = read(Decoder::new(false, false, LIMIT), std::iter::once(&frames[..]));
    assert_eq!(told, (whole.0, None));
});
