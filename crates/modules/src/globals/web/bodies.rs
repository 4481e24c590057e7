//! Bodies of requests and messages, as the classes of this folder hold them.

use brunt_http::Payload;
use brunt_quickjs::{Ctx, JsResult, Value};

use super::blob::{self, BlobData};
use super::feed::{self, FeedGuard};
use super::form_data::FormData;
use super::form_parts::Boundary;
use super::parts;
use crate::globals::url::params::search_params_text;
use crate::http::part::FilePart;
use crate::state::VuState;

/// A body of one of the native classes, and what its `Content-Type` is; an empty one says nothing.
pub(crate) struct NativeBody {
    pub(crate) payload: Payload,
    pub(crate) content_type: String,
}

/// The body that an object of this module's classes is: `Blob`, `File`, `FormData`, and `URLSearchParams`.
pub(crate) fn native_body(value: &Value<'_>) -> Option<NativeBody> {
    if let Some(form) = value.instance::<FormData>() {
        let Boundary { text, content_type } =
            Boundary::of(None, VuState::drawn(value.ctx())).ok()?;
        return Some(NativeBody { payload: form.encode(&text), content_type });
    }
    if let Some(blob) = blob::of(value) {
        let (payload, content_type) = (blob.payload().clone(), blob.kind().to_owned());
        return Some(NativeBody { payload, content_type });
    }
    let query = search_params_text(value)?;
    let content_type = "application/x-www-form-urlencoded;charset=UTF-8".to_owned();
    Some(NativeBody { payload: query.into(), content_type })
}

/// Whether it is a `Blob` or a `File`.
pub(crate) fn is_blob(value: &Value<'_>) -> bool {
    blob::of(value).is_some()
}

/// A `Blob` or `File` as a part of a form.
pub(crate) fn named_blob(value: &Value<'_>) -> Option<FilePart> {
    let data = blob::of(value)?;
    let kind = data.kind();
    Some(FilePart {
        payload: data.payload().clone(),
        is_text: false,
        filename: blob::name_of(value).unwrap_or("blob").to_owned(),
        content_type: if kind.is_empty() { "application/octet-stream" } else { kind }.to_owned(),
    })
}

/// A `Blob` without a type.
///
/// # Errors
/// If the VM's memory limit is reached.
pub(crate) fn blob_of(ctx: Ctx<'_>, payload: Payload) -> JsResult<'_> {
    blob::object(ctx, BlobData::new(payload, ""))
}

/// The body of a `FormData` with this boundary; `None` for other values.
pub(crate) fn form_with(value: &Value<'_>, boundary: &str) -> Option<Payload> {
    value.instance::<FormData>().map(|form| form.encode(boundary))
}

/// Whether it is a `ReadableStream`. Costs next to nothing in a VM that has none.
pub(crate) fn is_stream<'js>(ctx: Ctx<'js>, value: &Value<'js>) -> bool {
    value.is_object() && parts::is_stream(ctx, value)
}

/// A stream as the body of a request. Its chunks are asked for as the request is sent.
///
/// # Errors
/// If somebody else reads the stream, or did.
pub(crate) fn feed<'js>(ctx: Ctx<'js>, stream: &Value<'js>) -> JsResult<'js, (Payload, FeedGuard)> {
    feed::open(ctx, stream)
}
