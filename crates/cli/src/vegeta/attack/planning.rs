//! Flags become a plan.

use std::path::Path;
use std::time::Duration;

use brunt_attack::{Pacer, Plan, Rate};
use brunt_http::{Headers, Network, Settings};
use brunt_net::{ConnectTo, Proxies, TlsAuth};

use super::value;
use crate::{
    Context,
    bounded::{self, SETTINGS_MAX},
    failure::Outcome,
    vegeta::{failure, flag::Values},
};

/// The plan that the flags describe, without targets and output.
///
/// # Errors
/// A file can't be read, or values don't fit together.
pub(super) fn plan(context: &Context, values: &Values, cpus: Option<usize>) -> Outcome<Plan> {
    let rate = Rate::parse(values.text("rate")).map_err(wrong)?;
    let max_workers = usize::try_from(values.uint("max-workers")).ok();
    let mut plan = Plan {
        name: values.text("name").to_owned(),
        pacer: pacer(values.text("pacer"), rate)?,
        duration: length(values, "duration")?,
        workers: usize::try_from(values.uint("workers")).unwrap_or(usize::MAX).min(WORKERS_MOST),
        max_workers: max_workers.filter(|&max| max != usize::MAX),
        timeout: length(values, "timeout")?,
        redirects: u32::try_from(values.int("redirects").min(i64::from(u32::MAX))).ok(),
        keep_body: value::size(values.text("max-body")).map_err(failure)?,
        chunked: values.switch("chunked"),
        zone_minutes: zone(),
        ..Plan::default()
    };
    if let Some(cpus) = cpus {
        plan.cores = cpus;
    }
    let local = values.text("laddr").parse::<std::net::IpAddr>().map_err(wrong)?;
    plan.local_ip = (!local.is_unspecified()).then_some(local);
    network(context, values, &mut plan)?;
    Ok(plan)
}

/// More than these would be memory for nothing: they are made when they are needed.
const WORKERS_MOST: usize = 100_000;

fn wrong(error: impl std::fmt::Display) -> crate::failure::Failure {
    failure(error.to_string())
}

fn pacer(text: &str, rate: Rate) -> Outcome<Pacer> {
    let in_flag = |error: &dyn std::fmt::Display| failure(format!("-pacer: {error}"));
    match text.strip_prefix("file:") {
        Some(name) => {
            Pacer::of_file(&read(name)?).map_err(|error| in_flag(&format!("{name}: {error}")))
        }
        None => Pacer::parse(text, rate).map_err(|error| in_flag(&error)),
    }
}

/// A duration; 0 is none.
fn length(values: &Values, name: &str) -> Outcome<Option<Duration>> {
    match u64::try_from(values.duration(name)) {
        Ok(0) => Ok(None),
        Ok(ns) => Ok(Some(Duration::from_nanos(ns))),
        Err(_) => Err(failure(format!("-{name} must not be negative"))),
    }
}

fn read(name: &str) -> Outcome<String> {
    bounded::read_text(Path::new(name), SETTINGS_MAX)
        .map_err(|error| failure(format!("open {name}: {error}")))
}

/// The certificates of a `-root-certs` file.
fn root(name: &str) -> Outcome<String> {
    let pem = read(name)?;
    let mut alone = Settings::default();
    alone.net.tls.extra_roots = vec![pem.clone()];
    Network::check(&alone).map_err(|error| failure(format!("-root-certs {name}: {error}")))?;
    Ok(pem)
}

/// Minutes east of Greenwich of this machine's zone; nothing in UTC.
pub(crate) fn zone() -> Option<i16> {
    let minutes = jiff::Zoned::now().offset().seconds() / 60;
    i16::try_from(minutes).ok().filter(|&minutes| minutes != 0)
}

fn network(context: &Context, values: &Values, plan: &mut Plan) -> Outcome<()> {
    let number = |name| usize::try_from(values.uint(name)).unwrap_or(usize::MAX);
    let network = &mut plan.network;
    // None kept at all is what 0 means here; the settings read it as Go's default.
    match number("connections") {
        0 => network.no_connection_reuse = true,
        connections => network.idle_per_host = connections,
    }
    network.no_connection_reuse |= !values.switch("keepalive");
    network.net.dns.ttl = value::dns_ttl(values.text("dns-ttl")).map_err(failure)?;
    network.per_host_max = number("max-connections");
    let dialing = &mut network.net.dialing;
    dialing.no_probes = !values.switch("keepalive");
    dialing.name_servers = value::resolvers(values.text("resolvers")).map_err(failure)?;
    for text in values.texts("connect-to") {
        let (from, to) = value::connect_to(text).map_err(failure)?;
        match dialing.connect_to.iter_mut().find(|detour| detour.from == from) {
            Some(detour) => detour.to.push(to),
            None => dialing.connect_to.push(ConnectTo { from, to: vec![to] }),
        }
    }
    let socket = values.text("unix-socket");
    dialing.unix_socket = (!socket.is_empty()).then(|| socket.into());
    let mut headers = Headers::new();
    for text in values.texts("proxy-header") {
        let (name, value) = value::header(text).map_err(failure)?;
        headers
            .append(&name, &value)
            .map_err(|error| failure(format!("-proxy-header: {error}")))?;
    }
    network.proxy_headers = headers;
    network.prior_http2 = values.switch("h2c");
    let variable = |name: &str| context.environment.get(name).map(str::to_owned);
    network.net.proxies = Proxies::from_env(variable).map_err(wrong)?;
    network.net.tls.http2 = values.switch("http2");
    network.net.tls.insecure_skip_verify = values.switch("insecure");
    network.net.tls.remembered_sessions = if values.switch("session-tickets") { 64 } else { 0 };
    let key_log = context.environment.get("SSLKEYLOGFILE").filter(|path| !path.is_empty());
    network.net.tls.key_log = key_log.map(Into::into);
    let roots = values.text("root-certs").split(',').filter(|name| !name.is_empty());
    network.net.tls.extra_roots = roots.map(root).collect::<Outcome<_>>()?;
    network.net.tls.only_extra_roots = !network.net.tls.extra_roots.is_empty();
    let (cert, key) = (values.text("cert"), values.text("key"));
    if !cert.is_empty() {
        let key = if key.is_empty() { cert } else { key };
        let (cert, key) = (read(cert)?, read(key)?);
        network.net.tls.auth = vec![TlsAuth { cert, key, ..TlsAuth::default() }];
    }
    Ok(())
}
