//! `Stream`: messages that come and go one by one, told to the script as events.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::poll_fn;
use std::pin::Pin;
use std::rc::{Rc, Weak};
use std::sync::{Arc, LazyLock};
use std::task::{Context, Poll, Waker, ready};
use std::time::Duration;

use brunt_fiber::{block_on, clock};
use brunt_grpc::{Method, Receiver, Schema, Sender, Status};
use brunt_js::{Host, SlotKey, VuSlot};
use brunt_quickjs::{Call, Class, Ctx, JsResult, Members, Name, Root, Value};
use bytes::Bytes;
use tokio::sync::Notify;
use tokio::time::{Instant, timeout, timeout_at};

use super::call::{stream_error, unreadable};
use super::client::Client;
use super::params::{Params, Refusal, capped};
use super::record::{Labels, Metrics, Named};
use super::request;
use crate::reading::text_or_empty;
use crate::state::VuState;
use crate::throwing::{throw, throw_stopped, throw_type};

/// A connection that was lost may take so long to come back.
const DIAL_TIMEOUT: Duration = Duration::from_secs(20);

/// With this many messages that wait to be sent, `write()` gives them a turn.
const TURN: usize = 1000;

/// The maximum number of bytes of messages that wait to be sent; then `write()` waits for room. It cannot wait for
/// ever: the server may wait for us to read, and that is done when the script lets its event loop run.
const UNSENT_MAX: usize = 64 << 20;
const ROOM_TIMEOUT: Duration = Duration::from_secs(30);

static TS: Name = Name::new("ts");

/// Where an object keeps its handlers of each event.
static EVENTS: [(&str, Name); 4] = [
    ("data", Name::new("\u{0}data")),
    ("error", Name::new("\u{0}error")),
    ("end", Name::new("\u{0}end")),
    ("status", Name::new("\u{0}status")),
];

/// A stream of a script.
pub(super) struct Stream(Rc<Inner>);

/// The streams of a VU in this iteration; one that is over may be among them.
#[derive(Default)]
pub(super) struct Streams(RefCell<Vec<Weak<Inner>>>);

impl VuSlot for Streams {
    fn key() -> &'static SlotKey {
        static KEY: SlotKey = SlotKey::new();
        &KEY
    }

    fn new(_: &Host) -> Self {
        Self::default()
    }
}

impl Streams {
    fn add(&self, inner: &Rc<Inner>) {
        let mut streams = self.0.borrow_mut();
        // Doubled at most: those that are over are sorted out before there would have to be room for more.
        if streams.len() == streams.capacity() {
            streams.retain(|known| known.upgrade().is_some_and(|inner| !inner.is_over.get()));
        }
        streams.push(Rc::downgrade(inner));
    }

    pub(super) fn clear(&self) {
        self.0.borrow_mut().clear();
    }

    /// The iteration was stopped. As in k6, the script hears what had come by then, and then of the end. `was_waiting`: it
    /// was not busy with something else. `until`: what has not been told by then (unix ns), is lost.
    pub(super) fn tell_last_words(&self, ctx: Ctx<'_>, was_waiting: bool, until: u64) {
        let streams = self.0.take();
        let mut unheard = 0;
        for inner in streams.iter().filter_map(Weak::upgrade).filter(|inner| !inner.is_over.get()) {
            if clock::now_ns() > until {
                unheard += 1;
                inner.close(ctx);
                continue;
            }
            if let Ok(is_whole) = inner.tell_last_words(ctx, was_waiting, until) {
                unheard += u32::from(!is_whole);
            } else {
                drop(ctx.take_exception());
                inner.close(ctx);
            }
        }
        if unheard > 0 {
            log::warn!(
                "the iteration was stopped before all messages of {unheard} streams of gRPC were told"
            );
        }
    }
}

/// The next message, and the receiver again.
type Coming = Pin<Box<dyn Future<Output = (Receiver, Result<Bytes, Status>)>>>;

struct Inner {
    schema: Arc<Schema>,
    method: Arc<Method>,
    metrics: Metrics,
    labels: Labels,
    discards: bool,
    started: u64,
    deadline: Option<Instant>,
    sender: RefCell<Option<Sender>>,
    receiver: RefCell<Option<Receiver>>,
    /// While a message is waited for. It lies here, and not in the task that waits, so that the end of the iteration can
    /// have what came.
    coming: RefCell<Option<Coming>>,
    unsent: RefCell<VecDeque<Vec<u8>>>,
    unsent_bytes: Cell<usize>,
    /// Somebody sends what is unsent.
    is_sending: Cell<bool>,
    /// The script ended its side.
    is_ended: Cell<bool>,
    /// The one message of a method that takes no stream is written; our side ends with it.
    is_full: Cell<bool>,
    /// Nothing comes and goes any more.
    is_over: Cell<bool>,
    /// Told when there is room among the unsent, or when it is over.
    room: Notify,
    /// Why we gave it up.
    given_up: RefCell<Option<Status>>,
    given_up_told: Notify,
    /// The object, while something can still come of it.
    object: RefCell<Option<Root>>,
}

