//! An open connection of `k6/ws` and its loop.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::future::poll_fn;
use std::pin::pin;
use std::rc::Rc;
use std::task::Poll;
use std::time::Duration;

use brunt_fiber::{block_on, clock};
use brunt_net::budget::{STEP, Share};
use brunt_quickjs::{Call, Ctx, JsResult, Name, Root, Value};
use brunt_websocket::{Close, Ended, Event, Kind, Socket, Violation};

use super::tally::{Pings, Tally};
use crate::go_error::{bare_end, bare_start};
use crate::throwing::{throw, throw_stopped, throw_type};

static CODE: Name = Name::new("code");
static TEXT: Name = Name::new("text");

/// The maximum number of bytes that `send()` leaves unwritten; beyond it, it waits, as k6 does from the first byte on.
/// Until then the loop goes on, with its timers, though the other side doesn't read.
const BUFFERED_MAX: usize = 128 << 20;

/// When the script closes, what is unwritten still goes out, as long as some of it does in this time.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// Messages of one handler are sent together until they have this many bytes.
const TOGETHER_MAX: usize = 16 * 1024;

/// How k6 closes when the script didn't say.
const GOING_AWAY: i64 = 1001;

/// The error of messages after the end.
const CLOSE_SENT: &str = "websocket: close sent";

/// Longer timers have no end that Go's clock could name, in milliseconds.
const TIMER_MAX_MS: f64 = 9_223_372_036_854.0;

/// The events of handlers.
#[derive(Clone, Copy, PartialEq, Eq)]
enum On {
    Open,
    Message,
    Binary,
    Ping,
    Pong,
    Error,
    Close,
}

impl On {
    fn of(name: &str) -> Option<Self> {
        Some(match name {
            "open" => Self::Open,
            "message" => Self::Message,
            "binaryMessage" => Self::Binary,
            "ping" => Self::Ping,
            "pong" => Self::Pong,
            "error" => Self::Error,
            "close" => Self::Close,
            _ => return None,
        })
    }
}

struct Timer {
    function: Option<Root>,
    /// Nanoseconds between runs.
    every: Option<u64>,
}

pub(super) struct Session {
    socket: Socket,
    tally: Tally,
    pings: Pings,
    handlers: RefCell<Vec<(On, Root)>>,
    /// By (due in unix ns, id).
    timers: RefCell<BTreeMap<(u64, u32), Timer>>,
    last_timer: Cell<u32>,
    is_closed: Cell<bool>,
    /// The iteration was stopped while it was open.
    is_stopped: Cell<bool>,
    /// The queue's share of the memory that the process may use.
    queued: RefCell<Share>,
    /// An error is being told: handlers that fail meanwhile do not tell another.
    tells_error: Cell<bool>,
}

/// The next step of the loop.
enum Next {
    Event(Event),
    Ended(Ended),
    Timer,
}

/// Calls the script's function and runs the loop until the connection is closed.
pub(super) fn run<'js>(
    ctx: Ctx<'js>,
    session: &Rc<Session>,
    function: &Value<'js>,
) -> JsResult<'js, ()> {
    let object = object(ctx, session)?;
    let ran = function.call(&ctx.undefined(), &[object]).map(drop);
    let ran = ran.and_then(|()| session.fire(ctx, On::Open, &[])).and_then(|()| session.turn(ctx));
    if ran.is_err() {
        // As in k6, a script that is stopped hears of nothing more.
        if brunt_fiber::is_aborted() {
            session.is_stopped.set(true);
            return ran;
        }
        // The exception waits while the script is told that the connection is closed.
        let exception = ctx.take_exception();
        session.close(ctx, GOING_AWAY)?;
        if let Some(exception) = exception {
            return Err(if exception.uncatchable {
                throw_stopped(ctx)
            } else {
                ctx.throw_again(exception)
            });
        }
    }
    ran
}

