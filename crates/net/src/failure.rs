//! A connection failed: that is a measurement, not a mishap of ours.

mod alert;
mod from;
mod mismatch;
mod proxied;
mod refusal;
mod validity;

use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr};

use ipnet::IpNet;

pub use from::from_socket;
pub(crate) use from::{from_connect, from_tls};
pub use mismatch::Mismatch;
pub use proxied::ProxyTrouble;
pub use refusal::Refusal;
pub use validity::Validity;

use crate::excerpt::Tail;
use crate::name_server::no_such_host;

/// Why there is no connection, or none any more. Small and `Copy`; text is made when somebody reads it.
///
/// [`Failure::code`] is k6's `error_code`, `Display` k6's `error` text (both observed in k6 1.8.1).
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Failure {
    /// 1100: the name server can't be asked, or gave no clear answer.
    Lookup,
    /// 1101: there is no such name.
    NoSuchHost,
    /// 1110: the address is in `blacklistIPs`, in this net.
    BlacklistedIp(IpAddr, IpNet),
    /// 1111: the host is in `blockHostnames`, by this entry.
    BlockedHost(Tail),
    /// 1210: the connection can't be opened, for a reason without a number.
    Dial,
    /// 1211: connecting took longer than the connect timeout.
    DialTimeout,
    /// 1212.
    Refused,
    /// 1213: opening the connection gave this error number.
    DialErrno(i32),
    /// 1220: the peer reset the connection.
    Reset(Operation),
    /// 1201: we wrote to a connection that the peer had closed.
    BrokenPipe,
    /// 1202: the socket gave this error number.
    Errno(Operation, i32),
    /// 1200: the socket failed without an error number.
    Socket(Operation),
    /// 1000: the connection ended before all had come.
    Ended(Truncated),
    /// 1000: the proxy refused the tunnel with this status.
    Proxy(u16),
    /// 1200: the proxy can't be reached: why.
    ProxyDial(ProxyTrouble),
    /// 1200: the SOCKS proxy said no.
    Socks(Refusal),
    /// 1010: the peer ended TLS with this alert.
    Alert(u8),
    /// 1301: what answered doesn't speak TLS.
    NoTls,
    /// 1310: the certificate's issuer is not trusted.
    UnknownAuthority,
    /// 1311: the certificate is for another host: which ones.
    HostMismatch(Mismatch),
    /// 1000: the certificate has expired, or isn't valid yet.
    CertificateTime(Validity),
    /// 1000: the certificate is refused for another reason, in Go's words.
    Certificate(&'static str),
    /// 1010: what came made us end TLS with this alert.
    LocalAlert(u8),
    /// 1300: TLS failed in another way: what it says.
    Tls(&'static str),
}

/// The connection ended before all had come.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Truncated {
    /// Not one byte came.
    Empty,
    /// Something came, but not all.
    Partial,
}

/// The operation during which a socket failed.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// Reading.
    Read,
    /// Writing.
    Write,
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Read => "read",
            Self::Write => "write",
        })
    }
}

impl Failure {
    /// k6's number.
    pub fn code(&self) -> u16 {
        match self {
            Self::Ended(_) | Self::Proxy(_) | Self::CertificateTime(_) | Self::Certificate(_) => {
                1000
            }
            Self::Alert(_) | Self::LocalAlert(_) => 1010,
            Self::Lookup => 1100,
            Self::NoSuchHost => 1101,
            Self::BlacklistedIp(..) => 1110,
            Self::BlockedHost(_) => 1111,
            Self::Socket(_) | Self::ProxyDial(_) | Self::Socks(_) => 1200,
            Self::BrokenPipe => 1201,
            Self::Errno(..) => 1202,
            Self::Dial => 1210,
            Self::DialTimeout => 1211,
            Self::Refused => 1212,
            Self::DialErrno(_) => 1213,
            Self::Reset(_) => 1220,
            Self::Tls(_) => 1300,
            Self::NoTls => 1301,
            Self::UnknownAuthority => 1310,
            Self::HostMismatch(_) => 1311,
        }
    }

    /// The words of Go's dialer and TLS, which say more than `Display` does: whom it dialed, which `host` it looked up.
    pub fn reason(&self, host: &str, dialed: Option<SocketAddr>) -> String {
        let dialed = |what: &str| {
            let to = dialed.map_or(String::new(), |address| format!(" {address}"));
            format!("dial tcp{to}: {what}")
        };
        match self {
            Self::Refused => dialed("connect: connection refused"),
            Self::DialTimeout => dialed("i/o timeout"),
            // Too many open files: there was no socket to connect.
            Self::DialErrno(errno @ (23 | 24)) => dialed(&format!("socket: {}", words(*errno))),
            Self::DialErrno(errno) => dialed(&format!("connect: {}", words(*errno))),
            Self::NoSuchHost => no_such_host(host),
            Self::BlockedHost(pattern) => {
                format!("hostname ({host}) is in a blocked pattern ({pattern})")
            }
            Self::BlacklistedIp(ip, net) => format!("IP ({ip}) is in a blacklisted range ({net})"),
            _ => self.of_certificate().unwrap_or_else(|| self.to_string()),
        }
    }

    /// Go's message about a certificate that it refuses; `None`: it is not about a certificate.
    pub fn of_certificate(&self) -> Option<String> {
        let why = match self {
            Self::UnknownAuthority => "x509: certificate signed by unknown authority".to_owned(),
            Self::HostMismatch(names) => format!("x509: {names}"),
            Self::CertificateTime(_) | Self::Certificate(_) => self.to_string(),
            _ => return None,
        };
        Some(format!("tls: failed to verify certificate: {why}"))
    }

