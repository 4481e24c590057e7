//! The values of a session that a script can't repeat: their places, found without any algorithm of correlation.
//!
//! A journey is recorded twice: the same clicks, the same typed texts, another state of the server. Each place of a request whose
//! text differs between the two was given by the server; the browser itself tells which ones scripts of pages made.

use brunt_correlate::{PathStep, Place};
use brunt_traffic::{Body, Exchange, Side};
use serde_json::Value;
use url::form_urlencoded;

use crate::browser::Taken;

/// A place whose text a script must find or make anew.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Need {
    /// The exchange that sends it.
    pub exchange: usize,
    /// Where.
    pub place: Place,
    /// Its text in the first recording.
    pub text: String,
    /// Whether the browser made it, not the server.
    pub is_made: bool,
}

/// Headers that clients send by themselves.
const BY_THEMSELVES: [&str; 9] = [
    "host",
    "cookie",
    "content-length",
    "content-type",
    "referer",
    "origin",
    "connection",
    "sec-websocket-key",
    "user-agent",
];

/// All places of a request with their texts.
pub fn places(exchange: &Exchange) -> Vec<(Place, String)> {
    let request = &exchange.request;
    let mut all = Vec::new();
    let decoded = |text: &str| {
        let decoded = form_urlencoded::parse(format!("x={}", text.replace('+', "%2B")).as_bytes())
            .next()
            .map(|(_, value)| value.into_owned());
        decoded.unwrap_or_default()
    };
    for (index, segment) in request.url.path_segments().into_iter().flatten().enumerate() {
        all.push((Place::Segment(index), decoded(segment)));
    }
    for (index, (_, value)) in request.url.query_pairs().enumerate() {
        all.push((Place::Query(index), value.into_owned()));
    }
    for (index, (name, value)) in request.headers.iter().enumerate() {
        if !BY_THEMSELVES.contains(&name.to_ascii_lowercase().as_str()) {
            all.push((Place::Header(index), value.to_owned()));
        }
    }
    let Body::Bytes(body) = &request.body else {
        all.extend(messages(exchange));
        return all;
    };
    match request.headers.media_type().as_str() {
        "application/x-www-form-urlencoded" => {
            for (index, (_, value)) in form_urlencoded::parse(body).enumerate() {
                all.push((Place::Field(index), value.into_owned()));
            }
        }
        "application/json" => {
            let json = serde_json::from_slice(body).unwrap_or(Value::Null);
            leaves(&json, &mut Vec::new(), &mut |path, text| all.push((Place::Json(path), text)));
        }
        "multipart/form-data" => {
            let text = String::from_utf8_lossy(body);
            let parts = text.split("\r\n\r\n").skip(1).enumerate();
            for (index, part) in parts {
                let part = part.split("\r\n--").next().unwrap_or_default();
                all.push((Place::Part(index), part.to_owned()));
            }
        }
        _ => all.push((Place::Body, String::from_utf8_lossy(body).into_owned())),
    }
    all
}

fn messages(exchange: &Exchange) -> Vec<(Place, String)> {
    let mut all = Vec::new();
    for (index, message) in exchange.messages.iter().enumerate() {
        if message.from == Side::Client {
            let json = serde_json::from_slice(&message.data).unwrap_or(Value::Null);
            leaves(&json, &mut Vec::new(), &mut |path, text| {
                all.push((Place::MessageJson(index, path), text));
            });
        }
    }
    all
}

fn leaves(json: &Value, path: &mut Vec<PathStep>, add: &mut dyn FnMut(Vec<PathStep>, String)) {
    match json {
        Value::Object(members) => {
            for (key, value) in members {
                path.push(PathStep::Key(key.clone()));
                leaves(value, path, add);
                path.pop();
            }
        }
        Value::Array(items) => {
            for (index, value) in items.iter().enumerate() {
                path.push(PathStep::Index(index));
                leaves(value, path, add);
                path.pop();
            }
        }
        Value::String(text) => add(path.clone(), text.clone()),
        other => add(path.clone(), other.to_string()),
    }
}

/// The places whose texts differ between two recordings of the same clicks, and those that scripts of pages made.
///
/// # Panics
/// If they are not recordings of the same clicks.
pub fn needs(one: &Taken, other: &Taken) -> Vec<Need> {
    let (first, second) = (&one.recording.exchanges, &other.recording.exchanges);
    assert_eq!(first.len(), second.len(), "both recordings have the same requests");
    let mut all = Vec::new();
    for (exchange, (first, second)) in first.iter().zip(second).enumerate() {
        if one.redirected.contains(&exchange) {
            continue;
        }
        let (first, second) = (places(first), places(second));
        assert_eq!(first.len(), second.len(), "exchange {exchange} has the same places in both");
        for ((place, text), (_, other)) in first.into_iter().zip(second) {
            let is_made = one.made.contains(&text);
            if text != other || is_made {
                all.push(Need { exchange, place, text, is_made });
            }
        }
    }
    all
}
