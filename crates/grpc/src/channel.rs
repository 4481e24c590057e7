//! A connection to a server, and the calls on it.
//!
//! Frames are the business of the `h2` crate. A task drives the connection on the runtime's own thread; calls wait for what
//! comes on their streams. A channel is one VU's, as in k6.

mod framing;
mod greeting;
mod streaming;
mod unary;

use std::cell::{Cell, RefCell};
use std::fmt::Write as _;
use std::rc::Rc;
use std::time::Duration;

use brunt_net::Opened;
use bytes::Bytes;
use h2::client::{Builder, ResponseFuture, SendRequest};
use h2::{RecvStream, SendStream};
use http::{HeaderMap, HeaderName, HeaderValue, Method as Verb, Request, Uri, Version};
use rustc_hash::FxHashMap;

pub use self::streaming::{Receiver, Sender, Streaming};
use crate::metadata::{Metadata, shown};
use crate::status::Status;
use greeting::{Farewell, Greeted, Greeting};

/// The bytes that a server may send unasked on one stream, and on all of a connection.
const WINDOW: u32 = 1 << 20;
const WINDOW_OF_ALL: u32 = 4 << 20;

/// Paths whose URIs are remembered; at the next one, all are forgotten.
const PATHS_MAX: usize = 1024;

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
    sender: SendRequest<Bytes>,
    is_over: Rc<Cell<bool>>,
    greeting: Rc<Greeting>,
    way: Way,
    limits: Limits,
    /// Headers that all calls have.
    common: HeaderMap,
    uris: RefCell<FxHashMap<Box<str>, Uri>>,
}

impl Channel {
    /// Begins HTTP/2 on a connection and waits for the server's greeting. Needs a runtime that takes tasks of its own thread.
    ///
    /// # Errors
    /// If no greeting comes. How long to wait is the caller's business.
    pub async fn open(opened: Opened, way: Way, limits: Limits) -> Result<Self, ConnectError> {
        let mut common = HeaderMap::with_capacity(16);
        let mut put = |name, value| common.insert(HeaderName::from_static(name), value);
        put("content-type", HeaderValue::from_static("application/grpc"));
        put("te", HeaderValue::from_static("trailers"));
        put("grpc-accept-encoding", HeaderValue::from_static("gzip"));
        // A user agent of strange characters is none.
        if let Ok(agent) = HeaderValue::try_from(&way.user_agent)
            && !agent.is_empty()
        {
            put("user-agent", agent);
        }
        let greeting = Greeting::new();
        let told = |error: &h2::Error| ConnectError::Preface(Status::of_h2(error).message);
        let shaken = Builder::new()
            .initial_window_size(WINDOW)
            .initial_connection_window_size(WINDOW_OF_ALL)
            .enable_push(false)
            .handshake(Greeted::new(opened, Rc::clone(&greeting)))
            .await;
        let (sender, driver) = shaken.map_err(|error| told(&error))?;
        let is_over = Rc::new(Cell::new(false));
        let (over, end) = (Rc::clone(&is_over), Rc::clone(&greeting));
        tokio::task::spawn_local(async move {
            // Each call on it is told how it ended.
            let ended = driver.await;
            over.set(true);
            end.end(ended.err().map_or_else(|| "EOF".to_owned(), |error| error.to_string()));
        });
        greeting.wait().await.map_err(ConnectError::Preface)?;
        let uris = RefCell::default();
        let channel = Self { sender, is_over, greeting, way, limits, common, uris };
        match channel.uri("/") {
            Some(_) => Ok(channel),
            None => Err(ConnectError::Authority(channel.way.authority)),
        }
    }

    /// It can still be used, as far as we know.
    pub fn is_open(&self) -> bool {
        !self.is_over.get()
    }

    fn uri(&self, path: &str) -> Option<Uri> {
        if let Some(uri) = self.uris.borrow().get(path) {
            return Some(uri.clone());
        }
        let scheme = if self.way.is_secure { "https" } else { "http" };
        let uri = Uri::builder()
            .scheme(scheme)
            .authority(&*self.way.authority)
            .path_and_query(path)
            .build()
            .ok()?;
        let mut uris = self.uris.borrow_mut();
        if uris.len() >= PATHS_MAX {
            uris.clear();
        }
        uris.insert(path.into(), uri.clone());
        Some(uri)
    }

