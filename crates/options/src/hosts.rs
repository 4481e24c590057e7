//! Which hosts go elsewhere, and which go nowhere.

use std::collections::BTreeMap;
use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;

use ipnet::IpNet;
use serde_json::Value;

use crate::error::Fault;
use crate::json::{Json, Notes};
use crate::value::{OptionValue, Place, text_entry};

/// Where connections to a host of the `hosts` option go: an IP address, and a port if it changes too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HostAddress {
    /// The address to dial.
    pub ip: IpAddr,
    /// The port to dial; `None` keeps the original one.
    pub port: Option<u16>,
}

impl FromStr for HostAddress {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Ok(ip) = text.parse() {
            return Ok(Self { ip, port: None });
        }
        let socket: SocketAddr = text.parse().map_err(|_| {
            format!(
                "expected an IP address such as 127.0.0.1, 127.0.0.1:8080 or [::1]:80, got {text:?}"
            )
        })?;
        Ok(Self { ip: socket.ip(), port: Some(socket.port()) })
    }
}

impl fmt::Display for HostAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.port {
            Some(port) => SocketAddr::new(self.ip, port).fmt(f),
            None => self.ip.fmt(f),
        }
    }
}

/// A host of the `blockHostnames` option: a name, or `*` and its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostPattern(String);

impl HostPattern {
    /// As it was written.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for HostPattern {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if is_pattern(text) {
            Ok(Self(text.into()))
        } else {
            Err(format!("expected a host name, with a * at most at its beginning, got {text:?}"))
        }
    }
}

impl fmt::Display for HostPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Whether this is a host name of ASCII letters, digits and hyphens that may begin with a `*` or `*.`; nothing
/// at all is one, too, as in k6.
fn is_pattern(text: &str) -> bool {
    let name = match text.strip_prefix('*') {
        Some(rest) => rest.strip_prefix('.').unwrap_or(rest),
        None => text,
    };
    let fine = |label: &str| {
        let legal = |c: char| c.is_ascii_alphanumeric() || c == '-';
        let ends = label.starts_with('-') || label.ends_with('-');
        !label.is_empty() && !ends && label.chars().all(legal)
    };
    name.is_empty() || name.split('.').all(fine)
}

/// The `hosts` option: `host[:port]` or `*.host[:port]`, and where it goes.
impl OptionValue for BTreeMap<String, HostAddress> {
    fn read(json: &Json<'_>) -> Result<Self, Fault> {
        let mut hosts = Self::new();
        for (host, value) in json.entries()? {
            let checked = check_key(host).map_err(|reason| value.fault(reason));
            let Some(text) = json.kept(checked.and_then(|()| value.string())) else { continue };
            match text.parse() {
                Ok(address) => {
                    hosts.insert(host.into(), address);
                }
                // k6 goes on without a word; a port that is no number is a mistake to it, too.
                Err(_) if is_name(text) => log::warn!(
                    "the option \"hosts\" maps {host} to {text:?}, which is no IP address: {host} is looked up as if it \
                     were not mapped"
                ),
                Err(reason) => {
                    json.kept::<()>(Err(value.fault(reason)));
                }
            }
        }
        Ok(hosts)
    }

    /// A JSON object, or `host=ip,host=ip:port`.
    fn parse(texts: &[&str], _: Place) -> Result<Self, String> {
        let text = texts.last().copied().unwrap_or_default().trim();
        if text.starts_with('{') {
            let value: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
            let notes = Notes::default();
            let root = Json::root(&value, &notes);
            let read = root.kept(Self::read(&root));
            let wrong: Vec<String> = notes.faults.take().iter().map(ToString::to_string).collect();
            return read.filter(|_| wrong.is_empty()).ok_or_else(|| wrong.join("; "));
        }
        let pair = |text: &str| {
            let (host, address) =
                text.split_once('=').ok_or_else(|| format!("expected host=ip, got {text:?}"))?;
            check_key(host.trim())?;
            Ok((host.trim().into(), address.trim().parse()?))
        };
        text.split(',').filter(|pair| !pair.trim().is_empty()).map(pair).collect()
    }

    fn print(&self) -> Value {
        self.iter()
            .map(|(host, address)| (host.clone(), Value::from(address.to_string())))
            .collect()
    }
}

/// Whether this is a host, with a port or without one, that could be an address by its form.
fn is_name(text: &str) -> bool {
    text.rsplit_once(':').is_none_or(|(_, port)| port.parse::<u16>().is_ok())
}

fn check_key(key: &str) -> Result<(), String> {
    let (name, port) = match key.rsplit_once(':') {
        Some((name, port)) => (name, Some(port)),
        None => (key, None),
    };
    let port_is_fine = port.is_none_or(|port| port.parse::<u16>().is_ok());
    if is_pattern(name) && port_is_fine {
        Ok(())
    } else {
        Err(format!(
            "expected a host such as example.com, *.example.com or example.com:80, got {key:?}"
        ))
    }
}

/// An entry of `blacklistIPs`: a network in CIDR notation, printed as it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Network {
    net: IpNet,
}

impl Network {
    /// The addresses that must not be dialed.
    pub fn net(&self) -> IpNet {
        self.net
    }
}

impl FromStr for Network {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let net = text.parse().map_err(|_| {
            format!("expected a network such as 10.0.0.0/8 or 10.1.2.3/32, got {text:?}")
        })?;
        Ok(Self { net })
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.net.trunc().fmt(f)
    }
}

text_entry!(HostPattern);
text_entry!(Network);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_at_the_beginning_or_nowhere() {
        for text in ["*", "*.example.com", "*example.com", "a.b-c.d", "EXAMPLE.com", "localhost"] {
            assert!(text.parse::<HostPattern>().is_ok(), "{text}");
        }
        for text in ["", "*."] {
            assert!(text.parse::<HostPattern>().is_ok(), "{text}");
        }
        for text in ["a*.com", "a..b", "a_b", "é.com", "-a.com", "a-.com", "a b", "**.com", "a:80"]
        {
            assert!(text.parse::<HostPattern>().is_err(), "{text}");
        }
    }

    #[test]
    fn hosts_go_to_addresses_with_or_without_a_port() {
        let hosts = "a.com=1.2.3.4, *.b.com:80=1.2.3.4:8080,c=::1,d=[::1]:443";
        let hosts = BTreeMap::<String, HostAddress>::parse(&[hosts], Place::Variable).unwrap();
        let expected =
            r#"{"*.b.com:80":"1.2.3.4:8080","a.com":"1.2.3.4","c":"::1","d":"[::1]:443"}"#;
        assert_eq!(hosts.print().to_string(), expected);
        let again = BTreeMap::<String, HostAddress>::parse(&[expected], Place::Variable);
        assert_eq!(again.unwrap(), hosts);
        for wrong in ["a.com=foo", "a.com:x=1.1.1.1", "a*.com=1.1.1.1", "a.com", "a.com="] {
            let parsed = BTreeMap::<String, HostAddress>::parse(&[wrong], Place::Variable);
            assert!(parsed.is_err(), "{wrong}");
        }
    }

    #[test]
    fn networks_are_printed_without_host_bits() {
        assert_eq!("10.1.2.3/8".parse::<Network>().unwrap().to_string(), "10.0.0.0/8");
        assert_eq!("::1/128".parse::<Network>().unwrap().to_string(), "::1/128");
        assert!("10.0.0.1".parse::<Network>().is_err());
    }
}
