//! Content codings undone while a body comes.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::fmt;
use std::io::{self, Read};
use std::rc::Rc;

use super::{Coding, Undecodable, codings, is_zlib, opened};

/// Takes content codings off a body that comes piece by piece. The output for a piece is as large as its reader's
/// buffer, however much the piece unpacks to.
///
/// ```text
/// push(piece) ─► input ─► layer (the last coding) ─► … ─► layer (the first) ─► next(into)
/// ```
pub struct Decoder {
    input: Rc<RefCell<Input>>,
    outermost: Box<dyn Read>,
    turn: Rc<Turn>,
    /// Why nothing comes out at all.
    refused: Option<Undecodable>,
}

/// The bytes that all layers together may read before another task has its turn: a body that unpacks to nothing, or
/// to little that unpacks to much, yields no bytes to stop at.
#[derive(Default)]
struct Turn {
    left: Cell<usize>,
    is_over: Cell<bool>,
}

/// So much the layers may read in a turn.
const TURN: usize = 256 * 1024;

/// The result of asking for more.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Decoded {
    /// This many bytes, at least one.
    Bytes(usize),
    /// First something must be pushed.
    Hungry,
    /// There is more to do: ask again, after others had their turn.
    Busy,
    /// That was all.
    End,
}

#[derive(Default)]
struct Input {
    pieces: VecDeque<Vec<u8>>,
    /// How much of the first piece is read.
    at: usize,
    is_ended: bool,
    /// There was anything at all: an empty body is in no coding.
    has_come: bool,
}

impl Decoder {
    /// One for the codings that `header` lists, as far as they are known (the last must be). `None`: there is nothing to
    /// take off.
    pub fn new(header: &str) -> Option<Self> {
        let input = Rc::<RefCell<Input>>::default();
        let turn = Rc::<Turn>::default();
        let mut outermost: Box<dyn Read> = Box::new(Tap(Rc::clone(&input)));
        let codings = match codings(header) {
            Ok(codings) => codings,
            // It says so when something came.
            Err(why) => return Some(Self { input, outermost, turn, refused: Some(why) }),
        };
        let mut is_coded = false;
        for coding in codings {
            let source = Metered { source: outermost, turn: Rc::clone(&turn) };
            outermost = Box::new(Layer::new(coding, Box::new(source)));
            is_coded = true;
        }
        is_coded.then_some(Self { input, outermost, turn, refused: None })
    }

    /// More of the coded body.
    pub fn push(&mut self, piece: Vec<u8>) {
        if !piece.is_empty() {
            let mut input = self.input.borrow_mut();
            input.has_come = true;
            input.pieces.push_back(piece);
        }
    }

    /// No more comes.
    pub fn end(&mut self) {
        self.input.borrow_mut().is_ended = true;
    }

    /// Puts decoded bytes into a buffer, which is not empty.
    ///
    /// # Errors
    /// [`Undecodable`]; then there is no sense in asking again.
    pub fn next(&mut self, into: &mut [u8]) -> Result<Decoded, Undecodable> {
        {
            let input = self.input.borrow();
            if !input.has_come {
                return Ok(if input.is_ended { Decoded::End } else { Decoded::Hungry });
            }
        }
        if let Some(why) = self.refused {
            return Err(why);
        }
        self.turn.left.set(TURN);
        self.turn.is_over.set(false);
        loop {
            match self.outermost.read(into) {
                Ok(0) => return Ok(Decoded::End),
                Ok(size) => return Ok(Decoded::Bytes(size)),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    let is_over = self.turn.is_over.get();
                    return Ok(if is_over { Decoded::Busy } else { Decoded::Hungry });
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    let known = error.get_ref().and_then(|inner| inner.downcast_ref());
                    return Err(known.copied().unwrap_or(Undecodable::Truncated));
                }
            }
        }
    }
}

impl fmt::Debug for Decoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Decoder").finish_non_exhaustive()
    }
}

/// Where the innermost layer reads. When there is nothing, but more may come, reading "would block".
struct Tap(Rc<RefCell<Input>>);

