//! Values that the client made: times, UUIDs, nonces.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest as _, Sha256};

use crate::plan::MadeKind;
use crate::values::{Strength, is_base64url, is_hex, is_number, is_uuid, key_of, strength};

/// Names of values that clients make, by the end of their normalized form.
const NONCES: [&str; 24] = [
    "nonce",
    "state",
    "requestid",
    "correlationid",
    "traceid",
    "spanid",
    "transactionid",
    "idempotencykey",
    "messageid",
    "mutationid",
    "codeverifier",
    "codechallenge",
    "verifier",
    "random",
    "rand",
    "rnd",
    "cachebuster",
    "cb",
    "clientid4",
    "sessionkey",
    "boundary",
    "uid",
    "callid",
    "guid",
];

/// Names of values that are the application's, however random they look.
const CONSTANTS: [&str; 18] = [
    "clientid",
    "appid",
    "applicationid",
    "tenant",
    "tenantid",
    "audience",
    "resource",
    "hash",
    "sha256hash",
    "integrity",
    "build",
    "buildid",
    "version",
    "commit",
    "release",
    "publickey",
    "sitekey",
    "measurementid",
];

/// Whether a name is that of a constant of the application.
pub(crate) fn is_constant_name(name: &str) -> bool {
    let key = key_of(name);
    CONSTANTS.iter().any(|end| key.ends_with(end))
}

/// Whether a name is that of a random value of the client.
fn is_nonce_name(name: &str) -> bool {
    let key = key_of(name);
    NONCES.iter().any(|end| key.ends_with(end)) || name == "_"
}

/// The times between which the session lies, in milliseconds since 1970.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Span {
    begin: i64,
    end: i64,
    is_known: bool,
}

impl Span {
    /// A day around the recording; all of this century if it does not tell when it was.
    pub(crate) fn of(recording: &brunt_traffic::Recording) -> Self {
        const DAY: i64 = 86_400_000;
        match recording.began {
            Some(began) => {
                let begin = began.saturating_mul(1_000);
                Self {
                    begin: begin.saturating_sub(DAY),
                    end: begin.saturating_add(DAY),
                    is_known: true,
                }
            }
            None => Self { begin: 1_500_000_000_000, end: 4_000_000_000_000, is_known: false },
        }
    }

    fn has(self, ms: i64) -> bool {
        (self.begin..=self.end).contains(&ms)
    }
}

/// How a client would make this text; `None` if it looks like nothing that clients make.
pub(crate) fn kind(text: &str, name: &str, span: Span) -> Option<MadeKind> {
    if is_constant_name(name) {
        return None;
    }
    if is_uuid(text) {
        return Some(MadeKind::Uuid);
    }
    if is_number(text) {
        let number: i64 = text.parse().unwrap_or(0);
        if text.len() == 13 && span.has(number) {
            return Some(MadeKind::Milliseconds);
        }
        let is_time_name = ["_", "t", "ts", "time", "timestamp", "now", "cb", "nocache", "r", "dc"]
            .contains(&name)
            || key_of(name).ends_with("time")
            || key_of(name).ends_with("timestamp");
        if text.len() == 10
            && span.has(number.saturating_mul(1_000))
            && (span.is_known || is_time_name)
        {
            return Some(MadeKind::Seconds);
        }
        if text.len() >= 8 && is_nonce_name(name) {
            return Some(MadeKind::Digits(text.len()));
        }
        return None;
    }
    if is_moment(text) && millis(text).is_some_and(|ms| span.has(ms)) {
        return Some(MadeKind::Timestamp);
    }
    if !is_nonce_name(name) || text.len() < 8 {
        return None;
    }
    let has_digit = text.bytes().any(|byte| byte.is_ascii_digit());
    if is_hex(text) && has_digit {
        return Some(MadeKind::Hex(text.len()));
    }
    // `InProgress` of a field `state` is a word.
    let is_random = strength(text) == Strength::Strong;
    if text.bytes().all(|byte| byte.is_ascii_alphanumeric()) && text.len() < 20 && is_random {
        return Some(MadeKind::Alphanumeric(text.len()));
    }
    (is_base64url(text) && text.len() >= 16 && is_random).then_some(MadeKind::Base64Url(text.len()))
}

/// Whether `challenge` is `base64url(sha256(verifier))`.
pub(crate) fn is_challenge(challenge: &str, verifier: &str) -> bool {
    challenge.len() == 43 && URL_SAFE_NO_PAD.encode(Sha256::digest(verifier)) == challenge
}

/// `2026-11-26T10:00:00.000Z`.
fn is_moment(text: &str) -> bool {
    text.len() == 24
        && text.bytes().enumerate().all(|(index, byte)| match index {
            4 | 7 => byte == b'-',
            10 => byte == b'T',
            13 | 16 => byte == b':',
            19 => byte == b'.',
            23 => byte == b'Z',
            _ => byte.is_ascii_digit(),
        })
}

/// Milliseconds since 1970 of such a text.
fn millis(text: &str) -> Option<i64> {
    let number = |from: usize, to: usize| text.get(from..to)?.parse::<i64>().ok();
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    // Days of the civil calendar: years begin in March, so that the leap day is the last.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days =
        year * 365 + year / 4 - year / 100 + year / 400 + (month * 153 + 2) / 5 + day - 1 - 719_468;
    let seconds = days * 86_400 + number(11, 13)? * 3_600 + number(14, 16)? * 60 + number(17, 19)?;
    Some(seconds * 1_000 + number(20, 23)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_nonces_are_told() {
        let span = Span { begin: 1_764_100_000_000, end: 1_764_200_000_000, is_known: true };
        assert_eq!(millis("2025-11-25T20:26:40.500Z"), Some(1_764_102_400_500));
        assert_eq!(kind("1764150000123", "_", span), Some(MadeKind::Milliseconds));
        assert_eq!(kind("1764150000", "ts", span), Some(MadeKind::Seconds));
        assert_eq!(kind("1564150000123", "_", span), Some(MadeKind::Digits(13)));
        assert_eq!(kind("2025-11-25T20:26:40.500Z", "at", span), Some(MadeKind::Timestamp));
        assert_eq!(kind("a3f9c2d1", "nonce", span), Some(MadeKind::Hex(8)));
        assert_eq!(kind("a3f9c2d1", "client_id", span), None);
        assert_eq!(kind("hello", "state", span), None);
        assert_eq!(kind("InProgress", "state", span), None);
    }

    #[test]
    fn a_challenge_is_that_of_its_verifier() {
        // The example of RFC 7636, appendix B.
        let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
        assert!(is_challenge("E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM", verifier));
        assert!(!is_challenge("E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM", "other"));
    }
}
