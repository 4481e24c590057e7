//! The socket of a connection: TCP, or a socket in the file system.

use std::io::{self, IoSlice};
use std::net::Shutdown;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use socket2::SockRef;
use tokio::io::{AsyncRead, AsyncWrite, Interest, ReadBuf};
use tokio::net::TcpStream;
#[cfg(unix)]
use tokio::net::UnixStream;
use tokio_rustls::client::TlsStream;

use super::paced::Paced;

/// An open socket.
#[derive(Debug)]
pub(crate) enum Socket {
    /// Over the network.
    Tcp(TcpStream),
    /// Over the network, to a proxy that is spoken to over TLS.
    Tls(Box<TlsStream<Paced>>),
    /// On this machine.
    #[cfg(unix)]
    Unix(UnixStream),
}

/// The same words for either kind.
macro_rules! either {
    ($socket:expr, $stream:ident => $what:expr) => {
        match $socket {
            Socket::Tcp($stream) => $what,
            Socket::Tls($stream) => $what,
            #[cfg(unix)]
            Socket::Unix($stream) => $what,
        }
    };
}

impl Socket {
    /// The address of our end, if it is one of the network.
    pub(crate) fn local(&self) -> Option<std::net::SocketAddr> {
        match self {
            Self::Tcp(stream) => stream.local_addr().ok(),
            Self::Tls(stream) => stream.get_ref().0.local_addr().ok(),
            #[cfg(unix)]
            Self::Unix(_) => None,
        }
    }

    pub(super) fn try_read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Tcp(stream) => stream.try_read(into),
            Self::Tls(stream) => {
                let mut buffer = ReadBuf::new(into);
                now(Pin::new(stream).poll_read(&mut idle(), &mut buffer))?;
                Ok(buffer.filled().len())
            }
            #[cfg(unix)]
            Self::Unix(stream) => stream.try_read(into),
        }
    }

    pub(crate) fn try_write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Tcp(stream) => stream.try_write(bytes),
            Self::Tls(stream) => {
                let size = now(Pin::new(&mut *stream).poll_write(&mut idle(), bytes))?;
                // Bytes that the socket doesn't take are written before the next ones.
                let _ = Pin::new(stream).poll_flush(&mut idle());
                Ok(size)
            }
            #[cfg(unix)]
            Self::Unix(stream) => stream.try_write(bytes),
        }
    }

    /// Ends both directions. Best effort: it is closed when it is dropped.
    pub(super) fn hang_up(&mut self) {
        match self {
            Self::Tcp(stream) => drop(SockRef::from(&*stream).shutdown(Shutdown::Both)),
            Self::Tls(stream) => drop(Pin::new(stream).poll_shutdown(&mut idle())),
            #[cfg(unix)]
            Self::Unix(stream) => drop(SockRef::from(&*stream).shutdown(Shutdown::Both)),
        }
    }

    pub(super) fn poll_write_ready(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self {
            Self::Tcp(stream) => stream.poll_write_ready(cx),
            Self::Tls(_) => Poll::Ready(Ok(())),
            #[cfg(unix)]
            Self::Unix(stream) => stream.poll_write_ready(cx),
        }
    }

    /// Tries `write` on the bare socket, which is ready for it.
    pub(super) fn try_to_write<R>(
        &self,
        write: impl FnOnce(SockRef<'_>) -> io::Result<R>,
    ) -> io::Result<R> {
        match self {
            Self::Tcp(stream) => stream.try_io(Interest::WRITABLE, || write(SockRef::from(stream))),
            // Bytes that go past TLS would not arrive.
            Self::Tls(_) => Err(io::ErrorKind::Unsupported.into()),
            #[cfg(unix)]
            Self::Unix(stream) => {
                stream.try_io(Interest::WRITABLE, || write(SockRef::from(stream)))
            }
        }
    }
}

/// A task that is never woken.
fn idle() -> Context<'static> {
    Context::from_waker(Waker::noop())
}

/// The result that is there without waiting.
fn now<T>(poll: Poll<io::Result<T>>) -> io::Result<T> {
    match poll {
        Poll::Ready(result) => result,
        Poll::Pending => Err(io::ErrorKind::WouldBlock.into()),
    }
}

impl AsyncRead for Socket {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Tcp(stream) => Pin::new(stream).poll_read(cx, buffer),
            Self::Tls(stream) => {
                // Written bytes may be waiting for the socket still, and must be flushed here.
                if let Poll::Ready(Err(error)) = Pin::new(&mut *stream).poll_flush(cx) {
                    return Poll::Ready(Err(error));
                }
                let before = buffer.filled().len();
                let read = Pin::new(&mut *stream).poll_read(cx, buffer);
                if buffer.filled().len() > before {
                    stream.get_mut().0.was_of_use();
                }
                match read {
                    // Without a farewell; the framing tells if it was too early.
                    Poll::Ready(Err(error)) if error.kind() == io::ErrorKind::UnexpectedEof => {
                        Poll::Ready(Ok(()))
                    }
                    other => other,
                }
            }
            #[cfg(unix)]
            Self::Unix(stream) => Pin::new(stream).poll_read(cx, buffer),
        }
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
