//! Where a request goes: a URL, read as Go's `net/url` and `net/http` read it.
//!
//! The `url` crate follows the browsers' rules and would rewrite what k6 sends as it is (a query with
//! spaces, `é` in a query); so the few rules that matter stand here.

mod path;
mod resolve;

use std::borrow::Cow;
use std::fmt;

use base64::Engine as _;
use brunt_net::{Endpoint, Excerpt, unescape};

pub use resolve::resolve;

use crate::failure::Failure;

/// The two schemes we speak.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Scheme {
    /// `http`: plain TCP.
    Http,
    /// `https`: TLS.
    Https,
}

impl Scheme {
    /// 80 or 443.
    pub fn default_port(self) -> u16 {
        match self {
            Self::Http => 80,
            Self::Https => 443,
        }
    }

    /// `http` or `https`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Https => "https",
        }
    }
}

/// A URL taken apart, mostly borrowed from its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target<'a> {
    /// The scheme.
    pub scheme: Scheme,
    /// `user` or `user:password`, percent-encoded as it was written.
    pub userinfo: Option<&'a str>,
    /// The value of the `Host` header: the host, and the port if one was written.
    pub authority: Cow<'a, str>,
    /// The host alone: without the brackets of an IPv6 address, in ASCII (IDNA).
    pub host: Cow<'a, str>,
    /// The port, written or of the scheme.
    pub port: u16,
    /// Path and query as they go on the wire; never empty. The path is percent-encoded where needed,
    /// the query is left alone.
    pub path: Cow<'a, str>,
}

/// A [`Target`] that borrows nothing: taking a URL apart costs more than sending what it says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnedTarget {
    scheme: Scheme,
    userinfo: Option<String>,
    authority: String,
    host: String,
    port: u16,
    path: String,
}

impl OwnedTarget {
    /// The target.
    pub fn borrow(&self) -> Target<'_> {
        Target {
            scheme: self.scheme,
            userinfo: self.userinfo.as_deref(),
            authority: Cow::Borrowed(&self.authority),
            host: Cow::Borrowed(&self.host),
            port: self.port,
            path: Cow::Borrowed(&self.path),
        }
    }
}

/// Why a URL can't be requested.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum TargetError {
    /// It is no URL: k6's error 1020, before anything is sent.
    Invalid(InvalidUrl),
    /// It is a URL that no request can reach: unknown scheme, no host, impossible port.
    Unreachable(Failure),
}

/// Why a text is no URL. `Display` gives Go's reason; [`InvalidUrl::of`] the whole sentence.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum InvalidUrl {
    /// A control character.
    Control,
    /// It begins with a colon.
    NoScheme,
    /// `a:b` without `//`, in the first segment of a path.
    Colon,
    /// The text before `@` has forbidden characters.
    Userinfo,
    /// A port that isn't digits.
    Port(Excerpt),
    /// A forbidden character in the host.
    HostCharacter(char),
    /// `[` without `]`.
    Bracket,
    /// The host has no ASCII form.
    Idna,
    /// A `%` without two hex digits.
    Escape(Excerpt),
}

impl fmt::Display for InvalidUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Control => f.write_str("net/url: invalid control character in URL"),
            Self::NoScheme => f.write_str("missing protocol scheme"),
            Self::Colon => f.write_str("first path segment in URL cannot contain colon"),
            Self::Userinfo => f.write_str("net/url: invalid userinfo"),
            Self::Port(port) => write!(f, "invalid port {port} after host"),
            Self::HostCharacter(char) => {
                write!(f, "invalid character {:?} in host name", char.to_string())
            }
            Self::Bracket => f.write_str("missing ']' in host"),
            Self::Idna => f.write_str("invalid international host name"),
            Self::Escape(escape) => write!(f, "invalid URL escape {escape}"),
        }
    }
}

impl InvalidUrl {
    /// The whole sentence: `parse "http://a b/": invalid character " " in host name`.
    pub fn of(self, url: &str) -> String {
        format!("parse {url:?}: {self}")
    }
}

impl From<InvalidUrl> for TargetError {
    fn from(error: InvalidUrl) -> Self {
        Self::Invalid(error)
    }
}

