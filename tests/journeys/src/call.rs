//! A request as applications see it, and their reply.

use serde_json::Value;
use url::form_urlencoded;

/// A request.
#[derive(Debug, Clone)]
pub struct Call {
    /// Which of the application's origins it came to, from 0.
    pub origin: usize,
    /// In capitals.
    pub method: String,
    /// Without the query.
    pub path: String,
    /// As sent, without its question mark.
    pub query: String,
    /// Names in small letters.
    pub headers: Vec<(String, String)>,
    /// As sent.
    pub body: Vec<u8>,
}

impl Call {
    /// Method and path: `GET /notes/`.
    pub fn line(&self) -> String {
        format!("{} {}", self.method, self.path)
    }

    /// The segments of the path, without empty ones.
    pub fn segments(&self) -> Vec<&str> {
        self.path.split('/').filter(|segment| !segment.is_empty()).collect()
    }

    /// The first header of this name, which is in small letters; empty if there is none.
    pub fn header(&self, name: &str) -> &str {
        let found = self.headers.iter().find(|(known, _)| known == name);
        found.map_or("", |(_, value)| value)
    }

    /// A cookie; empty if there is none.
    pub fn cookie(&self, name: &str) -> &str {
        let values = self.headers.iter().filter(|(known, _)| known == "cookie");
        let mut pairs = values.flat_map(|(_, value)| value.split(';'));
        let found =
            pairs.find_map(|pair| pair.trim().split_once('=').filter(|(known, _)| *known == name));
        found.map_or("", |(_, value)| value)
    }

    /// A parameter of the query, decoded; empty if there is none.
    pub fn parameter(&self, name: &str) -> String {
        first(self.query.as_bytes(), name).unwrap_or_default()
    }

    /// A field of a URL-encoded form, decoded; empty if there is none.
    pub fn field(&self, name: &str) -> String {
        first(&self.body, name).unwrap_or_default()
    }

    /// Whether a URL-encoded form has a field.
    pub fn has_field(&self, name: &str) -> bool {
        first(&self.body, name).is_some()
    }

    /// The body as JSON; null if it is something else.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or(Value::Null)
    }
}

fn first(text: &[u8], name: &str) -> Option<String> {
    let mut pairs = form_urlencoded::parse(text);
    pairs.find(|(known, _)| known == name).map(|(_, value)| value.into_owned())
}

/// A reply.
#[derive(Debug, Clone)]
pub struct Reply {
    /// 200 and so on.
    pub status: u16,
    /// In order.
    pub headers: Vec<(String, String)>,
    /// As it is sent.
    pub body: Vec<u8>,
    /// The conversation that begins if this accepts a WebSocket: a name for [`App`](crate::App).
    pub socket: Option<String>,
}

impl Reply {
    /// Of this status and media type.
    pub fn new(status: u16, kind: &str, body: impl Into<Vec<u8>>) -> Self {
        let headers = vec![("Content-Type".to_owned(), kind.to_owned())];
        Self { status, headers, body: body.into(), socket: None }
    }

    /// A page that no cache keeps.
    pub fn page(html: impl Into<Vec<u8>>) -> Self {
        Self::new(200, "text/html; charset=utf-8", html).with("Cache-Control", "no-store")
    }

    /// An error as a page.
    pub fn error(status: u16, sentence: &str) -> Self {
        let html = format!(
            "<!DOCTYPE html><html><head><title>Error {status}</title></head><body><h1>Error {status}</h1>\
             <p class=\"error\">{}</p></body></html>",
            escaped(sentence)
        );
        Self::new(status, "text/html; charset=utf-8", html)
    }

    /// JSON.
    pub fn json(status: u16, value: &Value) -> Self {
        Self::new(status, "application/json", value.to_string())
    }

    /// To another page.
    pub fn redirect(status: u16, location: &str) -> Self {
        let reply = Self { status, headers: Vec::new(), body: Vec::new(), socket: None };
        reply.with("Location", location)
    }

    /// A WebSocket is accepted.
    pub fn socket(name: impl Into<String>) -> Self {
        let socket = Some(name.into());
        Self { status: 101, headers: Vec::new(), body: Vec::new(), socket }
    }

    /// One more header.
    #[must_use]
    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// A cookie: `name=value; Path=/; HttpOnly`.
    #[must_use]
    pub fn cookie(self, cookie: &str) -> Self {
        self.with("Set-Cookie", cookie)
    }
}

/// A text for HTML.
pub(crate) fn escaped(text: &str) -> String {
    let mut html = String::with_capacity(text.len() + 16);
    for letter in text.chars() {
        match letter {
            '&' => html.push_str("&amp;"),
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            '"' => html.push_str("&quot;"),
            '\'' => html.push_str("&#39;"),
            other => html.push(other),
        }
    }
    html
}
