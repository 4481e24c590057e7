//! A connection to a server, and the calls on it.
//!
//! HTTP/2 comes from `brunt-http`: a [`Line`] with a stream for each call. A channel is one VU's, as in k6.

mod framing;
mod streaming;
mod unary;

use std::fmt::Write as _;
use std::rc::Rc;
use std::time::Duration;

use brunt_http::http2::{Asked, Duplex, Line, NoLine};
use brunt_http::{Failure, HeaderLines};
use brunt_net::Opened;
use bytes::Bytes;
use http::uri::{Authority, PathAndQuery};
use http::{HeaderMap, HeaderName, HeaderValue};

pub use self::streaming::{Receiver, Sender, Streaming};
use crate::metadata::{Metadata, shown};
use crate::status::Status;

/// The most bytes of headers, and of trailers: gRPC for Go has the same limit.
const HEAD_MAX: usize = 16 << 20;

/// Whom calls name as their server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Way {
    /// The `:authority` of requests.
    pub authority: String,
    /// The connection is encrypted.
    pub is_secure: bool,
    /// The `User-Agent`; empty for none.
    pub user_agent: String,
}

/// How large messages may be, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Of the server.
    pub receive: usize,
    /// Ours.
    pub send: usize,
}

impl Default for Limits {
    /// gRPC's: 4 MiB come, as much as there can be goes.
    fn default() -> Self {
        Self { receive: 4 << 20, send: i32::MAX as usize }
    }
}

/// Why a connection is no channel.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// Its authority can be in no request.
    #[error("invalid authority {0:?}")]
    Authority(String),
    /// It ended, or what answered speaks no HTTP/2.
    #[error("connection error: desc = \"error reading server preface: {0}\"")]
    Preface(String),
}

/// A call without its message.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// `/package.Service/Method`.
    pub path: &'a str,
    /// Sent along.
    pub metadata: Option<&'a Metadata>,
    /// The server is told so; keeping it is the caller's business.
    pub timeout: Option<Duration>,
}

/// The outcome of a call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// How it ended.
    pub status: Status,
    /// The message, if one came.
    pub message: Option<Bytes>,
    /// Names with their values; empty if the server said all at once, in the trailers.
    pub headers: Vec<(String, Vec<String>)>,
    /// Names with their values, without the status.
    pub trailers: Vec<(String, Vec<String>)>,
}

impl Outcome {
    pub(crate) fn of(status: Status) -> Self {
        Self { status, ..Self::default() }
    }
}

/// An open connection to a server.
#[derive(Debug)]
pub struct Channel {
    line: Rc<Line>,
    way: Way,
    limits: Limits,
}

impl Channel {
    /// Begins HTTP/2 on a connection and waits for the server's greeting. Needs a runtime that takes tasks of its own thread.
    ///
    /// # Errors
    /// If no greeting comes. How long to wait is the caller's business.
    pub async fn open(opened: Opened, mut way: Way, limits: Limits) -> Result<Self, ConnectError> {
        if Authority::try_from(&*way.authority).is_err() {
            return Err(ConnectError::Authority(way.authority));
        }
        // A user agent of strange characters is none.
        if HeaderValue::try_from(&way.user_agent).is_err() {
            way.user_agent.clear();
        }
        let line = Line::open(opened, HEAD_MAX).await.map_err(|why| {
            ConnectError::Preface(match why {
                NoLine::Http1 => NOT_HTTP2.to_owned(),
                NoLine::Failed(Failure::Net(brunt_net::Failure::Ended(_))) => "EOF".to_owned(),
                NoLine::Failed(failure) => failure.to_string(),
                _ => "the server speaks no HTTP/2".to_owned(),
            })
        })?;
        Ok(Self { line, way, limits })
    }

    /// It can still be used, as far as we know.
    pub fn is_open(&self) -> bool {
        self.line.is_open()
    }

    /// Opens a stream. Its head goes out with what is sent next.
    async fn begin(&self, call: &Call<'_>) -> Result<Duplex, Status> {
        if !is_path(call.path) {
            let told = format!("malformed method name: {:?}", call.path);
            return Err(Status::new(Status::INTERNAL, told));
        }
        let agent = self.way.user_agent.as_bytes();
        let timeout = call.timeout.map(framing::timeout);
        let metadata = call.metadata.map(Metadata::as_map);
        let mut headers: Vec<(&str, &[u8])> =
            Vec::with_capacity(5 + metadata.map_or(0, HeaderMap::len));
        headers.push(("content-type", b"application/grpc"));
        headers.push(("te", b"trailers"));
        headers.push(("grpc-accept-encoding", b"gzip"));
        if !agent.is_empty() {
            headers.push(("user-agent", agent));
        }
        if let Some(timeout) = &timeout {
            headers.push(("grpc-timeout", timeout.as_bytes()));
        }
        for (name, value) in metadata.into_iter().flatten() {
            headers.push((name.as_str(), value.as_bytes()));
        }
        let asked = Asked {
            method: "POST",
            scheme: if self.way.is_secure { "https" } else { "http" },
            authority: &self.way.authority,
            path: call.path,
            headers: &headers,
        };
        self.line.begin(&asked).await.map_err(|why| Status::of_no_stream(&why))
    }