impl<'a> Target<'a> {
    /// Takes an absolute URL apart. A fragment is dropped.
    ///
    /// # Errors
    /// See [`TargetError`].
    pub fn parse(url: &'a str) -> Result<Self, TargetError> {
        if url.bytes().any(|byte| byte < b' ' || byte == 0x7f) {
            return Err(InvalidUrl::Control.into());
        }
        let (scheme, rest) = split_scheme(url)?;
        let rest = rest.split_once('#').map_or(rest, |(before, _)| before);
        let before_query = &rest[..rest.find('?').unwrap_or(rest.len())];
        let Some(after) = before_query.strip_prefix("//") else {
            return Err(without_authority(scheme, before_query));
        };
        let authority = &after[..after.find('/').unwrap_or(after.len())];
        let path_and_query = &rest[2 + authority.len()..];
        let (userinfo, host_port) = match authority.rsplit_once('@') {
            Some((userinfo, host_port)) => (Some(userinfo), host_port),
            None => (None, authority),
        };
        if userinfo.is_some_and(|userinfo| !userinfo.bytes().all(is_userinfo)) {
            return Err(InvalidUrl::Userinfo.into());
        }
        let (host, port) = split_port(host_port)?;
        let path = path::on_the_wire(path_and_query, after.len() - authority.len())?;
        let scheme = match scheme {
            scheme if scheme.eq_ignore_ascii_case("http") => Scheme::Http,
            scheme if scheme.eq_ignore_ascii_case("https") => Scheme::Https,
            other => return Err(unsupported(other)),
        };
        if host.is_empty() {
            return Err(TargetError::Unreachable(Failure::NoHost));
        }
        let number = match port {
            "" => scheme.default_port(),
            port => port.parse().map_err(|_| {
                TargetError::Unreachable(Failure::InvalidPort(Excerpt::new(port.as_bytes())))
            })?,
        };
        let (host, authority) = in_ascii(host, host_port, port)?;
        Ok(Self { scheme, userinfo, authority, host, port: number, path })
    }

    /// Whom to dial for it.
    #[inline]
    pub fn endpoint(&self) -> Endpoint<'_> {
        let is_secure = self.scheme == Scheme::Https;
        Endpoint { host: &self.host, port: self.port, is_secure }
    }

    /// The same, borrowing nothing: to be kept.
    pub fn to_owned_target(&self) -> OwnedTarget {
        OwnedTarget {
            scheme: self.scheme,
            userinfo: self.userinfo.map(str::to_owned),
            authority: self.authority.clone().into_owned(),
            host: self.host.clone().into_owned(),
            port: self.port,
            path: self.path.clone().into_owned(),
        }
    }

    /// User and password of the URL's userinfo.
    pub fn credentials(&self) -> Option<(String, String)> {
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        self.user_and_password().map(|(user, password)| (text(user), text(password)))
    }

    fn user_and_password(&self) -> Option<(Vec<u8>, Vec<u8>)> {
        let userinfo = self.userinfo?;
        let (user, password) = userinfo.split_once(':').unwrap_or((userinfo, ""));
        Some((unescape(user.as_bytes()), unescape(password.as_bytes())))
    }

    /// The value of `Authorization` for the URL's userinfo: `Basic …`.
    pub fn basic_authorization(&self) -> Option<String> {
        let (user, password) = self.user_and_password()?;
        let plain = [&user[..], b":", &password].concat();
        Some(format!("Basic {}", base64::engine::general_purpose::STANDARD.encode(plain)))
    }
}

/// `http://x` is (`http`, `//x`). No scheme is an empty one.
fn split_scheme(url: &str) -> Result<(&str, &str), TargetError> {
    for (at, byte) in url.bytes().enumerate() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' => {}
            b'0'..=b'9' | b'+' | b'-' | b'.' if at > 0 => {}
            b':' if at == 0 => return Err(InvalidUrl::NoScheme.into()),
            b':' => return Ok((&url[..at], &url[at + 1..])),
            _ => break,
        }
    }
    Ok(("", url))
}

fn unsupported(scheme: &str) -> TargetError {
    let scheme = scheme.to_ascii_lowercase();
    TargetError::Unreachable(Failure::UnsupportedScheme(Excerpt::new(scheme.as_bytes())))
}

/// The fault of a URL that has no `//`.
fn without_authority(scheme: &str, rest: &str) -> TargetError {
    let first_segment = rest.split('/').next().unwrap_or_default();
    if scheme.is_empty() && first_segment.contains(':') {
        return InvalidUrl::Colon.into();
    }
    if let Err(error) = path::check(rest) {
        return error.into();
    }
    match scheme.to_ascii_lowercase().as_str() {
        "http" | "https" => TargetError::Unreachable(Failure::NoHost),
        _ => unsupported(scheme),
    }
}

/// Splits `host:port`; the brackets of an IPv6 address come off.
fn split_port(host_port: &str) -> Result<(&str, &str), InvalidUrl> {
    let (host, port) = if let Some(inner) = host_port.strip_prefix('[') {
        inner.rsplit_once(']').ok_or(InvalidUrl::Bracket)?
    } else {
        match host_port.rfind(':') {
            Some(at) => host_port.split_at(at),
            None => (host_port, ""),
        }
    };
    let digits = match port.strip_prefix(':') {
        Some(digits) if digits.bytes().all(|byte| byte.is_ascii_digit()) => digits,
        None if port.is_empty() => "",
        _ => return Err(InvalidUrl::Port(Excerpt::new(port.as_bytes()))),
    };
    let is_allowed = |char: char| {
        char.is_ascii_alphanumeric() || !char.is_ascii() || "-._~!$&'()*+,;=:[]<>\"%".contains(char)
    };
    if let Some(char) = host.chars().find(|&char| !is_allowed(char)) {
        return Err(InvalidUrl::HostCharacter(char));
    }
    // Go takes `%25` for a zone and bytes beyond ASCII only; we take any that has two hex digits.
    for (at, _) in host.match_indices('%') {
        let escape = &host.as_bytes()[at..host.len().min(at + 3)];
        if escape.len() < 3 || !escape[1..].iter().all(u8::is_ascii_hexdigit) {
            return Err(InvalidUrl::Escape(Excerpt::new(escape)));
        }
    }
    Ok((host, digits))
}

