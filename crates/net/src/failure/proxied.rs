//! Why a proxy can't be spoken to.

use std::fmt;
use std::net::SocketAddr;

use super::{Failure, Mismatch, Truncated, Validity, alert, words};
use crate::excerpt::Tail;
use crate::name_server::first_name_server;

/// The failure on the way to a proxy. `Display` gives Go's words, as behind `proxyconnect tcp: `.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum ProxyTrouble {
    /// There is no such name.
    NoSuchHost(Tail),
    /// The connection can't be opened: the error number (0: none).
    Dial(SocketAddr, i32),
    /// Connecting took longer than the connect timeout.
    DialTimeout(SocketAddr),
    /// Its certificate has expired, or isn't valid yet.
    CertificateTime(Validity),
    /// Its certificate isn't trusted: why.
    Certificate(&'static str),
    /// Its certificate is for another host.
    HostMismatch(Mismatch),
    /// It doesn't speak TLS.
    NoTls,
    /// It hung up.
    Ended(Truncated),
    /// It ended TLS with this alert.
    Alert(u8),
    /// Its bytes made us end TLS with this alert.
    LocalAlert(u8),
    /// Something else.
    Other(&'static str),
}

impl ProxyTrouble {
    /// The same as `failure`, of a connection to a proxy. `None`: it is none of the way there.
    pub(super) fn of(failure: Failure, host: &str, address: SocketAddr) -> Option<Self> {
        Some(match failure {
            Failure::NoSuchHost => Self::NoSuchHost(Tail::new(host.as_bytes())),
            Failure::Lookup => Self::Other("lookup: server misbehaving"),
            Failure::Refused => Self::Dial(address, REFUSED),
            Failure::DialErrno(errno) => Self::Dial(address, errno),
            Failure::Dial => Self::Dial(address, 0),
            Failure::DialTimeout => Self::DialTimeout(address),
            Failure::UnknownAuthority => {
                Self::Certificate("certificate signed by unknown authority")
            }
            Failure::HostMismatch(names) => Self::HostMismatch(names),
            Failure::CertificateTime(validity) => Self::CertificateTime(validity),
            Failure::Certificate(why) => Self::Certificate(why),
            Failure::NoTls => Self::NoTls,
            Failure::Ended(end) => Self::Ended(end),
            Failure::Alert(alert) => Self::Alert(alert),
            Failure::LocalAlert(alert) => Self::LocalAlert(alert),
            Failure::Tls(what) => Self::Other(what),
            Failure::Reset(_) => Self::Other("read: connection reset by peer"),
            Failure::BrokenPipe => Self::Other("write: broken pipe"),
            _ => return None,
        })
    }
}

/// `ECONNREFUSED`; where it has another number, its words are looked up by ours.
const REFUSED: i32 = 111;

impl fmt::Display for ProxyTrouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSuchHost(host) => match first_name_server() {
                Some(server) => write!(f, "lookup {host} on {server}: no such host"),
                None => write!(f, "lookup {host}: no such host"),
            },
            Self::Dial(address, 0) => write!(f, "dial tcp {address}: connection failed"),
            Self::Dial(address, REFUSED) => {
                write!(f, "dial tcp {address}: connect: connection refused")
            }
            Self::Dial(address, errno) => {
                write!(f, "dial tcp {address}: connect: {}", words(*errno))
            }
            Self::DialTimeout(address) => write!(f, "dial tcp {address}: i/o timeout"),
            Self::CertificateTime(validity) => write!(
                f,
                "tls: failed to verify certificate: x509: certificate has expired or is not yet valid{validity}"
            ),
            Self::Certificate(why) => {
                write!(f, "tls: failed to verify certificate: x509: {why}")
            }
            Self::HostMismatch(names) => {
                write!(f, "tls: failed to verify certificate: x509: {names}")
            }
            Self::NoTls => f.write_str("tls: first record does not look like a TLS handshake"),
            Self::Ended(Truncated::Empty) => f.write_str("EOF"),
            Self::Ended(Truncated::Partial) => f.write_str("unexpected EOF"),
            Self::Alert(alert) => write!(f, "remote error: tls: {}", alert::Name(*alert)),
            Self::LocalAlert(alert) => write!(f, "local error: tls: {}", alert::Name(*alert)),
            Self::Other(what) => f.write_str(what),
        }
    }
}
