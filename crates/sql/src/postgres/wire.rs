//! The connection as messages: whole ones in, any bytes out.

use std::future::poll_fn;
use std::task::{Context, Poll, Waker, ready};

use brunt_fiber::turn::{Turn, given_way};
use brunt_net::{Offer, Opened};

use crate::failure::{Failure, Trouble};

/// The longest message; PostgreSQL makes none that is longer.
const MESSAGE_MAX: usize = 1 << 30;

/// The most bytes that are taken in while bytes go out.
const AHEAD_MAX: usize = 1 << 20;

/// A buffer that grew beyond this is given back between statements.
const KEEP: usize = 32 * 1024;

/// The tag of a message, and the part of the buffer that holds its body.
pub(super) type Message = (u8, usize, usize);

/// A socket, its messages, and the bytes that were counted.
#[derive(Debug)]
pub(super) struct Wire {
    stream: Option<Opened>,
    received: Vec<u8>,
    /// The messages before this place were read.
    at: usize,
    /// Sent, received.
    counts: [u64; 2],
    turn: Turn,
}

/// The connection is gone: the Go driver's words.
pub(super) fn gone() -> Failure {
    Failure::new(Trouble::Broken, "driver: bad connection")
}

/// The server speaks something else.
pub(super) fn malformed(what: &str) -> Failure {
    let why = format!("pq: the server's message is not in the protocol of PostgreSQL: {what}");
    Failure::new(Trouble::Protocol, why)
}

impl Wire {
    pub(super) fn new(stream: Opened) -> Self {
        let turn = Turn::default();
        Self { stream: Some(stream), received: Vec::new(), at: 0, counts: [0; 2], turn }
    }

    /// Goes on in TLS. Bytes that came and were not read are an error.
    pub(super) async fn secure(&mut self, host: &str) -> Result<(), brunt_net::Failure> {
        let Some(stream) = self.stream.take().filter(|_| self.at == self.received.len()) else {
            return Err(brunt_net::Failure::NoTls);
        };
        self.stream = Some(stream.secure(host, Offer::Nothing).await?);
        Ok(())
    }

    pub(super) fn take_counts(&mut self) -> (u64, u64) {
        let [sent, received] = std::mem::take(&mut self.counts);
        (sent, received)
    }

    /// The buffer, for the body of a [`Message`].
    #[inline]
    pub(super) fn bytes(&self) -> &[u8] {
        &self.received
    }

    /// Waits for one byte that is no message: the answer to the wish for TLS.
    pub(super) async fn byte(&mut self) -> Result<u8, Failure> {
        while self.at == self.received.len() {
            self.fill().await?;
        }
        self.at += 1;
        Ok(self.received[self.at - 1])
    }

    /// Waits for a message. Places of earlier messages mean nothing any more.
    #[inline]
    pub(super) async fn message(&mut self) -> Result<Message, Failure> {
        loop {
            match self.whole()? {
                Some(message) => return Ok(message),
                None => self.fill().await?,
            }
        }
    }

    /// The next message, if it has come whole. Places of earlier messages keep their meaning.
    #[inline]
    pub(super) fn whole(&mut self) -> Result<Option<Message>, Failure> {
        let Some((message, next)) = self.peek()? else { return Ok(None) };
        self.at = next;
        Ok(Some(message))
    }

    /// The tag of the next message, if it has come whole. It stays where it is.
    pub(super) fn next_tag(&mut self) -> Result<Option<u8>, Failure> {
        Ok(self.peek()?.map(|((tag, ..), _)| tag))
    }

    #[inline]
    fn peek(&self) -> Result<Option<(Message, usize)>, Failure> {
        let Some(head) = self.received.get(self.at..self.at + 5) else { return Ok(None) };
        let size = u32::from_be_bytes([head[1], head[2], head[3], head[4]]) as usize;
        if !head[0].is_ascii_alphanumeric() {
            return Err(malformed("a message without a type"));
        }
        if !(4..=MESSAGE_MAX).contains(&size) {
            return Err(malformed("a message of an impossible length"));
        }
        let to = self.at + 1 + size;
        Ok((self.received.len() >= to).then_some(((head[0], self.at + 5, to), to)))
    }

