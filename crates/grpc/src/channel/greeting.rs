//! The server's greeting and its farewell: the first frame that comes tells whether it speaks HTTP/2, a GOAWAY why it leaves.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker, ready};

use brunt_fiber::clock;
use brunt_fiber::turn::{Turn, give_way};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Bytes of a frame's head.
const HEAD: usize = 9;
/// Frames that carry no part of a message: heads, windows, pings, settings and the like. This many may come at any
/// time, more with each second, and one for a number of bytes that we write; a server that sends more floods us.
const EMPTY_MAX: u64 = 65_536;
const EMPTY_EACH_SECOND: u64 = 10_000;
const EMPTY_BYTES: u64 = 2;
/// Types of frames, which are the fourth byte, and a flag.
const DATA: u8 = 0;
const CONTINUATION: u8 = 9;
const END_STREAM: u8 = 1;
const SETTINGS: u8 = 4;
const GOAWAY: u8 = 7;
/// The bytes of a GOAWAY that count: the last stream, and the reason.
const FAREWELL: usize = 8;

/// Whether the server greeted.
#[derive(Debug)]
pub(super) struct Greeting {
    state: RefCell<State>,
    farewell: Cell<Option<Farewell>>,
    waker: RefCell<Option<Waker>>,
}

/// The content of a GOAWAY.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Farewell {
    /// The server has looked at no stream beyond this one.
    pub(super) last: u32,
    /// Why it leaves.
    pub(super) reason: u32,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum State {
    Waiting,
    Greeted,
    Ended(String),
}

impl Greeting {
    pub(super) fn new() -> Rc<Self> {
        Rc::new(Self {
            state: RefCell::new(State::Waiting),
            farewell: Cell::new(None),
            waker: RefCell::default(),
        })
    }

    fn set(&self, state: State) {
        let mut current = self.state.borrow_mut();
        if *current == State::Waiting {
            *current = state;
            if let Some(waker) = self.waker.borrow_mut().take() {
                waker.wake();
            }
        }
    }

    /// The connection is over; what it ended with.
    pub(super) fn end(&self, told: String) {
        self.set(State::Ended(told));
    }

    /// The last GOAWAY, if one came.
    pub(super) fn farewell(&self) -> Option<Farewell> {
        self.farewell.get()
    }

    /// Waits for the greeting; an error is what came instead.
    pub(super) async fn wait(&self) -> Result<(), String> {
        poll_fn(|cx| match &*self.state.borrow() {
            State::Greeted => Poll::Ready(Ok(())),
            State::Ended(told) => Poll::Ready(Err(told.clone())),
            State::Waiting => {
                *self.waker.borrow_mut() = Some(cx.waker().clone());
                Poll::Pending
            }
        })
        .await
    }
}

/// A connection whose frames are looked at as they come.
pub(super) struct Greeted<T> {
    inner: T,
    greeting: Rc<Greeting>,
    /// The head of a frame, or what counts of a GOAWAY, as far as it came.
    kept: Vec<u8>,
    /// Bytes of the frame that are still to come, behind its head.
    left: usize,
    is_farewell: bool,
    turn: Turn,
    /// The turn is over.
    is_late: bool,
    /// Frames that came, and those that carry no part of a message.
    frames: u64,
    empty: u64,
    /// Bytes that we wrote: what we send has answers that carry nothing.
    written: u64,
    opened: u64,
}

impl<T> Greeted<T> {
    pub(super) fn new(inner: T, greeting: Rc<Greeting>) -> Self {
        Self {
            inner,
            greeting,
            kept: Vec::with_capacity(HEAD),
            left: 0,
            is_farewell: false,
            turn: Turn::default(),
            is_late: false,
            frames: 0,
            empty: 0,
            written: 0,
            opened: clock::now_ns(),
        }
    }

    /// Whether more came that carries nothing than any honest server sends.
    fn is_flooded(&self) -> bool {
        let allowed = EMPTY_MAX + self.written / EMPTY_BYTES;
        if self.empty <= allowed {
            return false;
        }
        let seconds = clock::now_ns().saturating_sub(self.opened) / 1_000_000_000;
        self.empty > allowed + EMPTY_EACH_SECOND.saturating_mul(seconds)
    }

