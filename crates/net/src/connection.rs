//! One connection: a socket, and TLS on it if need be. No buffers of its own.

mod paced;
mod socket;
mod turn;
mod wire;

use std::fs::File;
use std::io::{self, IoSlice};
use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::{Context, Poll, Waker, ready};

use bytes::BufMut as _;
use tokio::io::{AsyncRead as _, AsyncReadExt as _, AsyncWrite as _, ReadBuf};

pub(crate) use self::paced::Paced;
pub(crate) use self::socket::Socket;
use self::turn::Turn;
pub use self::wire::{Letter, Sent, Wire};

use crate::endpoint::Endpoint;
use crate::failure::{Failure, Operation, from_socket, from_tls};
use crate::scratch::Scratch;
use crate::tls::{Session, State, TlsInfo};

/// The least room for reading that the scratch buffer offers beside what is left of a record: more
/// than a TLS record.
const ROOM_MIN: usize = 20 * 1024;

/// Where a connection leads: requests to the same place may share it, one after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route {
    is_secure: bool,
    port: u16,
    host: Box<str>,
}

impl Route {
    /// The way to an endpoint.
    pub fn new(endpoint: &Endpoint<'_>) -> Self {
        Self { is_secure: endpoint.is_secure, port: endpoint.port, host: endpoint.host.into() }
    }

    /// The host's name.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// It leads to this endpoint.
    #[inline]
    pub fn leads_to(&self, endpoint: &Endpoint<'_>) -> bool {
        self.is_secure == endpoint.is_secure
            && self.port == endpoint.port
            && *self.host == *endpoint.host
    }
}

/// An open connection.
#[derive(Debug)]
pub struct Connection {
    wire: Rc<Wire>,
    tls: Option<Box<Session>>,
    /// Where it leads.
    pub route: Route,
    /// The address at the other end (a proxy's, if there is one).
    pub remote: SocketAddr,
    /// The result of the TLS handshake, if it is encrypted.
    pub tls_info: Option<TlsInfo>,
    turn: Turn,
}

/// The result of one reading.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Received {
    /// This many bytes on the wire.
    Bytes(usize),
    /// No more will come.
    End,
}

impl Connection {
    pub(crate) fn new(socket: Socket, remote: SocketAddr, route: Route) -> Self {
        Self {
            wire: Rc::new(Wire::new(socket)),
            tls: None,
            route,
            remote,
            tls_info: None,
            turn: Turn::default(),
        }
    }

    /// From now on, all goes through `session`, whose handshake is done.
    pub(crate) fn secure(&mut self, session: Box<Session>) {
        self.tls_info = Some(session.info());
        self.tls = Some(session);
    }

    /// Its socket, for the outbox.
    #[inline]
    pub fn wire(&self) -> &Rc<Wire> {
        &self.wire
    }

    /// It is encrypted.
    #[inline]
    pub fn is_secure(&self) -> bool {
        self.tls.is_some()
    }

    /// The last reading came to nothing because others of the core have their turn, not because nothing is there.
    #[inline]
    pub fn rests(&self) -> bool {
        self.turn.rests()
    }

    /// The last reading left nothing in the socket.
    #[inline]
    pub fn is_drained(&self) -> bool {
        self.turn.is_drained
    }

    /// Reads once and gives what it means to `sink`, which gets plaintext (perhaps none, perhaps in
    /// several pieces). A socket that has nothing is not asked: no system call is wasted. One that always has more is
    /// read in turns, as by all that reads here: see [`turn`].
    pub fn poll_receive(
        &mut self,
        cx: &mut Context<'_>,
        scratch: &mut Scratch,
        mut sink: impl FnMut(&[u8]),
    ) -> Poll<Result<Received, Failure>> {
        let Some(session) = &mut self.tls else {
            let size = ready!(self.poll_read(cx, &mut scratch.read))?;
            if size == 0 {
                return Poll::Ready(Ok(Received::End));
            }
            sink(&scratch.read[..size]);
            return Poll::Ready(Ok(Received::Bytes(size)));
        };
        if session.is_closed() {
            return Poll::Ready(Ok(Received::End));
        }
        let kept = session.partial.len();
        scratch.make_room(kept, ROOM_MIN);
        scratch.read[..kept].copy_from_slice(&session.partial);
        let size = ready!(self.poll_read(cx, &mut scratch.read[kept..]))?;
        if size == 0 {
            // Without a farewell, but many servers do so; the framing tells if it was too early.
            return Poll::Ready(Ok(Received::End));
        }
        let session = self.tls.as_mut().expect("it was there a moment ago");
        let result = session.receive(&mut scratch.read[..kept + size], sink);
        self.flush_protocol();
        result.map_err(|error| from_tls(&error, false))?;
        Poll::Ready(Ok(Received::Bytes(size)))
    }

