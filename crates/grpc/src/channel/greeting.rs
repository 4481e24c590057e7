//! The server's greeting: the first frame that comes tells whether it speaks HTTP/2.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Bytes of a frame's head.
const HEAD: usize = 9;
/// The type of a SETTINGS frame, which is the fourth byte.
const SETTINGS: u8 = 4;

/// Whether the server greeted.
#[derive(Debug)]
pub(super) struct Greeting {
    state: RefCell<State>,
    waker: RefCell<Option<Waker>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum State {
    Waiting,
    Greeted,
    Ended(String),
}

impl Greeting {
    pub(super) fn new() -> Rc<Self> {
        Rc::new(Self { state: RefCell::new(State::Waiting), waker: RefCell::default() })
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

/// A connection whose first bytes are looked at.
pub(super) struct Greeted<T> {
    inner: T,
    greeting: Rc<Greeting>,
    /// So many bytes came.
    came: Cell<usize>,
}

impl<T> Greeted<T> {
    pub(super) fn new(inner: T, greeting: Rc<Greeting>) -> Self {
        Self { inner, greeting, came: Cell::new(0) }
    }

    fn look(&self, bytes: &[u8]) {
        let before = self.came.get();
        self.came.set((before + bytes.len()).min(HEAD));
        // The fourth byte is the type of the frame; the whole head makes it sure.
        if before <= 3
            && let Some(&kind) = bytes.get(3 - before)
            && kind != SETTINGS
        {
            self.greeting.end("the server speaks no HTTP/2".to_owned());
        } else if self.came.get() == HEAD {
            self.greeting.set(State::Greeted);
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
        let before = into.filled().len();
        let read = Pin::new(&mut this.inner).poll_read(cx, into);
        if this.came.get() < HEAD && into.filled().len() > before {
            this.look(&into.filled()[before..]);
        }
        read
    }
}

impl<T: AsyncWrite + Unpin> AsyncWrite for Greeted<T> {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().inner).poll_write(cx, bytes)
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
        let greeted = Greeted::new((), Greeting::new());
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
}