    fn look(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            if self.left > 0 {
                let (inside, rest) = bytes.split_at(self.left.min(bytes.len()));
                self.left -= inside.len();
                bytes = rest;
                if self.is_farewell {
                    let missing = FAREWELL.saturating_sub(self.kept.len());
                    self.kept.extend(inside.iter().take(missing));
                    if let Some(&[a, b, c, d, reason @ ..]) = self.kept.first_chunk::<FAREWELL>() {
                        let last = u32::from_be_bytes([a & 0x7f, b, c, d]);
                        let reason = u32::from_be_bytes(reason);
                        self.greeting.farewell.set(Some(Farewell { last, reason }));
                    }
                }
                continue;
            }
            if self.is_farewell {
                self.is_farewell = false;
                self.kept.clear();
            }
            let (head, rest) = bytes.split_at((HEAD - self.kept.len()).min(bytes.len()));
            self.kept.extend_from_slice(head);
            bytes = rest;
            if self.kept.get(3).is_some_and(|&kind| kind != SETTINGS) {
                // Only the first frame must be this one; later, it is too late to end.
                let told = if self.kept.starts_with(b"HTTP") {
                    "http2: failed reading the frame payload: http2: frame too large, note that the frame header \
                     looked like an HTTP/1.1 header"
                } else {
                    "the server speaks no HTTP/2"
                };
                self.greeting.end(told.to_owned());
            }
            if let Some(&[a, b, c, kind, flags, ..]) = self.kept.get(..HEAD) {
                self.greeting.set(State::Greeted);
                self.frames += 1;
                let carries = match kind {
                    DATA => [a, b, c] != [0; 3] || flags & END_STREAM != 0,
                    CONTINUATION => [a, b, c] != [0; 3],
                    _ => false,
                };
                self.empty += u64::from(!carries);
                self.left = u32::from_be_bytes([0, a, b, c]) as usize;
                self.is_farewell = kind == GOAWAY;
                self.kept.clear();
            }
        }
    }
}

impl<T: AsyncRead + Unpin> AsyncRead for Greeted<T> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if std::mem::take(&mut this.is_late) {
            give_way(cx);
            return Poll::Pending;
        }
        let before = into.filled().len();
        let read = Pin::new(&mut this.inner).poll_read(cx, into);
        if read.is_pending() {
            this.turn.rest();
            return read;
        }
        let frames = this.frames;
        this.look(&into.filled()[before..]);
        if this.is_flooded() {
            let told = "the server sends frames without end that carry nothing";
            return Poll::Ready(Err(io::Error::new(io::ErrorKind::InvalidData, told)));
        }
        let frames = u32::try_from((this.frames - frames) / 8).unwrap_or(u32::MAX / 4);
        let bytes = into.filled().len() - before;
        // Read bytes are handed on in this turn; the next reading is one of the next turn.
        this.is_late = this.turn.is_over(Turn::THING + frames + Turn::bytes(bytes));
        read
    }
}

impl<T: AsyncWrite + Unpin> AsyncWrite for Greeted<T> {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let written = ready!(Pin::new(&mut this.inner).poll_write(cx, bytes))?;
        this.written += written as u64;
        Poll::Ready(Ok(written))
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().inner).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().inner).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(parts: &[&[u8]]) -> State {
        let mut greeted = Greeted::new((), Greeting::new());
        for part in parts {
            greeted.look(part);
        }
        greeted.greeting.state.borrow().clone()
    }

    #[test]
    fn settings_are_a_greeting_however_they_come() {
        let frame = [0, 0, 0, 4, 0, 0, 0, 0, 0];
        assert_eq!(seen(&[&frame]), State::Greeted);
        let bytes: Vec<&[u8]> = frame.chunks(1).collect();
        assert_eq!(seen(&bytes), State::Greeted);
        assert_eq!(seen(&[&frame[..4]]), State::Waiting);
        assert!(matches!(seen(&[b"HTTP/1.1 400"]), State::Ended(_)));
        assert!(matches!(seen(&[b"HT", b"TP"]), State::Ended(_)));
    }

    #[test]
    fn frames_without_end_that_carry_nothing_are_a_flood() {
        let flooded = |frame: &[u8], count: u64| {
            let mut greeted = Greeted::new((), Greeting::new());
            greeted.look(&[0, 0, 0, 4, 0, 0, 0, 0, 0]);
            (0..count).for_each(|_| greeted.look(frame));
            greeted.is_flooded()
        };
        for kind in [1, 2, 3, 4, 6, 8, 9, 77, 0] {
            let frame = [0, 0, 0, kind, 0, 0, 0, 0, 1];
            assert!(!flooded(&frame, EMPTY_MAX - 1), "{kind}");
            assert!(flooded(&frame, EMPTY_MAX * 2), "{kind}");
        }
        assert!(!flooded(&[0, 0, 1, 0, 0, 0, 0, 0, 1, 5], EMPTY_MAX * 2));
    }

    #[test]
    fn the_reason_of_a_farewell_is_kept() {
        let mut bytes = vec![0, 0, 2, 4, 0, 0, 0, 0, 0, 1, 2];
        bytes.extend([0, 0, 10, 7, 0, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 11, b'h', b'i']);
        bytes.extend([0, 0, 0, 4, 1, 0, 0, 0, 0]);
        for size in 1..bytes.len() {
            let mut greeted = Greeted::new((), Greeting::new());
            bytes.chunks(size).for_each(|part| greeted.look(part));
            let farewell = Farewell { last: 9, reason: 11 };
            assert_eq!(greeted.greeting.farewell(), Some(farewell), "{size}");
            assert_eq!((greeted.left, greeted.kept.len()), (0, 0));
        }
    }
}
