//! Which exchanges of a recording become part of a script.

mod noise;

use std::fmt;
use std::str::FromStr;

use regex_lite::Regex;
use thiserror::Error;
use url::Url;

use crate::{Exchange, Recording, Resource};

/// Which exchanges are kept. The default leaves out noise, preflights and requests that got no response.
#[derive(Debug, Clone)]
pub struct Filter {
    /// If there are any: only requests to these hosts.
    pub only: Vec<HostPattern>,
    /// If there are any: only URLs that one of them matches.
    pub allow: Vec<UrlPattern>,
    /// No URL that one of them matches; they come before `allow`.
    pub deny: Vec<UrlPattern>,
    /// Whether styles, scripts, pictures, fonts, sound and film are kept.
    pub static_resources: bool,
    /// Whether requests that browsers make for themselves, and those to trackers, are kept. Hosts of `only` are no noise.
    pub noise: bool,
    /// Whether requests without a response are kept: cancelled, blocked, or to a server that was down.
    pub unanswered: bool,
}

impl Default for Filter {
    fn default() -> Self {
        Self {
            only: Vec::new(),
            allow: Vec::new(),
            deny: Vec::new(),
            static_resources: true,
            noise: false,
            unanswered: false,
        }
    }
}

impl Filter {
    /// Takes out of a recording what the filter does not keep, and counts it in `left_out`.
    pub fn apply(&self, recording: &mut Recording) {
        let mut left_out: Vec<(&str, u64)> = Vec::new();
        recording.exchanges.retain(|exchange| {
            let Some(why) = self.reason(exchange) else { return true };
            match left_out.iter_mut().find(|(own, _)| *own == why) {
                Some((_, count)) => *count += 1,
                None => left_out.push((why, 1)),
            }
            false
        });
        for (why, count) in left_out {
            match recording.left_out.iter_mut().find(|(own, _)| own == why) {
                Some((_, sum)) => *sum += count,
                None => recording.left_out.push((why.to_owned(), count)),
            }
        }
    }

    /// Why an exchange is left out, for the user; `None` if it is kept.
    pub fn reason(&self, exchange: &Exchange) -> Option<&'static str> {
        if let Some(why) = self.reason_of_url(&exchange.request.url) {
            return Some(why);
        }
        let resource = Resource::of(exchange);
        if resource == Resource::Preflight {
            return Some("CORS preflights");
        }
        if !self.unanswered && exchange.response.is_none() {
            return Some("requests without a response (cancelled, blocked, failed)");
        }
        (!self.static_resources && resource.is_static())
            .then_some("static resources (styles, scripts, pictures, fonts, media)")
    }

    /// Why every request to a URL is left out; `None` if the URL does not tell.
    pub fn reason_of_url(&self, url: &Url) -> Option<&'static str> {
        let is_wished = self.only.iter().any(|host| host.matches(url));
        if !self.only.is_empty() && !is_wished {
            return Some("requests to other hosts");
        }
        if self.deny.iter().any(|pattern| pattern.matches(url)) {
            return Some("URLs on the deny list");
        }
        if !self.allow.is_empty() {
            let is_allowed = self.allow.iter().any(|pattern| pattern.matches(url));
            return (!is_allowed).then_some("URLs that the allow list lacks");
        }
        (!self.noise && !is_wished).then(|| noise::of(url)).flatten()
    }
}

/// A host: `shop.test`, `*.shop.test` (all below it), `shop.test:8080`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostPattern {
    host: String,
    /// Whether names below it are meant.
    below: bool,
    port: Option<u16>,
}

impl HostPattern {
    /// Whether a URL's host is meant. Without a port all ports are.
    pub fn matches(&self, url: &Url) -> bool {
        let host = url.host_str().unwrap_or_default();
        let is_host = if self.below {
            host.strip_suffix(self.host.as_str()).is_some_and(|rest| rest.ends_with('.'))
        } else {
            host == self.host
        };
        is_host && (self.port.is_none() || self.port == url.port_or_known_default())
    }
}

impl FromStr for HostPattern {
    type Err = PatternError;

    fn from_str(text: &str) -> Result<Self, PatternError> {
        let wrong = || PatternError::Host(text.to_owned());
        let trimmed = text.trim();
        let (below, rest) = match trimmed.strip_prefix("*.") {
            Some(rest) => (true, rest),
            None => (false, trimmed),
        };
        // A URL that the user copied is its host.
        let url = if rest.contains("://") { rest.to_owned() } else { format!("ws://{rest}") };
        let url = Url::parse(&url).map_err(|_| wrong())?;
        let host = url.host_str().ok_or_else(wrong)?.to_owned();
        let is_plain =
            rest.contains("://") || matches!(url.path(), "" | "/") && url.query().is_none();
        if host.contains('*') || !is_plain {
            return Err(wrong());
        }
        // The port of a pattern is the one that is written, the default one included.
        let written =
            rest.rsplit_once(':').and_then(|(_, port)| port.trim_end_matches('/').parse().ok());
        Ok(Self { host, below, port: url.port().or(written) })
    }
}

/// A regular expression for whole URLs.
#[derive(Clone)]
pub struct UrlPattern(Regex);

