//! The proxies of the environment, with Go's rules (`golang.org/x/net/http/httpproxy`).

use std::net::IpAddr;

use base64::Engine as _;
use ipnet::IpNet;

use crate::endpoint::Endpoint;
use crate::settings::SettingsError;
use crate::unescape::unescape;

/// Which proxy a request goes through, if any.
#[derive(Clone, Debug, Default)]
pub struct Proxies {
    http: Option<Proxy>,
    https: Option<Proxy>,
    exceptions: Exceptions,
}

/// A proxy that passes our connections on.
#[derive(Clone, PartialEq, Eq)]
pub struct Proxy {
    /// Its name or address.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// How it wants to be asked.
    pub language: Language,
    /// It is spoken to over TLS.
    pub is_secure: bool,
}

/// How a proxy wants to be asked.
#[derive(Clone, PartialEq, Eq)]
pub enum Language {
    /// Plain requests with whole URLs, and `CONNECT` for HTTPS.
    Http {
        /// The value of `Proxy-Authorization`.
        authorization: Option<String>,
    },
    /// RFC 1928. The proxy looks up names.
    Socks5 {
        /// User and password (RFC 1929).
        credentials: Option<(String, String)>,
    },
}

impl std::fmt::Debug for Proxy {
    /// Leaves the password out.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Proxy({}:{})", self.host, self.port)
    }
}

/// `NO_PROXY`.
#[derive(Clone, Debug, Default)]
struct Exceptions {
    all: bool,
    /// There are none, and loopback is none either.
    not_even_loopback: bool,
    nets: Vec<IpNet>,
    /// Address and port, if one was given.
    ips: Vec<(IpAddr, Option<u16>)>,
    domains: Vec<Domain>,
}

#[derive(Clone, Debug)]
struct Domain {
    /// With a leading dot.
    suffix: String,
    /// The name itself counts too, not only what is below it.
    itself: bool,
    port: Option<u16>,
}

impl Proxies {
    /// Reads `HTTP_PROXY`, `HTTPS_PROXY`, `NO_PROXY` and their lower-case forms (upper case first)
    /// through `variable`.
    ///
    /// # Errors
    /// [`SettingsError::Proxy`]: a proxy of a kind that is not supported, or a password that
    /// SOCKS can't carry.
    pub fn from_env(variable: impl Fn(&str) -> Option<String>) -> Result<Self, SettingsError> {
        let any = |upper: &str| {
            let set = |name: String| variable(&name).map(|value| (name, value));
            let set = |name| set(name).filter(|(_, value)| !value.is_empty());
            set(upper.to_owned()).or_else(|| set(upper.to_ascii_lowercase())).unwrap_or_default()
        };
        let proxy = |upper| {
            let (variable, text) = any(upper);
            Proxy::parse(&text).map_err(|Unsupported| SettingsError::Proxy {
                variable,
                proxy: without_password(text.trim()),
            })
        };
        Ok(Self {
            http: proxy("HTTP_PROXY")?,
            https: proxy("HTTPS_PROXY")?,
            exceptions: Exceptions::parse(&any("NO_PROXY").1),
        })
    }

    /// One proxy for all, loopback too: `[http://][user:password@]host[:port]`, `https://…` or `socks5://…`.
    ///
    /// # Errors
    /// [`SettingsError::Proxy`], as of [`Proxies::from_env`].
    pub fn everything(proxy: &str) -> Result<Self, SettingsError> {
        let parsed = Proxy::parse(proxy).map_err(|Unsupported| SettingsError::Proxy {
            variable: "proxy".to_owned(),
            proxy: without_password(proxy.trim()),
        })?;
        let exceptions = Exceptions { not_even_loopback: true, ..Exceptions::default() };
        Ok(Self { http: parsed.clone(), https: parsed, exceptions })
    }

    /// The proxy on the way to an endpoint. Loopback is never proxied by those of the environment.
    #[inline]
    pub fn find(&self, endpoint: &Endpoint<'_>) -> Option<&Proxy> {
        let proxy = if endpoint.is_secure { self.https.as_ref() } else { self.http.as_ref() }?;
        if self.exceptions.holds(endpoint.host, endpoint.port) { None } else { Some(proxy) }
    }
}

/// A proxy of a kind that we don't have, or a password that its protocol can't carry.
struct Unsupported;

