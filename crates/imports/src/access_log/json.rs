//! Logs with an object a line, as nginx, Caddy, Traefik and Envoy write them.

use serde_json::Value as Json;

use super::entry::{Entry, local, moment, request_line, some, token};

/// The first of these members that is there; a dot leads into an object.
fn first<'a>(json: &'a Json, names: &[&str]) -> Option<&'a Json> {
    names.iter().find_map(|name| {
        let own = json.get(name).or_else(|| {
            name.split_once('.').and_then(|(outer, inner)| json.get(outer)?.get(inner))
        });
        own.filter(|own| !matches!(own, Json::Null))
    })
}

/// Such a member as text.
fn text(json: &Json, names: &[&str]) -> Option<String> {
    match first(json, names)? {
        Json::String(text) => some(text),
        Json::Number(number) => Some(number.to_string()),
        Json::Array(list) => list.first().and_then(Json::as_str).and_then(some),
        _ => None,
    }
}

const MOMENTS: [&str; 16] = [
    "StartUTC",
    "StartLocal",
    "start_time",
    "time_iso8601",
    "time_local",
    "msec",
    "@timestamp",
    "timestamp",
    "time",
    "ts",
    "datetime",
    "date",
    "requestTime",
    "request_time_iso",
    "start",
    "t",
];

/// Text in one of the ways of writing moments, or a number of seconds, milliseconds, microseconds or nanoseconds.
fn at(value: &Json) -> Option<i64> {
    let text = match value {
        Json::String(text) => text.clone(),
        Json::Number(number) => number.to_string(),
        _ => return None,
    };
    if let Ok(number) = text.parse::<f64>() {
        let scale = match number.abs() {
            n if n < 1e11 => 1e3,
            n if n < 1e14 => 1.0,
            n if n < 1e17 => 1e-3,
            _ => 1e-6,
        };
        return Some((number * scale) as i64);
    }
    moment(&text).or_else(|| local(&text))
}

/// A line.
pub(super) fn entry(line: &str) -> Option<Entry> {
    let json: Json = serde_json::from_str(line).ok()?;
    let mut entry = Entry { at: at(first(&json, &MOMENTS)?)?, ..Entry::default() };
    // Caddy's moment is that of the answer.
    if json.get("ts").is_some() && json.get("request").is_some_and(Json::is_object) {
        let taken = json.get("duration").and_then(Json::as_f64).unwrap_or_default();
        entry.at = entry.at.saturating_sub((taken * 1000.0) as i64);
    }
    let method =
        ["request.method", "request_method", "RequestMethod", "method", "verb", "http_method"];
    let target = [
        "request.uri",
        "request_uri",
        "RequestPath",
        "x-envoy-original-path",
        "uri",
        "path",
        "url",
        "request_path",
    ];
    match (text(&json, &method), text(&json, &target)) {
        (Some(method), Some(target)) => {
            entry.method = token(&method)?;
            entry.target = target;
            let query = text(&json, &["args", "query_string", "query"]);
            if let Some(query) = query.filter(|_| !entry.target.contains('?')) {
                entry.target = format!("{}?{}", entry.target, query.trim_start_matches('?'));
            }
        }
        _ => request_line(&text(&json, &["request", "request_line", "http_request"])?, &mut entry)?,
    }
    entry.host = text(
        &json,
        &[
            "request.host",
            "RequestHost",
            "http_host",
            "host",
            "authority",
            ":authority",
            "server_name",
            "vhost",
        ],
    );
    entry.scheme = text(&json, &["scheme", "RequestScheme", "x-forwarded-proto"])
        .filter(|own| matches!(own.as_str(), "http" | "https"));
    if json.pointer("/request/tls").is_none() && json.get("request").is_some_and(Json::is_object) {
        entry.scheme.get_or_insert_with(|| "http".to_owned());
    }
    entry.client = text(
        &json,
        &[
            "request.client_ip",
            "request.remote_ip",
            "ClientHost",
            "remote_addr",
            "client_ip",
            "client",
            "clientip",
            "ip",
            "downstream_remote_address",
        ],
    )
    .unwrap_or_default();
    let status =
        text(&json, &["status", "DownstreamStatus", "response_code", "status_code", "code"]);
    entry.status =
        status.and_then(|text| text.parse().ok()).filter(|own| (100..1000).contains(own));
    let agent = ["http_user_agent", "request_User-Agent", "user_agent", "user-agent", "agent"];
    entry.agent = text(&json, &agent);
    if entry.agent.is_none() {
        let of_caddy = json.pointer("/request/headers/User-Agent/0").and_then(Json::as_str);
        entry.agent = of_caddy.and_then(some);
    }
    entry.referer = text(&json, &["http_referer", "request_Referer", "referer", "referrer"]);
    Some(entry)
}
