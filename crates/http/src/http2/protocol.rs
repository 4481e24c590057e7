//! The client's side of a connection: bytes in, bytes out; no socket, no waiting.

mod incoming;
mod patience;

use std::collections::VecDeque;
use std::task::Waker;

use brunt_net::clock::Clock;
use brunt_net::{Excerpt, Failure as Broken, Operation, Truncated};

use self::patience::Patience;
use super::asked::Asked;
use super::frame::{self, Head, flag, kind, reason, setting};
use super::hpack::{Decoder, Encoder};
use super::stream::Stream;
use crate::exchange::{Answer, Fate};
use crate::failure::{ConnectionHeader, Failure, Http2Trouble};
use crate::headers::Headers;
use crate::request::{Body, Request};

/// The bytes that a server may send unasked on one stream.
pub(super) const WINDOW: u32 = 1 << 20;

/// The same on all streams: as Go has it.
const WINDOW_OF_ALL: u32 = 1 << 30;

/// The window that each side begins with (RFC 9113 §6.9.2).
const WINDOW_AT_FIRST: u32 = 65_535;

/// How many streams there may be until the server says: Go's number.
const STREAMS_AT_FIRST: usize = 100;

/// Answers to the server that wait for the socket: a server that wants more of them without reading is cut off.
const ANSWERS_MAX: usize = 256 * 1024;

/// How much of a body is put into frames before it goes to the socket.
const FILL_MAX: usize = 64 * 1024;

/// The last stream that a connection can have.
const LAST_STREAM: u32 = 0x7fff_ffff;

#[derive(Debug)]
pub(super) struct Protocol {
    clock: Clock,
    decoder: Decoder,
    encoder: Encoder,
    /// The beginning of a frame whose rest has not come.
    partial: Vec<u8>,
    /// The frame of a body that is coming in.
    data: Option<Head>,
    /// Headers whose end has not come: the stream, whether it ends with them, the block.
    block: Option<(u32, bool, Vec<u8>)>,
    has_settings: bool,
    /// The first bytes began an answer of HTTP/1.1.
    saw_http1: bool,
    /// Frames to be sent.
    pub(super) out: Vec<u8>,
    /// The bytes among them that answer the server. Frames of requests are not its fault.
    answers: usize,
    streams: Vec<Stream>,
    /// The wakers of those that wait for a place among them, the first one first.
    slots: VecDeque<Waker>,
    /// Some of them wait for the socket.
    is_held_up: bool,
    /// The stream whose own task is at work: it needs no waking.
    polled: u32,
    next_id: u32,
    window: i64,
    window_at_first: u32,
    frame_max: usize,
    streams_max: usize,
    head_limit: usize,
    /// Bytes of bodies for which the server has no new leave yet.
    unreturned: usize,
    window_of_all: u32,
    /// The user of a line takes the bodies bit by bit: bytes that were not taken yet, which count towards that window.
    untaken: Option<usize>,
    /// The largest head that the server wants.
    asked_max: u32,
    /// A stream's half window may be given back.
    owes: bool,
    patience: Patience,
    /// It has shown that it is good for no new streams.
    is_spent: bool,
    /// The server takes no new streams: why.
    going: Option<u32>,
    /// The connection is lost: why.
    failure: Option<Failure>,
}

impl Protocol {
    /// The beginning of a connection: what we say first is in `out`.
    pub(super) fn new(clock: Clock, head_limit: usize) -> Self {
        Self::with_window(clock, head_limit, WINDOW_OF_ALL)
    }

    /// The same for a line: bytes that were not taken yet count towards the window of all streams, which is this one.
    pub(super) fn narrow(clock: Clock, head_limit: usize, window_of_all: u32) -> Self {
        Self { untaken: Some(0), ..Self::with_window(clock, head_limit, window_of_all) }
    }

