//! Sends a request, records it, and makes the response.

use std::cell::RefCell;
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;

use brunt_fiber::{block_on, clock};
use brunt_http::{Body, Exchange, TargetError, WriteBy};
use brunt_js::{Host, Phase};
use brunt_quickjs::{Call, Ctx, JsResult, Value};

use super::super::prepared::ResponseType;
use super::super::record;
use super::super::state::HttpState;
use super::client::{Client, Wire};
use super::ready::{Kind, Ready};
use super::request::Request;
use super::response::{self, Response};
use crate::state::VuState;
use crate::throwing::{not_in_init, throw, throw_stopped, throw_type};
use crate::watch::{Place, Seen, Watched};

/// The methods that a client has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Method {
    Delete,
    Get,
    Options,
    Patch,
    Post,
    Put,
}

impl Method {
    /// The one of this name.
    pub(super) fn of(name: &str) -> Option<Self> {
        let all = [Self::Delete, Self::Get, Self::Options, Self::Patch, Self::Post, Self::Put];
        all.into_iter().find(|method| method.name() == name)
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Delete => "DELETE",
            Self::Get => "GET",
            Self::Options => "OPTIONS",
            Self::Patch => "PATCH",
            Self::Post => "POST",
            Self::Put => "PUT",
        }
    }

    /// As Go's errors write it.
    fn title(self) -> &'static str {
        match self {
            Self::Delete => "Delete",
            Self::Get => "Get",
            Self::Options => "Options",
            Self::Patch => "Patch",
            Self::Post => "Post",
            Self::Put => "Put",
        }
    }
}

/// `client.get(request)` and its kin.
pub(super) fn send<'js>(call: Call<'js>, method: Method) -> JsResult<'js> {
    let (ctx, this, argument) = (call.ctx(), call.this(), call.argument(0));
    let Some(client) = this.instance::<Client>() else {
        return Err(throw_type(ctx, "this method belongs to a Client"));
    };
    send_by(ctx, client, &argument, method)
}

/// Sends a `Request`.
///
/// # Errors
/// If the object is none, in init code, and what the request itself throws.
pub(super) fn send_by<'js>(
    ctx: Ctx<'js>,
    client: &Client,
    argument: &Value<'js>,
    method: Method,
) -> JsResult<'js> {
    let Some(request) = argument.instance::<Request>() else {
        return Err(if argument.is_object() {
            throw(ctx, "object not a Request")
        } else {
            throw_type(ctx, "a Client's methods take a Request")
        });
    };
    not_in_init(ctx, "Making http requests")?;
    let (host, state) = (Host::of(ctx), VuState::of(ctx));
    let http = host.slot::<HttpState>();
    let wire = client.wire(ctx)?;
    let ready = request.ready(ctx, argument, http, client.agent.as_ref())?;
    if let Some(limiter) = &http.shared.limiter {
        let wait = limiter.reserve(clock::now_ns());
        if !wait.is_zero() && block_on(tokio::time::sleep(wait)).is_err() {
            return Err(throw_stopped(ctx));
        }
    }
    wire.age(client.limits.connection_ns);
    let unsent = |failure| Exchange::unsent(failure, clock::now_ns());
    let exchange = match (&ready.place, &ready.refused) {
        (Err(TargetError::Invalid(invalid)), _) => {
            // There was no request: there are no samples.
            return failed(ctx, &ready, &format!("invalid URL: {}", invalid.of(&ready.url)));
        }
        (Err(TargetError::Unreachable(failure)), _) | (Ok(_), Some(failure)) => unsent(*failure),
        (Ok(place), None) => {
            let target = place.target.borrow();
            let mut asked = brunt_http::Request::new(method.name(), &target, ready.headers(method));
            let body = ready.body(method);
            asked.body = match &body {
                Some(body) if body.len() != Some(0) => Body::Payload(body),
                // The extension tells the length of every body but that of a GET.
                _ if method != Method::Get => Body::Nothing,
                _ => Body::Empty,
            };
            asked.host = ready.host.as_deref();
            let limits = &client.limits;
            asked.deadline = limits.request_ns.map(|limit| clock::now_ns().saturating_add(limit));
            let write_by =
                limits.write_ns.map(|limit| WriteBy::new(clock::now_ns().saturating_add(limit)));
            asked.write_by = write_by.as_ref();
            asked.discard_body = ready.response_type == ResponseType::None;
            // Pinned where it is made: it is large, and would be copied on its way.
            let run = pin!(wire.client.exchange(&asked));
            let Ok(exchange) = block_on(run) else { return Err(throw_stopped(ctx)) };
            show((host, state, http), &ready, &asked, &exchange);
            exchange
        }
    };
    wire.used(&exchange);
    record(host, state, http, (&ready, method), &exchange);
    match exchange.failure {
        None => {
            let (client, shown) = (client.clone(), RefCell::default());
            response::new(ctx, Response { exchange, ready, client, shown })
        }
        Some(failure) => {
            let text = format!("{} \"{}\": {failure}", method.title(), ready.shown());
            failed(ctx, &ready, &text)
        }
    }
}

