//! An authority's statement about a certificate, stapled to it by the server (OCSP, RFC 6960).

use std::cell::Cell;
use std::sync::Mutex;

/// The maximum number of different answers that are remembered in all; further ones are ignored.
const KNOWN_MAX: usize = 1024;

/// The moment that Go's zero time is.
const NEVER: i64 = -62_135_596_800;

/// A stapled answer. Moments are in seconds since the Unix epoch; those that it doesn't name are Go's zero time, the first
/// second of the year 1.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Staple {
    /// When it was signed.
    pub produced_at: i64,
    /// When it was true.
    pub this_update: i64,
    /// When there will be another.
    pub next_update: i64,
    /// When the certificate was revoked.
    pub revoked_at: i64,
    /// Why, in k6's words; `unspecified` also of one that was not revoked, empty for a reason that k6 doesn't know.
    pub reason: &'static str,
    /// `good`, `revoked` or `unknown`.
    pub status: &'static str,
}

/// Every answer that came. They are few: one per certificate, and as long as it is signed anew.
static KNOWN: Mutex<Vec<&'static Staple>> = Mutex::new(Vec::new());

thread_local! {
    /// The verifier's finding in the handshake that is under way on this thread: rustls doesn't keep it.
    static SEEN: Cell<Option<&'static Staple>> = const { Cell::new(None) };
}

/// A verifier was given this.
pub(super) fn see(response: &[u8]) {
    SEEN.set(if response.is_empty() { None } else { parse(response).and_then(remember) });
}

/// The finding since the last call.
pub(super) fn take() -> Option<&'static Staple> {
    SEEN.take()
}

/// The one copy of it. It lives as long as the process, so that it may be passed around like a number.
fn remember(staple: Staple) -> Option<&'static Staple> {
    let mut known = KNOWN.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if let Some(same) = known.iter().find(|known| ***known == staple) {
        return Some(same);
    }
    if known.len() == KNOWN_MAX {
        return None;
    }
    let staple: &'static Staple = Box::leak(Box::new(staple));
    known.push(staple);
    Some(staple)
}

/// Tags of DER.
mod tag {
    pub(super) const ENUMERATED: u8 = 0x0a;
    pub(super) const OBJECT: u8 = 0x06;
    pub(super) const OCTETS: u8 = 0x04;
    pub(super) const TIME: u8 = 0x18;
    pub(super) const SEQUENCE: u8 = 0x30;

    /// `[n]` around other values.
    pub(super) const fn around(n: u8) -> u8 {
        0xa0 | n
    }

    /// `[n]` instead of a plain tag.
    pub(super) const fn instead(n: u8) -> u8 {
        0x80 | n
    }
}

/// id-pkix-ocsp-basic.
const BASIC: &[u8] = &[0x2b, 6, 1, 5, 5, 7, 0x30, 1, 1];

/// Reads a response; as in k6, its signature is not checked. `None`: it says nothing of one certificate.
fn parse(bytes: &[u8]) -> Option<Staple> {
    let mut response = Der(bytes).expect(tag::SEQUENCE)?;
    // 0: successful.
    if response.expect(tag::ENUMERATED)?.0 != [0] {
        return None;
    }
    let mut answer = response.expect(tag::around(0))?.expect(tag::SEQUENCE)?;
    if answer.expect(tag::OBJECT)?.0 != BASIC {
        return None;
    }
    let mut basic = answer.expect(tag::OCTETS)?.expect(tag::SEQUENCE)?;
    let mut told = basic.expect(tag::SEQUENCE)?;
    // The version, if it isn't the first.
    let _ = told.expect(tag::around(0));
    // The responder, by name or by key.
    let _ = told.next()?;
    let produced_at = told.expect(tag::TIME)?.time()?;
    let mut all = told.expect(tag::SEQUENCE)?;
    let mut single = all.expect(tag::SEQUENCE)?;
    if !all.0.is_empty() {
        return None;
    }
    // Which certificate.
    let _ = single.expect(tag::SEQUENCE)?;
    let (kind, mut value) = single.next()?;
    let (mut revoked_at, mut reason) = (NEVER, "unspecified");
    let status = if kind == tag::instead(0) {
        "good"
    } else if kind == tag::around(1) {
        revoked_at = value.expect(tag::TIME)?.time()?;
        if let Some(mut why) = value.expect(tag::around(0)) {
            reason = name(why.expect(tag::ENUMERATED)?.0);
        }
        "revoked"
    } else if kind == tag::instead(2) {
        "unknown"
    } else {
        return None;
    };
    let this_update = single.expect(tag::TIME)?.time()?;
    let next_update = match single.expect(tag::around(0)) {
        Some(mut next) => next.expect(tag::TIME)?.time()?,
        None => NEVER,
    };
    Some(Staple { produced_at, this_update, next_update, revoked_at, reason, status })
}

/// k6's names of the reasons (RFC 5280 §5.3.1).
fn name(reason: &[u8]) -> &'static str {
    match reason {
        [0] => "unspecified",
        [1] => "key_compromise",
        [2] => "ca_compromise",
        [3] => "affiliation_changed",
        [4] => "superseded",
        [5] => "cessation_of_operation",
        [6] => "certificate_hold",
        [8] => "remove_from_crl",
        [9] => "privilege_withdrawn",
        [10] => "aa_compromise",
        _ => "",
    }
}

