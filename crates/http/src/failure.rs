//! A request failed: that is a measurement, not a mishap of ours.

mod alert;
mod from;
mod http2;
mod mismatch;
mod proxied;
mod refusal;
mod validity;

use std::fmt;
use std::net::{IpAddr, SocketAddr};

use ipnet::IpNet;

pub(crate) use from::{from_connect, from_socket, from_tls};
pub use mismatch::Mismatch;
pub use proxied::ProxyTrouble;
pub use refusal::Refusal;
pub use validity::Validity;

use crate::budget::Exhausted;
use crate::content::Undecodable;
use crate::excerpt::{Excerpt, Tail};
use crate::http1::Malformed;
use crate::http1::parser::Truncated;

/// Why no whole response came. Small and `Copy`; text is made when somebody reads it.
///
/// [`Failure::code`] is k6's `error_code`, `Display` k6's `error` text (both observed in k6 1.8.1).
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Failure {
    /// 1050: the deadline passed.
    Timeout,
    /// 1000: neither http nor https.
    UnsupportedScheme(Excerpt),
    /// 1000: the URL names no host.
    NoHost,
    /// 1000: the method is no token.
    Method(Excerpt),
    /// 1000: a header's name is no token.
    HeaderName(Excerpt),
    /// 1000: the value of the header of this name holds control characters.
    HeaderValue(Excerpt),
    /// 1210: the port of the URL passes 65535.
    InvalidPort(Excerpt),
    /// 1100: the name server can't be asked, or gave no clear answer.
    Lookup,
    /// 1101: there is no such name.
    NoSuchHost,
    /// 1110: the address is in `blacklistIPs`, in this net.
    BlacklistedIp(IpAddr, IpNet),
    /// 1111: the host is in `blockHostnames`: what stands there.
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
    /// 1000: HTTP/2 has no place for this header with this value.
    ConnectionHeader(ConnectionHeader, Excerpt),
    /// 1000: the connection ended before or inside the response.
    Ended(Truncated),
    /// 1000: the response breaks the rules of HTTP/1.1.
    Malformed(Malformed),
    /// 1000: the body passes the configured limit (bytes). Ours, k6 has no limit.
    BodyTooLarge(u64),
    /// 1000: with this body, all bodies of the process would pass what they may hold together, or the system has no more. Ours.
    BodiesTooLarge(Exhausted),
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
    /// 1701, or 1000 amid the body: `Content-Encoding` doesn't fit it.
    Decompression(Undecodable),
    /// 1610 and above: HTTP/2 failed, in the way that the number tells.
    Http2(Http2Trouble, u32),
    /// 1000: a file of the request's body can't be sent: why, and the end of its path.
    BodyFile(FileTrouble, Tail),
    /// 1000: a stream of the request's body failed: the beginning of what it says.
    BodySource(Excerpt),
    /// 1000: whoever asked for it doesn't want it any more.
    Aborted,
}

/// A header that is about the connection of HTTP/1.1.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum ConnectionHeader {
    /// `Connection`.
    Connection,
    /// `Upgrade`.
    Upgrade,
}

impl ConnectionHeader {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Connection => "Connection",
            Self::Upgrade => "Upgrade",
        }
    }
}

/// What failed on HTTP/2; the number beside it is the reason of RFC 9113 §7.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Http2Trouble {
    /// The server ended the connection, and had not looked at the request.
    Unseen,
    /// The server ended the connection.
    GoAway,
    /// The server ended the stream.
    Stream,
    /// We ended it, because the server broke the rules.
    Connection,
}

/// Why a file of a request's body can't be sent.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FileTrouble {
    /// It can't be opened: the error number (0: none).
    Open(u16),
    /// It can't be read: the error number (0: none).
    Read(u16),
    /// It has become shorter since the request was made.
    Shorter,
    /// It was written to, or is another one, since its sending began.
    Changed,
    /// It was deleted since its sending began.
    Deleted,
}

