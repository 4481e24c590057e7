//! An entry of a HAR file as an exchange.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use bytes::Bytes;
use url::Url;

use super::bodies::{from_base64, of_request, of_response};
use super::model::{Cookie, Entry, List, Pair};
use super::times;
use crate::{Body, Event, Exchange, Headers, Message, Request, Resource, Response, Side};

/// An entry that is read.
#[derive(Debug)]
pub(super) struct Read {
    /// Its times count from 1970 until the begin of the session is known: `sent` is 0, `done` its length.
    pub(super) exchange: Exchange,
    /// Nanoseconds since 1970; `None` if the entry does not tell.
    pub(super) started: Option<i128>,
    /// The id of its page.
    pub(super) page: String,
    /// Whether the browser had the answer already.
    pub(super) from_cache: bool,
    /// Whether a service worker answered: what it fetched is an entry of its own.
    pub(super) via_worker: bool,
    /// If bytes of the request's body are missing: how, for the user.
    pub(super) damage: Option<&'static str>,
    /// Moments of messages and events, since 1970.
    pub(super) moments: Vec<Option<i128>>,
}

/// Reads an entry.
///
/// # Errors
/// Why it is left out, for the user.
pub(super) fn read(
    entry: &Entry,
    number: usize,
    folder: Option<&Path>,
) -> Result<Read, &'static str> {
    let method = entry.request.method.as_str().trim();
    let method = if method.is_empty() { "GET".to_owned() } else { method.to_ascii_uppercase() };
    if method == "CONNECT" {
        return Err("CONNECT requests to proxies");
    }
    if !method.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err("entries with an invalid method");
    }
    let mut url = url(entry.request.url.as_str())?;
    let is_socket = entry.resource.as_str().eq_ignore_ascii_case("websocket")
        || !entry.messages.0.is_empty()
        || matches!(url.scheme(), "ws" | "wss");
    let mut headers = headers(&entry.request.headers);
    let is_socket = is_socket
        || entry.response.status.0 == Some(101.0)
            && headers.get("upgrade").is_some_and(|value| value.eq_ignore_ascii_case("websocket"));
    if is_socket {
        let scheme = if matches!(url.scheme(), "https" | "wss") { "wss" } else { "ws" };
        url.set_scheme(scheme).map_err(|()| "entries with an invalid URL")?;
    }
    add_cookies(&mut headers, &entry.request.cookies);
    let size = headers.get("content-length").and_then(|value| value.trim().parse().ok());
    let size = size.or(entry.request.body_size.size());
    let sent = of_request(&entry.request.body, &mut headers, size, folder);
    let version = [&entry.request.version, &entry.response.version];
    let version = version.iter().find_map(|version| self::version(version.as_str()));
    let request = Request { method, url, version, headers, body: sent.body };
    let (response, failure) = response(entry, &request, is_socket, folder);
    let mut moments = Vec::new();
    let messages = if is_socket { messages(entry, &mut moments) } else { Vec::new() };
    let events = events(entry, &mut moments);
    let resource = resource(entry, &request.headers);
    let exchange = Exchange {
        number,
        sent: Duration::ZERO,
        done: times::length(entry),
        resource: if is_socket { Some(Resource::WebSocket) } else { resource },
        request,
        response,
        failure,
        messages,
        events,
    };
    Ok(Read {
        exchange,
        started: times::moment(entry.started.as_str()),
        page: entry.page.as_str().to_owned(),
        from_cache: entry.from_cache.0,
        via_worker: entry.response.via_worker.0,
        damage: sent.damage,
        moments,
    })
}

/// The URL of a request without its fragment.
fn url(text: &str) -> Result<Url, &'static str> {
    if text.trim().is_empty() {
        return Err("entries without a request");
    }
    let mut url = Url::parse(text.trim()).map_err(|_| "entries with an invalid URL")?;
    match url.scheme() {
        "http" | "https" | "ws" | "wss" => {}
        "data" | "blob" => return Err("data: and blob: URLs"),
        "about" | "file" | "javascript" => return Err("URLs of no server (about:, file:, …)"),
        _ => return Err("URLs of the browser and its extensions"),
    }
    url.set_fragment(None);
    Ok(url)
}

