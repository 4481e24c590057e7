//! `k6/x/icmp`: echo requests, and how many were answered.

mod asked;
mod echo;

use std::cell::RefCell;
use std::net::IpAddr;
use std::rc::Rc;
use std::time::Duration;

use brunt_fiber::{block_on, clock};
use brunt_js::Host;
use brunt_metrics::{MetricId, builtin};
use brunt_net::{Dialer, Failure};
use brunt_quickjs::error::ErrorKind;
use brunt_quickjs::{Call, Ctx, JsResult, Root, Value};

use self::asked::Ping;
use self::echo::{HEAD, Pinger, Reply};
use crate::connections::Connections;
use crate::extension::meters::{counter, gauge, time};
use crate::module::Module;
use crate::state::VuState;
use crate::throwing::{not_in_init, throw_stopped};

/// The module that scripts import.
pub(crate) struct Exports;

impl Module for Exports {
    fn specifier(&self) -> &'static str {
        "k6/x/icmp"
    }

    fn names(&self) -> Vec<String> {
        ["ping", "pingAsync"].map(str::to_owned).to_vec()
    }

    fn fill<'js>(&self, ctx: Ctx<'js>, exports: &Value<'js>) -> JsResult<'js, ()> {
        let meters = Meters::declare(ctx)?;
        exports.define("ping", ctx.closure(c"ping", 2, move |call| ping(&call, meters))?)?;
        exports.define(
            "pingAsync",
            ctx.closure(c"pingAsync", 3, move |call| ping_async(&call, meters))?,
        )
    }
}

#[derive(Clone, Copy)]
struct Meters {
    sent: MetricId,
    received: MetricId,
    ttl: MetricId,
    rtt: MetricId,
    resolve: MetricId,
    setup: MetricId,
    errors: MetricId,
}

impl Meters {
    fn declare<'js>(ctx: Ctx<'js>) -> JsResult<'js, Self> {
        Ok(Self {
            sent: counter(ctx, "icmp_packets_sent")?,
            received: counter(ctx, "icmp_packets_received")?,
            ttl: gauge(ctx, "icmp_reply_ttl")?,
            rtt: time(ctx, "icmp_rtt")?,
            resolve: time(ctx, "icmp_resolve")?,
            setup: time(ctx, "icmp_setup")?,
            errors: counter(ctx, "icmp_errors")?,
        })
    }
}

/// The request of a ping: its target and its options.
struct Asked {
    target: String,
    ping: Ping,
}

/// An event on the way.
enum Event {
    /// The name has this address; so long it took.
    Resolved(IpAddr, u64),
    /// The socket is there; so long it took.
    Ready(u64),
    /// A request, and what became of it.
    Echoed(Echo),
    /// There was no way to send one.
    Lost(String),
}

/// One request: when it was sent (unix ns), and the answer with its time, or why there is none.
struct Echo {
    sent_at: u64,
    answer: Result<(Reply, u64), String>,
}

/// The pings of one call. `tell` hears of each step.
///
/// # Errors
/// The request cannot be fulfilled on this machine.
async fn run(dialer: &Rc<Dialer>, asked: &Asked, tell: impl Fn(Event)) -> Result<bool, String> {
    let ping = &asked.ping;
    let began = clock::now_ns();
    let ip = match find(dialer, &asked.target, ping.wants_ipv6).await {
        Ok(ip) => ip,
        Err(why) => {
            tell(Event::Lost(why));
            return Ok(false);
        }
    };
    let found = clock::now_ns();
    tell(Event::Resolved(ip, found.saturating_sub(began)));
    let source = ping.source.or(dialer.local_ip());
    let mut pinger = Pinger::open(ip, source, ping.ttl)?;
    tell(Event::Ready(clock::now_ns().saturating_sub(found)));
    let mut answered = 0;
    for index in 0..ping.count {
        let seq = ping.seq.wrapping_add(index as u16);
        let sent_at = clock::now_ns();
        let answer = match pinger.send(ping.id, seq, ping.size).await {
            Ok(()) => pinger.receive(ping.id, seq, ping.timeout).await,
            Err(error) => Err(error),
        };
        let came = clock::now_ns();
        answered += u32::from(answer.is_ok());
        let answer = answer.map(|reply| (reply, came)).map_err(|error| error.to_string());
        tell(Event::Echoed(Echo { sent_at, answer }));
        if index + 1 < ping.count {
            let passed = Duration::from_nanos(clock::now_ns().saturating_sub(sent_at));
            tokio::time::sleep(ping.interval.saturating_sub(passed)).await;
        }
    }
    Ok(f64::from(answered) * 100.0 >= ping.threshold * f64::from(ping.count))
}

