//! `invoke()` and `asyncInvoke()`: one message there, one back.

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use brunt_fiber::{block_on, clock};
use brunt_grpc::{Metadata, Method, Outcome, Schema, Status};
use brunt_js::{Host, Phase};
use brunt_quickjs::{Call, Ctx, JsResult, Name, Value, Weight};
use tokio::time::timeout;

use super::client::Client;
use super::connect::Link;
use super::params::{Params, Refusal, capped};
use super::record::{Labels, Metrics, Named};
use super::request;
use crate::go_error::{bare_end, bare_start, bared};
use crate::state::VuState;
use crate::throwing::{throw, throw_stopped, throw_type};
use crate::watch::Talk;

static MESSAGE: Name = Name::new("message");
static ERROR: Name = Name::new("error");
static HEADERS: Name = Name::new("headers");
static TRAILERS: Name = Name::new("trailers");
static STATUS: Name = Name::new("status");
static CODE: Name = Name::new("code");
static DETAILS: Name = Name::new("details");

/// A call that can be made.
struct Ready {
    link: Rc<Link>,
    schema: Arc<Schema>,
    method: Arc<Method>,
    bytes: Vec<u8>,
    metadata: Option<Metadata>,
    timeout: Duration,
    discards: bool,
    labels: Labels,
    metrics: Metrics,
}

/// The result of a call.
pub(super) struct Done {
    pub(super) outcome: Outcome,
    /// When it began and ended (unix ns).
    pub(super) span: (u64, u64),
    /// We gave up waiting. k6 measures nothing then.
    pub(super) is_late: bool,
    /// The server refused to begin with it, and it was made again: when that ended.
    refused: Option<u64>,
}

pub(super) fn invoke<'js>(call: Call<'js>) -> JsResult<'js> {
    let ctx = call.ctx();
    let ready = read(&call)?;
    let Ok((ready, done)) = block_on(run(ready)) else { return Err(throw_stopped(ctx)) };
    finish(ctx, &ready, done)
}

pub(super) fn async_invoke<'js>(call: Call<'js>) -> JsResult<'js> {
    let ctx = call.ctx();
    let ready = match read(&call) {
        Ok(ready) => ready,
        Err(thrown) => {
            let Some(exception) = ctx.take_exception() else { return Err(thrown) };
            let (promise, deferred) = ctx.promise()?;
            ctx.settle(deferred, Err(bared(ctx, exception.value)?))?;
            return Ok(promise);
        }
    };
    let (promise, deferred) = ctx.promise()?;
    let weight = Weight::of(ctx, ready.bytes.len())?;
    Host::of(ctx).events().spawn_weighing(weight, run(ready), move |ctx, (ready, done)| {
        let response = finish(ctx, &ready, done)?;
        ctx.settle(deferred, Ok(response))
    });
    Ok(promise)
}

fn read<'js>(call: &Call<'js>) -> JsResult<'js, Ready> {
    let (ctx, this) = (call.ctx(), call.this());
    let client = Client::this(ctx, &this)?;
    if Host::of(ctx).phase() == Phase::Init {
        return Err(throw(ctx, "invoking RPC methods in the init context is not supported"));
    }
    let Some(link) = client.link() else {
        return Err(throw(ctx, "no gRPC connection, you must call connect first"));
    };
    let name = call.argument(0);
    let name = if name.is_nullish() { String::new() } else { name.to_string_lossy()? };
    if name.is_empty() {
        return Err(throw(ctx, "method to invoke cannot be empty"));
    }
    let (schema, method) = client.find(&name).map_err(|told| throw(ctx, &told))?;
    let object = call.argument(1);
    if call.len() < 2 {
        return Err(throw(ctx, "request cannot be nil"));
    }
    let params = Params::of_call(&call.argument(2)).map_err(|refusal| match refusal {
        Refusal::Thrown(thrown) => thrown,
        Refusal::Told(told) => {
            throw(ctx, &format!("invalid GRPC's client.invoke() parameters: {told}"))
        }
    })?;
    if object.is_nullish() {
        return Err(throw_type(ctx, "Cannot convert undefined or null to object"));
    }
    let bytes = request::bytes(ctx, &schema, &method, &object)?.map_err(|told| {
        throw(ctx, &format!("unable to serialise request object to protocol buffer: {told}"))
    })?;
    let named =
        Named { url: format!("{}{}", link.address, method.path), method: Arc::clone(&method) };
    Ok(Ready {
        link,
        schema,
        method,
        bytes,
        metadata: params.metadata,
        timeout: capped(ctx, params.timeout).unwrap_or_default(),
        discards: params.discards,
        labels: Labels { base: VuState::of(ctx).tags(), named: Some(named), own: params.tags },
        metrics: client.metrics,
    })
}