    fn with_window(clock: Clock, head_limit: usize, window_of_all: u32) -> Self {
        let mut out = frame::PREFACE.to_vec();
        let limit = u32::try_from(head_limit).unwrap_or(u32::MAX);
        let mut payload = Vec::with_capacity(18);
        for (name, value) in [
            (setting::ENABLE_PUSH, 0),
            (setting::INITIAL_WINDOW_SIZE, WINDOW),
            (setting::MAX_HEADER_LIST_SIZE, limit),
        ] {
            payload.extend_from_slice(&name.to_be_bytes());
            payload.extend_from_slice(&value.to_be_bytes());
        }
        frame::write(kind::SETTINGS, 0, 0, &payload, &mut out);
        frame::write_number(kind::WINDOW_UPDATE, 0, window_of_all - WINDOW_AT_FIRST, &mut out);
        Self {
            clock,
            decoder: Decoder::new(),
            encoder: Encoder::new(),
            partial: Vec::new(),
            data: None,
            block: None,
            has_settings: false,
            saw_http1: false,
            out,
            answers: 0,
            streams: Vec::new(),
            slots: VecDeque::new(),
            is_held_up: false,
            polled: 0,
            next_id: 1,
            window: WINDOW_AT_FIRST.into(),
            window_at_first: WINDOW_AT_FIRST,
            frame_max: frame::SIZE_MAX,
            streams_max: STREAMS_AT_FIRST,
            head_limit,
            unreturned: 0,
            window_of_all,
            untaken: None,
            asked_max: u32::MAX,
            owes: false,
            patience: Patience::new(clock()),
            is_spent: false,
            going: None,
            failure: None,
        }
    }

    /// It takes new streams, as far as we know.
    pub(super) fn is_open(&self) -> bool {
        self.failure.is_none()
            && self.going.is_none()
            && !self.is_spent
            && self.next_id <= LAST_STREAM
    }

    /// It takes new streams that may share it with one that was refused.
    pub(super) fn takes_streams(&self) -> bool {
        self.failure.is_none() && self.going.is_none() && self.next_id <= LAST_STREAM
    }

    /// The server's greeting came.
    pub(super) fn is_greeted(&self) -> bool {
        self.has_settings
    }

    /// The first bytes began an answer of HTTP/1.1.
    pub(super) fn saw_http1(&self) -> bool {
        self.saw_http1
    }

    /// There is one stream at most.
    pub(super) fn is_alone(&self) -> bool {
        self.streams.len() <= 1
    }

    /// More waits for the socket than is put there at once.
    pub(super) fn is_full(&self) -> bool {
        self.out.len() >= FILL_MAX
    }

    /// The server said goodbye, and all streams that it still looked at are over.
    pub(super) fn has_left(&self) -> bool {
        self.going.is_some() && self.streams.is_empty()
    }

    /// The limit of the server that a head passes.
    pub(super) fn passed_by(&self, asked: &Asked<'_>) -> Option<u32> {
        let limit = self.asked_max;
        (limit < u32::MAX && asked.size() > limit as usize).then_some(limit)
    }

    /// The frames in `out` were taken to be written.
    pub(super) fn went_out(&mut self) {
        self.out.clear();
        self.answers = 0;
    }

    /// The socket has taken all: there is room for more.
    pub(super) fn wake_senders(&mut self) {
        for stream in &mut self.streams {
            if let Some(sender) = stream.sender.take() {
                sender.wake();
            }
        }
        if std::mem::take(&mut self.is_held_up) {
            self.slots.drain(..).for_each(Waker::wake);
        }
    }

    /// Wakes this one when the socket has taken all.
    pub(super) fn wait_for_socket(&mut self, waker: &Waker) {
        self.is_held_up = true;
        self.wait_for_room(waker);
    }

    /// No more streams follow, and the server is told.
    pub(super) fn say_farewell(&mut self) {
        self.say_goodbye(reason::NO_ERROR);
    }

    /// Why it takes none.
    pub(super) fn refusal(&self) -> Failure {
        let going = Failure::Http2(Http2Trouble::GoAway, self.going.unwrap_or(reason::NO_ERROR));
        self.failure.unwrap_or(going)
    }

    /// Nothing comes any more.
    pub(super) fn is_lost(&self) -> bool {
        self.failure.is_some()
    }

    pub(super) fn is_idle(&self) -> bool {
        self.streams.is_empty()
    }

    pub(super) fn has_room(&self) -> bool {
        self.streams.len() < self.streams_max
    }

