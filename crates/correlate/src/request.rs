//! The texts of requests and where they are.

use brunt_traffic::{Exchange, Recording, Resource, Side, charset, form, multipart};

use crate::change::url_decode;
use crate::json::Json;
use crate::plan::{PathStep, Place};
use crate::texts::body_text;

/// A text that a request sends.
#[derive(Debug, Clone)]
pub(crate) struct Spot {
    /// The exchange that sends it.
    pub(crate) exchange: usize,
    pub(crate) place: Place,
    /// The field's, parameter's, header's or member's name; of a segment the segment before it.
    pub(crate) name: String,
    /// Decoded.
    pub(crate) text: String,
}

/// Headers that browsers write by themselves, or that say nothing of the session.
const PLAIN_HEADERS: [&str; 40] = [
    "accept",
    "accept-charset",
    "accept-encoding",
    "accept-language",
    "access-control-request-headers",
    "access-control-request-method",
    "access-control-request-private-network",
    "alt-used",
    "cache-control",
    "connection",
    "content-encoding",
    "content-length",
    "content-type",
    "cookie",
    "date",
    "dnt",
    "expect",
    "from",
    "host",
    "if-modified-since",
    "if-none-match",
    "keep-alive",
    "origin",
    "pragma",
    "priority",
    "proxy-authorization",
    "proxy-connection",
    "purpose",
    "range",
    "referer",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "upgrade-insecure-requests",
    "user-agent",
    "via",
    "x-requested-with",
    "faces-request",
    "save-data",
];

/// Whether a header of this name can carry a value of the session.
fn is_plain_header(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    PLAIN_HEADERS.contains(&name.as_str())
        || name.starts_with("sec-")
        || name.starts_with(':')
        || name.starts_with("proxy-")
}

/// Ends of the paths of such files.
const ENDS: [&str; 13] = [
    ".css", ".js", ".mjs", ".png", ".jpg", ".jpeg", ".gif", ".svg", ".ico", ".woff", ".woff2",
    ".ttf", ".webp",
];

/// Whether this is a picture, a style, a script or a font: such requests are no uses of values.
pub(crate) fn is_static(exchange: &Exchange) -> bool {
    if let Some(resource) = exchange.resource {
        let by_kind = matches!(
            resource,
            Resource::Stylesheet
                | Resource::Script
                | Resource::Image
                | Resource::Font
                | Resource::Media
                | Resource::Preflight
        );
        if by_kind || matches!(resource, Resource::Document | Resource::Fetch) {
            return by_kind;
        }
    }
    if exchange.request.method != "GET" {
        return exchange.request.method == "OPTIONS";
    }
    let kind = exchange.response.as_ref().map(|response| response.headers.media_type());
    if let Some(kind) = kind.filter(|kind| !kind.is_empty()) {
        return kind.starts_with("image/")
            || kind.starts_with("font/")
            || kind == "text/css"
            || kind.ends_with("javascript");
    }
    let path = exchange.request.url.path().to_ascii_lowercase();
    ENDS.iter().any(|end| path.ends_with(end))
}

/// The texts of a request, in the order: URL, headers, body, messages.
pub(crate) fn spots(recording: &Recording, index: usize) -> Vec<Spot> {
    let exchange = &recording.exchanges[index];
    let request = &exchange.request;
    let mut spots = Spots { exchange: index, all: Vec::new() };
    let mut before = String::new();
    for (at, segment) in request.url.path_segments().into_iter().flatten().enumerate() {
        let text = url_decode(segment);
        spots.add(Place::Segment(at), &before, &text);
        before = text;
    }
    for (at, (name, value)) in request.url.query_pairs().enumerate() {
        spots.add(Place::Query(at), &name, &value);
    }
    for (at, (name, value)) in request.headers.iter().enumerate() {
        if !is_plain_header(name) {
            spots.add(Place::Header(at), name, value);
        }
    }
    spots.add_body(exchange);
    for (at, message) in exchange.messages.iter().enumerate() {
        if message.from != Side::Client || !message.is_text {
            continue;
        }
        let text = String::from_utf8_lossy(&message.data);
        match Json::parse(&text).filter(|json| matches!(json, Json::Object(_) | Json::Array(_))) {
            Some(json) => json.leaves(&mut |path, leaf| {
                let place = Place::MessageJson(at, path.to_vec());
                spots.add(place, name_of(path), leaf.text().unwrap_or_default());
            }),
            None => spots.add(Place::Message(at), "message", &text),
        }
    }
    spots.all
}

/// The texts of a request while they are gathered.
struct Spots {
    exchange: usize,
    all: Vec<Spot>,
}

impl Spots {
    fn add(&mut self, place: Place, name: &str, text: &str) {
        if !text.is_empty() {
            let (name, text) = (name.to_owned(), text.to_owned());
            self.all.push(Spot { exchange: self.exchange, place, name, text });
        }
    }

    fn add_body(&mut self, exchange: &Exchange) {
        let headers = &exchange.request.headers;
        let kind = headers.media_type();
        if kind == "multipart/form-data" {
            let Ok(body) = exchange.request.body.read() else { return };
            for (at, part) in multipart::of(headers, &body).unwrap_or_default().iter().enumerate() {
                if part.file_name.is_none()
                    && let Some(bytes) = body.get(part.range.clone())
                {
                    self.add(Place::Part(at), &part.name, &charset::decode(bytes, &part.headers));
                }
            }
            return;
        }
        let body = body_text(&exchange.request.body, headers);
        if kind == "application/x-www-form-urlencoded" {
            for (at, (name, value)) in form::pairs(body.as_bytes()).iter().enumerate() {
                self.add(Place::Field(at), name, value);
            }
        } else if let Some(json) = Json::parse(&body) {
            json.leaves(&mut |path, leaf| {
                let text = leaf.text().unwrap_or_default();
                self.add(Place::Json(path.to_vec()), name_of(path), text);
            });
        } else {
            self.add(Place::Body, "body", &body);
        }
    }
}

/// The last key of a path.
pub(crate) fn name_of(path: &[PathStep]) -> &str {
    path.iter()
        .rev()
        .find_map(|step| match step {
            PathStep::Key(key) => Some(key.as_str()),
            _ => None,
        })
        .unwrap_or_default()
}
