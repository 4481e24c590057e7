//! Access logs of web servers: what was asked for, and when.
//!
//! Read are the common and the combined format (with a host before it, too), JSON of nginx, Caddy, Traefik and Envoy, CloudFront and other W3C logs
//! with `#Fields`, and Application Load Balancers. The first lines tell which it is. Gzip is known by its first bytes. A log is streamed: memory does not
//! grow with it.

mod entry;
mod json;
mod lines;
mod pace;
mod quoted;
mod session;
mod w3c;

use std::io::{Read, Write};

use url::Url;

use crate::error::Error;
use crate::name;
use entry::Entry;
pub use entry::Tally;
use lines::Lines;
use pace::Pace;
pub use session::session;

/// The choices of the user.
#[derive(Debug, Clone)]
pub struct Options {
    /// The server to send to. `None`: the hosts of the log.
    pub base: Option<Url>,
    /// Requests with other methods are counted and left out: their bodies are in no log.
    pub methods: Vec<String>,
    /// Of targets.
    pub format: Format,
    /// The most clients that [`session`] takes, the first ones of the log.
    pub sessions_max: usize,
    /// The most requests of a client that [`session`] takes.
    pub requests_max: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            base: None,
            methods: vec!["GET".to_owned(), "HEAD".to_owned()],
            format: Format::Http,
            sessions_max: 5,
            requests_max: 100,
        }
    }
}

/// The forms of targets of `brunt attack`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// `GET http://…` and an empty line.
    Http,
    /// An object a line.
    Json,
}

/// The text that is sent for a secret.
const REDACTED: &str = "REDACTED";

/// Writes the requests of a log as targets, in their order, and their timing as the file of a pacer. Secrets in queries are replaced.
///
/// # Errors
/// The log can't be read, is of no known format, has no hosts and `base` is absent, or has no requests with the methods; a target can't be written.
pub fn targets(
    log: impl Read,
    options: &Options,
    targets: &mut dyn Write,
    pacer: &mut dyn Write,
) -> Result<Tally, Error> {
    let mut tally = Tally::default();
    let mut pace = Pace::default();
    let mut lines = Lines::new(log)?;
    while let Some(entry) = lines.next(&mut tally)? {
        if !options.methods.contains(&entry.method) {
            tally.count_method(&entry.method);
            continue;
        }
        let Some(mut url) = address(&entry, options, lines.number())? else {
            tally.malformed(lines.number(), &entry.target);
            continue;
        };
        tally.secrets += redact(&mut url);
        let written = match options.format {
            Format::Http => writeln!(targets, "{} {url}\n", entry.method),
            Format::Json => {
                let (method, url) = (entry.method.as_str(), url.as_str());
                writeln!(targets, "{}", serde_json::json!({"method": method, "url": url}))
            }
        };
        written.map_err(Error::Write)?;
        pace.add(entry.at);
        tally.requests += 1;
    }
    if tally.requests == 0 {
        return Err(Error::Log { line: lines.number(), what: empty(&tally, options) });
    }
    pace.write(pacer).map_err(Error::Write)?;
    tally.seconds = pace.seconds();
    Ok(tally)
}

/// Why there is nothing to send.
fn empty(tally: &Tally, options: &Options) -> String {
    match &tally.first_malformed {
        _ if tally.methods.iter().any(|(_, count)| *count > 0) => {
            format!(
                "the log has no requests with {}; choose other methods",
                options.methods.join(", ")
            )
        }
        Some((line, text)) => format!(
            "no line is of a known format (common, combined, JSON, W3C with #Fields, ALB); line {line} is {text:?}"
        ),
        None => "the log is empty".to_owned(),
    }
}

/// The URL of an entry; nothing if its target is no path and no URL.
fn address(entry: &Entry, options: &Options, line: u64) -> Result<Option<Url>, Error> {
    let target = entry.target.as_str();
    let (absolute, path) = match target.split_once("://") {
        Some((scheme, rest)) if scheme.len() <= 5 && !scheme.contains('/') => {
            let path = rest.find(['/', '?']).map_or("/", |at| &rest[at..]);
            (Some(target), path)
        }
        _ => (None, target),
    };
    if !path.starts_with(['/', '?']) {
        return Ok(None);
    }
    let text = match (&options.base, absolute, &entry.host) {
        (Some(base), ..) => {
            let mut before = base.clone();
            before.set_query(None);
            before.set_fragment(None);
            format!("{}{path}", before.as_str().trim_end_matches('/'))
        }
        (None, Some(absolute), _) => {
            absolute.replacen("wss://", "https://", 1).replacen("ws://", "http://", 1)
        }
        (None, None, Some(host)) => {
            format!("{}://{host}{path}", entry.scheme.as_deref().unwrap_or("https"))
        }
        (None, None, None) => {
            let what = "the log does not tell the host; say where to send with a base URL (--base http://127.0.0.1:8080)";
            return Err(Error::Log { line, what: what.to_owned() });
        }
    };
    Ok(Url::parse(&text).ok().filter(|url| matches!(url.scheme(), "http" | "https")))
}

/// Replaces the values of secret parameters; says how many.
fn redact(url: &mut Url) -> u64 {
    let _ = url.set_password(None);
    let _ = url.set_username("");
    let Some(query) = url.query() else { return 0 };
    let mut count = 0;
    let pairs = query.split('&').map(|pair| match pair.split_once('=') {
        Some((key, value)) if !value.is_empty() && name::is_secret_outside(key) => {
            count += 1;
            format!("{key}={REDACTED}")
        }
        _ => pair.to_owned(),
    });
    let pairs = pairs.collect::<Vec<_>>().join("&");
    if count > 0 {
        url.set_query(Some(&pairs));
    }
    count
}

#[cfg(test)]
mod tests;
