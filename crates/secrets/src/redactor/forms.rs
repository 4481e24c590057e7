//! How a secret may be written.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use base64::prelude::{BASE64_STANDARD_NO_PAD, BASE64_URL_SAFE_NO_PAD};

/// Shorter ones are not looked for in base64: a few letters are in every text.
const BASE64_LEAST: usize = 6;

/// A line of a secret of several lines is hidden alone, too, if it is as long as this.
const LINE_LEAST: usize = 8;

/// The secret itself, as addresses and forms have it, as JSON does, and in base64 (also in the middle of something, as
/// `user:password` is). No other way of hiding a text in another is found.
pub(super) fn forms(secret: &str) -> BTreeSet<Box<str>> {
    let mut forms: BTreeSet<Box<str>> = BTreeSet::new();
    let mut add = |form: &str| {
        if !form.is_empty() {
            forms.insert(form.into());
        }
    };
    add(secret);
    for is_upper in [true, false] {
        let percent = percent(secret, is_upper);
        add(&percent.replace("%20", "+"));
        // The form whose letters are those that `URL` leaves as they are.
        add(&escaped(secret, is_upper));
        add(&percent);
    }
    if let Ok(json) = serde_json::to_string(secret) {
        add(json.trim_start_matches('"').strip_suffix('"').unwrap_or_default());
    }
    if secret.len() >= BASE64_LEAST {
        for before in 0..3 {
            let text = inner(&BASE64_STANDARD_NO_PAD, secret.as_bytes(), before);
            add(&text);
            add(&inner(&BASE64_URL_SAFE_NO_PAD, secret.as_bytes(), before));
        }
    }
    if secret.contains('\n') {
        secret.lines().map(str::trim).filter(|line| line.len() >= LINE_LEAST).for_each(add);
    }
    forms
}

/// As `encodeURIComponent` writes it.
fn percent(text: &str, is_upper: bool) -> String {
    written(text, is_upper, |byte| byte.is_ascii_alphanumeric() || b"-_.!~*'()".contains(&byte))
}

/// As a query that is parsed and printed again.
fn escaped(text: &str, is_upper: bool) -> String {
    written(text, is_upper, |byte| byte.is_ascii_graphic() && !b"\"#<>'".contains(&byte))
}

fn written(text: &str, is_upper: bool, plain: impl Fn(u8) -> bool) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        // Writing to a String can't fail.
        let _ = match byte {
            _ if plain(byte) => {
                out.push(byte as char);
                Ok(())
            }
            _ if is_upper => write!(out, "%{byte:02X}"),
            _ => write!(out, "%{byte:02x}"),
        };
    }
    out
}

/// The letters that do not depend on the text around the secret, if `before` bytes more than a multiple of three are
/// in front.
fn inner(engine: &impl base64::Engine, secret: &[u8], before: usize) -> String {
    let mut bytes = vec![0; before];
    bytes.extend_from_slice(secret);
    let text = engine.encode(&bytes);
    // Each letter has six bits.
    let first = (before * 8).div_ceil(6);
    let last = bytes.len() * 8 / 6;
    text[first..last].to_owned()
}
