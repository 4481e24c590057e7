//! The jar of a recorded session: which response set which cookie.

use brunt_traffic::Recording;
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
        for line in response.headers.all("set-cookie").flat_map(str::lines) {
            let Some((cookie, is_gone)) = read(line, &exchange.request.url, index) else {
                continue;
            };
            self.0.retain(|own| {
                (&own.name, &own.host, &own.path) != (&cookie.name, &cookie.host, &cookie.path)
            });
            if !is_gone {
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

fn read(line: &str, url: &Url, exchange: usize) -> Option<(Cookie, bool)> {
    let mut parts = line.split(';');
    let (name, value) = parts.next()?.split_once('=')?;
    let mut cookie = Cookie {
        name: name.trim().to_owned(),
        value: value.trim().to_owned(),
        host: url.host_str().unwrap_or_default().to_ascii_lowercase(),
        is_host_only: true,
        path: default_path(url.path()).to_owned(),
        exchange,
    };
    let mut is_gone = cookie.value.is_empty();
    for part in parts {
        let (name, value) = part.split_once('=').unwrap_or((part, ""));
        let value = value.trim();
        match name.trim().to_ascii_lowercase().as_str() {
            "domain" if !value.trim_start_matches('.').is_empty() => {
                cookie.host = value.trim_start_matches('.').to_ascii_lowercase();
                cookie.is_host_only = false;
            }
            "path" if value.starts_with('/') => value.clone_into(&mut cookie.path),
            "max-age" => is_gone |= value.parse::<i64>().is_ok_and(|age| age <= 0),
            "expires" => {
                is_gone |=
                    value.contains(" 1970 ") || value.contains("-1970 ") || value.contains("-70 ")
            }
            _ => {}
        }
    }
    Some((cookie, is_gone))
}

fn default_path(path: &str) -> &str {
    match path.rfind('/') {
        None | Some(0) => "/",
        Some(end) => &path[..end],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cookie_belongs_to_its_host_and_path() {
        let url = |text: &str| Url::parse(text).expect("a URL");
        let (cookie, is_gone) =
            read("a=b; Path=/app; Secure", &url("http://h.test/app/x"), 0).expect("a cookie");
        assert!(!is_gone && cookie.is_for(&url("http://h.test/app/y")));
        assert!(
            !cookie.is_for(&url("http://h.test/apple")) && !cookie.is_for(&url("http://h/app"))
        );
        let (cookie, _) =
            read("a=b; Domain=.h.test; Path=/", &url("http://x.h.test/"), 0).expect("");
        assert!(cookie.is_for(&url("http://y.h.test/")) && !cookie.is_for(&url("http://yh.test/")));
        assert!(read("a=; Max-Age=0", &url("http://h/"), 0).expect("a cookie").1);
    }
}
