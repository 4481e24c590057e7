//! Cookies, as far as the applications here use them: by host and path, ended by `Max-Age=0`.

use url::Url;

#[derive(Debug, Default)]
pub(super) struct Jar(Vec<Cookie>);

#[derive(Debug)]
struct Cookie {
    host: String,
    path: String,
    name: String,
    value: String,
}

impl Jar {
    /// Takes a `Set-Cookie`.
    pub(super) fn set(&mut self, url: &Url, text: &str) {
        let mut parts = text.split(';').map(str::trim);
        let Some((name, value)) = parts.next().and_then(|pair| pair.split_once('=')) else {
            return;
        };
        let (mut path, mut is_over) = ("/".to_owned(), false);
        for part in parts {
            match part.split_once('=') {
                Some(("Path", value)) => value.clone_into(&mut path),
                Some(("Max-Age", "0")) => is_over = true,
                _ => {}
            }
        }
        let host = url.host_str().unwrap_or_default().to_owned();
        let is_same =
            |known: &Cookie| known.host == host && known.path == path && known.name == name;
        let value = value.to_owned();
        match self.0.iter().position(is_same) {
            Some(at) if is_over => drop(self.0.remove(at)),
            Some(at) => self.0[at].value = value,
            None if is_over => {}
            None => self.0.push(Cookie { host, path, name: name.to_owned(), value }),
        }
    }

    /// The value of `Cookie` for an address.
    pub(super) fn header(&self, url: &Url) -> Option<String> {
        let fits = |cookie: &&Cookie| {
            let below = url.path().strip_prefix(cookie.path.as_str());
            let is_below = below.is_some_and(|rest| {
                rest.is_empty() || rest.starts_with('/') || cookie.path.ends_with('/')
            });
            is_below && url.host_str() == Some(&cookie.host)
        };
        let pairs = self.0.iter().filter(fits).map(|it| format!("{}={}", it.name, it.value));
        let pairs: Vec<_> = pairs.collect();
        (!pairs.is_empty()).then(|| pairs.join("; "))
    }

    /// The value of the cookie of this name.
    pub(super) fn find(&self, name: &str) -> Option<String> {
        self.0.iter().find(|cookie| cookie.name == name).map(|cookie| cookie.value.clone())
    }
}
