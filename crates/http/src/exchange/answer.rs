//! What came of a response: head and body in one buffer.

use super::Response;
use crate::failure::Failure;
use crate::http1::known::KnownHeads;
use crate::http1::{Event, Head, Length, Parser};
use crate::spool::Spool;

/// The most that is reserved for a body because a header promises it. A longer body grows as it comes.
const RESERVE_MAX: u64 = 64 << 20;

/// What becomes of a body.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It is kept.
    #[default]
    Keep,
    /// Its beginning, up to the limit, is kept; all is counted.
    Begin,
    /// It is counted.
    Discard,
    /// It goes to a [`Spool`], and is counted.
    Stream,
}

/// The response so far.
///
/// One buffer holds reason, header lines and body, one after the other: a response of known length
/// costs one allocation, of exactly its size. Header lines are looked at again only if somebody asks.
#[derive(Clone, Debug, Default)]
pub(crate) struct Answer {
    status: u16,
    minor: u8,
    has_cookies: bool,
    has_encoding: bool,
    /// Set once the head is there.
    pub(crate) keep_alive: bool,
    /// "100 Continue" came: a body that was held back may go.
    pub(crate) continues: bool,
    fate: Fate,
    reason_len: u32,
    head_len: u32,
    buffer: Vec<u8>,
    discarded: u64,
    limit: u64,
}

impl Answer {
    pub(crate) fn new(fate: Fate, limit: u64) -> Self {
        Self { fate, limit, ..Self::default() }
    }

    /// Gives `input` to the parser and keeps what it tells. `true`: the response is whole, and what is
    /// left of `input` doesn't belong to it. `spool` is where a body goes that is streamed; `known` are the heads
    /// that came before.
    pub(crate) fn feed(
        &mut self,
        parser: &mut Parser,
        input: &mut &[u8],
        spool: Option<&Spool>,
        mut known: Option<&mut KnownHeads>,
    ) -> Result<bool, Failure> {
        loop {
            match parser.next_knowing(input, known.as_deref_mut())? {
                Event::More => return Ok(parser.is_done()),
                Event::Done => return Ok(true),
                Event::Interim(status) => self.continues |= status == 100,
                Event::Head(head) => self.accept(&head, spool)?,
                Event::Data(data) => self.take(data, spool)?,
            }
        }
    }

    fn accept(&mut self, head: &Head<'_>, spool: Option<&Spool>) -> Result<(), Failure> {
        let text = head.reason.len() + head.lines.len();
        let body = match head.length {
            Length::Exactly(length) if self.fate == Fate::Keep => {
                if length > self.limit {
                    return Err(Failure::BodyTooLarge(self.limit));
                }
                length.min(RESERVE_MAX) as usize
            }
            Length::Exactly(length) if self.fate == Fate::Begin => {
                length.min(self.limit).min(RESERVE_MAX) as usize
            }
            _ => 0,
        };
        self.status = head.status;
        self.minor = head.minor;
        self.has_cookies = head.has_cookies;
        self.has_encoding = head.has_encoding;
        self.keep_alive = head.keep_alive;
        self.reason_len = head.reason.len() as u32;
        self.head_len = text as u32;
        self.buffer.reserve_exact(text + body);
        self.buffer.extend_from_slice(head.reason);
        self.buffer.extend_from_slice(&head.lines);
        if let Some(spool) = spool {
            self.decide(spool);
        }
        Ok(())
    }

    /// The head of a response over HTTP/2. `lines` each end with CRLF; `marks`: it has cookies, it has codings;
    /// `declared`: what it says of the body's length, 0 if nothing.
    pub(crate) fn accept_http2(
        &mut self,
        status: u16,
        reason: &str,
        lines: &[u8],
        marks: (bool, bool),
        declared: u64,
    ) -> Result<(), Failure> {
        if self.fate == Fate::Keep && declared > self.limit {
            return Err(Failure::BodyTooLarge(self.limit));
        }
        let body = match self.fate {
            Fate::Keep => declared.min(RESERVE_MAX) as usize,
            Fate::Begin => declared.min(self.limit).min(RESERVE_MAX) as usize,
            Fate::Discard | Fate::Stream => 0,
        };
        self.status = status;
        self.minor = 2;
        (self.has_cookies, self.has_encoding) = marks;
        self.reason_len = reason.len() as u32;
        self.head_len = (reason.len() + lines.len()) as u32;
        self.buffer.reserve_exact(reason.len() + lines.len() + body);
        self.buffer.extend_from_slice(reason.as_bytes());
        self.buffer.extend_from_slice(lines);
        Ok(())
    }

