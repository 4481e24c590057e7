//! Where the broker is, and how one logs in.

use std::path::PathBuf;

use async_nats::{ConnectOptions, ServerAddr};

use crate::BrokerError;

/// Where the broker is, and how one logs in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Access {
    /// `nats://a:4222,b:4222` or `tls://…`; a user and a password, or a token, may stand before the host.
    pub servers: String,
    /// A file with a JWT and its key, as `nsc` writes it.
    pub creds: Option<PathBuf>,
    /// A file with the seed of an nkey.
    pub nkey: Option<PathBuf>,
    /// Certificates of authorities, PEM; without it those of the system.
    pub ca: Option<PathBuf>,
    /// The client's own certificate, PEM.
    pub cert: Option<PathBuf>,
    /// Its key, PEM.
    pub key: Option<PathBuf>,
}

/// The server if no flag names one.
pub(crate) const USUAL: &str = "nats://127.0.0.1:4222";

impl Access {
    /// The servers, one after the other; `tls://` of the first holds for all.
    ///
    /// # Errors
    /// [`BrokerError::Address`].
    pub(crate) fn addresses(&self) -> Result<Vec<ServerAddr>, BrokerError> {
        let wrong = |address: &str, reason: String| BrokerError::Address {
            address: without_login(address),
            reason,
        };
        let text = if self.servers.trim().is_empty() { USUAL } else { self.servers.trim() };
        let mut scheme = "nats";
        let mut addresses = Vec::new();
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let whole = match part.split_once("://") {
                Some((of_part @ ("nats" | "tls"), _)) => {
                    scheme = if of_part == "tls" { "tls" } else { "nats" };
                    part.to_owned()
                }
                Some((other, _)) => {
                    return Err(wrong(part, format!("the scheme {other} is unknown")));
                }
                None => format!("{scheme}://{part}"),
            };
            let address: ServerAddr =
                whole.parse().map_err(|error: std::io::Error| wrong(part, error.to_string()))?;
            if address.host().is_empty() {
                return Err(wrong(part, "it names no host".to_owned()));
            }
            addresses.push(address);
        }
        if addresses.is_empty() {
            return Err(wrong(text, "it is empty".to_owned()));
        }
        Ok(addresses)
    }

    /// The servers as they may be shown: without passwords.
    pub fn shown(&self) -> String {
        let text = if self.servers.trim().is_empty() { USUAL } else { self.servers.trim() };
        text.split(',').map(|part| without_login(part.trim())).collect::<Vec<_>>().join(",")
    }

    /// Whether anybody who reaches the server could lead the agents: there is no login, and some server is elsewhere than on
    /// this machine.
    pub fn is_open(&self) -> bool {
        let has_login = self.creds.is_some() || self.nkey.is_some() || self.cert.is_some();
        let is_far = |address: &ServerAddr| {
            let host = address.host().trim_matches(['[', ']']);
            match host.parse::<std::net::IpAddr>() {
                Ok(ip) => !ip.is_loopback(),
                Err(_) => host != "localhost",
            }
        };
        !has_login
            && self.addresses().is_ok_and(|all| {
                all.iter().any(|address| is_far(address) && !address.has_user_pass())
            })
    }

    /// The options of the connection.
    ///
    /// # Errors
    /// A file that can't be read or used; a certificate without a key.
    pub(crate) async fn options(&self) -> Result<ConnectOptions, BrokerError> {
        let mut options = ConnectOptions::new();
        // The client itself leaves the login of an address out.
        let addresses = self.addresses()?;
        let login = addresses.iter().find_map(|it| Some((it.username()?, it.password())));
        options = match login {
            Some((user, Some(password))) => options.user_and_password(plain(user), plain(password)),
            Some((token, None)) => options.token(plain(token)),
            None => options,
        };
        if let Some(path) = &self.creds {
            let read = options.credentials_file(path).await;
            options = read.map_err(|error| wrong_file("--nats-creds", path, &error))?;
        }
        if let Some(path) = &self.nkey {
            let read = tokio::fs::read_to_string(path).await;
            let text = read.map_err(|error| wrong_file("--nats-nkey", path, &error))?;
            let seed = text.lines().map(str::trim).find(|line| line.starts_with('S'));
            let reason = "it has no line with a seed, which begins with S";
            let seed = seed.ok_or_else(|| wrong_file("--nats-nkey", path, &reason))?;
            options = options.nkey(seed.to_owned());
        }
        for (what, path) in
            [("--nats-ca", &self.ca), ("--nats-cert", &self.cert), ("--nats-key", &self.key)]
        {
            let Some(path) = path else { continue };
            tokio::fs::metadata(path).await.map_err(|error| wrong_file(what, path, &error))?;
        }
        if let Some(path) = &self.ca {
            options = options.add_root_certificates(path.clone()).require_tls(true);
        }
        match (&self.cert, &self.key) {
            (Some(cert), Some(key)) => {
                options =
                    options.add_client_certificate(cert.clone(), key.clone()).require_tls(true);
            }
            (None, None) => {}
            (Some(path), None) => {
                return Err(wrong_file("--nats-cert", path, &"it needs --nats-key beside it"));
            }
            (None, Some(path)) => {
                return Err(wrong_file("--nats-key", path, &"it needs --nats-cert beside it"));
            }
        }
        Ok(options)
    }
}

