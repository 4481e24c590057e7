//! How host names are resolved.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use brunt_duration::wait;
use serde_json::Value;

use crate::error::Fault;
use crate::json::Json;
use crate::value::{OptionValue, Place, entries, record, text_value};

const MINUTE: Duration = Duration::from_mins(1);
const YEAR: Duration = Duration::from_hours(365 * 24);

record! {
    /// The `dns` option. Layers are laid over each other field by field.
    pub struct Dns {
        /// How long an address is kept.
        ttl: DnsTtl = "ttl",
        /// Which of several addresses is taken.
        select: DnsSelect = "select",
        /// Which kinds of address are taken.
        policy: DnsPolicy = "policy",
    }
}

impl Dns {
    /// How long an address is kept; 5 min if unset, 0 is not at all.
    pub fn ttl(&self) -> Duration {
        self.ttl.as_ref().map_or(5 * MINUTE, |ttl| ttl.duration)
    }

    /// Which of several addresses is taken; a random one if unset.
    pub fn select(&self) -> DnsSelect {
        self.select.unwrap_or_default()
    }

    /// Which kinds of address are taken; IPv4 before IPv6 if unset.
    pub fn policy(&self) -> DnsPolicy {
        self.policy.unwrap_or_default()
    }
}

impl OptionValue for Dns {
    fn read(json: &Json<'_>) -> Result<Self, Fault> {
        let mut dns = Self::default();
        for (name, value) in json.entries()? {
            match Self::key(name) {
                Some(key) => {
                    json.kept(dns.read_key(key, &value));
                }
                None => json.note_unknown(name),
            }
        }
        Ok(dns)
    }

    /// `ttl=1m,select=first,policy=onlyIPv4`, in any order, none needed.
    fn parse(texts: &[&str], place: Place) -> Result<Self, String> {
        let mut dns = Self::default();
        for part in entries(texts) {
            let (name, value) = part
                .split_once('=')
                .ok_or_else(|| format!("expected ttl=…,select=…,policy=…, got {part:?}"))?;
            let key = Self::KEYS.iter().find(|key| **key == name);
            let key = key.ok_or_else(|| format!("expected ttl, select or policy, got {name:?}"))?;
            dns.parse_key(key, &[value], place)?;
        }
        Ok(dns)
    }

    fn print(&self) -> Value {
        Self::KEYS.iter().map(|key| ((*key).to_string(), self.print_key(key))).collect()
    }

    fn print_unset() -> Value {
        Self::default().print()
    }

    fn overlay(&mut self, stronger: Self) {
        // The method of the record, which goes field by field.
        Dns::overlay(self, stronger);
    }
}

/// The message about a wrong TTL.
pub(crate) const NO_TTL: &str = "expected inf, 0 or a duration such as 5m";

/// How long a resolved address is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DnsTtl {
    text: String,
    duration: Duration,
}

impl DnsTtl {
    /// `inf` is a year, 0 is not at all.
    pub fn duration(&self) -> Duration {
        self.duration
    }
}

impl FromStr for DnsTtl {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let duration = match text {
            "inf" => YEAR,
            text => wait::parse_millis(text).map_err(|_| format!("{NO_TTL}, got {text:?}"))?,
        };
        Ok(Self { text: text.into(), duration })
    }
}

impl fmt::Display for DnsTtl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Which of the addresses of a host is taken for a connection.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum DnsSelect {
    /// The first.
    First,
    /// Any.
    #[default]
    Random,
    /// One after the other.
    RoundRobin,
}

/// Which kinds of address are taken.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum DnsPolicy {
    /// IPv4 if there is one.
    #[default]
    PreferIpv4,
    /// IPv6 if there is one.
    PreferIpv6,
    /// IPv4 alone.
    OnlyIpv4,
    /// IPv6 alone.
    OnlyIpv6,
    /// All alike.
    Any,
}

const SELECTS: [(&str, DnsSelect); 3] = [
    ("first", DnsSelect::First),
    ("random", DnsSelect::Random),
    ("roundRobin", DnsSelect::RoundRobin),
];

const POLICIES: [(&str, DnsPolicy); 5] = [
    ("preferIPv4", DnsPolicy::PreferIpv4),
    ("preferIPv6", DnsPolicy::PreferIpv6),
    ("onlyIPv4", DnsPolicy::OnlyIpv4),
    ("onlyIPv6", DnsPolicy::OnlyIpv6),
    ("any", DnsPolicy::Any),
];

fn named<T: Copy>(names: &[(&str, T)], text: &str) -> Result<T, String> {
    let found = names.iter().find(|(name, _)| *name == text);
    found.map(|(_, value)| *value).ok_or_else(|| {
        let names: Vec<&str> = names.iter().map(|(name, _)| *name).collect();
        format!("expected one of {}, got {text:?}", names.join(", "))
    })
}

fn name_of<T: PartialEq>(names: &[(&'static str, T)], value: &T) -> &'static str {
    names.iter().find(|(_, other)| other == value).map_or("", |(name, _)| name)
}

impl FromStr for DnsSelect {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        named(&SELECTS, text)
    }
}

impl fmt::Display for DnsSelect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(name_of(&SELECTS, self))
    }
}

impl FromStr for DnsPolicy {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        named(&POLICIES, text)
    }
}

impl fmt::Display for DnsPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(name_of(&POLICIES, self))
    }
}

impl OptionValue for DnsTtl {
    fn read(json: &Json<'_>) -> Result<Self, Fault> {
        match json.string()? {
            "" => Ok(Self { text: String::new(), duration: 5 * MINUTE }),
            text => text.parse().map_err(|reason: String| json.fault(reason).late()),
        }
    }

    fn parse(texts: &[&str], _: Place) -> Result<Self, String> {
        texts.last().copied().unwrap_or_default().parse()
    }

    fn print(&self) -> Value {
        self.text.as_str().into()
    }
}

text_value!(DnsSelect);
text_value!(DnsPolicy);

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Dns, String> {
        Dns::parse(&[text], Place::Flag)
    }

    #[test]
    fn a_text_names_the_fields_it_sets() {
        let dns = parse("ttl=1m,policy=onlyIPv6").unwrap();
        assert_eq!((dns.ttl(), dns.policy()), (MINUTE, DnsPolicy::OnlyIpv6));
        assert_eq!((dns.select, dns.select()), (None, DnsSelect::Random));
        assert_eq!(parse("ttl=inf").unwrap().ttl(), YEAR);
        assert_eq!(parse("ttl=0").unwrap().ttl(), Duration::ZERO);
        assert_eq!(parse("ttl=5").unwrap().ttl(), Duration::from_millis(5));
        assert_eq!(Dns::default().ttl(), 5 * MINUTE);
    }

    #[test]
    fn wrong_texts_are_told_what_is_right() {
        insta::assert_snapshot!(parse("5m").unwrap_err(), @r#"expected ttl=…,select=…,policy=…, got "5m""#);
        insta::assert_snapshot!(parse("size=1").unwrap_err(), @r#"expected ttl, select or policy, got "size""#);
        insta::assert_snapshot!(parse("ttl=x").unwrap_err(), @r#"expected inf, 0 or a duration such as 5m, got "x""#);
        insta::assert_snapshot!(parse("select=x").unwrap_err(), @r#"expected one of first, random, roundRobin, got "x""#);
    }
}
