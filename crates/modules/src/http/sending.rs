//! Sends requests of scripts: at once, or with a promise.

use std::pin::pin;
use std::rc::Rc;

use brunt_fiber::{Aborted, block_on};
use brunt_js::{Failure, Host};
use brunt_quickjs::{Call, Ctx, Deferred, JsResult, PromiseState, Thrown, Value, Weight};

use super::fetched::Fetched;
use super::kinds::kind_of;
use super::prepared::{Asked, Prepared, Refusal, method_of};
use super::state::{HttpState, http_of};
use super::transfer::{self, Finished, Sink};
use super::{answering, download};
use crate::globals::web::bodies::is_stream;
use crate::go_error::bared;
use crate::state::VuState;
use crate::throwing::{settle, throw, throw_stopped};

pub(super) fn asked_request<'js>(call: &Call<'js>) -> JsResult<'js, Asked<'js>> {
    Ok(Asked {
        method: method_of(&call.argument(0))?,
        url: call.argument(1),
        body: call.argument(2),
        params: call.argument(3),
    })
}

/// Sends a request and waits for the response.
pub(super) fn send<'js>(ctx: Ctx<'js>, asked: Asked<'js>) -> JsResult<'js> {
    let (host, http) = http_of(ctx)?;
    if is_stream(ctx, &asked.body) {
        let promise = send_later(ctx, asked, &ctx.undefined())?;
        return wait_for(ctx, host, &promise);
    }
    let prepared = match Prepared::read(ctx, http, asked, kind_of) {
        Ok(prepared) => prepared,
        Err(Refusal::Thrown(thrown)) => return Err(thrown),
        Err(Refusal::Unsendable(refused)) => return answering::unsent(ctx, &refused),
    };
    let sink = Sink::of(host, VuState::of(ctx), http);
    if prepared.download.is_some() {
        return stream(ctx, http, prepared, sink);
    }
    match carry_out(http, prepared, &sink) {
        Ok(finished) => answering::finished(ctx, finished),
        Err(_) => Err(throw_stopped(ctx)),
    }
}

/// Waits for a prepared request. Apart, because its future takes kilobytes of the stack: they are not below the calls that make
/// the VU's state and the response's object.
#[inline(never)]
fn carry_out(
    http: &HttpState,
    mut prepared: Prepared,
    sink: &Sink,
) -> Result<Box<Finished>, Aborted> {
    let ended = {
        // Pinned where it is made: handed over by value it would be copied, all of its kilobytes.
        let transfer = pin!(transfer::run(&http.client, &mut prepared, sink));
        block_on(transfer)
    };
    Ok(Finished::new(prepared, ended?))
}

/// Sends a request whose response is streamed, and waits for its head. Apart, because few are, and what this needs of the
/// stack is much.
#[inline(never)]
fn stream<'js>(ctx: Ctx<'js>, http: &HttpState, prepared: Prepared, sink: Sink) -> JsResult<'js> {
    match block_on(download::start(http, prepared, sink)) {
        Ok(arrived) => answering::arrived(ctx, arrived),
        Err(_) => Err(throw_stopped(ctx)),
    }
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
    let mut prepared = match Prepared::read(ctx, http, asked, kind_of) {
        Ok(prepared) => prepared,
        Err(Refusal::Thrown(thrown)) => {
            reject(ctx, deferred, thrown, is_fetch)?;
            return Ok(promise);
        }
        Err(Refusal::Unsendable(refused)) => {
            match answering::unsent(ctx, &refused) {
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
                    None => answering::arrived(ctx, arrived),
                };
                settle(ctx, deferred, outcome)
            });
            return Ok(promise);
        }
    }
    if prepared.download.is_some() {
        host.events().spawn(download::start(http, prepared, sink), move |ctx, arrived| {
            let outcome = answering::arrived(ctx, arrived);
            settle(ctx, deferred, outcome)
        });
        return Ok(promise);
    }
    let client = Rc::clone(&http.client);
    let weight = Weight::of(ctx, prepared.waits_with())?;
    host.events().spawn_weighing(
        weight,
        async move {
            let ended = transfer::run(&client, &mut prepared, &sink).await;
            Finished::new(prepared, ended)
        },
        move |ctx, finished| match answering::finished(ctx, finished) {
            Ok(response) => ctx.settle(deferred, Ok(response)),
            Err(thrown) => reject(ctx, deferred, thrown, is_fetch),
        },
    );
    Ok(promise)
}

/// Rejects with what was thrown: k6's `asyncRequest()` with Go's error itself.
fn reject<'js>(
    ctx: Ctx<'js>,
    deferred: Deferred,
    thrown: Thrown,
    is_fetch: bool,
) -> JsResult<'js, ()> {
    let Some(exception) = ctx.take_exception() else { return Err(thrown) };
    let reason = if is_fetch { exception.value } else { bared(ctx, exception.value)? };
    ctx.settle(deferred, Err(reason))
}

/// Lets the VU's event loop run until a request is over whose body scripts make meanwhile.
pub(super) fn wait_for<'js>(ctx: Ctx<'js>, host: &Host, promise: &Value<'js>) -> JsResult<'js> {
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
