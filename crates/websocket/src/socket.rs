//! An open connection.

use std::cell::{Cell, RefCell, RefMut};
use std::collections::VecDeque;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Context, Poll, Waker, ready};

use brunt_fiber::clock;
use brunt_fiber::core::{Chore, put_off};
use brunt_fiber::turn::{Turn, give_way};
use brunt_net::{Failure, Opened};
use fastrand::Rng;

use crate::close::Close;
use crate::decoder::{Decoder, Event, Kind, Violation};
use crate::deflate::compress;
use crate::frame::{CONTROL_MAX, Opcode, encode};

/// A buffer for writing that grew beyond this is given back.
const OUT_KEEP: usize = 64 * 1024;

/// Pongs that wait to be written: who pings without reading the answers gets no more of them.
const PONGS_MAX: usize = 1024;

/// Frames that carry nothing and answer nothing: empty parts of messages, pings, pongs without a ping. This many may
/// come at any time, and `EMPTY_EACH_SECOND` more with each second; a server that sends more floods us.
const EMPTY_MAX: u64 = 65_536;
const EMPTY_EACH_SECOND: u64 = 10_000;

/// The written part of the queue is freed when it is more than this, and more than the rest.
const WRITTEN_MAX: usize = 1 << 20;

/// How a connection came to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// By a close frame of the other side, or without one ([`Close::ABNORMAL`]).
    Closed(Close),
    /// The network failed.
    Failed(Failure),
    /// The other side broke the rules.
    Broken(Violation),
    /// We hung up.
    HungUp,
}

/// One connection. Sending only queues: what is queued is written when the core is about to rest, together with what
/// others have sent; or, where nothing is put off, by who waits for [`Socket::next`].
///
/// Pings are answered by themselves. Messages that were read and not yet taken are at most those of one reading
/// (64 KiB); what waits to be written has no limit here: see [`Socket::buffered`] and [`Socket::drained`].
///
/// Reading takes turns with the other tasks of the core, however much there is to read: [`Socket::poll_next`] is `Pending`
/// now and then although something is there.
#[derive(Debug)]
pub struct Socket {
    line: Rc<Line>,
}

/// The writer that works later.
#[derive(Debug)]
struct Line {
    state: RefCell<State>,
    /// The core will write before it rests.
    is_put_off: Cell<bool>,
}

#[derive(Debug)]
struct State {
    stream: Option<Opened>,
    decoder: Decoder,
    events: VecDeque<Event>,
    /// The bytes behind a message that is being unpacked: at most the bytes of one reading.
    rest: Vec<u8>,
    turn: Turn,
    /// When it was opened (unix ns).
    opened: u64,
    came: Came,
    /// Our own pings.
    pings_out: u64,
    /// How it ended, to be told when the events are taken.
    ended: Option<Ended>,
    out: Vec<u8>,
    /// So much of it is written.
    at: usize,
    /// Bytes of the messages in it.
    unsent: usize,
    /// Pongs in it.
    pongs: usize,
    compresses: bool,
    /// The mask of each frame is the next number: they hide nothing, and repeat with the run's seed.
    masks: Rng,
    close_sent: bool,
    /// The waker of the task that waits for an event.
    reader: Option<Waker>,
    /// The waker of the task that waits for the queue to become shorter.
    sender: Option<Waker>,
}

/// Control frames that came.
#[derive(Debug, Default)]
struct Came {
    pings: u64,
    pongs: u64,
}

/// Takes events out of bytes, until all are taken or a message is being unpacked.
fn decode(
    decoder: &mut Decoder,
    events: &mut VecDeque<Event>,
    came: &mut Came,
    bytes: &mut &[u8],
) -> Option<Violation> {
    loop {
        match decoder.next(bytes) {
            Ok(Some(event)) => {
                match &event {
                    Event::Ping(_) => came.pings += 1,
                    Event::Pong(_) => came.pongs += 1,
                    Event::Message(..) | Event::Close(_) => {}
                }
                events.push_back(event);
            }
            Ok(None) => return None,
            Err(violation) => return Some(violation),
        }
    }
}

