//! A client: its sessions one after the other, and its samples.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use brunt_js::{Host, Line, SlotKey};
use brunt_metrics::MetricId;
use brunt_quickjs::error::ErrorKind;
use brunt_quickjs::{Ctx, JsResult};
use rumqttc::mqttbytes::v4::Publish;
use tokio::sync::Notify;

use super::asked::{Connecting, Doing, Identity};
use super::session::{Login, Session};
use crate::extension::backlog::Backlog;
use crate::extension::events::Emitter;
use crate::extension::handlers::Handlers;
use crate::extension::meters::{Meters, counter};
use crate::extension::{Link, OwnTags};
use crate::state::VuState;

/// Bytes of messages that wait for the script; beyond them, nothing is read.
const WAITING_MAX: usize = 256 << 10;

/// The same while the script waits for an answer of the broker's, which may come after many messages.
const WAITING_MAX_ASKED: usize = 16 << 20;

/// The cost of a message beside its bytes.
const MESSAGE_COST: usize = 128;

/// The events that a script may listen to, in the order of [`Emitter::EVENTS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Event {
    Connect,
    Message,
    End,
    Reconnect,
    Error,
}

impl Emitter for Client {
    const EVENTS: &'static [&'static str] = &["connect", "message", "end", "reconnect", "error"];
    const CONNECT: usize = Event::Connect as usize;
    const ERROR: usize = Event::Error as usize;

    /// In which method, and what.
    type Why = (&'static str, String);

    fn handlers(&self) -> &Handlers {
        &self.handlers
    }

    fn error<'js>(ctx: Ctx<'js>, (method, message): &Self::Why) -> JsResult<'js> {
        error(ctx, method, message)
    }
}

/// `MQTTError`: what went wrong, and in which method.
pub(super) fn error<'js>(ctx: Ctx<'js>, method: &str, message: &str) -> JsResult<'js> {
    let error = ctx.error(ErrorKind::Plain, message);
    error.define_hidden("name", ctx.string("MQTTError")?)?;
    error.define("method", ctx.string(method)?)?;
    Ok(error)
}

/// The metrics of all clients.
#[derive(Clone, Copy)]
pub(super) struct ClientMeters {
    calls: MetricId,
    errors: MetricId,
    sent: MetricId,
    received: MetricId,
}

impl Meters for ClientMeters {
    fn key() -> &'static SlotKey {
        static KEY: SlotKey = SlotKey::new();
        &KEY
    }

    fn declare(ctx: Ctx<'_>) -> JsResult<'_, Self> {
        Ok(Self {
            calls: counter(ctx, "mqtt_calls")?,
            errors: counter(ctx, "mqtt_errors")?,
            sent: counter(ctx, "mqtt_messages_sent")?,
            received: counter(ctx, "mqtt_messages_received")?,
        })
    }
}

pub(super) struct Client {
    meters: ClientMeters,
    identity: Identity,
    own: OwnTags,
    /// The own tags and those of the connection.
    tags: RefCell<OwnTags>,
    /// It was made in init code: what it calls stays for the next iteration.
    is_lasting: bool,
    pub(super) handlers: Handlers,
    session: RefCell<Option<Rc<Session>>>,
    last: RefCell<Option<Rc<Connecting>>>,
    /// For an answer of the broker's.
    timeout: Cell<Duration>,
    /// Bytes of messages that the script has not seen.
    waiting: Cell<usize>,
    room: Notify,
    /// The messages of promises that are still to be written or answered.
    pub(super) backlog: Rc<Backlog>,
}

impl Client {
    pub(super) fn new(
        meters: ClientMeters,
        identity: Identity,
        own: OwnTags,
        is_lasting: bool,
    ) -> Self {
        Self {
            meters,
            identity,
            tags: RefCell::new(own.clone()),
            own,
            is_lasting,
            handlers: Handlers::default(),
            session: RefCell::default(),
            last: RefCell::default(),
            timeout: Cell::default(),
            waiting: Cell::default(),
            room: Notify::new(),
            backlog: Rc::default(),
        }
    }

    pub(super) fn is_connected(&self) -> bool {
        self.session.borrow().is_some()
    }

    pub(super) fn last(&self) -> Option<Rc<Connecting>> {
        self.last.borrow().clone()
    }