    /// Wakes this one when there is room.
    pub(super) fn wait_for_room(&mut self, waker: &Waker) {
        if !self.slots.iter().any(|waiting| waiting.will_wake(waker)) {
            self.slots.push_back(waker.clone());
        }
    }

    pub(super) fn stream(&mut self, id: u32) -> Option<&mut Stream> {
        self.streams.iter_mut().find(|stream| stream.id == id)
    }

    /// The task of this stream is at work; 0: none is.
    pub(super) fn polls(&mut self, id: u32) {
        self.polled = id;
    }

    /// Begins a stream: its headers are in `out` afterwards.
    ///
    /// Method, host and headers were checked before: nothing in them breaks a line.
    pub(super) fn open(&mut self, request: &Request<'_>, answer: Answer) -> u32 {
        let length = request.body.len();
        let ends = length == Some(0);
        let start = self.out.len();
        self.out.extend_from_slice(&[0; frame::HEAD]);
        self.encoder.begin(&mut self.out);
        encode(&mut self.encoder, request, length, &mut self.out);
        let queue = request.spool.map(|_| Vec::new());
        self.push(start, answer, queue, ends, request.method == "HEAD")
    }

    /// Begins a stream of a line: its headers are in `out` afterwards.
    pub(super) fn begin(&mut self, asked: &Asked<'_>) -> u32 {
        let start = self.out.len();
        self.out.extend_from_slice(&[0; frame::HEAD]);
        let Self { encoder, out, .. } = self;
        encoder.begin(out);
        for (name, value) in asked.lines() {
            encoder.header(name.as_bytes(), value, out);
        }
        self.push(start, Answer::new(Fate::Stream, 0), Some(Vec::new()), false, false)
    }

    fn push(
        &mut self,
        start: usize,
        answer: Answer,
        queue: Option<Vec<u8>>,
        ends: bool,
        is_bodiless: bool,
    ) -> u32 {
        let id = self.next_id;
        self.close_headers(start, id, ends);
        self.next_id += 2;
        self.streams.push(Stream {
            id,
            waker: None,
            sender: None,
            window: self.window_at_first.into(),
            queue,
            answer,
            has_head: false,
            ends_with_head: false,
            trailers: None,
            first_byte: 0,
            is_done: false,
            has_sent_all: ends,
            failure: None,
            reset_by_server: None,
            is_unseen: false,
            is_bodiless,
            declared: None,
            body: 0,
            received: 0,
            unreturned: 0,
            allowance: WINDOW.into(),
            head_left: self.head_limit,
        });
        self.patience.gains();
        id
    }

    /// Writes the head of the frame that begins at `start`; a block that is too long for it goes on in others.
    fn close_headers(&mut self, start: usize, stream: u32, ends: bool) {
        let flags = if ends { flag::END_STREAM } else { 0 };
        let len = self.out.len() - start - frame::HEAD;
        if len <= self.frame_max {
            let flags = flags | flag::END_HEADERS;
            let head = Head { len, kind: kind::HEADERS, flags, stream };
            self.out[start..start + frame::HEAD].copy_from_slice(&head.bytes());
            return;
        }
        let block = self.out.split_off(start + frame::HEAD);
        self.out.truncate(start);
        let mut parts = block.chunks(self.frame_max).peekable();
        let (mut kind, mut flags) = (kind::HEADERS, flags);
        while let Some(part) = parts.next() {
            if parts.peek().is_none() {
                flags |= flag::END_HEADERS;
            }
            frame::write(kind, flags, stream, part, &mut self.out);
            (kind, flags) = (kind::CONTINUATION, 0);
        }
    }

    /// How much of a body may go into the next frame of this stream.
    pub(super) fn room(&mut self, id: u32) -> usize {
        let (window, frame_max, full) = (self.window, self.frame_max, self.out.len() >= FILL_MAX);
        let Some(stream) = self.stream(id).filter(|_| !full) else { return 0 };
        usize::try_from(stream.window.min(window)).unwrap_or(0).min(frame_max)
    }