impl Socket {
    /// `masks` is the seed of its masks.
    pub(crate) fn new(stream: Opened, compresses: bool, message_max: usize, masks: u64) -> Self {
        Self {
            line: Rc::new(Line {
                is_put_off: Cell::new(false),
                state: RefCell::new(State {
                    stream: Some(stream),
                    decoder: Decoder::new(false, compresses, message_max),
                    events: VecDeque::new(),
                    rest: Vec::new(),
                    turn: Turn::default(),
                    opened: clock::now_ns(),
                    came: Came::default(),
                    pings_out: 0,
                    ended: None,
                    out: Vec::new(),
                    at: 0,
                    unsent: 0,
                    pongs: 0,
                    compresses,
                    masks: Rng::with_seed(masks),
                    close_sent: false,
                    reader: None,
                    sender: None,
                }),
            }),
        }
    }

    fn state(&self) -> RefMut<'_, State> {
        self.line.state.borrow_mut()
    }

    /// Something was queued: whoever writes it has to know.
    fn queued(&self, is_queued: bool) -> bool {
        if !is_queued || self.is_put_off() {
            return is_queued;
        }
        if put_off(Rc::clone(&self.line) as Rc<dyn Chore>) {
            self.line.is_put_off.set(true);
        } else if let Some(waker) = &self.state().reader {
            waker.wake_by_ref();
        }
        true
    }

    /// Queues a message. `false`: we have closed, or the connection has ended.
    pub fn send(&self, kind: Kind, payload: &[u8]) -> bool {
        let opcode = if kind == Kind::Text { Opcode::Text } else { Opcode::Binary };
        let mut state = self.state();
        let is_queued = if state.compresses && !state.close_sent {
            let packed = compress(payload);
            state.push(opcode, &packed, true)
        } else {
            state.push(opcode, payload, false)
        };
        if is_queued {
            state.unsent += payload.len();
        }
        drop(state);
        self.queued(is_queued)
    }

    /// Queues a ping with at most 125 bytes.
    pub fn ping(&self, payload: &[u8]) -> bool {
        let payload = &payload[..payload.len().min(CONTROL_MAX)];
        let mut state = self.state();
        let is_queued = state.push(Opcode::Ping, payload, false);
        state.pings_out += u64::from(is_queued);
        drop(state);
        self.queued(is_queued)
    }

    /// Queues a close frame; nothing can be sent after it. 1005: a frame without a code.
    pub fn close(&self, code: u16, reason: &str) -> bool {
        let mut state = self.state();
        let is_first = state.push_close(code, reason);
        state.close_sent = true;
        drop(state);
        self.queued(is_first)
    }

    /// Whether it is still open.
    pub fn is_open(&self) -> bool {
        self.line.state.borrow().stream.is_some()
    }

    /// Bytes that wait to be written.
    pub fn buffered(&self) -> usize {
        let state = self.line.state.borrow();
        state.out.len() - state.at
    }

    /// Bytes of the messages since the queue was last empty: without frames, before compression.
    pub fn unsent(&self) -> usize {
        self.line.state.borrow().unsent
    }

    /// Whether the core will write the queue by itself as soon as it is about to rest.
    pub fn is_put_off(&self) -> bool {
        self.line.is_put_off.get()
    }

    /// Writes what the connection takes at once.
    pub fn flush_now(&self) {
        self.state().flush_now();
    }

    /// Waits until at most `most` bytes are queued, or the connection has ended.
    pub async fn drained(&self, most: usize) {
        poll_fn(|cx| {
            let mut state = self.state();
            if let Poll::Ready(Err(failure)) = state.poll_out(cx) {
                state.end(Ended::Failed(failure));
            }
            if state.out.len() - state.at <= most {
                return Poll::Ready(());
            }
            state.sender = Some(cx.waker().clone());
            Poll::Pending
        })
        .await;
    }

    /// Writes what is queued, for who doesn't want to hear of events now. The next call of [`Self::poll_next`] tells how
    /// it went.
    pub fn poll_flush(&self, cx: &mut Context<'_>) {
        let mut state = self.state();
        state.reader = Some(cx.waker().clone());
        if let Poll::Ready(Err(failure)) = state.poll_out(cx) {
            state.end(Ended::Failed(failure));
        }
    }

    /// Ends it here and now.
    pub fn hang_up(&self) {
        self.state().end(Ended::HungUp);
    }

    /// The next message, ping or pong; never [`Event::Close`].
    ///
    /// # Errors
    /// How it ended.
    pub async fn next(&self) -> Result<Event, Ended> {
        poll_fn(|cx| self.poll_next(cx)).await
    }

    /// [`Self::next`], for who waits for something else, too.
    ///
    /// # Errors
    /// How it ended.
    pub fn poll_next(&self, cx: &mut Context<'_>) -> Poll<Result<Event, Ended>> {
        let state = &mut *self.state();
        loop {
            if !self.line.is_put_off.get()
                && let Poll::Ready(Err(failure)) = state.poll_out(cx)
            {
                // Messages that came before can still be taken.
                state.end(Ended::Failed(failure));
            }
            if !state.events.is_empty() {
                if state.turn.is_over(Turn::THING) {
                    give_way(cx);
                    return Poll::Pending;
                }
                if let Some(event) = state.events.pop_front() {
                    return Poll::Ready(Ok(event));
                }
            }
            if let Some(ended) = &state.ended {
                return Poll::Ready(Err(ended.clone()));
            }
            match &mut state.reader {
                Some(waker) => waker.clone_from(cx.waker()),
                none => *none = Some(cx.waker().clone()),
            }
            let Poll::Ready(units) = state.poll_in(cx) else {
                state.turn.rest();
                return Poll::Pending;
            };
            if state.turn.is_over(units) {
                give_way(cx);
                return Poll::Pending;
            }
        }
    }
}