    /// Its head is there: whether the body goes to this spool, or is dropped.
    pub(crate) fn decide(&mut self, spool: &Spool) {
        if !self.response().is_some_and(|response| spool.wants(&response)) {
            self.fate = Fate::Discard;
        }
    }

    /// Some of the body.
    pub(crate) fn take(&mut self, data: &[u8], spool: Option<&Spool>) -> Result<(), Failure> {
        if self.fate == Fate::Begin {
            let room = self.limit.saturating_sub(self.body().len() as u64);
            let (kept, rest) = data.split_at((data.len() as u64).min(room) as usize);
            self.buffer.extend_from_slice(kept);
            self.discarded += rest.len() as u64;
            return Ok(());
        }
        if self.fate != Fate::Keep {
            self.discarded += data.len() as u64;
            if let (Fate::Stream, Some(spool)) = (self.fate, spool) {
                spool.push(data);
            }
            return Ok(());
        }
        if (self.body().len() + data.len()) as u64 > self.limit {
            return Err(Failure::BodyTooLarge(self.limit));
        }
        self.buffer.extend_from_slice(data);
        Ok(())
    }

    /// The status code; 0 if no head came.
    pub(crate) fn status(&self) -> u16 {
        self.status
    }

    /// Where body may be written directly, if it is kept.
    pub(crate) fn buffer(&mut self) -> Option<&mut Vec<u8>> {
        if self.fate == Fate::Keep { Some(&mut self.buffer) } else { None }
    }

    /// The head is there, and the body goes to a spool.
    pub(crate) fn is_streamed(&self) -> bool {
        self.status != 0 && self.fate == Fate::Stream
    }

    pub(super) fn response(&self) -> Option<Response<'_>> {
        let (reason, lines) = self
            .buffer
            .get(..self.head_len as usize)?
            .split_at_checked(self.reason_len as usize)?;
        (self.status != 0).then_some(Response {
            status: self.status,
            minor: self.minor,
            reason,
            lines,
            has_cookies: self.has_cookies,
            has_encoding: self.has_encoding,
        })
    }

    pub(super) fn body(&self) -> &[u8] {
        &self.buffer[self.head_len as usize..]
    }

    pub(crate) fn body_size(&self) -> u64 {
        self.body().len() as u64 + self.discarded
    }

    pub(super) fn into_body(mut self) -> Vec<u8> {
        self.buffer.drain(..self.head_len as usize);
        self.buffer
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn feed(answer: &mut Answer, input: &str) -> Result<bool, Failure> {
        answer.feed(&mut Parser::new(false, 1000), &mut input.as_bytes(), None, None)
    }

    #[test]
    fn head_and_body_lie_in_one_buffer_of_their_size() {
        let mut answer = Answer::new(Fate::Keep, 100);
        let text =
            "HTTP/1.1 201 Made it\r\nA: b\r\nset-cookie: c\r\nContent-Length: 5\r\n\r\nhello";
        assert_eq!(feed(&mut answer, text), Ok(true));
        let response = answer.response().unwrap();
        assert_eq!((response.status(), response.reason().as_ref()), (201, "Made it"));
        assert_eq!((response.header("a"), response.version()), (Some(&b"b"[..]), "HTTP/1.1"));
        assert!(response.has_cookies() && response.content_encoding().is_none());
        assert_eq!(response.headers().count(), 3);
        assert_eq!(answer.buffer.capacity(), answer.buffer.len());
        assert_eq!(answer.into_body(), b"hello");
    }

    #[test]
    fn a_discarded_body_is_counted_and_not_kept() {
        let mut answer = Answer::new(Fate::Discard, 1);
        let text = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
        assert_eq!(feed(&mut answer, text), Ok(true));
        assert_eq!((answer.body(), answer.body_size()), (&b""[..], 5));
    }

    #[test]
    fn the_beginning_of_a_body_is_kept_and_all_of_it_counted() {
        let mut answer = Answer::new(Fate::Begin, 3);
        let text = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
        assert_eq!(feed(&mut answer, text), Ok(true));
        assert_eq!((answer.body(), answer.body_size()), (&b"hel"[..], 5));
    }

    #[test]
    fn a_body_is_bounded_whether_its_length_is_told_or_not() {
        let told = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n";
        assert_eq!(feed(&mut Answer::new(Fate::Keep, 4), told), Err(Failure::BodyTooLarge(4)));
        let untold = "HTTP/1.1 200 OK\r\n\r\nhello";
        assert_eq!(feed(&mut Answer::new(Fate::Keep, 4), untold), Err(Failure::BodyTooLarge(4)));
    }
}
