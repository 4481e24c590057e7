//! The tags that samples get by themselves.

use serde_json::Value;

use crate::error::Fault;
use crate::json::Json;
use crate::value::{OptionValue, Place};

/// A tag that we put on samples, unless options say otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the variants are the tags' names")]
pub enum SystemTag {
    Check,
    Error,
    ErrorCode,
    ExpectedResponse,
    Group,
    Ip,
    /// Travels as metadata, not as a tag.
    Iter,
    Method,
    Name,
    OcspStatus,
    Proto,
    /// The route of a request; k6 has no such tag, and passes the name over.
    Route,
    Scenario,
    Service,
    Status,
    Subproto,
    TlsVersion,
    Url,
    /// Travels as metadata, not as a tag.
    Vu,
}

impl SystemTag {
    /// All of them, sorted by name.
    pub const ALL: [Self; 19] = [
        Self::Check,
        Self::Error,
        Self::ErrorCode,
        Self::ExpectedResponse,
        Self::Group,
        Self::Ip,
        Self::Iter,
        Self::Method,
        Self::Name,
        Self::OcspStatus,
        Self::Proto,
        Self::Route,
        Self::Scenario,
        Self::Service,
        Self::Status,
        Self::Subproto,
        Self::TlsVersion,
        Self::Url,
        Self::Vu,
    ];

    /// Those that are off unless asked for.
    const EXTRA: [Self; 5] = [Self::Ip, Self::Iter, Self::OcspStatus, Self::Route, Self::Vu];

    /// Its name on samples: `error_code`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Check => "check",
            Self::Error => "error",
            Self::ErrorCode => "error_code",
            Self::ExpectedResponse => "expected_response",
            Self::Group => "group",
            Self::Ip => "ip",
            Self::Iter => "iter",
            Self::Method => "method",
            Self::Name => "name",
            Self::OcspStatus => "ocsp_status",
            Self::Proto => "proto",
            Self::Route => "route",
            Self::Scenario => "scenario",
            Self::Service => "service",
            Self::Status => "status",
            Self::Subproto => "subproto",
            Self::TlsVersion => "tls_version",
            Self::Url => "url",
            Self::Vu => "vu",
        }
    }

    fn bit(self) -> u32 {
        1 << self as u32
    }
}

/// Which system tags are on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SystemTags(u32);

impl SystemTags {
    /// None at all.
    pub const NONE: Self = Self(0);

    /// Whether this tag is on.
    pub fn contains(self, tag: SystemTag) -> bool {
        self.0 & tag.bit() != 0
    }

    /// Those that are on, sorted by name.
    pub fn iter(self) -> impl Iterator<Item = SystemTag> {
        SystemTag::ALL.into_iter().filter(move |tag| self.contains(*tag))
    }

    /// Names that mean nothing are passed over, as in k6.
    fn named<'a>(names: impl Iterator<Item = &'a str>) -> Self {
        let tags = names.filter_map(|name| SystemTag::ALL.iter().find(|tag| tag.name() == name));
        Self(tags.fold(0, |bits, tag| bits | tag.bit()))
    }
}

impl Default for SystemTags {
    /// All but `ip`, `iter`, `ocsp_status`, `route` and `vu`.
    fn default() -> Self {
        let all = SystemTag::ALL.iter().filter(|tag| !SystemTag::EXTRA.contains(tag));
        Self(all.fold(0, |bits, tag| bits | tag.bit()))
    }
}

impl OptionValue for SystemTags {
    fn read(json: &Json<'_>) -> Result<Self, Fault> {
        let names = json.items()?.map(|item| item.string()).collect::<Result<Vec<_>, _>>()?;
        Ok(Self::named(names.into_iter()))
    }

    fn parse(texts: &[&str], _: Place) -> Result<Self, String> {
        Ok(Self::named(texts.iter().flat_map(|text| text.split(',')).map(str::trim)))
    }

    fn print(&self) -> Value {
        self.iter().map(|tag| Value::from(tag.name())).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fourteen_are_on_unless_others_are_asked_for() {
        assert_eq!(SystemTags::default().iter().count(), 14);
        let tags = SystemTags::parse(&["url, foo", "vu"], Place::Flag).unwrap();
        assert_eq!(tags.print().to_string(), r#"["url","vu"]"#);
        assert_eq!(SystemTags::parse(&[""], Place::Flag).unwrap(), SystemTags::NONE);
    }

    #[test]
    fn all_are_sorted_and_each_has_its_bit() {
        assert!(SystemTag::ALL.is_sorted_by_key(|tag| tag.name()));
        let bits: u32 = SystemTag::ALL.iter().map(|tag| tag.bit()).sum();
        assert_eq!(bits.count_ones() as usize, SystemTag::ALL.len());
    }
}
