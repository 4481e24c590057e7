//! `/basic/{user}/{password}` and `/bearer`.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hyper::StatusCode;
use hyper::header::{AUTHORIZATION, HeaderValue, WWW_AUTHENTICATE};
use serde_json::json;

use crate::call::Call;
use crate::reply::{self, Refusal, Reply};

/// 200 for the user and password that the path names, else 401 with a challenge.
pub(super) fn basic(call: &Call<'_>, rest: &str) -> Result<Reply, Refusal> {
    let Some((user, password)) = rest.split_once('/') else {
        return Err(reply::bad_request("use /basic/{user}/{password}"));
    };
    let expected = format!("{}:{}", reply::unescaped(user), reply::unescaped(password));
    let given = credentials(call, "Basic").and_then(|text| STANDARD.decode(text).ok());
    if given.as_deref() == Some(expected.as_bytes()) {
        Ok(reply::json(&json!({ "authenticated": true, "user": reply::unescaped(user) })))
    } else {
        Err(unauthorized("Basic realm=\"brunt demo\""))
    }
}

/// 200 for any bearer token, else 401.
pub(super) fn bearer(call: &Call<'_>) -> Result<Reply, Refusal> {
    match credentials(call, "Bearer").filter(|token| !token.is_empty()) {
        Some(token) => Ok(reply::json(&json!({ "authenticated": true, "token": token }))),
        None => Err(unauthorized("Bearer")),
    }
}

fn credentials<'a>(call: &'a Call<'_>, scheme: &str) -> Option<&'a str> {
    let (given, credentials) = call.header(AUTHORIZATION)?.split_once(' ')?;
    given.eq_ignore_ascii_case(scheme).then(|| credentials.trim())
}

fn unauthorized(challenge: &'static str) -> Refusal {
    let mut answer = reply::refuse(StatusCode::UNAUTHORIZED, "credentials are missing or wrong");
    answer.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static(challenge));
    answer
}
