//! A connection for any protocol: bytes in, bytes out, counted as a client's.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::connection::{Connection, Received};
use crate::counted::Counted;
use crate::dialer::Dialer;
use crate::failure::Failure;
use crate::moments::Moments;
use crate::tls::{Offer, TlsInfo};

/// Plaintext of more than this is not kept room for.
const CAME_KEEP: usize = 64 * 1024;

/// A connection that belongs to one user, as bytes in and bytes out: TLS, if there is any, is inside. Either as a tokio
/// stream, or with [`Self::poll_receive`] and its sisters, which copy less.
///
/// Failures of the connection travel in the [`io::Error`]s: see [`Failure::of_io`].
pub struct Opened {
    counted: Counted,
    /// Plaintext that came, from `at` on.
    came: Vec<u8>,
    at: usize,
    way: [u64; 2],
}

impl Opened {
    pub(crate) fn new(mut connection: Connection, dialer: Rc<Dialer>, way: [u64; 2]) -> Self {
        let came = connection.take_early();
        Self { counted: Counted::new(connection, dialer), came, at: 0, way }
    }

    /// A connection that was dialed step by step: see [`Dialer::connect`].
    pub fn of(connection: Connection, dialer: Rc<Dialer>) -> Self {
        Self::new(connection, dialer, [0; 2])
    }

    /// The same, whose first protocol has ended; `early` came behind the last of it.
    #[must_use]
    pub fn after(self, early: Vec<u8>) -> Self {
        Self { came: early, at: 0, ..self }
    }

    /// The connection itself, the bytes that came and were not read, and the dialer whose bytes they are.
    pub fn take_apart(self) -> (Connection, Vec<u8>, Rc<Dialer>) {
        let Self { counted: Counted { connection, dialer, .. }, mut came, at, .. } = self;
        came.drain(..at);
        (connection, came, dialer)
    }

    /// Turns a plain connection into an encrypted one: for protocols that begin in plain text and agree on TLS. Bytes that came
    /// before that and were not read are an error, as an attacker on the way may have put them there.
    ///
    /// # Errors
    /// Why the handshake failed.
    pub async fn secure(self, host: &str, offer: Offer) -> Result<Self, Failure> {
        let Self { counted: Counted { mut connection, dialer, .. }, came, at, way } = self;
        if at < came.len() {
            return Err(Failure::NoTls);
        }
        let mut moments = Moments::start(dialer.network().clock, dialer.meter());
        dialer.secure(&mut connection, host, offer, &mut moments).await?;
        Ok(Self::new(connection, Rc::clone(&dialer), way))
    }

    /// The address at the other end: the proxy's, if there is one.
    pub fn remote(&self) -> SocketAddr {
        self.counted.connection.remote
    }

    /// The address of this end. A socket in the file system has none.
    pub fn local(&self) -> Option<SocketAddr> {
        self.counted.connection.wire().socket.borrow().local()
    }

    /// The times in which [`Dialer::open`] found the address and connected to it, in nanoseconds. Neither has the TLS
    /// handshake in it. Both are 0 if the connection was dialed step by step ([`Self::of`]).
    pub fn way(&self) -> [u64; 2] {
        self.way
    }

    /// Closes it in good order, as far as that needs no waiting.
    pub fn close(self) {
        self.counted.close();
    }

    /// The result of the TLS handshake with the target; without one, the result of the handshake with the proxy, if any.
    pub fn tls(&self) -> Option<TlsInfo> {
        self.counted.connection.tls_info
    }

    /// The server chose HTTP/2 while TLS was agreed on.
    pub fn is_http2(&self) -> bool {
        self.counted.connection.is_http2()
    }

    /// Reads once and gives `sink` what came, in plaintext: perhaps nothing, perhaps in several pieces. `false`: no more
    /// comes.
    ///
    /// # Errors
    /// Why the connection is of no more use.
    pub fn poll_receive(
        &mut self,
        cx: &mut Context<'_>,
        mut sink: impl FnMut(&[u8]),
    ) -> Poll<Result<bool, Failure>> {
        if self.at < self.came.len() {
            let came = std::mem::take(&mut self.came);
            sink(&came[std::mem::take(&mut self.at)..]);
            return Poll::Ready(Ok(true));
        }
        let received = ready!(self.counted.poll_receive(cx, sink))?;
        Poll::Ready(Ok(received != Received::End))
    }

    /// Writes once: says how many of the bytes were taken. Bytes that were taken may still have to be flushed.
    ///
    /// # Errors
    /// Why the connection is of no more use.
    pub fn poll_send(
        &mut self,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<Result<usize, Failure>> {
        self.counted.poll_write(cx, bytes)
    }

    /// Writes what is left of the last bytes.
    ///
    /// # Errors
    /// Why the connection is of no more use.
    pub fn poll_send_rest(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Failure>> {
        self.counted.poll_flush(cx)
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
        if !this.counted.connection.is_secure() && this.at == this.came.len() {
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