    pub(super) fn identity<'js>(&self, ctx: Ctx<'js>) -> JsResult<'js, Result<Login, String>> {
        self.identity.login(ctx)
    }

    /// It is about to be connected.
    pub(super) fn begin(&self, connecting: &Connecting) {
        self.name(connecting, connecting.url());
    }

    fn name(&self, connecting: &Connecting, url: &str) {
        let mut tags = OwnTags::default();
        tags.set("proto", "MQTT/3.1.1");
        if let Some(id) = self.identity.client_id() {
            tags.set("client_id", id);
        }
        tags.set("url", url);
        *self.tags.borrow_mut() = tags.with(&self.own).with(&connecting.tags);
    }

    /// It is connected.
    pub(super) fn opened(
        &self,
        session: Session,
        url: &str,
        connecting: Rc<Connecting>,
    ) -> Rc<Session> {
        self.name(&connecting, url);
        self.timeout.set(connecting.timeout);
        *self.last.borrow_mut() = Some(connecting);
        let session = Rc::new(session);
        *self.session.borrow_mut() = Some(Rc::clone(&session));
        session
    }

    /// Tells the script what comes, until nothing more does.
    pub(super) async fn read(self: &Rc<Self>, session: &Rc<Session>, line: &Line) {
        let why = loop {
            let room = self.room.notified();
            let most = if session.is_asked() { WAITING_MAX_ASKED } else { WAITING_MAX };
            if self.waiting.get() > most {
                // The script may begin to wait for an answer: that allows for more.
                drop(tokio::time::timeout(Duration::from_millis(100), room).await);
                continue;
            }
            match session.next().await {
                Ok(message) => {
                    let cost = message.payload.len() + message.topic.len() + MESSAGE_COST;
                    self.waiting.set(self.waiting.get() + cost);
                    let told = Rc::clone(self);
                    line.tell(move |ctx| told.tell_message(ctx, &message, cost));
                }
                Err(why) => break why,
            }
        };
        session.close();
        let (told, session) = (Rc::clone(self), Rc::clone(session));
        line.tell(move |ctx| told.tell_end(ctx, &session, &why));
    }

    fn tell_message<'js>(
        &self,
        ctx: Ctx<'js>,
        message: &Publish,
        cost: usize,
    ) -> JsResult<'js, ()> {
        // Messages that were told before the last iteration ended do not count.
        self.waiting.set(self.waiting.get().saturating_sub(cost));
        self.room.notify_waiters();
        self.add(ctx, self.meters.received, "message", &OwnTags::default());
        if !self.handlers.has(Event::Message as usize) {
            return Ok(());
        }
        let topic = ctx.string(&message.topic)?;
        let payload = ctx.array_buffer(message.payload.to_vec())?;
        self.handlers.call(ctx, Event::Message as usize, &[topic, payload])
    }

    /// The connection is over.
    fn tell_end<'js>(&self, ctx: Ctx<'js>, session: &Rc<Session>, why: &str) -> JsResult<'js, ()> {
        let is_this =
            self.session.borrow().as_ref().is_some_and(|known| Rc::ptr_eq(known, session));
        if is_this {
            // It did not end from this side.
            self.session.borrow_mut().take();
            self.count_error(ctx, "connect", &OwnTags::default());
            let error = error(ctx, "connect", why)?;
            self.handlers.call(ctx, Event::Error as usize, &[error])?;
        }
        self.handlers.call(ctx, Event::End as usize, &[])
    }

    /// Closes the session, if there is one. Its task tells the script.
    pub(super) fn close(&self) {
        let session = self.session.borrow_mut().take();
        if let Some(session) = session {
            session.close();
        }
    }

    /// Does what a script asked for.
    pub(super) async fn carry_out(self: Rc<Self>, doing: Doing) -> Result<(), String> {
        let session = match doing {
            // From now on, it is not connected.
            Doing::End => self.session.borrow_mut().take(),
            _ => self.session.borrow().clone(),
        };
        let Some(session) = session else {
            return match doing {
                Doing::End => Ok(()),
                _ => Err("the client is not connected".to_owned()),
            };
        };
        if let Doing::End = doing {
            session.disconnect().await;
            return Ok(());
        }
        let answer = async {
            match &doing {
                Doing::Publish { topic, payload, qos, retain } => {
                    session.publish(topic, payload, *qos, *retain).await
                }
                Doing::Subscribe { filters, qos } => session.subscribe(filters, *qos).await,
                Doing::Unsubscribe { filters } => session.unsubscribe(filters).await,
                Doing::End => Ok(()),
            }
        };
        match tokio::time::timeout(self.timeout.get(), answer).await {
            Ok(done) => done,
            Err(_) => Err("the broker gave no answer: i/o timeout".to_owned()),
        }
    }

    /// The request is done.
    pub(super) fn done(&self, ctx: Ctx<'_>, method: &str, tags: &OwnTags) {
        if method == "publish" {
            self.add(ctx, self.meters.sent, method, tags);
        }
    }

    pub(super) fn count_call(&self, ctx: Ctx<'_>, method: &str, tags: &OwnTags) {
        self.add(ctx, self.meters.calls, method, tags);
    }

    pub(super) fn count_error(&self, ctx: Ctx<'_>, method: &str, tags: &OwnTags) {
        self.add(ctx, self.meters.errors, method, tags);
    }

    fn add(&self, ctx: Ctx<'_>, metric: MetricId, method: &str, tags: &OwnTags) {
        let mut all = self.tags.borrow().clone();
        all.set("method", method);
        let all = all.with(tags);
        VuState::of(ctx).add(Host::of(ctx), metric, 1.0, &all.pairs());
    }
}

impl Link for Client {
    fn cut(&self) {
        self.close();
        self.waiting.set(0);
        if !self.is_lasting {
            self.handlers.clear();
        }
    }
}
