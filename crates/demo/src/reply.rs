//! Making answers: text, JSON, refusals; and reading the query that asked for them.

use std::borrow::Cow;
use std::time::Duration;

use bytes::Bytes;
use hyper::header::{ALLOW, CONTENT_TYPE, HeaderValue};
use hyper::{Response, StatusCode};
use serde::Serialize;
use serde_json::json;

use crate::body::Body;

/// An answer on its way out.
pub(crate) type Reply = Response<Body>;

/// An answer that ends the work early. Boxed: it is rare, and the common way stays small.
pub(crate) type Refusal = Box<Reply>;

const TEXT: HeaderValue = HeaderValue::from_static("text/plain; charset=utf-8");
const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// 200 with a text that is part of the program.
pub(crate) fn text(text: &'static str) -> Reply {
    typed(TEXT, Bytes::from_static(text.as_bytes()))
}

/// 200 with bytes of this type.
pub(crate) fn typed(content_type: HeaderValue, bytes: impl Into<Bytes>) -> Reply {
    let mut reply = Response::new(Body::from(bytes.into()));
    reply.headers_mut().insert(CONTENT_TYPE, content_type);
    reply
}

/// 200 with a value as JSON.
pub(crate) fn json(value: &impl Serialize) -> Reply {
    let bytes = serde_json::to_vec(value).expect("plain data always serialises");
    typed(JSON, bytes)
}

/// Any status and no body.
pub(crate) fn bare(status: StatusCode) -> Reply {
    let mut reply = Response::new(Body::empty());
    *reply.status_mut() = status;
    reply
}

/// A refusal: `{"status":…,"error":…}`.
pub(crate) fn refuse(status: StatusCode, message: impl Into<Cow<'static, str>>) -> Refusal {
    let mut reply = json(&json!({ "status": status.as_u16(), "error": message.into() }));
    *reply.status_mut() = status;
    Box::new(reply)
}

/// 400 with a reason.
pub(crate) fn bad_request(message: impl Into<Cow<'static, str>>) -> Refusal {
    refuse(StatusCode::BAD_REQUEST, message)
}

/// 404.
pub(crate) fn not_found() -> Refusal {
    refuse(
        StatusCode::NOT_FOUND,
        "there is no such route; see docs/guide/demo.md for those there are",
    )
}

/// 405 with the methods that are allowed here.
pub(crate) fn wrong_method(allowed: &'static str) -> Refusal {
    let mut reply = refuse(StatusCode::METHOD_NOT_ALLOWED, format!("this route takes {allowed}"));
    reply.headers_mut().insert(ALLOW, HeaderValue::from_static(allowed));
    reply
}

/// The same answer with another status.
pub(crate) fn with_status(mut reply: Reply, status: StatusCode) -> Reply {
    *reply.status_mut() = status;
    reply
}

/// The query of a request, decoded when asked.
#[derive(Clone, Copy)]
pub(crate) struct Query<'a>(pub(crate) &'a str);

impl<'a> Query<'a> {
    /// Names and values in their order.
    pub(crate) fn pairs(self) -> impl Iterator<Item = (Cow<'a, str>, Cow<'a, str>)> {
        url::form_urlencoded::parse(self.0.as_bytes())
    }

    /// The first value of this name.
    pub(crate) fn get(self, name: &str) -> Option<Cow<'a, str>> {
        self.pairs().find(|(n, _)| n == name).map(|(_, value)| value)
    }

    /// A value that parses as `T`, or `default` when it is absent.
    ///
    /// # Errors
    /// A 400 that names the parameter and its value.
    pub(crate) fn parsed<T: std::str::FromStr>(self, name: &str, default: T) -> Result<T, Refusal> {
        match self.get(name) {
            None => Ok(default),
            Some(value) => value
                .parse()
                .map_err(|_| bad_request(format!("parameter '{name}' cannot be '{value}'"))),
        }
    }

    /// A duration: `250`, `250ms`, `1.5s`, `2m`. A bare number is milliseconds.
    pub(crate) fn duration(self, name: &str, default: Duration) -> Result<Duration, Refusal> {
        match self.get(name) {
            None => Ok(default),
            Some(value) => duration(&value).ok_or_else(|| {
                bad_request(format!("parameter '{name}' is not a duration: '{value}'"))
            }),
        }
    }
}

/// Longest delay that anyone may ask for.
pub(crate) const DELAY_MAX: Duration = Duration::from_mins(10);

/// Reads a duration; a bare number is milliseconds. Longer than [`DELAY_MAX`] becomes that.
pub(crate) fn duration(text: &str) -> Option<Duration> {
    brunt_duration::wait::parse_millis(text).ok().map(|delay| delay.min(DELAY_MAX))
}

/// A path or its segment without percent encoding. Broken escapes stay as they are.
pub(crate) fn unescaped(segment: &str) -> String {
    let bytes = segment.as_bytes();
    let mut plain = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let escape = (bytes[at] == b'%').then(|| segment.get(at + 1..at + 3)).flatten();
        if let Some(byte) = escape.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            plain.push(byte);
            at += 3;
        } else {
            plain.push(bytes[at]);
            at += 1;
        }
    }
    String::from_utf8_lossy(&plain).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bare_number_is_milliseconds() {
        assert_eq!(duration("250"), Some(Duration::from_millis(250)));
        assert_eq!(duration("1.5s"), Some(Duration::from_millis(1500)));
        assert_eq!(duration("1m30s"), Some(Duration::from_secs(90)));
        assert_eq!(duration("1.5d"), None);
        assert_eq!(duration("999999999"), Some(DELAY_MAX));
        assert_eq!(duration("-1s"), None);
        assert_eq!(duration("soon"), None);
    }

    #[test]
    fn a_query_is_decoded_and_bad_values_are_named() {
        let query = Query("a=1&b=x%20y&a=2");
        assert_eq!(query.get("b").as_deref(), Some("x y"));
        assert_eq!(query.parsed("a", 0).ok(), Some(1));
        let refusal = query.parsed::<u32>("b", 0).unwrap_err();
        assert_eq!(refusal.status(), 400);
    }

    #[test]
    fn percent_escapes_are_decoded_and_broken_ones_stay() {
        assert_eq!(unescaped("a%40b%3A"), "a@b:");
        assert_eq!(unescaped("100%"), "100%");
        assert_eq!(unescaped("%zz%4"), "%zz%4");
        assert_eq!(unescaped("%é"), "%é");
    }
}