impl UrlPattern {
    /// Whether it matches the whole URL.
    pub fn matches(&self, url: &Url) -> bool {
        self.0.is_match(url.as_str())
    }
}

impl fmt::Debug for UrlPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.as_str())
    }
}

impl FromStr for UrlPattern {
    type Err = PatternError;

    fn from_str(text: &str) -> Result<Self, PatternError> {
        let wrong =
            |error: regex_lite::Error| PatternError::Url(text.to_owned(), error.to_string());
        // By itself first: `a)(b` must not become valid by the brackets around it.
        Regex::new(text).map_err(wrong)?;
        Regex::new(&format!("^(?:{text})$")).map(Self).map_err(wrong)
    }
}

/// A pattern that can't be read.
#[derive(Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum PatternError {
    /// Not a host.
    #[error("{0:?} is no host: write shop.test, *.shop.test or shop.test:8080")]
    Host(String),
    /// Not a regular expression.
    #[error("{0:?} is no regular expression for whole URLs, as .*/api/.* is: {1}")]
    Url(String, String),
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::har;

    fn host(text: &str) -> HostPattern {
        text.parse().expect("a host")
    }

    fn url(text: &str) -> Url {
        Url::parse(text).expect("a URL")
    }

    #[test]
    fn hosts_match_names_below_them_only_with_a_star() {
        assert!(host("shop.test").matches(&url("https://shop.test/a")));
        assert!(!host("shop.test").matches(&url("https://www.shop.test/a")));
        assert!(host("*.shop.test").matches(&url("https://www.shop.test/a")));
        assert!(!host("*.shop.test").matches(&url("https://shop.test/a")));
        assert!(!host("*.shop.test").matches(&url("https://myshop.test/a")));
        assert!(host("SHOP.test:8080").matches(&url("http://shop.test:8080/")));
        assert!(!host("shop.test:8080").matches(&url("http://shop.test/")));
        assert!(host("shop.test:443").matches(&url("https://shop.test/")));
        assert!(host("shop.test:80").matches(&url("http://shop.test/")));
        assert!(!host("shop.test:80").matches(&url("https://shop.test/")));
        assert!(host("http://127.0.0.1:9101/admin/").matches(&url("http://127.0.0.1:9101/")));
        assert!(host("[::1]:9101").matches(&url("http://[::1]:9101/")));
        for wrong in ["", "a b", "*", "shop.*", "shop.test/path", "*.", "shop.test:x"] {
            assert!(wrong.parse::<HostPattern>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn deny_comes_before_allow_and_both_match_whole_urls() {
        let filter = Filter {
            allow: vec![".*/api/.*".parse().expect("a pattern")],
            deny: vec![".*[.]png".parse().expect("a pattern")],
            ..Filter::default()
        };
        let reason = |text: &str| filter.reason_of_url(&url(text));
        assert_eq!(reason("http://a.test/api/x"), None);
        assert_eq!(reason("http://a.test/api/x.png"), Some("URLs on the deny list"));
        assert_eq!(reason("http://a.test/x"), Some("URLs that the allow list lacks"));
        assert!("a)(b".parse::<UrlPattern>().is_err());
        assert!(!"a|b".parse::<UrlPattern>().expect("a pattern").matches(&url("a:")));
    }

    #[test]
    fn noise_is_left_out_unless_it_is_asked_for() {
        let noisy = url("https://update.googleapis.com/service/update2/json");
        assert!(Filter::default().reason_of_url(&noisy).is_some());
        let all = Filter { noise: true, ..Filter::default() };
        assert_eq!(all.reason_of_url(&noisy), None);
        let only = Filter { only: vec![host("update.googleapis.com")], ..Filter::default() };
        assert_eq!(only.reason_of_url(&noisy), None);
        assert!(only.reason_of_url(&url("https://shop.test/")).is_some());
    }

    #[test]
    fn preflights_failures_and_resources_are_counted() {
        let entry = |method: &str, path: &str, status: u16, more: &str| {
            format!(
                r#"{{"request": {{"method": "{method}", "url": "http://a.test{path}", "headers": [{more}]}},
                    "response": {{"status": {status}, "headers": []}}}}"#
            )
        };
        let preflight = r#"{"name": "Access-Control-Request-Method", "value": "PUT"}"#;
        let entries = [
            entry("GET", "/", 200, ""),
            entry("OPTIONS", "/x", 204, preflight),
            entry("OPTIONS", "/x", 204, ""),
            entry("GET", "/a.css", 200, ""),
            entry("GET", "/b.JPG?x=1", 200, ""),
            entry("POST", "/c.js", 200, ""),
            entry("GET", "/gone", 0, ""),
        ];
        let text = format!(r#"{{"log": {{"entries": [{}]}}}}"#, entries.join(","));
        let mut recording = har::read(text.as_bytes()).expect("a HAR");
        Filter { static_resources: false, ..Filter::default() }.apply(&mut recording);
        let kept: Vec<_> = recording.exchanges.iter().map(|exchange| exchange.number).collect();
        assert_eq!(kept, [0, 2, 5]);
        assert_eq!(
            recording.left_out.iter().map(|(_, count)| *count).collect::<Vec<_>>(),
            [1, 2, 1]
        );
    }
}
