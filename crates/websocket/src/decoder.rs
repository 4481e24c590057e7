//! From bytes to events.

use brunt_net::budget::{Share, make_room};

use crate::close::Close;
use crate::deflate::Inflation;
use crate::frame::{CONTROL_MAX, Opcode, apply};

/// The kind of a message.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// UTF-8, as its sender claims.
    Text,
    /// Bytes.
    Binary,
}

/// An event of the connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A whole message, its parts joined and its compression taken off.
    Message(Kind, Vec<u8>),
    /// To be answered by a pong with the same bytes.
    Ping(Vec<u8>),
    /// The answer to a ping.
    Pong(Vec<u8>),
    /// The other side ends the connection: nothing else follows.
    Close(Close),
}

/// The other side breaks the rules.
#[derive(Copy, Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Violation {
    /// RSV1 without compression, or RSV2, RSV3.
    #[error("websocket: reserved bits are set")]
    Reserved,
    /// Opcodes 3 to 7 and 11 to 15.
    #[error("websocket: unknown opcode {0}")]
    Opcode(u8),
    /// A server must not mask, a client must.
    #[error("websocket: wrong masking")]
    Mask,
    /// A control frame in parts.
    #[error("websocket: a control frame in parts")]
    Fragmented,
    /// A control frame of more than 125 bytes.
    #[error("websocket: a control frame that is too long")]
    LongControl,
    /// A continuation of nothing.
    #[error("websocket: a continuation without a beginning")]
    NothingToContinue,
    /// A new message inside another.
    #[error("websocket: a message begins before the last one has ended")]
    Unfinished,
    /// A code that no frame may carry.
    #[error("websocket: invalid close code {0}")]
    CloseCode(u16),
    /// The reason is no UTF-8.
    #[error("websocket: invalid UTF-8 in a close frame")]
    CloseReason,
    /// A message beyond the limit.
    #[error("websocket: the message is too long")]
    TooLong,
    /// A message that should be compressed isn't.
    #[error("websocket: the compressed message is damaged")]
    Compressed,
    /// All messages and bodies of the process together are too much.
    #[error("websocket: the message is too long for all that is held already")]
    TooMuch,
    /// Frames without end that carry nothing.
    #[error("websocket: a flood of frames that carry nothing")]
    Flood,
}

impl Violation {
    /// The code with which we close the connection.
    pub fn close_code(self) -> u16 {
        match self {
            Self::TooLong | Self::TooMuch => 1009,
            Self::Flood => 1008,
            Self::CloseReason | Self::Compressed => 1007,
            _ => 1002,
        }
    }
}

/// How much of a long frame is reserved before it comes.
const RESERVE_MAX: usize = 1 << 20;

/// Takes bytes, however they were split (a law, tested), and gives events.
#[derive(Debug)]
pub struct Decoder {
    /// Whether frames must be masked: a server's decoder.
    expects_mask: bool,
    /// Whether permessage-deflate was agreed on.
    may_compress: bool,
    /// The longest message, in bytes.
    limit: usize,
    header: [u8; 14],
    /// How much of the header is there.
    header_have: usize,
    frame: Option<Frame>,
    message: Vec<u8>,
    /// The message that was begun, and whether it is compressed.
    begun: Option<(Kind, bool)>,
    /// The message's share of the memory that the process may use.
    share: Share,
    /// A whole message that is being unpacked.
    inflation: Option<(Kind, Box<Inflation>)>,
    control: Vec<u8>,
    /// Frames that were taken, and those of them that end nothing and carry nothing.
    frames: u64,
    empty: u64,
    is_over: bool,
}

/// A frame whose payload comes in.
#[derive(Debug)]
struct Frame {
    opcode: Opcode,
    is_last: bool,
    mask: Option<[u8; 4]>,
    left: u64,
    /// Where the payload begins in its buffer.
    from: usize,
}

impl Decoder {
    /// A client's; with `is_server`, what servers need. `limit`: the longest message.
    pub fn new(is_server: bool, may_compress: bool, limit: usize) -> Self {
        Self {
            expects_mask: is_server,
            may_compress,
            limit,
            header: [0; 14],
            header_have: 0,
            frame: None,
            message: Vec::new(),
            begun: None,
            share: Share::default(),
            inflation: None,
            control: Vec::new(),
            frames: 0,
            empty: 0,
            is_over: false,
        }
    }

    /// Frames that were taken so far, and how many of them were empty parts of a message that goes on.
    pub fn counts(&self) -> (u64, u64) {
        (self.frames, self.empty)
    }

    /// A message is being unpacked: call [`Self::next`] again, with or without more bytes.
    pub fn is_unpacking(&self) -> bool {
        self.inflation.is_some()
    }