/// Headers without pseudo-headers. Several headers of one name that were joined by line ends are taken apart again; quotes
/// around values are taken off where an exporter added them.
fn headers(list: &List<Pair>) -> Headers {
    let pairs = list.0.iter().filter(|pair| {
        let name = pair.name.as_str();
        !name.is_empty() && !name.starts_with(':')
    });
    let mut all = Vec::new();
    for pair in pairs {
        for line in pair.value.as_str().split(['\n', '\r']) {
            let line = line.trim();
            if !line.is_empty() || pair.value.is_empty() {
                all.push((pair.name.as_str().trim().to_owned(), line.to_owned()));
            }
        }
    }
    let is_quoted = |value: &str| value.len() > 1 && value.starts_with('"') && value.ends_with('"');
    let are_all =
        all.len() > 2 && all.iter().all(|(_, value)| value.is_empty() || is_quoted(value));
    for (name, value) in &mut all {
        if is_quoted(value) && (are_all || is_never_quoted(name)) {
            *value = value[1..value.len() - 1].to_owned();
        }
    }
    Headers(all)
}

/// Whether values of a header begin with a quote only if somebody put it there.
fn is_never_quoted(name: &str) -> bool {
    const NAMES: [&str; 14] = [
        "accept",
        "accept-encoding",
        "accept-language",
        "authorization",
        "content-encoding",
        "content-length",
        "content-type",
        "cookie",
        "host",
        "location",
        "origin",
        "referer",
        "set-cookie",
        "user-agent",
    ];
    NAMES.iter().any(|own| own.eq_ignore_ascii_case(name))
}

/// Adds the header of cookies that are in their own list alone.
fn add_cookies(headers: &mut Headers, cookies: &List<Cookie>) {
    let pairs = cookies.0.iter().filter(|cookie| !cookie.name.is_empty());
    let pairs: Vec<_> =
        pairs.map(|cookie| format!("{}={}", cookie.name.0, cookie.value.0)).collect();
    if !pairs.is_empty() && headers.get("cookie").is_none() {
        headers.0.push(("Cookie".to_owned(), pairs.join("; ")));
    }
}

/// `HTTP/1.1`, `h2`, `h3`; `None` for what says nothing.
fn version(text: &str) -> Option<String> {
    let text = text.trim().to_ascii_lowercase();
    Some(match text.as_str() {
        "http/1.1" | "1.1" => "HTTP/1.1".to_owned(),
        "http/1.0" | "1.0" => "HTTP/1.0".to_owned(),
        "h2" | "h2c" | "http/2" | "http/2.0" | "spdy" => "h2".to_owned(),
        _ if text.starts_with("h3") || text.starts_with("http/3") || text.contains("quic") => {
            "h3".to_owned()
        }
        _ => return None,
    })
}

/// The response of an entry, or why there is none.
fn response(
    entry: &Entry,
    request: &Request,
    is_socket: bool,
    folder: Option<&Path>,
) -> (Option<Response>, Option<String>) {
    let told = &entry.response;
    let status = told.status.0.filter(|status| (100.0..=999.0).contains(status));
    let status = match status {
        Some(status) => status as u16,
        None if is_socket && !entry.messages.0.is_empty() => 101,
        None => {
            let why = [&told.failure, &told.error, &entry.error, &told.status_text];
            let why = why.iter().map(|text| text.as_str().trim()).find(|text| !text.is_empty());
            return (None, Some(why.unwrap_or("it was cancelled or blocked").to_owned()));
        }
    };
    let mut headers = headers(&told.headers);
    if headers.get("set-cookie").is_none() {
        for cookie in told.cookies.0.iter().filter(|cookie| !cookie.name.is_empty()) {
            let mut line = format!("{}={}", cookie.name.0, cookie.value.0);
            for (name, value) in [("Path", &cookie.path), ("Domain", &cookie.domain)] {
                if !value.is_empty() {
                    let _ = write!(line, "; {name}={}", value.0);
                }
            }
            headers.0.push(("Set-Cookie".to_owned(), line));
        }
    }
    if (300..400).contains(&status)
        && headers.get("location").is_none()
        && !told.redirect.is_empty()
    {
        headers.0.push(("Location".to_owned(), told.redirect.as_str().to_owned()));
    }
    let media_type = told.content.media_type.as_str();
    if headers.get("content-type").is_none() && !matches!(media_type, "" | "x-unknown") {
        headers.0.push(("Content-Type".to_owned(), media_type.to_owned()));
    }
    let is_head = request.method == "HEAD";
    let size = told.body_size.size();
    let mut body = of_response(&told.content, status, is_head || is_socket, size, &headers, folder);
    if body.size().is_none_or(|size| size == 0) || matches!(body, Body::Absent { .. }) {
        body = stream(entry).unwrap_or(body);
    }
    (Some(Response { status, headers, body }), None)
}

