//! A response as finders see it: recorded, or of a replay.

use std::borrow::Cow;
use std::cell::OnceCell;

use brunt_html::Document;
use brunt_traffic::{Headers, Recording, Side};
use url::Url;

use crate::cookies::Jar;
use crate::json::Json;

/// A response, and what came with it.
pub struct Reply<'a> {
    /// Its URL, after redirects.
    pub url: Cow<'a, Url>,
    /// As they came.
    pub headers: Cow<'a, Headers>,
    /// Decoded to text.
    pub body: Cow<'a, str>,
    /// Names and values that the jar has for its URL.
    pub cookies: Vec<(String, String)>,
    /// The texts that the server sent over the WebSocket.
    pub messages: Vec<Cow<'a, str>>,
    /// The data of the events of `text/event-stream`.
    pub events: Vec<Cow<'a, str>>,
    document: OnceCell<Option<Document>>,
    json: OnceCell<Option<Json>>,
}

impl<'a> Reply<'a> {
    /// One without cookies, messages and events.
    pub fn new(
        url: impl Into<Cow<'a, Url>>,
        headers: impl Into<Cow<'a, Headers>>,
        body: impl Into<Cow<'a, str>>,
    ) -> Self {
        Self {
            url: url.into(),
            headers: headers.into(),
            body: body.into(),
            cookies: Vec::new(),
            messages: Vec::new(),
            events: Vec::new(),
            document: OnceCell::new(),
            json: OnceCell::new(),
        }
    }

    /// The recorded response of an exchange, with the cookies of the session until then. `None` if none came.
    pub fn recorded(recording: &'a Recording, exchange: usize) -> Option<Self> {
        let mut reply = Self::without_cookies(recording, exchange)?;
        let jar = Jar::after(recording, exchange);
        reply.cookies = jar.cookies(&reply.url);
        Some(reply)
    }

    pub(crate) fn without_cookies(recording: &'a Recording, exchange: usize) -> Option<Self> {
        let exchange = recording.exchanges.get(exchange)?;
        let response = exchange.response.as_ref()?;
        let mut reply = Self::new(
            Cow::Borrowed(&exchange.request.url),
            Cow::Borrowed(&response.headers),
            crate::texts::body_text(&response.body, &response.headers),
        );
        reply.messages = exchange
            .messages
            .iter()
            .filter(|message| message.from == Side::Server)
            .map(|message| String::from_utf8_lossy(&message.data))
            .collect();
        reply.events = if exchange.events.is_empty() {
            crate::texts::events(&reply.body).into_iter().map(Cow::Owned).collect()
        } else {
            exchange.events.iter().map(|event| Cow::Borrowed(event.data.as_str())).collect()
        };
        if response.headers.media_type() != "text/event-stream" && exchange.events.is_empty() {
            reply.events.clear();
        }
        Some(reply)
    }

    /// The page, if the body can be one.
    pub(crate) fn document(&self) -> Option<&Document> {
        self.document.get_or_init(|| Document::parse(&self.body).ok()).as_ref()
    }

    /// The body as JSON.
    pub(crate) fn json(&self) -> Option<&Json> {
        self.json.get_or_init(|| Json::parse(crate::texts::without_guard(&self.body))).as_ref()
    }
}

impl std::fmt::Debug for Reply<'_> {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        to.debug_struct("Reply").field("url", &self.url.path()).finish_non_exhaustive()
    }
}