impl Class for Stream {
    const NAME: &'static std::ffi::CStr = c"Stream";

    fn members() -> &'static Members {
        static MEMBERS: LazyLock<Members> = LazyLock::new(|| {
            Members::new().method(c"end", 0, end).method(c"on", 2, on).method(c"write", 1, write)
        });
        &MEMBERS
    }
}

pub(super) fn construct<'js>(call: Call<'js>) -> JsResult<'js> {
    let ctx = call.ctx();
    let refuse =
        |what: &str, told: &str| throw(ctx, &format!("invalid GRPC Stream's {what}: {told}"));
    let given = call.argument(0);
    if given.is_nullish() {
        return Err(refuse("client", "empty gRPC client"));
    }
    let Some(client) = given.instance::<Client>() else {
        return Err(refuse("client", "not a gRPC client"));
    };
    let Some(link) = client.link() else {
        return Err(refuse("client", "no gRPC connection, you must call connect first"));
    };
    let name = call.argument(1).to_string_lossy()?;
    if name.is_empty() {
        return Err(refuse("method", "method to invoke cannot be empty"));
    }
    let (schema, method) = client.find(&name).map_err(|told| refuse("method", &told))?;
    let params = Params::of_stream(&call.argument(2)).map_err(|refusal| match refusal {
        Refusal::Thrown(thrown) => thrown,
        Refusal::Told(told) => refuse("parameters", &told),
    })?;
    let named =
        Named { url: format!("{}{}", link.address, method.path), method: Arc::clone(&method) };
    let labels = Labels { base: VuState::of(ctx).tags(), named: Some(named), own: params.tags };
    let started = clock::now_ns();
    let about = brunt_grpc::Call {
        path: &method.path,
        metadata: params.metadata.as_ref(),
        timeout: capped(ctx, params.timeout),
    };
    let begun = block_on(async {
        // A stream may take as long as it wants; to dial anew may not.
        let channel = timeout(params.timeout.unwrap_or(DIAL_TIMEOUT), link.channel()).await;
        let channel = channel.map_err(|_| Status::deadline_exceeded())?;
        let channel = channel.map_err(|told| Status::new(Status::UNAVAILABLE, told))?;
        channel.stream(&about).await
    });
    let Ok(begun) = begun else { return Err(throw_stopped(ctx)) };
    let streaming = begun.map_err(|status| {
        throw(ctx, &format!("failed to create a new stream: {}", status.as_error()))
    })?;
    labels.add(ctx, client.metrics.streams, 1.0, started, None);
    let inner = Rc::new(Inner {
        schema,
        method,
        metrics: client.metrics,
        labels,
        discards: params.discards,
        started,
        deadline: params.timeout.map(|timeout| Instant::now() + timeout),
        sender: RefCell::new(Some(streaming.sender)),
        receiver: RefCell::new(Some(streaming.receiver)),
        coming: RefCell::default(),
        unsent: RefCell::default(),
        unsent_bytes: Cell::new(0),
        is_sending: Cell::new(false),
        is_ended: Cell::new(false),
        is_full: Cell::new(false),
        is_over: Cell::new(false),
        room: Notify::new(),
        given_up: RefCell::default(),
        given_up_told: Notify::new(),
        object: RefCell::default(),
    });
    let object = ctx.instance(Stream(Rc::clone(&inner)))?;
    for (_, place) in &EVENTS {
        object.define_hidden(place, ctx.array()?)?;
    }
    *inner.object.borrow_mut() = Some(ctx.root(object.clone()));
    Host::of(ctx).slot::<Streams>().add(&inner);
    listen(ctx, inner);
    Ok(object)
}

fn this<'a>(call: &Call<'_>, this: &'a Value<'_>) -> JsResult<'a, &'a Rc<Inner>> {
    let stream = this.instance::<Stream>().map(|stream| &stream.0);
    stream.ok_or_else(|| call.ctx().throw_type("this is not a gRPC stream"))
}

