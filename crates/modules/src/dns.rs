//! `k6/x/dns`: names resolved by a server of the script's choice, or as the system does.

mod query;

use std::net::SocketAddr;

use brunt_fiber::clock;
use brunt_js::{Host, Phase};
use brunt_metrics::MetricId;
use brunt_net::{Dialer, Failure, no_such_host};
use brunt_quickjs::{Call, Ctx, JsResult, Value, Weight};

use self::query::{Question, Trouble};
use crate::connections::Connections;
use crate::extension::meters::{counter, rate, time};
use crate::go_error::{bare, bare_end, bare_start};
use crate::module::Module;
use crate::state::VuState;

/// The default port of name servers.
const PORT: u16 = 53;

/// The module that scripts import.
pub(crate) struct Exports;

impl Module for Exports {
    fn specifier(&self) -> &'static str {
        "k6/x/dns"
    }

    fn names(&self) -> Vec<String> {
        ["lookup", "resolve"].map(str::to_owned).to_vec()
    }

    fn fill<'js>(&self, ctx: Ctx<'js>, exports: &Value<'js>) -> JsResult<'js, ()> {
        let resolutions = Meters::declare(
            ctx,
            ["dns_resolutions", "dns_resolution_duration", "dns_resolution_failed"],
        )?;
        let lookups =
            Meters::declare(ctx, ["dns_lookups", "dns_lookup_duration", "dns_lookup_failed"])?;
        exports
            .define("lookup", ctx.closure(c"lookup", 1, move |call| look_up(&call, lookups))?)?;
        exports
            .define("resolve", ctx.closure(c"resolve", 3, move |call| resolve(&call, resolutions))?)
    }
}

/// The metrics of one function.
#[derive(Clone, Copy)]
struct Meters {
    count: MetricId,
    duration: MetricId,
    failed: MetricId,
}

impl Meters {
    fn declare<'js>(ctx: Ctx<'js>, [count, duration, failed]: [&str; 3]) -> JsResult<'js, Self> {
        Ok(Self {
            count: counter(ctx, count)?,
            duration: time(ctx, duration)?,
            failed: rate(ctx, failed)?,
        })
    }

    fn add(self, ctx: Ctx<'_>, took_ns: u64, is_failed: bool, tags: &[(&str, &str)]) {
        let (host, state) = (Host::of(ctx), VuState::of(ctx));
        state.add(host, self.count, 1.0, tags);
        state.add(host, self.duration, took_ns as f64 / 1e6, tags);
        state.add(host, self.failed, f64::from(u8::from(is_failed)), tags);
    }
}

/// The answer, and its time.
struct Told {
    found: Result<Vec<String>, Trouble>,
    took_ns: u64,
}

/// `lookup(host)`: its addresses, as the system tells them.
fn look_up<'js>(call: &Call<'js>, meters: Meters) -> JsResult<'js> {
    let ctx = call.ctx();
    let (promise, deferred) = ctx.promise()?;
    let host = Host::of(ctx);
    if host.phase() == Phase::Init {
        ctx.settle(deferred, Err(bare(ctx, "lookup can not be used in the init context")?))?;
        return Ok(promise);
    }
    let name = call.argument(0).to_string_lossy()?;
    let dialer = Connections::of(ctx).dialer();
    let asked = name.clone();
    let asking = async move {
        let began = clock::now_ns();
        let found = dialer.look_up(&asked).await;
        let found = found
            .map(|ips| ips.iter().map(ToString::to_string).collect())
            .map_err(|failure| unreachable(&failure, &asked));
        Told { found, took_ns: clock::now_ns().saturating_sub(began) }
    };
    let weight = Weight::of(ctx, 2 * name.len())?;
    host.events().spawn_weighing(weight, asking, move |ctx, told| {
        meters.add(ctx, told.took_ns, told.found.is_err(), &[("host", &name)]);
        ctx.settle(deferred, shown(ctx, told.found)?)
    });
    Ok(promise)
}

