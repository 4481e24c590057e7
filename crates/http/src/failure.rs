//! A request failed: that is a measurement, not a mishap of ours.

mod http2;

use std::fmt;

use brunt_net::budget::Exhausted;
use brunt_net::{Excerpt, Tail, Truncated, words};

use crate::content::Undecodable;
use crate::http1::Malformed;

/// Why no whole response came. Small and `Copy`; text is made when somebody reads it.
///
/// [`Failure::code`] is k6's `error_code`, `Display` k6's `error` text (both observed in k6 1.8.1).
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Failure {
    /// 1050: the deadline passed.
    Timeout,
    /// There is no connection, or none any more: why.
    Net(brunt_net::Failure),
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
    /// 1000: HTTP/2 has no place for this header with this value.
    ConnectionHeader(ConnectionHeader, Excerpt),
    /// 1000: the response breaks the rules of HTTP/1.1.
    Malformed(Malformed),
    /// 1000: the body passes the configured limit (bytes). Ours, k6 has no limit.
    BodyTooLarge(u64),
    /// 1000: with this body, all bodies of the process would pass what they may hold together, or the system has no more. Ours.
    BodiesTooLarge(Exhausted),
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

/// The fault on HTTP/2; the number beside it is the reason of RFC 9113 §7.
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

impl Failure {
    /// k6's number.
    pub fn code(&self) -> u16 {
        match self {
            Self::Net(failure) => failure.code(),
            Self::UnsupportedScheme(_)
            | Self::NoHost
            | Self::Method(_)
            | Self::HeaderName(_)
            | Self::HeaderValue(_)
            | Self::ConnectionHeader(..)
            | Self::Malformed(_)
            | Self::BodyTooLarge(_)
            | Self::BodiesTooLarge(_)
            | Self::BodyFile(..)
            | Self::BodySource(_)
            | Self::Aborted => 1000,
            Self::Timeout => 1050,
            Self::InvalidPort(_) => 1210,
            Self::Decompression(why) => why.code(),
            Self::Http2(trouble, reason) => {
                let base = match trouble {
                    Http2Trouble::Unseen => return 1000,
                    Http2Trouble::GoAway => 1610,
                    Http2Trouble::Stream => 1630,
                    Http2Trouble::Connection => 1650,
                };
                // A reason that the standard does not know has the number of the kind alone.
                base + if *reason <= 13 { *reason as u16 + 1 } else { 0 }
            }
        }
    }

    /// It lies in what we send, not in the connection or the server.
    pub(crate) fn is_of_body(&self) -> bool {
        matches!(self, Self::BodyFile(..) | Self::BodySource(_))
    }

    /// The connection was gone: a request that is safe to repeat may be tried on another.
    pub(crate) fn is_gone(&self) -> bool {
        matches!(self, Self::Net(failure) if failure.is_gone())
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Net(failure) => failure.fmt(f),
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
            Self::Malformed(malformed) => malformed.fmt(f),
            Self::BodyTooLarge(limit) => write!(f, "response body exceeds {limit} bytes"),
            Self::BodiesTooLarge(exhausted) => exhausted.fmt(f),
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

impl std::error::Error for Failure {}

impl From<brunt_net::Failure> for Failure {
    #[inline]
    fn from(failure: brunt_net::Failure) -> Self {
        Self::Net(failure)
    }
}

impl From<Malformed> for Failure {
    fn from(malformed: Malformed) -> Self {
        Self::Malformed(malformed)
    }
}

impl From<Truncated> for Failure {
    fn from(truncated: Truncated) -> Self {
        Self::Net(truncated.into())
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
            (Failure::Net(brunt_net::Failure::Refused), 1212, "dial: connection refused"),
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
