//! Names: which ones tell of secrets, and how they are written in a script.

/// Parts of names whose values are secrets.
const SECRET_PARTS: [&str; 16] = [
    "token",
    "secret",
    "password",
    "passwd",
    "passphrase",
    "apikey",
    "authorization",
    "credential",
    "signature",
    "privatekey",
    "accesskey",
    "sessionid",
    "jwt",
    "bearer",
    "sessid",
    "csrf",
];

/// Whole names (without case and separators) whose values are secrets.
const SECRET_NAMES: [&str; 8] =
    ["pass", "pwd", "auth", "sig", "sid", "otp", "keypairid", "assertion"];

/// Whole names whose values are secrets in queries, headers, cookies and variables, and often something else in bodies.
const PERHAPS: [&str; 5] = ["key", "code", "session", "policy", "pin"];

/// Whether the value of something with this name must not be in a script: `api_key`, `X-Auth-Token`, `password`.
pub(crate) fn is_secret(name: &str) -> bool {
    is_one_of(name, &SECRET_NAMES, &["auth", "pwd", "pass"])
}

/// The same for names outside of bodies: `key`, `code`, `SIGNING_KEY`, `X-Session`, `connect.sid`, too.
pub(crate) fn is_secret_outside(name: &str) -> bool {
    is_secret(name) || is_one_of(name, &PERHAPS, &["key", "session", "sid", "sess"])
}

/// Whether a part of the name is a secret's, or all of it, or its last word.
fn is_one_of(name: &str, names: &[&str], ends: &[&str]) -> bool {
    let plain: String =
        name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    let is_part = SECRET_PARTS.iter().any(|part| plain.contains(part));
    // The names of things about tokens: `token_type`, `max_tokens`.
    let is_about = ["tokentype", "maxtokens", "expires", "expiry", "authtype", "tokenurl"]
        .iter()
        .any(|about| plain.contains(about));
    let last = name.rsplit(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    let is_last = last.len() < name.len() && ends.iter().any(|end| last.eq_ignore_ascii_case(end));
    !is_about && (is_part || is_last || names.contains(&plain.as_str()))
}

/// A name in camel case that JavaScript takes as an identifier: `API_TOKEN` is `apiToken`; `fallback` if nothing is left of it.
pub(crate) fn camel(name: &str, fallback: &str) -> String {
    let mut out = String::new();
    for word in name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()) {
        let is_shouted = !word.contains(|c: char| c.is_ascii_lowercase());
        let (first, rest) = word.split_at(1);
        if out.is_empty() {
            out.push_str(&first.to_ascii_lowercase());
        } else {
            out.push_str(&first.to_ascii_uppercase());
        }
        out.push_str(&if is_shouted { rest.to_ascii_lowercase() } else { rest.to_owned() });
    }
    if out.is_empty() {
        return fallback.to_owned();
    }
    if out.starts_with(|c: char| c.is_ascii_digit()) {
        out.insert(0, '_');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_secrets_are_known_in_any_spelling() {
        for name in ["Authorization", "X-Api-Key", "api_key", "accessToken", "PASSWORD", "sig"] {
            assert!(is_secret(name), "{name}");
        }
        let outside = [
            "key",
            "SIGNING_KEY",
            "code",
            "sort-key",
            "X-Session",
            "connect.sid",
            "laravel_session",
        ];
        for name in outside {
            assert!(is_secret_outside(name) && !is_secret(name), "{name}");
        }
        for name in ["monkey", "keyword", "author", "token_type", "max_tokens", "page", "id"] {
            assert!(!is_secret_outside(name), "{name}");
        }
    }

    #[test]
    fn names_are_written_in_camel_case() {
        let names = [
            ("API_TOKEN", "apiToken"),
            ("x-api-key", "xApiKey"),
            ("Base URL", "baseUrl"),
            ("9", "_9"),
        ];
        for (from, to) in names {
            assert_eq!(camel(from, "v"), to);
        }
        assert_eq!(camel("—", "value"), "value");
    }
}
