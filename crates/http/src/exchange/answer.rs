//! The response of an exchange: head and body in one buffer.

use brunt_net::budget::{Exhausted, Share, make_room};

use super::Response;
use crate::failure::Failure;
use crate::http1::known::KnownHeads;
use crate::http1::{Event, Head, Length, Parser};
use crate::request::MovesOn;
use crate::spool::Spool;

/// The most that is reserved for a body because a header promises it. A longer body grows as it comes.
const RESERVE_MAX: u64 = 4 << 20;

/// So much of a redirect's body is read, to keep the connection.
const LEFT_MAX: u64 = 2048;

/// A buffer up to this size stays as it is when its body is forgotten.
const SMALL: usize = 64 * 1024;

/// The fate of a body.
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
#[derive(Debug, Default)]
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
    /// The body's length, from a header.
    declared: Option<u64>,
    /// The body's part of the bound on all bodies.
    share: Share,
    moves_on: MovesOn,
    /// It is a redirect that is followed.
    is_left: bool,
}

impl Answer {
    pub(crate) fn new(fate: Fate, limit: u64) -> Self {
        Self { fate, limit, ..Self::default() }
    }

    pub(crate) fn moving_on(self, moves_on: MovesOn) -> Self {
        Self { moves_on, ..self }
    }

    fn may_go_on(&self, status: u16) -> bool {
        status >= 300 && self.moves_on != MovesOn::default()
    }

    /// Its head is there: drops the body, if it is not needed.
    fn look_ahead(&mut self) -> Result<(), Failure> {
        let MovesOn { redirects, challenges } = self.moves_on;
        self.is_left = redirects
            && matches!(self.status, 301 | 302 | 303 | 307 | 308)
            && self
                .response()
                .and_then(|head| head.header("Location"))
                .is_some_and(|location| !location.is_empty());
        if self.is_left || (challenges && self.status == 401) {
            self.fate = Fate::Discard;
        }
        if self.fate == Fate::Keep && self.declared.is_some_and(|declared| declared > self.limit) {
            return Err(Failure::BodyTooLarge(self.limit));
        }
        Ok(())
    }

