//! The faults of a response's bytes.

use std::fmt;

use brunt_net::Excerpt;

/// A response that breaks the rules of HTTP/1.1. The connection's framing is lost: close it.
///
/// `Display` gives the texts k6 users know (they are Go's).
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Malformed {
    /// The status line has no space, or doesn't begin with `HTTP/`.
    StatusLine(Excerpt),
    /// The version is not HTTP/1.0 or HTTP/1.1.
    Version(Excerpt),
    /// The status code is not three digits.
    StatusCode(Excerpt),
    /// A header line has no colon.
    NoColon(Excerpt),
    /// The first header line begins with a blank: it continues nothing.
    InitialLine(Excerpt),
    /// A header line has forbidden bytes in its name or value.
    HeaderLine(Excerpt),
    /// The head, or the trailers, passed this many bytes.
    HeadTooLong(u32),
    /// More header lines than we are willing to index.
    TooManyHeaders,
    /// `Content-Length` is not a number.
    ContentLength(Excerpt),
    /// Several `Content-Length` that differ.
    ContentLengths(u64, u64),
    /// `Transfer-Encoding` is something else than `chunked`.
    TransferEncoding(Excerpt),
    /// A chunk's size line holds something else than hex digits, or nothing.
    ChunkSize,
    /// A chunk's size line holds no digit.
    ChunkNoSize,
    /// The connection ended among the trailers.
    TrailerCut,
    /// A chunk's size passes 2^64.
    ChunkTooLarge,
    /// A chunk isn't followed by CRLF.
    ChunkEnd,
    /// A chunk's size line ends with a bare LF.
    ChunkBareLf,
    /// A chunk's size line, extensions included, passes 4096 bytes.
    ChunkLine,
    /// Chunks that hold little else than extensions.
    ChunkExcess,
    /// A frame of HTTP/2 passes 16 KiB, which we did not allow.
    Frame,
    /// HTTP/2: the body is longer than `Content-Length`.
    BodyTooLong,
}

impl Malformed {
    /// Whether it is HTTP/1.1 whose rules were broken, not HTTP/2.
    pub fn is_of_http1(self) -> bool {
        !matches!(self, Self::Frame | Self::BodyTooLong)
    }
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::StatusLine(line) => write!(f, "malformed HTTP response {line}"),
            Self::Version(version) => write!(f, "malformed HTTP version {version}"),
            Self::StatusCode(code) => write!(f, "malformed HTTP status code {code}"),
            Self::NoColon(line) => write!(f, "malformed MIME header: missing colon: {line}"),
            Self::HeaderLine(line) => write!(f, "malformed MIME header line: {line}"),
            Self::InitialLine(line) => write!(f, "malformed MIME header initial line: {line}"),
            Self::HeadTooLong(limit) => {
                write!(f, "net/http: server response headers exceeded {limit} bytes; aborted")
            }
            Self::TooManyHeaders => f.write_str("too many response headers"),
            Self::ContentLength(value) if value.text().is_empty() => {
                f.write_str("invalid empty Content-Length \"\"")
            }
            Self::ContentLength(value) => write!(f, "bad Content-Length {value}"),
            Self::ContentLengths(one, other) => write!(
                f,
                "http: message cannot contain multiple Content-Length headers; got [\"{one}\" \"{other}\"]"
            ),
            Self::TransferEncoding(value) => write!(f, "unsupported transfer encoding: {value}"),
            Self::ChunkSize => f.write_str("invalid byte in chunk length"),
            Self::ChunkNoSize => f.write_str("empty hex number for chunk length"),
            Self::TrailerCut => f.write_str("http: unexpected EOF reading trailer"),
            Self::ChunkTooLarge => f.write_str("http chunk length too large"),
            Self::ChunkEnd => f.write_str("malformed chunked encoding"),
            Self::ChunkBareLf => f.write_str("chunked line ends with bare LF"),
            Self::Frame => f.write_str("http2: frame too large"),
            Self::BodyTooLong => f.write_str(
                "net/http: server replied with more than declared Content-Length; truncated",
            ),
            Self::ChunkExcess => f.write_str("chunked encoding contains too much non-data"),
            Self::ChunkLine => f.write_str("header line too long"),
        }
    }
}

impl std::error::Error for Malformed {}
