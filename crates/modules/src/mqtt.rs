//! `k6/x/mqtt`: a client of MQTT 3.1.1 with events, as MQTT.js has them.
//!
//! ```text
//! connect ──► Session ── a task reads packets, one macrotask for each message ──► the script's handlers
//!                ▲
//!   publish, subscribe, unsubscribe, end: each waits for what the broker says to it
//! ```

mod asked;
mod client;
mod session;
mod wire;

use std::ffi::CStr;
use std::rc::Rc;
use std::sync::LazyLock;

use brunt_engine::Ended;
use brunt_fiber::block_on;
use brunt_js::{Host, Phase};
use brunt_quickjs::{Call, Class, Ctx, JsResult, Members, Value};

use self::asked::{Asked, Connecting, Identity};
use self::client::{Client, ClientMeters, Event, error};
use crate::connections::Connections;
use crate::extension::meters::Meters as _;
use crate::extension::{OwnTags, cut, events, keep};
use crate::go_error::adopt;
use crate::module::Module;
use crate::state::VuState;
use crate::throwing::{self, throw_stopped};

/// The module that scripts import.
pub(crate) struct Exports;

impl Module for Exports {
    fn specifier(&self) -> &'static str {
        "k6/x/mqtt"
    }

    fn names(&self) -> Vec<String> {
        vec!["Client".to_owned()]
    }

    fn fill<'js>(&self, ctx: Ctx<'js>, exports: &Value<'js>) -> JsResult<'js, ()> {
        ClientMeters::of(ctx)?;
        let prototype = ctx.class_prototype::<Handle>()?;
        exports.define("Client", ctx.constructor(c"Client", 1, construct, &prototype)?)
    }

    fn end(&self, host: &Host, _: Ended) {
        cut(host);
    }
}

/// The object in the script's hands.
struct Handle(Rc<Client>);

impl Class for Handle {
    const NAME: &'static CStr = c"Client";

    fn members() -> &'static Members {
        static MEMBERS: LazyLock<Members> = LazyLock::new(|| {
            Members::new()
                .function(c"connect", 2, connect)
                .function(c"reconnect", 0, reconnect)
                .function(c"end", 1, |call| run(&call, "end", Asked::end(&call)?, false))
                .function(c"endAsync", 1, |call| run(&call, "end", Asked::end(&call)?, true))
                .function(c"publish", 3, |call| {
                    run(&call, "publish", Asked::publish(&call)?, false)
                })
                .function(c"publishAsync", 3, |call| {
                    run(&call, "publish", Asked::publish(&call)?, true)
                })
                .function(c"subscribe", 2, |call| {
                    run(&call, "subscribe", Asked::subscribe(&call)?, false)
                })
                .function(c"subscribeAsync", 2, |call| {
                    run(&call, "subscribe", Asked::subscribe(&call)?, true)
                })
                .function(c"unsubscribe", 2, |call| {
                    run(&call, "unsubscribe", Asked::unsubscribe(&call)?, false)
                })
                .function(c"unsubscribeAsync", 2, |call| {
                    run(&call, "unsubscribe", Asked::unsubscribe(&call)?, true)
                })
                .function(c"on", 2, on)
                .getter(c"connected", |call| Ok(call.ctx().bool(this(&call)?.is_connected())))
        });
        &MEMBERS
    }
}

fn this(call: &Call<'_>) -> JsResult<'static, Rc<Client>> {
    match call.this().instance::<Handle>() {
        Some(handle) => Ok(Rc::clone(&handle.0)),
        None => Err(call.ctx().throw_type("this is not a Client of k6/x/mqtt")),
    }
}

fn construct<'js>(call: Call<'js>) -> JsResult<'js> {
    let (ctx, options) = (call.ctx(), call.argument(0));
    let identity = match Identity::read(ctx, &options)? {
        Ok(identity) => identity,
        Err(why) => return Err(ctx.throw(error(ctx, "constructor", &why)?)),
    };
    let tags = OwnTags::read(ctx, &options)?;
    let is_lasting = Host::of(ctx).phase() == Phase::Init;
    let client = Rc::new(Client::new(ClientMeters::of(ctx)?, identity, tags, is_lasting));
    if !is_lasting {
        keep(ctx, &client);
    }
    let object = ctx.instance(Handle(client))?;
    adopt(&call, &object)?;
    Ok(object)
}

fn not_in_init(ctx: Ctx<'_>) -> JsResult<'_, ()> {
    throwing::not_in_init(ctx, "using an MQTT client")
}

/// Something failed: counted, and told to the script.
fn failed<'js>(
    ctx: Ctx<'js>,
    client: &Rc<Client>,
    method: &'static str,
    tags: &OwnTags,
    why: String,
) -> JsResult<'js, ()> {
    client.count_error(ctx, method, tags);
    events::failed(ctx, client, (method, why))
}