/// The object for the script: its methods need no `this`.
fn object<'js>(ctx: Ctx<'js>, session: &Rc<Session>) -> JsResult<'js> {
    macro_rules! methods {
        ($($name:literal, $length:literal, $method:expr;)*) => {{
            let object = ctx.object()?;
            $({
                let session = Rc::clone(session);
                let method: for<'a> fn(&Session, Call<'a>) -> JsResult<'a> = $method;
                let name = $name.to_str().expect("names of methods are ASCII");
                object.define(name, ctx.closure($name, $length, move |call| method(&session, call))?)?;
            })*
            object
        }};
    }
    Ok(methods! {
        c"close", 1, |session, call| {
            let given = call.argument(0);
            let code = if call.is_empty() { GOING_AWAY as f64 } else { given.to_number()? };
            session.close(call.ctx(), code as i64)?;
            Ok(call.ctx().undefined())
        };
        c"on", 2, |session, call| {
            let (ctx, function) = (call.ctx(), call.argument(1));
            if let Some(on) = On::of(&call.argument(0).to_string_lossy()?)
                && function.is_function()
            {
                session.handlers.borrow_mut().push((on, ctx.root(function)));
            }
            Ok(ctx.undefined())
        };
        c"ping", 0, |session, call| {
            if !session.is_closed.get() && session.socket.ping(session.pings.next().as_bytes()) {
                session.socket.flush_now();
            } else {
                session.unsent(call.ctx())?;
            }
            Ok(call.ctx().undefined())
        };
        c"send", 1, |session, call| {
            let text = call.argument(0);
            if text.is_nullish() {
                return session.send(call.ctx(), Kind::Text, b"");
            }
            session.send(call.ctx(), Kind::Text, text.to_js_str()?.as_str().as_bytes())
        };
        c"sendBinary", 1, |session, call| {
            let (ctx, bytes) = (call.ctx(), call.argument(0));
            if call.is_empty() {
                return Err(throw(ctx, "missing argument, expected ArrayBuffer"));
            }
            if !bytes.is_array_buffer() {
                let kind = kind_of(&bytes);
                return Err(throw(ctx, &format!("expected ArrayBuffer as argument, received: {kind}")));
            }
            let bytes = bytes.with_bytes(<[u8]>::to_vec).unwrap_or_default();
            session.send(ctx, Kind::Binary, &bytes)
        };
        c"setInterval", 2, |session, call| session.set_timer(&call, "setInterval", true);
        c"setTimeout", 2, |session, call| session.set_timer(&call, "setTimeout", false);
    })
}

