//! `k6/x/redis`, and `k6/experimental/redis` as old scripts call it: a client whose commands are promises.

mod command;

use std::cell::OnceCell;
use std::ffi::CStr;
use std::rc::Rc;

use brunt_fiber::turn::Turn;
use brunt_js::{Host, Phase};
use brunt_net::{Network, TlsAuth};
use brunt_quickjs::error::ErrorKind;
use brunt_quickjs::{Call, Class, Ctx, JsResult, Members, Value, Weight};
use brunt_redis::resp::Reply;
use brunt_redis::{Failure, Options, Tls};

use self::command::{Command, Shape};
use crate::connections::Connections;
use crate::go_error::{adopt, bare, go_type, throw_go};
use crate::module::Module;
use crate::throwing::throw_stopped;

/// The module that scripts import.
pub(crate) struct Exports;

impl Module for Exports {
    fn specifier(&self) -> &'static str {
        "k6/x/redis"
    }

    fn names(&self) -> Vec<String> {
        vec!["Client".to_owned()]
    }

    fn fill<'js>(&self, ctx: Ctx<'js>, exports: &Value<'js>) -> JsResult<'js, ()> {
        let prototype = ctx.class_prototype::<RedisClient>()?;
        exports.define("Client", ctx.constructor(c"Client", 1, construct, &prototype)?)
    }
}

/// `Client`. It dials when the first command is given.
struct RedisClient {
    options: Options,
    client: OnceCell<Rc<brunt_redis::Client>>,
}

impl Class for RedisClient {
    const NAME: &'static CStr = c"Client";
    fn members() -> &'static Members {
        command::members()
    }
}

fn construct<'js>(call: Call<'js>) -> JsResult<'js> {
    let (ctx, given) = (call.ctx(), call.argument(0));
    if call.is_empty() {
        return Err(throw_go(ctx, "must specify one argument"));
    }
    let options = if given.is_string() {
        Options::from_url(&given.to_string_lossy()?)
    } else if given.is_object() && !given.is_function() {
        Options::from_json(&ctx.stringify_json(&given)?.unwrap_or_default())
    } else {
        let message =
            format!("invalid options type: {}; expected string or object", go_type(&given));
        return Err(throw_go(ctx, &message));
    };
    let options =
        options.map_err(|error| throw_go(ctx, &format!("invalid options; reason: {error}")))?;
    let object = ctx.instance(RedisClient { options, client: OnceCell::new() })?;
    adopt(&call, &object)?;
    Ok(object)
}

impl RedisClient {
    fn of<'a>(ctx: Ctx<'_>, value: &'a Value<'_>) -> JsResult<'a, &'a Self> {
        value.instance().ok_or_else(|| ctx.throw_type("this is not a Client of redis"))
    }

    /// The client; it dials as the VU's HTTP requests do, unless it has TLS of its own.
    fn client(&self, connections: &Connections) -> Result<Rc<brunt_redis::Client>, String> {
        if let Some(client) = self.client.get() {
            return Ok(Rc::clone(client));
        }
        let by = match &self.options.tls {
            Some(tls) if *tls != Tls::default() => {
                let network = own_network(connections.client().network().net(), tls)?;
                connections.dialer_on(&network)
            }
            _ => connections.dialer(),
        };
        let client = Rc::new(brunt_redis::Client::new(by, self.options.clone()));
        Ok(Rc::clone(self.client.get_or_init(|| client)))
    }
}

/// The network of the VU with other certificates.
fn own_network(network: &Network, tls: &Tls) -> Result<Rc<Network>, String> {
    let mut settings = network.settings().clone();
    if !tls.roots.is_empty() {
        settings.tls.extra_roots.clone_from(&tls.roots);
        settings.tls.only_extra_roots = true;
    }
    if let Some((cert, key)) = &tls.identity {
        let (cert, key) = (cert.clone(), key.clone());
        settings.tls.auth = vec![TlsAuth { cert, key, ..TlsAuth::default() }];
    }
    Network::new(settings, brunt_fiber::clock::now_ns).map_err(|error| error.to_string())
}

