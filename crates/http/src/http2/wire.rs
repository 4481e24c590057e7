//! A connection as the `h2` crate wants it: bytes in, bytes out, encrypted or not.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::connection::{Connection, Received};
use crate::failure::Failure;
use crate::network::Scratch;

/// So much is encrypted at a time.
const RECORDS: usize = 64 * 1024;

/// A connection with the buffers that it needs while many share it: at most a record that came and one that goes.
pub(super) struct Wire {
    connection: Connection,
    scratch: Box<Scratch>,
    /// Plaintext that came, from `at` on.
    came: Vec<u8>,
    at: usize,
    /// Ciphertext that the socket did not take yet.
    unsent: Vec<u8>,
}

impl Wire {
    pub(super) fn new(mut connection: Connection) -> Self {
        let came = connection.take_early();
        Self { connection, scratch: Box::new(Scratch::new()), came, at: 0, unsent: Vec::new() }
    }

    /// Writes what is left of the last records.
    fn poll_unsent(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Failure>> {
        while !self.unsent.is_empty() {
            let size = ready!(self.connection.poll_write(cx, &self.unsent))?;
            self.unsent.drain(..size);
        }
        Poll::Ready(Ok(()))
    }
}

/// The failure travels inside the error, and comes out of it again in [`crate::failure::from_http2`].
fn wrapped(failure: Failure) -> io::Error {
    io::Error::other(failure)
}

impl AsyncRead for Wire {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        while this.at == this.came.len() {
            this.came.clear();
            this.at = 0;
            let came = &mut this.came;
            let take = |bytes: &[u8]| came.extend_from_slice(bytes);
            match ready!(this.connection.poll_receive(cx, &mut this.scratch, take)) {
                Ok(Received::End) if this.came.is_empty() => return Poll::Ready(Ok(())),
                Ok(Received::Bytes(_) | Received::End) => {}
                Err(failure) => return Poll::Ready(Err(wrapped(failure))),
            }
        }
        let rest = &this.came[this.at..];
        let size = rest.len().min(into.remaining());
        into.put_slice(&rest[..size]);
        this.at += size;
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Wire {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        if !this.connection.is_secure() {
            return this.connection.poll_write(cx, bytes).map_err(wrapped);
        }
        ready!(this.poll_unsent(cx)).map_err(wrapped)?;
        let taken = bytes.len().min(RECORDS);
        this.connection.encrypt(&bytes[..taken], &mut this.unsent).map_err(wrapped)?;
        // What the socket doesn't take now goes out before anything else.
        if let Poll::Ready(Err(failure)) = this.poll_unsent(cx) {
            return Poll::Ready(Err(wrapped(failure)));
        }
        Poll::Ready(Ok(taken))
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.get_mut().poll_unsent(cx).map_err(wrapped)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        ready!(this.poll_unsent(cx)).map_err(wrapped)?;
        this.connection.poll_shutdown(cx)
    }
}