impl Proxy {
    fn parse(text: &str) -> Result<Option<Self>, Unsupported> {
        let text = text.trim();
        if text.is_empty() {
            return Ok(None);
        }
        // `proxy:3128` means `http://proxy:3128`.
        let url = if text.contains("://") { text.to_owned() } else { format!("http://{text}") };
        let url = url::Url::parse(&url).map_err(|_| Unsupported)?;
        let decode = |text: &str| {
            let plain = unescape(text.as_bytes());
            String::from_utf8_lossy(&plain).into_owned()
        };
        let has_user = !url.username().is_empty() || url.password().is_some();
        let credentials =
            has_user.then(|| (decode(url.username()), decode(url.password().unwrap_or_default())));
        let (language, usual_port) = match url.scheme() {
            "http" => (Language::http(credentials), 80),
            "https" => (Language::http(credentials), 443),
            // Go makes no difference between the two: names are the proxy's business.
            "socks5" | "socks5h" => (Language::Socks5 { credentials }, 1080),
            _ => return Err(Unsupported),
        };
        if !language.fits() {
            return Err(Unsupported);
        }
        let host = match url.host() {
            Some(url::Host::Domain(name)) => name.to_owned(),
            Some(url::Host::Ipv4(ip)) => ip.to_string(),
            Some(url::Host::Ipv6(ip)) => ip.to_string(),
            None => return Err(Unsupported),
        };
        let is_secure = url.scheme() == "https";
        Ok(Some(Self { host, port: url.port().unwrap_or(usual_port), language, is_secure }))
    }

    /// Requests to plain `http://` go to it as they are, with their whole URL.
    pub fn relays(&self) -> bool {
        matches!(self.language, Language::Http { .. })
    }

    /// The value of `Proxy-Authorization`.
    pub fn authorization(&self) -> Option<&str> {
        match &self.language {
            Language::Http { authorization } => authorization.as_deref(),
            Language::Socks5 { .. } => None,
        }
    }
}

impl Language {
    fn http(credentials: Option<(String, String)>) -> Self {
        let basic = |(user, password): (String, String)| {
            let plain = format!("{user}:{password}");
            format!("Basic {}", base64::engine::general_purpose::STANDARD.encode(plain))
        };
        Self::Http { authorization: credentials.map(basic) }
    }

    /// SOCKS has one byte for the length of each.
    fn fits(&self) -> bool {
        match self {
            Self::Socks5 { credentials: Some((user, password)) } => {
                (1..=255).contains(&user.len()) && (1..=255).contains(&password.len())
            }
            _ => true,
        }
    }
}

fn without_password(text: &str) -> String {
    match text.rsplit_once('@') {
        Some((_, host)) => format!("****@{host}"),
        None => text.to_owned(),
    }
}

impl Exceptions {
    fn parse(text: &str) -> Self {
        let mut exceptions = Self::default();
        for entry in text.split(',') {
            let entry = entry.trim().to_ascii_lowercase();
            if entry.is_empty() {
                continue;
            }
            if entry == "*" {
                exceptions.all = true;
                continue;
            }
            if let Ok(net) = entry.parse::<IpNet>() {
                exceptions.nets.push(net);
                continue;
            }
            let (host, port) = match entry.rsplit_once(':') {
                Some((host, port)) if !host.contains(':') || host.starts_with('[') => {
                    (host, port.parse().ok())
                }
                _ => (entry.as_str(), None),
            };
            let host = host.trim_start_matches('[').trim_end_matches(']');
            if let Ok(ip) = host.parse() {
                exceptions.ips.push((ip, port));
                continue;
            }
            let host = host.strip_prefix('*').filter(|rest| rest.starts_with('.')).unwrap_or(host);
            if !host.is_empty() {
                let itself = !host.starts_with('.');
                let suffix = if itself { format!(".{host}") } else { host.to_owned() };
                exceptions.domains.push(Domain { suffix, itself, port });
            }
        }
        exceptions
    }

