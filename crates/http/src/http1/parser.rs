//! A response, byte by byte: feed what came, get what it means. No socket, no clock.

use brunt_net::{Excerpt, Truncated};

use super::chunked::{Chunked, Step};
use super::head::{self, Head, Length};
use super::known::KnownHeads;
use super::malformed::Malformed;
use crate::failure::Failure;

/// Reads one response to one request.
///
/// ```text
///          ┌──(1xx)──┐
///          ▼         │
/// start ► Head ──────┴──► Body ──► Done
///                └─(no body)──────► Done
/// ```
///
/// The answer doesn't depend on how the bytes were split (a law, tested). A head that comes whole
/// is parsed where it lies; only one that comes in pieces is gathered in here, up to `head_limit`.
#[derive(Debug)]
pub struct Parser {
    state: State,
    to_head_request: bool,
    /// The bytes of a head that isn't whole yet.
    stash: Vec<u8>,
    /// `stash` held an interim head, which is over.
    is_spent: bool,
    /// How far `stash` was searched for its end.
    scanned: usize,
    /// Bytes of heads so far, interim ones too.
    head_bytes: usize,
    head_limit: usize,
}

#[derive(Debug)]
enum State {
    Head,
    Fixed(u64),
    Chunked(Chunked),
    UntilClose,
    Done,
}

