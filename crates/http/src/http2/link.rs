//! A connection that speaks HTTP/2, with a socket.

use std::cell::RefCell;
use std::net::SocketAddr;
use std::task::{Context, Poll, ready};

use brunt_net::clock::Clock;
use brunt_net::{Connection, Meter, Network, Received, Scratch, TlsInfo};

use super::protocol::Protocol;
use crate::failure::Failure;

/// Buffers that grew beyond this are given back when they are empty.
const KEEP: usize = 1024;

/// A connection for many requests at once. Each of them reads the socket while it is polled, and tells the others what
/// came for them: there is no task that drives it.
///
/// ```text
/// Running (stream 1) ─┐ polled: writes and reads for all
/// Running (stream 3) ─┼─► Link ─ Protocol ─ Connection
/// Running (stream 5) ─┘          └─► wakes the others
/// ```
///
/// The socket wakes who read last; when that one leaves, it wakes another, who reads then.
#[derive(Debug)]
pub(crate) struct Link {
    pub(super) inner: RefCell<Inner>,
    pub(crate) remote: SocketAddr,
    pub(crate) tls: Option<TlsInfo>,
    /// The bytes that went and came while it belonged to no client: they count as those of the next.
    between: Meter,
}

#[derive(Debug)]
pub(super) struct Inner {
    pub(super) connection: Connection,
    pub(super) protocol: Protocol,
    /// The bytes that the socket didn't take, from `unsent_at` on; ciphertext if the connection is secure.
    unsent: Vec<u8>,
    unsent_at: usize,
    /// The stream whose task the socket wakes.
    pub(super) reader: u32,
    /// Nothing can be written any more: why.
    pub(super) broken: Option<Failure>,
    /// A task is at work here. It stays so after a panic: then no other task begins.
    pub(super) is_busy: bool,
}

impl Link {
    /// Begins HTTP/2 on a connection. Nothing is sent before the first request.
    pub(crate) fn new(mut connection: Connection, clock: Clock, head_limit: usize) -> Self {
        let mut protocol = Protocol::new(clock, head_limit);
        protocol.take(&connection.take_early());
        Self::of(connection, protocol)
    }

    /// The same for a [`Line`](super::Line), whose user takes the bodies bit by bit: bytes that were not taken yet count
    /// towards the window of all streams.
    pub(super) fn narrow(
        connection: Connection,
        clock: Clock,
        head_limit: usize,
        window_of_all: u32,
    ) -> Self {
        Self::of(connection, Protocol::narrow(clock, head_limit, window_of_all))
    }

    fn of(connection: Connection, protocol: Protocol) -> Self {
        let (remote, tls) = (connection.remote, connection.tls_info);
        let inner = Inner {
            connection,
            protocol,
            unsent: Vec::new(),
            unsent_at: 0,
            reader: 0,
            broken: None,
            is_busy: false,
        };
        Self { inner: RefCell::new(inner), remote, tls, between: Meter::default() }
    }

    /// It can still be used, as far as we know.
    pub(crate) fn is_open(&self) -> bool {
        self.inner.borrow().is_open()
    }

    /// Reads bytes that came while no task waited, to learn if it can still be used.
    pub(crate) fn check(&self, network: &Network, meter: &Meter) -> bool {
        let mut inner = self.inner.borrow_mut();
        let (sent, received) = self.between.take();
        meter.sent(sent as usize);
        meter.received(received as usize);
        if inner.protocol.is_idle() && inner.is_open() {
            inner.catch_up(&mut network.scratch.borrow_mut(), meter);
        }
        inner.is_open()
    }

    /// Answers questions of the server that came while no task waited. `false`: it can't be used any more.
    pub(crate) fn tend(&self, network: &Network) -> bool {
        let mut inner = self.inner.borrow_mut();
        if inner.protocol.is_idle() && inner.is_open() {
            let scratch = &mut network.scratch.borrow_mut();
            inner.catch_up(scratch, &self.between);
            if !inner.protocol.out.is_empty() {
                inner.flush(scratch, &self.between);
            }
        }
        inner.is_open()
    }

    /// Says goodbye, unless somebody waits for something. Returns the bytes sent.
    pub(crate) fn close(&self) -> usize {
        let mut inner = self.inner.borrow_mut();
        if !inner.protocol.is_idle() {
            return 0;
        }
        inner.protocol.ended(None);
        inner.connection.say_goodbye()
    }
}

impl Inner {
    fn is_open(&self) -> bool {
        self.protocol.is_open() && self.broken.is_none() && !self.is_busy
    }

    fn catch_up(&mut self, scratch: &mut Scratch, meter: &Meter) {
        while self.protocol.is_open() {
            let Self { connection, protocol, .. } = self;
            match connection.try_receive(scratch, |bytes| protocol.take(bytes)) {
                None => return,
                Some(Ok(Received::Bytes(size))) => meter.received(size),
                Some(Ok(Received::End)) => protocol.ended(None),
                Some(Err(failure)) => protocol.ended(Some(failure.into())),
            }
        }
    }

    /// Nothing waits for the socket.
    pub(super) fn is_flushed(&self) -> bool {
        self.broken.is_some()
            || (self.unsent_at == self.unsent.len() && self.protocol.out.is_empty())
    }

    /// Writes what there is to write. A socket that takes nothing more may still have something to read.
    pub(super) fn poll_flush(
        &mut self,
        cx: &mut Context<'_>,
        scratch: &mut Scratch,
        meter: &Meter,
    ) -> Poll<()> {
        if self.broken.is_some() {
            return Poll::Ready(());
        }
        if let Err(failure) = ready!(self.poll_write(cx, scratch, meter)) {
            self.broken = Some(failure);
        }
        Poll::Ready(())
    }

    fn poll_write(
        &mut self,
        cx: &mut Context<'_>,
        scratch: &mut Scratch,
        meter: &Meter,
    ) -> Poll<Result<(), Failure>> {
        loop {
            while self.unsent_at < self.unsent.len() {
                let rest = &self.unsent[self.unsent_at..];
                let size = ready!(self.connection.poll_write(cx, rest))?;
                meter.sent(size);
                self.unsent_at += size;
            }
            if !self.unsent.is_empty() {
                self.unsent = Vec::new();
                self.unsent_at = 0;
            }
            let out = &mut self.protocol.out;
            if out.is_empty() {
                return Poll::Ready(Ok(()));
            }
            scratch.clear_writing();
            let wire = if self.connection.is_secure() {
                self.connection.encrypt(out, &mut scratch.cipher)?;
                &scratch.cipher
            } else {
                &*out
            };
            let size = match self.connection.poll_write(cx, wire) {
                Poll::Ready(size) => size?,
                Poll::Pending => 0,
            };
            meter.sent(size);
            self.unsent.extend_from_slice(&wire[size..]);
            self.protocol.went_out();
            let out = &mut self.protocol.out;
            if out.capacity() > KEEP {
                *out = Vec::new();
            }
        }
    }

    /// Writes what the socket takes at once.
    pub(super) fn flush(&mut self, scratch: &mut Scratch, meter: &Meter) {
        let mut cx = Context::from_waker(std::task::Waker::noop());
        // Bytes that it doesn't take go out with the next request.
        let _ = self.poll_flush(&mut cx, scratch, meter);
    }
}
