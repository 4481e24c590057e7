//! `k6/websockets`: the browser's `WebSocket`, on the VU's event loop.
//!
//! ```text
//! new WebSocket ──► Connection ── a task: handshake, then what comes, one macrotask for each ──► handlers
//!      │                 ▲
//!      └ send, close ────┘ queued; the task writes as soon as the script lets it run
//! ```

mod connection;
mod handlers;

use std::cell::RefCell;
use std::ffi::CStr;
use std::rc::Rc;
use std::sync::LazyLock;

use brunt_engine::{Ended, Iteration};
use brunt_js::{Host, Phase, SlotKey, VuSlot};
use brunt_quickjs::{Call, Class, Ctx, JsResult, Members, Name, Root, Value};
use brunt_websocket::{Close, Kind};

use self::connection::{Connection, Ready};
use self::handlers::On;
use crate::globals::web::blob;
use crate::globals::web::bodies::{is_blob, native_body};
use crate::module::Module;
use crate::reading::{Room, length_of};
use crate::state::VuState;
use crate::throwing::{throw, throw_type};
use crate::ws::asked::{Params, Strictness, target_of};

/// The maximum number of bytes that `send()` leaves unwritten; beyond it, it throws.
const BUFFERED_MAX: usize = 256 << 20;

/// The module that scripts import.
pub(crate) struct Exports;

impl Module for Exports {
    fn specifier(&self) -> &'static str {
        "k6/websockets"
    }

    fn names(&self) -> Vec<String> {
        ["Blob", "WebSocket"].map(str::to_owned).to_vec()
    }

    fn fill<'js>(&self, ctx: Ctx<'js>, exports: &Value<'js>) -> JsResult<'js, ()> {
        exports.define("Blob", blob::class(ctx)?)?;
        let prototype = ctx.class_prototype::<WebSocket>()?;
        exports.define("WebSocket", ctx.constructor(c"WebSocket", 1, construct, &prototype)?)
    }

    /// Lets go of what connections kept of the script.
    fn begin(&self, host: &Host, ctx: Ctx<'_>, _: Option<&Iteration>) {
        let Some(sockets) = host.slot_if_made::<Sockets>() else { return };
        for connection in sockets.open.take() {
            connection.forget(ctx);
        }
    }

    /// Open connections are cut, and tell the script so.
    fn thrown(&self, host: &Host, ctx: Ctx<'_>) {
        let Some(sockets) = host.slot_if_made::<Sockets>() else { return };
        let open = sockets.open.borrow().clone();
        for connection in open {
            if connection.leave(ctx).is_err() {
                drop(ctx.take_exception());
            }
        }
    }

    /// Open connections are cut.
    fn end(&self, host: &Host, _: Ended) {
        let Some(sockets) = host.slot_if_made::<Sockets>() else { return };
        for connection in &*sockets.open.borrow() {
            connection.cut();
        }
    }
}

/// The WebSockets of a VM.
#[derive(Default)]
struct Sockets {
    /// The WebSockets of this iteration.
    open: RefCell<Vec<Rc<Connection>>>,
    accessors: RefCell<Accessors>,
}

impl VuSlot for Sockets {
    fn key() -> &'static SlotKey {
        static KEY: SlotKey = SlotKey::new();
        &KEY
    }

    fn new(_: &Host) -> Self {
        Self::default()
    }
}

/// The object in the script's hands.
struct WebSocket(Rc<Connection>);

impl Class for WebSocket {
    const NAME: &'static CStr = c"WebSocket";

    fn members() -> &'static Members {
        static MEMBERS: LazyLock<Members> =
            LazyLock::new(|| Members::new().method(c"removeEventListener", 2, remove_listener));
        &MEMBERS
    }
}

/// The own members of each object behind its methods, as in k6: scripts show and copy it.
static OWN: [Name; 11] = [
    Name::new("readyState"),
    Name::new("bufferedAmount"),
    Name::new("extensions"),
    Name::new("protocol"),
    Name::new("binaryType"),
    Name::new("onmessage"),
    Name::new("onerror"),
    Name::new("onopen"),
    Name::new("onclose"),
    Name::new("onping"),
    Name::new("onpong"),
];