fn wrong_file(
    what: &'static str,
    path: &std::path::Path,
    reason: &dyn std::fmt::Display,
) -> BrokerError {
    BrokerError::File { what, path: path.display().to_string(), reason: reason.to_string() }
}

/// A part of an address without its `%40` and the like.
fn plain(part: &str) -> String {
    let mut bytes = Vec::with_capacity(part.len());
    let mut rest = part.as_bytes();
    while let Some((first, more)) = rest.split_first() {
        let code = more.get(..2).filter(|_| *first == b'%');
        let code = code.and_then(|code| std::str::from_utf8(code).ok());
        if let Some(byte) = code.and_then(|code| u8::from_str_radix(code, 16).ok()) {
            bytes.push(byte);
            rest = &more[2..];
        } else {
            bytes.push(*first);
            rest = more;
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// An address without user, password and token.
fn without_login(address: &str) -> String {
    let (scheme, rest) = address.split_once("://").map_or(("", address), |(s, rest)| (s, rest));
    let host = rest.rsplit_once('@').map_or(rest, |(_, host)| host);
    let scheme = if scheme.is_empty() { String::new() } else { format!("{scheme}://") };
    let login = if host.len() < rest.len() { "****@" } else { "" };
    format!("{scheme}{login}{host}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn access(servers: &str) -> Access {
        Access { servers: servers.to_owned(), ..Access::default() }
    }

    #[test]
    fn addresses_may_be_several_and_take_over_the_scheme_before_them() {
        let all = access("tls://a:4222, b:4223").addresses().unwrap();
        assert_eq!(all.len(), 2);
        assert!(all.iter().all(ServerAddr::tls_required));
        assert_eq!((all[1].host(), all[1].port()), ("b", 4223));
        let all = access("").addresses().unwrap();
        assert_eq!((all[0].host(), all[0].port()), ("127.0.0.1", 4222));
        for bad in ["http://a:1", ",", "nats://"] {
            assert!(matches!(access(bad).addresses(), Err(BrokerError::Address { .. })), "{bad}");
        }
    }

    #[test]
    fn a_password_may_hold_any_sign() {
        assert_eq!(plain("a%40b%3a%"), "a@b:%");
        assert_eq!(plain("%zz%4"), "%zz%4");
    }

    #[test]
    fn passwords_are_not_shown() {
        assert_eq!(access("nats://me:x@a:1,b:2").shown(), "nats://****@a:1,b:2");
    }

    #[test]
    fn only_a_server_elsewhere_without_a_login_is_open() {
        for (servers, is_open) in [
            ("", false),
            ("nats://localhost:4222", false),
            ("nats://[::1]:4222", false),
            ("nats://10.0.0.1:4222", true),
            ("nats://me:x@10.0.0.1:4222", false),
            ("127.0.0.1:4222,broker:4222", true),
        ] {
            assert_eq!(access(servers).is_open(), is_open, "{servers}");
        }
        let with_key = Access { nkey: Some("x".into()), ..access("nats://10.0.0.1:4222") };
        assert!(!with_key.is_open());
    }
}
