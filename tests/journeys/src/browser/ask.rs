//! A request that the browser is asked to send.

use serde_json::Value;
use url::{Url, form_urlencoded};

/// A request without the headers that the browser adds.
#[derive(Debug, Clone)]
pub struct Ask {
    /// In capitals.
    pub method: String,
    /// Absolute.
    pub url: Url,
    /// The headers of the page's script.
    pub headers: Vec<(String, String)>,
    /// As it is sent.
    pub body: Vec<u8>,
}

/// A file that a user chose.
#[derive(Debug, Clone)]
pub struct File {
    /// Without folders.
    pub name: &'static str,
    /// Its media type.
    pub kind: &'static str,
    /// Its content.
    pub bytes: Vec<u8>,
}

impl Ask {
    pub(crate) fn new(method: &str, url: Url) -> Self {
        Self { method: method.to_owned(), url, headers: Vec::new(), body: Vec::new() }
    }

    /// One more header.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// The body, as JSON.
    #[must_use]
    pub fn json(self, value: &Value) -> Self {
        let ask = self.header("Content-Type", "application/json");
        Self { body: value.to_string().into(), ..ask }
    }

    /// The body, as it is.
    #[must_use]
    pub fn bytes(self, kind: &str, bytes: &[u8]) -> Self {
        let ask = self.header("Content-Type", kind);
        Self { body: bytes.to_vec(), ..ask }
    }

    /// The body, as a URL-encoded form.
    #[must_use]
    pub fn fields<T: AsRef<str>>(self, fields: &[(T, T)]) -> Self {
        let body = form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
        let ask = self.header("Content-Type", "application/x-www-form-urlencoded; charset=UTF-8");
        Self { body: body.into(), ..ask }
    }
}
