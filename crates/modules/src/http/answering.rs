//! The result of a request, as the script gets it.

use std::rc::Rc;

use brunt_quickjs::{Ctx, JsResult, Value};

use super::body_stream;
use super::download::{Arrived, Reader};
use super::prepared::Unsendable;
use super::response::{self, Response};
use super::transfer::Finished;
use crate::throwing::{throw, throw_stopped};

/// A finished request as the script gets it.
pub(super) fn finished(ctx: Ctx<'_>, finished: Box<Finished>) -> JsResult<'_> {
    if let (true, Some(thrown)) = (finished.throw, &finished.thrown) {
        return Err(throw(ctx, thrown));
    }
    if finished.exchange.is_none() {
        // The URL is none: there was no exchange, and there are no samples.
        let (code, text) = (finished.error_code, finished.error);
        return unsent(ctx, &Unsendable { code, text, throw: false });
    }
    response::new(ctx, Response::of(finished))
}

/// A request that cannot be sent as it was asked for.
pub(super) fn unsent<'js>(ctx: Ctx<'js>, refused: &Unsendable) -> JsResult<'js> {
    if refused.throw {
        return Err(throw(ctx, &refused.text));
    }
    log::warn!(error = refused.text.as_str(); "Request Failed");
    response::new(ctx, Response::unsent(&refused.text, refused.code))
}

/// A response as the script gets it, with its `stream`.
pub(super) fn arrived(ctx: Ctx<'_>, arrived: Arrived) -> JsResult<'_> {
    let (response, reader) = response_of(ctx, arrived)?;
    response.define_hidden("stream", body_stream::new(ctx, reader)?)?;
    Ok(response)
}

/// A response as the script gets it, and where its body comes from.
pub(super) fn response_of(ctx: Ctx<'_>, arrived: Arrived) -> JsResult<'_, (Value<'_>, Rc<Reader>)> {
    let Arrived { reader, head } = arrived;
    let reader = Rc::new(reader);
    let response = if let Some(head) = head {
        response::new(ctx, Response::streamed(head, Rc::clone(&reader)))?
    } else {
        let Some(ended) = reader.take_ended() else { return Err(throw_stopped(ctx)) };
        finished(ctx, ended)?
    };
    Ok((response, reader))
}
