//! The cookies of one VU.

use std::net::IpAddr;

use super::SetCookie;
use crate::target::{Scheme, Target};

/// The most cookies that a jar holds. At the next one, the oldest is forgotten.
const COOKIES_MAX: usize = 3000;

/// The most bytes of names, values, domains and paths together. Beyond them the oldest cookies are forgotten.
const BYTES_MAX: usize = 16 << 20;

/// A cookie jar, RFC 6265 §5.3 and §5.4, without a list of public suffixes (as k6's). An empty one
/// holds no memory.
#[derive(Clone, Debug, Default)]
pub struct Jar {
    /// In the order of their creation.
    cookies: Vec<Cookie>,
    /// Of the cookies, or more: it is counted anew when it passes the limit.
    bytes: usize,
}

#[derive(Clone, Debug)]
struct Cookie {
    name: String,
    value: String,
    /// Lower case, without a leading dot.
    domain: String,
    path: String,
    /// Only for `domain` itself, not for what is below it.
    host_only: bool,
    secure: bool,
    /// Milliseconds since the Unix epoch.
    expires_ms: Option<i64>,
}

impl Cookie {
    fn bytes(&self) -> usize {
        self.name.len() + self.value.len() + self.domain.len() + self.path.len()
    }
}

/// The part of a URL that cookies look at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scope {
    host: String,
    path: String,
    is_secure: bool,
}

impl Scope {
    /// Of a request's target. Loopback counts as secure, as in k6.
    pub fn of(target: &Target<'_>) -> Self {
        let host = target.host.trim_end_matches('.').to_ascii_lowercase();
        let is_loopback =
            host == "localhost" || host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback());
        let path = target.path.split('?').next().unwrap_or("/").to_owned();
        Self { is_secure: target.scheme == Scheme::Https || is_loopback, host, path }
    }

    /// RFC 6265 §5.1.4: the directory of the path.
    fn default_path(&self) -> &str {
        match self.path.rfind('/') {
            None | Some(0) => "/",
            Some(at) => &self.path[..at],
        }
    }

    fn sees(&self, cookie: &Cookie, now_ms: i64) -> bool {
        let by_host =
            self.host == cookie.domain || !cookie.host_only && is_below(&self.host, &cookie.domain);
        by_host
            && (self.is_secure || !cookie.secure)
            && covers(&cookie.path, &self.path)
            && cookie.expires_ms.is_none_or(|expires| expires > now_ms)
    }

    /// Whether it is of the domain and path that a cookie from here has if it names none.
    fn sets(&self, cookie: &Cookie) -> bool {
        cookie.domain == self.host && cookie.path == self.default_path()
    }
}

impl Jar {
    /// An empty jar.
    pub fn new() -> Self {
        Self::default()
    }

    /// There is no cookie, not even an expired one.
    pub fn is_empty(&self) -> bool {
        self.cookies.is_empty()
    }

    /// Takes a cookie in, as if the response from `scope` had set it. `now_ms`: milliseconds since the
    /// Unix epoch. `false`: refused, for its domain isn't one that `scope` may set.
    pub fn set(&mut self, scope: &Scope, cookie: &SetCookie, now_ms: i64) -> bool {
        let Some((domain, host_only)) = domain(scope, &cookie.domain) else {
            return false;
        };
        let path = if cookie.path.starts_with('/') { &cookie.path } else { scope.default_path() };
        let expires_ms = match cookie.max_age {
            0 => cookie.expires_ms,
            age if age < 0 => Some(i64::MIN),
            age => Some(now_ms.saturating_add(age.saturating_mul(1000))),
        };
        let same = |other: &Cookie| {
            other.name == cookie.name && other.domain == domain && other.path == path
        };
        let at = self.cookies.iter().position(same);
        if expires_ms.is_some_and(|expires| expires <= now_ms) {
            if let Some(at) = at {
                self.cookies.remove(at);
            }
            return true;
        }
        let new = Cookie {
            name: cookie.name.clone(),
            value: cookie.value.clone(),
            path: path.to_owned(),
            domain,
            host_only,
            secure: cookie.secure,
            expires_ms,
        };
        self.bytes += new.bytes();
        if let Some(at) = at {
            // Its place, and so its creation time, stays.
            self.cookies[at] = new;
        } else {
            if self.cookies.len() >= COOKIES_MAX {
                self.cookies.remove(0);
            }
            self.cookies.push(new);
        }
        if self.bytes > BYTES_MAX {
            self.forget_oldest();
        }
        true
    }

