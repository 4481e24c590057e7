//! A certificate of another host: which names it has, and which one was wanted.

use std::fmt::{self, Write as _};
use std::net::IpAddr;
use std::sync::Mutex;

use rustls::pki_types::ServerName;

/// From this number of names on Go counts them instead of telling them.
const MOST_NAMES: usize = 100;
/// The maximum number of texts that are kept for the whole process; what comes after them is told without names.
const MOST_TEXTS: usize = 256;
/// Longest text, in bytes: more than the longest names of a hundred need in practice.
const LONGEST: usize = 8 << 10;

static TEXTS: Mutex<Vec<Box<str>>> = Mutex::new(Vec::new());

/// The names that a certificate is valid for and the one it should have been valid for, in Go's words (`Display`).
/// The words are kept once per process, at most 256 of them and 8 KiB each, so that this is `Copy`.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Mismatch(Option<u16>);

impl Mismatch {
    /// Nothing is known of the names.
    pub(crate) const UNKNOWN: Self = Self(None);

    /// `presented` as webpki writes names: `DnsName("a.test")`, `IpAddress(127.0.0.1)`.
    pub(super) fn of(expected: &ServerName<'_>, presented: &[String]) -> Self {
        let text = words(expected, presented);
        if text.len() > LONGEST {
            return Self::UNKNOWN;
        }
        let Ok(mut texts) = TEXTS.lock() else { return Self::UNKNOWN };
        let known = texts.iter().position(|known| **known == *text);
        let index = known.unwrap_or_else(|| {
            if texts.len() < MOST_TEXTS {
                texts.push(text.into());
                texts.len() - 1
            } else {
                MOST_TEXTS
            }
        });
        Self(u16::try_from(index).ok().filter(|_| index < MOST_TEXTS))
    }
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let (Some(index), Ok(texts)) = (self.0, TEXTS.lock())
            && let Some(text) = texts.get(usize::from(index))
        {
            return f.write_str(text);
        }
        f.write_str("certificate doesn't match hostname")
    }
}

/// Go's message about it.
fn words(expected: &ServerName<'_>, presented: &[String]) -> String {
    let host = expected.to_str();
    let (is_ip, kind) = match expected {
        ServerName::IpAddress(_) => (true, "IpAddress("),
        _ => (false, "DnsName("),
    };
    let names: Vec<_> = presented
        .iter()
        .filter_map(|name| name.strip_prefix(kind)?.strip_suffix(')'))
        .map(|name| match name.trim_matches('"').parse::<IpAddr>() {
            Ok(ip) if is_ip => ip.to_string(),
            _ => name.trim_matches('"').to_owned(),
        })
        .collect();
    match names.len() {
        0 if is_ip => {
            format!("cannot validate certificate for {host} because it doesn't contain any IP SANs")
        }
        0 => format!("certificate is not valid for any names, but wanted to match {host}"),
        count if count >= MOST_NAMES => {
            let names = if is_ip { "IP SANs" } else { "names" };
            format!("certificate is valid for {count} {names}, but none matched {host}")
        }
        _ => {
            let mut text = format!("certificate is valid for {}", names.join(", "));
            // A String takes everything.
            let _ = write!(text, ", not {host}");
            text
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(host: &str, presented: &[&str]) -> String {
        let expected = ServerName::try_from(host.to_owned()).unwrap();
        let presented: Vec<_> = presented.iter().map(|&name| name.to_owned()).collect();
        Mismatch::of(&expected, &presented).to_string()
    }

    #[test]
    fn the_names_of_the_kind_that_is_wanted_are_told() {
        let both = [r#"DnsName("a.test")"#, r#"DnsName("*.b.test")"#, "IpAddress(127.0.0.1)"];
        assert_eq!(told("c.test", &both), "certificate is valid for a.test, *.b.test, not c.test");
        assert_eq!(told("127.0.0.2", &both), "certificate is valid for 127.0.0.1, not 127.0.0.2");
        assert_eq!(
            told("127.0.0.2", &both[..2]),
            "cannot validate certificate for 127.0.0.2 because it doesn't contain any IP SANs"
        );
        assert_eq!(
            told("c.test", &both[2..]),
            "certificate is not valid for any names, but wanted to match c.test"
        );
        let long = ["IpAddress(0000:0000:0000:0000:0000:0000:0000:0001)"];
        assert_eq!(told("::2", &long), "certificate is valid for ::1, not ::2");
    }

    #[test]
    fn very_many_names_are_counted() {
        let names = vec![r#"DnsName("a.test")"#; 100];
        assert_eq!(
            told("c.test", &names),
            "certificate is valid for 100 names, but none matched c.test"
        );
    }

    #[test]
    fn the_same_words_are_kept_once_and_no_more_than_there_is_room_for() {
        let one = told("same.test", &[]);
        assert_eq!(one, told("same.test", &[]));
        let kept =
            |text: &str| TEXTS.lock().unwrap().iter().filter(|known| known.contains(text)).count();
        assert_eq!(kept("same.test"), 1);
        let long = "a".repeat(60);
        let names = vec![format!("DnsName(\"{long}.test\")"); 99];
        let expected = ServerName::try_from("far.test").unwrap();
        assert!(Mismatch::of(&expected, &names).to_string().contains(&long));
        let longer = vec![format!("DnsName(\"{long}.{long}.test\")"); 99];
        assert_eq!(
            Mismatch::of(&expected, &longer).to_string(),
            "certificate doesn't match hostname"
        );
    }
}