    /// The connection was gone: what is safe to repeat may be tried on another.
    pub fn is_gone(&self) -> bool {
        matches!(
            self,
            Self::Reset(_)
                | Self::BrokenPipe
                | Self::Errno(..)
                | Self::Socket(_)
                | Self::Ended(Truncated::Empty)
        )
    }

    /// The failure behind an error of an [`Opened`](crate::Opened) connection, or of a protocol on it.
    pub fn of_io(error: &io::Error) -> Option<Self> {
        error.get_ref()?.downcast_ref::<Self>().copied()
    }

    /// The same, when it was not the target that was dialed but a proxy.
    pub(crate) fn at_the_proxy(self, host: &str, address: SocketAddr) -> Self {
        ProxyTrouble::of(self, host, address).map_or(self, Self::ProxyDial)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lookup => f.write_str("lookup: server misbehaving"),
            Self::NoSuchHost => f.write_str("lookup: no such host"),
            Self::BlacklistedIp(..) => f.write_str("ip is blacklisted"),
            Self::BlockedHost(_) => f.write_str("hostname is blocked"),
            Self::Dial => f.write_str("dial: connection failed"),
            Self::DialTimeout => f.write_str("dial: i/o timeout"),
            Self::Refused => f.write_str("dial: connection refused"),
            Self::DialErrno(errno) => write_errno(f, "dial", *errno),
            Self::Reset(operation) => write!(f, "{operation}: connection reset by peer"),
            Self::BrokenPipe => f.write_str("write: broken pipe"),
            Self::Errno(Operation::Read, errno) => write_errno(f, "read", *errno),
            Self::Errno(Operation::Write, errno) => write_errno(f, "write", *errno),
            Self::Socket(operation) => write!(f, "{operation}: connection failed"),
            Self::Ended(Truncated::Empty) => f.write_str("EOF"),
            Self::Ended(Truncated::Partial) => f.write_str("unexpected EOF"),
            Self::Proxy(status) => write!(f, "proxy refused the connection with status {status}"),
            Self::ProxyDial(why) => write!(f, "proxyconnect tcp: {why}"),
            Self::Socks(refusal) => write!(f, "socks connect: {refusal}"),
            Self::Alert(alert) => write!(f, "remote error: tls: {}", alert::Name(*alert)),
            Self::NoTls => f.write_str("tls: first record does not look like a TLS handshake"),
            Self::UnknownAuthority => f.write_str("x509: unknown authority"),
            Self::HostMismatch(_) => f.write_str("x509: certificate doesn't match hostname"),
            Self::CertificateTime(validity) => {
                write!(f, "x509: certificate has expired or is not yet valid{validity}")
            }
            Self::Certificate(why) => write!(f, "x509: {why}"),
            Self::LocalAlert(alert) => write!(f, "local error: tls: {}", alert::Name(*alert)),
            Self::Tls(what) => write!(f, "tls: {what}"),
        }
    }
}

/// The number and the system's words for it, as k6 writes them.
fn write_errno(f: &mut fmt::Formatter<'_>, operation: &str, errno: i32) -> fmt::Result {
    write!(f, "{operation}: unknown errno {errno} error with msg `{}`", words(errno))
}

/// The system's words for an error number.
pub fn words(errno: i32) -> String {
    let text = std::io::Error::from_raw_os_error(errno).to_string();
    text.split(" (os error").next().unwrap_or_default().to_lowercase()
}

impl std::error::Error for Failure {}

impl From<Truncated> for Failure {
    fn from(truncated: Truncated) -> Self {
        Self::Ended(truncated)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All seen in k6 1.8.1.
    #[test]
    fn codes_and_texts_are_those_of_k6() {
        for (failure, code, text) in [
            (Failure::NoSuchHost, 1101, "lookup: no such host"),
            (
                Failure::BlacklistedIp("10.1.2.3".parse().unwrap(), "10.0.0.0/8".parse().unwrap()),
                1110,
                "ip is blacklisted",
            ),
            (Failure::BlockedHost(Tail::new(b"*.test")), 1111, "hostname is blocked"),
            (Failure::Refused, 1212, "dial: connection refused"),
            (
                Failure::DialErrno(101),
                1213,
                "dial: unknown errno 101 error with msg `network is unreachable`",
            ),
            (Failure::Reset(Operation::Read), 1220, "read: connection reset by peer"),
            (Failure::Ended(Truncated::Empty), 1000, "EOF"),
            (Failure::Ended(Truncated::Partial), 1000, "unexpected EOF"),
            (Failure::Alert(116), 1010, "remote error: tls: certificate required"),
            (Failure::NoTls, 1301, "tls: first record does not look like a TLS handshake"),
            (Failure::UnknownAuthority, 1310, "x509: unknown authority"),
            (
                Failure::HostMismatch(Mismatch::UNKNOWN),
                1311,
                "x509: certificate doesn't match hostname",
            ),
        ] {
            assert_eq!((failure.code(), failure.to_string()), (code, text.to_owned()));
        }
    }

    #[test]
    fn a_failure_is_small() {
        assert!(size_of::<Failure>() <= 64);
    }

    #[test]
    fn a_failure_travels_through_an_io_error() {
        let error = io::Error::other(Failure::Refused);
        assert_eq!(Failure::of_io(&error), Some(Failure::Refused));
        assert_eq!(Failure::of_io(&io::ErrorKind::UnexpectedEof.into()), None);
    }
}
