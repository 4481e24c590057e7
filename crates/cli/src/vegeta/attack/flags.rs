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
    about: "Sends requests to targets at a rate and writes a record of each.",
    examples: &[
        "echo 'GET http://127.0.0.1:8080/' | brunt attack -rate=100/s -duration=10s | brunt report",
        "brunt attack -targets=urls.txt -duration=1m -output=result.bin",
        "brunt attack -targets=urls.txt -duration=1m -run=attack.brunt -output=result.bin",
        "brunt attack -targets=urls.txt -rate=0 -max-workers=50 -duration=10s | brunt report",
        "brunt attack -targets=urls.txt -pacer=linear:start=10/s,slope=5 -duration=1m | brunt plot > plot.html",
    ],
    flags: &[
        Flag::new(
            "body",
            Takes::Text,
            "",
            "File with the body of the requests whose target has none",
        ),
        Flag::new("cert", Takes::Text, "", "TLS client certificate, a PEM file"),
        Flag::new(
            "chunked",
            Takes::Switch,
            "false",
            "Send bodies in chunks, without Content-Length",
        ),
        Flag::new(
            "connect-to",
            Takes::Many { kind: "host:port:host:port", check: connect_to },
            "",
            "Dial the second pair in place of the first one of a URL; several second pairs of one take turns",
        ),
        Flag::new(
            "connections",
            Takes::Uint,
            "10000",
            "Maximum number of idle connections per host",
        ),
        Flag::new(
            "dns-ttl",
            Takes::Checked { kind: "duration", check: dns_ttl },
            "0s",
            "Time after which host names are looked up again [0 = never, -1 = for each connection]",
        ),
        Flag::new(
            "duration",
            Takes::Duration,
            "0s",
            "Time during which hits begin [0 = until stopped]",
        ),
        Flag::new(
            "format",
            Takes::Checked { kind: "string", check: format },
            "http",
            "Format of the targets: http or json",
        ),
        Flag::new("h2c", Takes::Switch, "false", "Speak HTTP/2 without TLS"),
        Flag::new(
            "header",
            Takes::Many { kind: "name:value", check: header },
            "",
            "Header of every request; repeat it for more",
        ),
        Flag::new("http2", Takes::Switch, "true", "Speak HTTP/2 where a TLS server offers it"),
        Flag::new("insecure", Takes::Switch, "false", "Accept any TLS certificate"),
        Flag::new("keepalive", Takes::Switch, "true", "Use each connection for several requests"),
        Flag::new("key", Takes::Text, "", "Key of the TLS client certificate, a PEM file"),
        Flag::new(
            "laddr",
            Takes::Checked { kind: "IP", check: address },
            "0.0.0.0",
            "Local address of connections",
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
            "Number of bytes of a response's body to keep in its record [-1 = all]; all bytes are counted",
        ),
        Flag::new(
            "max-connections",
            Takes::Uint,
            "0",
            "Maximum number of connections per host [0 = no limit]",
        ),
        Flag::new(
            "max-workers",
            Takes::Uint,
            "18446744073709551615",
            "Maximum number of workers; each has one request under way",
        ),
        Flag::new("name", Takes::Text, "", "Name of the attack, in records and in X-Vegeta-Attack"),
        Flag::new("output", Takes::Text, "stdout", "File of the records"),
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
            "Header of CONNECT requests to the proxy; repeat it for more",
        ),
        Flag::new(
            "rate",
            Takes::Checked { kind: "hits/time", check: rate },
            "50/1s",
            "Hits per time, such as 100/s [0 = as fast as -max-workers allow]",
        ),
        Flag::new(
            "redirects",
            Takes::Int,
            "10",
            "Maximum number of redirects to follow [-1 = follow none, and count a redirect as a success]",
        ),
        Flag::new("resolvers", Takes::Text, "", "Name servers to ask in turn: ip[:port],..."),
        Flag::new(
            "root-certs",
            Takes::Text,
            "",
            "PEM files of authorities to trust instead of the system's: file,...",
        ),
        Flag::new("session-tickets", Takes::Switch, "false", "Resume TLS sessions"),
        Flag::new("targets", Takes::Text, "stdin", "File of the targets"),
        Flag::new("timeout", Takes::Duration, "30s", "Maximum time of a request [0 = no limit]"),
        Flag::new("unix-socket", Takes::Text, "", "Unix socket to dial for every request"),
        Flag::new("workers", Takes::Uint, "10", "Number of workers at the start"),
        Flag::new(
            "pacer",
            Takes::Checked { kind: "pacer", check: pacer },
            "constant",
            "Rate over time: constant (at -rate), linear:start=RATE,slope=HITS_PER_S2, \
             sine:period=TIME,mean=RATE,amp=RATE,offset=RADIANS, steps:RATExTIME,... or file:NAME \
             (lines of MOMENT RATE). vegeta has no such flag",
        ),
        Flag::new(
            "run",
            Takes::Text,
            "",
            "Write a run file, too: the whole attack in slices of time, for brunt report, view and compare. With it records may be left \
             out: they are, if the output is a terminal. vegeta has no such flag",
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
