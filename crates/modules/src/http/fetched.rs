//! A request of `fetch` that is under way.

use std::cell::{OnceCell, RefCell};
use std::ffi::CStr;
use std::future::poll_fn;
use std::rc::Rc;
use std::sync::LazyLock;

use brunt_http::{Failure, Payload, Piece, Shared};
use brunt_js::Host;
use brunt_net::budget::Share;
use brunt_quickjs::{Call, Class, Ctx, JsResult, Members, Value};

use super::answering::response_of;
use super::body_stream;
use super::download::{Arrived, Download, Reader};
use super::prepared::{Prepared, ResponseType};
use crate::globals::web::blob::READ_MAX;
use crate::globals::web::bodies::blob_of;
use crate::throwing::{settle, throw_type};

/// Made before the request, handed to it, and the source of the response's body after its head has come.
#[derive(Default)]
pub(crate) struct Fetched {
    download: RefCell<Option<Rc<Download>>>,
    reader: OnceCell<Rc<Reader>>,
}

impl Class for Fetched {
    const NAME: &'static CStr = c"Fetched";

    fn members() -> &'static Members {
        static MEMBERS: LazyLock<Members> = LazyLock::new(|| {
            Members::new()
                .method(c"abort", 0, |call| abort(&call))
                .method(c"collect", 0, |call| collect(&call))
                .method(c"hasBody", 0, |call| {
                    let this = call.this();
                    Ok(call.ctx().bool(fetched(call.ctx(), &this)?.reader.get().is_some()))
                })
                .method(c"isOver", 0, |call| is_over(&call))
                .method(c"stream", 0, |call| {
                    let this = call.this();
                    body_stream::new(call.ctx(), Rc::clone(reader(call.ctx(), &this)?))
                })
        });
        &MEMBERS
    }
}

impl Fetched {
    /// Has the response come as it comes, unless bodies are to be dropped.
    pub(super) fn follow(&self, prepared: &mut Prepared) {
        if prepared.response_type == ResponseType::None {
            return;
        }
        let download = Download::new(true);
        prepared.response_type = ResponseType::Stream;
        prepared.download = Some(Rc::clone(&download));
        *self.download.borrow_mut() = Some(download);
    }

    /// The response; its body is asked of this object.
    pub(super) fn received<'js>(&self, ctx: Ctx<'js>, arrived: Arrived) -> JsResult<'js> {
        let has_head = arrived.head.is_some();
        let (response, reader) = response_of(ctx, arrived)?;
        if has_head {
            // It comes once.
            let _ = self.reader.set(reader);
        }
        Ok(response)
    }
}

fn fetched<'a>(ctx: Ctx<'_>, value: &'a Value<'_>) -> JsResult<'a, &'a Fetched> {
    value.instance::<Fetched>().ok_or_else(|| throw_type(ctx, "this is not a Request"))
}

fn reader<'a>(ctx: Ctx<'_>, value: &'a Value<'_>) -> JsResult<'a, &'a Rc<Reader>> {
    let reader = fetched(ctx, value)?.reader.get();
    reader.ok_or_else(|| throw_type(ctx, "the response has no body"))
}

fn abort<'js>(call: &Call<'js>) -> JsResult<'js> {
    let (ctx, this) = (call.ctx(), call.this());
    if let Some(download) = &*fetched(ctx, &this)?.download.borrow() {
        download.abort();
    }
    Ok(ctx.undefined())
}

/// Nothing more comes.
fn is_over<'js>(call: &Call<'js>) -> JsResult<'js> {
    let (ctx, this) = (call.ctx(), call.this());
    let download = fetched(ctx, &this)?.download.borrow();
    Ok(ctx.bool(download.as_ref().is_none_or(|download| download.spool.has_ended())))
}

/// A promise of all that is still to come, as a `Blob`.
fn collect<'js>(call: &Call<'js>) -> JsResult<'js> {
    let (ctx, this) = (call.ctx(), call.this());
    let mine = Rc::clone(reader(ctx, &this)?);
    let (promise, deferred) = ctx.promise()?;
    let told = Rc::clone(&mine);
    Host::of(ctx).events().spawn(async move { collected(&mine).await }, move |ctx, body| {
        let outcome = match body {
            Ok(payload) => blob_of(ctx, payload),
            Err(Some(failure)) => Err(body_stream::broken(ctx, &told, failure)),
            Err(None) => {
                let most = READ_MAX;
                let why =
                    format!("the body has more than the {most} bytes that can be read as a whole");
                Err(throw_type(ctx, &why))
            }
        };
        settle(ctx, deferred, outcome)
    });
    Ok(promise)
}

/// All chunks. `Err(None)`: they are too many.
async fn collected(reader: &Reader) -> Result<Payload, Option<Failure>> {
    let (mut pieces, mut size) = (Vec::new(), 0);
    // Counted while it comes.
    let mut share = Share::default();
    while let Some(chunk) = poll_fn(|cx| reader.poll_chunk(cx)).await {
        let chunk = chunk.map_err(Some)?;
        size += chunk.bytes.len() as u64;
        if size > READ_MAX {
            reader.give_up();
            return Err(None);
        }
        let limit = reader.limit();
        let too_much = if size > limit {
            Some(Failure::BodyTooLarge(limit))
        } else {
            share.cover(size).err().map(Failure::BodiesTooLarge)
        };
        if too_much.is_some() {
            reader.give_up();
            return Err(too_much);
        }
        pieces.push(Piece::from(Shared::from(chunk.bytes)));
    }
    Ok(pieces.into_iter().collect())
}
