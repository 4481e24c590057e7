//! The image handler as HTTP: `GET /{object}?x-oss-process=…`, `POST /images`, `/debug`.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use hyper::header::{CONTENT_TYPE, HeaderName, HeaderValue, RETRY_AFTER};
use hyper::{Method, Response, StatusCode};
use serde::Deserialize;
use serde_json::json;

use super::request::{self, Misunderstood, Task};
use super::store::Full;
use super::{Failure, Images, Key, Landing};
use crate::body::Body;
use crate::call::Call;
use crate::lru::Lookup;
use crate::reply::{self, Refusal, Reply};
use crate::routes::Route;

/// Largest body of `POST /images`.
const SAVE_MAX: usize = 64 * 1024;
/// Longest name of an object or bucket.
const NAME_MAX: usize = 1024;
/// The bucket when no `x-bucket` is sent.
const BUCKET: &str = "demo";
/// The body of a 429, as in the reference: 56 bytes.
const BUSY: &str = r#"{"message":"Too many requests, please try again later."}"#;

static X_BUCKET: HeaderName = HeaderName::from_static("x-bucket");
static X_CACHE: HeaderName = HeaderName::from_static("x-cache");
static X_CACHED_RESPONSE: HeaderName = HeaderName::from_static("x-cached-response");
static X_CLIENT_AUTHORIZATION: HeaderName = HeaderName::from_static("x-client-authorization");
static X_INSTANCE: HeaderName = HeaderName::from_static("x-instance");
static X_QUEUE: HeaderName = HeaderName::from_static("x-queue");

/// Answers a route of the image handler.
pub(crate) async fn answer(call: &mut Call<'_>, route: Route) -> Result<Reply, Refusal> {
    match (route, &call.parts.method) {
        (Route::Image, _) if call.is_get() => object(call).await,
        (Route::Debug, _) if call.is_get() => Err(debug(call)),
        (Route::SaveImage, &Method::POST) => save(call).await,
        (Route::SaveImage, _) => Err(reply::wrong_method("POST")),
        _ => Err(reply::wrong_method("GET, HEAD")),
    }
}

/// A refusal in the reference's form.
fn refuse(status: StatusCode, name: &str, message: &str) -> Refusal {
    let body = json!({ "status": status.as_u16(), "name": name, "message": message });
    Box::new(reply::with_status(reply::json(&body), status))
}

fn bad_request(message: &str) -> Refusal {
    refuse(StatusCode::BAD_REQUEST, "BadRequestError", message)
}

fn not_found(message: &str) -> Refusal {
    refuse(StatusCode::NOT_FOUND, "NotFound", message)
}

impl From<Misunderstood> for Refusal {
    fn from(misunderstood: Misunderstood) -> Self {
        match misunderstood {
            Misunderstood::Wrong(sentence) => bad_request(&sentence),
            Misunderstood::NoStyle(name) => not_found(&format!("there is no style '{name}'")),
        }
    }
}

async fn object(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    let images = call.app.images.clone();
    let index = images.next_instance();
    let counts = &images.instances[index].counts;
    let bucket = call.header(&X_BUCKET).unwrap_or(BUCKET).to_owned();
    let address = call.parts.uri.path_and_query().map_or("/", |both| both.as_str());
    let key: Key = format!("{bucket} {address}").into();

    let seen = match images.look(index, &key) {
        Lookup::Hit(answer) => {
            counts.hit.fetch_add(1, Relaxed);
            let landing = Landing {
                result: Ok(answer),
                phases: crate::timing::Phases::default(),
                waiting: 0,
            };
            return Ok(respond(call, &images, index, "hit", landing));
        }
        Lookup::Expired => ("expired", &counts.expired),
        Lookup::Miss => ("miss", &counts.miss),
    };
    let wanted = request::read(&call.parts.uri)?;
    if wanted.task == Task::Original && !images.config.allow_original {
        return Err(refuse(
            StatusCode::FORBIDDEN,
            "ForbiddenError",
            "no action is asked for: visit the store directly (or start with --allow-original)",
        ));
    }
    let object = images.store.find(&bucket, &wanted.object);
    let object =
        object.ok_or_else(|| not_found(&format!("there is no object '{}'", wanted.object)))?;
    let load = images.clone().land(index, key.clone(), object, wanted.task);
    let (landing, ours) = if images.config.single_flight {
        images.instances[index].flights.join(key, load).await
    } else {
        (tokio::spawn(load).await.ok(), true)
    };
    let (said, count) = if ours { seen } else { ("coalesced", &counts.coalesced) };
    count.fetch_add(1, Relaxed);
    let broken = Landing {
        result: Err(Failure::Broken),
        phases: crate::timing::Phases::default(),
        waiting: 0,
    };
    Ok(respond(call, &images, index, said, landing.unwrap_or(broken)))
}

