//! The caching routes as HTTP: `GET`, `PUT`, `DELETE /{strategy}/{id}`.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use hyper::header::{AGE, CONTENT_TYPE, ETAG, HeaderMap, HeaderName, HeaderValue, IF_NONE_MATCH};
use hyper::{Method, Response, StatusCode};

use super::item::{Change, Loaded};
use super::strategies::Found;
use super::{Absence, Outcome, Strategy, Tier};
use crate::body::Body;
use crate::call::Call;
use crate::reply::{self, Refusal, Reply};

/// Largest body of a write.
const CHANGE_MAX: usize = 64 * 1024;
/// Longest name of an item.
const NAME_MAX: usize = 200;

static X_CACHE: HeaderName = HeaderName::from_static("x-cache");
static X_CACHE_TIER: HeaderName = HeaderName::from_static("x-cache-tier");
static X_CACHE_KEY: HeaderName = HeaderName::from_static("x-cache-key");
static X_CACHE_VERSION: HeaderName = HeaderName::from_static("x-cache-version");
static X_ORIGIN_CALLS: HeaderName = HeaderName::from_static("x-origin-calls");
static X_INSTANCE: HeaderName = HeaderName::from_static("x-instance");

/// Answers `/{strategy}/{id}`.
pub(crate) async fn answer(
    call: &mut Call<'_>,
    strategy: Strategy,
    rest: &str,
) -> Result<Reply, Refusal> {
    let Ok(id) = rest.parse::<u64>() else {
        let message =
            format!("'{rest}' is not an item id: use a number, as in /{}/99", strategy.name());
        return Err(reply::bad_request(message));
    };
    let instance = instance(call, strategy)?;
    let caching = call.app.caching.clone();
    let pitfall = matches!(strategy, Strategy::Immutable | Strategy::Mutable);
    match call.parts.method {
        Method::GET | Method::HEAD => {
            let found = caching.read(strategy, id, instance, &mut call.phases).await;
            let found = found.map_err(refusal)?;
            Ok(respond(call, strategy, instance, found))
        }
        Method::PUT if !pitfall => {
            let change = change(call).await?;
            let written = caching.write(strategy, id, instance, change, &mut call.phases).await;
            let loaded = written.map_err(refusal)?;
            let outcome = Outcome::Bypass;
            let found = Found { loaded, outcome, tier: Tier::Origin, body: None };
            Ok(respond(call, strategy, instance, found))
        }
        Method::DELETE => {
            let forgotten = caching.forget(strategy, id, &mut call.phases).await;
            forgotten.map_err(refusal)?;
            Ok(reply::bare(StatusCode::NO_CONTENT))
        }
        _ if pitfall => Err(reply::wrong_method("GET, HEAD, DELETE")),
        _ => Err(reply::wrong_method("GET, HEAD, PUT, DELETE")),
    }
}

/// The instance that `?instance=k` names, counted from 0; else they take turns.
fn instance(call: &Call<'_>, strategy: Strategy) -> Result<usize, Refusal> {
    if !matches!(strategy, Strategy::TwoTier | Strategy::Event) {
        return Ok(0);
    }
    let count = u64::from(call.app.config.instances);
    match call.query().get("instance") {
        None => Ok((call.app.caching.next_instance.fetch_add(1, Relaxed) % count) as usize),
        Some(text) => match text.parse::<u64>() {
            Ok(index) if index < count => Ok(index as usize),
            _ => Err(reply::bad_request(format!(
                "there is no instance '{text}': 0 to {}",
                count - 1
            ))),
        },
    }
}

async fn change(call: &mut Call<'_>) -> Result<Change, Refusal> {
    let body = call.whole_body(CHANGE_MAX).await?;
    if body.bytes.is_empty() {
        return Ok(Change::default());
    }
    let change: Change =
        serde_json::from_slice(&body.bytes).map_err(|e| reply::bad_request(e.to_string()))?;
    if change.name.as_ref().is_some_and(|name| name.len() > NAME_MAX) {
        return Err(reply::bad_request(format!("a name has at most {NAME_MAX} bytes")));
    }
    Ok(change)
}

fn respond(call: &Call<'_>, strategy: Strategy, instance: usize, found: Found) -> Reply {
    let Found { loaded, outcome, tier, body } = found;
    let mut reply = Response::new(Body::empty());
    let headers = reply.headers_mut();
    headers.reserve(12);
    describe(call, strategy, &loaded, headers);
    headers.insert(X_CACHE.clone(), HeaderValue::from_static(outcome.name()));
    headers.insert(X_CACHE_TIER.clone(), HeaderValue::from_static(tier.name()));
    headers.insert(X_INSTANCE.clone(), HeaderValue::from(instance));
    let known = call.parts.headers.get(IF_NONE_MATCH).is_some_and(|tag| tag == loaded.etag);
    if known && call.is_get() {
        *reply.status_mut() = StatusCode::NOT_MODIFIED;
    } else {
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        *reply.body_mut() = body.unwrap_or_else(|| loaded.body.clone()).into();
    }
    reply
}

fn describe(call: &Call<'_>, strategy: Strategy, loaded: &Arc<Loaded>, headers: &mut HeaderMap) {
    let caching = &call.app.caching;
    let key = HeaderValue::try_from(caching.key(strategy, loaded.id))
        .expect("letters, digits and colons are visible ASCII");
    headers.insert(X_CACHE_KEY.clone(), key);
    headers.insert(X_CACHE_VERSION.clone(), HeaderValue::from(caching.key_version));
    headers.insert(AGE, HeaderValue::from(loaded.age_s()));
    headers.insert(ETAG, loaded.etag.clone());
    let calls = caching.origin_calls(strategy, loaded.id);
    headers.insert(X_ORIGIN_CALLS.clone(), HeaderValue::from(calls));
}

fn refusal(absence: Absence) -> Refusal {
    let (status, message) = match absence {
        Absence::Overloaded => (StatusCode::SERVICE_UNAVAILABLE, "the origin is overloaded"),
        Absence::RedisDown => (StatusCode::SERVICE_UNAVAILABLE, "Redis is down"),
        Absence::NotCached => {
            (StatusCode::NOT_FOUND, "not in the cache: write it, or POST /_demo/warm")
        }
        Absence::Full => {
            (StatusCode::INSUFFICIENT_STORAGE, "too many changed items: POST /_demo/reset")
        }
    };
    reply::refuse(status, message)
}