impl Read for Tap {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let mut input = self.0.borrow_mut();
        let Some(piece) = input.pieces.front() else {
            return if input.is_ended { Ok(0) } else { Err(io::ErrorKind::WouldBlock.into()) };
        };
        let rest = &piece[input.at..];
        let size = rest.len().min(into.len());
        into[..size].copy_from_slice(&rest[..size]);
        if size == rest.len() {
            input.pieces.pop_front();
            input.at = 0;
        } else {
            input.at += size;
        }
        Ok(size)
    }
}

/// A source that gives no more than a turn allows.
struct Metered {
    source: Box<dyn Read>,
    turn: Rc<Turn>,
}

impl Read for Metered {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let left = self.turn.left.get();
        if left == 0 {
            self.turn.is_over.set(true);
            return Err(io::ErrorKind::WouldBlock.into());
        }
        let most = into.len().min(left);
        let size = self.source.read(&mut into[..most])?;
        self.turn.left.set(left.saturating_sub(size));
        Ok(size)
    }
}

/// One coding. Its errors carry an [`Undecodable`].
struct Layer {
    coding: Coding,
    decoder: Option<Box<dyn Read>>,
    source: Option<Box<dyn Read>>,
    /// Of `deflate`: it begins as zlib does.
    is_zlib: bool,
    /// The first bytes, until it is known what they begin.
    head: Vec<u8>,
    /// The source has no more.
    is_dry: Rc<Cell<bool>>,
}

impl Layer {
    fn new(coding: Coding, source: Box<dyn Read>) -> Self {
        let is_dry = Rc::<Cell<bool>>::default();
        let source: Box<dyn Read> = Box::new(Watched { source, is_dry: Rc::clone(&is_dry) });
        let source = Some(source);
        Self { coding, decoder: None, source, is_zlib: false, head: Vec::new(), is_dry }
    }

    /// Reads enough to see what is there: two bytes, or the end.
    fn look(&mut self) -> io::Result<()> {
        let Some(source) = &mut self.source else { return Ok(()) };
        while self.head.len() < 2 {
            let mut byte = [0];
            if source.read(&mut byte)? == 0 {
                break;
            }
            self.head.extend(byte);
        }
        let head = std::mem::take(&mut self.head);
        let is_zlib = is_zlib(&head);
        self.is_zlib = is_zlib;
        let source = self.source.take().expect("it was there a moment ago");
        let source = io::Cursor::new(head).chain(source);
        self.decoder = Some(opened(self.coding, is_zlib, source)?);
        Ok(())
    }

    fn read_on(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.look()?;
        self.decoder.as_mut().map_or(Ok(0), |decoder| decoder.read(into))
    }
}

impl Read for Layer {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.read_on(into).map_err(|error| {
            let is_told = error
                .get_ref()
                .is_some_and(<dyn std::error::Error + Send + Sync>::is::<Undecodable>);
            match error.kind() {
                io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted => error,
                _ if is_told => error,
                _ => match Undecodable::of(self.coding, &error, self.is_dry.get()) {
                    Undecodable::Corrupt(Coding::Deflate) if !self.is_zlib => {
                        io::Error::other(Undecodable::Header(self.coding))
                    }
                    why => io::Error::other(why),
                },
            }
        })
    }
}

/// A source that notices its end.
struct Watched {
    source: Box<dyn Read>,
    is_dry: Rc<Cell<bool>>,
}

impl Read for Watched {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let size = self.source.read(into)?;
        self.is_dry.set(size == 0);
        Ok(size)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{decode, encode};
    use super::*;

    #[test]
    fn a_body_that_is_coded_too_often_is_refused_before_it_takes_the_stack() {
        let mut decoder = Decoder::new(&"gzip,".repeat(400_000)).unwrap();
        decoder.push(b"x".to_vec());
        assert_eq!(decoder.next(&mut [0; 9]), Err(Undecodable::TooDeep(16)));
        assert_eq!(pieces("gzip,".repeat(16).as_str(), b"", 1, 9), Ok(Vec::new()));
    }