async fn run(ready: Ready) -> (Ready, Done) {
    let call = brunt_grpc::Call {
        path: &ready.method.path,
        metadata: ready.metadata.as_ref(),
        timeout: Some(ready.timeout),
    };
    let done = make(&ready.link, &call, &ready.bytes, ready.timeout).await;
    (ready, done)
}

/// Makes a call within its time.
pub(super) async fn make(
    link: &Link,
    call: &brunt_grpc::Call<'_>,
    bytes: &[u8],
    limit: Duration,
) -> Done {
    let started = clock::now_ns();
    // k6 measures nothing of what was never sent.
    if let Some(told) = call.metadata.and_then(Metadata::complaint) {
        let outcome = Outcome { status: Status::new(Status::INTERNAL, told), ..Outcome::default() };
        return Done { outcome, span: (started, started), is_late: true, refused: None };
    }
    if limit.is_zero() {
        // The runtime's timers would give it a millisecond.
        let outcome = Outcome { status: Status::deadline_exceeded(), ..Outcome::default() };
        return Done { outcome, span: (started, started), is_late: true, refused: None };
    }
    let mut refused = None;
    let made = timeout(limit, async {
        loop {
            let channel = match link.channel().await {
                Ok(channel) => channel,
                Err(told) => {
                    let status = Status::new(Status::UNAVAILABLE, told);
                    return Outcome { status, ..Outcome::default() };
                }
            };
            let outcome = channel.unary(call, bytes).await;
            // It may be sent again, once.
            if refused.is_some() || !outcome.status.is_unseen {
                return outcome;
            }
            refused = Some(clock::now_ns());
        }
    });
    let (outcome, is_late) = match made.await {
        Ok(mut outcome) => {
            // The server's clock was quicker to see that the time is over: that is what it is, as Go says.
            let is_over = clock::now_ns().saturating_sub(started) >= limit.as_nanos() as u64;
            if is_over && outcome.status.code == Status::CANCELED {
                outcome.status.code = Status::DEADLINE_EXCEEDED;
            }
            // k6's own clock has told it by then, and it measures nothing of what comes later.
            (outcome, is_over)
        }
        Err(_) => (Outcome { status: Status::deadline_exceeded(), ..Outcome::default() }, true),
    };
    Done { outcome, span: (started, clock::now_ns()), is_late, refused }
}

impl Done {
    /// Records what it took.
    pub(super) fn record(&self, ctx: Ctx<'_>, metrics: Metrics, labels: &Labels, code: u32) {
        let (started, ended) = self.span;
        if let Some(refused) = self.refused {
            labels.took(ctx, metrics, (started, refused), Status::UNAVAILABLE);
        }
        if !self.is_late {
            labels.took(ctx, metrics, (self.refused.unwrap_or(started), ended), code);
        }
    }
}

