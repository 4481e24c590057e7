//! `k6/http`.

mod answering;
mod batch;
mod body;
mod body_stream;
mod chain;
pub(crate) mod cookies;
mod download;
mod expected;
pub(crate) mod fasthttp;
pub(crate) mod fetched;
mod file;
mod gjson;
pub(crate) mod jar;
pub(crate) mod kinds;
mod limiter;
mod login;
pub(crate) mod part;
mod prepared;
mod record;
pub(crate) mod response;
pub(crate) mod sending;
mod shown;
mod state;
mod transfer;
pub(crate) mod url;

use std::borrow::Cow;
use std::sync::LazyLock;

use brunt_engine::{Ended, Iteration};
use brunt_js::{Host, Remains};
use brunt_quickjs::{Call, Ctx, JsResult, Members, Name, Value, touched};

use self::expected::Callback;
use self::jar::CookieJar;
use self::prepared::Asked;
use self::sending::{asked_request, send};
use self::state::HttpState;
use crate::module::Module;
use crate::state::VuState;
use crate::throwing::throw;
use crate::vu_jar::VuJar;

static COOKIE_JAR: Name = Name::new("CookieJar");

static MEMBERS: LazyLock<Members> = LazyLock::new(|| {
    Members::new()
        .function(c"asyncRequest", 4, sending::async_request)
        .function(c"batch", 1, batch::batch)
        .function(c"cookieJar", 0, cookies::vu_jar)
        .function(c"del", 3, |call| with_body(call, "DELETE"))
        .function(c"expectedStatuses", 1, expected::expected_statuses)
        .function(c"file", 3, file::file)
        .function(c"get", 2, |call| without_body(call, "GET"))
        .function(c"head", 2, |call| without_body(call, "HEAD"))
        .function(c"options", 3, |call| with_body(call, "OPTIONS"))
        .function(c"patch", 3, |call| with_body(call, "PATCH"))
        .function(c"post", 3, |call| with_body(call, "POST"))
        .function(c"put", 3, |call| with_body(call, "PUT"))
        .function(c"request", 4, request)
        .function(c"setResponseCallback", 1, set_response_callback)
        .function(c"url", 1, url::tag)
        .string(c"TLS_1_0", c"tls1.0")
        .string(c"TLS_1_1", c"tls1.1")
        .string(c"TLS_1_2", c"tls1.2")
        .string(c"TLS_1_3", c"tls1.3")
        .string(c"OCSP_STATUS_GOOD", c"good")
        .string(c"OCSP_STATUS_REVOKED", c"revoked")
        .string(c"OCSP_STATUS_SERVER_FAILED", c"server_failed")
        .string(c"OCSP_STATUS_UNKNOWN", c"unknown")
        .string(c"OCSP_REASON_UNSPECIFIED", c"unspecified")
        .string(c"OCSP_REASON_KEY_COMPROMISE", c"key_compromise")
        .string(c"OCSP_REASON_CA_COMPROMISE", c"ca_compromise")
        .string(c"OCSP_REASON_AFFILIATION_CHANGED", c"affiliation_changed")
        .string(c"OCSP_REASON_SUPERSEDED", c"superseded")
        .string(c"OCSP_REASON_CESSATION_OF_OPERATION", c"cessation_of_operation")
        .string(c"OCSP_REASON_CERTIFICATE_HOLD", c"certificate_hold")
        .string(c"OCSP_REASON_REMOVE_FROM_CRL", c"remove_from_crl")
        .string(c"OCSP_REASON_PRIVILEGE_WITHDRAWN", c"privilege_withdrawn")
        .string(c"OCSP_REASON_AA_COMPROMISE", c"aa_compromise")
});

/// The module that scripts import.
pub(crate) struct Exports;

impl Module for Exports {
    fn specifier(&self) -> &'static str {
        "k6/http"
    }

    fn names(&self) -> Vec<String> {
        let mut names: Vec<String> =
            MEMBERS.names().map(|name| name.to_string_lossy().into_owned()).collect();
        names.push(COOKIE_JAR.text().to_owned());
        names
    }

    fn fill<'js>(&self, ctx: Ctx<'js>, exports: &Value<'js>) -> JsResult<'js, ()> {
        exports.define_members(&MEMBERS)?;
        let prototype = ctx.class_prototype::<CookieJar>()?;
        let jar = ctx.constructor(c"CookieJar", 0, cookies::construct, &prototype)?;
        exports.define(&COOKIE_JAR, jar)
    }

    /// `fetch` and other modules use it without an import.
    fn is_always_awake(&self) -> bool {
        true
    }

    fn shares_exports(&self) -> bool {
        true
    }

    fn begin(&self, host: &Host, _: Ctx<'_>, iteration: Option<&Iteration>) {
        // A VM that has made requests has it, and so has one that only opened WebSockets.
        let Some(jar) = host.slot_if_made::<VuJar>() else { return };
        if iteration.is_some()
            && touched::is_watched()
            && let Some(http) = host.slot_if_made::<HttpState>()
        {
            http.note();
        }
        let config = host.slot::<VuState>().shared.config();
        if !config.no_cookies_reset || iteration.is_none() {
            jar.reset();
        }
    }

    fn remains(&self, host: &Host) -> Option<Remains> {
        host.slot_if_made::<HttpState>()?.unread_downloads()
    }

    fn end(&self, host: &Host, _: Ended) {
        if let Some(http) = host.slot_if_made::<HttpState>() {
            http.end_downloads();
        }
    }
}

fn without_body<'js>(call: Call<'js>, method: &'static str) -> JsResult<'js> {
    let ctx = call.ctx();
    if call.len() > 2 {
        log::warn!(
            "http.{}() takes a URL and params; the arguments after them are ignored",
            method.to_ascii_lowercase()
        );
    }
    let asked = Asked {
        method: Cow::Borrowed(method),
        url: call.argument(0),
        body: ctx.undefined(),
        params: call.argument(1),
    };
    send(ctx, asked)
}

fn with_body<'js>(call: Call<'js>, method: &'static str) -> JsResult<'js> {
    let asked = Asked {
        method: Cow::Borrowed(method),
        url: call.argument(0),
        body: call.argument(1),
        params: call.argument(2),
    };
    send(call.ctx(), asked)
}

fn request(call: Call<'_>) -> JsResult<'_> {
    let asked = asked_request(&call)?;
    send(call.ctx(), asked)
}

fn set_response_callback(call: Call<'_>) -> JsResult<'_> {
    let ctx = call.ctx();
    let given = call.argument(0);
    // `undefined` is none, unlike nothing at all.
    let is_wrong = given.is_undefined() && !call.is_empty();
    let callback = if is_wrong { None } else { Callback::read(&given) };
    let Some(callback) = callback else {
        return Err(throw(ctx, "unsupported argument, expected http.expectedStatuses"));
    };
    *Host::of(ctx).slot::<HttpState>().callback.borrow_mut() = callback;
    Ok(ctx.undefined())
}
