//! The connection as packets: whole ones in, any bytes out.

use std::future::poll_fn;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use brunt_fiber::turn::{Turn, given_way};
use brunt_net::{Offer, Opened};
use tokio::time::timeout;

use super::packet::{HEAD, PART_MAX, malformed};
use super::squeezed::Squeezed;
use crate::failure::{Failure, Trouble};

/// The longest packet, in all its parts: a server's `max_allowed_packet` cannot be larger. A longer one ends the connection.
const PACKET_MAX: usize = 1 << 30;

/// The most bytes that are taken in while bytes go out: a server that talks more is read when it is its turn.
const AHEAD_MAX: usize = 1 << 20;

/// Buffers that grew beyond this are given back between statements.
const KEEP: usize = 32 * 1024;

/// A socket, its packets, and the bytes that were counted.
#[derive(Debug)]
pub(super) struct Wire {
    stream: Option<Opened>,
    received: Vec<u8>,
    /// The packets before this place were read.
    at: usize,
    /// The number that the next packet must have.
    sequence: u8,
    /// Sent, received.
    counts: [u64; 2],
    /// How long one reading may wait, and one writing; zero: no limit.
    limits: [Duration; 2],
    squeezed: Option<Box<Squeezed>>,
    turn: Turn,
}

/// The connection is gone: the Go driver's words.
pub(super) fn gone() -> Failure {
    Failure::new(Trouble::Broken, "invalid connection")
}

fn overdue() -> Failure {
    Failure::new(Trouble::Timeout, "invalid connection")
}

/// The part of the buffer that holds a packet, without its head.
pub(super) type Place = (usize, usize);

impl Wire {
    pub(super) fn new(stream: Opened, limits: [Duration; 2]) -> Self {
        Self {
            stream: Some(stream),
            received: Vec::new(),
            at: 0,
            sequence: 0,
            counts: [0; 2],
            limits,
            squeezed: None,
            turn: Turn::default(),
        }
    }

    /// Goes on in TLS. Bytes that came and were not read are an error.
    pub(super) async fn secure(&mut self, host: &str) -> Result<(), brunt_net::Failure> {
        let Some(stream) = self.stream.take().filter(|_| self.at == self.received.len()) else {
            return Err(brunt_net::Failure::NoTls);
        };
        self.stream = Some(stream.secure(host, Offer::Nothing).await?);
        Ok(())
    }

    pub(super) fn is_secure(&self) -> bool {
        self.stream.as_ref().is_some_and(|stream| stream.tls().is_some())
    }

    /// From now on packets travel compressed.
    pub(super) fn squeeze(&mut self) {
        self.squeezed = Some(Box::default());
    }

    /// The number that the next packet must have.
    pub(super) fn expect(&mut self, sequence: u8) {
        self.sequence = sequence;
    }

    /// The number that the next packet has, whoever sends it.
    pub(super) fn sequence(&self) -> u8 {
        self.sequence
    }

    pub(super) fn take_counts(&mut self) -> (u64, u64) {
        let [sent, received] = std::mem::take(&mut self.counts);
        (sent, received)
    }

    /// The buffer, for a packet's [`Place`].
    #[inline]
    pub(super) fn bytes(&self) -> &[u8] {
        &self.received
    }

    /// Waits for a packet. Places of earlier packets mean nothing any more.
    #[inline]
    pub(super) async fn packet(&mut self) -> Result<Place, Failure> {
        loop {
            match self.whole()? {
                Some(place) => return Ok(place),
                None => self.fill().await?,
            }
        }
    }

    /// The next packet, if it has come whole. Places of earlier packets keep their meaning.
    #[inline]
    pub(super) fn whole(&mut self) -> Result<Option<Place>, Failure> {
        let from = self.at + HEAD;
        let Some(head) = self.received.get(self.at..from) else { return Ok(None) };
        let size = u32::from_le_bytes([head[0], head[1], head[2], 0]) as usize;
        if size >= PART_MAX {
            return self.joined();
        }
        let (sequence, to) = (head[3], from + size);
        if self.received.len() < to {
            return Ok(None);
        }
        self.count(sequence)?;
        self.at = to;
        Ok(Some((from, to)))
    }

    #[inline]
    fn count(&mut self, sequence: u8) -> Result<(), Failure> {
        if sequence != self.sequence && self.squeezed.is_none() {
            return Err(self.out_of_order(sequence));
        }
        self.sequence = sequence.wrapping_add(1);
        Ok(())
    }

    #[cold]
    fn out_of_order(&self, sequence: u8) -> Failure {
        let text = if sequence > self.sequence {
            "commands out of sync. Did you run multiple statements at once?"
        } else {
            "commands out of sync. You can't run this command now"
        };
        Failure::new(Trouble::Protocol, text)
    }

    /// A packet in parts: the heads between them are taken out.
    #[cold]
    fn joined(&mut self) -> Result<Option<Place>, Failure> {
        let (mut at, mut parts, mut total) = (self.at, Vec::new(), 0);
        loop {
            let Some(head) = self.received.get(at..at + HEAD) else { return Ok(None) };
            let size = u32::from_le_bytes([head[0], head[1], head[2], 0]) as usize;
            total += size;
            if total > PACKET_MAX {
                return Err(malformed());
            }
            parts.push((at + HEAD, size, head[3]));
            at += HEAD + size;
            if size < PART_MAX {
                break;
            }
        }
        if self.received.len() < at {
            return Ok(None);
        }
        let from = self.at + HEAD;
        let mut to = from;
        for (part, size, sequence) in parts {
            self.count(sequence)?;
            self.received.copy_within(part..part + size, to);
            to += size;
        }
        self.at = at;
        Ok(Some((from, to)))
    }