fn on<'js>(call: Call<'js>) -> JsResult<'js> {
    let (ctx, object, handler) = (call.ctx(), call.this(), call.argument(1));
    this(&call, &object)?;
    let event = text_or_empty(&call.argument(0))?;
    if !handler.is_function() && !handler.is_nullish() {
        let told = format!(
            "could not convert function call parameter 1: could not convert {} to \
             func(sobek.Value, sobek.Value) (sobek.Value, error)",
            handler.to_string_lossy()?
        );
        return Err(throw_type(ctx, &told));
    }
    if !handler.is_function() {
        let told = format!("handler for {event:?} event isn't a callable function");
        return Err(throw(ctx, &told));
    }
    match EVENTS.iter().find(|known| known.0 == event) {
        Some((_, place)) => {
            let handlers = object.get(place)?;
            let count = handlers.length()?;
            handlers.set_index(count, handler)?;
        }
        None => log::warn!(
            "can't register {event} event handler: unknown GRPC stream's event type: {event}"
        ),
    }
    Ok(ctx.undefined())
}

fn write<'js>(call: Call<'js>) -> JsResult<'js> {
    let (ctx, object, message) = (call.ctx(), call.this(), call.argument(0));
    let inner = this(&call, &object)?;
    if message.is_nullish() {
        log::warn!("streamMethod" = inner.method.path.as_str(); "can't send empty message");
        return Ok(ctx.undefined());
    }
    if inner.is_ended.get() || inner.is_over.get() {
        return Ok(ctx.undefined());
    }
    match request::bytes(ctx, &inner.schema, &inner.method, &message)? {
        Err(told) => {
            let told = format!("can't serialise request object to protocol buffer: {told}");
            inner.give_up(Status::new(Status::UNKNOWN, told));
        }
        Ok(_) if inner.is_full.get() => {
            inner.give_up(Status::new(Status::INTERNAL, "SendMsg called after CloseSend"));
        }
        Ok(bytes) => {
            inner.wait_for_room(ctx)?;
            inner.unsent_bytes.set(inner.unsent_bytes.get() + bytes.len());
            inner.unsent.borrow_mut().push_back(bytes);
            inner.is_full.set(!inner.method.is_client_stream);
            send(ctx, inner);
        }
    }
    Ok(ctx.undefined())
}

fn end<'js>(call: Call<'js>) -> JsResult<'js> {
    let (ctx, object) = (call.ctx(), call.this());
    let inner = this(&call, &object)?;
    if !inner.is_ended.replace(true) {
        send(ctx, inner);
    }
    Ok(ctx.undefined())
}

/// Sends the unsent messages, unless a task does so already.
fn send(ctx: Ctx<'_>, inner: &Rc<Inner>) {
    if inner.is_sending.replace(true) {
        return;
    }
    let mine = Rc::clone(inner);
    Host::of(ctx).events().spawn_heard(
        async move {
            let sent = mine.send_all().await;
            // Not when the loop hears of it: a script that writes on and on doesn't let the loop run.
            mine.is_sending.set(false);
            (mine, sent)
        },
        |ctx, (inner, sent)| {
            for at in sent {
                inner.labels.add(ctx, inner.metrics.sent, 1.0, at, None);
            }
            // The end, which was said after the last look.
            if brunt_fiber::is_aborted() {
                return Ok(());
            }
            if !inner.unsent.borrow().is_empty() || inner.has_end_to_send() {
                send(ctx, &inner);
            }
            Ok(())
        },
    );
}

/// Waits for what comes next, and tells it to the script.
fn listen(ctx: Ctx<'_>, inner: Rc<Inner>) {
    Host::of(ctx).events().spawn_heard(
        async move {
            let came = inner.next().await;
            (inner, clock::now_ns(), came)
        },
        |ctx, (inner, at, came)| match came {
            Ok(bytes) => match inner.received(ctx, &bytes, at) {
                Ok(Ok(())) => {
                    if !brunt_fiber::is_aborted() {
                        listen(ctx, inner);
                    }
                    Ok(())
                }
                Ok(Err(status)) => inner.ended(ctx, &status, at),
                Err(thrown) => {
                    inner.close(ctx);
                    Err(thrown)
                }
            },
            Err(status) => inner.ended(ctx, &status, at),
        },
    );
}

impl Inner {
    fn has_end_to_send(&self) -> bool {
        self.is_last_written() && !self.is_over.get() && self.sender.borrow().is_some()
    }

    fn is_last_written(&self) -> bool {
        self.is_ended.get() || self.is_full.get()
    }

