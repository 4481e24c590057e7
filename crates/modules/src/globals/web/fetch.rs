//! `fetch` and what belongs to it: what its JavaScript needs of requests and responses of `k6/http`.

use std::sync::LazyLock;

use brunt_quickjs::{Call, Ctx, JsResult, Members};

use super::blob::{self, BlobData, read_payload, shared_bytes};
use super::bodies::{form_with, native_body};
use super::form_data::{self, FormData};
use super::form_parts::Boundary;
use super::parts::{self, Set, blob_of};
use crate::http::fetched::Fetched;
use crate::http::part::file_part;
use crate::http::{cookies, response, sending};
use crate::state::VuState;
use crate::throwing::throw;

/// One thing that a part on requests made.
pub(super) fn export<'js>(ctx: Ctx<'js>, set: Set, name: &str) -> JsResult<'js> {
    static NATIVE: LazyLock<Members> = LazyLock::new(|| {
        Members::new()
            .method(c"extract", 2, extract)
            .method(c"hasBody", 1, |call| {
                Ok(call.ctx().bool(response::body_of(&call.argument(0)).is_some()))
            })
            .method(c"headerList", 1, header_list)
            .method(c"isRedirected", 1, |call| {
                Ok(call.ctx().bool(response::is_redirected(&call.argument(0))))
            })
            .method(c"newJar", 0, cookies::construct)
            .method(c"parseForm", 2, parse_form)
            .method(c"received", 1, received)
            .method(c"send", 5, sending::fetch_request)
            .method(c"source", 0, |call| call.ctx().instance(Fetched::default()))
    });
    let web = parts::shared(ctx)?;
    if !web.has("send")? {
        web.define_members(&NATIVE)?;
    }
    parts::export(ctx, set, name)
}

/// `extract(body, contentType)`: a body as a `Blob`, whose type is the content type; `null` for what is none of the known
/// classes. The second argument is what the script says by hand.
fn extract<'js>(call: Call<'js>) -> JsResult<'js> {
    let (ctx, value, given) = (call.ctx(), call.argument(0), call.argument(1));
    if blob::of(&value).is_some() {
        return Ok(value);
    }
    let given = if given.is_string() { Some(given.to_js_str()?) } else { None };
    let seed = VuState::drawn(ctx);
    let boundary = Boundary::of(given.as_deref(), seed).map_err(|told| ctx.throw_type(&told));
    let data = if value.instance::<FormData>().is_some() {
        let Boundary { text, content_type } = boundary?;
        BlobData::new(form_with(&value, &text).unwrap_or_default(), &content_type)
    } else if let Some(body) = native_body(&value) {
        BlobData::new(body.payload, &body.content_type)
    } else if let Some(file) = file_part(&value) {
        BlobData::new(file.payload, &file.content_type)
    } else if let Some(bytes) = shared_bytes(&value) {
        BlobData::new(bytes.into(), "")
    } else {
        return Ok(ctx.null());
    };
    blob::object(ctx, data)
}

/// The body of a response of `k6/http`.
fn received<'js>(call: Call<'js>) -> JsResult<'js> {
    let (ctx, value) = (call.ctx(), call.argument(0));
    let bytes = response::body_of(&value).unwrap_or_default();
    blob::object(ctx, BlobData::new(bytes.to_vec().into(), ""))
}

/// Names and values as they came, each line on its own.
fn header_list<'js>(call: Call<'js>) -> JsResult<'js> {
    let ctx = call.ctx();
    let pairs: JsResult<'js, Vec<_>> = response::header_lines(&call.argument(0))
        .into_iter()
        .map(|(name, value)| ctx.array_from([ctx.string(&name)?, ctx.string(&value)?]))
        .collect();
    ctx.array_from(pairs?)
}

/// `parseForm(blob, contentType)`: a `FormData`.
fn parse_form<'js>(call: Call<'js>) -> JsResult<'js> {
    let (ctx, value) = (call.ctx(), call.argument(0));
    let bytes = read_payload(blob_of(ctx, &value)?.payload());
    let bytes = bytes.map_err(|message| throw(ctx, &message))?.into_owned();
    form_data::parsed(ctx, bytes, &call.argument(1).to_js_str()?)
}
