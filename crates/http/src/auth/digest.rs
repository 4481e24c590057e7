//! Digest authentication: MD5 and SHA-256, plain and `-sess`; `qop` of `auth`, of `auth-int`, or none.

use std::fmt::Write as _;

use md5::Md5;
use sha2::{Digest as _, Sha256};

use super::{hex, of_kind};

/// The request to authenticate, and its user.
#[derive(Copy, Clone, Debug)]
pub struct Asked<'a> {
    /// The method as it goes on the wire.
    pub method: &'a str,
    /// Path and query as they go on the wire.
    pub path: &'a str,
    /// The body, if it lies in memory.
    pub body: &'a [u8],
    /// User name and password.
    pub user: (&'a str, &'a str),
}

/// The value of `Authorization` that answers `WWW-Authenticate` (each of its values in `challenges`).
///
/// A server that sends no challenge of this kind gets an answer all the same, with nothing in it that it asked for: as
/// k6 does, so that there are as many requests.
///
/// `nonce` is the client's own, a random one.
pub fn answer<'h>(
    challenges: impl Iterator<Item = &'h str>,
    asked: &Asked<'_>,
    nonce: u128,
) -> String {
    answer_with(challenges, asked, &hex(&nonce.to_be_bytes()))
}

fn answer_with<'h>(
    challenges: impl Iterator<Item = &'h str>,
    asked: &Asked<'_>,
    own_nonce: &str,
) -> String {
    let fields = fields(of_kind(challenges, "Digest").unwrap_or_default());
    let field = |name: &str| {
        let found = fields.iter().find(|(other, _)| other.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    };
    let (realm, nonce) = (field("realm").unwrap_or_default(), field("nonce").unwrap_or_default());
    let algorithm = field("algorithm");
    let is_sha = algorithm.is_some_and(|name| name.to_ascii_uppercase().starts_with("SHA-256"));
    let is_session = algorithm.is_some_and(|name| name.to_ascii_lowercase().ends_with("-sess"));
    let hash = |text: &[u8]| {
        if is_sha { hex(&Sha256::digest(text)) } else { hex(&Md5::digest(text)) }
    };
    let qop = field("qop").map(|offered| {
        let mut offered = offered.split(',').map(str::trim);
        let has_plain = offered.clone().any(|qop| qop.eq_ignore_ascii_case("auth"));
        let is_whole = !has_plain && offered.any(|qop| qop.eq_ignore_ascii_case("auth-int"));
        if is_whole { "auth-int" } else { "auth" }
    });
    let (user, password) = asked.user;
    let mut who = hash(format!("{user}:{realm}:{password}").as_bytes());
    if is_session {
        who = hash(format!("{who}:{nonce}:{own_nonce}").as_bytes());
    }
    let mut what = format!("{}:{}", asked.method, asked.path);
    if qop == Some("auth-int") {
        let _ = write!(what, ":{}", hash(asked.body));
    }
    let what = hash(what.as_bytes());
    let response = match qop {
        Some(qop) => format!("{who}:{nonce}:00000001:{own_nonce}:{qop}:{what}"),
        None => format!("{who}:{nonce}:{what}"),
    };
    let response = hash(response.as_bytes());
    let mut out = format!(
        "Digest username=\"{}\", realm=\"{}\", nonce=\"{}\", uri=\"{}\", response=\"{response}\"",
        quoted(user),
        quoted(realm),
        quoted(nonce),
        quoted(asked.path),
    );
    if let Some(algorithm) = algorithm {
        let _ = write!(out, ", algorithm={algorithm}");
    }
    if let Some(opaque) = field("opaque") {
        let _ = write!(out, ", opaque=\"{}\"", quoted(opaque));
    }
    if let Some(qop) = qop {
        let _ = write!(out, ", qop={qop}, nc=00000001, cnonce=\"{own_nonce}\"");
    }
    out
}

fn quoted(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}

/// `name=value` and `name="value"`, with commas between.
fn fields(mut text: &str) -> Vec<(&str, String)> {
    let mut fields = Vec::new();
    while let Some((name, rest)) = text.split_once('=') {
        let name = name.trim_start_matches([',', ' ', '\t']).trim_end();
        let rest = rest.trim_start();
        let (value, rest) = if let Some(inner) = rest.strip_prefix('"') {
            unquoted(inner)
        } else {
            let end = rest.find(',').unwrap_or(rest.len());
            (rest[..end].trim().to_owned(), &rest[end..])
        };
        fields.push((name, value));
        text = rest;
    }
    fields
}

/// A quoted text whose opening quote is gone, and what follows its closing one.
fn unquoted(text: &str) -> (String, &str) {
    let mut value = String::new();
    let mut chars = text.char_indices();
    while let Some((at, char)) = chars.next() {
        match char {
            '"' => return (value, &text[at + 1..]),
            '\\' => value.extend(chars.next().map(|(_, char)| char)),
            char => value.push(char),
        }
    }
    (value, "")
}

#[cfg(test)]
mod tests {
    use super::*;

    const ASKED: Asked<'static> = Asked {
        method: "GET",
        path: "/dir/index.html",
        body: b"",
        user: ("Mufasa", "Circle of Life"),
    };

    fn response(challenge: &str, asked: &Asked<'_>, nonce: &str) -> String {
        let answer = answer_with([challenge].into_iter(), asked, nonce);
        let start = answer.find("response=\"").unwrap() + 10;
        answer[start..].split('"').next().unwrap().to_owned()
    }

    /// RFC 7616 §3.9.1 (and RFC 2617 §3.5 with its own realm).
    #[test]
    fn the_examples_of_the_rfcs_come_out() {
        let nonce = "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ";
        let rest = "realm=\"http-auth@example.org\", qop=\"auth, auth-int\", \
                    nonce=\"7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v\", \
                    opaque=\"FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS\"";
        let md5 = response(&format!("Digest {rest}, algorithm=MD5"), &ASKED, nonce);
        assert_eq!(md5, "8ca523f5e9506fed4657c9700eebdbec");
        let sha = response(&format!("Digest {rest}, algorithm=SHA-256"), &ASKED, nonce);
        assert_eq!(sha, "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1");
        let old = Asked { user: ("Mufasa", "Circle Of Life"), ..ASKED };
        let challenge = "Digest realm=\"testrealm@host.com\", qop=\"auth,auth-int\", \
                         nonce=\"dcd98b7102dd2f0e8b11d0f600bfb0c093\"";
        assert_eq!(response(challenge, &old, "0a4f113b"), "6629fae49393a05397450978507c4ef1");
    }

    /// The headers that k6 1.8.1 sent.
    #[test]
    fn answers_are_those_of_k6() {
        let asked = |path| Asked { path, user: ("us er", "pa@ss"), ..ASKED };
        for (challenge, path, nonce, expected) in [
            (
                "Digest realm=\"r\", nonce=\"abc\", qop=\"auth\", opaque=\"op\", algorithm=MD5",
                "/digest?q=1",
                "39477a63f675484a5006447fdbd33280",
                "9a292eff0eb33d806f11f092f0e21513",
            ),
            (
                "Digest realm=\"r\", nonce=\"abc\"",
                "/digest-noqop?q=1",
                "75c3ac1e544d468769925276e50d5ad9",
                "55ad6b30e5603e0014df0461b632fa64",
            ),
        ] {
            assert_eq!(response(challenge, &asked(path), nonce), expected, "{path}");
        }
    }

    #[test]
    fn challenges_are_read_whatever_their_form() {
        let text = "realm=\"a, \\\"b\\\"\" ,nonce=x , qop=\"auth\",stale=FALSE, broken=\"";
        let found = fields(text);
        assert_eq!(found[0], ("realm", "a, \"b\"".to_owned()));
        assert_eq!(found[1], ("nonce", "x".to_owned()));
        assert_eq!(found[4], ("broken", String::new()));
        let answer = answer([].into_iter(), &ASKED, 5);
        assert!(answer.starts_with("Digest username=\"Mufasa\", realm=\"\""), "{answer}");
    }
}