/// [`run`], with its deadline.
async fn run_in_time(
    dialer: &Rc<Dialer>,
    asked: &Asked,
    tell: impl Fn(Event),
) -> Result<bool, String> {
    let Some(deadline) = asked.ping.deadline else { return run(dialer, asked, tell).await };
    if let Ok(done) = tokio::time::timeout(deadline, run(dialer, asked, &tell)).await {
        return done;
    }
    tell(Event::Lost("deadline exceeded".to_owned()));
    Ok(false)
}

/// An address of the target, of the wanted family if it has one.
async fn find(dialer: &Rc<Dialer>, target: &str, wants_ipv6: bool) -> Result<IpAddr, String> {
    let told = |failure: Failure| failure.reason(target, None);
    let first = dialer.address_of(target, 0).await.map_err(told)?.ip();
    if first.is_ipv6() == wants_ipv6 || target.parse::<IpAddr>().is_ok() {
        return Ok(first);
    }
    let others = dialer.look_up(target).await.unwrap_or_default();
    match others.into_iter().find(|ip| ip.is_ipv6() == wants_ipv6) {
        Some(ip) => {
            let address = dialer.address_of(&ip.to_string(), 0).await;
            address.map(|address| address.ip()).map_err(told)
        }
        None => Ok(first),
    }
}

/// Records what happened.
fn count(ctx: Ctx<'_>, meters: Meters, asked: &Asked, ip: &mut Option<IpAddr>, event: &Event) {
    if let Event::Resolved(found, _) = event {
        *ip = Some(*found);
    }
    let mut tags = asked.ping.tags.clone();
    tags.set("proto", "ICMP");
    if let Some(ip) = ip {
        tags.set("ip", &ip.to_string());
    }
    let (tags, state, host) = (tags.pairs(), VuState::of(ctx), Host::of(ctx));
    let add = |metric, value| state.add(host, metric, value, &tags);
    let bytes = (asked.ping.size + HEAD) as f64;
    match event {
        Event::Resolved(_, took) => add(meters.resolve, *took as f64 / 1e6),
        Event::Ready(took) => add(meters.setup, *took as f64 / 1e6),
        Event::Lost(_) => add(meters.errors, 1.0),
        Event::Echoed(Echo { sent_at, answer }) => {
            add(meters.sent, 1.0);
            add(builtin::DATA_SENT, bytes);
            match answer {
                Ok((reply, came)) => {
                    add(meters.received, 1.0);
                    add(builtin::DATA_RECEIVED, reply.size as f64);
                    add(meters.rtt, came.saturating_sub(*sent_at) as f64 / 1e6);
                    if let Some(ttl) = reply.ttl {
                        add(meters.ttl, f64::from(ttl));
                    }
                }
                Err(_) => add(meters.errors, 1.0),
            }
        }
    }
}

fn error<'js>(ctx: Ctx<'js>, message: &str) -> JsResult<'js> {
    let error = ctx.error(ErrorKind::Plain, message);
    error.define_hidden("name", ctx.string("ICMPError")?)?;
    Ok(error)
}

fn asked<'js>(call: &Call<'js>) -> JsResult<'js, Result<Asked, String>> {
    let ctx = call.ctx();
    not_in_init(ctx, "sending pings")?;
    let target = call.argument(0);
    if !target.is_string() {
        return Ok(Err("ping needs a host or an IP address".to_owned()));
    }
    let (target, options) = (target.to_string_lossy()?, call.argument(1));
    let options = if options.is_function() { ctx.undefined() } else { options };
    Ok(Ping::read(ctx, &options)?.map(|ping| Asked { target, ping }))
}

