//! Which hosts go elsewhere (`hosts`) and which go nowhere (`blockHostnames`, `blacklistIPs`).

use std::net::{IpAddr, SocketAddr};

use ipnet::IpNet;
use rustc_hash::FxHashMap;

use crate::excerpt::Tail;
use crate::failure::Failure;
use crate::settings::{Settings, SettingsError};

/// The three options, compiled.
#[derive(Debug, Default)]
pub(crate) struct Hosts {
    exact: FxHashMap<Box<str>, Address>,
    /// The texts after the `*`, longest first.
    wildcards: Vec<(Box<str>, Address)>,
    blocked: Vec<Pattern>,
    blacklist: Vec<IpNet>,
}

/// Where an overridden host leads: without a port, the asked one is kept.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct Address {
    ip: IpAddr,
    port: Option<u16>,
}

#[derive(Debug)]
enum Pattern {
    Exact(Box<str>),
    Suffix(Box<str>),
}

impl Hosts {
    pub(crate) fn compile(settings: &Settings) -> Result<Self, SettingsError> {
        let mut hosts = Self::default();
        for (name, value) in &settings.hosts {
            let address = Address::parse(value)?;
            let name = name.to_ascii_lowercase();
            match name.strip_prefix('*') {
                Some(suffix) => hosts.wildcards.push((suffix.into(), address)),
                None => {
                    hosts.exact.insert(name.into(), address);
                }
            }
        }
        hosts.wildcards.sort_by_key(|(suffix, _)| std::cmp::Reverse(suffix.len()));
        for pattern in &settings.block_hostnames {
            let lower = pattern.trim().to_ascii_lowercase();
            let (is_wild, rest) = match lower.strip_prefix('*') {
                Some(rest) => (true, rest),
                None => (false, lower.as_str()),
            };
            if rest.contains('*') || lower.is_empty() {
                return Err(SettingsError::BlockHostnames(pattern.clone()));
            }
            let rest = rest.into();
            hosts.blocked.push(if is_wild { Pattern::Suffix(rest) } else { Pattern::Exact(rest) });
        }
        for cidr in &settings.blacklist_ips {
            let net = cidr.parse().or_else(|_| cidr.parse::<IpAddr>().map(IpNet::from));
            hosts.blacklist.push(net.map_err(|_| SettingsError::BlacklistIps(cidr.clone()))?);
        }
        Ok(hosts)
    }

    /// `blockHostnames` looks at names only, not at addresses, and comes before everything else.
    pub(crate) fn check_name(&self, host: &str) -> Result<(), Failure> {
        if self.blocked.is_empty() || host.parse::<IpAddr>().is_ok() {
            return Ok(());
        }
        let found = self.blocked.iter().find(|pattern| match pattern {
            Pattern::Exact(name) => host.eq_ignore_ascii_case(name),
            Pattern::Suffix(suffix) => ends_with(host, suffix),
        });
        match found {
            None => Ok(()),
            Some(Pattern::Exact(name)) => Err(Failure::BlockedHost(Tail::new(name.as_bytes()))),
            Some(Pattern::Suffix(suffix)) => {
                Err(Failure::BlockedHost(Tail::new(format!("*{suffix}").as_bytes())))
            }
        }
    }

    /// `blacklistIPs` looks at the address that is dialed in the end.
    pub(crate) fn check_address(&self, ip: IpAddr) -> Result<(), Failure> {
        let ip = ip.to_canonical();
        match self.blacklist.iter().find(|net| net.contains(&ip)) {
            Some(net) => Err(Failure::BlacklistedIp(ip, *net)),
            None => Ok(()),
        }
    }

    /// Where `host:port` leads instead, if `hosts` says so. A key with a port is tried first, an exact
    /// one before a wildcard, a longer wildcard before a shorter.
    pub(crate) fn find(&self, host: &str, port: u16) -> Option<SocketAddr> {
        if self.exact.is_empty() && self.wildcards.is_empty() {
            return None;
        }
        let host = host.to_ascii_lowercase();
        let shown = if host.contains(':') { format!("[{host}]") } else { host.clone() };
        let found = self.find_key(&format!("{shown}:{port}")).or_else(|| self.find_key(&host))?;
        Some(SocketAddr::new(found.ip, found.port.unwrap_or(port)))
    }

    fn find_key(&self, key: &str) -> Option<Address> {
        let wildcard = || self.wildcards.iter().find(|(suffix, _)| ends_with(key, suffix));
        self.exact.get(key).copied().or_else(|| wildcard().map(|(_, address)| *address))
    }
}

