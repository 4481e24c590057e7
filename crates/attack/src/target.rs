//! Where hits go: read from lines, ready to be sent.

mod http;
mod json;
mod lines;
mod reader;

use std::sync::Arc;

use brunt_http::{Failure, Headers, OwnedTarget, TargetError as UrlError};

pub use lines::LINE_MAX;
pub use reader::{Format, TargetReader};

/// The properties of every target that does not set its own.
#[derive(Clone, Debug, Default)]
pub struct Defaults {
    /// Headers that come before the target's own; one that both have is sent twice.
    pub headers: Vec<(String, String)>,
    /// The body of targets without one.
    pub body: Arc<[u8]>,
    /// The attack's name, sent as `X-Vegeta-Attack`, if there is one.
    pub attack: String,
    /// Don't ask for gzip.
    pub no_gzip: bool,
}

/// One place to hit: parsed once, and sent as often as need be.
#[derive(Clone, Debug)]
pub struct Target {
    /// The method, as it is sent.
    pub method: String,
    /// The URL, as it was written.
    pub url: String,
    /// The request's body.
    pub body: Arc<[u8]>,
    /// Headers as they go on the wire.
    pub(crate) headers: Headers,
    /// The value of `Host`, in place of the URL's authority.
    pub(crate) host: Option<String>,
    /// Where it leads; or why every hit on it fails.
    pub(crate) way: Result<OwnedTarget, Failure>,
    /// It asked for gzip not by itself, but because we did.
    pub(crate) gzip_is_ours: bool,
}

impl Target {
    /// The headers as they go on the wire, but for those that each hit has its own of.
    pub fn headers(&self) -> Vec<(String, String)> {
        let host = self.host.iter().map(|host| ("Host".to_owned(), host.clone()));
        let others = self.headers.iter().map(|(name, value)| (name.to_owned(), value.to_owned()));
        host.chain(others).collect()
    }
}

/// Why there is no target. `Display` names the place: lines are counted from 1.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TargetError {
    /// The source ended before there was one.
    #[error("no targets to attack")]
    None,
    /// A line without a space, or no JSON.
    #[error("bad target: {text} (line {line})")]
    Target {
        /// The wrong text.
        text: String,
        /// Where.
        line: u64,
    },
    /// A method that isn't upper case.
    #[error("bad method: {text} (line {line})")]
    Method {
        /// The first word.
        text: String,
        /// Where.
        line: u64,
    },
    /// A URL that isn't one.
    #[error("bad URL: {url}, {reason} (line {line})")]
    Url {
        /// The wrong text.
        url: String,
        /// Why it isn't one.
        reason: String,
        /// Where.
        line: u64,
    },
    /// A header without name or value, or one that can't be sent.
    #[error("bad header: {text} (line {line})")]
    Header {
        /// The wrong text.
        text: String,
        /// Where.
        line: u64,
    },
    /// The file of a body can't be read.
    #[error("bad body: {source} (line {line})")]
    Body {
        /// Which file, and why.
        source: std::io::Error,
        /// Where.
        line: u64,
    },
    /// Headers run into the next target.
    #[error("missing blank line before next target: {text} (line {line})")]
    NoBlankLine {
        /// The request line.
        text: String,
        /// Where.
        line: u64,
    },
    /// `method` or `url` is missing in a JSON target.
    #[error("target: required {key} is missing (line {line})")]
    Missing {
        /// Which.
        key: &'static str,
        /// Where.
        line: u64,
    },
    /// A line beyond [`LINE_MAX`].
    #[error("line {line} is longer than {LINE_MAX} bytes")]
    TooLong {
        /// Where.
        line: u64,
    },
    /// Not UTF-8.
    #[error("line {line} is not UTF-8")]
    NotUtf8 {
        /// Where.
        line: u64,
    },
    /// The source can't be read.
    #[error("can't read the targets")]
    Read(#[from] std::io::Error),
}

