//! `k6/x/tcp`: a TCP connection with events, as Node's `net.Socket` has them.
//!
//! ```text
//! connect ──► Socket ── a task reads, one macrotask for each piece ──► the script's handlers
//!                ▲
//!   write, destroy
//! ```

mod asked;
mod socket;

use std::ffi::CStr;
use std::rc::Rc;
use std::sync::LazyLock;

use brunt_engine::Ended;
use brunt_fiber::block_on;
use brunt_js::{Host, Phase};
use brunt_quickjs::{Call, Class, Ctx, JsResult, Members, Value};

use self::asked::{Destination, Writing};
use self::socket::{Event, Socket, SocketMeters, State, error};
use crate::connections::Connections;
use crate::extension::meters::Meters as _;
use crate::extension::{Link as _, OwnTags, cut, events, keep};
use crate::go_error::adopt;
use crate::module::Module;
use crate::throwing::{self, throw_stopped};

/// The module that scripts import.
pub(crate) struct Exports;

impl Module for Exports {
    fn specifier(&self) -> &'static str {
        "k6/x/tcp"
    }

    fn names(&self) -> Vec<String> {
        vec!["Socket".to_owned()]
    }

    fn fill<'js>(&self, ctx: Ctx<'js>, exports: &Value<'js>) -> JsResult<'js, ()> {
        SocketMeters::of(ctx)?;
        let prototype = ctx.class_prototype::<Handle>()?;
        exports.define("Socket", ctx.constructor(c"Socket", 1, construct, &prototype)?)
    }

    fn end(&self, host: &Host, _: Ended) {
        cut(host);
    }
}

/// The object in the script's hands.
struct Handle(Rc<Socket>);

impl Class for Handle {
    const NAME: &'static CStr = c"Socket";

    fn members() -> &'static Members {
        static MEMBERS: LazyLock<Members> = LazyLock::new(|| {
            Members::new()
                .function(c"connect", 2, connect)
                .function(c"connectAsync", 2, connect_async)
                .function(c"write", 2, write)
                .function(c"writeAsync", 2, write_async)
                .function(c"destroy", 1, destroy)
                .function(c"setTimeout", 1, set_timeout)
                .function(c"on", 2, on)
                .getter(c"ready_state", |call| call.ctx().string(this(&call)?.state().name()))
                .getter(c"connected", |call| {
                    Ok(call.ctx().bool(this(&call)?.state() == State::Open))
                })
                .getter(c"local_ip", |call| ip(&call, this(&call)?.local()))
                .getter(c"local_port", |call| Ok(port(&call, this(&call)?.local())))
                .getter(c"remote_ip", |call| ip(&call, this(&call)?.remote()))
                .getter(c"remote_port", |call| Ok(port(&call, this(&call)?.remote())))
                .getter(c"bytes_written", |call| {
                    Ok(call.ctx().number(this(&call)?.bytes_written() as f64))
                })
                .getter(c"bytes_read", |call| {
                    Ok(call.ctx().number(this(&call)?.bytes_read() as f64))
                })
        });
        &MEMBERS
    }
}

fn this(call: &Call<'_>) -> JsResult<'static, Rc<Socket>> {
    match call.this().instance::<Handle>() {
        Some(handle) => Ok(Rc::clone(&handle.0)),
        None => Err(call.ctx().throw_type("this is not a Socket of k6/x/tcp")),
    }
}

fn ip<'js>(call: &Call<'js>, address: Option<std::net::SocketAddr>) -> JsResult<'js> {
    match address {
        Some(address) => call.ctx().string(&address.ip().to_string()),
        None => Ok(call.ctx().undefined()),
    }
}

fn port<'js>(call: &Call<'js>, address: Option<std::net::SocketAddr>) -> Value<'js> {
    let ctx = call.ctx();
    address.map_or_else(|| ctx.undefined(), |address| ctx.int(i32::from(address.port())))
}

fn construct<'js>(call: Call<'js>) -> JsResult<'js> {
    let ctx = call.ctx();
    let tags = OwnTags::read(ctx, &call.argument(0))?;
    let socket = Rc::new(Socket::new(SocketMeters::of(ctx)?, tags));
    if Host::of(ctx).phase() != Phase::Init {
        keep(ctx, &socket);
    }
    let object = ctx.instance(Handle(socket))?;
    adopt(&call, &object)?;
    Ok(object)
}

/// Something failed: counted, and told to the script.
fn failed<'js>(ctx: Ctx<'js>, socket: &Rc<Socket>, why: String) -> JsResult<'js, ()> {
    socket.count_error(ctx);
    events::failed(ctx, socket, why)
}

fn not_in_init(ctx: Ctx<'_>) -> JsResult<'_, ()> {
    throwing::not_in_init(ctx, "using TCP sockets")
}

fn connect<'js>(call: Call<'js>) -> JsResult<'js> {
    let (ctx, socket) = (call.ctx(), this(&call)?);
    not_in_init(ctx)?;
    let destination = match Destination::read(&call)?.and_then(|to| socket.begin(to)) {
        Ok(destination) => destination,
        Err(why) => {
            failed(ctx, &socket, why)?;
            return Ok(call.this());
        }
    };
    keep(ctx, &socket);
    let host = Host::of(ctx);
    let dialer = Connections::of(ctx).dialer();
    let Ok(dialed) = block_on(Box::pin(socket.dial(&dialer, &destination))) else {
        return Err(throw_stopped(ctx));
    };
    match dialed {
        Ok(opened) => {
            let stream = socket.opened(ctx, opened);
            events::connected(host, &socket, |socket, line| async move {
                socket.read(&stream, &line).await;
            });
        }
        Err(why) => failed(ctx, &socket, why)?,
    }
    Ok(call.this())
}