/// `resolve(query, recordType, nameserver)`: what this server answers.
fn resolve<'js>(call: &Call<'js>, meters: Meters) -> JsResult<'js> {
    let ctx = call.ctx();
    let (promise, deferred) = ctx.promise()?;
    let host = Host::of(ctx);
    let refusal = if host.phase() == Phase::Init {
        Some("resolve can not be used in the init context")
    } else if call.argument(2).is_nullish() {
        Some("nameserver argument must be provided")
    } else {
        None
    };
    if let Some(why) = refusal {
        ctx.settle(deferred, Err(bare(ctx, why)?))?;
        return Ok(promise);
    }
    let texts = [0, 1, 2].map(|index| call.argument(index).to_string_lossy());
    let [name, kind, server] = texts;
    let (name, kind, server) = (name?, kind?, server?);
    let asked = Question::new(&name, &kind).and_then(|question| {
        let (server, port) = server_of(&server)?;
        Ok((question, server.to_owned(), port))
    });
    let (question, server, port) = match asked {
        Ok(asked) => asked,
        Err(why) => {
            ctx.settle(deferred, Err(bare(ctx, &why)?))?;
            return Ok(promise);
        }
    };
    let dialer = Connections::of(ctx).dialer();
    let asking = async move {
        let began = clock::now_ns();
        match dialer.address_of(&server, port).await {
            Ok(address) => {
                // The way to the server is not the server's answer.
                let began = clock::now_ns();
                let found = ask(&dialer, address, &question).await;
                let took_ns = clock::now_ns().saturating_sub(began);
                (address.to_string(), Told { found, took_ns })
            }
            Err(failure) => {
                let found = Err(unreachable(&failure, &server));
                let took_ns = clock::now_ns().saturating_sub(began);
                (server, Told { found, took_ns })
            }
        }
    };
    let weight = Weight::of(ctx, 2 * name.len() + kind.len())?;
    host.events().spawn_weighing(weight, asking, move |ctx, (server, told)| {
        let tags = [
            ("query", name.as_str()),
            ("recordType", kind.as_str()),
            ("nameserver", server.as_str()),
        ];
        meters.add(ctx, told.took_ns, told.found.is_err(), &tags);
        ctx.settle(deferred, shown(ctx, told.found)?)
    });
    Ok(promise)
}

async fn ask(
    dialer: &Dialer,
    server: SocketAddr,
    question: &Question,
) -> Result<Vec<String>, Trouble> {
    query::ask(server, dialer.local_ip(), question, dialer.draw() as u16).await
}

/// `host`, `host:port`, `[host]:port`, or a bare address of IPv6.
fn server_of(text: &str) -> Result<(&str, u16), String> {
    let wrong =
        || format!("\"{text}\" is not the address of a name server, such as \"8.8.8.8:53\"");
    if let Some(rest) = text.strip_prefix('[') {
        let (host, port) = rest.split_once(']').ok_or_else(wrong)?;
        return match port.strip_prefix(':') {
            Some(port) => Ok((host, port.parse().map_err(|_| wrong())?)),
            None if port.is_empty() => Ok((host, PORT)),
            None => Err(wrong()),
        };
    }
    let (host, port) = match text.split_once(':') {
        Some((_, port)) if port.contains(':') => (text, PORT),
        Some((host, port)) => (host, port.parse().map_err(|_| wrong())?),
        None => (text, PORT),
    };
    let host = host.strip_suffix('.').unwrap_or(host);
    if host.is_empty() { Err(wrong()) } else { Ok((host, port)) }
}

fn unreachable(failure: &Failure, host: &str) -> Trouble {
    Trouble::Unasked(match failure {
        Failure::NoSuchHost => no_such_host(host),
        other => other.to_string(),
    })
}

/// The value that settles the promise: an array of texts, or an error. A server's refusal has a name and a number.
fn shown<'js>(
    ctx: Ctx<'js>,
    found: Result<Vec<String>, Trouble>,
) -> JsResult<'js, Result<Value<'js>, Value<'js>>> {
    match found {
        Ok(texts) => {
            let texts: Result<Vec<_>, _> = texts.iter().map(|text| ctx.string(text)).collect();
            Ok(Ok(ctx.array_from(texts?)?))
        }
        Err(Trouble::Answered { name, code, message }) => {
            let error = bare_start(ctx, &format!("{name}: {message}"))?;
            error.define("name", ctx.string(name)?)?;
            error.define("message", ctx.string(&message)?)?;
            error.define("kind", ctx.int(i32::from(code)))?;
            bare_end(ctx, &error)?;
            Ok(Err(error))
        }
        Err(Trouble::Unasked(why)) => Ok(Err(bare(ctx, &why)?)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_may_leave_out_its_port() {
        for (text, expected) in [
            ("8.8.8.8", ("8.8.8.8", 53)),
            ("8.8.8.8:5353", ("8.8.8.8", 5353)),
            ("[::1]:54", ("::1", 54)),
            ("[::1]", ("::1", 53)),
            ("::1", ("::1", 53)),
            ("dns.test.", ("dns.test", 53)),
            ("dns.test:99", ("dns.test", 99)),
        ] {
            assert_eq!(server_of(text), Ok(expected), "{text}");
        }
        for text in ["", ":53", "a:x", "a:65536", "[::1", "[::1]x"] {
            assert!(server_of(text).is_err(), "{text}");
        }
    }
}
