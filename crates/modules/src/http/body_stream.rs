//! `res.stream`: a body as a `ReadableStream`.

use std::ffi::CStr;
use std::future::poll_fn;
use std::rc::Rc;
use std::sync::LazyLock;
use std::task::{Context, Poll, Waker};

use brunt_http::{Chunk, Failure};
use brunt_js::Host;
use brunt_quickjs::{Call, Class, Ctx, JsResult, Members, Name, Thrown, Value};

use super::download::Reader;
use crate::globals::web::parts::readable_stream;
use crate::throwing::{settle, throw, throw_type};

static CLOSE: Name = Name::new("close");
static ENQUEUE: Name = Name::new("enqueue");
static HIGH_WATER_MARK: Name = Name::new("highWaterMark");
static RECEIVED_AT: Name = Name::new("receivedAt");

/// The source from which the stream pulls its chunks.
struct BodySource(Rc<Reader>);

impl Class for BodySource {
    const NAME: &'static CStr = c"BodySource";

    fn members() -> &'static Members {
        static MEMBERS: LazyLock<Members> = LazyLock::new(|| {
            Members::new()
                .method(c"cancel", 1, |call| cancel(&call))
                .method(c"pull", 1, |call| pull(&call))
        });
        &MEMBERS
    }
}

/// A stream that asks for a chunk only when somebody reads: the buffer is on our side.
pub(super) fn new(ctx: Ctx<'_>, reader: Rc<Reader>) -> JsResult<'_> {
    let source = ctx.instance(BodySource(reader))?;
    let strategy = ctx.object_from([(&HIGH_WATER_MARK, ctx.int(0))])?;
    readable_stream(ctx)?.construct(&[source, strategy])
}

/// Gives the stream's controller the next chunk, now or later. It is asked again only when that is done.
fn pull<'js>(call: &Call<'js>) -> JsResult<'js> {
    let (ctx, this, controller) = (call.ctx(), call.this(), call.argument(0));
    let Some(BodySource(reader)) = this.instance::<BodySource>() else {
        return Err(throw_type(ctx, "pull() belongs to the stream of a response"));
    };
    let mut cx = Context::from_waker(Waker::noop());
    // A piece that is there already needs no turn of the event loop.
    if let Poll::Ready(next) = reader.poll_chunk(&mut cx) {
        return give(ctx, reader, &controller, next);
    }
    let (promise, deferred) = ctx.promise()?;
    let (reader, told) = (Rc::clone(reader), Rc::clone(reader));
    let controller = ctx.root(controller);
    Host::of(ctx).events().spawn(
        async move { poll_fn(|cx| reader.poll_chunk(cx)).await },
        move |ctx, next| {
            let controller = ctx.unroot(controller);
            let outcome = give(ctx, &told, &controller, next);
            settle(ctx, deferred, outcome)
        },
    );
    Ok(promise)
}

/// A chunk is a `Uint8Array` with the time at which it arrived, in milliseconds since 1970.
///
/// # Errors
/// Why the body broke off: thrown, as that is how a source tells its stream.
fn give<'js>(
    ctx: Ctx<'js>,
    reader: &Reader,
    controller: &Value<'js>,
    next: Option<Result<Chunk, Failure>>,
) -> JsResult<'js> {
    match next {
        Some(Ok(chunk)) => {
            let value = ctx.uint8_array(chunk.bytes)?;
            value.define_hidden(&RECEIVED_AT, ctx.number(chunk.arrived_at as f64 / 1e6))?;
            controller.get(&ENQUEUE)?.call(controller, &[value])
        }
        Some(Err(failure)) => Err(broken(ctx, reader, failure)),
        None => controller.get(&CLOSE)?.call(controller, &[]),
    }
}

/// Why a body broke off, as an exception: with `fetch` it is the standard's.
pub(super) fn broken(ctx: Ctx<'_>, reader: &Reader, failure: Failure) -> Thrown {
    if reader.is_fetch() {
        return throw_type(ctx, &format!("fetch failed: {failure}"));
    }
    throw(ctx, &failure.to_string())
}

/// The script reads no further: the connection is closed.
fn cancel<'js>(call: &Call<'js>) -> JsResult<'js> {
    let (ctx, this) = (call.ctx(), call.this());
    let Some(BodySource(reader)) = this.instance::<BodySource>() else {
        return Err(throw_type(ctx, "cancel() belongs to the stream of a response"));
    };
    reader.give_up();
    Ok(ctx.undefined())
}
