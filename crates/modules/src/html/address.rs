//! The parts of a link's address, as Go's `net/url` tells them apart.

use brunt_http::resolve;

/// An address, taken apart. All is empty for a text that is no address.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Address {
    pub(super) scheme: String,
    pub(super) username: String,
    pub(super) password: String,
    /// With the port.
    pub(super) host: String,
    pub(super) hostname: String,
    pub(super) port: String,
    /// Decoded.
    pub(super) path: String,
    /// As it is written, without `?`.
    pub(super) query: String,
    /// Decoded, without `#`.
    pub(super) fragment: String,
}

impl Address {
    /// The address that a link leads to from a page; `base` is empty if the page's address is not known.
    pub(super) fn of(base: &str, link: &str) -> Self {
        Self::read(base, link).unwrap_or_default()
    }

    fn read(base: &str, link: &str) -> Option<Self> {
        if link.bytes().any(|byte| byte.is_ascii_control()) {
            return None;
        }
        let first = link.split(['/', '?', '#']).next().unwrap_or("");
        let scheme = match first.split_once(':') {
            Some((scheme, _)) if is_scheme(scheme) => Some(scheme),
            Some(_) => return None,
            None => None,
        };
        let (scheme, rest) = match scheme {
            Some(scheme) => {
                let rest = &link[scheme.len() + 1..];
                if !rest.starts_with('/') {
                    // It has no hierarchy: nothing of it is a path.
                    return Some(Self { scheme: scheme.to_ascii_lowercase(), ..Self::default() });
                }
                (scheme.to_ascii_lowercase(), rest.to_owned())
            }
            None if base.is_empty() => (String::new(), link.to_owned()),
            None => {
                let whole = resolve(base, link);
                let (scheme, rest) = whole.split_once(':')?;
                (scheme.to_ascii_lowercase(), rest.to_owned())
            }
        };
        let mut address = Self { scheme, ..Self::default() };
        let (rest, fragment) = rest.split_once('#').unwrap_or((&rest, ""));
        address.fragment = decoded(fragment)?;
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        query.clone_into(&mut address.query);
        let path = match rest.strip_prefix("//") {
            Some(rest) => {
                let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
                address.read_authority(authority)?;
                path
            }
            None => rest,
        };
        if !path.is_empty() {
            // A root of no meaning, to have dots resolved.
            let whole =
                resolve("http://a/", &format!("/{}", path.strip_prefix('/').unwrap_or(path)));
            address.path = decoded(whole.strip_prefix("http://a").unwrap_or(&whole))?;
        }
        Some(address)
    }

    fn read_authority(&mut self, authority: &str) -> Option<()> {
        let host = match authority.rsplit_once('@') {
            Some((user, host)) => {
                let (username, password) = user.split_once(':').unwrap_or((user, ""));
                (self.username, self.password) = (decoded(username)?, decoded(password)?);
                host
            }
            None => authority,
        };
        let bracket = host.rfind(']').map_or(0, |at| at + 1);
        let (name, port) = match host[bracket..].rfind(':') {
            Some(colon) => (&host[..bracket + colon], &host[bracket + colon + 1..]),
            None => (host, ""),
        };
        let is_known =
            |letter: char| letter.is_alphanumeric() || "-._~!$&'()*+,;=:[]%<>\"".contains(letter);
        if !port.bytes().all(|byte| byte.is_ascii_digit()) || !name.chars().all(is_known) {
            return None;
        }
        host.clone_into(&mut self.host);
        name.trim_start_matches('[').trim_end_matches(']').clone_into(&mut self.hostname);
        port.clone_into(&mut self.port);
        Some(())
    }

    /// The host without a port that goes without saying.
    pub(super) fn short_host(&self) -> &str {
        match (self.scheme.as_str(), self.port.as_str()) {
            ("http", "80") | ("https", "443") | ("ftp", "21") => &self.hostname,
            _ => &self.host,
        }
    }

    /// Scheme and host; for files the path too.
    pub(super) fn origin(&self) -> String {
        match self.scheme.as_str() {
            "" => String::new(),
            "file" => format!("file://{}", self.path),
            scheme => format!("{scheme}://{}", self.host),
        }
    }
}

fn is_scheme(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
}

/// With `%xx` resolved; `None` if one is broken.
fn decoded(text: &str) -> Option<String> {
    if !text.contains('%') {
        return Some(text.to_owned());
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        if first == b'%' {
            let hex = std::str::from_utf8(after.get(..2)?).ok()?;
            if !hex.bytes().all(|digit| digit.is_ascii_hexdigit()) {
                return None;
            }
            bytes.push(u8::from_str_radix(hex, 16).ok()?);
            rest = &after[2..];
        } else {
            bytes.push(first);
            rest = after;
        }
    }
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(base: &str, link: &str) -> String {
        let address = Address::of(base, link);
        let Address { username, password, port, path, query, fragment, .. } = &address;
        let (origin, host) = (address.origin(), address.short_host());
        format!("{origin} {username}:{password} {host} {port} {path} {query} {fragment}")
    }

    #[test]
    fn addresses_are_taken_apart_as_go_does() {
        let cases = [
            (
                "http://u:p%20q@h:81/a%20b/../c?q=%20#f%20g",
                "http://h:81 u:p q h:81 81 /c q=%20 f g",
            ),
            ("/x?y#z", " :   /x y z"),
            ("x.html", " :   /x.html  "),
            ("?q", " :    q "),
            ("//h/x", " : h  /x  "),
            ("https://H:443", "https://H:443 : H 443   "),
            ("http://[::1]:80/", "http://[::1]:80 : ::1 80 /  "),
            ("mailto:x@y", "mailto:// :     "),
            ("http://h:ab/", " :     "),
            (" http://h/", " :     "),
            ("http://h st/", " :     "),
        ];
        for (link, expected) in cases {
            assert_eq!(shown("", link), expected, "{link}");
        }
        assert_eq!(shown("http://h:5/a/b?c", "d?e"), "http://h:5 : h:5 5 /a/d e ");
    }
}