/// The getters and setters of [`OWN`], which all objects of a VM share.
#[derive(Debug, Default)]
struct Accessors(Vec<(Root, Option<Root>)>);

fn accessors(ctx: Ctx<'_>) -> JsResult<'_, Accessors> {
    macro_rules! functions {
        ($($get:expr $(, $set:expr)?;)*) => {
            Accessors(vec![$((
                ctx.root(ctx.function(c"", 0, $get)?),
                None$(.or(Some(ctx.root(ctx.function(c"", 1, $set)?))))?,
            )),*])
        };
    }
    Ok(functions! {
        |call| Ok(call.ctx().int(this(&call)?.ready.get() as i32));
        |call| Ok(call.ctx().number(this(&call)?.unsent() as f64));
        |call| {
            let (ctx, connection) = (call.ctx(), this(&call)?);
            let lines = connection.extensions.borrow();
            let lines = lines.iter().map(|line| ctx.string(line));
            ctx.array_from(lines.collect::<Result<Vec<_>, _>>()?)
        };
        |call| call.ctx().string(&this(&call)?.protocol.borrow());
        binary_type, set_binary_type;
        |c| slot(&c, On::Message), |c| set_slot(&c, On::Message);
        |c| slot(&c, On::Error), |c| set_slot(&c, On::Error);
        |c| slot(&c, On::Open), |c| set_slot(&c, On::Open);
        |c| slot(&c, On::Close), |c| set_slot(&c, On::Close);
        |c| slot(&c, On::Ping), |c| set_slot(&c, On::Ping);
        |c| slot(&c, On::Pong), |c| set_slot(&c, On::Pong);
    })
}

/// A method that needs no `this`.
type Method = for<'a> fn(Call<'a>, &Connection) -> JsResult<'a>;

/// The script's object of a connection.
fn object<'js>(ctx: Ctx<'js>, connection: &Rc<Connection>) -> JsResult<'js> {
    const METHODS: [(&CStr, u8, Method); 4] = [
        (c"addEventListener", 2, add_listener),
        (c"send", 1, send),
        (c"ping", 0, ping),
        (c"close", 2, close),
    ];
    let object = ctx.instance(WebSocket(Rc::clone(connection)))?;
    for (name, length, method) in METHODS {
        let connection = Rc::clone(connection);
        let function = ctx.closure(name, length, move |call| method(call, &connection))?;
        object.define_read_only(name.to_str().expect("names of methods are ASCII"), function)?;
    }
    object.define_read_only("url", ctx.string(&connection.url)?)?;
    let mut kept = Host::of(ctx).slot::<Sockets>().accessors.borrow_mut();
    if kept.0.is_empty() {
        *kept = accessors(ctx)?;
    }
    for (name, (get, set)) in OWN.iter().zip(&kept.0) {
        object.define_accessor(name, ctx.rooted(get), set.as_ref().map(|set| ctx.rooted(set)))?;
    }
    Ok(object)
}

fn this(call: &Call<'_>) -> JsResult<'static, Rc<Connection>> {
    match call.this().instance::<WebSocket>() {
        Some(socket) => Ok(Rc::clone(&socket.0)),
        None => Err(throw_type(call.ctx(), "this belongs to a WebSocket")),
    }
}

fn construct<'js>(call: Call<'js>) -> JsResult<'js> {
    let ctx = call.ctx();
    let host = Host::of(ctx);
    if host.phase() == Phase::Init {
        return Err(throw(ctx, "using websockets in the init context is not supported"));
    }
    let given = call.argument(0);
    if given.is_nullish() {
        return Err(throw(ctx, "WebSocket requires a url"));
    }
    let url = given.to_string_lossy()?;
    let refuse = |message: String| Err(throw(ctx, &message));
    let scheme = match url.split_once(':') {
        Some((scheme, _)) => scheme.to_ascii_lowercase(),
        None => String::new(),
    };
    if scheme != "ws" && scheme != "wss" {
        return refuse(format!(
            "WebSocket requires url with scheme ws or wss, but got \"{scheme}\""
        ));
    }
    if let Some((_, fragment)) = url.split_once('#').filter(|(_, fragment)| !fragment.is_empty()) {
        return refuse(format!("WebSocket requires no url fragment, but got \"{fragment}\""));
    }
    // A text that is no URL is refused here; a URL that leads nowhere fails later, as a connection.
    let target = target_of(&url);
    if let Err(why) = &target
        && why.starts_with("parse ")
    {
        return refuse(format!(
            "WebSocket requires valid url, but got \"{url}\" which resulted in {why}"
        ));
    }
    let protocols = protocols(&call.argument(1))?;
    let mut params = Params::read(ctx, &call.argument(2), Strictness::Strict)?;
    if !protocols.is_empty() {
        params.set_header("Sec-Websocket-Protocol".to_owned(), protocols.join(", "));
    }
    let state = VuState::of(ctx);
    let connection = Rc::new(Connection::new(host, state, url, &params.tags));
    let object = object(ctx, &connection)?;
    connection.keep(ctx, &object)?;
    let mut open = host.slot::<Sockets>().open.borrow_mut();
    open.retain(|known| known.ready.get() != Ready::Closed || known.is_held());
    open.push(Rc::clone(&connection));
    drop(open);
    host.events().spawn_line(|line| connection.run(params, target, line));
    Ok(object)
}

