//! One socket: its state, its task, its samples.

use std::cell::{Cell, RefCell};
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;

use brunt_fiber::clock;
use brunt_js::{Host, Line, SlotKey};
use brunt_metrics::MetricId;
use brunt_net::{Dialer, Opened};
use brunt_quickjs::error::ErrorKind;
use brunt_quickjs::{Ctx, JsResult};
use tokio::sync::Notify;

use super::asked::Destination;
use crate::extension::backlog::Backlog;
use crate::extension::events::Emitter;
use crate::extension::handlers::Handlers;
use crate::extension::meters::{Meters, counter, time};
use crate::extension::stream::{Stream, dial};
use crate::extension::{Link, OwnTags};
use crate::state::VuState;

/// Bytes that came and wait for the script; beyond them, nothing is read.
const WAITING_MAX: usize = 256 << 10;

/// The cost of a piece beside its bytes.
const PIECE_COST: usize = 64;

/// `ready_state`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Disconnected,
    Opening,
    Open,
    Destroyed,
}

impl State {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Disconnected => "disconnected",
            Self::Opening => "opening",
            Self::Open => "open",
            Self::Destroyed => "destroyed",
        }
    }
}

/// The events that a script may listen to, in the order of [`Emitter::EVENTS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Event {
    Connect,
    Data,
    Close,
    Error,
    Timeout,
}

impl Emitter for Socket {
    const EVENTS: &'static [&'static str] = &["connect", "data", "close", "error", "timeout"];
    const CONNECT: usize = Event::Connect as usize;
    const ERROR: usize = Event::Error as usize;

    type Why = String;

    fn handlers(&self) -> &Handlers {
        &self.handlers
    }

    fn error<'js>(ctx: Ctx<'js>, why: &String) -> JsResult<'js> {
        error(ctx, why)
    }
}

/// The argument of the script's handlers: `TCPError`.
pub(super) fn error<'js>(ctx: Ctx<'js>, message: &str) -> JsResult<'js> {
    let error = ctx.error(ErrorKind::Plain, message);
    error.define_hidden("name", ctx.string("TCPError")?)?;
    Ok(error)
}

/// The metrics of all sockets.
#[derive(Clone, Copy)]
pub(super) struct SocketMeters {
    resolving: MetricId,
    connecting: MetricId,
    duration: MetricId,
    sockets: MetricId,
    reads: MetricId,
    writes: MetricId,
    errors: MetricId,
    timeouts: MetricId,
    partial_writes: MetricId,
}

impl Meters for SocketMeters {
    fn key() -> &'static SlotKey {
        static KEY: SlotKey = SlotKey::new();
        &KEY
    }

    fn declare(ctx: Ctx<'_>) -> JsResult<'_, Self> {
        Ok(Self {
            resolving: time(ctx, "tcp_socket_resolving")?,
            connecting: time(ctx, "tcp_socket_connecting")?,
            duration: time(ctx, "tcp_socket_duration")?,
            sockets: counter(ctx, "tcp_sockets")?,
            reads: counter(ctx, "tcp_reads")?,
            writes: counter(ctx, "tcp_writes")?,
            errors: counter(ctx, "tcp_errors")?,
            timeouts: counter(ctx, "tcp_timeouts")?,
            partial_writes: counter(ctx, "tcp_partial_writes")?,
        })
    }
}

/// How a writing ended: on failure, how much was written, and why not more.
pub(super) type Written = Result<(), (usize, String)>;

pub(super) struct Socket {
    meters: SocketMeters,
    own: OwnTags,
    /// The own tags and those of the connection.
    tags: RefCell<OwnTags>,
    state: Cell<State>,
    pub(super) handlers: Handlers,
    stream: RefCell<Option<Rc<Stream>>>,
    addresses: Cell<Option<(Option<SocketAddr>, SocketAddr)>>,
    opened_at: Cell<u64>,
    bytes_read: Cell<u64>,
    bytes_written: Cell<u64>,
    /// Silence after which the script is told; none is zero.
    timeout: Cell<Duration>,
    /// The script was not told yet of the last one.
    is_timed_out: Cell<bool>,
    /// The timeout changed, or there is room again for what comes.
    changed: Notify,
    /// The bytes that came and were not told.
    waiting: Cell<usize>,
    /// The bytes of `writeAsync()` that are still to be written.
    pub(super) backlog: Rc<Backlog>,
}