impl Address {
    fn parse(text: &str) -> Result<Self, SettingsError> {
        let text = text.trim();
        if let Ok(ip) = text.trim_start_matches('[').trim_end_matches(']').parse() {
            return Ok(Self { ip, port: None });
        }
        text.parse::<SocketAddr>()
            .map(|address| Self { ip: address.ip(), port: Some(address.port()) })
            .map_err(|_| SettingsError::Hosts(text.to_owned()))
    }
}

/// `*.x.com` doesn't match `x.com` (the dot is part of the suffix), and a wildcard matches at least one character.
fn ends_with(text: &str, suffix: &str) -> bool {
    let (text, suffix) = (text.as_bytes(), suffix.as_bytes());
    text.len() > suffix.len() && text[text.len() - suffix.len()..].eq_ignore_ascii_case(suffix)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hosts(change: impl FnOnce(&mut Settings)) -> Hosts {
        let mut settings = Settings::default();
        change(&mut settings);
        Hosts::compile(&settings).unwrap()
    }

    fn pairs(list: &[(&str, &str)]) -> Vec<(String, String)> {
        list.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn the_most_specific_override_wins() {
        let hosts = hosts(|settings| {
            settings.hosts = pairs(&[
                ("*.test", "1.1.1.1"),
                ("*.a.test", "2.2.2.2:9"),
                ("b.a.test", "3.3.3.3"),
                ("b.a.test:81", "4.4.4.4:10"),
                ("six.test", "::1"),
                ("six2.test", "[::1]:7"),
            ]);
        });
        let find = |host: &str, port| hosts.find(host, port).map(|address| address.to_string());
        assert_eq!(find("x.test", 80).unwrap(), "1.1.1.1:80");
        assert_eq!(find("X.A.test", 80).unwrap(), "2.2.2.2:9");
        assert_eq!(find("b.a.test", 80).unwrap(), "3.3.3.3:80");
        assert_eq!(find("b.a.test", 81).unwrap(), "4.4.4.4:10");
        assert_eq!(find("six.test", 80).unwrap(), "[::1]:80");
        assert_eq!(find("six2.test", 80).unwrap(), "[::1]:7");
        assert_eq!(find("test", 80), None);
    }

    #[test]
    fn blocked_names_are_exact_or_suffixes() {
        let hosts = hosts(|settings| {
            settings.block_hostnames = vec!["*.blocked.test".into(), "one.test".into()];
        });
        assert!(matches!(hosts.check_name("x.BLOCKED.test"), Err(Failure::BlockedHost(_))));
        assert!(matches!(hosts.check_name("ONE.test"), Err(Failure::BlockedHost(_))));
        assert_eq!(hosts.check_name("blocked.test"), Ok(()));
        assert_eq!(hosts.check_name("a.one.test"), Ok(()));
    }

    /// As in k6 1.8.1.
    #[test]
    fn addresses_are_not_names() {
        let hosts = hosts(|settings| {
            settings.block_hostnames = vec!["*".into(), "127.0.0.1".into()];
        });
        assert_eq!(hosts.check_name("127.0.0.1"), Ok(()));
        assert_eq!(hosts.check_name("::1"), Ok(()));
        assert!(matches!(hosts.check_name("localhost"), Err(Failure::BlockedHost(_))));
    }

    #[test]
    fn blacklisted_networks_hold_mapped_addresses_too() {
        let hosts = hosts(|settings| {
            settings.blacklist_ips = vec!["10.0.0.0/8".into(), "1.2.3.4".into()];
        });
        for ip in ["10.1.2.3", "1.2.3.4", "::ffff:10.0.0.1"] {
            let refused = hosts.check_address(ip.parse().unwrap());
            assert!(matches!(refused, Err(Failure::BlacklistedIp(..))));
        }
        assert_eq!(hosts.check_address("11.0.0.1".parse().unwrap()), Ok(()));
    }

    #[test]
    fn nonsense_is_refused_by_name() {
        let error = |change: &dyn Fn(&mut Settings)| {
            let mut settings = Settings::default();
            change(&mut settings);
            Hosts::compile(&settings).unwrap_err().to_string()
        };
        let hosts = error(&|settings| settings.hosts = pairs(&[("a", "b.test")]));
        assert_eq!(hosts, r#"hosts: "b.test" is no IP address, with or without a port"#);
        assert!(
            error(&|settings| settings.block_hostnames = vec!["a.*.b".into()]).contains("a.*.b")
        );
        assert!(error(&|settings| settings.blacklist_ips = vec!["10/8x".into()]).contains("10/8x"));
    }
}