/// As k6 calls the kinds of values.
fn kind_of(value: &Value<'_>) -> &'static str {
    if value.is_undefined() {
        "undefined"
    } else if value.is_null() {
        "null"
    } else if value.is_string() {
        "String"
    } else if value.is_number() {
        "Number"
    } else if value.is_bool() {
        "Boolean"
    } else if value.is_array() {
        "Array"
    } else if value.is_data_view() {
        "DataView"
    } else {
        let kinds = [
            (value.is_function(), "Function"),
            (value.is_date(), "Date"),
            (value.is_reg_exp(), "RegExp"),
            (value.is_map(), "Map"),
            (value.is_set(), "Set"),
            (value.is_promise(), "Promise"),
            (value.is_error(), "Error"),
        ];
        let kind = kinds.into_iter().find_map(|(is_it, kind)| is_it.then_some(kind));
        kind.or(value.typed_array_name()).unwrap_or("Object")
    }
}

impl Session {
    pub(super) fn new(socket: Socket, tally: Tally) -> Self {
        Self {
            socket,
            tally,
            pings: Pings::default(),
            handlers: RefCell::default(),
            timers: RefCell::default(),
            last_timer: Cell::new(0),
            is_closed: Cell::new(false),
            is_stopped: Cell::new(false),
            queued: RefCell::default(),
            tells_error: Cell::new(false),
        }
    }

    /// Waits and does what there is to do, until it is closed.
    fn turn<'js>(&self, ctx: Ctx<'js>) -> JsResult<'js, ()> {
        // A timer that is always due leaves every second turn to the socket, and to the other VUs of the core.
        let mut has_timer_run = false;
        while !self.is_closed.get() {
            let due = self.timers.borrow().keys().next().copied();
            let next = match due {
                Some(key) if key.0 <= clock::now_ns() && !has_timer_run => Next::Timer,
                _ => self.wait(due.map(|key| key.0)).ok_or_else(|| throw_stopped(ctx))?,
            };
            has_timer_run = matches!(next, Next::Timer);
            match next {
                Next::Timer => self.run_timer(ctx)?,
                Next::Event(event) => self.tell(ctx, event)?,
                Next::Ended(Ended::HungUp) => return Ok(()),
                Next::Ended(Ended::Closed(close)) => {
                    if !matches!(close.code, 1000 | 1001) {
                        self.fire_error(ctx, &close.to_string(), Some(&close))?;
                    }
                    self.close(ctx, i64::from(close.code))?;
                }
                Next::Ended(Ended::Failed(failure)) => {
                    self.fire_error(ctx, &failure.to_string(), None)?;
                    self.close(ctx, GOING_AWAY)?;
                }
                Next::Ended(Ended::Broken(violation)) => {
                    log::debug!("a WebSocket was closed: {violation}");
                    // All that k6 tells: it has answered the violation and can't close once more.
                    let told = match violation {
                        Violation::TooLong | Violation::TooMuch | Violation::Flood => {
                            violation.to_string()
                        }
                        _ => CLOSE_SENT.to_owned(),
                    };
                    self.fire_error(ctx, &told, None)?;
                    self.close(ctx, GOING_AWAY)?;
                }
            }
        }
        Ok(())
    }

    /// `None`: the VU was stopped.
    fn wait(&self, due: Option<u64>) -> Option<Next> {
        let socket = &self.socket;
        let next = poll_fn(|cx| {
            socket.poll_next(cx).map(|next| match next {
                Ok(event) => Next::Event(event),
                Err(ended) => Next::Ended(ended),
            })
        });
        let Some(due) = due else { return block_on(next).ok() };
        let left = Duration::from_nanos(due.saturating_sub(clock::now_ns()));
        block_on(async move {
            let mut next = pin!(next);
            let mut sleep = pin!(tokio::time::sleep(left));
            poll_fn(|cx| match next.as_mut().poll(cx) {
                Poll::Ready(next) => Poll::Ready(next),
                Poll::Pending => sleep.as_mut().poll(cx).map(|()| Next::Timer),
            })
            .await
        })
        .ok()
    }

    fn tell<'js>(&self, ctx: Ctx<'js>, event: Event) -> JsResult<'js, ()> {
        match event {
            Event::Message(kind, bytes) => {
                self.tally.received(&bytes);
                let (on, value) = match kind {
                    Kind::Text => (On::Message, ctx.string_from_utf8(&bytes)?),
                    Kind::Binary => (On::Binary, ctx.array_buffer(bytes)?),
                };
                self.fire(ctx, on, &[value])
            }
            Event::Ping(_) => self.fire(ctx, On::Ping, &[]),
            Event::Pong(payload) => {
                if let Some(pinged) = self.pings.answered(&payload) {
                    self.tally.ponged(pinged);
                }
                self.fire(ctx, On::Pong, &[])
            }
            Event::Close(_) => Ok(()),
        }
    }

    /// Calls the handlers of an event, in the order in which they were added.
    fn fire<'js>(&self, ctx: Ctx<'js>, on: On, arguments: &[Value<'js>]) -> JsResult<'js, ()> {
        let mut at = 0;
        loop {
            let handler = {
                let handlers = self.handlers.borrow();
                let found = handlers.iter().enumerate().skip(at).find(|(_, (of, _))| *of == on);
                match found {
                    None => return Ok(()),
                    Some((place, (_, root))) => {
                        at = place + 1;
                        ctx.rooted(root)
                    }
                }
            };
            handler.call(&ctx.undefined(), arguments)?;
        }
    }

    fn fire_error<'js>(
        &self,
        ctx: Ctx<'js>,
        text: &str,
        close: Option<&Close>,
    ) -> JsResult<'js, ()> {
        if self.tells_error.replace(true) {
            return Ok(());
        }
        let error = bare_start(ctx, text)?;
        if let Some(close) = close {
            error.define(&CODE, ctx.int(i32::from(close.code)))?;
            error.define(&TEXT, ctx.string(&close.reason)?)?;
        }
        bare_end(ctx, &error)?;
        let fired = self.fire(ctx, On::Error, &[error]);
        self.tells_error.set(false);
        fired
    }

    /// Closes, and says so; only the first time. Codes that no frame can carry are told all the same, as in k6.
    fn close<'js>(&self, ctx: Ctx<'js>, code: i64) -> JsResult<'js, ()> {
        if self.is_closed.replace(true) {
            return Ok(());
        }
        self.say_last_words();
        self.socket.close(code as u16, "");
        self.socket.flush_now();
        self.fire(ctx, On::Close, &[ctx.number(code as f64)])
    }

    /// Waits until what was sent is written, as long as the other side reads.
    fn say_last_words(&self) {
        self.socket.flush_now();
        loop {
            let left = self.socket.buffered();
            if left == 0 {
                return;
            }
            let some = tokio::time::timeout(
                LAST_WORDS,
                self.socket.drained(left.saturating_sub(STEP as usize)),
            );
            if !matches!(block_on(some), Ok(Ok(()))) {
                return;
            }
        }
    }

    /// The error of messages after the end.
    fn unsent<'js>(&self, ctx: Ctx<'js>) -> JsResult<'js, ()> {
        self.fire_error(ctx, CLOSE_SENT, None)
    }

    fn send<'js>(&self, ctx: Ctx<'js>, kind: Kind, payload: &[u8]) -> JsResult<'js> {
        let is_queued = !self.is_closed.get() && self.socket.send(kind, payload);
        // k6 counts what it could not send, too.
        self.tally.sent(payload);
        if !is_queued {
            self.unsent(ctx)?;
            return Ok(ctx.undefined());
        }
        let buffered = self.socket.buffered();
        if buffered > TOGETHER_MAX || !self.socket.is_put_off() {
            self.socket.flush_now();
        }
        if buffered as u64 <= STEP {
            self.queued.borrow_mut().release();
            return Ok(ctx.undefined());
        }
        let covered = self.queued.borrow_mut().cover(buffered as u64);
        let most = match covered {
            Ok(()) if buffered <= BUFFERED_MAX => return Ok(ctx.undefined()),
            Ok(()) => BUFFERED_MAX,
            // All queues and bodies of the process are too long already.
            Err(_) => STEP as usize,
        };
        if block_on(self.socket.drained(most)).is_err() {
            return Err(throw_stopped(ctx));
        }
        Ok(ctx.undefined())
    }

    fn set_timer<'js>(&self, call: &Call<'js>, name: &str, repeat: bool) -> JsResult<'js> {
        let (ctx, function, delay) = (call.ctx(), call.argument(0), call.argument(1));
        if !function.is_function() && !function.is_nullish() {
            let shown = function.to_string_lossy()?;
            return Err(throw_type(
                ctx,
                &format!(
                    "could not convert function call parameter 0: could not convert {shown} to sobek.Callable"
                ),
            ));
        }
        let ms = if delay.is_undefined() { 0.0 } else { delay.to_number()? };
        if ms.is_nan() || ms <= 0.0 || ms > TIMER_MAX_MS {
            let shown = match ms {
                f64::INFINITY => "+Inf".to_owned(),
                f64::NEG_INFINITY => "-Inf".to_owned(),
                ms => format!("{ms:.2}"),
            };
            let message = format!("{name} requires a >0 timeout parameter, received {shown}");
            return Err(throw(ctx, &message));
        }
        let delay_ns = (ms * 1e6) as u64;
        let id = self.last_timer.get() + 1;
        self.last_timer.set(id);
        let function = function.is_function().then(|| ctx.root(function));
        let timer = Timer { function, every: repeat.then_some(delay_ns.max(1)) };
        let due = clock::now_ns().saturating_add(delay_ns);
        self.timers.borrow_mut().insert((due, id), timer);
        Ok(ctx.undefined())
    }

    /// Runs the timer that is due first.
    fn run_timer<'js>(&self, ctx: Ctx<'js>) -> JsResult<'js, ()> {
        let first = self.timers.borrow_mut().pop_first();
        let Some(((due, id), timer)) = first else { return Ok(()) };
        let function = timer.function.as_ref().map(|root| ctx.rooted(root));
        match timer.every {
            Some(every) => {
                let next = (due + every).max(clock::now_ns());
                self.timers.borrow_mut().insert((next, id), timer);
            }
            None => release(ctx, timer.function),
        }
        match function {
            Some(function) => function.call(&ctx.undefined(), &[]).map(drop),
            None => Ok(()),
        }
    }

    /// Nothing more happens: records, hangs up, lets go of the script's functions.
    pub(super) fn over(&self, ctx: Ctx<'_>) {
        if !self.is_closed.replace(true) {
            self.socket.close(GOING_AWAY as u16, "");
            self.socket.flush_now();
        }
        self.socket.hang_up();
        self.queued.borrow_mut().release();
        if !self.is_stopped.get() {
            self.tally.ended(false);
        }
        for (_, handler) in self.handlers.take() {
            release(ctx, Some(handler));
        }
        for timer in self.timers.take().into_values() {
            release(ctx, timer.function);
        }
    }
}

fn release(ctx: Ctx<'_>, root: Option<Root>) {
    if let Some(root) = root {
        drop(ctx.unroot(root));
    }
}
