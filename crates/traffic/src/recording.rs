//! A recorded session and its parts.

use std::time::Duration;

use url::Url;

use crate::{Body, Headers};

/// A session between one client and its servers.
#[derive(Debug, Clone, Default)]
pub struct Recording {
    /// The maker of the recording, for comments: `brunt record`, `HAR of Chrome 126`.
    pub origin: String,
    /// When it began, in seconds since 1970; `None` if the source does not tell.
    pub began: Option<i64>,
    /// In the order in which they were sent.
    pub exchanges: Vec<Exchange>,
    /// In the order of time. Names that a user typed, or pages that a browser told.
    pub steps: Vec<Step>,
    /// Parts of the source that this recording lacks: a reason for the user, and how many (`requests to noise hosts`, 12).
    pub left_out: Vec<(String, u64)>,
}

/// The begin of a part of the session: a `group()` of the script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// Since the recording began. Exchanges sent at this time or later, up to the next step, belong to it.
    pub at: Duration,
    /// As the user typed it.
    pub name: String,
}

/// A request and what came of it.
#[derive(Debug, Clone)]
pub struct Exchange {
    /// Its place in the source, from 0: messages to users name it, and 1 more for a HAR file's entry.
    pub number: usize,
    /// When its first byte was sent, since the recording began.
    pub sent: Duration,
    /// When the last byte of its response came, since the recording began.
    pub done: Duration,
    /// The request.
    pub request: Request,
    /// The response; `None` if none came, and then `failure` says why.
    pub response: Option<Response>,
    /// Why no response came.
    pub failure: Option<String>,
    /// The use that the browser has for the response; `None` if the source does not tell.
    pub resource: Option<Resource>,
    /// The messages of a WebSocket, in order, if it was one. The exchange is then the handshake.
    pub messages: Vec<Message>,
    /// The events of `text/event-stream` with their times, if the source tells them; the text is in the response's body, too.
    pub events: Vec<Event>,
}

/// The request of an exchange.
#[derive(Debug, Clone)]
pub struct Request {
    /// `GET`, in capitals as a rule.
    pub method: String,
    /// `http`, `https`, `ws` or `wss`; a fragment is not part of it.
    pub url: Url,
    /// `HTTP/1.1`, `h2`, `h3`, as far as the source tells.
    pub version: Option<String>,
    /// As they were sent, `Cookie` included.
    pub headers: Headers,
    /// Without codings.
    pub body: Body,
}

/// The response of an exchange.
#[derive(Debug, Clone)]
pub struct Response {
    /// 100 to 999.
    pub status: u16,
    /// As they came: `Content-Encoding` names a coding that the body has no more.
    pub headers: Headers,
    /// Without codings.
    pub body: Body,
}

/// The use that a browser has for a response (`_resourceType` of Chrome's HAR, `Sec-Fetch-Dest`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Resource {
    /// A page or a frame.
    Document,
    /// CSS.
    Stylesheet,
    /// JavaScript, a worker.
    Script,
    /// A picture, an icon.
    Image,
    /// A font.
    Font,
    /// Sound, film, their captions.
    Media,
    /// `fetch()` or `XMLHttpRequest`.
    Fetch,
    /// A WebSocket.
    WebSocket,
    /// `EventSource`.
    EventSource,
    /// A CORS preflight.
    Preflight,
    /// A manifest, a ping, a report, a prefetch, anything else.
    Other,
}

/// The sender of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// The client: the browser, the script.
    Client,
    /// The server.
    Server,
}

/// A message of a WebSocket.
#[derive(Debug, Clone)]
pub struct Message {
    /// Since the recording began.
    pub at: Duration,
    /// The sender.
    pub from: Side,
    /// Whether it is text (UTF-8), not binary.
    pub is_text: bool,
    /// The whole message.
    pub data: bytes::Bytes,
}

/// An event of `text/event-stream`.
#[derive(Debug, Clone)]
pub struct Event {
    /// Since the recording began.
    pub at: Duration,
    /// Its type; `message` if it names none.
    pub kind: String,
    /// Its data, lines joined by `\n`.
    pub data: String,
}
