//! The jar of a recorded session: which response set which cookie.

use brunt_traffic::Recording;
use brunt_traffic::cookies::{SetCookie, set};
use url::Url;

/// Cookies that responses set.
#[derive(Debug, Clone, Default)]
pub(crate) struct Jar(Vec<Cookie>);

/// A cookie.
#[derive(Debug, Clone)]
pub(crate) struct Cookie {
    pub(crate) name: String,
    pub(crate) value: String,
    host: String,
    is_host_only: bool,
    path: String,
    /// The exchange that set it.
    pub(crate) exchange: usize,
}

impl Jar {
    /// The jar after the response of this exchange.
    pub(crate) fn after(recording: &Recording, exchange: usize) -> Self {
        let mut jar = Self::default();
        for index in 0..=exchange.min(recording.exchanges.len().saturating_sub(1)) {
            jar.take(recording, index);
        }
        jar
    }

    /// Takes what the response of an exchange sets.
    pub(crate) fn take(&mut self, recording: &Recording, index: usize) {
        let Some(exchange) = recording.exchanges.get(index) else { return };
        let Some(response) = &exchange.response else { return };
        for set in set(&response.headers) {
            let cookie = Cookie::new(&set, &exchange.request.url, index);
            self.0.retain(|own| {
                (&own.name, &own.host, &own.path) != (&cookie.name, &cookie.host, &cookie.path)
            });
            if !set.is_removal && !cookie.value.is_empty() {
                self.0.push(cookie);
            }
        }
    }

    /// Those for a URL.
    pub(crate) fn of<'a>(&'a self, url: &'a Url) -> impl Iterator<Item = &'a Cookie> {
        self.0.iter().filter(|cookie| cookie.is_for(url))
    }

    /// Names and values for a URL.
    pub(crate) fn cookies(&self, url: &Url) -> Vec<(String, String)> {
        self.of(url).map(|cookie| (cookie.name.clone(), cookie.value.clone())).collect()
    }
}

impl Cookie {
    fn new(set: &SetCookie<'_>, url: &Url, exchange: usize) -> Self {
        let own = url.host_str().unwrap_or_default();
        let domain = set.domain.filter(|domain| !domain.is_empty());
        Self {
            name: set.name.to_owned(),
            value: set.value.to_owned(),
            host: domain.unwrap_or(own).to_ascii_lowercase(),
            is_host_only: domain.is_none(),
            path: set
                .path
                .filter(|path| path.starts_with('/'))
                .unwrap_or_else(|| default_path(url.path()))
                .to_owned(),
            exchange,
        }
    }

    fn is_for(&self, url: &Url) -> bool {
        let host = url.host_str().unwrap_or_default();
        let is_host = host.eq_ignore_ascii_case(&self.host)
            || (!self.is_host_only
                && host.len() > self.host.len()
                && host.ends_with(&self.host)
                && host.as_bytes()[host.len() - self.host.len() - 1] == b'.');
        let path = url.path();
        is_host
            && path.starts_with(&self.path)
            && (self.path.ends_with('/')
                || matches!(path.as_bytes().get(self.path.len()), None | Some(b'/')))
    }
}

fn default_path(path: &str) -> &str {
    match path.rfind('/') {
        None | Some(0) => "/",
        Some(end) => &path[..end],
    }
}

#[cfg(test)]
mod tests {
    use brunt_traffic::cookies::parse_set;

    use super::*;

    fn url(text: &str) -> Url {
        Url::parse(text).expect("a URL")
    }

    fn cookie(line: &str, of: &str) -> Cookie {
        Cookie::new(&parse_set(line).expect("a cookie"), &url(of), 0)
    }

    #[test]
    fn a_cookie_belongs_to_its_host_and_path() {
        let own = cookie("a=b; Path=/app; Secure", "http://h.test/app/x");
        assert!(own.is_for(&url("http://h.test/app/y")));
        assert!(!own.is_for(&url("http://h.test/apple")) && !own.is_for(&url("http://h/app")));
        let wide = cookie("a=b; Domain=.h.test; Path=/", "http://x.h.test/");
        assert!(wide.is_for(&url("http://y.h.test/")) && !wide.is_for(&url("http://yh.test/")));
        assert!(cookie("a=b", "http://h/x/y").is_for(&url("http://h/x/z")));
    }
}