    /// Writes the head of the frame of a body that begins at `start` of `out`.
    pub(super) fn close_data(&mut self, start: usize, id: u32, ends: bool) {
        let len = self.out.len() - start - frame::HEAD;
        let flags = if ends { flag::END_STREAM } else { 0 };
        let head = Head { len, kind: kind::DATA, flags, stream: id };
        self.out[start..start + frame::HEAD].copy_from_slice(&head.bytes());
        self.window -= len as i64;
        self.patience.gains();
        if let Some(stream) = self.stream(id) {
            stream.window -= len as i64;
            stream.has_sent_all = ends;
        }
    }

    /// The reader has taken so much of a body that is streamed: the server may send as much again.
    pub(super) fn taken(&mut self, id: u32, bytes: usize) {
        let Some(stream) = self.streams.iter_mut().find(|stream| stream.id == id) else { return };
        stream.unreturned += bytes;
        stream.give_back(&mut self.out);
        self.untake(bytes);
    }

    /// This many bytes were taken, or will never be.
    fn untake(&mut self, bytes: usize) {
        if let Some(untaken) = &mut self.untaken {
            *untaken = untaken.saturating_sub(bytes);
            self.give_back_of_all(bytes);
        }
    }

    /// The server may send so much again, on all streams together. It is told when that is as much as it still may send:
    /// bytes that one stream's user doesn't take must not stop the others.
    fn give_back_of_all(&mut self, bytes: usize) {
        self.unreturned += bytes;
        let free = (self.window_of_all as usize).saturating_sub(self.untaken.unwrap_or(0));
        if self.unreturned > 0 && self.unreturned >= free / 2 {
            let bytes = std::mem::take(&mut self.unreturned) as u32;
            frame::write_number(kind::WINDOW_UPDATE, 0, bytes, &mut self.out);
        }
    }

    /// The socket holds nothing more for now: streams of which half a window was read may send as much again. `true`: one was
    /// told so.
    ///
    /// Not before, since a server that keeps to its window stops and waits then, while one that doesn't care passes it.
    pub(super) fn give_back(&mut self) -> bool {
        if !std::mem::take(&mut self.owes) {
            return false;
        }
        let before = self.out.len();
        for stream in self.streams.iter_mut().filter(|stream| stream.queue.is_none()) {
            stream.give_back(&mut self.out);
        }
        self.out.len() > before
    }

    /// No task waits for this stream any more. Its result so far is given back.
    pub(super) fn leave(&mut self, id: u32) -> Option<Stream> {
        let at = self.streams.iter().position(|stream| stream.id == id)?;
        let stream = self.streams.swap_remove(at);
        let is_over = stream.is_done && stream.has_sent_all || stream.reset_by_server.is_some();
        if !is_over && self.failure.is_none() {
            frame::write_number(kind::RST_STREAM, id, reason::CANCEL, &mut self.out);
        }
        if let (Some(_), Some(queue)) = (self.untaken, &stream.queue) {
            self.untake(queue.len());
        }
        self.pass_on();
        if self.streams.is_empty() {
            // Nothing is kept while no request runs.
            self.streams = Vec::new();
        }
        Some(stream)
    }

    /// Wakes one of those who wait for a place.
    pub(super) fn pass_on(&mut self) {
        if let Some(waker) = self.slots.pop_front() {
            waker.wake();
        }
    }

    /// This one waits for a place no more. Tells whether it still did.
    pub(super) fn stop_waiting(&mut self, waker: &Waker) -> bool {
        let at = self.slots.iter().position(|waiting| waiting.will_wake(waker));
        // Others of the same task may wait with it: they look, and come back.
        at.and_then(|at| self.slots.remove(at)).map(Waker::wake).is_some()
    }

    /// Wakes one of those who wait, so that somebody reads the socket.
    pub(super) fn hand_over(&mut self) {
        if let Some(stream) = self.streams.iter_mut().find(|stream| stream.waker.is_some()) {
            stream.wake();
        }
    }

    /// The connection is over: no more will come.
    pub(super) fn ended(&mut self, failure: Option<Failure>) {
        let failure = match (failure, self.going) {
            (None, Some(code)) => Failure::Http2(Http2Trouble::GoAway, code),
            // It said goodbye before: that is the news then, as to Go.
            (Some(Failure::Net(Broken::Ended(_) | Broken::Reset(Operation::Read))), Some(code)) => {
                Failure::Http2(Http2Trouble::GoAway, code)
            }
            (None, None) => Truncated::Partial.into(),
            (Some(failure), _) => failure,
        };
        self.lose(failure);
    }