    /// Opens a stream and sends the head.
    async fn begin(&self, call: &Call<'_>) -> Result<(ResponseFuture, SendStream<Bytes>), Status> {
        let mut request = Request::new(());
        *request.method_mut() = Verb::POST;
        *request.version_mut() = Version::HTTP_2;
        *request.uri_mut() = self.uri(call.path).ok_or_else(|| {
            Status::new(Status::INTERNAL, format!("malformed method name: {:?}", call.path))
        })?;
        let headers = request.headers_mut();
        headers.clone_from(&self.common);
        if let Some(timeout) = call.timeout
            && let Ok(value) = HeaderValue::try_from(framing::timeout(timeout))
        {
            headers.insert(HeaderName::from_static("grpc-timeout"), value);
        }
        if let Some(metadata) = call.metadata {
            for (name, value) in metadata.as_map() {
                headers.append(name.clone(), value.clone());
            }
        }
        let ready = self.sender.clone().ready().await;
        let mut sender = ready.map_err(|error| Status::of_h2(&error))?;
        let sent = sender.send_request(request, false);
        // It would have had a number that the server has never seen.
        sent.map_err(|error| self.explain(u32::MAX, Status::of_h2(&error)))
    }

    /// The status of a stream, with what is known of the end of the connection.
    fn explain(&self, stream: u32, status: Status) -> Status {
        match self.greeting.farewell() {
            Some(Farewell { last, .. }) if status.is_of_connection() && stream > last => {
                Status::new(Status::UNAVAILABLE, Status::DRAINING)
            }
            Some(Farewell { reason, .. }) if status.is_of_connection() => {
                Status::of_farewell(reason)
            }
            _ => status,
        }
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

/// The head of an answer.
struct Answer {
    headers: HeaderMap,
    body: RecvStream,
    coding: Coding,
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
async fn answer(
    response: impl Future<Output = Result<http::Response<RecvStream>, h2::Error>>,
) -> Result<Answer, Box<Outcome>> {
    let response = response.await.map_err(|error| Box::new(Outcome::of(Status::of_h2(&error))))?;
    let (head, body) = response.into_parts();
    let mut headers = head.headers;
    let content_type = headers.get(http::header::CONTENT_TYPE).map(HeaderValue::as_bytes);
    let is_grpc = content_type.is_some_and(is_grpc);
    if is_grpc && body.is_end_stream() {
        // The status counts more than what surrounds it.
        let status = Status::take(&mut headers).unwrap_or_else(unknown);
        return Err(Box::new(Outcome { trailers: shown(&headers), ..Outcome::of(status) }));
    }
    if !is_grpc || head.status != http::StatusCode::OK {
        let mut status = Status::of_http(head.status, content_type);
        let excerpt = excerpt(body).await;
        if !excerpt.is_empty() {
            status.message.push_str("\ndata: ");
            status.message.push_str(&quoted(&excerpt));
        }
        return Err(Box::new(Outcome::of(status)));
    }
    let coding = Coding::of(&mut headers);
    // A field of the trailers says nothing here.
    for name in ["grpc-status", "grpc-message"] {
        headers.remove(name);
    }
    Ok(Answer { headers, body, coding })
}

/// The beginning of an answer that is no gRPC.
async fn excerpt(mut body: RecvStream) -> Vec<u8> {
    let mut excerpt = Vec::new();
    while let Some(Ok(bytes)) = body.data().await {
        // A flow that is over takes no more leave.
        let _ = body.flow_control().release_capacity(bytes.len());
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

/// The status and the rest of the trailers.
async fn trailers(body: &mut RecvStream) -> (Status, Vec<(String, Vec<String>)>) {
    match body.trailers().await {
        Ok(Some(mut trailers)) => {
            let status = Status::take(&mut trailers).unwrap_or_else(unknown);
            (status, shown(&trailers))
        }
        Ok(None) => (no_trailers(), Vec::new()),
        Err(error) => (Status::of_h2(&error), Vec::new()),
    }
}