/// Host and authority in ASCII, the authority without an empty port.
fn in_ascii<'a>(
    host: &'a str,
    host_port: &'a str,
    port: &str,
) -> Result<(Cow<'a, str>, Cow<'a, str>), InvalidUrl> {
    if host.is_ascii() {
        let authority = host_port.strip_suffix(':').unwrap_or(host_port);
        return Ok((Cow::Borrowed(host), Cow::Borrowed(authority)));
    }
    let url::Host::Domain(ascii) = url::Host::parse(host).map_err(|_| InvalidUrl::Idna)? else {
        return Err(InvalidUrl::Idna);
    };
    let authority = if port.is_empty() { ascii.clone() } else { format!("{ascii}:{port}") };
    Ok((Cow::Owned(ascii), Cow::Owned(authority)))
}

fn is_userinfo(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._:~!$&'()*+,;=%@".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(url: &str) -> Target<'_> {
        Target::parse(url).unwrap()
    }

    fn invalid(url: &str) -> String {
        match Target::parse(url) {
            Err(TargetError::Invalid(error)) => error.of(url),
            other => panic!("{other:?}"),
        }
    }

    fn unreachable(url: &str) -> (u16, String) {
        match Target::parse(url) {
            Err(TargetError::Unreachable(failure)) => (failure.code(), failure.to_string()),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_url_comes_apart() {
        let target = parse("https://us%40r:pa@Example.test:8443/a/b?c=d e#frag");
        assert_eq!(target.scheme, Scheme::Https);
        assert_eq!(target.authority, "Example.test:8443");
        assert_eq!((target.host.as_ref(), target.port), ("Example.test", 8443));
        assert_eq!(target.path, "/a/b?c=d e");
        assert_eq!(target.basic_authorization().unwrap(), "Basic dXNAcjpwYQ==");
        assert!(matches!(target.path, Cow::Borrowed(_)));
    }

    #[test]
    fn what_is_missing_is_filled_in() {
        let bare = parse("http://a");
        assert_eq!((bare.path.as_ref(), bare.port), ("/", 80));
        assert_eq!(parse("http://a?x").path, "/?x");
        assert_eq!(parse("http://a/#f").path, "/");
        assert_eq!(parse("HTTPS://a:").authority, "a");
        let six = parse("http://[::1]:81/");
        assert_eq!((six.host.as_ref(), six.authority.as_ref(), six.port), ("::1", "[::1]:81", 81));
    }

    /// Seen in k6 1.8.1.
    #[test]
    fn the_path_is_escaped_and_the_query_is_not() {
        assert_eq!(parse("http://a/a é?q=é x").path, "/a%20%C3%A9?q=é x");
        assert_eq!(parse("http://a/p\"q").path, "/p%22q");
        assert_eq!(parse("http://a/p%22q[1]").path, "/p%22q[1]");
    }

    #[test]
    fn international_hosts_go_out_in_ascii() {
        let target = parse("http://münchen.test:81/");
        assert_eq!(target.authority, "xn--mnchen-3ya.test:81");
        assert_eq!(target.host, "xn--mnchen-3ya.test");
    }

    /// Seen in k6 1.8.1.
    #[test]
    fn what_is_no_url_is_explained_as_go_does() {
        assert_eq!(
            invalid("http://a b/"),
            r#"parse "http://a b/": invalid character " " in host name"#
        );
        assert_eq!(
            invalid("http://127.0.0.1:x/"),
            r#"parse "http://127.0.0.1:x/": invalid port ":x" after host"#
        );
        assert_eq!(invalid("http://a/p%zz"), r#"parse "http://a/p%zz": invalid URL escape "%zz""#);
        assert!(invalid("http://a\nb").ends_with("net/url: invalid control character in URL"));
        assert!(invalid(":x").ends_with("missing protocol scheme"));
        assert!(invalid("1:2").ends_with("first path segment in URL cannot contain colon"));
        assert!(invalid("http://[::1/").ends_with("missing ']' in host"));
        assert!(invalid("http://a b@c/").ends_with("net/url: invalid userinfo"));
    }

    /// Seen in k6 1.8.1.
    #[test]
    fn what_no_request_can_reach_is_a_failure() {
        let scheme = |name: &str| (1000, format!("unsupported protocol scheme {name:?}"));
        assert_eq!(unreachable("ftp://x/"), scheme("ftp"));
        assert_eq!(unreachable("//x/y"), scheme(""));
        assert_eq!(unreachable(""), scheme(""));
        assert_eq!(unreachable("/x"), scheme(""));
        assert_eq!(unreachable("http:///x"), (1000, "http: no Host in request URL".to_owned()));
        assert_eq!(
            unreachable("http://127.0.0.1:99999/"),
            (1210, "dial tcp: address 99999: invalid port".to_owned())
        );
    }
}
