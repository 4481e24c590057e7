//! Which question is answered by whom.

use std::{convert::Infallible, time::Duration};

use bytes::Bytes;
use http_body_util::{BodyExt as _, Limited};
use hyper::{Method, Request, StatusCode, body::Incoming};

use super::{
    Told,
    answer::{self, Answer},
    groups, metrics, process, setup, status,
};

/// The maximum number of bytes of a request's body, which is setup data in most cases.
const BODY_MOST: usize = 64 << 20;

/// And so long to come: whoever sends a head and falls silent must not keep others out.
const BODY_WAIT: Duration = Duration::from_secs(30);

/// Answers. Nothing that is asked can fail more than with a status.
pub(crate) async fn answer(told: &Told, request: Request<Incoming>) -> Result<Answer, Infallible> {
    let method = request.method().clone();
    let path = request.uri().path().to_owned();
    let body = Limited::new(request.into_body(), BODY_MOST).collect();
    let body = tokio::time::timeout(BODY_WAIT, body).await;
    let Ok(Ok(body)) = body.map(|body| body.map(http_body_util::Collected::to_bytes)) else {
        let detail = "the request's body is cut short, too slow or too large";
        return Ok(answer::error(
            StatusCode::BAD_REQUEST,
            answer::JSON_UTF8,
            "Invalid data",
            detail,
        ));
    };
    Ok(route(told, &method, &path, body).await)
}

async fn route(told: &Told, method: &Method, path: &str, body: Bytes) -> Answer {
    let get = *method == Method::GET;
    match path {
        "/v1/status" if get => status::show(told).await,
        "/v1/status" if *method == Method::PATCH => status::change(told, &body).await,
        "/v1/metrics" if get => metrics::all(told).await,
        "/v1/groups" if get => groups::all(told).await,
        "/v1/setup" => match *method {
            Method::GET => setup::show(told),
            Method::POST => setup::run(told).await,
            Method::PUT => setup::put(told, &body).await,
            _ => answer::empty(StatusCode::METHOD_NOT_ALLOWED),
        },
        "/v1/teardown" if *method == Method::POST => setup::teardown(told).await,
        "/v1/status" | "/v1/metrics" | "/v1/groups" | "/v1/teardown" => {
            answer::empty(StatusCode::METHOD_NOT_ALLOWED)
        }
        "/metrics" => process::metrics(told),
        _ => {
            if let Some(name) = path.strip_prefix("/v1/metrics/") {
                return only(get, metrics::one(told, &unescaped(name))).await;
            }
            if let Some(id) = path.strip_prefix("/v1/groups/") {
                return only(get, groups::one(told, id)).await;
            }
            if path.starts_with("/debug/pprof") {
                return process::profiling(told);
            }
            if path.starts_with("/v1/") {
                return answer::of(StatusCode::NOT_FOUND, answer::TEXT, "404 page not found\n");
            }
            // k6 says this to everything else.
            answer::text("ok")
        }
    }
}

async fn only(is_get: bool, asked: impl Future<Output = Answer>) -> Answer {
    if is_get { asked.await } else { answer::empty(StatusCode::METHOD_NOT_ALLOWED) }
}

/// A path's part with its percent signs resolved: names of submetrics have braces.
fn unescaped(part: &str) -> String {
    let mut bytes = Vec::with_capacity(part.len());
    let mut rest = part.as_bytes();
    while let [first, tail @ ..] = rest {
        let hex = tail.get(..2).and_then(|hex| std::str::from_utf8(hex).ok());
        match hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) if *first == b'%' => {
                bytes.push(byte);
                rest = &tail[2..];
            }
            _ => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::unescaped;

    #[test]
    fn names_in_paths_are_unescaped() {
        assert_eq!(unescaped("my%7Ba:b%7D"), "my{a:b}");
        assert_eq!(unescaped("100%"), "100%");
        assert_eq!(unescaped("%zz%4"), "%zz%4");
    }
}