    /// Waits for more bytes.
    pub(super) async fn fill(&mut self) -> Result<(), Failure> {
        if self.at == self.received.len() {
            self.received.clear();
        } else if self.at > 0 {
            self.received.drain(..self.at);
        }
        self.at = 0;
        let before = self.received.len();
        poll_fn(|cx| self.poll_fill(cx)).await?;
        let came = self.received.len() - before;
        if self.turn.is_over(Turn::bytes(came) + Turn::THING) {
            given_way().await;
        }
        Ok(())
    }

    fn poll_fill(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Failure>> {
        let Self { stream: Some(stream), received, counts, .. } = self else {
            return Poll::Ready(Err(gone()));
        };
        let before = received.len();
        let came = ready!(stream.poll_receive(cx, |bytes| received.extend_from_slice(bytes)));
        counts[1] += (received.len() - before) as u64;
        Poll::Ready(match came {
            Ok(true) => Ok(()),
            Ok(false) | Err(_) => Err(gone()),
        })
    }

    /// Sends messages whole.
    pub(super) async fn send(&mut self, mut bytes: &[u8]) -> Result<(), Failure> {
        poll_fn(|cx| {
            while !bytes.is_empty() {
                let stream = self.stream.as_mut().ok_or_else(gone)?;
                match stream.poll_send(cx, bytes) {
                    Poll::Ready(Ok(size)) if size > 0 => {
                        self.counts[0] += size as u64;
                        bytes = &bytes[size..];
                    }
                    Poll::Ready(_) => return Poll::Ready(self.last_words()),
                    Poll::Pending => return self.poll_ahead(cx),
                }
            }
            let stream = self.stream.as_mut().ok_or_else(gone)?;
            match stream.poll_send_rest(cx) {
                Poll::Ready(Ok(())) => Poll::Ready(Ok(())),
                Poll::Ready(Err(_)) => Poll::Ready(self.last_words()),
                Poll::Pending => self.poll_ahead(cx),
            }
        })
        .await
    }

    /// A server that has gone may have said why: its words are read in their time.
    fn last_words(&mut self) -> Result<(), Failure> {
        let mut cx = Context::from_waker(Waker::noop());
        let _ = self.poll_fill(&mut cx);
        if self.has_unread() { Ok(()) } else { Err(gone()) }
    }

    /// The server does not read on: perhaps it wants to be read first.
    fn poll_ahead(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Failure>> {
        while self.received.len() - self.at < AHEAD_MAX {
            match self.poll_fill(cx) {
                Poll::Ready(Ok(())) => {}
                Poll::Ready(Err(_)) if self.has_unread() => return Poll::Ready(Ok(())),
                Poll::Ready(Err(failure)) => return Poll::Ready(Err(failure)),
                Poll::Pending => break,
            }
        }
        Poll::Pending
    }

    /// Whether bytes came that were not read yet.
    pub(super) fn has_unread(&self) -> bool {
        self.at < self.received.len()
    }

    /// Whether the server has closed the connection: a look that does not wait. Notices that came unasked are no fault.
    pub(super) fn is_stale(&mut self) -> bool {
        let mut cx = Context::from_waker(Waker::noop());
        for _ in 0..8 {
            match self.poll_fill(&mut cx) {
                Poll::Pending => break,
                Poll::Ready(Ok(())) => {}
                Poll::Ready(Err(_)) => return true,
            }
        }
        loop {
            match self.whole() {
                Ok(Some((b'N' | b'S' | b'A', ..))) => {}
                Ok(None) => return self.received.len() - self.at > AHEAD_MAX,
                Ok(Some(_)) | Err(_) => return true,
            }
        }
    }

    /// A statement is over: a large buffer is given back.
    pub(super) fn rest(&mut self) {
        if self.at == self.received.len() {
            self.received.clear();
            self.at = 0;
            if self.received.capacity() > KEEP {
                self.received = Vec::new();
            }
        }
        self.turn.rest();
    }

    /// Swaps the buffer for another, which takes the bytes behind `end`. The bytes before it go with the old buffer.
    pub(super) fn swap(&mut self, other: &mut Vec<u8>, end: usize) {
        other.clear();
        other.extend_from_slice(&self.received[end..]);
        std::mem::swap(&mut self.received, other);
        other.truncate(end);
        self.at -= end;
    }

    /// Closes it in good order, as far as that needs no waiting.
    pub(super) fn close(mut self, farewell: &[u8]) {
        if let Some(mut stream) = self.stream.take() {
            let mut cx = Context::from_waker(Waker::noop());
            let _ = stream.poll_send(&mut cx, farewell);
            stream.close();
        }
    }
}
