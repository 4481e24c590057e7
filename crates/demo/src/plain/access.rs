//! `/basic/{user}/{password}` and `/bearer`.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hyper::StatusCode;
use hyper::header::{AUTHORIZATION, HeaderValue, WWW_AUTHENTICATE};
use serde_json::json;

use crate::app::Call;
use crate::reply::{self, Refusal, Reply};

/// 200 for the user and password that the path names, else 401 with a challenge.
pub(super) fn basic(call: &Call<'_>, rest: &str) -> Result<Reply, Refusal> {
    let Some((user, password)) = rest.split_once('/') else {
        return Err(reply::bad_request("use /basic/{user}/{password}"));
    };
    let expected = format!("{}:{}", decoded(user), decoded(password));
    let given = credentials(call, "Basic").and_then(|text| STANDARD.decode(text).ok());
    if given.as_deref() == Some(expected.as_bytes()) {
        Ok(reply::json(&json!({ "authenticated": true, "user": decoded(user) })))
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

/// A path segment without its percent encoding.
fn decoded(segment: &str) -> String {
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
    fn percent_escapes_are_decoded_and_broken_ones_stay() {
        assert_eq!(decoded("a%40b%3A"), "a@b:");
        assert_eq!(decoded("100%"), "100%");
        assert_eq!(decoded("%zz%4"), "%zz%4");
        assert_eq!(decoded("%é"), "%é");
    }
}