fn finish<'js>(ctx: Ctx<'js>, ready: &Ready, mut done: Done) -> JsResult<'js> {
    let mut text = None;
    if !ready.discards {
        let bytes = done.outcome.message.as_deref().unwrap_or_default();
        match ready.schema.decode(&ready.method, bytes) {
            Ok(json) => text = Some(json),
            Err(error) => {
                // The message came before whatever else went wrong.
                done.outcome.status = unreadable(&error);
                // The empty message can always be shown.
                text = ready.schema.decode(&ready.method, &[]).ok();
            }
        }
    }
    let status = &done.outcome.status;
    done.record(ctx, ready.metrics, &ready.labels, status.code);
    if let Some(watched) = VuState::of(ctx).watched(Host::of(ctx)) {
        let (Ready { link, method, .. }, (started, ended)) = (ready, done.span);
        let ms = ended.saturating_sub(started) as f64 / 1e6;
        let (code, told) = (status.code, &status.message);
        let title = format!("{}{}  {code} {told}", link.address, method.path);
        let sent = ready.schema.decode_request(method, &ready.bytes).unwrap_or_default();
        watched.talk(&Talk {
            kind: "gRPC",
            title: &format!("{}  {ms:.1} ms", title.trim_end()),
            sent: sent.as_bytes(),
            received: text.as_deref().unwrap_or_default().as_bytes(),
        });
    }
    let message = match text {
        Some(text) => ctx.parse_json(text.as_bytes()).map_err(|error| ctx.throw_json(error))?,
        None => ctx.null(),
    };
    let error = if status.is_ok() { ctx.null() } else { error_object(ctx, &ready.schema, status)? };
    ctx.object_from([
        (&MESSAGE, message),
        (&ERROR, error),
        (&HEADERS, lines(ctx, &done.outcome.headers)?),
        (&TRAILERS, lines(ctx, &done.outcome.trailers)?),
        (&STATUS, super::status::code(ctx, status.code)?),
    ])
}

/// The status of a call whose message is none of its type.
pub(super) fn unreadable(error: &brunt_grpc::DecodeError) -> Status {
    let told = format!("grpc: failed to unmarshal the received message: {error}");
    Status::new(Status::INTERNAL, told)
}

/// `{code, details, message}`, as streams tell it.
pub(super) fn stream_error<'js>(ctx: Ctx<'js>, schema: &Schema, status: &Status) -> JsResult<'js> {
    let message =
        if status.message.is_empty() { status.as_error() } else { status.message.clone() };
    let error = bare_start(ctx, &format!("code: {}, message: {message}", status.code))?;
    error.define(&CODE, super::status::code(ctx, status.code)?)?;
    error.define(&DETAILS, details(ctx, schema, status)?)?;
    error.define(&MESSAGE, ctx.string(&message)?)?;
    bare_end(ctx, &error)?;
    Ok(error)
}

/// `{code, message, details}`.
fn error_object<'js>(ctx: Ctx<'js>, schema: &Schema, status: &Status) -> JsResult<'js> {
    ctx.object_from([
        (&CODE, ctx.int(status.code as i32)),
        (&MESSAGE, ctx.string(&status.message)?),
        (&DETAILS, details(ctx, schema, status)?),
    ])
}

/// The details of a status beside its text.
fn details<'js>(ctx: Ctx<'js>, schema: &Schema, status: &Status) -> JsResult<'js> {
    let details = ctx.array()?;
    for (index, (url, bytes)) in (0..).zip(&status.details) {
        let text = schema.decode_any(url, bytes);
        let detail = ctx.parse_json(text.as_bytes()).map_err(|error| ctx.throw_json(error))?;
        details.set_index(index, detail)?;
    }
    Ok(details)
}

/// Headers as an object of arrays.
fn lines<'js>(ctx: Ctx<'js>, lines: &[(String, Vec<String>)]) -> JsResult<'js> {
    let object: Value<'js> = ctx.object()?;
    for (name, values) in lines {
        let mut texts = Vec::with_capacity(values.len());
        for value in values {
            texts.push(ctx.string(value)?);
        }
        object.define(name.as_str(), ctx.array_from(texts)?)?;
    }
    Ok(object)
}
