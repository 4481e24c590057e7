//! A response's body on its way to a reader who takes it as it comes.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::fmt;
use std::task::{Context, Poll, Waker};

use crate::exchange::{Exchange, Response};
use crate::failure::Failure;

/// The cost of a chunk beside its bytes, so that many small ones are bounded too.
const CHUNK_COST: usize = 64;

/// A bounded buffer between the task that runs an exchange and the one that reads its body.
///
/// ```text
/// Client::exchange ──begin──► head ──► poll_head    reader
///                  ──push───► chunks ► poll_chunk
///        (room) ◄────────────────────── (taken)
/// whoever ran it ──end──────► the end
/// ```
///
/// When it is full, the socket is not read until the reader has taken something: the server feels it. When the reader
/// gives up ([`Spool::abandon`]), the exchange ends at once with what it has, without a failure, and its connection is
/// closed.
#[derive(Default)]
pub struct Spool {
    limit: usize,
    follows: Cell<bool>,
    answers: Cell<bool>,
    state: RefCell<State>,
}

#[derive(Default)]
struct State {
    /// The head came; it may have been taken since.
    has_begun: bool,
    head: Option<Box<Exchange>>,
    chunks: VecDeque<Chunk>,
    /// Their bytes and costs.
    size: usize,
    /// When what is read now arrived.
    arrives: u64,
    has_ended: bool,
    /// Why, if not because all came; told once.
    failure: Option<Failure>,
    is_abandoned: bool,
    /// The reader has left, but this much more may come and is dropped, so that the exchange can end well.
    drains: Option<usize>,
    /// The wakers of tasks that wait for head, chunks or end: as many as ask at once.
    readers: Vec<Waker>,
    writer: Option<Waker>,
}

/// Some bytes of a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// At least one; what one reading of the socket brought.
    pub bytes: Vec<u8>,
    /// When they were there: nanoseconds of the network's clock.
    pub arrived_at: u64,
}

impl Spool {
    /// An empty one that takes about `limit` bytes: what one reading of the socket brings may pass it.
    pub fn new(limit: usize) -> Self {
        Self { limit, ..Self::default() }
    }

    /// Whether the body of a redirect with a `Location` is dropped, since whoever runs the exchange follows it.
    pub fn follow_redirects(&self, follows: bool) {
        self.follows.set(follows);
    }

    /// Whether the body of a 401 is dropped, since whoever runs the exchange answers what it asks.
    pub fn answer_challenges(&self, answers: bool) {
        self.answers.set(answers);
    }

    /// The exchange as it stood when its head was there; `None` if it ended without one (or the head was taken).
    pub fn poll_head(&self, cx: &mut Context<'_>) -> Poll<Option<Box<Exchange>>> {
        let mut state = self.state.borrow_mut();
        if state.head.is_some() || state.has_ended {
            return Poll::Ready(state.head.take());
        }
        state.wait(cx);
        Poll::Pending
    }

    /// The head came.
    pub fn has_begun(&self) -> bool {
        self.state.borrow().has_begun
    }

    /// The next chunk; `None` when all were taken.
    ///
    /// # Errors
    /// Why the rest doesn't come, after the chunks that did; then there is nothing more.
    pub fn poll_chunk(&self, cx: &mut Context<'_>) -> Poll<Option<Result<Chunk, Failure>>> {
        let mut state = self.state.borrow_mut();
        if let Some(chunk) = state.chunks.pop_front() {
            state.size -= chunk.bytes.len() + CHUNK_COST;
            if let Some(writer) = state.writer.take() {
                writer.wake();
            }
            return Poll::Ready(Some(Ok(chunk)));
        }
        if state.is_abandoned || state.drains.is_some() {
            return Poll::Ready(None);
        }
        if state.has_ended {
            return Poll::Ready(state.failure.take().map(Err));
        }
        state.wait(cx);
        Poll::Pending
    }

    /// The reader leaves: chunks that are here are dropped, and the exchange ends.
    pub fn abandon(&self) {
        let mut state = self.state.borrow_mut();
        state.is_abandoned = true;
        state.chunks = VecDeque::new();
        state.size = 0;
        if let Some(writer) = state.writer.take() {
            writer.wake();
        }
        state.wake();
    }

    /// The reader leaves, but the rest may come if it is not much: with the chunks that are here already, up to
    /// `most` bytes are dropped; beyond that it is as with [`Spool::abandon`].
    pub fn drain(&self, most: usize) {
        let mut state = self.state.borrow_mut();
        if state.has_ended || state.is_abandoned || state.drains.is_some() {
            return;
        }
        let left = most.saturating_sub(state.size);
        state.drains = Some(left);
        state.is_abandoned = left == 0;
        state.chunks = VecDeque::new();
        state.size = 0;
        if let Some(writer) = state.writer.take() {
            writer.wake();
        }
    }

    /// Waits until the exchange is over.
    pub fn poll_end(&self, cx: &mut Context<'_>) -> Poll<()> {
        let mut state = self.state.borrow_mut();
        if state.has_ended {
            return Poll::Ready(());
        }
        state.wait(cx);
        Poll::Pending
    }

    /// The exchange is over.
    pub fn has_ended(&self) -> bool {
        self.state.borrow().has_ended
    }

    /// The exchange is over. For whoever ran it, when all is recorded.
    pub fn end(&self, failure: Option<Failure>) {
        let mut state = self.state.borrow_mut();
        state.has_ended = true;
        state.failure = failure;
        state.wake();
    }