    /// Nothing more comes: lets go of what is not whole.
    pub(crate) fn give_up(&mut self) {
        self.message = Vec::new();
        self.inflation = None;
        self.share.release();
        self.is_over = true;
    }

    /// Takes bytes from the front of `input` until there is something to tell. `None`: all were taken, or a long message
    /// is being unpacked ([`Self::is_unpacking`]), a slice of it with each call.
    ///
    /// # Errors
    /// The violation of the other side; don't call again.
    pub fn next(&mut self, input: &mut &[u8]) -> Result<Option<Event>, Violation> {
        loop {
            if let Some((kind, inflation)) = &mut self.inflation {
                let Some(message) = inflation.next(self.limit)? else { return Ok(None) };
                let event = Event::Message(*kind, message);
                self.inflation = None;
                return Ok(Some(event));
            }
            if self.is_over {
                // Bytes after a close frame mean nothing.
                *input = &[];
                return Ok(None);
            }
            if self.frame.is_none() && !self.read_header(input)? {
                return Ok(None);
            }
            let Some(frame) = &mut self.frame else { return Ok(None) };
            let buffer =
                if frame.opcode.is_control() { &mut self.control } else { &mut self.message };
            let size = usize::try_from(frame.left).unwrap_or(usize::MAX).min(input.len());
            if !frame.opcode.is_control() {
                let whole = (buffer.len() + size) as u64;
                self.share.cover(whole).map_err(|_| Violation::TooMuch)?;
                let most = self.limit.saturating_sub(buffer.len()) as u64;
                make_room(buffer, size, most).map_err(|_| Violation::TooMuch)?;
            }
            let (taken, rest) = input.split_at(size);
            buffer.extend_from_slice(taken);
            *input = rest;
            frame.left -= size as u64;
            if frame.left > 0 {
                return Ok(None);
            }
            if let Some(mask) = frame.mask {
                apply(&mut buffer[frame.from..], mask);
            }
            let frame_is_empty = buffer.len() == frame.from;
            let (opcode, is_last) = (frame.opcode, frame.is_last);
            self.frame = None;
            self.frames += 1;
            self.empty += u64::from(!is_last && frame_is_empty);
            if let Some(event) = self.end(opcode, is_last)? {
                return Ok(Some(event));
            }
        }
    }

    /// `false`: more must come.
    fn read_header(&mut self, input: &mut &[u8]) -> Result<bool, Violation> {
        loop {
            let need = self.header_size();
            if self.header_have >= need {
                break;
            }
            let size = (need - self.header_have).min(input.len());
            if size == 0 {
                return Ok(false);
            }
            let (taken, rest) = input.split_at(size);
            self.header[self.header_have..self.header_have + size].copy_from_slice(taken);
            self.header_have += size;
            *input = rest;
            if self.header_have == 2 {
                self.check_header()?;
            }
        }
        let [first, second, rest @ ..] = self.header;
        let (length, rest) = match second & 0x7f {
            126 => (u64::from(u16::from_be_bytes([rest[0], rest[1]])), &rest[2..]),
            127 => {
                let bytes: [u8; 8] = rest[..8].try_into().expect("eight of twelve");
                (u64::from_be_bytes(bytes), &rest[8..])
            }
            short => (u64::from(short), &rest[..]),
        };
        let mask = (second & 0x80 != 0).then(|| [rest[0], rest[1], rest[2], rest[3]]);
        let opcode = Opcode::of(first & 15).ok_or(Violation::Opcode(first & 15))?;
        let from = if opcode.is_control() {
            self.control.clear();
            0
        } else {
            let whole = (self.message.len() as u64).saturating_add(length);
            if whole > self.limit as u64 {
                return Err(Violation::TooLong);
            }
            if self.message.is_empty() {
                self.message.reserve((length as usize).min(RESERVE_MAX));
            }
            self.message.len()
        };
        self.header_have = 0;
        self.frame = Some(Frame { opcode, is_last: first & 0x80 != 0, mask, left: length, from });
        Ok(true)
    }

    fn header_size(&self) -> usize {
        if self.header_have < 2 {
            return 2;
        }
        let length = match self.header[1] & 0x7f {
            126 => 2,
            127 => 8,
            _ => 0,
        };
        2 + length + if self.header[1] & 0x80 == 0 { 0 } else { 4 }
    }

