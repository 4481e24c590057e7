//! A connection whose bytes count as a client's, with whatever goes over it.

use std::rc::Rc;
use std::task::{Context, Poll, ready};

use crate::connection::{Connection, Received};
use crate::dialer::Dialer;
use crate::failure::Failure;

/// So much is encrypted at a time.
const RECORDS: usize = 64 * 1024;

/// Plaintext in and plaintext out; TLS, if there is any, is inside.
#[derive(Debug)]
pub(crate) struct Counted {
    pub(crate) connection: Connection,
    pub(crate) dialer: Rc<Dialer>,
    /// Ciphertext that the socket did not take yet.
    unsent: Vec<u8>,
}

impl Counted {
    pub(crate) fn new(connection: Connection, dialer: Rc<Dialer>) -> Self {
        Self { connection, dialer, unsent: Vec::new() }
    }

    /// Reads once and gives `sink` what came: perhaps nothing, perhaps in several pieces.
    pub(crate) fn poll_receive(
        &mut self,
        cx: &mut Context<'_>,
        sink: impl FnMut(&[u8]),
    ) -> Poll<Result<Received, Failure>> {
        let mut scratch = self.dialer.network().scratch.borrow_mut();
        let received = ready!(self.connection.poll_receive(cx, &mut scratch, sink))?;
        if let Received::Bytes(size) = received {
            self.dialer.meter().received(size);
        }
        Poll::Ready(Ok(received))
    }

    /// Reads once, straight to where it belongs: only of a connection without TLS. 0 is the end.
    pub(crate) fn poll_read(
        &mut self,
        cx: &mut Context<'_>,
        into: &mut [u8],
    ) -> Poll<Result<usize, Failure>> {
        let size = ready!(self.connection.poll_read(cx, into))?;
        self.dialer.meter().received(size);
        Poll::Ready(Ok(size))
    }

    /// Writes once: says how many of the bytes were taken. Bytes that were taken may still have to be flushed.
    pub(crate) fn poll_write(
        &mut self,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<Result<usize, Failure>> {
        if !self.connection.is_secure() {
            let size = ready!(self.connection.poll_write(cx, bytes))?;
            self.dialer.meter().sent(size);
            return Poll::Ready(Ok(size));
        }
        ready!(self.poll_flush(cx))?;
        let taken = bytes.len().min(RECORDS);
        self.connection.encrypt(&bytes[..taken], &mut self.unsent)?;
        // Bytes that the socket doesn't take now go out before anything else.
        if let Poll::Ready(Err(failure)) = self.poll_flush(cx) {
            return Poll::Ready(Err(failure));
        }
        Poll::Ready(Ok(taken))
    }

    /// Writes what is left of the last bytes.
    pub(crate) fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Failure>> {
        while !self.unsent.is_empty() {
            let size = ready!(self.connection.poll_write(cx, &self.unsent))?;
            self.dialer.meter().sent(size);
            self.unsent.drain(..size);
        }
        Poll::Ready(Ok(()))
    }

    /// Closes it in good order, as far as that needs no waiting.
    pub(crate) fn close(mut self) {
        let sent = self.connection.say_goodbye();
        self.dialer.meter().sent(sent);
    }
}