    /// Whether there is room: `false` without a reader.
    pub(crate) fn poll_room(&self, cx: &mut Context<'_>) -> Poll<bool> {
        let mut state = self.state.borrow_mut();
        if state.is_abandoned {
            return Poll::Ready(false);
        }
        // Registered even if there is room: who waits for the socket must notice that the reader gives up.
        if !state.writer.as_ref().is_some_and(|writer| writer.will_wake(cx.waker())) {
            state.writer = Some(cx.waker().clone());
        }
        if state.size < self.limit { Poll::Ready(true) } else { Poll::Pending }
    }

    /// This response's body is to be streamed.
    pub(crate) fn wants(&self, response: &Response<'_>) -> bool {
        let redirects = matches!(response.status(), 301 | 302 | 303 | 307 | 308)
            && response.header("Location").is_some_and(|location| !location.is_empty());
        let asks = response.status() == 401;
        let goes_on = (redirects && self.follows.get()) || (asks && self.answers.get());
        !goes_on
    }

    /// The moment of arrival of all bytes pushed from now on.
    pub(crate) fn arrives(&self, now: u64) {
        self.state.borrow_mut().arrives = now;
    }

    pub(crate) fn begin(&self, head: impl FnOnce() -> Exchange) {
        let mut state = self.state.borrow_mut();
        if !state.has_begun {
            state.has_begun = true;
            state.head = Some(Box::new(head()));
            state.wake();
        }
    }

    pub(crate) fn push(&self, data: &[u8]) {
        let mut state = self.state.borrow_mut();
        if state.is_abandoned {
            return;
        }
        if let Some(left) = &mut state.drains {
            *left = left.saturating_sub(data.len());
            state.is_abandoned = *left == 0;
            return;
        }
        let arrived_at = state.arrives;
        match state.chunks.back_mut() {
            Some(chunk) if chunk.arrived_at == arrived_at => {
                chunk.bytes.extend_from_slice(data);
                state.size += data.len();
            }
            _ => {
                state.chunks.push_back(Chunk { bytes: data.to_vec(), arrived_at });
                state.size += data.len() + CHUNK_COST;
            }
        }
        state.wake();
    }
}

impl State {
    fn wait(&mut self, cx: &Context<'_>) {
        if !self.readers.iter().any(|reader| reader.will_wake(cx.waker())) {
            self.readers.push(cx.waker().clone());
        }
    }

    fn wake(&mut self) {
        for reader in self.readers.drain(..) {
            reader.wake();
        }
    }
}

impl fmt::Debug for Spool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.state.borrow();
        f.debug_struct("Spool")
            .field("limit", &self.limit)
            .field("size", &state.size)
            .field("is_abandoned", &state.is_abandoned)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn poll<T>(poll: impl FnOnce(&mut Context<'_>) -> Poll<T>) -> Poll<T> {
        poll(&mut Context::from_waker(Waker::noop()))
    }

    fn text(spool: &Spool) -> String {
        match poll(|cx| spool.poll_chunk(cx)) {
            Poll::Pending => "…".to_owned(),
            Poll::Ready(None) => "end".to_owned(),
            Poll::Ready(Some(Ok(chunk))) => String::from_utf8(chunk.bytes).unwrap(),
            Poll::Ready(Some(Err(failure))) => failure.to_string(),
        }
    }

    #[test]
    fn what_arrives_together_is_one_chunk_and_the_end_comes_last() {
        let spool = Spool::new(1000);
        assert_eq!(text(&spool), "…");
        spool.arrives(1);
        spool.push(b"a");
        spool.push(b"b");
        spool.arrives(2);
        spool.push(b"c");
        spool.end(Some(Failure::Timeout));
        let read = [text(&spool), text(&spool), text(&spool), text(&spool)];
        assert_eq!(read, ["ab", "c", "request timeout", "end"]);
    }

    #[test]
    fn a_full_one_has_room_again_when_something_is_taken() {
        let spool = Spool::new(100);
        assert_eq!(poll(|cx| spool.poll_room(cx)), Poll::Ready(true));
        spool.arrives(1);
        spool.push(&[0; 50]);
        assert_eq!(poll(|cx| spool.poll_room(cx)), Poll::Pending);
        text(&spool);
        assert_eq!(poll(|cx| spool.poll_room(cx)), Poll::Ready(true));
        // Tiny chunks count for what they cost.
        for at in 2..4 {
            spool.arrives(at);
            spool.push(b"x");
        }
        assert_eq!(poll(|cx| spool.poll_room(cx)), Poll::Pending);
        spool.abandon();
        assert_eq!(poll(|cx| spool.poll_room(cx)), Poll::Ready(false));
        assert_eq!(text(&spool), "end");
    }

    #[test]
    fn what_nobody_reads_is_dropped_up_to_a_limit() {
        let spool = Spool::new(100);
        spool.push(&[0; 100]);
        assert_eq!(poll(|cx| spool.poll_room(cx)), Poll::Pending);
        spool.drain(300);
        assert_eq!(text(&spool), "end");
        spool.push(&[0; 100]);
        assert_eq!(poll(|cx| spool.poll_room(cx)), Poll::Ready(true));
        assert_eq!(poll(|cx| spool.poll_end(cx)), Poll::Pending);
        spool.push(&[0; 100]);
        assert_eq!(poll(|cx| spool.poll_room(cx)), Poll::Ready(false));
        let full = Spool::new(100);
        full.push(&[0; 300]);
        full.drain(300);
        assert_eq!(poll(|cx| full.poll_room(cx)), Poll::Ready(false));
        full.end(None);
        assert!(full.has_ended() && poll(|cx| full.poll_end(cx)).is_ready());
    }
}
