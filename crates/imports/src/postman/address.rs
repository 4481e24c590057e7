//! The address of a request: a text, or its parts.

use serde_json::Value as Json;

use super::content::{is_on, text};
use super::variables::Variables;
use crate::draft::Ledger;

/// A list of texts (or of objects with a value), or a text, joined.
fn joined(json: Option<&Json>, with: &str) -> String {
    match json {
        Some(Json::Array(parts)) => {
            let parts = parts.iter().map(|part| text(part.get("value").unwrap_or(part)));
            parts.collect::<Vec<_>>().join(with)
        }
        Some(other) => text(other),
        None => String::new(),
    }
}

/// The address as a template. Without a scheme it is `http`.
pub(super) fn of(url: &Json, variables: &mut Variables, ledger: &mut Ledger) -> String {
    let raw = if url.is_string() { text(url) } else { text(url.get("raw").unwrap_or(&Json::Null)) };
    let raw = raw.trim();
    let (before, query) = match raw.split('#').next().unwrap_or_default().split_once('?') {
        Some((before, query)) => (before.to_owned(), Some(query.to_owned())),
        None => (raw.split('#').next().unwrap_or_default().to_owned(), None),
    };
    let before = if before.is_empty() { parts(url) } else { before };
    let before = with_path_variables(&before, url);
    let mut out = variables.expand(&before, ledger);
    let shown = ledger.table.resolve(&out);
    if !shown.contains("://") && !shown.is_empty() {
        out = format!("http://{out}");
    }
    let mut pairs = Vec::new();
    match url.get("query").and_then(Json::as_array) {
        Some(list) => {
            for entry in list.iter().filter(|entry| is_on(entry)) {
                let escape = |text: String| text.replace('&', "%26").replace('#', "%23");
                let key = escape(text(entry.get("key").unwrap_or(&Json::Null)));
                match entry.get("value").filter(|value| !value.is_null()) {
                    Some(value) => pairs.push(format!("{key}={}", escape(text(value)))),
                    None => pairs.push(key),
                }
            }
        }
        None => pairs.extend(query),
    }
    if !pairs.is_empty() {
        out.push('?');
        out.push_str(&variables.expand(&pairs.join("&"), ledger));
    }
    out
}

/// The address of parts alone.
fn parts(url: &Json) -> String {
    let host = joined(url.get("host"), ".");
    if host.is_empty() {
        return String::new();
    }
    let mut out = String::new();
    if let Some(protocol) = url.get("protocol").and_then(Json::as_str) {
        out = format!("{}://", protocol.trim_end_matches("://"));
    }
    out.push_str(&host);
    if let Some(port) = url.get("port").map(text).filter(|port| !port.is_empty()) {
        out.push(':');
        out.push_str(&port);
    }
    let path = joined(url.get("path"), "/");
    if !path.is_empty() && !path.starts_with('/') {
        out.push('/');
    }
    out.push_str(&path);
    out
}

/// `:id` as a segment, replaced by the value that the address has for it.
fn with_path_variables(before: &str, url: &Json) -> String {
    let Some(list) = url.get("variable").and_then(Json::as_array) else { return before.to_owned() };
    let segments = before.split('/').map(|segment| {
        let Some(name) = segment.strip_prefix(':') else { return segment.to_owned() };
        let is_it = |entry: &&Json| {
            let key = entry.get("key").or_else(|| entry.get("id"));
            key.and_then(Json::as_str) == Some(name)
        };
        let value = list.iter().find(is_it).and_then(|entry| entry.get("value")).map(text);
        match value.filter(|value| !value.is_empty()) {
            // The value is a variable of the data file, named as the path has it.
            Some(value) => value,
            None => format!("{{{{{name}}}}}"),
        }
    });
    segments.collect::<Vec<_>>().join("/")
}