/// The rest of some DER.
#[derive(Copy, Clone)]
struct Der<'a>(&'a [u8]);

impl<'a> Der<'a> {
    /// The next value and its tag.
    fn next(&mut self) -> Option<(u8, Self)> {
        let (&kind, rest) = self.0.split_first()?;
        let (&first, rest) = rest.split_first()?;
        let (size, rest) = match first {
            0..=0x7f => (usize::from(first), rest),
            // No certificate's answer needs more than three bytes of length.
            0x81..=0x83 => {
                let (size, rest) = rest.split_at_checked(usize::from(first & 3))?;
                (size.iter().fold(0, |all, &byte| all << 8 | usize::from(byte)), rest)
            }
            _ => return None,
        };
        let (value, rest) = rest.split_at_checked(size)?;
        self.0 = rest;
        Some((kind, Self(value)))
    }

    /// The next value, if it is of this kind; nothing is taken otherwise.
    fn expect(&mut self, kind: u8) -> Option<Self> {
        let mut ahead = *self;
        let (found, value) = ahead.next()?;
        if found != kind {
            return None;
        }
        *self = ahead;
        Some(value)
    }

    /// `20201231235959Z`, the only form that may be here.
    fn time(self) -> Option<i64> {
        let digits = self.0.strip_suffix(b"Z").filter(|digits| digits.len() == 14)?;
        let number = |from: usize, to: usize| -> Option<i64> {
            let digits = &digits[from..to];
            if !digits.iter().all(u8::is_ascii_digit) {
                return None;
            }
            std::str::from_utf8(digits).ok()?.parse().ok()
        };
        let date = (number(0, 4)?, number(4, 6)?, number(6, 8)?);
        let time = (number(8, 10)?, number(10, 12)?, number(12, 14)?);
        brunt_moment::unix_seconds(date, time)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn der(kind: u8, parts: &[&[u8]]) -> Vec<u8> {
        let value = parts.concat();
        let mut out = vec![kind];
        match value.len() {
            size @ 0..0x80 => out.push(size as u8),
            size => out.extend_from_slice(&[0x82, (size >> 8) as u8, size as u8]),
        }
        out.extend(value);
        out
    }

    fn response(status: &[u8], next: &[u8]) -> Vec<u8> {
        let id = der(tag::SEQUENCE, &[&[5, 0]]);
        let this = der(tag::TIME, &[b"20231114221320Z"]);
        let single = der(tag::SEQUENCE, &[&id, status, &this, next]);
        let all = der(tag::SEQUENCE, &[&single]);
        let by = der(tag::around(2), &[&der(tag::OCTETS, &[&[7; 20]])]);
        let at = der(tag::TIME, &[b"20261122132500Z"]);
        let told = der(tag::SEQUENCE, &[&by, &at, &all]);
        let signature = der(3, &[&[0; 150]]);
        let basic = der(tag::SEQUENCE, &[&told, &signature]);
        let octets = der(tag::OCTETS, &[&basic]);
        let answer = der(tag::SEQUENCE, &[&der(tag::OBJECT, &[BASIC]), &octets]);
        der(tag::SEQUENCE, &[&der(tag::ENUMERATED, &[&[0]]), &der(tag::around(0), &[&answer])])
    }

    #[test]
    fn all_three_states_are_read() {
        let next = der(tag::around(0), &[&der(tag::TIME, &[b"20961002070640Z"])]);
        let good = parse(&response(&der(tag::instead(0), &[]), &next)).unwrap();
        let expected = Staple {
            produced_at: 1_795_353_900,
            this_update: 1_700_000_000,
            next_update: 4_000_000_000,
            revoked_at: NEVER,
            reason: "unspecified",
            status: "good",
        };
        assert_eq!(good, expected);
        let why = der(tag::around(0), &[&der(tag::ENUMERATED, &[&[1]])]);
        let since = der(tag::TIME, &[b"20220415052000Z"]);
        let revoked = parse(&response(&der(tag::around(1), &[&since, &why]), &[])).unwrap();
        let expected = Staple {
            next_update: NEVER,
            revoked_at: 1_650_000_000,
            reason: "key_compromise",
            status: "revoked",
            ..expected
        };
        assert_eq!(revoked, expected);
        let unknown = parse(&response(&der(tag::instead(2), &[]), &[])).unwrap();
        assert_eq!(unknown.status, "unknown");
    }

    #[test]
    fn what_is_cut_or_garbled_says_nothing() {
        let whole = response(&der(tag::instead(0), &[]), &[]);
        for size in 0..whole.len() {
            assert_eq!(parse(&whole[..size]), None);
        }
        for at in 0..whole.len() {
            for byte in [0, 0x30, 0x7f, 0x80, 0x84, 0xff] {
                let mut garbled = whole.clone();
                garbled[at] = byte;
                // Whatever it says now, it is read without harm.
                let _ = parse(&garbled);
            }
        }
        assert_eq!(parse(b"garbage"), None);
        assert_eq!(parse(&[0x30, 3, 0x0a, 1, 3]), None);
    }

    #[test]
    fn the_same_answer_is_kept_once() {
        let bytes = response(&der(tag::instead(0), &[]), &[]);
        see(&bytes);
        let first = take().unwrap();
        assert_eq!(take(), None);
        see(&bytes);
        assert!(std::ptr::eq(first, take().unwrap()));
        see(b"");
        assert_eq!(take(), None);
    }
}
