//! When a connection was asked for and came about, and the bytes that went over it.

use std::cell::Cell;
use std::net::SocketAddr;

use crate::clock::Clock;

/// All bytes of one client, kept even for connections that were given up.
#[derive(Debug, Default)]
pub struct Meter {
    sent: Cell<u64>,
    received: Cell<u64>,
}

impl Meter {
    /// The counts since the last call: (sent, received).
    pub fn take(&self) -> (u64, u64) {
        (self.sent.take(), self.received.take())
    }

    /// `bytes` bytes went to a socket.
    #[inline]
    pub fn sent(&self, bytes: usize) {
        self.sent.set(self.sent.get() + bytes as u64);
    }

    /// `bytes` bytes came from a socket.
    #[inline]
    pub fn received(&self, bytes: usize) {
        self.received.set(self.received.get() + bytes as u64);
    }
}

/// The moments of dialling as they pass, in nanoseconds of the clock (0: not yet), and the bytes.
#[derive(Copy, Clone, Debug)]
pub struct Moments<'c> {
    clock: Clock,
    meter: &'c Meter,
    /// When the connection was last asked for: a retry asks again.
    pub asked: u64,
    /// The address was known.
    pub connect_from: u64,
    /// The socket was open.
    pub connected: u64,
    /// The TLS handshake began.
    pub tls_from: u64,
    /// The TLS handshake was over.
    pub tls_done: u64,
    /// Bytes written to the socket.
    pub bytes_sent: u64,
    /// Bytes read from the socket.
    pub bytes_received: u64,
    /// Whom we talk to, once connected (a proxy, if there is one).
    pub remote: Option<SocketAddr>,
    /// Whom we dialed.
    pub dialed: Option<SocketAddr>,
}

impl<'c> Moments<'c> {
    /// A connection is asked for now.
    #[inline]
    pub fn start(clock: Clock, meter: &'c Meter) -> Self {
        Self {
            clock,
            meter,
            asked: clock(),
            connect_from: 0,
            connected: 0,
            tls_from: 0,
            tls_done: 0,
            bytes_sent: 0,
            bytes_received: 0,
            remote: None,
            dialed: None,
        }
    }

    /// The moment now, by its clock.
    #[inline]
    pub fn now(&self) -> u64 {
        (self.clock)()
    }

    /// All bytes of the client are counted here.
    #[inline]
    pub fn meter(&self) -> &'c Meter {
        self.meter
    }

    /// `bytes` bytes went to the socket.
    #[inline]
    pub fn sent(&mut self, bytes: usize) {
        self.bytes_sent += bytes as u64;
        self.meter.sent(bytes);
    }

    /// `bytes` bytes came from the socket.
    #[inline]
    pub fn received(&mut self, bytes: usize) {
        self.bytes_received += bytes as u64;
        self.meter.received(bytes);
    }

    /// How long it took to find the address, and then to connect, in nanoseconds.
    pub fn way(&self) -> [u64; 2] {
        let found = self.connect_from.saturating_sub(self.asked);
        [found, self.connected.saturating_sub(self.connect_from)]
    }

    pub(crate) fn connecting(&mut self) {
        self.connect_from = self.now();
    }

    pub(crate) fn connected(&mut self, remote: SocketAddr) {
        self.connected = self.now();
        self.remote = Some(remote);
    }

    pub(crate) fn handshaking(&mut self) {
        self.tls_from = self.now();
    }

    pub(crate) fn handshaken(&mut self) {
        self.tls_done = self.now();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    thread_local!(static TICK: Cell<u64> = const { Cell::new(0) });

    /// Each look at this clock is ten later than the last.
    fn tick() -> u64 {
        TICK.set(TICK.get() + 10);
        TICK.get()
    }

    #[test]
    fn the_way_is_told_in_two_parts_and_all_bytes_count_as_the_clients() {
        let meter = Meter::default();
        let mut moments = Moments::start(tick, &meter);
        moments.now();
        moments.connecting();
        moments.connected("127.0.0.1:1".parse().unwrap());
        assert_eq!(moments.way(), [20, 10]);
        moments.sent(5);
        moments.received(7);
        assert_eq!((moments.bytes_sent, moments.bytes_received), (5, 7));
        assert_eq!((meter.take(), meter.take()), ((5, 7), (0, 0)));
    }

    #[test]
    fn what_was_not_reached_has_taken_no_time() {
        let meter = Meter::default();
        let mut moments = Moments::start(tick, &meter);
        assert_eq!(moments.way(), [0, 0]);
        moments.connecting();
        assert_eq!(moments.way(), [10, 0]);
    }
}