    /// Lets those who send do so, if much is unsent.
    fn wait_for_room<'js>(&self, ctx: Ctx<'js>) -> JsResult<'js, ()> {
        if self.unsent.borrow().len().is_multiple_of(TURN)
            && !self.unsent.borrow().is_empty()
            && brunt_fiber::yield_now().is_err()
        {
            return Err(throw_stopped(ctx));
        }
        while self.unsent_bytes.get() >= UNSENT_MAX && !self.is_over.get() {
            match block_on(timeout(ROOM_TIMEOUT, self.room.notified())) {
                Err(_) => return Err(throw_stopped(ctx)),
                Ok(Ok(())) => {}
                Ok(Err(_)) => self.give_up(Status::new(
                    Status::RESOURCE_EXHAUSTED,
                    "the server takes no more messages, and too many wait to be sent",
                )),
            }
        }
        Ok(())
    }

    /// Sends all there is; returns when each message went.
    async fn send_all(&self) -> Vec<u64> {
        let mut sent = Vec::new();
        let Some(mut sender) = self.sender.borrow_mut().take() else {
            self.drop_unsent();
            return sent;
        };
        loop {
            let next = self.unsent.borrow_mut().pop_front();
            let Some(message) = next else { break };
            self.unsent_bytes.set(self.unsent_bytes.get() - message.len());
            let done = tokio::select! {
                done = sender.send(&message) => done,
                () = self.room_if_over() => Ok(false),
            };
            match done {
                Ok(true) => sent.push(clock::now_ns()),
                // The receiver tells why.
                Ok(false) => {
                    self.drop_unsent();
                    return sent;
                }
                Err(status) => {
                    self.give_up(status);
                    return sent;
                }
            }
            self.room.notify_one();
        }
        if self.is_over.get() {
            return sent;
        }
        if self.is_last_written() {
            sender.finish();
        } else {
            *self.sender.borrow_mut() = Some(sender);
        }
        sent
    }

    /// The messages are no longer taken.
    fn drop_unsent(&self) {
        self.unsent.borrow_mut().clear();
        self.unsent_bytes.set(0);
        self.room.notify_one();
    }

    /// Returns when the stream was given up.
    async fn room_if_over(&self) {
        while !self.is_over.get() {
            self.given_up_told.notified().await;
        }
    }

    /// The next message, or the end.
    async fn next(&self) -> Result<Bytes, Status> {
        if self.receiver.borrow().is_none() && self.coming.borrow().is_none() {
            return Err(self.why());
        }
        let deadline = self.deadline;
        let next = async {
            let next = poll_fn(|cx| self.poll_next(cx));
            match deadline {
                None => next.await,
                Some(deadline) => timeout_at(deadline, next)
                    .await
                    .unwrap_or_else(|_| Err(Status::deadline_exceeded())),
            }
        };
        tokio::select! {
            biased;
            () = self.room_if_over() => Err(self.why()),
            came = next => came,
        }
    }

    /// After the end, there is no receiver any more.
    fn poll_next(&self, cx: &mut Context<'_>) -> Poll<Result<Bytes, Status>> {
        let mut coming = self.coming.borrow_mut();
        if coming.is_none() {
            let Some(mut receiver) = self.receiver.borrow_mut().take() else {
                return Poll::Ready(Err(self.why()));
            };
            *coming = Some(Box::pin(async move {
                let came = receiver.next().await;
                (receiver, came)
            }));
        }
        let Some(future) = &mut *coming else { return Poll::Pending };
        let (receiver, came) = ready!(future.as_mut().poll(cx));
        *coming = None;
        if came.is_ok() {
            *self.receiver.borrow_mut() = Some(receiver);
        }
        Poll::Ready(came)
    }

    /// Returns whether all that came was told.
    fn tell_last_words<'js>(
        &self,
        ctx: Ctx<'js>,
        was_waiting: bool,
        until: u64,
    ) -> JsResult<'js, bool> {
        let mut cx = Context::from_waker(Waker::noop());
        let mut at = clock::now_ns();
        while !self.is_over.get() {
            match self.poll_next(&mut cx) {
                Poll::Ready(Ok(bytes)) => {
                    if let Err(status) = self.received(ctx, &bytes, at)? {
                        return self.ended(ctx, &status, at).map(|()| true);
                    }
                }
                Poll::Ready(Err(status)) => return self.ended(ctx, &status, at).map(|()| true),
                Poll::Pending => {
                    let status =
                        if was_waiting { Status::default() } else { Status::deadline_exceeded() };
                    // We gave it up ourselves, and measure nothing.
                    self.given_up.borrow_mut().get_or_insert_with(|| status.clone());
                    return self.ended(ctx, &status, at).map(|()| true);
                }
            }
            at = clock::now_ns();
            if at > until {
                self.close(ctx);
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn why(&self) -> Status {
        let status = self.given_up.borrow().clone();
        status.unwrap_or_else(|| Status::new(Status::CANCELED, "canceled by client (k6)"))
    }

    /// Cancels the call: the script did what cannot be sent.
    fn give_up(&self, status: Status) {
        self.given_up.borrow_mut().get_or_insert(status);
        self.is_over.set(true);
        self.given_up_told.notify_waiters();
        self.given_up_told.notify_one();
        self.room.notify_waiters();
    }

    /// Tells a message. The inner error: it is none of its type.
    fn received<'js>(
        &self,
        ctx: Ctx<'js>,
        bytes: &[u8],
        at: u64,
    ) -> JsResult<'js, Result<(), Status>> {
        let text = match self.schema.decode(&self.method, bytes) {
            Ok(_) if self.discards => "{}".to_owned(),
            Ok(text) => text,
            Err(error) => return Ok(Err(unreadable(&error))),
        };
        // k6 learns of the only message together with the status.
        let status = (!self.method.is_server_stream).then_some(0);
        self.labels.add(ctx, self.metrics.received, 1.0, at, status);
        let message = ctx.parse_json(text.as_bytes()).map_err(|error| ctx.throw_json(error))?;
        self.tell(ctx, 0, &message, at).map(|_| Ok(()))
    }

    /// Calls the handlers of an event; returns whether there are any.
    fn tell<'js>(
        &self,
        ctx: Ctx<'js>,
        event: usize,
        value: &Value<'js>,
        at: u64,
    ) -> JsResult<'js, bool> {
        let object = match &*self.object.borrow() {
            Some(root) => ctx.rooted(root),
            None => return Ok(false),
        };
        let handlers = object.get(&EVENTS[event].1)?;
        let count = handlers.length()?;
        if count == 0 {
            return Ok(false);
        }
        let when = ctx.object_from([(&TS, ctx.number((at / 1_000_000_000) as f64))])?;
        for index in 0..count {
            let handler = handlers.get_index(index)?;
            handler.call(&ctx.undefined(), &[value.clone(), when.clone()])?;
        }
        Ok(true)
    }

    /// The stream is over: the sample, then the events.
    fn ended<'js>(&self, ctx: Ctx<'js>, status: &Status, at: u64) -> JsResult<'js, ()> {
        let is_late = status.code == Status::DEADLINE_EXCEEDED
            && self.deadline.is_some_and(|deadline| deadline <= Instant::now());
        // k6 measures nothing when it gave up itself.
        if !is_late && self.given_up.borrow().is_none() {
            self.labels.took(ctx, self.metrics, (self.started, at), status.code);
        }
        self.is_over.set(true);
        let told = self.tell_end(ctx, status, at);
        self.close(ctx);
        told
    }

    fn tell_end<'js>(&self, ctx: Ctx<'js>, status: &Status, at: u64) -> JsResult<'js, ()> {
        if !status.is_ok() {
            // Whom the server cancels is told so in k6's words.
            let is_cancel = status.code == Status::CANCELED;
            let shown = if is_cancel {
                Status::new(Status::UNKNOWN, "canceled by client (k6)")
            } else {
                status.clone()
            };
            let error = stream_error(ctx, &self.schema, &shown)?;
            if !self.tell(ctx, 1, &error, at)? {
                let ours = self.given_up.borrow().is_some();
                let text = if ours { shown.message.clone() } else { shown.as_error() };
                log::warn!(
                    "streamMethod" = self.method.path.as_str();
                    "no handlers for error registered, but an error happened: {text}"
                );
            }
        }
        self.tell(ctx, 2, &ctx.null(), at).map(drop)
    }

    /// Nothing comes of it any more.
    fn close(&self, ctx: Ctx<'_>) {
        self.is_over.set(true);
        self.given_up_told.notify_waiters();
        self.given_up_told.notify_one();
        self.room.notify_waiters();
        drop((self.sender.borrow_mut().take(), self.receiver.borrow_mut().take()));
        drop(self.coming.borrow_mut().take());
        let object = self.object.borrow_mut().take();
        drop(object.map(|object| ctx.unroot(object)));
    }
}
