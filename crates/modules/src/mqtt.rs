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

use brunt_fiber::block_on;
use brunt_js::{Host, Phase};
use brunt_quickjs::error::ErrorKind;
use brunt_quickjs::{Call, Class, Ctx, JsResult, Members, Value};

use self::asked::{Asked, Connecting, Identity};
pub(crate) use self::client::Meters;
use self::client::{Client, Event};
use crate::extension::{Link, OwnTags};
use crate::go_error::adopt;
use crate::state::{VuState, throw, throw_stopped};

pub(crate) fn names() -> Vec<String> {
    vec!["Client".to_owned()]
}

pub(crate) fn fill<'js>(
    ctx: Ctx<'js>,
    set: &mut dyn FnMut(&str, Value<'js>) -> JsResult<'js, ()>,
) -> JsResult<'js, ()> {
    Meters::of(ctx)?;
    let prototype = ctx.class_prototype::<Handle>()?;
    set("Client", ctx.constructor(c"Client", 1, construct, &prototype)?)
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
    let client = Rc::new(Client::new(Meters::of(ctx)?, identity, tags, is_lasting));
    if !is_lasting {
        keep(ctx, &client);
    }
    let object = ctx.instance(Handle(client))?;
    adopt(&call, &object)?;
    Ok(object)
}

/// It ends with the iteration.
fn keep(ctx: Ctx<'_>, client: &Rc<Client>) {
    let link: Rc<dyn Link> = Rc::clone(client) as Rc<dyn Link>;
    VuState::of(ctx).links.keep(Rc::downgrade(&link));
}

/// `MQTTError`: what went wrong, and in which method.
fn error<'js>(ctx: Ctx<'js>, method: &str, message: &str) -> JsResult<'js> {
    let error = ctx.error(ErrorKind::Plain, message);
    error.define_hidden("name", ctx.string("MQTTError")?)?;
    error.define("method", ctx.string(method)?)?;
    Ok(error)
}

fn not_in_init(ctx: Ctx<'_>) -> JsResult<'_, ()> {
    if Host::of(ctx).phase() == Phase::Init {
        return Err(throw(ctx, "using an MQTT client in the init context is not supported"));
    }
    Ok(())
}

/// Something failed: a handler is told later, or the call throws.
fn failed<'js>(
    ctx: Ctx<'js>,
    client: &Rc<Client>,
    method: &'static str,
    tags: &OwnTags,
    why: &str,
) -> JsResult<'js, ()> {
    client.count_error(ctx, method, tags);
    if !client.handlers.has(Event::Error as usize) {
        return Err(ctx.throw(error(ctx, method, why)?));
    }
    let (client, why) = (Rc::clone(client), why.to_owned());
    Host::of(ctx).events().spawn(std::future::ready(()), move |ctx, ()| {
        let error = error(ctx, method, &why)?;
        client.handlers.call(ctx, Event::Error as usize, &[error])
    });
    Ok(())
}

fn connect<'js>(call: Call<'js>) -> JsResult<'js> {
    let (ctx, client) = (call.ctx(), this(&call)?);
    not_in_init(ctx)?;
    let connecting = Connecting::read(&call)?;
    let connecting = match connecting {
        Ok(connecting) if !client.is_connected() => Rc::new(connecting),
        Ok(_) => {
            let why = "the client is connected already: end() it before";
            failed(ctx, &client, "connect", &OwnTags::default(), why)?;
            return Ok(ctx.undefined());
        }
        Err(why) => {
            failed(ctx, &client, "connect", &OwnTags::default(), &why)?;
            return Ok(ctx.undefined());
        }
    };
    open(ctx, &client, "connect", connecting)
}

fn reconnect<'js>(call: Call<'js>) -> JsResult<'js> {
    let (ctx, client) = (call.ctx(), this(&call)?);
    not_in_init(ctx)?;
    let Some(last) = client.last() else {
        let why = "the client was never connected";
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
            failed(ctx, client, method, &connecting.tags, &why)?;
            return Ok(ctx.undefined());
        }
    };
    keep(ctx, client);
    client.begin(&connecting);
    client.count_call(ctx, method, &OwnTags::default());
    let host = Host::of(ctx);
    let http = Rc::clone(&VuState::of(ctx).http(host).client);
    let agent = VuState::of(ctx).shared.config().user_agent.clone();
    let opening = Box::pin(connecting.open(&http, &identity, &agent));
    let Ok(opened) = block_on(opening) else { return Err(throw_stopped(ctx)) };
    match opened {
        Ok((session, url)) => {
            let session = client.opened(session, &url, connecting);
            let client = Rc::clone(client);
            host.events().spawn_line(|line| async move {
                let told = Rc::clone(&client);
                line.tell(move |ctx| told.handlers.call(ctx, Event::Connect as usize, &[]));
                client.read(&session, &line).await;
            });
        }
        Err(why) => failed(ctx, client, method, &OwnTags::default(), &why)?,
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
            failed(ctx, &client, method, &OwnTags::default(), &why)?;
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
            Err(why) => failed(ctx, &client, method, &tags, &why)?,
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
            ctx.settle(deferred, Err(error(ctx, method, &why)?))?;
            let error = error(ctx, method, &why)?;
            client.handlers.call(ctx, Event::Error as usize, &[error])
        }
    });
    if backlog.is_full() && block_on(backlog.drained()).is_err() {
        return Err(throw_stopped(ctx));
    }
    Ok(promise)
}

fn on<'js>(call: Call<'js>) -> JsResult<'js> {
    let (ctx, client, function) = (call.ctx(), this(&call)?, call.argument(1));
    let name = call.argument(0).to_string_lossy()?;
    let Some(event) = Event::of(&name) else {
        let why = format!(
            "unknown event \"{name}\"; there are connect, message, end, reconnect and error"
        );
        return Err(ctx.throw(error(ctx, "on", &why)?));
    };
    if !function.is_function() {
        let why = format!("the handler of \"{name}\" is not a function");
        return Err(ctx.throw(error(ctx, "on", &why)?));
    }
    client.handlers.set(ctx, event as usize, function);
    Ok(ctx.undefined())
}