impl Socket {
    pub(super) fn new(meters: SocketMeters, own: OwnTags) -> Self {
        let mut tags = OwnTags::default();
        tags.set("proto", "TCP");
        Self {
            meters,
            tags: RefCell::new(tags.with(&own)),
            own,
            state: Cell::new(State::Disconnected),
            handlers: Handlers::default(),
            stream: RefCell::default(),
            addresses: Cell::default(),
            opened_at: Cell::default(),
            bytes_read: Cell::default(),
            bytes_written: Cell::default(),
            timeout: Cell::default(),
            is_timed_out: Cell::default(),
            changed: Notify::new(),
            waiting: Cell::default(),
            backlog: Rc::default(),
        }
    }

    pub(super) fn state(&self) -> State {
        self.state.get()
    }

    pub(super) fn local(&self) -> Option<SocketAddr> {
        self.addresses.get()?.0
    }

    pub(super) fn remote(&self) -> Option<SocketAddr> {
        Some(self.addresses.get()?.1)
    }

    pub(super) fn bytes_read(&self) -> u64 {
        self.bytes_read.get()
    }

    pub(super) fn bytes_written(&self) -> u64 {
        self.bytes_written.get()
    }

    pub(super) fn set_timeout(&self, ms: f64) {
        // One of nanoseconds would leave no room for anything else; one of centuries is none.
        let timeout = if ms == 0.0 { 0.0 } else { ms.max(1.0) };
        let timeout = Duration::try_from_secs_f64(timeout / 1000.0).unwrap_or_default();
        self.timeout.set(timeout);
        self.changed.notify_waiters();
    }

    /// It is about to be connected.
    pub(super) fn begin(&self, to: Destination) -> Result<Destination, String> {
        match self.state.get() {
            State::Disconnected => {}
            state => return Err(format!("the socket cannot connect: it is {}", state.name())),
        }
        self.state.set(State::Opening);
        let mut tags = OwnTags::default();
        tags.set("proto", "TCP");
        let mut tags = tags.with(&self.own).with(&to.tags);
        tags.set("host", &to.host);
        tags.set("port", &to.port.to_string());
        *self.tags.borrow_mut() = tags;
        Ok(to)
    }

    pub(super) async fn dial(
        &self,
        dialer: &Rc<Dialer>,
        to: &Destination,
    ) -> Result<Opened, String> {
        let dialed = dial(dialer, to.is_secure, &to.host, to.port).await;
        if dialed.is_err() && self.state.get() == State::Opening {
            self.state.set(State::Disconnected);
        }
        dialed
    }

    /// Waits for the script to destroy it.
    pub(super) async fn destroyed(&self) {
        loop {
            let changed = self.changed.notified();
            if self.state.get() == State::Destroyed {
                return;
            }
            changed.await;
        }
    }

    /// It is connected.
    pub(super) fn opened(&self, ctx: Ctx<'_>, opened: Opened) -> Rc<Stream> {
        let remote = opened.remote();
        self.addresses.set(Some((opened.local(), remote)));
        self.tags.borrow_mut().set("ip", &remote.ip().to_string());
        self.opened_at.set(clock::now_ns());
        self.state.set(State::Open);
        let [resolving, connecting] = opened.way();
        self.add(ctx, self.meters.resolving, resolving as f64 / 1e6);
        self.add(ctx, self.meters.connecting, connecting as f64 / 1e6);
        self.add(ctx, self.meters.sockets, 1.0);
        let stream = Rc::new(Stream::new(opened));
        *self.stream.borrow_mut() = Some(Rc::clone(&stream));
        stream
    }

    /// Tells the script what comes, until nothing more does.
    pub(super) async fn read(self: &Rc<Self>, stream: &Stream, line: &Line) {
        let ended = loop {
            let changed = self.changed.notified();
            if self.waiting.get() > WAITING_MAX {
                changed.await;
                continue;
            }
            let timeout = self.timeout.get();
            let silence = async {
                if timeout.is_zero() {
                    std::future::pending::<()>().await;
                }
                tokio::time::sleep(timeout).await;
            };
            let came = tokio::select! {
                came = stream.read() => came,
                () = changed => continue,
                () = silence => {
                    if !self.is_timed_out.replace(true) {
                        let told = Rc::clone(self);
                        line.tell(move |ctx| told.tell_timeout(ctx));
                    }
                    continue;
                }
            };
            match came {
                Ok(Some(bytes)) => {
                    let cost = bytes.len() + PIECE_COST;
                    self.waiting.set(self.waiting.get() + cost);
                    let told = Rc::clone(self);
                    line.tell(move |ctx| told.tell_data(ctx, bytes));
                }
                Ok(None) => break None,
                Err(error) => break Some(error.to_string()),
            }
        };
        let told = Rc::clone(self);
        line.tell(move |ctx| told.tell_end(ctx, ended));
    }