/// `null` and a warning, or an exception if the request wants one.
fn failed<'js>(ctx: Ctx<'js>, ready: &Ready, text: &str) -> JsResult<'js> {
    if ready.throw {
        return Err(throw(ctx, text));
    }
    log::warn!(error = text; "Request Failed");
    Ok(ctx.null())
}

/// Shows an exchange to whoever watches: all of them, or those that failed.
fn show(
    (host, state, http): (&Host, &VuState, &HttpState),
    ready: &Ready,
    asked: &brunt_http::Request<'_>,
    exchange: &Exchange,
) {
    let (watcher, failures) = (&http.shared.watcher, &http.shared.failures);
    let has_failed = || exchange.response().map_or(true, |response| response.status() >= 400);
    if watcher.is_none() && !(failures.is_some() && has_failed()) {
        return;
    }
    let tags = state.tags();
    let seen = Seen::new((ready.shown(), tags.name()), asked, exchange, None, http.shared.closes());
    match (watcher, failures) {
        (Some(watcher), _) => {
            let group = Arc::clone(&state.group.borrow());
            Watched::new(Rc::clone(watcher), host, group).exchange(&seen);
        }
        (None, Some(failures)) => {
            let scenario = tags.scenario().unwrap_or_default();
            failures.exchange(&Place { group: "", scenario, vu: 0, iteration: None }, &seen);
        }
        (None, None) => {}
    }
}

/// The nine samples of an exchange.
fn record(
    host: &Host,
    state: &VuState,
    http: &HttpState,
    (ready, method): (&Ready, Method),
    exchange: &Exchange,
) {
    let Some(core) = host.core().filter(|_| host.phase() != Phase::Summary) else { return };
    let mut recorder = core.recorder().borrow_mut();
    let response = exchange.response().ok();
    let status = response.map_or(0, |response| response.status());
    let kind = Kind {
        epoch: recorder.epoch(),
        base: state.tags_id(&mut recorder),
        method,
        status,
        proto: response.map_or("", |response| response.version()),
        tls: exchange.tls.filter(|_| response.is_some()),
        remote: exchange.remote.filter(|_| http.shared.system_tags.ip),
        expected: http.callback.borrow().expects(status),
    };
    let sources = (state, http);
    let block = match exchange.failure {
        None => ready.series(&mut recorder, sources, kind),
        Some(failure) => {
            let error = failure.to_string();
            ready.find_series(&mut recorder, sources, kind, &error, failure.code())
        }
    };
    let metadata = state.metadata();
    record::add(&mut recorder, &block, exchange, kind.expected, metadata.as_ref());
}

impl Wire {
    /// Closes the idle connections once the oldest of them is older than `limit_ns` (0: no limit).
    fn age(&self, limit_ns: u64) {
        let opened_at = self.opened_at.get();
        if limit_ns > 0 && opened_at > 0 && clock::now_ns().saturating_sub(opened_at) > limit_ns {
            self.client.close_idle();
            self.opened_at.set(0);
        }
    }

    /// Notices a connection that was opened.
    fn used(&self, exchange: &Exchange) {
        if !exchange.reused && self.opened_at.get() == 0 {
            self.opened_at.set(exchange.started_at);
        }
    }
}
