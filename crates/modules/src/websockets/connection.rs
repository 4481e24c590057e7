//! A connection of `k6/websockets`: from the handshake to the last event.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Poll, Waker};
use std::time::Duration;

use brunt_fiber::clock;
use brunt_http::{Failure, OwnedTarget};
use brunt_js::{Host, Line, describe};
use brunt_net::budget::{Exhausted, Share};
use brunt_quickjs::{Ctx, JsResult, Name, Root, Value};
use brunt_websocket::{Close, Connected, Ended, Event, Handshake, HandshakeError, Kind, Socket};
use tokio::sync::Notify;

use super::handlers::{Handlers, On};
use crate::globals::web::bodies::blob_of;
use crate::state::VuState;
use crate::ws::asked::{Params, reason, target_of};
use crate::ws::tally::{Pings, Tally};

static TYPE: Name = Name::new("type");
static TARGET: Name = Name::new("target");
static TIMESTAMP: Name = Name::new("timestamp");
static DATA: Name = Name::new("data");
static ORIGIN: Name = Name::new("origin");
static ERROR: Name = Name::new("error");
static CODE: Name = Name::new("code");
static REASON: Name = Name::new("reason");

/// Bytes of events that wait for the script; beyond them, nothing is read.
const WAITING_MAX: usize = 1 << 20;

/// A script that closes before the connection is open doesn't wait longer for the handshake. A server that is quicker is
/// told the close code.
const CLOSED_EARLY: Duration = Duration::from_secs(1);

/// The maximum number of unasked pongs of each connection that are told.
const UNKNOWN_PONGS_MAX: u64 = 10;

/// The code of a normal end.
const NORMAL: u16 = 1000;

/// The cost of an event beside its bytes.
const EVENT_COST: usize = 64;

/// `readyState`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ready {
    Connecting = 0,
    Open = 1,
    Closing = 2,
    Closed = 3,
}

pub(super) struct Connection {
    pub(super) url: String,
    pub(super) ready: Cell<Ready>,
    pub(super) protocol: RefCell<String>,
    /// The values of the server's `Sec-WebSocket-Extensions`.
    pub(super) extensions: RefCell<Vec<String>>,
    /// The code with which the script closed it.
    closed_with: Cell<u16>,
    /// Binary messages are buffers, not blobs.
    pub(super) wants_buffers: Cell<bool>,
    pub(super) handlers: Handlers,
    socket: RefCell<Option<Rc<Socket>>>,
    /// The queue's share of the memory that the process may use.
    queued: RefCell<Share>,
    /// Told when the script closes before there is a connection.
    closed_early: Notify,
    tally: Tally,
    pings: Pings,
    unknown_pongs: Cell<u64>,
    /// The objects of the script's events, as long as something can happen.
    held: RefCell<Option<Held>>,
    /// Bytes of events that the script has not seen.
    waiting: Cell<usize>,
    /// The task, while it waits for room.
    room: RefCell<Option<Waker>>,
}

/// The script's objects.
struct Held {
    /// The object of the connection.
    object: Root,
    /// Texts that each message tells: its type and where it comes from.
    message: Root,
    origin: Root,
}

impl Connection {
    pub(super) fn new(
        host: &Host,
        state: &VuState,
        url: String,
        tags: &[(String, String)],
    ) -> Self {
        Self {
            tally: Tally::new(host, state, &url, tags, true),
            url,
            ready: Cell::new(Ready::Connecting),
            protocol: RefCell::default(),
            extensions: RefCell::default(),
            closed_with: Cell::new(0),
            wants_buffers: Cell::new(false),
            handlers: Handlers::default(),
            socket: RefCell::default(),
            queued: RefCell::default(),
            closed_early: Notify::new(),
            pings: Pings::default(),
            unknown_pongs: Cell::new(0),
            held: RefCell::default(),
            waiting: Cell::new(0),
            room: RefCell::default(),
        }
    }

    /// Keeps the script's object alive.
    ///
    /// # Errors
    /// If the VM's memory limit is reached.
    pub(super) fn keep<'js>(&self, ctx: Ctx<'js>, object: &Value<'js>) -> JsResult<'js, ()> {
        let (message, origin) = (ctx.string(On::Message.name())?, ctx.string(&self.url)?);
        *self.held.borrow_mut() = Some(Held {
            object: ctx.root(object.clone()),
            message: ctx.root(message),
            origin: ctx.root(origin),
        });
        Ok(())
    }

    /// Whether something of the script's is kept.
    pub(super) fn is_held(&self) -> bool {
        self.held.borrow().is_some()
    }