    /// Sends what TLS itself has to say (the answer to a key update), as far as it goes. The rest goes
    /// out with the next request.
    fn flush_protocol(&mut self) {
        let Some(session) = &mut self.tls else { return };
        if !session.unsent.is_empty() {
            // If it fails, the next write will tell.
            let sent = self.wire.socket.borrow_mut().try_write(&session.unsent).unwrap_or(0);
            session.unsent.drain(..sent);
        }
    }

    /// Reads once behind `partial`, which is put to the front of the scratch buffer. Returns how many
    /// bytes came and how many were there. For the handshake, before the connection is secure.
    pub(crate) fn poll_append(
        &mut self,
        cx: &mut Context<'_>,
        scratch: &mut Scratch,
        partial: &[u8],
    ) -> Poll<Result<(usize, usize), Failure>> {
        let kept = partial.len();
        scratch.make_room(kept, ROOM_MIN);
        scratch.read[..kept].copy_from_slice(partial);
        let size = ready!(self.poll_read(cx, &mut scratch.read[kept..]))?;
        Poll::Ready(Ok((size, kept)))
    }

    /// Reads once, what is on the wire.
    pub fn poll_read(
        &mut self,
        cx: &mut Context<'_>,
        into: &mut [u8],
    ) -> Poll<Result<usize, Failure>> {
        if self.turn.is_over(cx) {
            return Poll::Pending;
        }
        let mut buffer = ReadBuf::new(into);
        let read = Pin::new(&mut *self.wire.socket.borrow_mut()).poll_read(cx, &mut buffer);
        let Poll::Ready(read) = read else {
            self.turn.paused();
            return Poll::Pending;
        };
        read.map_err(|error| from_socket(Operation::Read, &error))?;
        self.turn.is_drained = buffer.remaining() > 0;
        Poll::Ready(Ok(buffer.filled().len()))
    }

    /// Reads at most `limit` bytes straight to the end of `into`: for long plain bodies. Returns how
    /// many; 0 is the end.
    pub fn poll_read_into(
        &mut self,
        cx: &mut Context<'_>,
        into: &mut Vec<u8>,
        limit: usize,
    ) -> Poll<Result<usize, Failure>> {
        if self.turn.is_over(cx) {
            return Poll::Pending;
        }
        let mut limited = into.limit(limit);
        let mut socket = self.wire.socket.borrow_mut();
        let read = pin!(socket.read_buf(&mut limited));
        let Poll::Ready(size) = read.poll(cx) else {
            self.turn.paused();
            return Poll::Pending;
        };
        Poll::Ready(size.map_err(|error| from_socket(Operation::Read, &error)))
    }