/// The text of an event stream whose events are in a list of their own.
fn stream(entry: &Entry) -> Option<Body> {
    let mut text = String::new();
    for event in &entry.events.0 {
        if !event.id.is_empty() {
            let _ = writeln!(text, "id: {}", event.id.0);
        }
        if !matches!(event.kind.as_str(), "" | "message") {
            let _ = writeln!(text, "event: {}", event.kind.0);
        }
        for line in event.data.as_str().split('\n') {
            let _ = writeln!(text, "data: {line}");
        }
        text.push('\n');
    }
    (!text.is_empty()).then(|| Body::Bytes(Bytes::from(text)))
}

/// Text and binary messages; closing, pings and errors are no messages.
fn messages(entry: &Entry, moments: &mut Vec<Option<i128>>) -> Vec<Message> {
    let mut all = Vec::new();
    for message in &entry.messages.0 {
        let from = match message.kind.as_str() {
            "send" => Side::Client,
            "receive" => Side::Server,
            _ => continue,
        };
        let text = message.data.as_str();
        let (is_text, data) = match message.opcode.0.unwrap_or(1.0) as u8 {
            1 => (true, Bytes::copy_from_slice(text.as_bytes())),
            2 => (
                false,
                from_base64(text)
                    .map_or_else(|| Bytes::copy_from_slice(text.as_bytes()), Bytes::from),
            ),
            _ => continue,
        };
        moments.push(message.time.0.and_then(times::since_1970));
        all.push(Message { at: Duration::ZERO, from, is_text, data });
    }
    all
}

fn events(entry: &Entry, moments: &mut Vec<Option<i128>>) -> Vec<Event> {
    let all = entry.events.0.iter().map(|event| {
        moments.push(event.time.0.and_then(times::since_1970));
        let kind = if event.kind.is_empty() { "message" } else { event.kind.as_str() };
        Event { at: Duration::ZERO, kind: kind.to_owned(), data: event.data.as_str().to_owned() }
    });
    all.collect()
}

/// The use that the browser had for the response.
fn resource(entry: &Entry, headers: &Headers) -> Option<Resource> {
    let told = entry.resource.as_str().to_ascii_lowercase();
    let by_source = match told.as_str() {
        "document" | "subdocument" => Some(Resource::Document),
        "stylesheet" => Some(Resource::Stylesheet),
        "script" | "wasm" => Some(Resource::Script),
        "image" | "img" | "imageset" => Some(Resource::Image),
        "font" => Some(Resource::Font),
        "media" | "texttrack" => Some(Resource::Media),
        "xhr" | "fetch" => Some(Resource::Fetch),
        "websocket" => Some(Resource::WebSocket),
        "eventsource" => Some(Resource::EventSource),
        "preflight" => Some(Resource::Preflight),
        _ => None,
    };
    let wanted = headers.get("sec-fetch-dest").unwrap_or_default().to_ascii_lowercase();
    let mode = headers.get("sec-fetch-mode").unwrap_or_default();
    let by_header = || match wanted.as_str() {
        "document" | "iframe" | "frame" | "embed" | "object" => Some(Resource::Document),
        "style" | "xslt" => Some(Resource::Stylesheet),
        "script" | "worker" | "sharedworker" | "serviceworker" | "audioworklet" => {
            Some(Resource::Script)
        }
        "image" => Some(Resource::Image),
        "font" => Some(Resource::Font),
        "audio" | "video" | "track" => Some(Resource::Media),
        "websocket" => Some(Resource::WebSocket),
        "manifest" | "report" => Some(Resource::Other),
        "empty" if told.is_empty() && mode != "no-cors" => Some(Resource::Fetch),
        _ => None,
    };
    by_source.or_else(by_header).or_else(|| (!told.is_empty()).then_some(Resource::Other))
}
