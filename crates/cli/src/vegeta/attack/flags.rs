//! The flags of `brunt attack`.

use std::net::IpAddr;

use brunt_attack::{Format, Pacer, Rate};

use super::value;
use crate::vegeta::{
    flag::{Flag, FlagSet, Takes},
    threshold,
};

/// All of them, in the order of vegeta's help; ours come last.
pub(in crate::vegeta) static FLAGS: FlagSet = FlagSet {
    command: "attack",
    files: "",
    about: "Sends requests to targets on schedule and writes a record of each.",
    flags: &[
        Flag::new("body", Takes::Text, "", "File with the body of requests whose target has none"),
        Flag::new("cert", Takes::Text, "", "TLS client certificate, a PEM file"),
        Flag::new("chunked", Takes::Switch, "false", "Send bodies in chunks, without a length"),
        Flag::new(
            "connect-to",
            Takes::Many { kind: "host:port:host:port", check: connect_to },
            "",
            "Dial the second pair where a URL says the first; several for one take turns",
        ),
        Flag::new("connections", Takes::Uint, "10000", "Most idle connections kept per host"),
        Flag::new(
            "dns-ttl",
            Takes::Checked { kind: "duration", check: dns_ttl },
            "0s",
            "Look names up again so often [0 = never again, -1 = for each connection]",
        ),
        Flag::new("duration", Takes::Duration, "0s", "Begin hits for so long [0 = until stopped]"),
        Flag::new(
            "format",
            Takes::Checked { kind: "string", check: format },
            "http",
            "Format of the targets [http, json]",
        ),
        Flag::new("h2c", Takes::Switch, "false", "Speak HTTP/2 without TLS"),
        Flag::new(
            "header",
            Takes::Many { kind: "name:value", check: header },
            "",
            "Header of every request",
        ),
        Flag::new("http2", Takes::Switch, "true", "Speak HTTP/2 where a TLS server offers it"),
        Flag::new("insecure", Takes::Switch, "false", "Accept any TLS certificate"),
        Flag::new("keepalive", Takes::Switch, "true", "Use connections for several requests"),
        Flag::new("key", Takes::Text, "", "Key of the TLS client certificate, a PEM file"),
        Flag::new(
            "laddr",
            Takes::Checked { kind: "IP", check: address },
            "0.0.0.0",
            "Local address to dial from",
        ),
        Flag::new(
            "lazy",
            Takes::Switch,
            "false",
            "Read targets one by one while attacking; each is hit once",
        ),
        Flag::new(
            "max-body",
            Takes::Checked { kind: "size", check: size },
            "0",
            "Most bytes of a response's body to keep in its record [-1 = all]; all are counted",
        ),
        Flag::new("max-connections", Takes::Uint, "0", "Most connections per host [0 = no limit]"),
        Flag::new(
            "max-workers",
            Takes::Uint,
            "18446744073709551615",
            "Most workers: each has one request under way",
        ),
        Flag::new("name", Takes::Text, "", "Name of the attack, in records and in X-Vegeta-Attack"),
        Flag::new("output", Takes::Text, "stdout", "Where records go"),
        Flag::new(
            "prometheus-addr",
            Takes::Text,
            "",
            "Serve metrics for Prometheus at this host:port while attacking",
        ),
        Flag::new(
            "proxy-header",
            Takes::Many { kind: "name:value", check: header },
            "",
            "Header for the proxy, with CONNECT",
        ),
        Flag::new(
            "rate",
            Takes::Checked { kind: "hits/time", check: rate },
            "50/1s",
            "Hits per time [0 = as fast as -max-workers can]",
        ),
        Flag::new(
            "redirects",
            Takes::Int,
            "10",
            "Most redirects to follow [-1 = none, and that is a success]",
        ),
        Flag::new("resolvers", Takes::Text, "", "Name servers to ask in turns: ip[:port],..."),
        Flag::new(
            "root-certs",
            Takes::Text,
            "",
            "PEM files of authorities to trust instead of the system's: file,...",
        ),
        Flag::new("session-tickets", Takes::Switch, "false", "Resume TLS sessions"),
        Flag::new("targets", Takes::Text, "stdin", "Where targets are read"),
        Flag::new("timeout", Takes::Duration, "30s", "Most time for a request [0 = any]"),
        Flag::new("unix-socket", Takes::Text, "", "Dial this socket for every request"),
        Flag::new("workers", Takes::Uint, "10", "Workers at the start"),
        Flag::new(
            "pacer",
            Takes::Checked { kind: "pacer", check: pacer },
            "constant",
            "When hits are due: constant (at -rate), linear:start=RATE,slope=HITS_PER_S2, \
             sine:period=TIME,mean=RATE,amp=RATE,offset=RADIANS, steps:RATExTIME,..., file:NAME \
             (lines of MOMENT RATE). Beyond vegeta",
        ),
        threshold::FLAG,
    ],
};

fn connect_to(text: &str) -> Result<(), String> {
    value::connect_to(text).map(drop)
}

fn dns_ttl(text: &str) -> Result<(), String> {
    value::dns_ttl(text).map(drop)
}

fn format(text: &str) -> Result<(), String> {
    text.parse::<Format>().map(drop)
}

fn header(text: &str) -> Result<(), String> {
    value::header(text).map(drop)
}

fn address(text: &str) -> Result<(), String> {
    text.parse::<IpAddr>().map(drop).map_err(|error| error.to_string())
}

fn size(text: &str) -> Result<(), String> {
    value::size(text).map(drop)
}

fn rate(text: &str) -> Result<(), String> {
    Rate::parse(text).map(drop).map_err(|error| error.to_string())
}

/// Whether it makes sense with the rate is seen later.
fn pacer(text: &str) -> Result<(), String> {
    match text.strip_prefix("file:") {
        Some("") => Err("file: needs the name of a file".to_owned()),
        Some(_) => Ok(()),
        None => match text.split_once(':').unwrap_or((text, "")).0 {
            "constant" | "linear" | "sine" | "steps" => Ok(()),
            _ => Pacer::parse(text, Rate::default()).map(drop).map_err(|error| error.to_string()),
        },
    }
}
