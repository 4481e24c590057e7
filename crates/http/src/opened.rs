//! A connection for another protocol: dialed by the rules of HTTP, its bytes counted as the client's.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use rustls::client::ClientConfig;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::client::Client;
use crate::connection::Received;
use crate::counted::Counted;
use crate::dial::Dialer;
use crate::exchange::{Answer, Fate, Recording};
use crate::failure::Failure;
use crate::target::Target;
use crate::tls::TlsInfo;
use crate::upgrade::without_http2;

/// Plaintext of more than this is not kept room for.
const CAME_KEEP: usize = 64 * 1024;

/// A connection that was opened with [`Client::open`], as bytes in and bytes out: TLS, if the target asked for it, is
/// inside.
///
/// Failures of the connection travel in the [`io::Error`]s: see [`Failure::of_io`].
pub struct Opened {
    counted: Counted,
    /// Plaintext that came, from `at` on.
    came: Vec<u8>,
    at: usize,
    way: [u64; 2],
}

impl Client {
    /// Opens a connection of its own, which never enters the pool. No proxy is asked.
    ///
    /// # Errors
    /// Why it could not be opened. There is no time limit but that of the options for connecting: set one around it.
    pub async fn open(self: &Rc<Self>, target: &Target<'_>) -> Result<Opened, Failure> {
        self.open_with(target, |config| self.own_tls(config)).await
    }

    /// [`Self::open`] for what is not HTTP at all: with TLS, the server is not offered HTTP/2.
    ///
    /// # Errors
    /// As there.
    pub async fn open_raw(self: &Rc<Self>, target: &Target<'_>) -> Result<Opened, Failure> {
        self.open_with(target, |config| without_http2(self.own_tls(config))).await
    }

    async fn open_with(
        self: &Rc<Self>,
        target: &Target<'_>,
        own: impl FnOnce(Arc<ClientConfig>) -> Arc<ClientConfig>,
    ) -> Result<Opened, Failure> {
        let network = self.network();
        let answer = Answer::new(Fate::Discard, 0);
        let mut recording = Recording::start(network.clock, self.meter(), answer);
        let dialer = Dialer { network, local_ip: self.local_ip(), proxy: None, tunnels: false };
        let mut connection = dialer.dial(target, own, &mut recording).await?;
        let (came, way) = (connection.take_early(), recording.way());
        Ok(Opened { counted: Counted::new(connection, Rc::clone(self)), came, at: 0, way })
    }
}

impl Opened {
    /// The address at the other end.
    pub fn remote(&self) -> SocketAddr {
        self.counted.connection.remote
    }

    /// The address of our end.
    pub fn local(&self) -> Option<SocketAddr> {
        self.counted.connection.wire().socket.borrow().local()
    }

    /// How long it took to find the address, and then to connect, in nanoseconds. TLS comes after that.
    pub fn way(&self) -> [u64; 2] {
        self.way
    }

    /// Closes it in good order, as far as that needs no waiting.
    pub fn close(self) {
        self.counted.close();
    }

    /// What was agreed on, if it is encrypted.
    pub fn tls(&self) -> Option<TlsInfo> {
        self.counted.connection.tls_info
    }

    /// The server chose HTTP/2 while TLS was agreed on.
    pub fn is_http2(&self) -> bool {
        self.counted.connection.is_http2()
    }
}

/// The failure travels inside the error.
fn wrapped(failure: Failure) -> io::Error {
    io::Error::other(failure)
}

impl AsyncRead for Opened {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if !this.counted.connection.is_secure() {
            let size = ready!(this.counted.poll_read(cx, into.initialize_unfilled()));
            let size = size.map_err(wrapped)?;
            into.advance(size);
            return Poll::Ready(Ok(()));
        }
        while this.at == this.came.len() {
            this.came.clear();
            if this.came.capacity() > CAME_KEEP {
                this.came = Vec::new();
            }
            this.at = 0;
            let came = &mut this.came;
            match ready!(this.counted.poll_receive(cx, |bytes| came.extend_from_slice(bytes))) {
                Ok(Received::End) if this.came.is_empty() => return Poll::Ready(Ok(())),
                Ok(_) => {}
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

impl AsyncWrite for Opened {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.get_mut().counted.poll_write(cx, bytes).map_err(wrapped)
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.get_mut().counted.poll_flush(cx).map_err(wrapped)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        ready!(this.counted.poll_flush(cx)).map_err(wrapped)?;
        this.counted.connection.poll_shutdown(cx)
    }
}

impl std::fmt::Debug for Opened {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Opened").field("remote", &self.remote()).finish_non_exhaustive()
    }
}

impl Failure {
    /// What stands behind an error of an [`Opened`] connection, or of what goes over it.
    pub fn of_io(error: &io::Error) -> Option<Self> {
        error.get_ref()?.downcast_ref::<Self>().copied()
    }
}
