//! Where a connection leads.

use std::borrow::Cow;

/// A host and a port, and whether TLS is spoken there.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Endpoint<'a> {
    /// A name or an address; an address of IPv6 has no brackets.
    pub host: &'a str,
    /// The port.
    pub port: u16,
    /// TLS is spoken.
    pub is_secure: bool,
}

impl<'a> Endpoint<'a> {
    /// The host as name servers and certificates know it: in ASCII (IDNA). `None`: it has no such form.
    pub(crate) fn ascii_host(&self) -> Option<Cow<'a, str>> {
        if self.host.is_ascii() {
            return Some(Cow::Borrowed(self.host));
        }
        match url::Host::parse(self.host).ok()? {
            url::Host::Domain(name) => Some(Cow::Owned(name)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_go_out_in_ascii() {
        let ascii = |host| Endpoint { host, port: 1, is_secure: false }.ascii_host();
        assert_eq!(ascii("b\u{fc}cher.test").unwrap(), "xn--bcher-kva.test");
        assert_eq!(ascii("_a.test").unwrap(), "_a.test");
        assert_eq!(ascii("\u{fc} x"), None);
    }
}