    /// Decodes what comes in pieces of this size, into a buffer of that size.
    fn pieces(
        header: &str,
        body: &[u8],
        piece: usize,
        room: usize,
    ) -> Result<Vec<u8>, Undecodable> {
        let mut decoder = Decoder::new(header).unwrap();
        let mut rest = body.chunks(piece);
        let (mut out, mut into) = (Vec::new(), vec![0; room]);
        loop {
            match decoder.next(&mut into)? {
                Decoded::Bytes(size) => out.extend_from_slice(&into[..size]),
                Decoded::End => return Ok(out),
                Decoded::Busy => {}
                Decoded::Hungry => match rest.next() {
                    Some(piece) => decoder.push(piece.to_vec()),
                    None => decoder.end(),
                },
            }
        }
    }

    fn body() -> Vec<u8> {
        (0..40_000_u32).flat_map(|number| (number * number % 977).to_le_bytes()).collect()
    }

    #[test]
    fn however_a_body_is_cut_it_comes_out_whole() {
        let body = body();
        for list in ["gzip", "deflate", "br", "zstd", "gzip, br", "zstd,deflate,gzip"] {
            let (encoded, header) = encode(list, &body).unwrap();
            for (piece, room) in [(1, 1000), (7, 65536), (4096, 10), (1 << 20, 1 << 20)] {
                assert!(pieces(&header, &encoded, piece, room).unwrap() == body, "{list} {piece}");
            }
        }
        let (member, _) = encode("gzip", b"hello").unwrap();
        let two = [member.clone(), member].concat();
        assert_eq!(pieces("gzip", &two, 3, 99).unwrap(), b"hellohello");
        let mut raw = flate2::read::DeflateEncoder::new(&b"hello"[..], flate2::Compression::best());
        let mut bytes = Vec::new();
        raw.read_to_end(&mut bytes).unwrap();
        assert_eq!(pieces("deflate", &bytes, 1, 99).unwrap(), b"hello");
    }

    #[test]
    fn it_notices_what_the_other_way_notices() {
        let body = body();
        for name in ["gzip", "deflate", "br", "zstd"] {
            let (encoded, _) = encode(name, &body).unwrap();
            let half = &encoded[..encoded.len() / 2];
            assert_eq!(pieces(name, half, 100, 4096), Err(Undecodable::Cut), "{name}");
            let noise = [0xFF, 0xFE, 0xFD, 0xFC].repeat(16);
            let known = decode(name, &noise, 1 << 20).unwrap_err();
            assert_eq!(pieces(name, &noise, 5, 4096).unwrap_err(), known, "{name}");
        }
    }

    #[test]
    fn a_bomb_is_a_buffer_at_a_time() {
        for name in ["gzip", "deflate", "br", "zstd"] {
            let (encoded, _) = encode(name, &vec![0; 30_000_000]).unwrap();
            let mut decoder = Decoder::new(name).unwrap();
            decoder.push(encoded);
            decoder.end();
            let (mut into, mut size) = ([1; 1000], 0);
            loop {
                match decoder.next(&mut into).unwrap() {
                    Decoded::Bytes(part) => size += part,
                    Decoded::Busy => {}
                    Decoded::End | Decoded::Hungry => break,
                }
            }
            assert_eq!(size, 30_000_000, "{name}");
        }
    }

    #[test]
    fn what_unpacks_to_nothing_or_twice_gives_others_their_turn() {
        let (empty, _) = encode("gzip", b"").unwrap();
        let members = empty.repeat(100_000);
        let (twice, _) = encode("gzip", &members).unwrap();
        for (header, body) in [("gzip", members), ("gzip, gzip", twice)] {
            let mut decoder = Decoder::new(header).unwrap();
            decoder.push(body);
            decoder.end();
            let mut turns = 0;
            while decoder.next(&mut [0; 100]).unwrap() == Decoded::Busy {
                turns += 1;
            }
            assert!(turns >= 5, "{header}: {turns}");
        }
    }

    #[test]
    fn there_may_be_nothing_to_take_off() {
        assert!(Decoder::new("identity").is_none() && Decoder::new("foo").is_none());
        assert_eq!(pieces("gzip", b"", 1, 1), Ok(Vec::new()));
    }
}
