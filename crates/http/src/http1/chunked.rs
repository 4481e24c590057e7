//! The chunked transfer coding, RFC 9112 §7.1, as a state machine that can stop at any byte.

use super::malformed::Malformed;

/// The longest size line, extensions included. Go's limit.
const LINE_MAX: u32 = 4096;

/// The bytes around a chunk's data that are not counted: its share of [`EXCESS_MAX`] begins beyond them and twice the
/// data. Go's number.
const SPARE: u64 = 16;

/// The most bytes around data that chunks may have beyond their share, in all: who sends more has nothing to say. Go's
/// limit.
const EXCESS_MAX: u64 = 16 * 1024;

/// The reader's place in a chunked body.
///
/// ```text
/// Size ──(0)──► Trailer ──(empty line)──► done
///  ▲ └──(n)──► Data ─► End ┐
///  └───────────────────────┘
/// ```
#[derive(Debug, Clone)]
pub(crate) struct Chunked {
    state: State,
    /// Bytes of trailers so far; bounded by `trailer_limit`.
    trailers: u32,
    trailer_limit: u32,
    /// Bytes around data, beyond what is due to it; up to [`EXCESS_MAX`].
    excess: u64,
}

#[derive(Debug, Clone)]
enum State {
    Size { size: u64, digits: u8, line: u32, extension: Extension },
    Data(u64),
    End { cr: bool },
    Trailer { line_is_empty: bool },
    Done,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Extension {
    /// Still in the digits.
    None,
    /// White space after the digits: skipped.
    Space,
    /// An extension: skipped.
    Some,
    /// A CR was seen: LF must follow.
    Cr,
}

/// One step of the decoder.
pub(crate) enum Step<'a> {
    /// All input is used; more is needed.
    More,
    /// A piece of the body.
    Data(&'a [u8]),
    /// The last chunk and the trailers are over.
    Done,
}

impl Chunked {
    pub(crate) fn new(trailer_limit: u32) -> Self {
        Self { state: SIZE, trailers: 0, trailer_limit, excess: 0 }
    }

    /// The last chunk came, and what follows it has not ended.
    pub(crate) fn is_in_trailers(&self) -> bool {
        matches!(self.state, State::Trailer { .. })
    }

    /// Takes bytes from the front of `input` until there is something to tell.
    pub(crate) fn next<'i>(&mut self, input: &mut &'i [u8]) -> Result<Step<'i>, Malformed> {
        loop {
            match &mut self.state {
                State::Done => return Ok(Step::Done),
                State::Data(left) => {
                    if input.is_empty() {
                        return Ok(Step::More);
                    }
                    let take = usize::try_from(*left).unwrap_or(usize::MAX).min(input.len());
                    let (piece, rest) = input.split_at(take);
                    *input = rest;
                    *left -= take as u64;
                    if *left == 0 {
                        self.state = State::End { cr: false };
                    }
                    return Ok(Step::Data(piece));
                }
                State::Size { .. } | State::End { .. } | State::Trailer { .. } => {
                    let Some((&byte, rest)) = input.split_first() else {
                        return Ok(Step::More);
                    };
                    *input = rest;
                    self.byte(byte)?;
                }
            }
        }
    }

    /// One byte of framing.
    fn byte(&mut self, byte: u8) -> Result<(), Malformed> {
        match &mut self.state {
            State::Size { size, digits, line, extension } => {
                *line += 1;
                if *line > LINE_MAX {
                    return Err(Malformed::ChunkLine);
                }
                match (byte, *extension) {
                    (b'\n', Extension::Cr) => {
                        if *digits == 0 {
                            return Err(Malformed::ChunkNoSize);
                        }
                        // With the line end behind the data.
                        let around = u64::from(*line) + 2;
                        let due = SPARE.saturating_add(size.saturating_mul(2));
                        self.excess = (self.excess + around).saturating_sub(due);
                        if self.excess > EXCESS_MAX {
                            return Err(Malformed::ChunkExcess);
                        }
                        self.state = match *size {
                            0 => State::Trailer { line_is_empty: true },
                            size => State::Data(size),
                        };
                    }
                    (b'\n', _) => return Err(Malformed::ChunkBareLf),
                    (_, Extension::Cr) => return Err(Malformed::ChunkSize),
                    (b'\r', _) => *extension = Extension::Cr,
                    (_, Extension::Some) => {}
                    (b';' | b' ' | b'\t', _) => {
                        if *digits == 0 {
                            return Err(Malformed::ChunkNoSize);
                        }
                        let space = byte != b';';
                        *extension = if space { Extension::Space } else { Extension::Some };
                    }
                    (_, Extension::Space) => return Err(Malformed::ChunkSize),
                    (_, Extension::None) => {
                        let digit = hex(byte).ok_or(Malformed::ChunkSize)?;
                        *digits += 1;
                        if *digits > 16 {
                            return Err(Malformed::ChunkTooLarge);
                        }
                        *size = *size << 4 | u64::from(digit);
                    }
                }
            }
            State::End { cr } => match (byte, *cr) {
                (b'\r', false) => *cr = true,
                (b'\n', true) => self.state = SIZE,
                _ => return Err(Malformed::ChunkEnd),
            },
            // Trailers are read, bounded, and dropped: k6 doesn't show them.
            State::Trailer { line_is_empty } => {
                self.trailers += 1;
                if self.trailers > self.trailer_limit {
                    return Err(Malformed::HeadTooLong(self.trailer_limit));
                }
                match byte {
                    b'\n' if *line_is_empty => self.state = State::Done,
                    b'\n' => *line_is_empty = true,
                    b'\r' => {}
                    _ => *line_is_empty = false,
                }
            }
            State::Data(_) | State::Done => {}
        }
        Ok(())
    }
}