    /// Writes once.
    pub fn poll_write(
        &mut self,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<Result<usize, Failure>> {
        let result = ready!(Pin::new(&mut *self.wire.socket.borrow_mut()).poll_write(cx, bytes));
        Poll::Ready(result.map_err(|error| from_socket(Operation::Write, &error)))
    }

    /// Writes once, all parts in one system call.
    pub fn poll_write_slices(
        &mut self,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<Result<usize, Failure>> {
        if let [only] = slices {
            return self.poll_write(cx, only);
        }
        let result =
            ready!(Pin::new(&mut *self.wire.socket.borrow_mut()).poll_write_vectored(cx, slices));
        Poll::Ready(result.map_err(|error| from_socket(Operation::Write, &error)))
    }

    /// Lets the kernel send from the page cache: at most `limit` bytes of `file` from `offset` on, unencrypted.
    /// 0: the file ends there. The error is the system's, as it may be the file's as well as the socket's.
    pub fn poll_send_file(
        &mut self,
        cx: &mut Context<'_>,
        file: &File,
        offset: u64,
        limit: NonZeroUsize,
    ) -> Poll<io::Result<usize>> {
        let offset = usize::try_from(offset).map_err(|_| io::ErrorKind::InvalidInput)?;
        let socket = self.wire.socket.borrow();
        loop {
            ready!(socket.poll_write_ready(cx))?;
            match socket.try_to_write(|socket| socket.sendfile(file, offset, Some(limit))) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                result => return Poll::Ready(result),
            }
        }
    }

    /// Turns plaintext into what goes on the wire, at the end of `out`.
    pub fn encrypt(&mut self, plain: &[u8], out: &mut Vec<u8>) -> Result<(), Failure> {
        let session = self.tls.as_mut().expect("only a secure connection encrypts");
        out.append(&mut session.unsent);
        session.encrypt(plain, out).map_err(|error| from_tls(&error, false))
    }

    /// An idle connection is still good: nothing came, or only what TLS says to itself. Costs no
    /// system call unless something did come. Returns the bytes that came, `None` if it is dead.
    pub fn check(&mut self, scratch: &mut Scratch) -> Option<usize> {
        let kept = self.tls.as_ref().map_or(0, |session| session.partial.len());
        scratch.make_room(kept, ROOM_MIN);
        let size = match self.wire.socket.borrow_mut().try_read(&mut scratch.read[kept..]) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Some(0),
            Err(_) | Ok(0) => return None,
            Ok(size) => size,
        };
        // Plain bytes between two responses belong to neither.
        let session = self.tls.as_mut()?;
        scratch.read[..kept].copy_from_slice(&session.partial);
        let mut is_quiet = true;
        let state = session.receive(&mut scratch.read[..kept + size], |_| is_quiet = false);
        self.flush_protocol();
        (state == Ok(State::Open) && is_quiet).then_some(size)
    }

    /// Reads bytes that are there already, without waiting: for a connection whose answer is not awaited. `None`:
    /// nothing. Costs no system call unless something did come.
    pub fn try_receive(
        &mut self,
        scratch: &mut Scratch,
        sink: impl FnMut(&[u8]),
    ) -> Option<Result<Received, Failure>> {
        match self.poll_receive(&mut Context::from_waker(Waker::noop()), scratch, sink) {
            Poll::Ready(result) => Some(result),
            Poll::Pending => None,
        }
    }

    /// The server said on TLS that it sends no more.
    pub fn is_closed(&self) -> bool {
        self.tls.as_ref().is_some_and(|session| session.is_closed())
    }

    /// The server chose HTTP/2.
    pub fn is_http2(&self) -> bool {
        self.tls.as_ref().is_some_and(|session| session.alpn() == Some(b"h2"))
    }

    /// The bytes of the server from before the end of the handshake.
    pub fn take_early(&mut self) -> Vec<u8> {
        self.tls.as_mut().map(|session| std::mem::take(&mut session.early)).unwrap_or_default()
    }

    /// Says that no more will be sent.
    pub(crate) fn poll_shutdown(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.wire.socket.borrow_mut()).poll_shutdown(cx)
    }

    /// Ends both directions without waiting: for a connection that is over while others still look at it.
    pub fn hang_up(&mut self) {
        self.wire.socket.borrow_mut().hang_up();
    }

    /// Closes in good order: TLS says goodbye. Returns the bytes sent.
    pub fn say_goodbye(&mut self) -> usize {
        let Some(session) = &mut self.tls else {
            return 0;
        };
        let mut goodbye = std::mem::take(&mut session.unsent);
        session.close(&mut goodbye);
        // Best effort, as the socket is closed anyway.
        self.wire.socket.borrow_mut().try_write(&goodbye).unwrap_or(0)
    }
}