    fn tell_data<'js>(&self, ctx: Ctx<'js>, bytes: Vec<u8>) -> JsResult<'js, ()> {
        self.waiting.set(self.waiting.get() - bytes.len() - PIECE_COST);
        self.changed.notify_waiters();
        if self.state.get() == State::Destroyed {
            return Ok(());
        }
        self.bytes_read.set(self.bytes_read.get() + bytes.len() as u64);
        self.add(ctx, self.meters.reads, 1.0);
        if !self.handlers.has(Event::Data as usize) {
            return Ok(());
        }
        let buffer = ctx.array_buffer(bytes)?;
        let data = ctx.global().get("Uint8Array")?.construct(&[buffer])?;
        self.handlers.call(ctx, Event::Data as usize, &[data])
    }

    fn tell_timeout<'js>(&self, ctx: Ctx<'js>) -> JsResult<'js, ()> {
        self.is_timed_out.set(false);
        if self.state.get() == State::Destroyed {
            return Ok(());
        }
        self.add(ctx, self.meters.timeouts, 1.0);
        self.handlers.call(ctx, Event::Timeout as usize, &[])
    }

    /// Nothing more comes.
    fn tell_end<'js>(&self, ctx: Ctx<'js>, why: Option<String>) -> JsResult<'js, ()> {
        if self.state.get() == State::Destroyed {
            return Ok(());
        }
        self.end(ctx);
        if let Some(why) = why {
            self.count_error(ctx);
            let error = error(ctx, &why)?;
            self.handlers.call(ctx, Event::Error as usize, &[error])?;
        }
        let told = self.handlers.call(ctx, Event::Close as usize, &[]);
        self.handlers.clear();
        told
    }

    /// Closes it, without a word to the script.
    pub(super) fn end(&self, ctx: Ctx<'_>) {
        self.close();
        let opened_at = self.opened_at.replace(0);
        if opened_at != 0 {
            let took = clock::now_ns().saturating_sub(opened_at);
            self.add(ctx, self.meters.duration, took as f64 / 1e6);
        }
    }

    fn close(&self) {
        self.state.set(State::Destroyed);
        let stream = self.stream.borrow_mut().take();
        if let Some(stream) = stream {
            stream.close();
        }
        self.changed.notify_waiters();
    }

    /// Writes, for as long as the timeout allows.
    pub(super) async fn write(&self, bytes: &[u8]) -> Written {
        let stream = self.stream.borrow().clone();
        let Some(stream) = stream else {
            return Err((0, format!("the socket cannot write: it is {}", self.state.get().name())));
        };
        let timeout = self.timeout.get();
        let written = if timeout.is_zero() {
            stream.write(bytes).await
        } else {
            match tokio::time::timeout(timeout, stream.write(bytes)).await {
                Ok(written) => written,
                // The number of written bytes is unknown.
                Err(_) => return Err((1, "write tcp: i/o timeout".to_owned())),
            }
        };
        written.map_err(|(size, error)| (size, error.to_string()))?;
        self.bytes_written.set(self.bytes_written.get() + bytes.len() as u64);
        Ok(())
    }

    pub(super) fn count_writing(&self, ctx: Ctx<'_>, tags: &OwnTags, written: &Written) {
        let tags = self.tags.borrow().with(tags);
        let (host, state) = (Host::of(ctx), VuState::of(ctx));
        state.add(host, self.meters.writes, 1.0, &tags.pairs());
        if matches!(written, Err((size, _)) if *size > 0) {
            state.add(host, self.meters.partial_writes, 1.0, &tags.pairs());
        }
    }

    pub(super) fn count_error(&self, ctx: Ctx<'_>) {
        self.add(ctx, self.meters.errors, 1.0);
    }

    fn add(&self, ctx: Ctx<'_>, metric: MetricId, value: f64) {
        let tags = self.tags.borrow();
        VuState::of(ctx).add(Host::of(ctx), metric, value, &tags.pairs());
    }
}

impl Link for Socket {
    fn cut(&self) {
        self.close();
        self.handlers.clear();
    }
}
