//! The envelopes of answers.

use bytes::Bytes;
use http_body_util::Full;
use hyper::{Response, StatusCode, header::CONTENT_TYPE};
use serde_json::{Value, json};

pub(crate) type Answer = Response<Full<Bytes>>;

/// The media type of answers.
pub(super) const JSON_UTF8: &str = "application/json; charset=utf-8";
pub(super) const JSON: &str = "application/json";
/// k6 names none for metrics and groups, and Go guesses this.
pub(super) const TEXT: &str = "text/plain; charset=utf-8";

pub(super) fn of(status: StatusCode, kind: &'static str, body: impl Into<Bytes>) -> Answer {
    let mut answer = Response::new(Full::new(body.into()));
    *answer.status_mut() = status;
    answer.headers_mut().insert(CONTENT_TYPE, hyper::header::HeaderValue::from_static(kind));
    answer
}

/// `{"data": …}`
pub(super) fn data(kind: &'static str, value: &Value) -> Answer {
    of(StatusCode::OK, kind, json!({ "data": value }).to_string())
}

pub(super) fn text(body: impl Into<Bytes>) -> Answer {
    of(StatusCode::OK, TEXT, body)
}

/// Without a body.
pub(super) fn empty(status: StatusCode) -> Answer {
    let mut answer = Response::new(Full::new(Bytes::new()));
    *answer.status_mut() = status;
    answer
}

/// `{"errors": […]}`
pub(super) fn error(status: StatusCode, kind: &'static str, title: &str, detail: &str) -> Answer {
    let code = status.as_u16().to_string();
    let body = json!({ "errors": [{ "status": code, "title": title, "detail": detail }] });
    of(status, kind, body.to_string())
}