fn connect<'js>(call: Call<'js>) -> JsResult<'js> {
    let (ctx, client) = (call.ctx(), this(&call)?);
    not_in_init(ctx)?;
    let connecting = Connecting::read(&call)?;
    let connecting = match connecting {
        Ok(connecting) if !client.is_connected() => Rc::new(connecting),
        Ok(_) => {
            let why = "the client is connected already: call end() first".to_owned();
            failed(ctx, &client, "connect", &OwnTags::default(), why)?;
            return Ok(ctx.undefined());
        }
        Err(why) => {
            failed(ctx, &client, "connect", &OwnTags::default(), why)?;
            return Ok(ctx.undefined());
        }
    };
    open(ctx, &client, "connect", connecting)
}

fn reconnect<'js>(call: Call<'js>) -> JsResult<'js> {
    let (ctx, client) = (call.ctx(), this(&call)?);
    not_in_init(ctx)?;
    let Some(last) = client.last() else {
        let why = "the client was never connected".to_owned();
        failed(ctx, &client, "reconnect", &OwnTags::default(), why)?;
        return Ok(ctx.undefined());
    };
    client.close();
    let told = Rc::clone(&client);
    Host::of(ctx).events().spawn(std::future::ready(()), move |ctx, ()| {
        told.handlers.call(ctx, Event::Reconnect as usize, &[])
    });
    open(ctx, &client, "reconnect", last)
}

/// Connects, and waits for that.
fn open<'js>(
    ctx: Ctx<'js>,
    client: &Rc<Client>,
    method: &'static str,
    connecting: Rc<Connecting>,
) -> JsResult<'js> {
    let identity = match client.identity(ctx)? {
        Ok(identity) => identity,
        Err(why) => {
            failed(ctx, client, method, &connecting.tags, why)?;
            return Ok(ctx.undefined());
        }
    };
    keep(ctx, client);
    client.begin(&connecting);
    client.count_call(ctx, method, &OwnTags::default());
    let host = Host::of(ctx);
    let http = Connections::of(ctx).client();
    let agent = VuState::of(ctx).shared.config().user_agent.clone();
    let opening = Box::pin(connecting.open(&http, &identity, &agent));
    let Ok(opened) = block_on(opening) else { return Err(throw_stopped(ctx)) };
    match opened {
        Ok((session, url)) => {
            let session = client.opened(session, &url, connecting);
            events::connected(host, client, |client, line| async move {
                client.read(&session, &line).await;
            });
        }
        Err(why) => failed(ctx, client, method, &OwnTags::default(), why)?,
    }
    Ok(ctx.undefined())
}

/// Does what a script asked for, and waits for it, or gives a promise.
fn run<'js>(
    call: &Call<'js>,
    method: &'static str,
    asked: Result<Asked, String>,
    is_async: bool,
) -> JsResult<'js> {
    let (ctx, client) = (call.ctx(), this(call)?);
    not_in_init(ctx)?;
    let asked = match asked {
        Ok(asked) => asked,
        Err(why) if is_async => {
            client.count_error(ctx, method, &OwnTags::default());
            let (promise, deferred) = ctx.promise()?;
            ctx.settle(deferred, Err(error(ctx, method, &why)?))?;
            return Ok(promise);
        }
        Err(why) => {
            failed(ctx, &client, method, &OwnTags::default(), why)?;
            return Ok(ctx.undefined());
        }
    };
    let Asked { doing, tags } = asked;
    client.count_call(ctx, method, &tags);
    let share = is_async.then(|| client.backlog.take(doing.size()));
    let carrying_out = Rc::clone(&client).carry_out(doing);
    if !is_async {
        let Ok(done) = block_on(Box::pin(carrying_out)) else { return Err(throw_stopped(ctx)) };
        match done {
            Ok(()) => client.done(ctx, method, &tags),
            Err(why) => failed(ctx, &client, method, &tags, why)?,
        }
        return Ok(ctx.undefined());
    }
    let (promise, deferred) = ctx.promise()?;
    let job = async move {
        let done = carrying_out.await;
        // The script may hear of it much later.
        drop(share);
        done
    };
    let backlog = Rc::clone(&client.backlog);
    Host::of(ctx).events().spawn(job, move |ctx, done| match done {
        Ok(()) => {
            client.done(ctx, method, &tags);
            ctx.settle(deferred, Ok(ctx.undefined()))
        }
        Err(why) => {
            client.count_error(ctx, method, &tags);
            events::reject(ctx, &*client, deferred, &(method, why))
        }
    });
    backlog.wait_for_room(ctx)?;
    Ok(promise)
}

fn on<'js>(call: Call<'js>) -> JsResult<'js> {
    let (ctx, client) = (call.ctx(), this(&call)?);
    match events::listen(&call, &*client)? {
        Ok(()) => Ok(ctx.undefined()),
        Err(why) => Err(ctx.throw(error(ctx, "on", &why)?)),
    }
}