/// A string or an array of them; anything else means none.
fn protocols<'js>(value: &Value<'js>) -> JsResult<'js, Vec<String>> {
    if value.is_string() {
        let text = value.to_string_lossy()?;
        return Ok(if text.is_empty() { Vec::new() } else { vec![text] });
    }
    if !value.is_array() {
        return Ok(Vec::new());
    }
    let mut room = Room::new();
    (0..length_of(value)?).map(|index| room.text(&value.get_index(index)?)).collect()
}

fn needs_open(call: &Call<'_>, connection: &Connection) -> JsResult<'static, ()> {
    if connection.ready.get() == Ready::Open {
        return Ok(());
    }
    Err(throw(call.ctx(), "InvalidStateError"))
}

fn send<'js>(call: Call<'js>, connection: &Connection) -> JsResult<'js> {
    let (ctx, data) = (call.ctx(), call.argument(0));
    needs_open(&call, connection)?;
    if let Some(text) = data.as_str() {
        let text = text.as_str().as_bytes();
        needs_room(ctx, connection, text.len())?;
        connection.send(Kind::Text, text);
    } else if let Some(bytes) = data.with_bytes(<[u8]>::to_vec) {
        needs_room(ctx, connection, bytes.len())?;
        connection.send(Kind::Binary, &bytes);
    } else if is_blob(&data) {
        let body = native_body(&data);
        let bytes = body.as_ref().and_then(|body| body.payload.in_memory());
        let Some(bytes) = bytes else {
            return Err(throw(ctx, "a Blob of a file cannot be sent: read it first"));
        };
        needs_room(ctx, connection, bytes.len())?;
        connection.send(Kind::Binary, &bytes);
    } else {
        return Err(throw(ctx, &format!("unsupported send type {}", go_type(&data))));
    }
    Ok(ctx.undefined())
}

/// There must be room for the message: the script does not wait here, and `bufferedAmount` tells how much is unsent.
fn needs_room<'js>(ctx: Ctx<'js>, connection: &Connection, bytes: usize) -> JsResult<'js, ()> {
    let queued = connection.buffered().saturating_add(bytes);
    if queued > BUFFERED_MAX {
        let message = format!(
            "the WebSocket's queue is full: {queued} bytes would wait to be sent, of at most {BUFFERED_MAX}; wait until \
             bufferedAmount is less"
        );
        return Err(throw(ctx, &message));
    }
    connection
        .cover(queued)
        .map_err(|error| throw(ctx, &format!("the WebSocket's queue is full: {error}")))
}

/// Go's names of the values that cannot be sent.
fn go_type(value: &Value<'_>) -> &'static str {
    if value.is_nullish() {
        "<nil>"
    } else if value.is_bool() {
        "bool"
    } else if let Some(number) = value.as_number() {
        if number.fract() == 0.0 && number.abs() < 9e15 { "int64" } else { "float64" }
    } else if value.is_array() {
        "[]interface {}"
    } else if value.is_function() {
        "func(sobek.FunctionCall) sobek.Value"
    } else if value.is_date() {
        "time.Time"
    } else {
        "map[string]interface {}"
    }
}

fn ping<'js>(call: Call<'js>, connection: &Connection) -> JsResult<'js> {
    needs_open(&call, connection)?;
    connection.ping();
    Ok(call.ctx().undefined())
}