    fn check_size(&self, message: usize) -> Result<(), Status> {
        if message <= self.limits.send {
            return Ok(());
        }
        let told =
            format!("trying to send message larger than max ({message} vs. {})", self.limits.send);
        Err(Status::new(Status::RESOURCE_EXHAUSTED, told))
    }
}

/// So much of an answer that is no gRPC is told.
const EXCERPT_MAX: usize = 1024;

/// Go's words about answers of HTTP/1.1.
const NOT_HTTP2: &str = "http2: failed reading the frame payload: http2: frame too large, note that the frame header \
     looked like an HTTP/1.1 header";

/// Names of services and methods are plain; anything else is looked at closely.
fn is_path(path: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-".contains(&byte);
    path.starts_with('/') && (path.bytes().all(is_plain) || PathAndQuery::try_from(path).is_ok())
}

/// The head of an answer.
struct Answer {
    headers: HeaderMap,
    coding: Coding,
}

/// Header lines as a map. Those that a map cannot hold are left out: HTTP/2 knows none.
fn map(lines: HeaderLines<'_>) -> HeaderMap {
    let mut map = HeaderMap::with_capacity(8);
    for (name, value) in lines {
        if let (Ok(name), Ok(value)) =
            (HeaderName::from_bytes(name.as_bytes()), HeaderValue::from_bytes(value))
        {
            map.append(name, value);
        }
    }
    map
}

/// How messages may be compressed.
#[derive(Debug, Default)]
enum Coding {
    #[default]
    None,
    Gzip,
    /// In a way that we can't undo.
    Other(String),
}

impl Coding {
    fn of(headers: &mut HeaderMap) -> Self {
        let Some(name) = headers.remove("grpc-encoding") else { return Self::None };
        match name.as_bytes() {
            b"gzip" => Self::Gzip,
            b"" | b"identity" => Self::None,
            other => Self::Other(String::from_utf8_lossy(other).into_owned()),
        }
    }
}

/// `application/grpc`, perhaps with what is inside.
fn is_grpc(content_type: &[u8]) -> bool {
    let rest = content_type.strip_prefix(b"application/grpc");
    rest.is_some_and(|rest| matches!(rest.first(), None | Some(b'+' | b';')))
}

/// Waits for the head of an answer; an answer that is over with its head is an outcome.
async fn answer(stream: &Duplex) -> Result<Answer, Box<Outcome>> {
    let head = stream.head(|head, is_all| (head.status(), map(head.headers()), is_all)).await;
    let (code, mut headers, is_all) =
        head.map_err(|cut| Box::new(Outcome::of(Status::of_cut(&cut))))?;
    let content_type = headers.get(http::header::CONTENT_TYPE).map(HeaderValue::as_bytes);
    let is_grpc = content_type.is_some_and(is_grpc);
    if is_grpc && is_all {
        // The status counts more than what surrounds it.
        let status = Status::take(&mut headers).unwrap_or_else(unknown);
        return Err(Box::new(Outcome { trailers: shown(&headers), ..Outcome::of(status) }));
    }
    if !is_grpc || code != 200 {
        let mut status = Status::of_http(code, content_type);
        let excerpt = excerpt(stream).await;
        if !excerpt.is_empty() {
            status.message.push_str("\ndata: ");
            status.message.push_str(&quoted(&excerpt));
        }
        return Err(Box::new(Outcome::of(status)));
    }
    let coding = Coding::of(&mut headers);
    // The status belongs to the end: here it says nothing.
    for name in ["grpc-status", "grpc-message"] {
        headers.remove(name);
    }
    Ok(Answer { headers, coding })
}

/// The beginning of an answer that is no gRPC.
async fn excerpt(stream: &Duplex) -> Vec<u8> {
    let mut excerpt = Vec::new();
    while let Ok(Some(bytes)) = stream.data().await {
        excerpt.extend_from_slice(&bytes[..bytes.len().min(EXCERPT_MAX - excerpt.len())]);
        if excerpt.len() == EXCERPT_MAX {
            break;
        }
    }
    excerpt
}

/// Bytes as Go quotes them.
fn quoted(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len() + 2);
    out.push('"');
    for chunk in bytes.utf8_chunks() {
        for letter in chunk.valid().chars() {
            match letter {
                '"' => out.push_str("\\\""),
                '\\' => out.push_str("\\\\"),
                '\n' => out.push_str("\\n"),
                '\r' => out.push_str("\\r"),
                '\t' => out.push_str("\\t"),
                control if control.is_ascii_control() => {
                    let _ = write!(out, "\\x{:02x}", u32::from(control));
                }
                letter => out.push(letter),
            }
        }
        for byte in chunk.invalid() {
            let _ = write!(out, "\\x{byte:02x}");
        }
    }
    out.push('"');
    out
}

/// The status of trailers without one.
fn unknown() -> Status {
    Status::new(Status::UNKNOWN, "")
}

fn no_trailers() -> Status {
    Status::new(Status::INTERNAL, "server closed the stream without sending trailers")
}

/// The status and the rest of the trailers, at the end of a stream.
fn trailers(stream: &Duplex) -> (Status, Vec<(String, Vec<String>)>) {
    let Some(mut trailers) = stream.trailers(map) else { return (no_trailers(), Vec::new()) };
    let status = Status::take(&mut trailers).unwrap_or_else(unknown);
    (status, shown(&trailers))
}