impl Chore for Line {
    fn carry_out(&self) {
        self.is_put_off.set(false);
        // Borrowed by whoever writes just now.
        let Ok(mut state) = self.state.try_borrow_mut() else { return };
        state.flush_now();
        // Bytes that the connection didn't take are written by the reader.
        if !state.out.is_empty()
            && let Some(waker) = &state.reader
        {
            waker.wake_by_ref();
        }
    }
}

impl State {
    fn flush_now(&mut self) {
        if let Poll::Ready(Err(failure)) = self.poll_out(&mut Context::from_waker(Waker::noop())) {
            self.end(Ended::Failed(failure));
        }
    }

    fn push(&mut self, opcode: Opcode, payload: &[u8], is_compressed: bool) -> bool {
        if self.close_sent || self.stream.is_none() {
            return false;
        }
        encode(
            &mut self.out,
            opcode,
            payload,
            Some(self.masks.u32(..).to_be_bytes()),
            is_compressed,
        );
        true
    }

    fn push_close(&mut self, code: u16, reason: &str) -> bool {
        if code == Close::NO_STATUS {
            return self.push(Opcode::Close, &[], false);
        }
        let mut payload = Vec::from(code.to_be_bytes());
        let mut end = reason.len().min(Close::REASON_MAX);
        while !reason.is_char_boundary(end) {
            end -= 1;
        }
        payload.extend_from_slice(&reason.as_bytes()[..end]);
        self.push(Opcode::Close, &payload, false)
    }

