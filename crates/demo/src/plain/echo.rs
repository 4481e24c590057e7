//! `/headers` and `/anything`: the request, told back as JSON.

use std::borrow::Cow;

use hyper::header::{CONTENT_TYPE, HOST, HeaderMap};
use serde_json::{Map, Value, json};

use super::multipart::{self, Part};
use crate::call::Call;
use crate::reply::{self, Refusal, Reply};

/// Largest body that is told back.
const ECHO_MAX: usize = 8 << 20;

/// `{"headers":{name: value}}`; several of one name are joined by `, `.
pub(super) fn headers(call: &Call<'_>) -> Reply {
    reply::json(&json!({ "headers": header_map(&call.parts.headers) }))
}

/// Method, URL, query, headers, and the body as text, form or JSON.
pub(super) async fn anything(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    let bytes = call.whole_body(ECHO_MAX).await?.bytes.clone();
    let content_type = call.header(CONTENT_TYPE).unwrap_or("").to_owned();
    let text = String::from_utf8_lossy(&bytes);
    let mut form = Map::new();
    let mut files = Map::new();
    if content_type.starts_with("application/x-www-form-urlencoded") {
        form = collect(url::form_urlencoded::parse(&bytes));
    } else if let Ok(parts) = multipart::parse(&content_type, &bytes) {
        for Part { name, filename, content, .. } in parts {
            let text = Cow::Owned(String::from_utf8_lossy(&content).into_owned());
            let target = if filename.is_some() { &mut files } else { &mut form };
            add(target, &name, &text);
        }
    }
    let json: Option<Value> = serde_json::from_slice(&bytes).ok();
    let scheme = if call.app.config.tls { "https" } else { "http" };
    let host = call.header(HOST).unwrap_or("localhost");
    Ok(reply::json(&json!({
        "method": call.parts.method.as_str(),
        "url": format!("{scheme}://{host}{}", call.parts.uri),
        "path": call.parts.uri.path(),
        "args": collect(call.query().pairs()),
        "headers": header_map(&call.parts.headers),
        "data": text,
        "form": form,
        "files": files,
        "json": json,
    })))
}

fn header_map(headers: &HeaderMap) -> Map<String, Value> {
    let mut map = Map::new();
    for name in headers.keys() {
        let values = headers.get_all(name).iter();
        let texts: Vec<_> = values.map(|value| String::from_utf8_lossy(value.as_bytes())).collect();
        map.insert(title_case(name.as_str()), texts.join(", ").into());
    }
    map
}

/// `content-type` as people write it: `Content-Type`. hyper keeps names in small letters.
fn title_case(name: &str) -> String {
    let words = name.split('-').map(|word| {
        let mut letters = word.chars();
        letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
    });
    words.collect::<Vec<_>>().join("-")
}

fn collect<'a>(pairs: impl Iterator<Item = (Cow<'a, str>, Cow<'a, str>)>) -> Map<String, Value> {
    let mut map = Map::new();
    for (name, value) in pairs {
        add(&mut map, &name, &value);
    }
    map
}

/// A name that comes again makes a list.
fn add(map: &mut Map<String, Value>, name: &str, value: &str) {
    match map.get_mut(name) {
        None => {
            map.insert(name.to_owned(), value.into());
        }
        Some(Value::Array(values)) => values.push(value.into()),
        Some(first) => *first = Value::Array(vec![first.take(), value.into()]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repeated_name_becomes_a_list() {
        let map = collect(url::form_urlencoded::parse(b"a=1&b=2&a=3&a=4"));
        assert_eq!(Value::from(map), json!({ "a": ["1", "3", "4"], "b": "2" }));
    }

    #[test]
    fn header_names_are_written_as_people_do() {
        assert_eq!(title_case("x-request-id"), "X-Request-Id");
    }
}
