//! Servers of the session: each origin is a constant that the environment may change.

use std::collections::BTreeMap;

use url::Url;

use crate::text::{Names, quoted};

/// Origins with their constants, the most frequent first.
#[derive(Debug, Default)]
pub(crate) struct Origins(Vec<(String, String)>);

impl Origins {
    /// Of these URLs.
    pub(crate) fn new<'a>(urls: impl Iterator<Item = &'a Url>) -> Self {
        let mut counts: BTreeMap<String, (usize, usize)> = BTreeMap::new();
        for (at, url) in urls.enumerate() {
            counts.entry(of(url)).or_insert((0, at)).0 += 1;
        }
        let mut all: Vec<(String, (usize, usize))> = counts.into_iter().collect();
        all.sort_by_key(|(_, (count, first))| (usize::MAX - count, *first));
        let mut names = Names::default();
        let name = |index: usize, origin: &str, names: &mut Names| {
            if index == 0 {
                return "BASE".to_owned();
            }
            let host = origin.split("://").nth(1).unwrap_or_default();
            let host = host.split(':').next().unwrap_or_default();
            let parts: Vec<&str> = host.split('.').collect();
            let is_address = host.parse::<std::net::IpAddr>().is_ok() || host.starts_with('[');
            let part = match parts.as_slice() {
                _ if is_address => "other",
                ["www", second, ..] => second,
                [first, ..] => first,
                [] => "other",
            };
            let plain: String =
                part.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
            let plain = plain.to_ascii_uppercase();
            let plain = if plain.starts_with(|c: char| c.is_ascii_alphabetic()) {
                plain
            } else {
                format!("HOST_{plain}")
            };
            names.take(&plain, "OTHER")
        };
        let named = all.into_iter().enumerate();
        Self(named.map(|(index, (origin, _))| (name(index, &origin, &mut names), origin)).collect())
    }

    /// The lines that declare them.
    pub(crate) fn declarations(&self) -> String {
        let line = |(name, origin): &(String, String)| {
            let variable =
                if name == "BASE" { "BASE_URL".to_owned() } else { format!("{name}_URL") };
            format!("const {name} = __ENV.{variable} || {};\n", quoted(origin))
        };
        self.0.iter().map(line).collect()
    }

    /// The constant of a URL's origin, and the URL's rest; `None` if it is of no server of the session.
    pub(crate) fn split<'a>(&self, url: &'a str) -> Option<(&str, &'a str)> {
        self.0.iter().find_map(|(name, origin)| {
            let rest = url.strip_prefix(origin.as_str())?;
            let is_whole = rest.is_empty() || rest.starts_with(['/', '?', '#']);
            is_whole.then_some((name.as_str(), rest))
        })
    }

    /// The constant of this URL's origin.
    pub(crate) fn name(&self, url: &Url) -> &str {
        let origin = of(url);
        self.0.iter().find(|(_, own)| *own == origin).map_or("BASE", |(name, _)| name)
    }
}

/// Scheme, host and port. A WebSocket has those of `http`.
pub(crate) fn of(url: &Url) -> String {
    let scheme = match url.scheme() {
        "ws" => "http",
        "wss" => "https",
        other => other,
    };
    let host = url.host_str().unwrap_or_default();
    match url.port() {
        Some(port) => format!("{scheme}://{host}:{port}"),
        None => format!("{scheme}://{host}"),
    }
}
