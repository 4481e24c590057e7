//! `/cookies`, `/cookies/set?name=value…`, `/cookies/delete?name…`.

use hyper::StatusCode;
use hyper::header::{COOKIE, HeaderValue, LOCATION, SET_COOKIE};
use serde_json::{Map, Value, json};

use crate::call::Call;
use crate::reply::{self, Refusal, Reply};

/// Parameters of `/cookies/set` that say how cookies are set, not which.
const ATTRIBUTES: [&str; 6] = ["path", "domain", "max-age", "expires", "secure", "httponly"];

/// Answers `/cookies/{rest}`.
pub(super) fn answer(call: &Call<'_>, rest: &str) -> Result<Reply, Refusal> {
    match rest {
        "" => Ok(show(call)),
        "set" => set(call),
        "delete" => delete(call),
        _ => Err(reply::not_found()),
    }
}

/// `{"cookies":{name: value}}` of what the client sent.
fn show(call: &Call<'_>) -> Reply {
    let mut cookies = Map::new();
    for header in call.parts.headers.get_all(COOKIE) {
        let text = String::from_utf8_lossy(header.as_bytes());
        for pair in text.split(';').map(str::trim).filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            cookies.insert(name.to_owned(), Value::from(value));
        }
    }
    reply::json(&json!({ "cookies": cookies }))
}

/// Sets a cookie per parameter and redirects to `/cookies`; with `?redirect=0` it answers 200.
fn set(call: &Call<'_>) -> Result<Reply, Refusal> {
    let mut attributes = String::new();
    for name in ATTRIBUTES {
        match call.query().get(name) {
            Some(value) if value.is_empty() => attributes.extend(["; ", name]),
            Some(value) => attributes.extend(["; ", name, "=", &value]),
            None if name == "path" => attributes.push_str("; path=/"),
            None => {}
        }
    }
    let pairs = call
        .query()
        .pairs()
        .filter(|(name, _)| name != "redirect" && !ATTRIBUTES.contains(&&**name));
    let cookies = pairs.map(|(name, value)| format!("{name}={value}{attributes}"));
    send(call, cookies)
}

/// Lets the named cookies expire.
fn delete(call: &Call<'_>) -> Result<Reply, Refusal> {
    let names = call.query().pairs().filter(|(name, _)| name != "redirect");
    send(call, names.map(|(name, _)| format!("{name}=; path=/; max-age=0")))
}

fn send(call: &Call<'_>, cookies: impl Iterator<Item = String>) -> Result<Reply, Refusal> {
    let mut answer = if call.query().parsed("redirect", 1u8)? == 0 {
        reply::text("ok")
    } else {
        let mut redirect = reply::bare(StatusCode::FOUND);
        redirect.headers_mut().insert(LOCATION, HeaderValue::from_static("/cookies"));
        redirect
    };
    for cookie in cookies {
        let value = HeaderValue::try_from(cookie)
            .map_err(|_| reply::bad_request("a cookie cannot have these characters"))?;
        answer.headers_mut().append(SET_COOKIE, value);
    }
    Ok(answer)
}
