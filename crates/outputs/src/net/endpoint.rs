//! Where a server is, and how it is spoken to.

use std::sync::Arc;
use std::time::Duration;

use http::HeaderValue;
use rustls::ClientConfig;
use url::Url;

use super::basic;

/// Which form requests take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Protocol {
    /// HTTP/1.1.
    One,
    /// HTTP/2, known beforehand: gRPC.
    Two,
}

/// A server.
#[derive(Clone, Debug)]
pub(crate) struct Endpoint {
    pub(crate) host: String,
    pub(crate) port: u16,
    /// None for plain connections.
    pub(crate) tls: Option<Arc<ClientConfig>>,
    pub(crate) protocol: Protocol,
    /// How long a request may take, connecting included.
    pub(crate) timeout: Duration,
    pub(crate) proxy: Option<Proxy>,
}

/// A proxy for HTTP.
#[derive(Clone, Debug)]
pub(crate) struct Proxy {
    pub(crate) host: String,
    pub(crate) port: u16,
    /// `Proxy-Authorization`
    pub(crate) authorization: Option<HeaderValue>,
}

impl Endpoint {
    /// The server of an address such as `https://host:8086`; `tls` is asked for its configuration only
    /// if the address wants one.
    ///
    /// # Errors
    /// A sentence, if the address is none, or not of HTTP.
    pub(crate) fn at(
        url: &Url,
        tls: impl FnOnce() -> Result<Arc<ClientConfig>, String>,
    ) -> Result<Self, String> {
        let tls = match url.scheme() {
            "http" => None,
            "https" => Some(tls()?),
            other => {
                return Err(format!(
                    "the address \"{url}\" has the scheme {other}, not http or https"
                ));
            }
        };
        Ok(Self {
            host: host(url)?,
            port: url.port_or_known_default().unwrap_or(80),
            tls,
            protocol: Protocol::One,
            timeout: Duration::from_secs(30),
            proxy: None,
        })
    }

    /// As `Host` and `:authority` have it.
    pub(crate) fn authority(&self) -> String {
        let host = bracketed(&self.host);
        let usual = if self.tls.is_some() { 443 } else { 80 };
        if self.port == usual { host } else { format!("{host}:{}", self.port) }
    }

    pub(crate) fn scheme(&self) -> &'static str {
        if self.tls.is_some() { "https" } else { "http" }
    }
}

impl Proxy {
    /// # Errors
    /// A sentence, if this is no address of an HTTP proxy.
    pub(crate) fn at(text: &str) -> Result<Self, String> {
        let url = Url::parse(text).map_err(|error| format!("the proxy \"{text}\": {error}"))?;
        if url.scheme() != "http" {
            return Err(format!("the proxy \"{text}\" is not http://host:port"));
        }
        let password = url.password().unwrap_or_default();
        let authorization = (!url.username().is_empty()).then(|| {
            let value = basic(url.username(), password);
            HeaderValue::try_from(value).expect("base64 is ASCII")
        });
        let port = url.port_or_known_default().unwrap_or(80);
        Ok(Self { host: host(&url)?, port, authorization })
    }

    /// `host:port`
    pub(super) fn authority(&self) -> String {
        format!("{}:{}", bracketed(&self.host), self.port)
    }
}

/// A host as addresses have it.
fn bracketed(host: &str) -> String {
    if host.contains(':') { format!("[{host}]") } else { host.to_owned() }
}

/// The host, an IPv6 address without its brackets.
fn host(url: &Url) -> Result<String, String> {
    let host = url.host_str().filter(|host| !host.is_empty());
    let host = host.ok_or_else(|| format!("the address \"{url}\" names no host"))?;
    Ok(host.trim_start_matches('[').trim_end_matches(']').to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Result<Endpoint, String> {
        Endpoint::at(&Url::parse(text).unwrap(), || Err("no TLS".into()))
    }

    #[test]
    fn an_address_gives_host_and_port() {
        let endpoint = at("http://localhost/x").unwrap();
        assert_eq!((&*endpoint.host, endpoint.port), ("localhost", 80));
        assert_eq!(endpoint.authority(), "localhost");
        let endpoint = at("http://[::1]:8086").unwrap();
        assert_eq!((&*endpoint.host, endpoint.port), ("::1", 8086));
        assert_eq!(endpoint.authority(), "[::1]:8086");
    }

    #[test]
    fn other_schemes_are_refused() {
        assert!(at("ftp://x").unwrap_err().contains("not http or https"));
        assert_eq!(at("https://x").unwrap_err(), "no TLS");
    }

    #[test]
    fn a_proxy_may_have_a_name_and_a_password() {
        let proxy = Proxy::at("http://u:p@127.0.0.1:3128").unwrap();
        assert_eq!((&*proxy.host, proxy.port), ("127.0.0.1", 3128));
        assert_eq!(proxy.authorization.unwrap(), "Basic dTpw");
        assert!(Proxy::at("socks5://x").is_err());
        assert!(Proxy::at("x").is_err());
    }
}