impl Target {
    /// Makes a target ready to be sent.
    ///
    /// `headers` come behind those of `defaults`; `Host` (in exactly this case) isn't sent as a header but says who is
    /// asked for. `line` is for the error only.
    ///
    /// # Errors
    /// A header that can't be sent; a URL that isn't one.
    pub fn new(
        method: &str,
        url: &str,
        headers: &[(String, String)],
        body: Option<Arc<[u8]>>,
        defaults: &Defaults,
        line: u64,
    ) -> Result<Self, TargetError> {
        let bad_url = |reason: String| TargetError::Url { url: url.to_owned(), reason, line };
        let parsed = match brunt_http::Target::parse(url) {
            // `http://:80/` is localhost.
            Err(UrlError::Unreachable(Failure::NoHost)) if url.contains("://:") => {
                let local = url.replacen("://:", "://localhost:", 1);
                own(&local).map_err(|reason| bad_url(reason.of(url)))?
            }
            _ => own(url).map_err(|reason| bad_url(reason.of(url)))?,
        };
        let all = || defaults.headers.iter().chain(headers);
        let has = |name: &str| all().any(|(other, _)| other.eq_ignore_ascii_case(name));
        let mut wire = Headers::new();
        let mut put = |name: &str, value: &str| {
            wire.append(name, value)
                .map_err(|_| TargetError::Header { text: format!("{name}: {value}"), line })
        };
        // It comes first, where Go puts it.
        match all().find(|(name, _)| name.eq_ignore_ascii_case("user-agent")) {
            Some((_, agent)) => put("User-Agent", agent)?,
            None => put("User-Agent", concat!("brunt/", env!("CARGO_PKG_VERSION")))?,
        }
        let mut host = None;
        for (name, value) in all() {
            match name.as_str() {
                "Host" => host = Some(value.clone()),
                name if name.eq_ignore_ascii_case("user-agent") => {}
                name => put(name, value)?,
            }
        }
        if let Some(basic) = parsed.as_ref().ok().and_then(|way| way.borrow().basic_authorization())
            && !has("authorization")
        {
            put("Authorization", &basic)?;
        }
        let gzip_is_ours = !defaults.no_gzip && !has("accept-encoding") && !has("range");
        if gzip_is_ours && method != "HEAD" {
            put("Accept-Encoding", "gzip")?;
        }
        if !defaults.attack.is_empty() {
            put("X-Vegeta-Attack", &defaults.attack)?;
        }
        Ok(Self {
            method: method.to_owned(),
            url: url.to_owned(),
            body: body.filter(|body| !body.is_empty()).unwrap_or_else(|| defaults.body.clone()),
            headers: wire,
            host,
            way: parsed,
            gzip_is_ours,
        })
    }
}

/// A target that can't be reached may be hit all the same: each hit says why it fails.
fn own(url: &str) -> Result<Result<OwnedTarget, Failure>, brunt_http::InvalidUrl> {
    match brunt_http::Target::parse(url) {
        Ok(target) => Ok(Ok(target.to_owned_target())),
        Err(UrlError::Unreachable(failure)) => Ok(Err(failure)),
        Err(UrlError::Invalid(invalid)) => Err(invalid),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(url: &str, headers: &[(&str, &str)], defaults: &Defaults) -> Target {
        let own = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        let headers: Vec<_> = headers.iter().map(own).collect();
        Target::new("GET", url, &headers, None, defaults, 1).unwrap()
    }

    fn lines(target: &Target) -> Vec<String> {
        target.headers.iter().map(|(name, value)| format!("{name}: {value}")).collect()
    }

    #[test]
    fn headers_of_all_come_first_and_are_not_replaced() {
        let defaults = Defaults {
            headers: vec![("X-a".into(), "1".into())],
            attack: "big".into(),
            ..Defaults::default()
        };
        let one = target("http://u:p@a.test/", &[("X-a", "2"), ("Host", "h.test")], &defaults);
        let agent = concat!("User-Agent: brunt/", env!("CARGO_PKG_VERSION"));
        assert_eq!(
            lines(&one),
            [
                agent,
                "X-a: 1",
                "X-a: 2",
                "Authorization: Basic dTpw",
                "Accept-Encoding: gzip",
                "X-Vegeta-Attack: big"
            ]
        );
        assert_eq!(one.host.as_deref(), Some("h.test"));
        let own = [("user-agent", "me"), ("accept-encoding", "br"), ("authorization", "x")];
        let two = target("http://u:p@a.test/", &own, &Defaults::default());
        assert_eq!(lines(&two), ["User-Agent: me", "accept-encoding: br", "authorization: x"]);
    }

    #[test]
    fn no_host_is_this_one_and_no_scheme_fails_when_it_is_hit() {
        let here = target("http://:8080/x", &[], &Defaults::default());
        assert_eq!(here.way.unwrap().borrow().authority, "localhost:8080");
        assert!(target("/x", &[], &Defaults::default()).way.is_err());
    }
}