    /// Waits for more bytes.
    pub(super) async fn fill(&mut self) -> Result<(), Failure> {
        if self.at == self.received.len() {
            self.received.clear();
        } else if self.at > 0 {
            self.received.drain(..self.at);
        }
        self.at = 0;
        let before = self.received.len();
        let limit = self.limits[0];
        let reading = poll_fn(|cx| self.poll_fill(cx));
        if limit.is_zero() {
            reading.await?;
        } else {
            timeout(limit, reading).await.map_err(|_| overdue())??;
        }
        let came = self.received.len() - before;
        if self.turn.is_over(Turn::bytes(came) + Turn::THING) {
            given_way().await;
        }
        Ok(())
    }

    fn poll_fill(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Failure>> {
        let Self { stream: Some(stream), received, squeezed, counts, .. } = self else {
            return Poll::Ready(Err(gone()));
        };
        let into = match squeezed {
            Some(squeezed) => squeezed.came(),
            None => &mut *received,
        };
        let before = into.len();
        let came =
            std::task::ready!(stream.poll_receive(cx, |bytes| into.extend_from_slice(bytes)));
        counts[1] += (into.len() - before) as u64;
        if let Some(squeezed) = squeezed {
            squeezed.unpack(received)?;
        }
        Poll::Ready(match came {
            Ok(true) => Ok(()),
            Ok(false) | Err(_) => Err(gone()),
        })
    }

    /// Sends packets whole. The number of the next packet is the one that [`Self::expect`] says.
    pub(super) async fn send(&mut self, packets: &[u8]) -> Result<(), Failure> {
        let packed = self.squeezed.as_mut().map(|squeezed| squeezed.pack(packets));
        let bytes = packed.as_deref().unwrap_or(packets);
        let limit = self.limits[1];
        let writing = self.write(bytes);
        if limit.is_zero() {
            writing.await
        } else {
            timeout(limit, writing).await.map_err(|_| overdue())?
        }
    }

    /// A command begins: compressed frames are counted anew.
    pub(super) fn begin(&mut self) {
        if let Some(squeezed) = &mut self.squeezed {
            squeezed.begin();
        }
    }

    async fn write(&mut self, mut bytes: &[u8]) -> Result<(), Failure> {
        poll_fn(|cx| {
            while !bytes.is_empty() {
                let stream = self.stream.as_mut().ok_or_else(gone)?;
                match stream.poll_send(cx, bytes) {
                    Poll::Ready(Ok(size)) if size > 0 => {
                        self.counts[0] += size as u64;
                        bytes = &bytes[size..];
                    }
                    Poll::Ready(_) => return Poll::Ready(Err(gone())),
                    Poll::Pending => return self.poll_ahead(cx),
                }
            }
            let stream = self.stream.as_mut().ok_or_else(gone)?;
            match stream.poll_send_rest(cx) {
                Poll::Ready(rest) => Poll::Ready(rest.map_err(|_| gone())),
                Poll::Pending => self.poll_ahead(cx),
            }
        })
        .await
    }

    /// The server does not read on: perhaps it wants to be read first. A server that has gone is noticed by writing.
    fn poll_ahead(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Failure>> {
        while self.received.len() - self.at < AHEAD_MAX {
            match self.poll_fill(cx) {
                Poll::Ready(Ok(())) => {}
                // Its last words are read in their time: a refusal of a packet that is too long.
                Poll::Ready(Err(_)) if self.at < self.received.len() => return Poll::Ready(Ok(())),
                Poll::Ready(Err(failure)) => return Poll::Ready(Err(failure)),
                Poll::Pending => break,
            }
        }
        Poll::Pending
    }

    /// Whether bytes came that were not read yet.
    pub(super) fn has_unread(&self) -> bool {
        self.at < self.received.len()
    }

    /// Whether the server has closed the connection or said something unasked: a look that does not wait.
    pub(super) fn is_stale(&mut self) -> bool {
        if self.has_unread() {
            return true;
        }
        let mut cx = Context::from_waker(Waker::noop());
        let Some(stream) = &mut self.stream else { return true };
        // TLS has something to say now and then that is no data: twice is enough for one look.
        for _ in 0..2 {
            let mut is_quiet = true;
            match stream.poll_receive(&mut cx, |bytes| is_quiet &= bytes.is_empty()) {
                Poll::Pending => return false,
                Poll::Ready(Ok(true)) if is_quiet && stream.tls().is_some() => {}
                Poll::Ready(_) => return true,
            }
        }
        false
    }

    /// A statement is over: large buffers are given back.
    pub(super) fn rest(&mut self) {
        if self.at == self.received.len() {
            self.received.clear();
            self.at = 0;
            if self.received.capacity() > KEEP {
                self.received = Vec::new();
            }
        }
        self.turn.rest();
    }

    /// Swaps the buffer for another, which takes what lies behind `end`. The bytes before it go with the old buffer.
    pub(super) fn swap(&mut self, other: &mut Vec<u8>, end: usize) {
        other.clear();
        other.extend_from_slice(&self.received[end..]);
        std::mem::swap(&mut self.received, other);
        other.truncate(end);
        self.at -= end;
    }

    /// Closes it in good order, as far as that needs no waiting.
    pub(super) fn close(mut self, farewell: &[u8]) {
        if let Some(mut stream) = self.stream.take() {
            let mut cx = Context::from_waker(Waker::noop());
            let packed = self.squeezed.as_mut().map(|squeezed| {
                squeezed.begin();
                squeezed.pack(farewell)
            });
            let _ = stream.poll_send(&mut cx, packed.as_deref().unwrap_or(farewell));
            stream.close();
        }
    }
}