    /// Forgets as many as are too large together.
    #[cold]
    fn forget_oldest(&mut self) {
        self.bytes = self.cookies.iter().map(Cookie::bytes).sum();
        let mut oldest = 0;
        while self.bytes > BYTES_MAX {
            self.bytes -= self.cookies[oldest].bytes();
            oldest += 1;
        }
        self.cookies.drain(..oldest);
    }

    /// Takes in all `Set-Cookie` of a response, given their values.
    pub fn set_from_response<'a>(
        &mut self,
        scope: &Scope,
        values: impl IntoIterator<Item = &'a [u8]>,
        now_ms: i64,
    ) {
        for cookie in values.into_iter().filter_map(SetCookie::parse) {
            self.set(scope, &cookie, now_ms);
        }
    }

    /// Names and values for a request: longer paths first, then in the order of creation.
    pub fn cookies_for(&self, scope: &Scope, now_ms: i64) -> Vec<(&str, &str)> {
        let mut seen: Vec<&Cookie> =
            self.cookies.iter().filter(|cookie| scope.sees(cookie, now_ms)).collect();
        seen.sort_by_key(|cookie| std::cmp::Reverse(cookie.path.len()));
        seen.into_iter().map(|cookie| (cookie.name.as_str(), cookie.value.as_str())).collect()
    }

    /// Removes the cookie of this name that a response from `scope` would set if it gave neither domain nor path: as in
    /// k6, not one of another path, even if a request to `scope` would send it.
    pub fn delete(&mut self, scope: &Scope, name: &str) {
        self.cookies.retain(|cookie| cookie.name != name || !scope.sets(cookie));
    }

    /// Deletes all cookies, in the way of [`delete`](Self::delete), whose names a request to `scope` would send.
    pub fn clear(&mut self, scope: &Scope) {
        let is_sent = |cookie: &&Cookie| scope.sees(cookie, i64::MIN);
        let sent: Vec<_> =
            self.cookies.iter().filter(is_sent).map(|cookie| cookie.name.clone()).collect();
        for name in sent {
            self.delete(scope, &name);
        }
    }
}

/// The domain a cookie is for and whether it is for that host only; `None` if `scope` may not set it.
fn domain(scope: &Scope, attribute: &str) -> Option<(String, bool)> {
    if attribute.is_empty() {
        return Some((scope.host.clone(), true));
    }
    let domain = attribute.strip_prefix('.').unwrap_or(attribute).to_ascii_lowercase();
    if scope.host.parse::<IpAddr>().is_ok() {
        return (domain == scope.host).then_some((domain, true));
    }
    if domain.is_empty() || domain.starts_with('.') || domain.ends_with('.') {
        return None;
    }
    (domain == scope.host || is_below(&scope.host, &domain)).then_some((domain, false))
}

/// `a.b.c` is below `b.c`; addresses are below nothing.
fn is_below(host: &str, domain: &str) -> bool {
    host.strip_suffix(domain).is_some_and(|rest| rest.ends_with('.'))
        && host.parse::<IpAddr>().is_err()
}