    /// The rest is not waited for.
    pub(crate) fn is_enough(&self) -> bool {
        self.is_left && self.discarded.max(self.declared.unwrap_or(0)) > LEFT_MAX
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
                if length > self.limit && !self.may_go_on(head.status) {
                    return Err(Failure::BodyTooLarge(self.limit));
                }
                length.min(RESERVE_MAX) as usize
            }
            Length::Exactly(length) if self.fate == Fate::Begin => {
                length.min(self.limit).min(RESERVE_MAX) as usize
            }
            _ => 0,
        };
        if let Length::Exactly(length) = head.length {
            self.declared = Some(length);
        }
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
        } else if self.may_go_on(head.status) {
            self.look_ahead()?;
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
        if self.fate == Fate::Keep && declared > self.limit && !self.may_go_on(status) {
            return Err(Failure::BodyTooLarge(self.limit));
        }
        let body = match self.fate {
            Fate::Keep => declared.min(RESERVE_MAX) as usize,
            Fate::Begin => declared.min(self.limit).min(RESERVE_MAX) as usize,
            Fate::Discard | Fate::Stream => 0,
        };
        self.declared = Some(declared).filter(|declared| *declared > 0);
        self.status = status;
        self.minor = 2;
        (self.has_cookies, self.has_encoding) = marks;
        self.reason_len = reason.len() as u32;
        self.head_len = (reason.len() + lines.len()) as u32;
        self.buffer.reserve_exact(reason.len() + lines.len() + body);
        self.buffer.extend_from_slice(reason.as_bytes());
        self.buffer.extend_from_slice(lines);
        if self.fate != Fate::Stream && self.may_go_on(status) {
            self.look_ahead()?;
        }
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
            self.discarded += rest.len() as u64;
            return if kept.is_empty() { Ok(()) } else { self.keep(kept) };
        }
        if self.fate != Fate::Keep {
            self.discarded += data.len() as u64;
            if let (Fate::Stream, Some(spool)) = (self.fate, spool) {
                spool.push(data);
            }
            return Ok(());
        }
        if (self.body().len() + data.len()) as u64 > self.limit {
            self.forget_body();
            return Err(Failure::BodyTooLarge(self.limit));
        }
        self.keep(data)
    }

    fn keep(&mut self, data: &[u8]) -> Result<(), Failure> {
        self.make_room(data.len())?;
        self.buffer.extend_from_slice(data);
        self.count()
    }

    /// Room for so much more, and no more than can come.
    fn make_room(&mut self, more: usize) -> Result<(), Failure> {
        let most = self.declared.map_or(self.limit, |declared| declared.min(self.limit));
        let most = most.saturating_sub(self.body().len() as u64);
        let made = make_room(&mut self.buffer, more, most);
        made.map_err(|exhausted| self.exhausted(exhausted))
    }

    #[cold]
    fn exhausted(&mut self, exhausted: Exhausted) -> Failure {
        self.forget_body();
        Failure::BodiesTooLarge(exhausted)
    }

    /// Counts the body towards what all may hold. If that is too much, it is dropped at once.
    pub(crate) fn count(&mut self) -> Result<(), Failure> {
        let covered = self.share.cover(self.body().len() as u64);
        covered.map_err(|exhausted| self.exhausted(exhausted))
    }

    /// Keeps the head alone, and the body's size.
    pub(crate) fn forget_body(&mut self) {
        self.discarded += self.body().len() as u64;
        self.buffer.truncate(self.head_len as usize);
        // A small buffer is not worth a look at the allocator.
        if self.buffer.capacity() > SMALL {
            self.buffer.shrink_to_fit();
        }
        self.share.release();
    }

    /// The status code; 0 if no head came.
    pub(crate) fn status(&self) -> u16 {
        self.status
    }

    /// Where body may be written directly, if it is kept, with room for `more`. [`Self::count`] it then.
    pub(crate) fn buffer(&mut self, more: usize) -> Result<Option<&mut Vec<u8>>, Failure> {
        if self.fate != Fate::Keep {
            return Ok(None);
        }
        self.make_room(more)?;
        Ok(Some(&mut self.buffer))
    }

    /// The same without a body.
    pub(super) fn beginning(&self) -> Self {
        let head = self.buffer.get(..self.head_len as usize).unwrap_or_default().to_vec();
        Self { buffer: head, share: Share::default(), ..*self }
    }

    /// The head is there, and the body goes to a spool.
    pub(crate) fn is_streamed(&self) -> bool {
        self.status != 0 && self.fate == Fate::Stream
    }

    pub(crate) fn response(&self) -> Option<Response<'_>> {
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

    /// From here on, whoever has it answers for its size.
    pub(super) fn into_body(mut self) -> Vec<u8> {
        self.buffer.drain(..self.head_len as usize);
        std::mem::take(&mut self.buffer)
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
    fn a_body_takes_no_more_room_than_its_bound_and_none_when_it_passes_it() {
        let mut answer = Answer::new(Fate::Keep, 3 << 20);
        assert_eq!(feed(&mut answer, "HTTP/1.1 200 OK\r\n\r\n"), Ok(false));
        let piece = vec![b'x'; 100_000];
        let failure = loop {
            match answer.take(&piece, None) {
                Ok(()) => assert!(answer.buffer.capacity() <= (3 << 20) + 64),
                Err(failure) => break failure,
            }
        };
        assert_eq!(failure, Failure::BodyTooLarge(3 << 20));
        assert_eq!((answer.body().len(), answer.body_size()), (0, 31 * 100_000));
        assert!(answer.buffer.capacity() < 1000 && answer.response().is_some());
    }

    #[test]
    fn the_body_of_a_redirect_that_is_followed_is_not_kept() {
        let moves_on = MovesOn { redirects: true, challenges: false };
        let came = |text: &str, moves_on| {
            let mut answer = Answer::new(Fate::Keep, 9000).moving_on(moves_on);
            feed(&mut answer, text).unwrap();
            (answer.body().len(), answer.body_size(), answer.is_enough())
        };
        let to = "HTTP/1.1 302 X\r\nLocation: /b\r\n";
        assert_eq!(came(&format!("{to}Content-Length: 3\r\n\r\nabc"), moves_on), (0, 3, false));
        assert_eq!(came(&format!("{to}Content-Length: 3000\r\n\r\n"), moves_on), (0, 0, true));
        let long = format!("{to}\r\n{}", "x".repeat(3000));
        assert_eq!(came(&long, moves_on), (0, 3000, true));
        let large = format!("{to}Content-Length: 10000\r\n\r\n");
        assert_eq!(came(&large, moves_on), (0, 0, true));
        let mut kept = Answer::new(Fate::Keep, 9000).moving_on(moves_on);
        let large = "HTTP/1.1 404 X\r\nContent-Length: 10000\r\n\r\n";
        assert_eq!(feed(&mut kept, large), Err(Failure::BodyTooLarge(9000)));
        assert_eq!(came(&long, MovesOn::default()), (3000, 3000, false));
        let nowhere = format!("HTTP/1.1 302 X\r\n\r\n{}", "x".repeat(3000));
        assert_eq!(came(&nowhere, moves_on), (3000, 3000, false));
        let asks = MovesOn { redirects: false, challenges: true };
        let challenge = format!("HTTP/1.1 401 X\r\n\r\n{}", "x".repeat(3000));
        assert_eq!(came(&challenge, asks), (0, 3000, false));
    }

    #[test]
    fn a_body_is_bounded_whether_its_length_is_told_or_not() {
        let told = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n";
        assert_eq!(feed(&mut Answer::new(Fate::Keep, 4), told), Err(Failure::BodyTooLarge(4)));
        let untold = "HTTP/1.1 200 OK\r\n\r\nhello";
        assert_eq!(feed(&mut Answer::new(Fate::Keep, 4), untold), Err(Failure::BodyTooLarge(4)));
    }
}
