//! Exports without secrets: Chrome leaves out cookies and `Authorization` unless the user wishes otherwise.
//!
//! The jar of a script gets its cookies from the server. The value of `Authorization` must be told from the answers: a token that
//! an answer gave under a telling name was sent with the calls that follow.

use std::time::Duration;

use serde_json::Value;

use super::entry::Read;
use crate::{Exchange, Resource};

/// Answers of more bytes hold data.
const ANSWER_MAX: usize = 256 * 1024;

/// Levels of JSON that are looked at.
const DEPTH_MAX: usize = 6;

/// Letters of the shortest token.
const TOKEN_MIN: usize = 16;

/// Names of tokens that are sent as `Bearer`, without `_`, `-` and case.
const NAMES: [&str; 6] = ["accesstoken", "authtoken", "bearertoken", "apitoken", "jwttoken", "jwt"];

/// Names of tokens of any kind: a JSON Web Token under one of them is sent as `Bearer`.
const LOOSE_NAMES: [&str; 3] = ["token", "idtoken", "authorization"];

/// Whether no header has a secret, though a password was sent.
pub(super) fn has_no_secrets(entries: &[Read]) -> bool {
    const SECRET: [&str; 3] = ["cookie", "set-cookie", "authorization"];
    let mut headers = entries.iter().flat_map(|read| {
        let response = read.exchange.response.as_ref();
        let of_response = response.into_iter().flat_map(|response| response.headers.iter());
        read.exchange.request.headers.iter().chain(of_response)
    });
    let is_secret = |name: &str| SECRET.iter().any(|own| own.eq_ignore_ascii_case(name));
    let mut bodies = entries.iter().filter_map(|read| read.exchange.request.body.in_memory());
    let is_login = |body: &[u8]| {
        let begin = String::from_utf8_lossy(&body[..body.len().min(4096)]).to_ascii_lowercase();
        ["passw", "passwd", "pwd"].iter().any(|word| begin.contains(word))
    };
    !headers.any(|(name, _)| is_secret(name)) && bodies.any(is_login)
}

/// A token that an answer gave.
struct Token {
    exchange: usize,
    done: Duration,
    site: String,
    text: String,
}

/// Adds `Authorization: Bearer` with the newest token of its site to each call that follows the token's answer. Returns to how many.
pub(super) fn add_bearers(exchanges: &mut [Exchange]) -> u64 {
    let mut tokens: Vec<Token> = exchanges
        .iter()
        .enumerate()
        .filter_map(|(index, exchange)| {
            let text = token_of(exchange)?;
            Some(Token { exchange: index, done: exchange.done, site: site(exchange), text })
        })
        .collect();
    // A token that has a header of its own isn't a bearer's.
    tokens.retain(|token| {
        let mut headers = exchanges.iter().flat_map(|exchange| exchange.request.headers.iter());
        !headers.any(|(_, value)| value.contains(&token.text))
    });
    let mut count = 0;
    for (index, exchange) in exchanges.iter_mut().enumerate() {
        let gives_one = tokens.iter().any(|token| token.exchange == index);
        if gives_one || exchange.resource != Some(Resource::Fetch) {
            continue;
        }
        let own = site(exchange);
        let newest = tokens
            .iter()
            .filter(|token| token.done <= exchange.sent && token.site == own)
            .max_by_key(|token| token.done);
        if let Some(token) = newest {
            let value = format!("Bearer {}", token.text);
            exchange.request.headers.0.push(("Authorization".to_owned(), value));
            count += 1;
        }
    }
    count
}

/// The last two labels of its host: `api.shop.test` is of `shop.test`.
fn site(exchange: &Exchange) -> String {
    let host = exchange.request.url.host_str().unwrap_or_default();
    if exchange.request.url.domain().is_none() {
        return host.to_owned();
    }
    let begin = host.rmatch_indices('.').nth(1).map_or(0, |(at, _)| at + 1);
    host[begin..].to_owned()
}

fn token_of(exchange: &Exchange) -> Option<String> {
    let response = exchange.response.as_ref()?;
    let is_data = response.headers.media_type().ends_with("json");
    let body = response.body.in_memory()?;
    if !is_data || !(200..300).contains(&response.status) || body.len() > ANSWER_MAX {
        return None;
    }
    let value: Value = serde_json::from_slice(body).ok()?;
    token_in(&value, &NAMES, 0, |_| true)
        .or_else(|| token_in(&value, &LOOSE_NAMES, 0, is_web_token))
}

/// The first text under one of these names.
fn token_in(
    value: &Value,
    names: &[&str],
    depth: usize,
    is_one: fn(&str) -> bool,
) -> Option<String> {
    let members = value.as_object().filter(|_| depth < DEPTH_MAX)?;
    let own = members.iter().find_map(|(name, value)| {
        let plain: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
        let plain = plain.to_ascii_lowercase();
        let text = value.as_str().filter(|_| names.contains(&plain.as_str()))?;
        let is_token = text.len() >= TOKEN_MIN && text.bytes().all(|byte| byte.is_ascii_graphic());
        (is_token && is_one(text)).then(|| text.to_owned())
    });
    own.or_else(|| members.values().find_map(|value| token_in(value, names, depth + 1, is_one)))
}

/// Three parts, of which the first is JSON in base64.
fn is_web_token(text: &str) -> bool {
    text.starts_with("eyJ") && text.split('.').count() == 3
}