    fn holds(&self, host: &str, port: u16) -> bool {
        if self.not_even_loopback {
            return false;
        }
        if self.all || host == "localhost" {
            return true;
        }
        let same_port = |wanted: Option<u16>| wanted.is_none_or(|wanted| wanted == port);
        if let Ok(ip) = host.parse::<IpAddr>() {
            return ip.is_loopback()
                || self.nets.iter().any(|net| net.contains(&ip))
                || self.ips.iter().any(|(other, wanted)| *other == ip && same_port(*wanted));
        }
        let host = host.to_ascii_lowercase();
        let host = host.trim_end_matches('.');
        self.domains.iter().any(|domain| {
            let below = host.ends_with(&domain.suffix);
            let itself = domain.itself && host == &domain.suffix[1..];
            (below || itself) && same_port(domain.port)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn env(pairs: &'static [(&str, &str)]) -> Proxies {
        let find = |name: &str| {
            pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
        };
        Proxies::from_env(find).unwrap()
    }

    /// Whom the way to `http://host:port/` leads through.
    fn goes(proxies: &Proxies, url: &str) -> Option<String> {
        let url = url::Url::parse(url).unwrap();
        let host = url.host_str().unwrap().trim_matches(['[', ']']);
        let port = url.port_or_known_default().unwrap();
        let is_secure = url.scheme() == "https";
        let found = proxies.find(&Endpoint { host, port, is_secure });
        found.map(|proxy| format!("{}:{}", proxy.host, proxy.port))
    }

    #[test]
    fn each_scheme_has_its_proxy_and_upper_case_wins() {
        let proxies = env(&[
            ("HTTP_PROXY", "one.test:3128"),
            ("http_proxy", "two.test"),
            ("https_proxy", "http://u:p%40@three.test"),
        ]);
        assert_eq!(goes(&proxies, "http://a.test/").unwrap(), "one.test:3128");
        assert_eq!(goes(&proxies, "https://a.test/").unwrap(), "three.test:80");
        assert_eq!(proxies.https.unwrap().authorization(), Some("Basic dTpwQA=="));
    }

    #[test]
    fn loopback_and_exceptions_go_directly() {
        let proxies = env(&[
            ("HTTP_PROXY", "http://p.test"),
            ("NO_PROXY", "a.test, .b.test,*.c.test, 10.0.0.0/8,1.2.3.4:81,d.test:90"),
        ]);
        for url in [
            "http://localhost/",
            "http://127.9.9.9/",
            "http://[::1]/",
            "http://a.test/",
            "http://x.A.test/",
            "http://x.b.test/",
            "http://x.c.test/",
            "http://10.2.3.4/",
            "http://1.2.3.4:81/",
            "http://d.test:90/",
        ] {
            assert_eq!(goes(&proxies, url), None, "{url}");
        }
        for url in ["http://b.test/", "http://xa.test/", "http://1.2.3.4/", "http://d.test/"] {
            assert!(goes(&proxies, url).is_some(), "{url}");
        }
        assert_eq!(goes(&env(&[("HTTP_PROXY", "p"), ("NO_PROXY", "*")]), "http://x.test/"), None);
    }

    #[test]
    fn one_proxy_for_everything_is_for_loopback_too() {
        let proxies = Proxies::everything("p.test:3128").unwrap();
        for url in ["http://127.0.0.1/", "https://localhost/", "http://a.test/"] {
            assert_eq!(goes(&proxies, url).unwrap(), "p.test:3128", "{url}");
        }
        let error = Proxies::everything("ftp://u:secret@p.test").unwrap_err().to_string();
        assert!(error.starts_with("proxy is \"****@p.test\""), "{error}");
    }

    #[test]
    fn socks_has_its_own_port_and_credentials() {
        for (url, place, expected) in [
            ("socks5://p.test", "p.test:1080", None),
            ("socks5h://u%40:p%3A@p.test:9", "p.test:9", Some(("u@".to_owned(), "p:".to_owned()))),
        ] {
            let proxies = Proxies::from_env(|_| Some(url.to_owned())).unwrap();
            assert_eq!(
                goes(
                    &Proxies { exceptions: Exceptions::default(), ..proxies.clone() },
                    "http://a.test"
                )
                .unwrap(),
                place
            );
            let proxy = proxies.http.unwrap();
            assert!(!proxy.relays());
            assert!(proxy.language == Language::Socks5 { credentials: expected });
        }
    }

    #[test]
    fn other_kinds_of_proxy_are_refused_without_their_password() {
        let refused =
            |url: &str| Proxies::from_env(|_| Some(url.to_owned())).unwrap_err().to_string();
        assert_eq!(
            refused("ftp://u:secret@p.test"),
            r#"HTTP_PROXY is "****@p.test": only http://, https:// and socks5:// proxies are supported"#
        );
        // SOCKS can't carry an empty password.
        assert!(refused("socks5://u@p.test").starts_with(r#"HTTP_PROXY is "****@p.test""#));
    }
}