    fn check_header(&mut self) -> Result<(), Violation> {
        let [first, second, ..] = self.header;
        let opcode = Opcode::of(first & 15).ok_or(Violation::Opcode(first & 15))?;
        let (is_last, is_compressed) = (first & 0x80 != 0, first & 0x40 != 0);
        let begins = matches!(opcode, Opcode::Text | Opcode::Binary);
        if first & 0x30 != 0 || (is_compressed && !(self.may_compress && begins)) {
            return Err(Violation::Reserved);
        }
        if (second & 0x80 != 0) != self.expects_mask {
            return Err(Violation::Mask);
        }
        if opcode.is_control() {
            if !is_last {
                return Err(Violation::Fragmented);
            }
            if usize::from(second & 0x7f) > CONTROL_MAX {
                return Err(Violation::LongControl);
            }
            return Ok(());
        }
        match (begins, self.begun.is_some()) {
            (true, true) => Err(Violation::Unfinished),
            (false, false) => Err(Violation::NothingToContinue),
            (true, false) => {
                let kind = if opcode == Opcode::Text { Kind::Text } else { Kind::Binary };
                self.begun = Some((kind, is_compressed));
                Ok(())
            }
            (false, true) => Ok(()),
        }
    }

    /// A frame is whole.
    fn end(&mut self, opcode: Opcode, is_last: bool) -> Result<Option<Event>, Violation> {
        Ok(Some(match opcode {
            Opcode::Ping => Event::Ping(std::mem::take(&mut self.control)),
            Opcode::Pong => Event::Pong(std::mem::take(&mut self.control)),
            Opcode::Close => {
                self.is_over = true;
                Event::Close(closing(&self.control)?)
            }
            Opcode::Text | Opcode::Binary | Opcode::Continuation => {
                if !is_last {
                    return Ok(None);
                }
                let Some((kind, is_compressed)) = self.begun.take() else {
                    return Err(Violation::NothingToContinue);
                };
                let mut message = std::mem::take(&mut self.message);
                if message.capacity() / 2 > message.len().max(RESERVE_MAX) {
                    // It was reserved for parts that didn't come.
                    message.shrink_to_fit();
                }
                if is_compressed {
                    // The loop of `next` goes on with it.
                    let share = std::mem::take(&mut self.share);
                    self.inflation = Some((kind, Box::new(Inflation::new(message, share))));
                    return Ok(None);
                }
                self.share.release();
                Event::Message(kind, message)
            }
        }))
    }
}