/// Sends a command; what it takes and gives is told by the row of the table.
fn run<'js>(call: &Call<'js>, command: &'static Command) -> JsResult<'js> {
    let (ctx, this) = (call.ctx(), call.this());
    let client = RedisClient::of(ctx, &this)?;
    let host = Host::of(ctx);
    let (promise, deferred) = ctx.promise()?;
    let rejected = |why: &str| bare(ctx, why);
    if host.phase() == Phase::Init {
        let why = "connecting to a redis server in the init context is not supported";
        ctx.settle(deferred, Err(rejected(why)?))?;
        return Ok(promise);
    }
    let sent = command.encode(call)?.and_then(|parts| {
        let client = client.client(Connections::of(ctx))?;
        Ok((parts, client))
    });
    let (parts, client) = match sent {
        Ok(sent) => sent,
        Err(why) => {
            ctx.settle(deferred, Err(rejected(&why)?))?;
            return Ok(promise);
        }
    };
    let key = (command.has_key() && parts.len() > 1).then_some(1);
    let weight = Weight::of(ctx, parts.iter().map(|part| size_of_val(part) + part.len()).sum())?;
    let asking = async move { client.ask(&parts, key).await };
    host.events().spawn_weighing(weight, asking, move |ctx, told| {
        let result = match told.and_then(|reply| shaped(command.shape, reply)) {
            Ok(reply) => Ok(value(ctx, command.shape, &reply, &mut Turn::default())?),
            Err(failure) => Err(bare(ctx, &failure.to_string())?),
        };
        ctx.settle(deferred, result)
    });
    Ok(promise)
}

/// A missing value is an error, except in lists.
fn shaped(shape: Shape, reply: Reply) -> Result<Reply, Failure> {
    match reply {
        Reply::Nil if shape == Shape::List => Ok(Reply::Array(Vec::new())),
        Reply::Nil => Err(Failure::Nil),
        Reply::Error(words) => Err(Failure::Server(words)),
        reply => Ok(reply),
    }
}

/// A reply as scripts see it.
fn value<'js>(ctx: Ctx<'js>, shape: Shape, reply: &Reply, turn: &mut Turn) -> JsResult<'js> {
    match (shape, reply) {
        (Shape::Flag, Reply::Integer(number)) => Ok(ctx.bool(*number != 0)),
        // Go counts in nanoseconds: the server's −1 and −2 are nanoseconds to it, and k6 shows them in seconds.
        (Shape::Seconds, Reply::Integer(number)) if *number < 0 => {
            Ok(ctx.number(*number as f64 / 1e9))
        }
        (Shape::Pairs, Reply::Array(items)) => {
            let object = ctx.object()?;
            for pair in items.chunks_exact(2) {
                object.define(text(&pair[0]).as_str(), any(ctx, &pair[1], turn)?)?;
            }
            Ok(object)
        }
        (_, reply) => any(ctx, reply, turn),
    }
}

/// A reply of any shape. A long one takes turns with the other tasks of the core.
fn any<'js>(ctx: Ctx<'js>, reply: &Reply, turn: &mut Turn) -> JsResult<'js> {
    if turn.is_over(Turn::THING) && brunt_fiber::yield_now().is_err() {
        return Err(throw_stopped(ctx));
    }
    match reply {
        Reply::Nil => Ok(ctx.null()),
        Reply::Text(bytes) => ctx.string_from_utf8(bytes),
        Reply::Integer(number) => Ok(ctx.number(*number as f64)),
        Reply::Double(number) => Ok(ctx.number(*number)),
        Reply::Bool(value) => Ok(ctx.bool(*value)),
        Reply::Error(words) => Ok(ctx.error(ErrorKind::Plain, words)),
        Reply::Array(items) => {
            let values: Result<Vec<_>, _> = items.iter().map(|item| any(ctx, item, turn)).collect();
            ctx.array_from(values?)
        }
        Reply::Map(pairs) => {
            let object = ctx.object()?;
            for (key, item) in pairs {
                object.define(text(key).as_str(), any(ctx, item, turn)?)?;
            }
            Ok(object)
        }
    }
}

fn text(reply: &Reply) -> String {
    match reply {
        Reply::Text(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        Reply::Integer(number) => number.to_string(),
        other => format!("{other:?}"),
    }
}

fn is_connected<'js>(call: Call<'js>) -> JsResult<'js> {
    let (ctx, this) = (call.ctx(), call.this());
    let client = RedisClient::of(ctx, &this)?.client.get();
    Ok(ctx.bool(client.is_some_and(|client| client.is_connected())))
}
