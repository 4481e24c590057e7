//! Strikes out what is secret, before anything is kept.
//!
//! Known by name: headers, parameters of URLs, fields of forms, of JSON and of other texts whose names speak of passwords, tokens,
//! keys ([`names`], [`addresses`], [`fields`]). Known by value: whatever the caller's veil knows, and whatever was struck out of
//! this exchange by its name, for servers send back what they were sent.

mod addresses;
mod fields;
mod names;

use std::borrow::Cow;
use std::collections::BTreeSet;

use base64::prelude::{BASE64_STANDARD, Engine as _};

pub use self::addresses::address;
use self::names::{is_secret, is_secret_header};
use super::{BODY_MAX, Exchange};

/// In place of a secret.
const STRUCK: &str = "***SECRET_REDACTED***";

/// Shorter values are not looked for elsewhere: they are in every text.
const VALUE_LEAST: usize = 6;
/// More values are not looked for elsewhere.
const VALUES_MAX: usize = 64;

/// Values that were struck out.
#[derive(Default)]
struct Values(BTreeSet<String>);

impl Values {
    fn add(&mut self, value: &str) {
        let value = value.trim();
        let is_known = value.contains(STRUCK) || matches!(value, "undefined" | "[object Object]");
        if value.len() >= VALUE_LEAST && !is_known && self.0.len() < VALUES_MAX {
            self.0.insert(value.to_owned());
        }
    }

    /// A header's value, and the parts of it that are secret alone: `Bearer x`, `a=b; c=d`, `a=b; Path=/`.
    fn add_header(&mut self, lower: &str, value: &str) {
        let cookies = match lower {
            "cookie" => usize::MAX,
            "set-cookie" => 1,
            _ => 0,
        };
        if cookies > 0 {
            let pairs = value.split("; ").take(cookies).filter_map(|pair| pair.split_once('='));
            pairs.for_each(|(_, value)| self.add(value));
            return;
        }
        self.add(value);
        let Some((scheme, rest)) = value.trim().split_once(' ') else { return };
        if !rest.trim_end_matches('=').contains(['=', ' ']) {
            self.add(rest);
        }
        let decoded = scheme.eq_ignore_ascii_case("basic").then(|| BASE64_STANDARD.decode(rest));
        if let Some(Ok(decoded)) = decoded
            && let Some((_, password)) = String::from_utf8_lossy(&decoded).split_once(':')
        {
            self.add(password);
        }
    }

    /// The text without them.
    fn out_of<'a>(&self, text: &'a str) -> Cow<'a, str> {
        // The longest first: one may be a part of another.
        let mut values: Vec<&String> = self.0.iter().collect();
        values.sort_by_key(|value| std::cmp::Reverse(value.len()));
        let mut text = Cow::Borrowed(text);
        for value in values {
            if text.contains(value.as_str()) {
                text = Cow::Owned(text.replace(value.as_str(), STRUCK));
            }
        }
        text
    }
}

/// A text without the secrets in it; nothing if there are none.
type Veil<'a> = &'a dyn Fn(&str) -> Option<String>;

pub(super) fn exchange(exchange: &mut Exchange, veil: Veil<'_>) {
    let mut values = Values::default();
    let hide = |text: &mut String| {
        if let Some(clean) = veil(text) {
            *text = clean;
        }
    };
    exchange.url = addresses::struck(&exchange.url, &mut values);
    exchange.name = addresses::struck(&exchange.name, &mut values);
    for text in [&mut exchange.url, &mut exchange.name, &mut exchange.scenario] {
        hide(text);
    }
    if let Some(error) = &mut exchange.error {
        *error = addresses::within(error);
        hide(error);
    }
    for (name, value) in exchange.request_headers.iter_mut().chain(&mut exchange.response_headers) {
        let lower = name.to_ascii_lowercase();
        if is_secret_header(&lower) || is_secret(name) {
            values.add_header(&lower, value);
            STRUCK.clone_into(value);
        } else if matches!(&*lower, "location" | "referer" | "content-location") {
            *value = addresses::struck(value, &mut values);
        } else {
            *value = addresses::within(value);
        }
        hide(name);
        hide(value);
    }
    let is_packed = |(name, value): &(String, String)| {
        name.eq_ignore_ascii_case("content-encoding") && !matches!(value.trim(), "" | "identity")
    };
    if exchange.request_headers.iter().any(is_packed) {
        // It can't be searched.
        exchange.request_body = None;
    }
    if let Some(part) = &mut exchange.request_body {
        body(part, veil, &mut values);
    }
    if let Some(part) = &mut exchange.response_body {
        // Its words are not looked for elsewhere: a text of any kind has fields that only look secret.
        body(part, veil, &mut Values::default());
    }
    again(exchange, &values);
}

/// Once more with all values that are known now.
fn again(exchange: &mut Exchange, values: &Values) {
    if values.0.is_empty() {
        return;
    }
    let headers = exchange.request_headers.iter_mut().chain(&mut exchange.response_headers);
    let texts = [&mut exchange.url, &mut exchange.name].into_iter();
    for text in texts.chain(&mut exchange.error).chain(headers.map(|(_, value)| value)) {
        if let Cow::Owned(clean) = values.out_of(text) {
            *text = clean;
        }
    }
    for part in [&mut exchange.request_body, &mut exchange.response_body].into_iter().flatten() {
        let letters = letters(part);
        if let Cow::Owned(clean) = values.out_of(&letters) {
            *part = bytes(&clean);
            cut(part);
        }
    }
}

/// A body without its secrets, cut.
fn body(body: &mut Vec<u8>, veil: Veil<'_>, values: &mut Values) {
    // A secret across the cut would be unknown on both sides of it: the search sees a little more.
    const MORE: usize = 16 << 10;
    body.truncate(BODY_MAX + MORE);
    if let Some(clean) = veil(&String::from_utf8_lossy(body)) {
        *body = clean.into_bytes();
    }
    if let Some(clean) = fields::struck(&letters(body), values) {
        *body = bytes(&clean);
    }
    cut(body);
}

/// As much as is kept, and no part of a letter.
fn cut(body: &mut Vec<u8>) {
    let is_cut = body.len() > BODY_MAX;
    body.truncate(BODY_MAX);
    if let Err(error) = std::str::from_utf8(body)
        && is_cut
        && error.error_len().is_none()
    {
        body.truncate(error.valid_up_to());
    }
}

/// Each byte as a letter: so fields are found between bytes that are no text, and nothing else changes.
fn letters(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| char::from(*byte)).collect()
}

/// The bytes of such letters; secrets were replaced with plain ones.
fn bytes(letters: &str) -> Vec<u8> {
    letters.chars().map(|letter| u8::try_from(letter).unwrap_or(b'?')).collect()
}

#[cfg(test)]
mod tests;
