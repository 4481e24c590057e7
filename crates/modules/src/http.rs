//! `k6/http`.

mod batch;
mod body;
mod chain;
mod cookies;
mod download;
mod expected;
pub(crate) mod fasthttp;
mod file;
mod gjson;
pub(crate) mod limiter;
mod login;
mod prepared;
mod record;
mod response;
pub(crate) mod state;
mod transfer;
mod url;
mod web;

use std::borrow::Cow;
use std::pin::pin;
use std::rc::Rc;
use std::sync::LazyLock;

use brunt_fiber::block_on;
use brunt_js::{Failure, Host};
use brunt_quickjs::{Call, Ctx, JsResult, Members, Name, PromiseState, Thrown, Value};

use self::expected::Callback;
use self::prepared::{Asked, Prepared, Refusal, Unsendable, http_of, method_of};
use self::transfer::{Finished, Sink};
pub(crate) use self::url::escape_path;
use crate::state::{VuState, throw, throw_stopped};
pub(crate) use download::Fetched;
pub(crate) use response::Response;
pub(crate) use web::{
    FilePart, file_part, header_lines, is_redirected, jar_in, new_jar, response_body, settled,
};

static COOKIE_JAR: Name = Name::new("CookieJar");

static MEMBERS: LazyLock<Members> = LazyLock::new(|| {
    Members::new()
        .function(c"asyncRequest", 4, async_request)
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

/// Whether it is an object whose methods are its own properties.
pub(crate) fn has_own_methods(value: &Value<'_>) -> bool {
    value.instance::<Response>().is_some() || value.instance::<cookies::CookieJar>().is_some()
}

pub(crate) fn names() -> Vec<String> {
    let mut names: Vec<String> =
        MEMBERS.names().map(|name| name.to_string_lossy().into_owned()).collect();
    names.push(COOKIE_JAR.text().to_owned());
    names
}

/// Gives an object the module's members.
pub(crate) fn define<'js>(ctx: Ctx<'js>, object: &Value<'js>) -> JsResult<'js, ()> {
    object.define_members(&MEMBERS)?;
    let prototype = ctx.class_prototype::<cookies::CookieJar>()?;
    object.define(&COOKIE_JAR, ctx.constructor(c"CookieJar", 0, cookies::construct, &prototype)?)
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

fn asked_request<'js>(call: &Call<'js>) -> JsResult<'js, Asked<'js>> {
    Ok(Asked {
        method: method_of(&call.argument(0))?,
        url: call.argument(1),
        body: call.argument(2),
        params: call.argument(3),
    })
}

/// Sends a request and waits for the response.
fn send<'js>(ctx: Ctx<'js>, asked: Asked<'js>) -> JsResult<'js> {
    let (host, http) = http_of(ctx)?;
    if crate::globals::web::is_stream(ctx, &asked.body) {
        let promise = send_later(ctx, asked, &ctx.undefined())?;
        return wait_for(ctx, host, &promise);
    }
    let mut prepared = match Prepared::read(ctx, http, asked) {
        Ok(prepared) => prepared,
        Err(Refusal::Thrown(thrown)) => return Err(thrown),
        Err(Refusal::Unsendable(refused)) => return unsent(ctx, &refused),
    };
    let sink = Sink::of(host, VuState::of(ctx), http);
    if prepared.download.is_some() {
        let Ok(arrived) = block_on(download::start(http, prepared, sink)) else {
            return Err(throw_stopped(ctx));
        };
        return download::received(ctx, arrived);
    }
    let ended = {
        // Pinned where it is made: handed over by value it would be copied, all of its kilobytes.
        let transfer = pin!(transfer::run(&http.client, &mut prepared, &sink));
        block_on(transfer)
    };
    match ended {
        Ok(ended) => received(ctx, Finished::new(prepared, ended)),
        Err(_) => Err(throw_stopped(ctx)),
    }
}

/// A finished request as the script gets it.
fn received(ctx: Ctx<'_>, finished: Box<Finished>) -> JsResult<'_> {
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
fn unsent<'js>(ctx: Ctx<'js>, refused: &Unsendable) -> JsResult<'js> {
    if refused.throw {
        return Err(throw(ctx, &refused.text));
    }
    log::warn!(error = refused.text.as_str(); "Request Failed");
    response::new(ctx, Response::unsent(&refused.text, refused.code))
}

pub(crate) fn async_request(call: Call<'_>) -> JsResult<'_> {
    let asked = asked_request(&call)?;
    send_later(call.ctx(), asked, &call.ctx().undefined())
}

/// The same for `fetch`: the argument after the params is a [`Fetched`], from which the body is to be had as it comes.
pub(crate) fn fetch_request(call: Call<'_>) -> JsResult<'_> {
    let asked = asked_request(&call)?;
    send_later(call.ctx(), asked, &call.argument(4))
}

/// Sends a request; gives back the promise of its response.
fn send_later<'js>(ctx: Ctx<'js>, asked: Asked<'js>, fetched: &Value<'js>) -> JsResult<'js> {
    let (host, http) = http_of(ctx)?;
    let is_fetch = fetched.is_object();
    let (promise, deferred) = ctx.promise()?;
    let mut prepared = match Prepared::read(ctx, http, asked) {
        Ok(prepared) => prepared,
        Err(Refusal::Thrown(thrown)) => {
            reject(ctx, deferred, thrown, is_fetch)?;
            return Ok(promise);
        }
        Err(Refusal::Unsendable(refused)) => {
            match unsent(ctx, &refused) {
                Ok(response) => ctx.settle(deferred, Ok(response))?,
                Err(thrown) => reject(ctx, deferred, thrown, is_fetch)?,
            }
            return Ok(promise);
        }
    };
    prepared.take_cookies();
    let sink = Sink::of(host, VuState::of(ctx), http);
    if let Some(follower) = fetched.instance::<Fetched>() {
        follower.follow(&mut prepared);
        if prepared.download.is_some() {
            let fetched = ctx.root(fetched.clone());
            host.events().spawn(download::start(http, prepared, sink), move |ctx, arrived| {
                let fetched = ctx.unroot(fetched);
                let outcome = match fetched.instance::<Fetched>() {
                    Some(follower) => follower.received(ctx, arrived),
                    None => download::received(ctx, arrived),
                };
                settle(ctx, deferred, outcome)
            });
            return Ok(promise);
        }
    }
    if prepared.download.is_some() {
        host.events().spawn(download::start(http, prepared, sink), move |ctx, arrived| {
            let outcome = download::received(ctx, arrived);
            settle(ctx, deferred, outcome)
        });
        return Ok(promise);
    }
    let client = Rc::clone(&http.client);
    host.events().spawn(
        async move {
            let ended = transfer::run(&client, &mut prepared, &sink).await;
            Finished::new(prepared, ended)
        },
        move |ctx, finished| match received(ctx, finished) {
            Ok(response) => ctx.settle(deferred, Ok(response)),
            Err(thrown) => reject(ctx, deferred, thrown, is_fetch),
        },
    );
    Ok(promise)
}

/// Lets the VU's event loop run until a request is over whose body scripts make meanwhile.
fn wait_for<'js>(ctx: Ctx<'js>, host: &Host, promise: &Value<'js>) -> JsResult<'js> {
    let settled = host.events().run_until_settled(host, ctx, promise, Failure::of_value);
    match (settled, promise.promise_state()) {
        (Ok(response), _) => Ok(response),
        (Err(Failure::Exception(_)), Some(PromiseState::Rejected(reason))) => {
            Err(ctx.throw(reason))
        }
        // Of something else that ran meanwhile.
        (Err(Failure::Exception(text)), _) => Err(throw(ctx, &text)),
        (Err(_), _) => Err(throw_stopped(ctx)),
    }
}

/// Settles a promise with what a function returned or threw.
fn settle<'js>(
    ctx: Ctx<'js>,
    deferred: brunt_quickjs::Deferred,
    outcome: JsResult<'js>,
) -> JsResult<'js, ()> {
    match outcome {
        Ok(value) => ctx.settle(deferred, Ok(value)),
        Err(thrown) => match ctx.take_exception() {
            Some(exception) => ctx.settle(deferred, Err(exception.value)),
            None => Err(thrown),
        },
    }
}

/// Rejects with what was thrown: k6's `asyncRequest()` with Go's error itself.
fn reject<'js>(
    ctx: Ctx<'js>,
    deferred: brunt_quickjs::Deferred,
    thrown: Thrown,
    is_fetch: bool,
) -> JsResult<'js, ()> {
    let Some(exception) = ctx.take_exception() else { return Err(thrown) };
    let reason =
        if is_fetch { exception.value } else { crate::go_error::bared(ctx, exception.value)? };
    ctx.settle(deferred, Err(reason))
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
    let host = Host::of(ctx);
    *VuState::of(ctx).http(host).callback.borrow_mut() = callback;
    Ok(ctx.undefined())
}
