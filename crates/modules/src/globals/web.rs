//! What browsers have for bodies and requests: `Blob`, `File`, `FormData`, `Headers`, `Request`, `Response`, `fetch`,
//! streams, `AbortController`.
//!
//! `Blob`, `File` and `FormData` are native: they hold a [`Payload`](brunt_http::Payload), and nothing is copied when
//! they are made, put into one another or sent. The others are JavaScript (the `.js` files of this folder, see
//! [`parts`]): their standards are algorithms on promises. A VM pays for what its script names, and only from then on.

mod blob;
mod feed;
mod form_data;
mod form_parts;
pub(crate) mod jslib_form;
mod parts;

use std::ffi::CStr;
use std::sync::LazyLock;

use brunt_http::Payload;
use brunt_js::Host;
use brunt_quickjs::{Ctx, JsResult, Members, Value};

use crate::globals::url;
use crate::http::FilePart;
use crate::lazy::{LazyGlobal, lazy};
use blob::BlobData;
use blob::read_payload;
pub(crate) use blob::{READ_MAX, shared_bytes};
pub(crate) use feed::FeedGuard;
use form_data::FormData;
pub(crate) use form_parts::Boundary;
use parts::Set;

/// Globals that are made when they are first read.
macro_rules! offered {
    ($($kind:ident $name:literal)*) => {
        $(
            struct $kind;
            impl LazyGlobal for $kind {
                const NAME: &'static CStr = $name;
                fn make(ctx: Ctx<'_>) -> JsResult<'_> {
                    made(ctx, Self::NAME)
                }
            }
        )*
        static OFFERED: [(&CStr, LazyLock<Members>); [$($name),*].len()] =
            [$(($name, LazyLock::new(|| lazy::<$kind>(Members::new())))),*];
    };
}

offered! {
    AbortController c"AbortController"
    AbortSignal c"AbortSignal"
    Blob c"Blob"
    ByteLengthQueuingStrategy c"ByteLengthQueuingStrategy"
    CountQueuingStrategy c"CountQueuingStrategy"
    EventSource c"EventSource"
    Fetch c"fetch"
    File c"File"
    Form c"FormData"
    Headers c"Headers"
    ReadableStream c"ReadableStream"
    ReadableStreamDefaultController c"ReadableStreamDefaultController"
    ReadableStreamDefaultReader c"ReadableStreamDefaultReader"
    Request c"Request"
    Response c"Response"
    WritableStream c"WritableStream"
    WritableStreamDefaultController c"WritableStreamDefaultController"
    WritableStreamDefaultWriter c"WritableStreamDefaultWriter"
}

fn made<'js>(ctx: Ctx<'js>, name: &CStr) -> JsResult<'js> {
    let name = name.to_str().expect("names of globals are ASCII");
    let set = match name {
        "Blob" => return blob::class(ctx),
        "File" => return blob::file_class(ctx),
        "FormData" => return form_data::class(ctx),
        "AbortController" | "AbortSignal" => Set::Abort,
        "EventSource" => Set::Events,
        "Headers" | "Request" | "Response" | "fetch" => Set::Fetch,
        _ => Set::Streams,
    };
    parts::export(ctx, set, name)
}

/// The class of streams, whatever the script has put in its place.
///
/// # Errors
/// If the VM's memory limit is reached.
pub(crate) fn readable_stream(ctx: Ctx<'_>) -> JsResult<'_> {
    parts::export(ctx, Set::Streams, "ReadableStream")
}

/// Gives the VM those of the globals that its script may name.
pub(crate) fn install(ctx: Ctx<'_>) -> JsResult<'_, ()> {
    let program = ctx.host::<Host>().map(Host::program);
    for (name, members) in &OFFERED {
        let name = name.to_str().expect("names of globals are ASCII");
        if program.is_none_or(|program| program.may_use(name)) {
            ctx.global().define_members(members)?;
        }
    }
    Ok(())
}

/// The exports of `k6/experimental/streams`: those of k6's, and the strategy and the controllers that belong to them.
pub(crate) mod streams {
    use super::{Ctx, JsResult, Set, Value, parts};

    const NAMES: [&str; 8] = [
        "ReadableStream",
        "ReadableStreamDefaultReader",
        "ReadableStreamDefaultController",
        "WritableStream",
        "WritableStreamDefaultWriter",
        "WritableStreamDefaultController",
        "CountQueuingStrategy",
        "ByteLengthQueuingStrategy",
    ];

    pub(crate) fn names() -> Vec<String> {
        NAMES.map(str::to_owned).to_vec()
    }

    pub(crate) fn fill<'js>(
        ctx: Ctx<'js>,
        set: &mut dyn FnMut(&str, Value<'js>) -> JsResult<'js, ()>,
    ) -> JsResult<'js, ()> {
        NAMES.into_iter().try_for_each(|name| set(name, parts::export(ctx, Set::Streams, name)?))
    }
}

/// A body of one of the native classes, and what its `Content-Type` is; an empty one says nothing.
pub(crate) struct NativeBody {
    pub(crate) payload: Payload,
    pub(crate) content_type: String,
}

/// The body that an object of this module's classes is: `Blob`, `File`, `FormData`, and `URLSearchParams`.
pub(crate) fn native_body(value: &Value<'_>) -> Option<NativeBody> {
    if let Some(form) = value.instance::<FormData>() {
        let Boundary { text, content_type } = Boundary::of(None).ok()?;
        return Some(NativeBody { payload: form.encode(&text), content_type });
    }
    if let Some(blob) = blob::of(value) {
        let (payload, content_type) = (blob.payload().clone(), blob.kind().to_owned());
        return Some(NativeBody { payload, content_type });
    }
    let query = url::search_params_text(value)?;
    let content_type = "application/x-www-form-urlencoded;charset=UTF-8".to_owned();
    Some(NativeBody { payload: query.into(), content_type })
}

/// The pieces of what the `body()` of the FormData library returned, if no script has looked at it.
pub(crate) fn late_payload(value: &Value<'_>) -> Option<Payload> {
    jslib_form::late_payload(value)
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

/// The class `Blob`, whatever the script has put in its place.
///
/// # Errors
/// If the VM's memory limit is reached.
pub(crate) fn blob_class(ctx: Ctx<'_>) -> JsResult<'_> {
    blob::class(ctx)
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

#[cfg(test)]
mod tests;