/// The meaning of the bytes fed so far.
#[derive(Debug, PartialEq, Eq)]
pub enum Event<'a> {
    /// All input is used; feed more, or call [`Parser::finish`] if no more comes.
    More,
    /// An interim response (100, 103), to be ignored.
    Interim(u16),
    /// The head. Comes once.
    Head(Head<'a>),
    /// A piece of the body; not empty.
    Data(&'a [u8]),
    /// The response is whole. The rest of the input doesn't belong to it.
    Done,
}

impl Parser {
    /// A parser for the response to one request.
    ///
    /// `to_head_request`: the method was HEAD, so no body follows. `head_limit`: the most bytes of
    /// head (and of trailers) before [`Malformed::HeadTooLong`].
    pub fn new(to_head_request: bool, head_limit: usize) -> Self {
        Self {
            state: State::Head,
            to_head_request,
            stash: Vec::new(),
            is_spent: false,
            scanned: 0,
            head_bytes: 0,
            head_limit,
        }
    }

    /// Takes bytes from the front of `input` until there is something to tell. Call it again until
    /// it says [`Event::More`] or [`Event::Done`].
    ///
    /// # Errors
    /// The response breaks the rules; don't call again.
    pub fn next<'s, 'i: 's>(&'s mut self, input: &mut &'i [u8]) -> Result<Event<'s>, Malformed> {
        self.next_knowing(input, None)
    }

    /// [`Self::next`], with the heads that came before.
    pub(crate) fn next_knowing<'s, 'i: 's>(
        &'s mut self,
        input: &mut &'i [u8],
        known: Option<&mut KnownHeads>,
    ) -> Result<Event<'s>, Malformed> {
        match &mut self.state {
            State::Head => self.head(input, known),
            State::Done => Ok(Event::Done),
            _ if input.is_empty() => Ok(Event::More),
            State::Fixed(left) => {
                let take = usize::try_from(*left).unwrap_or(usize::MAX).min(input.len());
                let (piece, rest) = input.split_at(take);
                *input = rest;
                *left -= take as u64;
                if *left == 0 {
                    self.state = State::Done;
                }
                Ok(Event::Data(piece))
            }
            State::Chunked(chunked) => match chunked.next(input)? {
                Step::More => Ok(Event::More),
                Step::Data(piece) => Ok(Event::Data(piece)),
                Step::Done => {
                    self.state = State::Done;
                    Ok(Event::Done)
                }
            },
            State::UntilClose => Ok(Event::Data(std::mem::take(input))),
        }
    }

    /// The connection ended: was that the end of the response?
    ///
    /// # Errors
    /// [`Truncated`] if the response isn't whole.
    pub fn finish(&mut self) -> Result<(), Truncated> {
        match self.state {
            State::Done => Ok(()),
            State::UntilClose => {
                self.state = State::Done;
                Ok(())
            }
            State::Head if self.stash.is_empty() && self.head_bytes == 0 => Err(Truncated::Empty),
            _ => Err(Truncated::Partial),
        }
    }

    /// [`Self::finish`], for a connection: what came of a line of the head is judged as if it were
    /// whole, as Go does.
    pub(crate) fn end(&mut self) -> Result<(), Failure> {
        self.finish().map_err(|truncated| {
            if let State::Chunked(chunked) = &self.state
                && chunked.is_in_trailers()
            {
                return Malformed::TrailerCut.into();
            }
            let is_line = matches!(self.state, State::Head) && !self.is_spent;
            if !is_line || self.stash.is_empty() {
                return truncated.into();
            }
            let line = [&self.stash, &b"\r\n\r\n"[..]].concat();
            head::parse(&line, false).map_or_else(Failure::from, |_| truncated.into())
        })
    }

    /// The response is whole.
    pub fn is_done(&self) -> bool {
        matches!(self.state, State::Done)
    }

    /// How many bytes of body are to come, when nothing else can: they may then be read straight to
    /// where they belong, and told by [`Self::skip`].
    pub(crate) fn left(&self) -> Option<u64> {
        match self.state {
            State::Fixed(left) => Some(left),
            _ => None,
        }
    }

    /// `count` bytes of body, at most [`Self::left`], went another way.
    pub(crate) fn skip(&mut self, count: u64) {
        if let State::Fixed(left) = &mut self.state {
            assert!(count <= *left, "no more than what is left can be skipped");
            *left -= count;
            if *left == 0 {
                self.state = State::Done;
            }
        }
    }

    fn head<'s, 'i: 's>(
        &'s mut self,
        input: &mut &'i [u8],
        mut known: Option<&mut KnownHeads>,
    ) -> Result<Event<'s>, Malformed> {
        if self.is_spent {
            self.stash.clear();
            self.is_spent = false;
        }
        if self.stash.is_empty() {
            let Some(first) = input.first() else {
                return Ok(Event::More);
            };
            // httparse skips empty lines before the status line; Go, and we, don't.
            if matches!(first, b'\r' | b'\n') {
                return Err(Malformed::StatusLine(Excerpt::new(b"")));
            }
            let known_head =
                known.as_deref().and_then(|known| known.find(input, self.to_head_request));
            let parsed = if known_head.is_some() {
                Ok(known_head)
            } else {
                let parsed = head::parse(input, self.to_head_request);
                if let (Ok(Some((head, size))), Some(known)) = (&parsed, &mut known) {
                    known.keep(&input[..*size], self.to_head_request, head);
                }
                parsed
            };
            // An error may only be one of a line that isn't whole yet: it is judged below, when it is.
            if let Ok(Some((head, size))) = parsed {
                *input = &input[size..];
                return Self::accept(
                    head,
                    size,
                    &mut self.state,
                    &mut self.head_bytes,
                    self.head_limit,
                );
            }
        }
        let before = self.stash.len();
        // The end is looked for in what is new (and in the last line end before it).
        self.stash.extend_from_slice(input);
        let Some(end) = head::end(&self.stash, &mut self.scanned) else {
            *input = &[];
            self.judge_beginning()?;
            if self.head_bytes + self.stash.len() > self.head_limit {
                return Err(Malformed::HeadTooLong(self.head_limit as u32));
            }
            return Ok(Event::More);
        };
        *input = &input[end - before..];
        self.stash.truncate(end);
        self.scanned = 0;
        // Its bytes are lent out below; the next head, if this one is interim, starts anew.
        self.is_spent = true;
        let Some((head, size)) = head::parse(&self.stash, self.to_head_request)? else {
            return Err(Malformed::StatusLine(Excerpt::new(&self.stash)));
        };
        Self::accept(head, size, &mut self.state, &mut self.head_bytes, self.head_limit)
    }

    /// A line that is no status line needs no second one to be refused: a server of another protocol
    /// may wait for us for ever.
    fn judge_beginning(&self) -> Result<(), Malformed> {
        let begins = self.stash.len().min(5);
        let line_end = memchr::memchr(b'\n', &self.stash);
        if self.stash[..begins] != b"HTTP/"[..begins]
            && let Some(line_end) = line_end
        {
            // The head of just this line, to get its diagnosis.
            let line = [&self.stash[..line_end], b"\n\n"].concat();
            head::parse(&line, false)?;
            return Err(Malformed::StatusLine(Excerpt::new(&self.stash[..line_end])));
        }
        Ok(())
    }

    fn accept<'s>(
        head: Head<'s>,
        size: usize,
        state: &mut State,
        head_bytes: &mut usize,
        limit: usize,
    ) -> Result<Event<'s>, Malformed> {
        Self::count(size, head_bytes, limit)?;
        if matches!(head.status, 100 | 102..=199) {
            return Ok(Event::Interim(head.status));
        }
        *state = match head.length {
            Length::None | Length::Exactly(0) => State::Done,
            Length::Exactly(length) => State::Fixed(length),
            Length::Chunked => State::Chunked(Chunked::new(limit as u32)),
            Length::UntilClose => State::UntilClose,
        };
        Ok(Event::Head(head))
    }

    fn count(size: usize, head_bytes: &mut usize, limit: usize) -> Result<(), Malformed> {
        *head_bytes += size;
        if *head_bytes > limit {
            return Err(Malformed::HeadTooLong(limit as u32));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
