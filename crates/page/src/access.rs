//! Permission to look: by the names in `Host` and `Origin`, and by a token where others than this machine can reach the page.

use std::net::{IpAddr, SocketAddr};

use http::header::{HOST, ORIGIN};
use http::{HeaderMap, HeaderName, StatusCode, Uri};

/// The rules of one server.
#[derive(Clone, Debug)]
pub struct Access {
    /// The host as its user wrote it.
    named: String,
    machine: Option<String>,
    is_local: bool,
    token: Option<String>,
}

impl Access {
    /// For a server that listens here. `named`: the host as its user wrote it; `machine`: the name of this machine.
    ///
    /// # Errors
    /// The system has no random numbers for a token.
    pub fn new(at: SocketAddr, named: &str, machine: Option<String>) -> std::io::Result<Self> {
        let is_local = at.ip().is_loopback();
        let token = if is_local { None } else { Some(random()?) };
        Ok(Self { named: named.to_owned(), machine, is_local, token })
    }

    /// The token, if one is needed.
    pub fn token(&self) -> Option<&str> {
        self.token.as_deref()
    }

    /// An address of the site with the token behind it.
    pub fn address(&self, path: &str) -> String {
        match &self.token {
            None => path.to_owned(),
            Some(token) if path.contains('?') => format!("{path}&token={token}"),
            Some(token) => format!("{path}?token={token}"),
        }
    }

    /// Whether a request may be answered.
    ///
    /// # Errors
    /// It may not; the answer says why.
    pub fn check(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), (StatusCode, &'static str)> {
        let text = |name: HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
        let host = text(HOST).ok_or((StatusCode::BAD_REQUEST, "the request names no host\n"))?;
        if !self.knows(host) {
            let why =
                "this page is not served under that name: use the address that Brunt printed\n";
            return Err((StatusCode::FORBIDDEN, why));
        }
        if headers.contains_key(ORIGIN) {
            let origin = text(ORIGIN).unwrap_or_default();
            let of = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
            if !of.is_some_and(|of| of.eq_ignore_ascii_case(host)) {
                return Err((StatusCode::FORBIDDEN, "pages of other sites may not ask here\n"));
            }
        }
        let Some(token) = &self.token else { return Ok(()) };
        let mut pairs = uri.query().unwrap_or_default().split('&');
        let given = pairs.find_map(|pair| pair.strip_prefix("token=")).unwrap_or_default();
        if !is_same(given, token) {
            let why = "a token is missing or wrong: use the whole address that Brunt printed\n";
            return Err((StatusCode::UNAUTHORIZED, why));
        }
        Ok(())
    }

    /// Whether a host is this machine. Names that others chose could lead pages of theirs here.
    fn knows(&self, host: &str) -> bool {
        let name = match host.strip_prefix('[') {
            Some(rest) => rest.split(']').next().unwrap_or_default(),
            None => host.rsplit_once(':').map_or(host, |(name, _)| name),
        };
        if let Ok(ip) = name.parse::<IpAddr>() {
            return !self.is_local || ip.is_loopback();
        }
        let is = |other: &str| !other.is_empty() && name.eq_ignore_ascii_case(other);
        let machine = self.machine.as_deref().unwrap_or_default();
        is("localhost")
            || is(&self.named)
            || !self.is_local && (is(machine) || is(machine.split('.').next().unwrap_or_default()))
    }
}

/// Takes as long whatever is wrong.
fn is_same(given: &str, token: &str) -> bool {
    let differences = given.bytes().zip(token.bytes()).fold(0, |all, (a, b)| all | (a ^ b));
    given.len() == token.len() && differences == 0
}

/// The name of this machine, if it is known.
pub fn machine() -> Option<String> {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").ok();
    name.map(|name| name.trim().to_owned())
}

fn random() -> std::io::Result<String> {
    let mut bytes = [0_u8; 16];
    getrandom::fill(&mut bytes).map_err(|error| std::io::Error::other(error.to_string()))?;
    Ok(format!("{:032x}", u128::from_be_bytes(bytes)))
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn asked(access: &Access, path: &str, host: &str, origin: Option<&str>) -> u16 {
        let mut headers = HeaderMap::new();
        headers.insert(HOST, HeaderValue::from_str(host).expect("a host"));
        if let Some(origin) = origin {
            headers.insert(ORIGIN, HeaderValue::from_str(origin).expect("an origin"));
        }
        let uri: Uri = path.parse().expect("a path");
        access.check(&uri, &headers).map_or_else(|(status, _)| status.as_u16(), |()| 200)
    }

    #[test]
    fn on_loopback_only_its_own_names_are_known() {
        let at = SocketAddr::from(([127, 0, 0, 1], 5665));
        let access = Access::new(at, "127.0.0.1", Some("box".to_owned())).expect("no token");
        for host in ["127.0.0.1:5665", "localhost:1", "LOCALHOST", "[::1]:5665", "127.0.0.1"] {
            assert_eq!(asked(&access, "/", host, None), 200, "{host}");
        }
        for host in ["evil.example", "127.0.0.1.evil.example:5665", "10.0.0.1", "box", ""] {
            assert_eq!(asked(&access, "/", host, None), 403, "{host}");
        }
        let from = |origin| asked(&access, "/", "localhost:5665", Some(origin));
        assert_eq!(from("http://localhost:5665"), 200);
        for origin in ["http://evil.example", "null", "http://localhost:1", "localhost:5665", ""] {
            assert_eq!(from(origin), 403, "{origin}");
        }
    }

    #[test]
    fn elsewhere_a_token_is_needed() {
        let at = SocketAddr::from(([0, 0, 0, 0], 5665));
        let access = Access::new(at, "perf.example", Some("box.lan".to_owned())).expect("a token");
        let path = access.address("/");
        assert_eq!(path.len(), "/?token=".len() + 32);
        assert!(access.address("/ui?endpoint=/").starts_with("/ui?endpoint=/&token="));
        for host in ["10.1.2.3:5665", "perf.example", "box", "box.lan:1"] {
            assert_eq!(asked(&access, &path, host, None), 200, "{host}");
            assert_eq!(asked(&access, "/", host, None), 401, "{host}");
            assert_eq!(asked(&access, "/?token=", host, None), 401, "{host}");
            assert_eq!(asked(&access, &format!("{path}0"), host, None), 401, "{host}");
        }
        assert_eq!(asked(&access, &path, "evil.example", None), 403);
    }
}
