//! One part of a URL: a segment of its path, a key or a value of its query.

use crate::fold::MORE;

/// Longer words are texts.
const WORD_MAX: usize = 32;
/// The longest word with a placeholder in it.
const MIXED_MAX: usize = 64;
/// The least length of a token without a mark of its own.
const TOKEN_LEAST: usize = 16;
/// The least length of a hash.
const HASH_LEAST: usize = 8;
/// At least this many digits right behind letters are a number: `mp3` and `h2` are words.
const DIGITS_LEAST: usize = 3;

/// Writes a part, or the placeholder of its kind.
pub(crate) fn push(out: &mut String, part: &str) {
    if let Some((head, _)) = part.split_once(';') {
        push(out, head);
        out.push(';');
        out.push_str(MORE);
        return;
    }
    if part.is_empty() || part == MORE {
        out.push_str(part);
    } else if part.contains(['{', '}']) {
        out.push_str(if is_mixed(part) { part } else { "{text}" });
    } else if let Some(kind) = kind(part) {
        out.push_str(kind);
    } else if part.len() > WORD_MAX || !part.bytes().all(is_plain) {
        out.push_str("{text}");
    } else if !push_named(out, part) {
        out.push_str(part);
    }
}

/// Of words: what is no letter, no digit and none of these was typed by somebody.
fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-_.~!$'()*,:@=/".contains(&byte)
}

/// A part in which there are placeholders already.
fn is_mixed(part: &str) -> bool {
    if part.len() > MIXED_MAX || !part.bytes().all(|byte| is_plain(byte) || b"{}".contains(&byte)) {
        return false;
    }
    let mut rest = part;
    while let Some((before, behind)) = rest.split_once('{') {
        let Some((name, after)) = behind.split_once('}') else { return false };
        let is_name =
            !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
        if before.contains('}') || !is_name {
            return false;
        }
        rest = after;
    }
    !rest.contains('}')
}

/// The placeholder of a whole part; none if it is a word.
fn kind(part: &str) -> Option<&'static str> {
    let bytes = part.as_bytes();
    let digits = bytes.iter().filter(|byte| byte.is_ascii_digit()).count();
    if digits == 0 && bytes.len() < TOKEN_LEAST {
        return is_email(part)
            .then_some("{email}")
            .or_else(|| is_padded(part).then_some("{token}"));
    }
    if is_date(bytes) {
        return Some("{date}");
    }
    if digits > 0 && bytes.iter().all(|byte| byte.is_ascii_digit() || b"-+.,:".contains(byte)) {
        return Some("{id}");
    }
    if is_uuid(bytes) {
        return Some("{uuid}");
    }
    let hex = part.strip_prefix("0x").or_else(|| part.strip_prefix("0X"));
    if is_hash(part.as_bytes()) || hex.is_some_and(|hex| !hex.is_empty() && is_hex(hex.as_bytes()))
    {
        return Some("{hash}");
    }
    if is_email(part) {
        return Some("{email}");
    }
    (is_padded(part) || is_token(part, digits)).then_some("{token}")
}

/// `2026-11`, `2026-11-27`, and a moment that begins so.
fn is_date(bytes: &[u8]) -> bool {
    let is_number = |range: std::ops::Range<usize>| {
        bytes.get(range).is_some_and(|part| part.iter().all(u8::is_ascii_digit))
    };
    let is_dash = |at: usize| bytes.get(at) == Some(&b'-');
    if !(is_number(0..4) && is_dash(4) && is_number(5..7)) {
        return false;
    }
    match bytes.len() {
        7 => true,
        _ if !(is_dash(7) && is_number(8..10)) => false,
        10 => true,
        length => {
            length <= 40
                && bytes[10].eq_ignore_ascii_case(&b'T')
                && bytes[11..].iter().all(|byte| byte.is_ascii_digit() || b":.+-Zz".contains(byte))
        }
    }
}

