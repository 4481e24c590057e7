//! Headers: those that all requests of a kind send, and those that one request sends.

use std::collections::BTreeMap;

use brunt_correlate::plan::{Piece, Place};
use brunt_traffic::Exchange;

use crate::session::Kind;
use crate::value::canonical;

/// Headers that clients make anew, or that only browsers may send.
const DROPPED: &[&str] = &[
    "cookie",
    "content-length",
    "host",
    "connection",
    "keep-alive",
    "proxy-connection",
    "proxy-authorization",
    "te",
    "transfer-encoding",
    "trailer",
    "upgrade",
    "http2-settings",
    "priority",
    "cache-control",
    "pragma",
    "purpose",
    "if-none-match",
    "if-modified-since",
    "if-range",
    "expect",
    "x-client-data",
    "alt-used",
    "sec-gpc",
    "cookie2",
    "dnt",
];

/// Headers that do no harm where a browser left them out.
const HARMLESS: &[&str] = &[
    "accept",
    "accept-charset",
    "accept-encoding",
    "accept-language",
    "user-agent",
    "upgrade-insecure-requests",
];

/// A header of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Header {
    /// As Go writes it.
    pub(crate) name: String,
    /// As recorded.
    pub(crate) value: String,
    /// If the plan makes it of pieces.
    pub(crate) pieces: Option<Vec<Piece>>,
}

impl Header {
    /// Whether one value is as good as another for a part of a page: pictures accept other things than styles do.
    pub(crate) fn is_harmless(&self) -> bool {
        self.pieces.is_none() && HARMLESS.contains(&self.name.to_ascii_lowercase().as_str())
    }
}

/// Headers of many requests.
#[derive(Debug, Default)]
pub(crate) struct Common {
    /// Of all kinds.
    pub(crate) all: BTreeMap<String, String>,
    /// Of a kind, beside those of all.
    pub(crate) kinds: BTreeMap<Kind, BTreeMap<String, String>>,
}

/// The headers of a request that the script sends.
pub(crate) fn of(
    exchange: &Exchange,
    index: usize,
    kind: Kind,
    plan: &brunt_correlate::Plan,
) -> Vec<Header> {
    let mut all: Vec<Header> = Vec::new();
    for (at, (name, value)) in exchange.request.headers.iter().enumerate() {
        let small = name.to_ascii_lowercase();
        let pieces = plan
            .substitutions
            .iter()
            .find(|own| own.exchange == index && own.place == Place::Header(at));
        let pieces = pieces.map(|own| own.pieces.clone());
        let is_read = matches!(exchange.request.method.as_str(), "GET" | "HEAD");
        let is_dropped = small.starts_with(':')
            || small.starts_with("sec-ch-")
            || small.starts_with("sec-fetch-")
            || small.starts_with("sec-websocket-")
            || small == "sec-purpose"
            || DROPPED.contains(&small.as_str())
            || small == "referer" && is_read
            || matches!(small.as_str(), "origin" | "range") && kind == Kind::Resource
            || small == "origin" && value == "null";
        if is_dropped && pieces.is_none() || small == "cookie" {
            continue;
        }
        let value =
            if small == "accept-encoding" { known_codings(value) } else { value.to_owned() };
        let name = canonical(name);
        // k6 sends one header of a name.
        match all.iter_mut().find(|own| own.name == name) {
            Some(own) if own.pieces.is_none() => own.value = format!("{}, {value}", own.value),
            Some(_) => {}
            None => all.push(Header { name, value, pieces }),
        }
    }
    all
}

fn known_codings(value: &str) -> String {
    let known = |coding: &&str| {
        matches!(coding.split(';').next().unwrap_or_default().trim(), "gzip" | "deflate" | "br")
    };
    value.split(',').map(str::trim).filter(known).collect::<Vec<_>>().join(", ")
}

impl Common {
    /// The headers that these requests have in common.
    pub(crate) fn new(requests: &[(Kind, Vec<Header>)]) -> Self {
        let mut kinds: BTreeMap<Kind, BTreeMap<String, String>> = BTreeMap::new();
        for kind in [Kind::Page, Kind::Fetch, Kind::Resource] {
            let own: Vec<&Vec<Header>> = requests
                .iter()
                .filter(|(own, headers)| *own == kind && !headers.is_empty())
                .map(|(_, headers)| headers)
                .collect();
            if !own.is_empty() {
                kinds.insert(kind, shared(&own, kind));
            }
        }
        let mut all = kinds.values().next().cloned().unwrap_or_default();
        all.retain(|name, value| kinds.values().all(|kind| kind.get(name) == Some(value)));
        for kind in kinds.values_mut() {
            kind.retain(|name, _| !all.contains_key(name));
        }
        Self { all, kinds }
    }

    /// The value that requests of this kind send.
    pub(crate) fn value(&self, kind: Kind, name: &str) -> Option<&str> {
        let own = self.kinds.get(&kind).and_then(|own| own.get(name));
        own.or_else(|| self.all.get(name)).map(String::as_str)
    }
}

/// Harmless headers that most have, with their most frequent value, and others that all have with one value.
fn shared(requests: &[&Vec<Header>], kind: Kind) -> BTreeMap<String, String> {
    let mut values: BTreeMap<&str, BTreeMap<&str, usize>> = BTreeMap::new();
    for header in requests.iter().flat_map(|headers| headers.iter()) {
        if header.pieces.is_none() {
            *values.entry(&header.name).or_default().entry(&header.value).or_default() += 1;
        }
    }
    let mut out = BTreeMap::new();
    for (name, counts) in values {
        let count: usize = counts.values().sum();
        let small = name.to_ascii_lowercase();
        let is_own = matches!(
            small.as_str(),
            "authorization" | "content-type" | "referer" | "origin" | "range"
        ) || small.starts_with("if-");
        let is_harmless = HARMLESS.contains(&small.as_str());
        let is_shared = if is_harmless || kind == Kind::Resource && !is_own {
            count * 2 > requests.len()
        } else {
            !is_own && requests.len() > 1 && count == requests.len() && counts.len() == 1
        };
        let most = counts.iter().max_by_key(|(value, count)| (**count, std::cmp::Reverse(**value)));
        if let Some((value, _)) = most.filter(|_| is_shared) {
            out.insert(name.to_owned(), (*value).to_owned());
        }
    }
    out
}