/// What was going on when a socket failed.
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
            Self::UnsupportedScheme(_)
            | Self::NoHost
            | Self::Method(_)
            | Self::HeaderName(_)
            | Self::HeaderValue(_)
            | Self::ConnectionHeader(..)
            | Self::Ended(_)
            | Self::Malformed(_)
            | Self::BodyTooLarge(_)
            | Self::BodiesTooLarge(_)
            | Self::Proxy(_)
            | Self::BodyFile(..)
            | Self::BodySource(_)
            | Self::Aborted
            | Self::CertificateTime(_)
            | Self::Certificate(_) => 1000,
            Self::Alert(_) | Self::LocalAlert(_) => 1010,
            Self::Timeout => 1050,
            Self::Lookup => 1100,
            Self::NoSuchHost => 1101,
            Self::BlacklistedIp(..) => 1110,
            Self::BlockedHost(_) => 1111,
            Self::Socket(_) | Self::ProxyDial(_) | Self::Socks(_) => 1200,
            Self::BrokenPipe => 1201,
            Self::Errno(..) => 1202,
            Self::InvalidPort(_) | Self::Dial => 1210,
            Self::DialTimeout => 1211,
            Self::Refused => 1212,
            Self::DialErrno(_) => 1213,
            Self::Reset(_) => 1220,
            Self::Tls(_) => 1300,
            Self::NoTls => 1301,
            Self::UnknownAuthority => 1310,
            Self::HostMismatch(_) => 1311,
            Self::Decompression(why) => why.code(),
            Self::Http2(trouble, reason) => {
                let base = match trouble {
                    Http2Trouble::Unseen => return 1000,
                    Http2Trouble::GoAway => 1610,
                    Http2Trouble::Stream => 1630,
                    Http2Trouble::Connection => 1650,
                };
                // What is no reason of the standard has the number of the kind alone.
                base + if *reason <= 13 { *reason as u16 + 1 } else { 0 }
            }
        }
    }

    /// It lies in what we send, not in the connection or the server.
    pub(crate) fn is_of_body(&self) -> bool {
        matches!(self, Self::BodyFile(..) | Self::BodySource(_))
    }

    /// The same, when it was not the target that was dialed but a proxy.
    pub(crate) fn at_the_proxy(self, host: &str, address: SocketAddr) -> Self {
        ProxyTrouble::of(self, host, address).map_or(self, Self::ProxyDial)
    }

    /// The connection was gone: a request that is safe to repeat may be tried on another.
    pub(crate) fn is_gone(&self) -> bool {
        matches!(
            self,
            Self::Reset(_)
                | Self::BrokenPipe
                | Self::Errno(..)
                | Self::Socket(_)
                | Self::Ended(Truncated::Empty)
        )
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Timeout => f.write_str("request timeout"),
            Self::Aborted => f.write_str("request aborted"),
            Self::UnsupportedScheme(scheme) => write!(f, "unsupported protocol scheme {scheme}"),
            Self::NoHost => f.write_str("http: no Host in request URL"),
            Self::Method(method) => write!(f, "net/http: invalid method {method}"),
            Self::HeaderName(name) => write!(f, "net/http: invalid header field name {name}"),
            Self::HeaderValue(name) => {
                write!(f, "net/http: invalid header field value for {name}")
            }
            Self::ConnectionHeader(header, value) => {
                write!(f, "invalid {} request header: [{value}]", header.name())
            }
            Self::InvalidPort(port) => {
                let port = port.to_string();
                write!(f, "dial tcp: address {}: invalid port", port.trim_matches('"'))
            }
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
            Self::Malformed(malformed) => malformed.fmt(f),
            Self::BodyTooLarge(limit) => write!(f, "response body exceeds {limit} bytes"),
            Self::BodiesTooLarge(exhausted) => exhausted.fmt(f),
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
            Self::Decompression(why) => why.write(f),
            Self::Http2(Http2Trouble::Unseen, 0) => {
                f.write_str("http2: Transport received Server's graceful shutdown GOAWAY")
            }
            Self::Http2(Http2Trouble::Unseen, reason) => {
                let name = http2::Name(*reason);
                write!(f, "http2: Transport received GOAWAY from server ErrCode:{name}")
            }
            Self::Http2(trouble, reason) => {
                let what = match trouble {
                    Http2Trouble::Unseen => unreachable!("it has words of its own, above"),
                    Http2Trouble::GoAway => "received GoAway",
                    Http2Trouble::Stream => "stream error",
                    Http2Trouble::Connection => "connection error",
                };
                write!(f, "http2: {what} with http2 ErrCode {}", http2::Name(*reason))
            }
            Self::BodyFile(trouble, path) => write_file(f, *trouble, path),
            Self::BodySource(what) => write!(f, "request body: {}", what.text()),
        }
    }
}

/// The number and the system's words for it, as k6 writes them.
fn write_errno(f: &mut fmt::Formatter<'_>, operation: &str, errno: i32) -> fmt::Result {
    write!(f, "{operation}: unknown errno {errno} error with msg `{}`", words(errno))
}

/// As Go says it: `open a.bin: no such file or directory`.
fn write_file(f: &mut fmt::Formatter<'_>, trouble: FileTrouble, path: &Tail) -> fmt::Result {
    let (operation, why) = match trouble {
        FileTrouble::Open(0) => ("open", "it can't be opened".to_owned()),
        FileTrouble::Open(errno) => ("open", words(errno.into())),
        FileTrouble::Read(0) => ("read", "it can't be read".to_owned()),
        FileTrouble::Read(errno) => ("read", words(errno.into())),
        FileTrouble::Shorter => {
            ("read", "the file became shorter while the request was under way".to_owned())
        }
        FileTrouble::Changed => {
            ("read", "the file was changed while the request was under way".to_owned())
        }
        FileTrouble::Deleted => {
            ("read", "the file was deleted while the request was under way".to_owned())
        }
    };
    write!(f, "{operation} {path}: {why}")
}

/// The system's words for an error number.
pub(crate) fn words(errno: i32) -> String {
    let text = std::io::Error::from_raw_os_error(errno).to_string();
    text.split(" (os error").next().unwrap_or_default().to_lowercase()
}

impl std::error::Error for Failure {}

impl From<Malformed> for Failure {
    fn from(malformed: Malformed) -> Self {
        Self::Malformed(malformed)
    }
}

impl From<Truncated> for Failure {
    fn from(truncated: Truncated) -> Self {
        Self::Ended(truncated)
    }
}

impl From<Undecodable> for Failure {
    fn from(why: Undecodable) -> Self {
        Self::Decompression(why)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All seen in k6 1.8.1.
    #[test]
    fn codes_and_texts_are_those_of_k6() {
        for (failure, code, text) in [
            (Failure::Timeout, 1050, "request timeout"),
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
            (
                Failure::Decompression(Undecodable::Truncated),
                1701,
                "error decompressing response body (unexpected EOF)",
            ),
            (
                Failure::BodyFile(FileTrouble::Open(2), Tail::new(b"/a/b.bin")),
                1000,
                "open /a/b.bin: no such file or directory",
            ),
            (
                Failure::BodyFile(FileTrouble::Read(21), Tail::new(b"/a")),
                1000,
                "read /a: is a directory",
            ),
            (Failure::BodySource(Excerpt::new(b"no luck")), 1000, "request body: no luck"),
        ] {
            assert_eq!((failure.code(), failure.to_string()), (code, text.to_owned()));
        }
    }

    #[test]
    fn a_failure_is_small() {
        assert!(size_of::<Failure>() <= 64);
    }
}
