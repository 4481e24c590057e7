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
pub(super) mod file_stream;
mod networks;
mod ready;
mod request;
mod response;
mod send;

use brunt_quickjs::{Ctx, JsResult, Value};

use self::file_stream::FileStream;
use crate::module::Module;

/// The module that scripts import.
pub(crate) struct Exports;

impl Module for Exports {
    fn specifier(&self) -> &'static str {
        "k6/x/fasthttp"
    }

    fn names(&self) -> Vec<String> {
        ["Client", "FileStream", "Request", "checkstatus"].map(str::to_owned).to_vec()
    }

    fn fill<'js>(&self, ctx: Ctx<'js>, exports: &Value<'js>) -> JsResult<'js, ()> {
        let prototype = ctx.class_prototype::<client::Client>()?;
        exports.define("Client", ctx.constructor(c"Client", 1, client::construct, &prototype)?)?;
        let prototype = ctx.class_prototype::<FileStream>()?;
        exports.define(
            "FileStream",
            ctx.constructor(c"FileStream", 1, file_stream::construct, &prototype)?,
        )?;
        let prototype = ctx.class_prototype::<request::Request>()?;
        exports
            .define("Request", ctx.constructor(c"Request", 2, request::construct, &prototype)?)?;
        exports.define("checkstatus", ctx.function(c"checkstatus", 3, checkstatus::checkstatus)?)
    }
}

/// The kind of an object of this module that is no body.
pub(super) fn kind_of(value: &Value<'_>) -> Option<&'static str> {
    if value.instance::<client::Client>().is_some() {
        Some("*fasthttp.Client")
    } else if value.instance::<request::Request>().is_some() {
        Some("*fasthttp.Request")
    } else {
        value.instance::<response::Response>().is_some().then_some("*fasthttp.Response")
    }
}