    fn lose(&mut self, failure: Failure) {
        self.failure.get_or_insert(failure);
        let polled = self.polled;
        for stream in &mut self.streams {
            if stream.id == polled {
                stream.waker = None;
            }
            stream.fail(failure);
        }
        self.slots.drain(..).for_each(Waker::wake);
    }

    /// The server breaks the rules: it is told, and the connection is over.
    fn refuse(&mut self, code: u32) {
        self.say_goodbye(code);
        self.lose(Failure::Http2(Http2Trouble::Connection, code));
    }

    fn say_goodbye(&mut self, code: u32) {
        let mut payload = [0; 8];
        payload[4..].copy_from_slice(&code.to_be_bytes());
        frame::write(kind::GOAWAY, 0, 0, &payload, &mut self.out);
    }
}

/// Why these headers can't go out: they ask something of the connection that HTTP/2 has no words for. The others that
/// are about a connection are left out, also those that ask for a WebSocket, for which Go would dial HTTP/1.1.
pub(super) fn unfit(headers: &Headers) -> Option<Failure> {
    let mut found = None;
    for (name, value) in headers {
        if !matches!(name.as_bytes().first(), Some(b'c' | b'C' | b'u' | b'U')) || value.is_empty() {
            continue;
        }
        let is = |ours: ConnectionHeader| name.eq_ignore_ascii_case(ours.name());
        let header = if is(ConnectionHeader::Upgrade) {
            if value.eq_ignore_ascii_case("websocket") {
                return None;
            }
            ConnectionHeader::Upgrade
        } else if is(ConnectionHeader::Connection)
            && !["close", "keep-alive"].iter().any(|fine| value.eq_ignore_ascii_case(fine))
        {
            ConnectionHeader::Connection
        } else {
            continue;
        };
        // Go looks at `Upgrade` first.
        if found.is_none() || header == ConnectionHeader::Upgrade {
            found = Some(Failure::ConnectionHeader(header, Excerpt::new(value.as_bytes())));
        }
    }
    found
}

/// Names that only connections of HTTP/1.1 know.
fn is_of_connection(name: &str, value: &str) -> bool {
    let first = name.as_bytes().first().map(u8::to_ascii_lowercase);
    // Nearly all names end here.
    if !matches!(first, Some(b'c' | b'p' | b'k' | b'u' | b't')) {
        return false;
    }
    ["Connection", "Proxy-Connection", "Keep-Alive", "Upgrade", "Transfer-Encoding"]
        .iter()
        .any(|ours| name.eq_ignore_ascii_case(ours))
        || (name.eq_ignore_ascii_case("te") && value != "trailers")
}

/// The header block of a request.
fn encode(encoder: &mut Encoder, request: &Request<'_>, length: Option<u64>, out: &mut Vec<u8>) {
    let target = request.target;
    let authority = request.host.unwrap_or(&target.authority);
    encoder.header(b":authority", authority.as_bytes(), out);
    encoder.header(b":method", request.method.as_bytes(), out);
    Encoder::passing(":path", target.path.as_bytes(), out);
    encoder.header(b":scheme", target.scheme.as_str().as_bytes(), out);
    let has_length = length.is_some_and(|length| {
        length > 0
            || matches!(request.method, "POST" | "PUT" | "PATCH")
            || matches!(request.body, Body::Nothing)
    });
    if let (true, Some(length)) = (has_length, length) {
        Encoder::passing("content-length", length.to_string().as_bytes(), out);
    }
    let mut lower = [0; 64];
    for (name, value) in request.headers {
        if is_of_connection(name, value) {
            continue;
        }
        if let Some(lower) = lower.get_mut(..name.len()) {
            lower.copy_from_slice(name.as_bytes());
            lower.make_ascii_lowercase();
            encoder.header(lower, value.as_bytes(), out);
        } else {
            encoder.header(name.to_ascii_lowercase().as_bytes(), value.as_bytes(), out);
        }
    }
}

#[cfg(test)]
mod tests;
