//! `/digest/{user}/{password}`: digest access authentication (RFC 7616), as a server.
//!
//! The nonce is the same as long as the process lives: nothing has to be kept between requests, and how a client answers a
//! challenge shows all the same.

use std::fmt::Write as _;
use std::sync::LazyLock;

use hyper::StatusCode;
use hyper::header::{AUTHORIZATION, HeaderValue, WWW_AUTHENTICATE};
use md5::{Digest as _, Md5};
use serde_json::json;
use sha2::Sha256;

use crate::call::Call;
use crate::reply::{self, Refusal, Reply};

const REALM: &str = "brunt demo";

static NONCE: LazyLock<String> = LazyLock::new(|| format!("{:032x}", fastrand::u128(..)));

#[derive(Clone, Copy)]
enum Algorithm {
    Md5,
    Sha256,
}

impl Algorithm {
    fn of(name: &str) -> Option<Self> {
        match name {
            "MD5" => Some(Self::Md5),
            "SHA-256" => Some(Self::Sha256),
            _ => None,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Md5 => "MD5",
            Self::Sha256 => "SHA-256",
        }
    }

    fn of_text(self, text: &str) -> String {
        match self {
            Self::Md5 => hex(&Md5::digest(text)),
            Self::Sha256 => hex(&Sha256::digest(text)),
        }
    }
}

/// 200 for the user and password that the path names, else 401 with a challenge; `?algorithm=SHA-256` for another hash.
pub(super) fn answer(call: &Call<'_>, rest: &str) -> Result<Reply, Refusal> {
    let Some((user, password)) = rest.split_once('/') else {
        return Err(reply::bad_request("use /digest/{user}/{password}"));
    };
    let (user, password) = (reply::unescaped(user), reply::unescaped(password));
    let name = call.query().get("algorithm");
    let algorithm = Algorithm::of(name.as_deref().unwrap_or("MD5"))
        .ok_or_else(|| reply::bad_request("algorithm: use MD5 or SHA-256"))?;
    let target = call.parts.uri.path_and_query().map_or("/", |target| target.as_str());
    let given = call.header(AUTHORIZATION).and_then(Given::parse);
    let is_right = given.is_some_and(|given| {
        given.user == user
            && given.uri == target
            && given.nonce == *NONCE
            && given.response.eq_ignore_ascii_case(&given.expected(
                algorithm,
                call.parts.method.as_str(),
                &password,
            ))
    });
    if is_right {
        return Ok(reply::json(&json!({ "authenticated": true, "user": user })));
    }
    let challenge = format!(
        "Digest realm=\"{REALM}\", qop=\"auth\", algorithm={}, nonce=\"{}\"",
        algorithm.name(),
        *NONCE
    );
    let mut answer = reply::refuse(StatusCode::UNAUTHORIZED, "credentials are missing or wrong");
    let challenge = HeaderValue::from_str(&challenge).expect("it is plain ASCII");
    answer.headers_mut().insert(WWW_AUTHENTICATE, challenge);
    Err(answer)
}

/// A client's fields in `Authorization`.
#[derive(Default)]
struct Given {
    user: String,
    uri: String,
    nonce: String,
    response: String,
    quality: String,
    count: String,
    own_nonce: String,
}

impl Given {
    fn parse(value: &str) -> Option<Self> {
        let (scheme, mut rest) = value.split_once(' ')?;
        if !scheme.eq_ignore_ascii_case("Digest") {
            return None;
        }
        let mut given = Self::default();
        loop {
            rest = rest.trim_start_matches([' ', ',']);
            let Some((name, after)) = rest.split_once('=') else { break };
            let value;
            (value, rest) = if let Some(quoted) = after.strip_prefix('"') {
                unquoted(quoted)?
            } else {
                let end = after.find(',').unwrap_or(after.len());
                (after[..end].trim().to_owned(), &after[end..])
            };
            match name.trim().to_ascii_lowercase().as_str() {
                "username" => given.user = value,
                "uri" => given.uri = value,
                "nonce" => given.nonce = value,
                "response" => given.response = value,
                "qop" => given.quality = value,
                "nc" => given.count = value,
                "cnonce" => given.own_nonce = value,
                _ => {}
            }
        }
        Some(given)
    }

    /// The right value of `response`: RFC 7616 §3.4.1, or RFC 2069's without a quality of protection.
    fn expected(&self, algorithm: Algorithm, method: &str, password: &str) -> String {
        let secret = algorithm.of_text(&format!("{}:{REALM}:{password}", self.user));
        let what = algorithm.of_text(&format!("{method}:{}", self.uri));
        let nonce = &self.nonce;
        algorithm.of_text(&match self.quality.as_str() {
            "auth" => format!("{secret}:{nonce}:{}:{}:auth:{what}", self.count, self.own_nonce),
            _ => format!("{secret}:{nonce}:{what}"),
        })
    }
}

/// A quoted string's text, from behind its first quote, and what follows it.
fn unquoted(text: &str) -> Option<(String, &str)> {
    let mut out = String::new();
    let mut chars = text.char_indices();
    while let Some((at, char)) = chars.next() {
        match char {
            '"' => return Some((out, &text[at + 1..])),
            '\\' => out.push(chars.next()?.1),
            other => out.push(other),
        }
    }
    None
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut out, byte| {
        let _ = write!(out, "{byte:02x}");
        out
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoted_values_may_hold_commas_and_quotes() {
        let given =
            Given::parse(r#"digest username="a, \"b\"", nc=00000001,uri="/x=1" , qop=auth"#);
        let given = given.unwrap();
        assert_eq!((given.user.as_str(), given.uri.as_str()), ("a, \"b\"", "/x=1"));
        assert_eq!((given.count.as_str(), given.quality.as_str()), ("00000001", "auth"));
    }

    #[test]
    fn what_is_no_digest_is_nobody() {
        for value in ["", "Digest", "Basic eA==", "Digest username=\"open"] {
            assert!(Given::parse(value).is_none(), "{value}");
        }
        assert_eq!(Given::parse("Digest nonsense").unwrap().user, "");
    }

    #[test]
    fn the_hash_is_that_of_the_specification() {
        // RFC 2617 §3.5, with our realm: computed by hand from its parts.
        let given = Given {
            user: "Mufasa".into(),
            uri: "/dir/index.html".into(),
            nonce: "n".into(),
            ..Given::default()
        };
        let md5 = |text: &str| Algorithm::Md5.of_text(text);
        let expected = md5(&format!(
            "{}:n:{}",
            md5("Mufasa:brunt demo:Circle Of Life"),
            md5("GET:/dir/index.html")
        ));
        assert_eq!(given.expected(Algorithm::Md5, "GET", "Circle Of Life"), expected);
        assert_eq!(md5(""), "d41d8cd98f00b204e9800998ecf8427e");
    }
}