fn ping<'js>(call: &Call<'js>, meters: Meters) -> JsResult<'js> {
    let ctx = call.ctx();
    let asked = match asked(call)? {
        Ok(asked) => asked,
        Err(why) => return Err(ctx.throw(error(ctx, &why)?)),
    };
    let dialer = Connections::of(ctx).dialer();
    // At most as many as `count`, and three.
    let events = RefCell::new(Vec::new());
    let pinging = run_in_time(&dialer, &asked, |event| events.borrow_mut().push(event));
    let Ok(done) = block_on(Box::pin(pinging)) else { return Err(throw_stopped(ctx)) };
    let mut ip = None;
    for event in events.take() {
        count(ctx, meters, &asked, &mut ip, &event);
    }
    match done {
        Ok(is_alive) => Ok(ctx.bool(is_alive)),
        Err(why) => Err(ctx.throw(error(ctx, &why)?)),
    }
}

/// The function that is told of each packet, and the options to show it.
struct Callback {
    function: Option<Root>,
    options: Option<Root>,
}

fn ping_async<'js>(call: &Call<'js>, meters: Meters) -> JsResult<'js> {
    let ctx = call.ctx();
    let (promise, deferred) = ctx.promise()?;
    let asked = match asked(call)? {
        Ok(asked) => Rc::new(asked),
        Err(why) => {
            ctx.settle(deferred, Err(error(ctx, &why)?))?;
            return Ok(promise);
        }
    };
    let (second, third) = (call.argument(1), call.argument(2));
    let function = if second.is_function() { second.clone() } else { third };
    let callback = Rc::new(Callback {
        function: function.is_function().then(|| ctx.root(function)),
        options: (second.is_object() && !second.is_function()).then(|| ctx.root(second)),
    });
    let host = Host::of(ctx);
    let dialer = Connections::of(ctx).dialer();
    host.events().spawn_line(|line| async move {
        let known = Rc::new(RefCell::new(None));
        let done = run_in_time(&dialer, &asked, |event| {
            let (asked, callback, known) =
                (Rc::clone(&asked), Rc::clone(&callback), Rc::clone(&known));
            line.tell(move |ctx| {
                let mut ip = *known.borrow();
                count(ctx, meters, &asked, &mut ip, &event);
                *known.borrow_mut() = ip;
                callback.call(ctx, &asked, ip, &event)
            });
        })
        .await;
        line.tell(move |ctx| {
            let result = match done {
                Ok(is_alive) => Ok(ctx.bool(is_alive)),
                Err(why) => Err(error(ctx, &why)?),
            };
            ctx.settle(deferred, result)
        });
    });
    Ok(promise)
}

impl Callback {
    fn call<'js>(
        &self,
        ctx: Ctx<'js>,
        asked: &Asked,
        ip: Option<IpAddr>,
        event: &Event,
    ) -> JsResult<'js, ()> {
        let Some(function) = &self.function else { return Ok(()) };
        let (why, echo) = match event {
            Event::Resolved(..) | Event::Ready(_) => return Ok(()),
            Event::Lost(why) => (Some(why), None),
            Event::Echoed(echo) => (echo.answer.as_ref().err(), Some(echo)),
        };
        let detail = ctx.object()?;
        detail.define("alive", ctx.bool(why.is_none()))?;
        detail.define("target", ctx.string(&asked.target)?)?;
        if let Some(ip) = ip {
            detail.define("target_ip", ctx.string(&ip.to_string())?)?;
            let version = if ip.is_ipv4() { "ip4" } else { "ip6" };
            detail.define("target_ip_version", ctx.string(version)?)?;
        }
        if let Some(echo) = echo {
            detail.define("sent_at", ctx.number(echo.sent_at as f64 / 1e6))?;
            if let Ok((reply, came)) = &echo.answer {
                detail.define("received_at", ctx.number(*came as f64 / 1e6))?;
                if let Some(ttl) = reply.ttl {
                    detail.define("ttl", ctx.number(f64::from(ttl)))?;
                }
                detail.define("id", ctx.int(i32::from(reply.id)))?;
                detail.define("seq", ctx.int(i32::from(reply.seq)))?;
                detail.define("size", ctx.number(reply.size as f64))?;
            }
        }
        let options = match &self.options {
            Some(options) => ctx.rooted(options),
            None => ctx.object()?,
        };
        detail.define("options", options)?;
        let why = match why {
            Some(why) => error(ctx, why)?,
            None => ctx.null(),
        };
        ctx.forget_place();
        ctx.rooted(function).call(&ctx.undefined(), &[why, detail]).map(drop)
    }
}
