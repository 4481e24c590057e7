//! `res.stream`: a body in the script's hands.

use std::cell::Cell;
use std::ffi::CStr;
use std::future::poll_fn;
use std::rc::Rc;
use std::sync::LazyLock;
use std::task::{Context, Poll, Waker};

use brunt_http::{Chunk, Failure};
use brunt_js::Host;
use brunt_quickjs::{Call, Class, Ctx, Deferred, JsResult, Members, Name};

use super::super::settle;
use super::Reader;
use crate::globals::web;
use crate::state::{throw, throw_type};

static DONE: Name = Name::new("done");
static VALUE: Name = Name::new("value");
static RECEIVED_AT: Name = Name::new("receivedAt");

/// What the stream of a response reads from.
struct BodyStream {
    reader: Rc<Reader>,
    /// Reads that wait for their chunk: later ones must not overtake them.
    waiting: Rc<Cell<u32>>,
}

impl Class for BodyStream {
    const NAME: &'static CStr = c"BodyStream";

    fn members() -> &'static Members {
        static MEMBERS: LazyLock<Members> = LazyLock::new(|| {
            Members::new()
                .method(c"cancel", 1, |call| cancel(&call))
                .method(c"read", 0, |call| read(&call))
        });
        &MEMBERS
    }
}

/// A `ReadableStream`.
pub(super) fn new(ctx: Ctx<'_>, reader: Rc<Reader>) -> JsResult<'_> {
    let body = ctx.instance(BodyStream { reader, waiting: Rc::default() })?;
    web::stream_over(ctx, &body)
}

/// The next chunk, as readers of streams give it: `{ done, value }`, `value` a `Uint8Array` with the time at which it
/// arrived (`receivedAt`, in milliseconds since 1970).
fn read<'js>(call: &Call<'js>) -> JsResult<'js> {
    let (ctx, this) = (call.ctx(), call.this());
    let Some(stream) = this.instance::<BodyStream>() else {
        return Err(throw_type(ctx, "read() belongs to the stream of a response"));
    };
    let (promise, deferred) = ctx.promise()?;
    if stream.waiting.get() == 0 {
        let mut cx = Context::from_waker(Waker::noop());
        // What is there already needs no turn of the event loop.
        if let Poll::Ready(next) = stream.reader.0.spool.poll_chunk(&mut cx) {
            give(ctx, deferred, next)?;
            return Ok(promise);
        }
    }
    let (reader, waiting) = (Rc::clone(&stream.reader), Rc::clone(&stream.waiting));
    waiting.set(waiting.get() + 1);
    Host::of(ctx).events().spawn(
        async move {
            let next = poll_fn(|cx| reader.0.spool.poll_chunk(cx)).await;
            waiting.set(waiting.get() - 1);
            next
        },
        move |ctx, next| give(ctx, deferred, next),
    );
    Ok(promise)
}

fn give<'js>(
    ctx: Ctx<'js>,
    deferred: Deferred,
    next: Option<Result<Chunk, Failure>>,
) -> JsResult<'js, ()> {
    let outcome = match next {
        Some(Ok(chunk)) => shown(ctx, chunk),
        Some(Err(failure)) => Err(throw(ctx, &failure.to_string())),
        None => ctx.object_from([(&DONE, ctx.bool(true)), (&VALUE, ctx.undefined())]),
    };
    settle(ctx, deferred, outcome)
}

fn shown(ctx: Ctx<'_>, chunk: Chunk) -> JsResult<'_> {
    let value = ctx.uint8_array(chunk.bytes)?;
    value.define_hidden(&RECEIVED_AT, ctx.number(chunk.arrived_at as f64 / 1e6))?;
    ctx.object_from([(&DONE, ctx.bool(false)), (&VALUE, value)])
}

/// Nobody reads on: the connection is closed.
fn cancel<'js>(call: &Call<'js>) -> JsResult<'js> {
    let (ctx, this) = (call.ctx(), call.this());
    let Some(stream) = this.instance::<BodyStream>() else {
        return Err(throw_type(ctx, "cancel() belongs to the stream of a response"));
    };
    stream.reader.0.give_up();
    let (promise, deferred) = ctx.promise()?;
    give(ctx, deferred, None)?;
    Ok(promise)
}