fn connect_async<'js>(call: Call<'js>) -> JsResult<'js> {
    let (ctx, socket) = (call.ctx(), this(&call)?);
    not_in_init(ctx)?;
    let (promise, deferred) = ctx.promise()?;
    let destination = match Destination::read(&call)?.and_then(|to| socket.begin(to)) {
        Ok(destination) => destination,
        Err(why) => {
            ctx.settle(deferred, Err(error(ctx, &why)?))?;
            if socket.handlers.has(Event::Error as usize) {
                failed(ctx, &socket, why)?;
            } else {
                socket.count_error(ctx);
            }
            return Ok(promise);
        }
    };
    keep(ctx, &socket);
    let host = Host::of(ctx);
    let dialer = Connections::of(ctx).dialer();
    // The promise is settled in a macrotask of its own, as the tasks of one line come one after the other.
    host.events().spawn_line(|line| async move {
        let dialed = tokio::select! {
            dialed = Box::pin(socket.dial(&dialer, &destination)) => dialed,
            () = socket.destroyed() => Err("the socket was destroyed while it connected".to_owned()),
        };
        let opened = match dialed {
            Ok(opened) => opened,
            Err(why) => {
                line.tell(move |ctx| {
                    socket.count_error(ctx);
                    events::reject(ctx, &*socket, deferred, &why)
                });
                return;
            }
        };
        // The task may only go on with what the script has heard of.
        let (gave, given) = tokio::sync::oneshot::channel();
        let told = Rc::clone(&socket);
        line.tell(move |ctx| {
            if told.state() != State::Opening {
                opened.close();
                let why = "the socket was destroyed as it connected";
                return ctx.settle(deferred, Err(error(ctx, why)?));
            }
            let stream = told.opened(ctx, opened);
            drop(gave.send(stream));
            ctx.settle(deferred, Ok(ctx.undefined()))?;
            told.handlers.call(ctx, Event::Connect as usize, &[])
        });
        if let Ok(stream) = given.await {
            socket.read(&stream, &line).await;
        }
    });
    Ok(promise)
}

fn write<'js>(call: Call<'js>) -> JsResult<'js> {
    let (ctx, socket) = (call.ctx(), this(&call)?);
    not_in_init(ctx)?;
    let writing = match Writing::read(&call)? {
        Ok(writing) => writing,
        Err(why) => {
            failed(ctx, &socket, why)?;
            return Ok(ctx.bool(false));
        }
    };
    let Ok(written) = block_on(socket.write(&writing.bytes)) else {
        return Err(throw_stopped(ctx));
    };
    socket.count_writing(ctx, &writing.tags, &written);
    match written {
        Ok(()) => Ok(ctx.bool(true)),
        Err((_, why)) => {
            failed(ctx, &socket, why)?;
            Ok(ctx.bool(false))
        }
    }
}

fn write_async<'js>(call: Call<'js>) -> JsResult<'js> {
    let (ctx, socket) = (call.ctx(), this(&call)?);
    not_in_init(ctx)?;
    let (promise, deferred) = ctx.promise()?;
    let writing = match Writing::read(&call)? {
        Ok(writing) => writing,
        Err(why) => {
            socket.count_error(ctx);
            ctx.settle(deferred, Err(error(ctx, &why)?))?;
            return Ok(promise);
        }
    };
    let Writing { bytes, tags } = writing;
    let share = socket.backlog.take(bytes.len());
    let writer = Rc::clone(&socket);
    let job = async move {
        let written = writer.write(&bytes).await;
        // Written bytes need no room, though the script may hear of them much later.
        drop((bytes, share));
        (writer, written)
    };
    Host::of(ctx).events().spawn(job, move |ctx, (socket, written)| {
        socket.count_writing(ctx, &tags, &written);
        match written {
            Ok(()) => ctx.settle(deferred, Ok(ctx.undefined())),
            Err((_, why)) => {
                socket.count_error(ctx);
                events::reject(ctx, &*socket, deferred, &why)
            }
        }
    });
    socket.backlog.wait_for_room(ctx)?;
    Ok(promise)
}

fn destroy<'js>(call: Call<'js>) -> JsResult<'js> {
    let (ctx, socket) = (call.ctx(), this(&call)?);
    let reason = call.argument(0);
    if socket.state() == State::Destroyed {
        return Ok(call.this());
    }
    if Host::of(ctx).phase() == Phase::Init {
        socket.cut();
        return Ok(call.this());
    }
    socket.end(ctx);
    let reason = (!reason.is_nullish()).then(|| ctx.root(reason));
    Host::of(ctx).events().spawn(std::future::ready(()), move |ctx, ()| {
        if let Some(reason) = reason {
            socket.count_error(ctx);
            let reason = ctx.unroot(reason);
            socket.handlers.call(ctx, Event::Error as usize, &[reason])?;
        }
        let told = socket.handlers.call(ctx, Event::Close as usize, &[]);
        socket.handlers.clear();
        told
    });
    Ok(call.this())
}

fn set_timeout<'js>(call: Call<'js>) -> JsResult<'js> {
    let (ctx, socket) = (call.ctx(), this(&call)?);
    let ms = call.argument(0).to_number()?;
    if ms.is_nan() || ms < 0.0 {
        failed(ctx, &socket, "a timeout is a number of milliseconds, 0 for none".to_owned())?;
        return Ok(call.this());
    }
    socket.set_timeout(ms);
    Ok(call.this())
}

fn on<'js>(call: Call<'js>) -> JsResult<'js> {
    let (ctx, socket) = (call.ctx(), this(&call)?);
    match events::listen(&call, &*socket)? {
        Ok(()) => Ok(call.this()),
        Err(why) => Err(ctx.throw(error(ctx, &why)?)),
    }
}