const SIZE: State = State::Size { size: 0, digits: 0, line: 0, extension: Extension::None };

fn hex(byte: u8) -> Option<u8> {
    match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        b'A'..=b'F' => Some(byte - b'A' + 10),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Decodes, feeding `input` in pieces of `step` bytes. `None`: it didn't end.
    fn decode(input: &[u8], step: usize) -> Result<Option<(Vec<u8>, usize)>, Malformed> {
        let mut chunked = Chunked::new(1024);
        let mut body = Vec::new();
        let mut used = 0;
        for piece in input.chunks(step) {
            let mut rest = piece;
            loop {
                match chunked.next(&mut rest)? {
                    Step::More => break,
                    Step::Data(data) => body.extend_from_slice(data),
                    Step::Done => return Ok(Some((body, used + piece.len() - rest.len()))),
                }
            }
            used += piece.len();
        }
        Ok(None)
    }

    #[test]
    fn extensions_and_trailers_are_skipped_at_any_split() {
        let input = b"5;a=b\r\nhello\r\n1  \r\n!\r\n00\r\nX-Sum: 1\r\n\r\nrest";
        for step in 1..=input.len() {
            let (body, used) = decode(input, step).unwrap().unwrap();
            assert_eq!((body.as_slice(), used), (b"hello!".as_slice(), input.len() - 4));
        }
    }

    #[test]
    fn each_broken_chunk_has_its_name() {
        assert_eq!(decode(b"zz\r\n", 1), Err(Malformed::ChunkSize));
        assert_eq!(decode(b"\r\n", 1), Err(Malformed::ChunkNoSize));
        assert_eq!(decode(b";x\r\n", 1), Err(Malformed::ChunkNoSize));
        assert_eq!(decode(b"5 5\r\n", 1), Err(Malformed::ChunkSize));
        assert_eq!(decode(b"5\n", 1), Err(Malformed::ChunkBareLf));
        assert_eq!(decode(b"2\r\nabXX", 9), Err(Malformed::ChunkEnd));
        assert_eq!(decode(b"11111111111111111\r\n", 9), Err(Malformed::ChunkTooLarge));
        let long = [b"1;".as_slice(), &[b'x'; 5000]].concat();
        assert_eq!(decode(&long, 4096), Err(Malformed::ChunkLine));
        let wordy = [b"1;".as_slice(), &[b'x'; 4000], b"\r\na\r\n"].concat();
        assert!(decode(&wordy.repeat(4), 4096).is_ok());
        assert_eq!(decode(&wordy.repeat(5), 4096), Err(Malformed::ChunkExcess));
        // One byte at a time is a way to stream.
        assert_eq!(decode(&b"1\r\na\r\n".repeat(100_000), 4096), Ok(None));
        let endless = [b"0\r\n".as_slice(), &[b'x'; 5000]].concat();
        assert_eq!(decode(&endless, 4096), Err(Malformed::HeadTooLong(1024)));
        assert_eq!(decode(b"5\r\nab", 1), Ok(None));
    }
}