fn closing(payload: &[u8]) -> Result<Close, Violation> {
    // One byte is no code; Go's library doesn't mind either.
    let Some((code, reason)) = payload.split_first_chunk::<2>() else {
        return Ok(Close { code: Close::NO_STATUS, reason: String::new() });
    };
    let code = u16::from_be_bytes(*code);
    if !Close::may_be_received(code) {
        return Err(Violation::CloseCode(code));
    }
    let reason = std::str::from_utf8(reason).map_err(|_| Violation::CloseReason)?;
    Ok(Close { code, reason: reason.to_owned() })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::frame::encode;

    fn all(bytes: &[u8], step: usize) -> Result<Vec<Event>, Violation> {
        let mut decoder = Decoder::new(false, true, 1000);
        let mut events = Vec::new();
        for mut piece in bytes.chunks(step.max(1)) {
            loop {
                match decoder.next(&mut piece)? {
                    Some(event) => events.push(event),
                    None if decoder.is_unpacking() => {}
                    None => break,
                }
            }
        }
        Ok(events)
    }

    fn text(text: &str) -> Event {
        Event::Message(Kind::Text, text.as_bytes().to_vec())
    }

    #[test]
    fn a_control_frame_may_come_between_the_parts_of_a_message() {
        let bytes = b"\x01\x02he\x89\x02pp\x80\x03llo\x81\x00\x82\x01\xff";
        let binary = Event::Message(Kind::Binary, vec![0xff]);
        let expected = vec![Event::Ping(b"pp".to_vec()), text("hello"), text(""), binary];
        assert_eq!(all(bytes, 100), Ok(expected));
    }

    #[test]
    fn who_breaks_the_rules_is_told_which() {
        for (bytes, violation) in [
            (&b"\xa1\x00"[..], Violation::Reserved),
            (b"\xc9\x00", Violation::Reserved),
            (b"\x83\x00", Violation::Opcode(3)),
            (b"\x81\x80\0\0\0\0", Violation::Mask),
            (b"\x09\x00", Violation::Fragmented),
            (b"\x89\x7e\x00\x7e", Violation::LongControl),
            (b"\x80\x00", Violation::NothingToContinue),
            (b"\x01\x00\x81\x00", Violation::Unfinished),
            (b"\x88\x02\x03\xed", Violation::CloseCode(1005)),
            (b"\x88\x02\x03\xe7", Violation::CloseCode(999)),
            (b"\x88\x03\x03\xe8\xff", Violation::CloseReason),
            (b"\x81\x7e\x03\xe9", Violation::TooLong),
            (b"\x82\x7f\xff\xff\xff\xff\xff\xff\xff\xff", Violation::TooLong),
            (b"\xc1\x02\xff\xff", Violation::Compressed),
        ] {
            assert_eq!(all(bytes, 100), Err(violation), "{bytes:?}");
        }
    }

    /// A message in parts of these sizes.
    fn in_parts(sizes: &[usize]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for (index, size) in sizes.iter().enumerate() {
            let from = bytes.len();
            let opcode = if index == 0 { Opcode::Binary } else { Opcode::Continuation };
            encode(&mut bytes, opcode, &vec![5; *size], None, false);
            if index + 1 < sizes.len() {
                bytes[from] &= 0x7f;
            }
        }
        bytes
    }

    #[test]
    fn a_message_of_the_limit_is_taken_and_one_of_a_byte_more_is_not_however_it_comes() {
        for limit in [0, 1, 125, 126, 127, 65_535, 65_536, 100_000] {
            for cut in [vec![], vec![0], vec![limit / 2], vec![0, limit / 3, 0]] {
                for more in [0, 1] {
                    let first: usize = cut.iter().sum();
                    let sizes = [cut.clone(), vec![limit + more - first]].concat();
                    let bytes = in_parts(&sizes);
                    for step in [1, 2, 1000, 65_536, usize::MAX] {
                        let mut decoder = Decoder::new(false, false, limit);
                        let told = bytes
                            .chunks(step)
                            .find_map(|mut piece| decoder.next(&mut piece).transpose());
                        match told {
                            Some(Ok(Event::Message(Kind::Binary, message))) if more == 0 => {
                                assert_eq!(message.len(), limit);
                            }
                            Some(Err(Violation::TooLong)) if more == 1 => {}
                            other => panic!("{limit} {sizes:?} {step}: {other:?}"),
                        }
                        assert!(decoder.message.capacity() <= limit + 1);
                    }
                }
            }
        }
    }

    #[test]
    fn what_is_declared_takes_no_memory_before_it_comes() {
        let mut decoder = Decoder::new(false, false, 1 << 30);
        let mut bytes = &b"\x82\x7f\0\0\0\0\x40\0\0\0x"[..];
        assert_eq!(decoder.next(&mut bytes), Ok(None));
        assert!(decoder.message.capacity() <= 2 * RESERVE_MAX);
    }

    #[test]
    fn a_long_message_in_parts_is_not_copied_as_it_grows() {
        let mut decoder = Decoder::new(false, false, 1 << 30);
        let part = [&b"\x00\x7f\0\0\0\0\0\x10\0\0"[..], &vec![b'x'; 1 << 20]].concat();
        let (mut places, mut first) = (std::collections::BTreeSet::new(), &b"\x01\x00"[..]);
        assert_eq!(decoder.next(&mut first), Ok(None));
        for _ in 0..96 {
            assert_eq!(decoder.next(&mut &part[..]), Ok(None));
            if decoder.message.len() > 33 << 20 {
                places.insert(decoder.message.as_ptr());
            }
        }
        assert_eq!(places.len(), 1);
        let Ok(Some(Event::Message(_, message))) = decoder.next(&mut &b"\x80\x00"[..]) else {
            panic!("a message");
        };
        assert!(message.len() == 96 << 20 && message.capacity() < 97 << 20);
    }

    #[test]
    fn empty_parts_are_counted() {
        let mut decoder = Decoder::new(false, false, 100);
        let bytes = [&b"\x01\x00"[..], &b"\x00\x00".repeat(999), b"\x00\x01x"].concat();
        assert_eq!(decoder.next(&mut &bytes[..]), Ok(None));
        assert_eq!(decoder.counts(), (1001, 1000));
    }

    #[test]
    fn a_close_frame_is_the_last_that_counts() {
        let gone = |code, reason: &str| Event::Close(Close { code, reason: reason.to_owned() });
        assert_eq!(all(b"\x88\x04\x0b\xb8zz\x81\x01x", 100), Ok(vec![gone(3000, "zz")]));
        assert_eq!(all(b"\x88\x00", 100), Ok(vec![gone(1005, "")]));
        assert_eq!(all(b"\x88\x01x", 100), Ok(vec![gone(1005, "")]));
    }

    proptest! {
        #[test]
        fn how_the_bytes_were_split_makes_no_difference(
            messages in prop::collection::vec((any::<bool>(), "[a-z]{0,300}"), 0..5),
            step in 1usize..50,
        ) {
            let mut bytes = Vec::new();
            for (compressed, message) in &messages {
                let packed;
                let payload = if *compressed {
                    packed = crate::deflate::compress(message.as_bytes());
                    &packed
                } else {
                    message.as_bytes()
                };
                encode(&mut bytes, Opcode::Text, payload, None, *compressed);
            }
            let expected: Vec<_> = messages.iter().map(|(_, message)| text(message)).collect();
            prop_assert_eq!(all(&bytes, step), Ok(expected));
        }

        #[test]
        fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = all(&bytes, 7);
        }
    }
}
