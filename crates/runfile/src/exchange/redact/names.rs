//! Names of which the value is secret.

use std::borrow::Cow;

/// Headers that are secret whatever they hold.
const HEADERS: [&str; 5] =
    ["authorization", "proxy-authorization", "cookie", "set-cookie", "authentication-info"];

/// Parts of names (small letters and digits alone) of which the value is secret.
const PARTS: [&str; 21] = [
    "password",
    "passwd",
    "passphrase",
    "passcode",
    "pwd",
    "secret",
    "token",
    "apikey",
    "accesskey",
    "privatekey",
    "credential",
    "sessionid",
    "sessid",
    "signature",
    "authorization",
    "cookie",
    "csrf",
    "xsrf",
    "jwt",
    "bearer",
    "assertion",
];

/// Whole names.
const NAMES: [&str; 12] = [
    "auth",
    "key",
    "pass",
    "pin",
    "otp",
    "totp",
    "sid",
    "sig",
    "cvv",
    "cvc",
    "xauth",
    "subscriptionkey",
];

/// A header, by its name in small letters.
pub(super) fn is_secret_header(lower: &str) -> bool {
    HEADERS.contains(&lower)
}

/// The first letters of `PARTS`.
const FIRST: &[u8] = b"pstacxjb";

/// Whether the value of that name is secret. Asked of each word of a body: it allocates nothing as a rule.
pub(super) fn is_secret(name: &str) -> bool {
    /// Longer ones are no names.
    const NAME_MAX: usize = 200;
    if !(3..=NAME_MAX).contains(&name.len()) {
        return false;
    }
    let name = if name.contains('%') { Cow::Owned(unescaped(name)) } else { Cow::Borrowed(name) };
    let mut plain = [0; NAME_MAX];
    let letters = name.bytes().filter(u8::is_ascii_alphanumeric);
    let length = letters.zip(&mut plain).fold(0, |length, (letter, place)| {
        *place = letter.to_ascii_lowercase();
        length + 1
    });
    let plain = &plain[..length];
    let begins = |at: usize| {
        FIRST.contains(&plain[at])
            && PARTS.iter().any(|part| plain[at..].starts_with(part.as_bytes()))
    };
    // `user[pass]`, `x-functions-key`: the last word of the name is one of the whole names.
    let last = name.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
    let last = last.rsplit(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
    (0..length).any(begins)
        || NAMES.iter().any(|whole| plain == whole.as_bytes() || last.eq_ignore_ascii_case(whole))
}

/// A name without percent signs.
fn unescaped(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    let mut rest = name;
    while let Some((before, after)) = rest.split_once('%') {
        out.push_str(before);
        let code = after.get(..2).and_then(|hex| u8::from_str_radix(hex, 16).ok());
        if let Some(byte) = code.filter(u8::is_ascii) {
            out.push(char::from(byte));
            rest = &after[2..];
        } else {
            out.push('%');
            rest = after;
        }
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_part_can_begin() {
        assert!(PARTS.iter().all(|part| FIRST.contains(&part.as_bytes()[0])));
    }

    #[test]
    fn names_are_known_however_they_are_written() {
        for name in [
            "Password",
            "user[password]",
            "user%5Bpass%5D",
            "pass%77ord",
            "X-Api-Key",
            "accessToken",
            "JSESSIONID",
            "csrfmiddlewaretoken",
            "key",
            "Ocp-Apim-Subscription-Key",
            "sig",
            "client_secret",
            "X-Auth",
            "id_token",
        ] {
            assert!(is_secret(name), "{name}");
        }
        for name in [
            "monkey",
            "user",
            "passenger",
            "author",
            "keyboard",
            "pinned",
            "side",
            "name",
            "100%",
            "%zz",
        ] {
            assert!(!is_secret(name), "{name}");
        }
    }
}