fn is_uuid(bytes: &[u8]) -> bool {
    bytes.len() == 36
        && bytes.iter().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => *byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

fn is_hex(bytes: &[u8]) -> bool {
    bytes.iter().all(u8::is_ascii_hexdigit)
}

/// Long enough, and no word: it has a digit.
fn is_hash(bytes: &[u8]) -> bool {
    bytes.len() >= HASH_LEAST && is_hex(bytes) && bytes.iter().any(u8::is_ascii_digit)
}

fn is_email(part: &str) -> bool {
    let at = part.split_once('@').or_else(|| part.split_once("%40"));
    at.is_some_and(|(name, host)| {
        let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"._+-%".contains(&byte);
        !name.is_empty()
            && host.len() >= 3
            && host.trim_matches('.').contains('.')
            && name.bytes().chain(host.bytes()).all(is_name)
    })
}

/// Base64 with its padding.
fn is_padded(part: &str) -> bool {
    let Some(text) = part.strip_suffix("==").or_else(|| part.strip_suffix('=')) else {
        return false;
    };
    text.len() + 2 >= HASH_LEAST
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+/_-".contains(&byte))
}

/// Base64, base36 and the like: a long run of letters and digits. Words between dashes are none, however many.
fn is_token(part: &str, digits: usize) -> bool {
    let bytes = part.as_bytes();
    if !bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || b"-_.~+/".contains(byte)) {
        return false;
    }
    // A JSON Web Token begins so: it is `{"` in base64.
    if part.starts_with("eyJ") && part.len() >= 20 {
        return true;
    }
    let is_run = |run: &[u8]| {
        let digits = run.iter().filter(|byte| byte.is_ascii_digit()).count();
        let is_mixed =
            run.iter().any(u8::is_ascii_uppercase) && run.iter().any(u8::is_ascii_lowercase);
        run.len() >= TOKEN_LEAST && (digits >= 4 || (digits > 0 && is_mixed))
    };
    digits > 0 && bytes.split(|byte| b"-_.~+/".contains(byte)).any(is_run)
}

/// Writes a word with a number or a hash at its end: `order-17`, `17.json`, `app.3f2a9c1b.js`. False if the word has no such end.
fn push_named(out: &mut String, part: &str) -> bool {
    if is_version(part.as_bytes()) {
        return false;
    }
    let is_ending = |ending: &str| {
        (1..=5).contains(&ending.len())
            && ending.as_bytes()[0].is_ascii_alphabetic()
            && ending.bytes().all(|byte| byte.is_ascii_alphanumeric())
    };
    if let Some((stem, ending)) =
        part.rsplit_once('.').filter(|(stem, ending)| !stem.is_empty() && is_ending(ending))
    {
        let is_folded = match kind(stem) {
            Some(kind) => {
                out.push_str(kind);
                true
            }
            None => push_tailed(out, stem),
        };
        if is_folded {
            out.push('.');
            out.push_str(ending);
        }
        return is_folded;
    }
    push_tailed(out, part)
}

/// Writes a word whose last piece changes.
fn push_tailed(out: &mut String, word: &str) -> bool {
    let at = word.rfind(['-', '_', '.', ':', '~']).map_or(0, |at| at + 1);
    let (head, tail) = word.split_at(at);
    if at > 1 && !tail.is_empty() {
        let kind = if tail.bytes().all(|byte| byte.is_ascii_digit()) {
            "{id}"
        } else if is_hash(tail.as_bytes()) {
            "{hash}"
        } else {
            return false;
        };
        out.push_str(head);
        out.push_str(kind);
        return true;
    }
    let letters = word.trim_end_matches(|c: char| c.is_ascii_digit());
    if letters.is_empty()
        || word.len() - letters.len() < DIGITS_LEAST
        || !letters.bytes().all(|byte| byte.is_ascii_alphabetic())
    {
        return false;
    }
    out.push_str(letters);
    out.push_str("{id}");
    true
}

/// `v2`, `v1.2`: of an API.
fn is_version(bytes: &[u8]) -> bool {
    let [b'v' | b'V', rest @ ..] = bytes else { return false };
    (1..=5).contains(&rest.len()) && rest.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.')
}