/// RFC 6265 §5.1.4.
fn covers(cookie_path: &str, path: &str) -> bool {
    path.strip_prefix(cookie_path)
        .is_some_and(|rest| rest.is_empty() || cookie_path.ends_with('/') || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scope(url: &str) -> Scope {
        Scope::of(&Target::parse(url).unwrap())
    }

    fn jar(url: &str, lines: &[&str]) -> Jar {
        let mut jar = Jar::new();
        jar.set_from_response(&scope(url), lines.iter().map(|line| line.as_bytes()), 1000);
        jar
    }

    fn sent(jar: &Jar, url: &str, now_ms: i64) -> String {
        let mut out = String::new();
        for (name, value) in jar.cookies_for(&scope(url), now_ms) {
            super::super::append(&mut out, name, value);
        }
        out
    }

    #[test]
    fn cookies_go_to_their_host_and_directory() {
        let jar = jar("http://x.test/a/b?c", &["one=1", "two=2; path=/", "three=3; path=/a/b"]);
        assert_eq!(sent(&jar, "http://X.test:81/a/b/c", 0), "three=3; one=1; two=2");
        assert_eq!(sent(&jar, "http://x.test/a", 0), "one=1; two=2");
        assert_eq!(sent(&jar, "http://x.test/ab", 0), "two=2");
        assert_eq!(sent(&jar, "http://y.x.test/a/b", 0), "");
    }

    #[test]
    fn a_domain_reaches_down_but_never_sideways_or_up() {
        let lines = [
            "a=1; domain=.x.test",
            "b=2; domain=y.test",
            "c=3; domain=a.b.x.test",
            "d=4; domain=test.",
        ];
        let jar = jar("http://b.x.test/", &lines);
        assert_eq!(sent(&jar, "http://c.x.test/", 0), "a=1");
        assert_eq!(sent(&jar, "http://x.test/", 0), "a=1");
        assert_eq!(sent(&jar, "http://y.test/", 0), "");
        assert_eq!(sent(&jar, "http://ax.test/", 0), "");
    }

    #[test]
    fn an_address_has_no_domain_below_it() {
        let jar = jar("http://1.2.3.4/", &["a=1; domain=1.2.3.4", "b=2; domain=3.4"]);
        assert_eq!(sent(&jar, "http://1.2.3.4/", 0), "a=1");
        assert_eq!(sent(&jar, "http://0.1.2.3.4/", 0), "");
    }

    #[test]
    fn secure_cookies_need_tls_or_loopback() {
        let jar = jar("https://x.test/", &["a=1; secure"]);
        assert_eq!(sent(&jar, "http://x.test/", 0), "");
        assert_eq!(sent(&jar, "https://x.test/", 0), "a=1");
        let local = super::tests::jar("http://127.0.0.1/", &["a=1; secure"]);
        assert_eq!(sent(&local, "http://127.0.0.1/", 0), "a=1");
    }

    #[test]
    fn cookies_expire_and_are_deleted_by_the_past() {
        let url = "http://x.test/";
        let mut jar =
            jar(url, &["a=1; max-age=2", "b=2", "c=3; expires=Thu, 01 Jan 1970 00:00:09 GMT"]);
        assert_eq!(sent(&jar, url, 2999), "a=1; b=2; c=3");
        assert_eq!(sent(&jar, url, 3000), "b=2; c=3");
        assert_eq!(sent(&jar, url, 9000), "b=2");
        jar.set_from_response(&scope(url), [&b"b=; max-age=0"[..], b"a=9"], 1000);
        assert_eq!(sent(&jar, url, 2000), "a=9; c=3");
    }

    #[test]
    fn delete_and_clear_reach_what_the_url_would_set() {
        let url = "http://www.x.test/a/b";
        let cookies = ["a=1", "b=2", "up=3; path=/", "deep=4; path=/a/b", "wide=5; domain=x.test"];
        let mut jar = jar(url, &cookies);
        for name in ["a", "up", "deep", "wide"] {
            jar.delete(&scope(url), name);
        }
        assert_eq!(sent(&jar, url, 0), "deep=4; b=2; wide=5; up=3");
        jar.clear(&scope(url));
        assert_eq!(sent(&jar, url, 0), "deep=4; wide=5; up=3");
        jar.clear(&scope("http://www.x.test/"));
        assert_eq!(sent(&jar, url, 0), "deep=4; wide=5");
    }

    #[test]
    fn a_jar_is_bounded() {
        let mut jar = Jar::new();
        let scope = scope("http://x.test/");
        for n in 0..COOKIES_MAX + 5 {
            let cookie = SetCookie { name: format!("n{n}"), ..SetCookie::default() };
            assert!(jar.set(&scope, &cookie, 0));
        }
        assert_eq!(jar.cookies.len(), COOKIES_MAX);
        assert_eq!(jar.cookies[0].name, "n5");
    }

    #[test]
    fn a_jar_holds_so_many_bytes_and_forgets_the_oldest() {
        let (mut jar, scope) = (Jar::new(), scope("http://a.test/"));
        let value = "x".repeat(1 << 20);
        let cookie = |n: usize, value: &str| SetCookie {
            name: format!("c{n}"),
            value: value.to_owned(),
            ..SetCookie::default()
        };
        (0..100).for_each(|n| assert!(jar.set(&scope, &cookie(n, &value), 0)));
        assert_eq!((jar.cookies.len(), &*jar.cookies[0].name), (15, "c85"));
        // One that is set again and again takes the place of no other.
        (0..100).for_each(|_| assert!(jar.set(&scope, &cookie(99, &value), 0)));
        assert_eq!(jar.cookies.len(), 15);
        // One that is larger than all may be is forgotten itself.
        jar.set(&scope, &cookie(100, &"x".repeat(BYTES_MAX)), 0);
        assert!(jar.is_empty() && jar.bytes == 0);
    }
}