    /// Writes what is queued.
    fn poll_out(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Failure>> {
        let Some(stream) = &mut self.stream else { return Poll::Ready(Ok(())) };
        if self.out.is_empty() {
            return stream.poll_send_rest(cx);
        }
        while self.at < self.out.len() {
            let Poll::Ready(written) = stream.poll_send(cx, &self.out[self.at..]) else {
                // A queue that is never empty must not keep what was written of it.
                if self.at > WRITTEN_MAX && self.at > self.out.len() / 2 {
                    self.out.drain(..self.at);
                    self.at = 0;
                }
                return Poll::Pending;
            };
            self.at += written?;
            if let Some(waker) = self.sender.take() {
                waker.wake();
            }
        }
        self.out.clear();
        self.at = 0;
        self.unsent = 0;
        self.pongs = 0;
        if self.out.capacity() > OUT_KEEP {
            self.out = Vec::new();
        }
        stream.poll_send_rest(cx)
    }

    /// Queues the answers to what came. Gives back the goodbye that is among it.
    fn answer(&mut self) -> Option<Close> {
        let mut closed = None;
        for at in 0..self.events.len() {
            match &self.events[at] {
                Event::Ping(payload) => {
                    if self.pongs < PONGS_MAX {
                        let payload = payload.clone();
                        self.pongs += usize::from(self.push(Opcode::Pong, &payload, false));
                    }
                }
                Event::Close(close) => closed = Some(close.clone()),
                Event::Message(..) | Event::Pong(_) => {}
            }
        }
        closed
    }

    /// Whether more came that carries nothing than any honest server sends.
    fn is_flooded(&self) -> bool {
        let unasked = self.came.pongs.saturating_sub(self.pings_out);
        let empty = self.decoder.counts().1 + self.came.pings + unasked;
        if empty <= EMPTY_MAX {
            return false;
        }
        let seconds = clock::now_ns().saturating_sub(self.opened) / 1_000_000_000;
        empty > EMPTY_MAX + EMPTY_EACH_SECOND.saturating_mul(seconds)
    }

    /// Reads once, or goes on with what was read. Gives what it cost.
    fn poll_in(&mut self, cx: &mut Context<'_>) -> Poll<u32> {
        let Some(stream) = &mut self.stream else { return Poll::Ready(0) };
        let (decoder, events, came) = (&mut self.decoder, &mut self.events, &mut self.came);
        let before = decoder.counts().0;
        let mut units = 0;
        let mut violation = None;
        let mut received = Ok(true);
        if decoder.is_unpacking() || !self.rest.is_empty() {
            let rest = std::mem::take(&mut self.rest);
            let mut left = &rest[..];
            violation = decode(decoder, events, came, &mut left);
            // A slice of a message that is unpacked is a good part of a turn.
            units += Turn::bytes(64 * 1024);
            self.rest = left.to_vec();
        } else {
            let rest = &mut self.rest;
            received = ready!(stream.poll_receive(cx, |mut bytes| {
                units += Turn::bytes(bytes.len());
                if violation.is_none() && rest.is_empty() {
                    violation = decode(decoder, events, came, &mut bytes);
                }
                if violation.is_none() {
                    rest.extend_from_slice(bytes);
                }
            }));
        }
        let frames = self.decoder.counts().0 - before;
        units += u32::try_from(frames / 64).unwrap_or(u32::MAX / 2);
        if violation.is_none() && self.is_flooded() {
            violation = Some(Violation::Flood);
        }
        if let Some(close) = self.answer() {
            // It is the last.
            self.events.pop_back();
            self.push_close(close.code, "");
            self.say_goodbye(cx);
            self.end(Ended::Closed(close));
        } else if let Some(violation) = violation {
            self.push_close(violation.close_code(), "");
            self.say_goodbye(cx);
            self.end(Ended::Broken(violation));
        } else {
            match received {
                Ok(true) => {}
                // A message that came before is still being unpacked; the end is told again.
                Ok(false) if self.decoder.is_unpacking() => {}
                Ok(false) => self.end(Ended::Closed(Close::abnormal())),
                Err(failure) => self.end(Ended::Failed(failure)),
            }
        }
        Poll::Ready(units)
    }

    /// Writes what goes at once: the other side may not read any more.
    fn say_goodbye(&mut self, cx: &mut Context<'_>) {
        if let Poll::Ready(Err(_)) = self.poll_out(cx) {
            self.out.clear();
            self.at = 0;
        }
    }

    fn end(&mut self, how: Ended) {
        self.ended.get_or_insert(how);
        if let Some(stream) = self.stream.take() {
            stream.close();
        }
        self.out = Vec::new();
        self.rest = Vec::new();
        self.decoder.give_up();
        self.at = 0;
        self.unsent = 0;
        for waker in [self.reader.take(), self.sender.take()].into_iter().flatten() {
            waker.wake();
        }
    }
}

#[cfg(test)]
mod tests {
    use brunt_http::{Client, Network, Settings, Target};
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::{TcpListener, TcpStream};