    pub(super) fn socket(&self) -> Option<Rc<Socket>> {
        self.socket.borrow().clone()
    }

    pub(super) fn buffered(&self) -> usize {
        self.socket.borrow().as_ref().map_or(0, |socket| socket.buffered())
    }

    /// Accounts for a queue of `bytes` bytes.
    pub(super) fn cover(&self, bytes: usize) -> Result<(), Exhausted> {
        let mut queued = self.queued.borrow_mut();
        // It may have been longer before.
        queued.release();
        queued.cover(bytes as u64)
    }

    /// Bytes of messages that wait to be written.
    pub(super) fn unsent(&self) -> usize {
        self.socket.borrow().as_ref().map_or(0, |socket| socket.unsent())
    }

    pub(super) fn send(&self, kind: Kind, payload: &[u8]) {
        if self.socket().is_some_and(|socket| socket.send(kind, payload)) {
            self.tally.sent(payload);
        }
    }

    pub(super) fn ping(&self) {
        let payload = self.pings.next();
        if self.socket().is_some_and(|socket| socket.ping(payload.as_bytes())) {
            self.tally.sent(b"(ping)");
        }
    }

    /// The script closes it; the rest follows when the other side agrees.
    pub(super) fn close(&self, code: u16, reason: &str) {
        if self.ready.replace(Ready::Closing) == Ready::Connecting {
            self.closed_early.notify_one();
        }
        self.closed_with.set(code);
        if self.socket().is_some_and(|socket| socket.close(code, reason)) {
            self.tally.sent(b"(close)");
        }
    }

    /// The iteration is over.
    pub(super) fn cut(&self) {
        let socket = self.socket.borrow_mut().take();
        if let Some(socket) = socket {
            socket.close(1001, "");
            socket.flush_now();
            socket.hang_up();
            self.queued.borrow_mut().release();
            // No sample of how long it lasted: the iteration is over, and k6 measures nothing then.
        }
        self.ready.set(Ready::Closed);
    }

