//! Why a SOCKS proxy wouldn't.

use std::fmt;

/// The failure of a SOCKS5 proxy (RFC 1928).
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Refusal {
    /// It doesn't speak SOCKS5.
    Protocol,
    /// It wants another way to log in than we have: a password where none is set, or GSSAPI.
    Method,
    /// User or password are wrong.
    Password,
    /// The target's name has more than 255 bytes.
    NameTooLong,
    /// It answered with this reply code.
    Reply(u8),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Protocol => "the proxy does not speak SOCKS5",
            Self::Method => "no acceptable authentication methods",
            Self::Password => "username/password authentication failed",
            Self::NameTooLong => "the host name is too long",
            Self::Reply(1) => "general SOCKS server failure",
            Self::Reply(2) => "connection not allowed by ruleset",
            Self::Reply(3) => "network unreachable",
            Self::Reply(4) => "host unreachable",
            Self::Reply(5) => "connection refused",
            Self::Reply(6) => "TTL expired",
            Self::Reply(7) => "command not supported",
            Self::Reply(8) => "address type not supported",
            Self::Reply(code) => return write!(f, "unknown code: {code}"),
        })
    }
}