fn close<'js>(call: Call<'js>, connection: &Connection) -> JsResult<'js> {
    let ctx = call.ctx();
    if matches!(connection.ready.get(), Ready::Closing | Ready::Closed) {
        return Ok(ctx.undefined());
    }
    let (code, reason) = (call.argument(0), call.argument(1));
    // As Go converts it; what comes out as nothing is the default.
    let code = if code.is_nullish() { 0.0 } else { code.to_number()? };
    let code = if code.is_finite() { code as i64 } else { 0 };
    let code = if code == 0 { 1000 } else { code };
    if !matches!(code, 1000 | 3000..=4999) {
        return Err(throw(
            ctx,
            &format!(
                "InvalidAccessError: Failed to execute 'close' on 'WebSocket': The close code must be either 1000, \
                 or between 3000 and 4999. {code} is neither"
            ),
        ));
    }
    let reason = if reason.is_nullish() { String::new() } else { reason.to_string_lossy()? };
    if reason.len() > Close::REASON_MAX {
        return Err(throw(
            ctx,
            "SyntaxError: Failed to execute 'close' on 'WebSocket': The message must not be greater than 123 bytes",
        ));
    }
    connection.close(code as u16, &reason);
    Ok(ctx.undefined())
}

fn add_listener<'js>(call: Call<'js>, connection: &Connection) -> JsResult<'js> {
    let (ctx, function) = (call.ctx(), call.argument(1));
    let kind = if call.is_empty() { String::new() } else { call.argument(0).to_string_lossy()? };
    if !function.is_function() {
        if !function.is_nullish() {
            let shown = function.to_string_lossy()?;
            return Err(throw_type(
                ctx,
                &format!(
                    "could not convert function call parameter 1: could not convert {shown} to \
                     func(sobek.Value) (sobek.Value, error)"
                ),
            ));
        }
        let message = format!("handler for event type \"{kind}\" isn't a callable function");
        return Err(throw(ctx, &message));
    }
    match On::of(&kind) {
        Some(on) => connection.handlers.add(ctx, on, function),
        None => log::warn!("can't add event handler: unknown event type: {kind}"),
    }
    Ok(ctx.undefined())
}

fn remove_listener<'js>(call: Call<'js>) -> JsResult<'js> {
    let ctx = call.ctx();
    let connection = this(&call)?;
    if let Some(on) = On::of(&call.argument(0).to_string_lossy()?) {
        connection.handlers.remove(ctx, on, &call.argument(1));
    }
    Ok(ctx.undefined())
}

/// Without a function it is undefined, so that it is left out of JSON, as in k6.
fn slot<'js>(call: &Call<'js>, on: On) -> JsResult<'js> {
    let connection = this(call)?;
    Ok(connection.handlers.slot(call.ctx(), on).unwrap_or_else(|| call.ctx().undefined()))
}

fn set_slot<'js>(call: &Call<'js>, on: On) -> JsResult<'js> {
    let (ctx, function) = (call.ctx(), call.argument(0));
    let connection = this(call)?;
    if !function.is_function() && !function.is_nullish() {
        let message = format!("a value for 'on{}' should be callable", on.name());
        return Err(throw(ctx, &message));
    }
    connection.handlers.set_slot(ctx, on, function);
    Ok(ctx.undefined())
}

fn binary_type<'js>(call: Call<'js>) -> JsResult<'js> {
    let connection = this(&call)?;
    call.ctx().string(if connection.wants_buffers.get() { "arraybuffer" } else { "blob" })
}

fn set_binary_type<'js>(call: Call<'js>) -> JsResult<'js> {
    let ctx = call.ctx();
    let connection = this(&call)?;
    let given = call.argument(0);
    let name = if given.is_nullish() { String::new() } else { given.to_string_lossy()? };
    match name.as_str() {
        "blob" => connection.wants_buffers.set(false),
        "arraybuffer" => connection.wants_buffers.set(true),
        other => {
            return Err(throw(
                ctx,
                &format!(
                    "unknown binaryType {other}, the supported ones are \"blob\" and \"arraybuffer\""
                ),
            ));
        }
    }
    Ok(ctx.undefined())
}