fn respond(
    call: &mut Call<'_>,
    images: &Images,
    index: usize,
    said: &'static str,
    landing: Landing,
) -> Reply {
    call.phases.add(&landing.phases);
    let mut reply = match landing.result {
        Ok(answer) => {
            let mut reply = Response::new(Body::empty());
            answer.describe(reply.headers_mut());
            if answer.is_known_by(&call.parts.headers) {
                *reply.status_mut() = StatusCode::NOT_MODIFIED;
            } else {
                let content_type = HeaderValue::from_static(answer.content_type);
                reply.headers_mut().insert(CONTENT_TYPE, content_type);
                *reply.body_mut() = answer.bytes.clone().into();
            }
            if said == "hit" {
                reply
                    .headers_mut()
                    .insert(X_CACHED_RESPONSE.clone(), HeaderValue::from_static("HIT"));
            }
            reply
        }
        Err(failure) => *failed(images, failure),
    };
    let headers = reply.headers_mut();
    headers.insert(X_CACHE.clone(), HeaderValue::from_static(said));
    headers.insert(X_INSTANCE.clone(), HeaderValue::from(index));
    headers.insert(X_QUEUE.clone(), HeaderValue::from(landing.waiting));
    reply
}

fn failed(images: &Images, failure: Failure) -> Refusal {
    match failure {
        Failure::Busy => {
            let content_type = HeaderValue::from_static("application/json");
            let reply = reply::typed(content_type, BUSY.as_bytes());
            let mut reply = reply::with_status(reply, StatusCode::TOO_MANY_REQUESTS);
            if let Some(seconds) = images.config.retry_after {
                reply.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
            }
            Box::new(reply)
        }
        Failure::Impossible(sentence) => bad_request(&sentence),
        Failure::Broken => {
            let status = StatusCode::INTERNAL_SERVER_ERROR;
            refuse(status, "InternalServerError", "the work broke off")
        }
    }
}

/// The body of `POST /images`. A missing member is empty, and refused as that.
#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct Save {
    params: String,
    source_bucket: String,
    source_object: String,
    target_bucket: String,
    target_object: String,
}

impl Save {
    fn complaint(&self) -> Option<String> {
        let members = [
            ("params", &self.params),
            ("sourceBucket", &self.source_bucket),
            ("sourceObject", &self.source_object),
            ("targetBucket", &self.target_bucket),
            ("targetObject", &self.target_object),
        ];
        for (name, text) in members {
            if text.is_empty() {
                return Some(format!("'{name}' is missing"));
            }
            if name != "params" && text.len() > NAME_MAX {
                return Some(format!("'{name}' has more than {NAME_MAX} bytes"));
            }
        }
        None
    }
}

/// Makes a picture and stores it under another name.
async fn save(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    let images = call.app.images.clone();
    if call.header(&X_CLIENT_AUTHORIZATION) != Some(images.config.secret.as_str()) {
        return Err(bad_request("X-Client-Authorization does not say the secret"));
    }
    let body = call.whole_body(SAVE_MAX).await?;
    let save: Save =
        serde_json::from_slice(&body.bytes).map_err(|error| bad_request(&error.to_string()))?;
    drop(body);
    if let Some(complaint) = save.complaint() {
        return Err(bad_request(&complaint));
    }
    let task = request::task(&save.params)?;
    let source = save.source_object.trim_start_matches('/');
    let object = images.store.find(&save.source_bucket, source);
    let object = object.ok_or_else(|| not_found(&format!("there is no object '{source}'")))?;
    let index = images.next_instance();
    let instance = &images.instances[index];
    let landing = images.make(instance, object, task).await;
    let count = match &landing.result {
        Err(Failure::Busy) => &instance.counts.refused,
        _ => &instance.counts.made,
    };
    count.fetch_add(1, Relaxed);
    let target = save.target_object.trim_start_matches('/');
    let landing = match landing.result {
        Ok(answer) => {
            let (bytes, content_type) = (answer.bytes.clone(), answer.content_type);
            let stored = images.store.save(&save.target_bucket, target, bytes, content_type);
            stored.map_err(|Full| {
                let message = "the store is full: POST /_demo/reset empties it";
                refuse(StatusCode::INSUFFICIENT_STORAGE, "InsufficientStorage", message)
            })?;
            let told = json!({
                "saved": format!("{}/{target}", save.target_bucket),
                "bytes": answer.bytes.len(),
            });
            Landing { result: Ok(Arc::new(super::Answer::json(&told))), ..landing }
        }
        Err(failure) => Landing { result: Err(failure), ..landing },
    };
    Ok(respond(call, &images, index, "bypass", landing))
}

/// The internals go to the log, not to the client.
fn debug(call: &Call<'_>) -> Refusal {
    let internals = call.app.images.report().to_string();
    log::info!(internals = internals.as_str(); "image handler");
    bad_request("the internals are in the server's log")
}
