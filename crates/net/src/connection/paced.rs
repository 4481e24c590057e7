//! The socket below a TLS that reads by itself: in turns, and not for ever if nothing comes of it.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

use super::turn::come_again;
use crate::quiet::{QUIET_IN_HANDSHAKE, TOO_QUIET};

/// How often it is read before the TLS above has told what came of it, or the others of the core have their turn.
const READS_MAX: u32 = 16;

/// A socket to a proxy that is spoken to over TLS.
#[derive(Debug)]
pub(crate) struct Paced {
    stream: TcpStream,
    reads: u32,
    /// Bytes since the last of use.
    quiet: usize,
}

impl Paced {
    pub(crate) fn new(stream: TcpStream) -> Self {
        Self { stream, reads: 0, quiet: 0 }
    }

    /// The address of our end.
    pub(crate) fn local_addr(&self) -> io::Result<std::net::SocketAddr> {
        self.stream.local_addr()
    }

    /// The last reading was of use: hands were shaken, or data came.
    pub(crate) fn was_of_use(&mut self) {
        self.reads = 0;
        self.quiet = 0;
    }
}

impl AsyncRead for Paced {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if this.quiet > QUIET_IN_HANDSHAKE {
            let error = rustls::Error::General(TOO_QUIET.to_owned());
            return Poll::Ready(Err(io::Error::new(io::ErrorKind::InvalidData, error)));
        }
        if this.reads >= READS_MAX {
            this.reads = 0;
            come_again(cx);
            return Poll::Pending;
        }
        let before = buffer.filled().len();
        this.reads += 1;
        ready!(Pin::new(&mut this.stream).poll_read(cx, buffer))?;
        this.quiet += buffer.filled().len() - before;
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Paced {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().stream).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().stream).poll_write_vectored(cx, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(cx)
    }
}
