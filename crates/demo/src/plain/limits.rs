//! `/flaky` fails now and then; `/ratelimit` refuses what is too much.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use hyper::StatusCode;
use hyper::header::{HeaderValue, RETRY_AFTER};
use tokio::time::Instant;

use crate::app::Call;
use crate::reply::{self, Refusal, Reply};

/// Keys that are counted apart; when full, the windows begin anew.
const KEYS_MAX: usize = 1024;
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

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Turn {
    /// How many more there are in this window.
    Granted(u64),
    /// How long until the next window.
    Refused(Duration),
}

/// A fixed window per key.
#[derive(Debug, Default)]
pub(super) struct Windows {
    by_key: Mutex<HashMap<String, (Instant, u64)>>,
}

impl Windows {
    fn enter(&self, key: &str, limit: u64, per: Duration, now: Instant) -> Turn {
        let mut windows = self.by_key.lock().unwrap_or_else(PoisonError::into_inner);
        if windows.len() >= KEYS_MAX && !windows.contains_key(key) {
            windows.clear();
        }
        let (begin, count) = windows.entry(key.to_owned()).or_insert((now, 0));
        if now.duration_since(*begin) >= per {
            (*begin, *count) = (now, 0);
        }
        if *count < limit {
            *count += 1;
            Turn::Granted(limit - *count)
        } else {
            Turn::Refused(per.saturating_sub(now.duration_since(*begin)))
        }
    }

    pub(super) fn clear(&self) {
        self.by_key.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_grants_its_limit_and_then_tells_when_to_come_back() {
        let (windows, now) = (Windows::default(), Instant::now());
        let second = Duration::from_secs(1);
        assert_eq!(windows.enter("a", 2, second, now), Turn::Granted(1));
        assert_eq!(windows.enter("a", 2, second, now), Turn::Granted(0));
        let later = now + Duration::from_millis(300);
        assert_eq!(windows.enter("a", 2, second, later), Turn::Refused(Duration::from_millis(700)));
        assert_eq!(windows.enter("b", 2, second, later), Turn::Granted(1));
        assert_eq!(windows.enter("a", 2, second, now + second), Turn::Granted(1));
    }

    #[test]
    fn keys_are_limited_in_number() {
        let (windows, now) = (Windows::default(), Instant::now());
        for key in 0..5000 {
            windows.enter(&key.to_string(), 1, Duration::from_secs(1), now);
        }
        assert!(windows.by_key.lock().unwrap().len() <= KEYS_MAX);
    }
}