    /// The script threw elsewhere. It hears what k6 tells it then.
    pub(super) fn leave<'js>(&self, ctx: Ctx<'js>) -> JsResult<'js, ()> {
        let was = self.ready.get();
        self.cut();
        match was {
            Ready::Connecting => {
                let target = target_of(&self.url);
                if let Ok(target) = &target {
                    let failure = HandshakeError::Failed(Failure::Aborted);
                    self.fire_error(ctx, &reason(&failure, target))?;
                }
                self.fire_close(ctx, None, "")
            }
            Ready::Open => self.fire_close(ctx, Some(NORMAL), ""),
            Ready::Closing | Ready::Closed => Ok(()),
        }
    }

    /// Lets go of what is the script's.
    pub(super) fn forget(&self, ctx: Ctx<'_>) {
        self.handlers.clear(ctx);
        let held = self.held.borrow_mut().take();
        if let Some(Held { object, message, origin }) = held {
            for root in [object, message, origin] {
                drop(ctx.unroot(root));
            }
        }
    }

    /// The task of a connection: opens it and tells the loop what comes.
    pub(super) fn run(
        self: &Rc<Self>,
        params: Params,
        target: Result<OwnedTarget, String>,
        line: Line,
    ) -> impl Future<Output = ()> + use<> {
        let connection = Rc::clone(self);
        async move {
            let target = match target {
                Ok(target) => target,
                Err(why) => {
                    connection.tally.unasked();
                    line.tell(move |ctx| connection.failed(ctx, &why));
                    return;
                }
            };
            let opening = Box::pin(params.open(&target));
            let connected = tokio::select! {
                connected = opening => connected,
                () = connection.closed_too_early() => {
                    connection.tally.unasked();
                    let failure = HandshakeError::Failed(Failure::Aborted);
                    let why = reason(&failure, &target);
                    line.tell(move |ctx| connection.failed(ctx, &why));
                    return;
                }
            };
            connection.tally.connected(&connected);
            let extensions = header_values(&connected, "sec-websocket-extensions");
            let Handshake { socket, protocol, .. } = match connected.outcome {
                Ok(handshake) => handshake,
                Err(error) => {
                    let why = reason(&error, &target);
                    line.tell(move |ctx| connection.failed(ctx, &why));
                    return;
                }
            };
            let socket = Rc::new(socket);
            *connection.protocol.borrow_mut() = protocol;
            *connection.extensions.borrow_mut() = extensions;
            *connection.socket.borrow_mut() = Some(Rc::clone(&socket));
            let opened = Rc::clone(&connection);
            line.tell(move |ctx| opened.opened(ctx));
            loop {
                match connection.next(&socket).await {
                    Ok(event) => {
                        let cost = EVENT_COST + size_of_event(&event);
                        connection.waiting.set(connection.waiting.get() + cost);
                        let to = Rc::clone(&connection);
                        line.tell(move |ctx| to.told(ctx, event, cost));
                    }
                    Err(ended) => {
                        line.tell(move |ctx| connection.ended(ctx, ended));
                        return;
                    }
                }
            }
        }
    }

    /// The script has closed it, and the handshake has still not come to an end a while later.
    async fn closed_too_early(&self) {
        self.closed_early.notified().await;
        tokio::time::sleep(CLOSED_EARLY).await;
    }

    /// The next event, as soon as the script has seen enough of the others. Queued messages are sent meanwhile.
    async fn next(&self, socket: &Socket) -> Result<Event, Ended> {
        poll_fn(|cx| {
            if self.waiting.get() > WAITING_MAX {
                match &mut *self.room.borrow_mut() {
                    Some(waker) => waker.clone_from(cx.waker()),
                    none => *none = Some(cx.waker().clone()),
                }
                socket.poll_flush(cx);
                return Poll::Pending;
            }
            socket.poll_next(cx)
        })
        .await
    }

    fn opened<'js>(&self, ctx: Ctx<'js>) -> JsResult<'js, ()> {
        if self.ready.get() != Ready::Connecting {
            // Closed before it was open.
            if let Some(socket) = self.socket() {
                socket.close(1000, "");
                self.tally.sent(b"(close)");
            }
            return Ok(());
        }
        self.ready.set(Ready::Open);
        self.fire(ctx, On::Open, |_, _| Ok(()))
    }

    fn told<'js>(&self, ctx: Ctx<'js>, event: Event, cost: usize) -> JsResult<'js, ()> {
        self.waiting.set(self.waiting.get() - cost);
        if let Some(waker) = self.room.borrow_mut().take() {
            waker.wake();
        }
        match event {
            // Messages that come after the script has closed are dropped.
            Event::Message(..) if self.ready.get() != Ready::Open => Ok(()),
            Event::Message(kind, bytes) => {
                self.tally.received(&bytes);
                if !self.handlers.has(On::Message) {
                    return Ok(());
                }
                let data = match kind {
                    Kind::Text => ctx.string_from_utf8(&bytes)?,
                    Kind::Binary if self.wants_buffers.get() => ctx.array_buffer(bytes)?,
                    Kind::Binary => blob_of(ctx, bytes.into())?,
                };
                let event = match &*self.held.borrow() {
                    Some(Held { object, message, origin }) => ctx.object_from([
                        (&TYPE, ctx.rooted(message)),
                        (&TARGET, ctx.rooted(object)),
                        (&TIMESTAMP, now(ctx)),
                        (&DATA, data),
                        (&ORIGIN, ctx.rooted(origin)),
                    ])?,
                    None => return Ok(()),
                };
                self.call(ctx, On::Message, &event)
            }
            Event::Ping(_) => self.fire(ctx, On::Ping, |_, _| Ok(())),
            Event::Pong(payload) => {
                if let Some(pinged) = self.pings.answered(&payload) {
                    self.tally.ponged(pinged);
                } else if self.unknown_pongs.replace(self.unknown_pongs.get() + 1)
                    < UNKNOWN_PONGS_MAX
                {
                    let id = String::from_utf8_lossy(&payload);
                    log::warn!("received pong for unknown ping ID {id}");
                }
                self.fire(ctx, On::Pong, |_, _| Ok(()))
            }
            Event::Close(_) => Ok(()),
        }
    }

    /// There will be no connection.
    fn failed<'js>(&self, ctx: Ctx<'js>, why: &str) -> JsResult<'js, ()> {
        self.ready.set(Ready::Closed);
        let told = self.fire_error(ctx, why).and_then(|()| self.fire_close(ctx, None, ""));
        self.forget(ctx);
        told
    }

    /// Nothing more comes.
    fn ended<'js>(&self, ctx: Ctx<'js>, how: Ended) -> JsResult<'js, ()> {
        self.queued.borrow_mut().release();
        if self.ready.replace(Ready::Closed) == Ready::Closed {
            self.forget(ctx);
            return Ok(());
        }
        // Whatever happened to the connection: the script has said why it ends.
        let code = Some(self.closed_with.get()).filter(|code| *code != 0);
        let told = match how {
            Ended::Closed(close) => {
                let is_expected = matches!(close.code, 1000 | 1001);
                let error =
                    if is_expected { Ok(()) } else { self.fire_error(ctx, &close.to_string()) };
                let Close { code, reason } = close;
                error.and_then(|()| self.fire_close(ctx, Some(code), &reason))
            }
            // k6 tells the script no more than that it is closed.
            Ended::Failed(failure) => {
                log::debug!("the WebSocket to {} failed: {failure}", self.url);
                self.fire_close(ctx, code, "")
            }
            Ended::Broken(violation) => {
                log::debug!("the WebSocket to {} was closed: {violation}", self.url);
                self.fire_close(ctx, code, "")
            }
            Ended::HungUp => self.fire_close(ctx, code, ""),
        };
        // A handler that throws ends the iteration: nothing is measured any more.
        if told.is_ok() {
            self.tally.ended(true);
        }
        self.forget(ctx);
        told
    }

    fn fire_error<'js>(&self, ctx: Ctx<'js>, text: &str) -> JsResult<'js, ()> {
        self.fire(ctx, On::Error, |ctx, event| event.define(&ERROR, ctx.string(text)?))
    }

    fn fire_close<'js>(&self, ctx: Ctx<'js>, code: Option<u16>, reason: &str) -> JsResult<'js, ()> {
        self.fire(ctx, On::Close, |ctx, event| {
            if let Some(code) = code {
                event.define(&CODE, ctx.int(i32::from(code)))?;
            }
            event.define(&REASON, ctx.string(reason)?)
        })
    }

    /// Calls the handlers of an event. One that throws ends the connection, and with it the iteration.
    fn fire<'js>(
        &self,
        ctx: Ctx<'js>,
        on: On,
        fill: impl FnOnce(Ctx<'js>, &Value<'js>) -> JsResult<'js, ()>,
    ) -> JsResult<'js, ()> {
        if !self.handlers.has(on) {
            return Ok(());
        }
        let target = match &*self.held.borrow() {
            Some(held) => ctx.rooted(&held.object),
            None => return Ok(()),
        };
        let event = ctx.object_from([
            (&TYPE, ctx.string(on.name())?),
            (&TARGET, target),
            (&TIMESTAMP, now(ctx)),
        ])?;
        fill(ctx, &event)?;
        self.call(ctx, on, &event)
    }

    /// Calls those handlers that there are now.
    fn call<'js>(&self, ctx: Ctx<'js>, on: On, event: &Value<'js>) -> JsResult<'js, ()> {
        for function in self.handlers.of(ctx, on) {
            ctx.forget_place();
            if let Err(thrown) = function.call(&ctx.undefined(), std::slice::from_ref(event)) {
                let exception = ctx.take_exception();
                if let Some(exception) = exception {
                    if exception.uncatchable {
                        // Stopped from outside in the middle of a handler: the script hears of it, as in k6.
                        if !Host::of(ctx).was_aborted_by_script()
                            && !matches!(on, On::Error | On::Close)
                        {
                            let told = give_up_text("context canceled", &exception.place);
                            self.give_up(ctx, on, &told)?;
                        }
                        return Err(ctx.throw_uncatchable("the VU was stopped"));
                    }
                    let told = give_up_text(&describe(&exception.value), &exception.place);
                    self.give_up(ctx, on, &told)?;
                    return Err(ctx.throw_again(exception));
                }
                return Err(thrown);
            }
        }
        Ok(())
    }

    /// A handler threw: the script hears of it as of an error, and the connection is closed.
    fn give_up<'js>(&self, ctx: Ctx<'js>, on: On, text: &str) -> JsResult<'js, ()> {
        if matches!(on, On::Error | On::Close) {
            return Ok(());
        }
        self.cut();
        self.fire_error(ctx, text)?;
        self.fire_close(ctx, None, "")
    }
}

/// The exception of a handler, and its place, in one line.
fn give_up_text(what: &str, place: &str) -> String {
    let text = if place.is_empty() { what.to_owned() } else { format!("{what}\n{place}") };
    text.trim_end().replace("\n\t", " ")
}

/// The time that events tell.
fn now(ctx: Ctx<'_>) -> Value<'_> {
    ctx.number((clock::now_ns() / 1_000_000) as f64)
}

/// The values of the lines with this name.
fn header_values(connected: &Connected, name: &str) -> Vec<String> {
    let Some(head) = connected.exchange.head() else { return Vec::new() };
    let lines = head.headers().filter(|(line, _)| line.eq_ignore_ascii_case(name));
    lines.map(|(_, value)| String::from_utf8_lossy(value).into_owned()).collect()
}

fn size_of_event(event: &Event) -> usize {
    match event {
        Event::Message(_, bytes) | Event::Ping(bytes) | Event::Pong(bytes) => bytes.len(),
        Event::Close(_) => 0,
    }
}
