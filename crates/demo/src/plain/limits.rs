//! `/flaky` fails now and then; `/ratelimit` refuses what is too much.

use std::time::Duration;

use hyper::StatusCode;
use hyper::header::{HeaderValue, RETRY_AFTER};
use tokio::time::Instant;

use super::windows::Turn;
use crate::call::Call;
use crate::reply::{self, Refusal, Reply};

/// Longest key.
const KEY_SIZE_MAX: usize = 128;

/// Fails with probability `p` (default 0.1) and `status` (default 503).
pub(super) fn flaky(call: &Call<'_>) -> Result<Reply, Refusal> {
    let probability: f64 = call.query().parsed("p", 0.1)?;
    let status = call.query().parsed("status", 503u16)?;
    let status = StatusCode::from_u16(status).ok().filter(|s| s.as_u16() >= 200);
    let status =
        status.ok_or_else(|| reply::bad_request("parameter 'status' is not a final status"))?;
    if call.app.dice.chance(probability) {
        return Err(reply::refuse(status, "flaky, as asked for"));
    }
    Ok(reply::text("ok"))
}

/// Answers `limit` requests (default 10) in each window of `per` (default 1 s) for each `key`, and
/// 429 with `Retry-After` beyond.
pub(super) fn rate_limit(call: &Call<'_>) -> Result<Reply, Refusal> {
    let limit = call.query().parsed("limit", 10u64)?;
    let per = call.query().duration("per", Duration::from_secs(1))?.max(Duration::from_millis(1));
    let key = call.query().get("key").unwrap_or_default();
    if key.len() > KEY_SIZE_MAX {
        return Err(reply::bad_request(format!("a key has at most {KEY_SIZE_MAX} bytes")));
    }
    let turn = call.app.plain.windows.enter(&key, limit, per, Instant::now());
    let mut answer = match turn {
        Turn::Granted(_) => reply::text("ok"),
        Turn::Refused(_) => *reply::refuse(StatusCode::TOO_MANY_REQUESTS, "too many requests"),
    };
    let headers = answer.headers_mut();
    headers.insert("x-ratelimit-limit", HeaderValue::from(limit));
    match turn {
        Turn::Granted(left) => {
            headers.insert("x-ratelimit-remaining", HeaderValue::from(left));
        }
        Turn::Refused(wait) => {
            headers.insert("x-ratelimit-remaining", HeaderValue::from(0));
            headers.insert(RETRY_AFTER, HeaderValue::from(wait.as_secs_f64().ceil() as u64));
        }
    }
    Ok(answer)
}
