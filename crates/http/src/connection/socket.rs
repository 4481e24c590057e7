//! What a connection is made of: TCP, or a socket in the file system.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll};

use socket2::SockRef;
use tokio::io::{AsyncRead, AsyncWrite, Interest, ReadBuf};
use tokio::net::TcpStream;
#[cfg(unix)]
use tokio::net::UnixStream;

/// An open socket.
#[derive(Debug)]
pub(crate) enum Socket {
    /// Over the network.
    Tcp(TcpStream),
    /// On this machine.
    #[cfg(unix)]
    Unix(UnixStream),
}

/// The same words for either kind.
macro_rules! either {
    ($socket:expr, $stream:ident => $what:expr) => {
        match $socket {
            Socket::Tcp($stream) => $what,
            #[cfg(unix)]
            Socket::Unix($stream) => $what,
        }
    };
}

impl Socket {
    pub(super) fn try_read(&self, into: &mut [u8]) -> io::Result<usize> {
        either!(self, stream => stream.try_read(into))
    }

    pub(crate) fn try_write(&self, bytes: &[u8]) -> io::Result<usize> {
        either!(self, stream => stream.try_write(bytes))
    }

    pub(super) fn poll_write_ready(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        either!(self, stream => stream.poll_write_ready(cx))
    }

    /// Tries `write` on the bare socket, which is ready for it.
    pub(super) fn try_to_write<R>(
        &self,
        write: impl FnOnce(SockRef<'_>) -> io::Result<R>,
    ) -> io::Result<R> {
        either!(self, stream => stream.try_io(Interest::WRITABLE, || write(SockRef::from(stream))))
    }
}

impl AsyncRead for Socket {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        either!(self.get_mut(), stream => Pin::new(stream).poll_read(cx, buffer))
    }
}

impl AsyncWrite for Socket {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        either!(self.get_mut(), stream => Pin::new(stream).poll_write(cx, bytes))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        either!(self.get_mut(), stream => Pin::new(stream).poll_write_vectored(cx, slices))
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        either!(self.get_mut(), stream => Pin::new(stream).poll_flush(cx))
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        either!(self.get_mut(), stream => Pin::new(stream).poll_shutdown(cx))
    }
}
