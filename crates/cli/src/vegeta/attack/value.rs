//! Values of flags that only `attack` has.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use brunt_duration::parse;

/// `Name: value`, both not empty.
pub(super) fn header(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once(':').unwrap_or((text, ""));
    let (name, value) = (name.trim(), value.trim());
    if name.is_empty() || value.is_empty() {
        return Err(format!("header {text:?} has a wrong format; write 'Name: value'"));
    }
    Ok((name.to_owned(), value.to_owned()))
}

/// A host and a port.
pub(super) type Pair = (String, u16);

/// Two pairs, joined with colons.
pub(super) fn connect_to(text: &str) -> Result<(Pair, Pair), String> {
    let wrong = || format!("{text:?} isn't src:port:dst:port");
    let [from, from_port, to, to_port] =
        <[&str; 4]>::try_from(text.split(':').collect::<Vec<_>>()).map_err(|_| wrong())?;
    let pair = |host: &str, port: &str| {
        let port = port.parse().map_err(|_| wrong())?;
        if host.is_empty() { Err(wrong()) } else { Ok((host.to_owned(), port)) }
    };
    Ok((pair(from, from_port)?, pair(to, to_port)?))
}

/// How long an answer of a name server is believed: `0` is for ever, `-1` not at all.
pub(super) fn dns_ttl(text: &str) -> Result<Duration, String> {
    if text == "-1" {
        return Ok(Duration::ZERO);
    }
    match parse(text).map_err(|error| error.to_string())? {
        0 => Ok(Duration::MAX),
        ns => {
            u64::try_from(ns).map(Duration::from_nanos).map_err(|_| "must be -1, 0 or more".into())
        }
    }
}

/// Bytes: a whole number, perhaps with a unit of 1024s. `-1` is all there are.
pub(super) fn size(text: &str) -> Result<u64, String> {
    let text = text.trim();
    if text == "-1" {
        return Ok(u64::MAX);
    }
    let end = text.find(|char: char| !char.is_ascii_digit()).unwrap_or(text.len());
    let (digits, unit) = text.split_at(end);
    let wrong = || format!("{text:?} is not a size; write 1024, 10kb, 5 MB or -1");
    let number: u64 = digits.parse().map_err(|_| wrong())?;
    let power = match unit.trim().to_ascii_lowercase().as_str() {
        "" | "b" | "byte" | "bytes" => 0,
        "k" | "kb" | "kilo" | "kilobyte" | "kilobytes" => 1,
        "m" | "mb" | "mega" | "megabyte" | "megabytes" => 2,
        "g" | "gb" | "giga" | "gigabyte" | "gigabytes" => 3,
        "t" | "tb" | "tera" | "terabyte" | "terabytes" => 4,
        "p" | "pb" | "peta" | "petabyte" | "petabytes" => 5,
        "e" | "eb" | "exa" | "exabyte" | "exabytes" => 6,
        _ => return Err(wrong()),
    };
    number.checked_mul(1024_u64.pow(power)).ok_or_else(|| format!("{text:?} is too large"))
}

/// `ip[:port],…`; port 53 if there is none.
pub(super) fn resolvers(text: &str) -> Result<Vec<SocketAddr>, String> {
    let each = |part: &str| {
        let part = part.trim();
        let bare = part.trim_start_matches('[').trim_end_matches(']');
        match (part.parse::<SocketAddr>(), bare.parse::<IpAddr>()) {
            (Ok(address), _) => Ok(address),
            (_, Ok(ip)) => Ok(SocketAddr::new(ip, 53)),
            _ => Err(format!("-resolvers: {part:?} is no IP address, with or without a port")),
        }
    };
    text.split(',').filter(|part| !part.trim().is_empty()).map(each).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_count_in_1024s() {
        for (text, bytes) in [
            ("0", 0),
            ("-1", u64::MAX),
            ("7b", 7),
            ("10kb", 10_240),
            ("10240 g", 10 << 40),
            ("2 MegaByte", 2 << 20),
        ] {
            assert_eq!(size(text), Ok(bytes), "{text}");
        }
        for text in ["", "x", "-2", "5q", "99999999999 e"] {
            assert!(size(text).is_err(), "{text}");
        }
    }

    #[test]
    fn pairs_have_four_parts() {
        let pairs = connect_to("a.test:80:127.0.0.1:8080").unwrap();
        assert_eq!(pairs, (("a.test".into(), 80), ("127.0.0.1".into(), 8080)));
        for text in ["a:80:b", "a:x:b:1", "a:80::1", "[::1]:80:b:1"] {
            assert!(connect_to(text).is_err(), "{text}");
        }
    }

    #[test]
    fn names_are_remembered_for_ever_for_a_while_or_not_at_all() {
        assert_eq!(dns_ttl("0s"), Ok(Duration::MAX));
        assert_eq!(dns_ttl("-1"), Ok(Duration::ZERO));
        assert_eq!(dns_ttl("5s"), Ok(Duration::from_secs(5)));
        assert!(dns_ttl("-2s").is_err());
        assert!(dns_ttl("5").is_err());
    }

    #[test]
    fn name_servers_have_a_port_or_53() {
        let servers = resolvers("1.1.1.1, 127.0.0.1:5353,[::1]").unwrap();
        assert_eq!(
            servers.iter().map(ToString::to_string).collect::<Vec<_>>(),
            ["1.1.1.1:53", "127.0.0.1:5353", "[::1]:53"]
        );
        assert!(resolvers("dns.test").is_err());
    }

    #[test]
    fn a_header_has_a_name_and_a_value() {
        assert_eq!(header("x-A:  b: c "), Ok(("x-A".into(), "b: c".into())));
        for text in ["a", "a:", ": b", ""] {
            assert!(header(text).is_err(), "{text}");
        }
    }
}
