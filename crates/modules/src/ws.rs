//! `k6/ws`: `connect()` opens a WebSocket and runs a loop of its own until it is closed.
//!
//! ```text
//! connect(url, params, fn) ── handshake ──► fn(socket) ──► `open`
//!                                                            │
//!            message, ping, pong, a timer that is due ◄── waits, on the VU's fiber
//!                                                            │
//!                                          closed ──► `error`, `close` ──► the response
//! ```

pub(crate) mod asked;
mod session;
pub(crate) mod tally;

use std::rc::Rc;

use brunt_fiber::block_on;
use brunt_http::Exchange;
use brunt_js::{Host, Phase};
use brunt_quickjs::{Call, Ctx, JsResult, Name, Value};

use self::asked::{Params, Strictness, reason, target_of};
use self::session::Session;
use self::tally::Tally;
use crate::module::Module;
use crate::reading::text_or_empty;
use crate::state::VuState;
use crate::throwing::{throw, throw_stopped};

static URL: Name = Name::new("url");
static STATUS: Name = Name::new("status");
static HEADERS: Name = Name::new("headers");
static BODY: Name = Name::new("body");
static ERROR: Name = Name::new("error");

/// The module that scripts import.
pub(crate) struct Exports;

impl Module for Exports {
    fn specifier(&self) -> &'static str {
        "k6/ws"
    }

    fn names(&self) -> Vec<String> {
        vec!["connect".to_owned()]
    }

    fn fill<'js>(&self, ctx: Ctx<'js>, exports: &Value<'js>) -> JsResult<'js, ()> {
        exports.define("connect", ctx.function(c"connect", 2, connect)?)
    }

    fn shares_exports(&self) -> bool {
        true
    }
}

fn connect<'js>(call: Call<'js>) -> JsResult<'js> {
    let ctx = call.ctx();
    let host = Host::of(ctx);
    if host.phase() == Phase::Init {
        return Err(throw(ctx, "using websockets in the init context is not supported"));
    }
    if !(2..=3).contains(&call.len()) {
        return Err(throw(ctx, "invalid number of arguments to ws.connect"));
    }
    let (params, function) = if call.len() == 2 {
        (ctx.undefined(), call.argument(1))
    } else {
        (call.argument(1), call.argument(2))
    };
    if !function.is_function() {
        return Err(throw(ctx, "last argument to ws.connect must be a function"));
    }
    let url = text_or_empty(&call.argument(0))?;
    let state = VuState::of(ctx);
    let params = Params::read(ctx, &params, Strictness::Lax)?;
    let failed = |error: &str| {
        if state.shared.config().throw {
            return Err(throw(ctx, error));
        }
        response(ctx, "", None, error)
    };
    let tally = Tally::new(host, state, &url, &params.tags, false);
    let target = match target_of(&url) {
        Ok(target) => target,
        Err(error) => {
            tally.unasked();
            tally.ended(false);
            return failed(&error);
        }
    };
    let connected = block_on(Box::pin(params.open(&target)));
    let Ok(connected) = connected else { return Err(throw_stopped(ctx)) };
    tally.connected(&connected);
    let exchange = connected.exchange;
    let handshake = match connected.outcome {
        Ok(handshake) => handshake,
        Err(error) => {
            tally.ended(false);
            if exchange.head().is_some() && !state.shared.config().throw {
                return response(ctx, "", Some(&exchange), "");
            }
            return failed(&reason(&error, &target));
        }
    };
    let session = Rc::new(Session::new(handshake.socket, tally));
    let ran = session::run(ctx, &session, &function);
    session.over(ctx);
    ran?;
    response(ctx, &url, Some(&exchange), "")
}

/// The result of `connect()`.
fn response<'js>(
    ctx: Ctx<'js>,
    url: &str,
    exchange: Option<&Exchange>,
    error: &str,
) -> JsResult<'js> {
    let headers = ctx.object()?;
    let head = exchange.and_then(Exchange::head);
    if let Some(head) = &head {
        let mut lines: Vec<(String, String)> = Vec::new();
        for (name, value) in head.headers() {
            let name = brunt_http::canonical_name(name);
            // Go takes it for itself.
            if name == "Transfer-Encoding" {
                continue;
            }
            let value = String::from_utf8_lossy(value);
            match lines.iter_mut().find(|(known, _)| *known == name) {
                Some((_, known)) => {
                    known.push_str(", ");
                    known.push_str(&value);
                }
                None => lines.push((name, value.into_owned())),
            }
        }
        for (name, value) in lines {
            headers.define(&name, ctx.string(&value)?)?;
        }
    }
    let status = head.map_or(0, |head| head.status());
    let body = match exchange {
        Some(exchange) if status != 101 => ctx.string_from_utf8(exchange.body())?,
        _ => ctx.string("")?,
    };
    ctx.object_from([
        (&URL, ctx.string(url)?),
        (&STATUS, ctx.int(i32::from(status))),
        (&HEADERS, headers),
        (&BODY, body),
        (&ERROR, ctx.string(error)?),
    ])
}
