//! `k6/x/fasthttp`: requests that are prepared once and sent with as little as possible around them.
//!
//! The API is that of the k6 extension of this name; what the extension gets wrong (`docs/guide/fasthttp.md` has the
//! list) is right here, and no metric is missing.
//!
//! ```text
//! Request ──read at its first use──► Ready: target, headers, body, series
//!                                      │
//! Client ──made at its first use──► Wire ──send──► Response, or null
//!            (connections of its own)     └──────► nine samples
//! ```

mod checkstatus;
mod client;
mod file_stream;
mod networks;
mod ready;
mod request;
mod response;
mod send;

use brunt_quickjs::{Call, Ctx, JsResult, Value};

pub(super) use self::file_stream::FileStream;
pub(super) use self::networks::Networks;
pub(super) use self::ready::SharedReady;

pub(crate) fn names() -> Vec<String> {
    ["Client", "FileStream", "Request", "checkstatus"].map(str::to_owned).to_vec()
}

pub(crate) fn fill<'js>(
    ctx: Ctx<'js>,
    set: &mut dyn FnMut(&str, Value<'js>) -> JsResult<'js, ()>,
) -> JsResult<'js, ()> {
    let prototype = ctx.class_prototype::<client::Client>()?;
    set("Client", ctx.constructor(c"Client", 1, client::construct, &prototype)?)?;
    let prototype = ctx.class_prototype::<FileStream>()?;
    set("FileStream", ctx.constructor(c"FileStream", 1, file_stream::construct, &prototype)?)?;
    let prototype = ctx.class_prototype::<request::Request>()?;
    set("Request", ctx.constructor(c"Request", 2, request::construct, &prototype)?)?;
    set("checkstatus", ctx.function(c"checkstatus", 3, checkstatus::checkstatus)?)
}

/// What an object of this module is that is no body.
pub(super) fn kind_of(value: &Value<'_>) -> Option<&'static str> {
    if value.instance::<client::Client>().is_some() {
        Some("*fasthttp.Client")
    } else if value.instance::<request::Request>().is_some() {
        Some("*fasthttp.Request")
    } else {
        value.instance::<response::Response>().is_some().then_some("*fasthttp.Response")
    }
}

/// Classes cannot be called like functions.
fn needs_new<'js>(call: &Call<'js>, class: &str) -> JsResult<'js, ()> {
    if call.this().is_object() {
        return Ok(());
    }
    Err(call.ctx().throw_type(&format!("the class {class} is made with `new`")))
}