    use super::*;
    use crate::handshake::{Asked, accept_of, connect};

    /// A socket whose other end agreed to it and says nothing.
    async fn connected() -> (Socket, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let client = Rc::new(Client::new(Network::new(Settings::default(), || 0).unwrap(), None));
        let target = Target::parse(&url).unwrap();
        let asked = Asked {
            target: &target,
            agent: "",
            headers: &[],
            host: None,
            compression: false,
            deadline: 10_000_000_000,
            message_max: 1 << 20,
        };
        let server = async {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                head.push(stream.read_u8().await.unwrap());
            }
            let head = String::from_utf8(head).unwrap();
            let key = head.lines().find_map(|line| line.strip_prefix("Sec-WebSocket-Key: "));
            let answer = format!(
                "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
                 Sec-WebSocket-Accept: {}\r\n\r\n",
                accept_of(key.unwrap())
            );
            stream.write_all(answer.as_bytes()).await.unwrap();
            stream
        };
        let (connected, stream) = tokio::join!(connect(&client, &asked), server);
        (connected.outcome.unwrap().socket, stream)
    }

    #[tokio::test]
    async fn who_pings_without_reading_gets_no_more_than_so_many_pongs() {
        let (socket, _stream) = connected().await;
        let mut state = socket.state();
        for _ in 0..3 {
            state.events = (0..1000).map(|_| Event::Ping(vec![7; 125])).collect();
            assert_eq!(state.answer(), None);
        }
        assert_eq!(state.pongs, PONGS_MAX);
        // Two bytes of a head, four of a mask, and the payload.
        assert_eq!(state.out.len(), PONGS_MAX * (2 + 4 + 125));
        state.events.push_back(Event::Close(Close::abnormal()));
        assert_eq!(state.answer(), Some(Close::abnormal()));
    }

    #[tokio::test]
    async fn pongs_count_as_a_flood_unless_they_were_asked_for() {
        let (socket, _stream) = connected().await;
        let mut state = socket.state();
        state.came.pongs = EMPTY_MAX * 2;
        assert!(state.is_flooded());
        state.pings_out = EMPTY_MAX * 2;
        assert!(!state.is_flooded());
        state.came.pings = EMPTY_MAX * 2;
        assert!(state.is_flooded());
        // Such a connection has been open for long.
        state.opened = state.opened.saturating_sub(3600 * 1_000_000_000);
        assert!(!state.is_flooded());
    }

    #[tokio::test]
    async fn what_was_written_of_a_queue_that_never_ends_is_let_go() {
        let (socket, _stream) = connected().await;
        for _ in 0..200 {
            assert!(socket.send(Kind::Binary, &vec![0; 256 * 1024]));
            socket.flush_now();
        }
        let state = socket.state();
        // The other end reads nothing: what the system took is at most a few MiB.
        assert!(state.out.len() - state.at > 20 << 20);
        assert!(state.at <= WRITTEN_MAX.max(state.out.len() / 2));
    }
}
