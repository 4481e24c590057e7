//! One connection to a server, kept while it serves: hyper's client, with its errors in our words.

use std::fmt::Display;

use brunt_duration::wait;
use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Request, StatusCode, header};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper_rustls::HttpsConnector;
use hyper_util::client::legacy;
use hyper_util::rt::TokioExecutor;

use super::dial::{Dialer, Refusal, Served};
use super::endpoint::{Endpoint, Protocol, Proxy};

/// An answer's body is read up to here; it only explains a refusal.
const ANSWER_MAX: usize = 64 * 1024;

/// A request to send.
#[derive(Clone, Debug)]
pub(crate) struct Post {
    /// From the slash on, with the query.
    pub(crate) path: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Post {
    pub(crate) fn new(path: impl Into<String>, body: impl Into<Bytes>) -> Self {
        Self { path: path.into(), headers: HeaderMap::new(), body: body.into() }
    }

    /// Adds a header; one that can't be is left out.
    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        if let (Ok(name), Ok(value)) =
            (HeaderName::from_bytes(name.as_bytes()), HeaderValue::from_str(value))
        {
            self.headers.insert(name, value);
        }
        self
    }
}

/// The answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) trailers: HeaderMap,
    /// The start of it.
    pub(crate) body: Bytes,
}

impl Answer {
    /// Whether the server took it; otherwise its words.
    pub(crate) fn is_success(&self) -> Result<(), String> {
        if self.status.is_success() {
            return Ok(());
        }
        let said = String::from_utf8_lossy(&self.body);
        let said: String = said.trim().chars().take(300).collect();
        Err(format!(
            "the server answered {}{}{said}",
            self.status,
            if said.is_empty() { "" } else { ": " }
        ))
    }
}

/// A connection to the server, made with the first request and again when the server has closed it.
enum Connection {
    Plain(legacy::Client<Dialer, Full<Bytes>>),
    Secure(legacy::Client<HttpsConnector<Dialer>, Full<Bytes>>),
}

/// Sends posts to one server, one after the other.
pub(crate) struct Client {
    endpoint: Endpoint,
    connection: Connection,
}

/// Why a post has no answer.
struct Trouble {
    sentence: String,
    /// Whether it was sent on a connection that had brought answers before: the server may have closed it meanwhile.
    was_kept: bool,
}

impl Client {
    pub(crate) fn new(endpoint: Endpoint) -> Self {
        let connection = Connection::to(&endpoint);
        Self { endpoint, connection }
    }

    /// Sends it and reads the answer, within the endpoint's time.
    ///
    /// # Errors
    /// A sentence: what went wrong on the way. A refusal by the server is an answer.
    pub(crate) async fn send(&mut self, post: &Post) -> Result<Answer, String> {
        let limit = self.endpoint.timeout;
        let sent = tokio::time::timeout(limit, self.attempt_twice(post)).await;
        let answer =
            sent.unwrap_or_else(|_| Err(format!("no answer within {}", wait::format(limit))));
        if answer.is_err() {
            self.renew();
        }
        answer
    }

    /// Closes the connection, whatever its state; the next post gets another.
    fn renew(&mut self) {
        self.connection = Connection::to(&self.endpoint);
    }

    /// The server may have closed a kept connection just when we took it: then a new one is tried. A post that fails on a new
    /// one is not sent again, for the server may have taken it.
    async fn attempt_twice(&mut self, post: &Post) -> Result<Answer, String> {
        let mut result = self.attempt(post).await;
        if result.as_ref().is_err_and(|trouble| trouble.was_kept) {
            self.renew();
            result = self.attempt(post).await;
        }
        result.map_err(|trouble| trouble.sentence)
    }

    async fn attempt(&mut self, post: &Post) -> Result<Answer, Trouble> {
        let request = self.request(post);
        let request = request.map_err(|sentence| Trouble { sentence, was_kept: false })?;
        let response = self.connection.request(request).await;
        let response = response.map_err(|error| Trouble {
            was_kept: Served::before(&error),
            sentence: self.sentence(&error),
        })?;
        let (head, body) = response.into_parts();
        Served::set(&head.extensions);
        let whole = Limited::new(body, ANSWER_MAX).collect().await;
        let (body, trailers) = if let Ok(whole) = whole {
            let trailers = whole.trailers().cloned().unwrap_or_default();
            (whole.to_bytes(), trailers)
        } else {
            // Longer than anyone reads; the status says enough, and hyper closes the connection.
            (Bytes::new(), HeaderMap::new())
        };
        // A task of hyper's puts the connection back. The next post must not come before it, or it would open another.
        tokio::task::yield_now().await;
        Ok(Answer { status: head.status, headers: head.headers, trailers, body })
    }

    fn request(&self, post: &Post) -> Result<Request<Full<Bytes>>, String> {
        let Endpoint { proxy, protocol, .. } = &self.endpoint;
        let whole =
            format!("{}://{}{}", self.endpoint.scheme(), self.endpoint.authority(), post.path);
        let mut request = Request::post(whole)
            .body(Full::new(post.body.clone()))
            .map_err(|error| text(&error))?;
        let headers = request.headers_mut();
        headers.clone_from(&post.headers);
        // The address says it, whatever headers a user asked for.
        headers.remove(header::HOST);
        if *protocol == Protocol::One {
            // Also of nothing: without it some servers would wait for a body.
            headers.insert(header::CONTENT_LENGTH, post.body.len().into());
            if let Some(Proxy { authorization: Some(value), .. }) = proxy
                && self.endpoint.tls.is_none()
            {
                headers.insert(header::PROXY_AUTHORIZATION, value.clone());
            }
        }
        Ok(request)
    }

    /// The error in our words.
    fn sentence(&self, error: &legacy::Error) -> String {
        use std::error::Error as _;
        let Some(cause) = error.source() else { return error.to_string() };
        if let Some(Refusal(refusal)) = cause.downcast_ref() {
            refusal.clone()
        } else if error.is_connect() {
            let Endpoint { host, port, .. } = &self.endpoint;
            format!("the TLS handshake with {host}:{port}: {cause}")
        } else {
            text(cause)
        }
    }
}

impl Connection {
    fn to(endpoint: &Endpoint) -> Self {
        let mut builder = legacy::Client::builder(TokioExecutor::new());
        builder.http2_only(endpoint.protocol == Protocol::Two);
        // One post goes at a time. The connection stays as long as the server lets it.
        builder.pool_max_idle_per_host(1).pool_idle_timeout(None);
        // It is for us to say what is sent again.
        builder.retry_canceled_requests(false);
        let dialer = Dialer::new(endpoint);
        match &endpoint.tls {
            None => Self::Plain(builder.build(dialer)),
            Some(config) => Self::Secure(builder.build((dialer, config.clone()).into())),
        }
    }

    fn request(&self, request: Request<Full<Bytes>>) -> legacy::ResponseFuture {
        match self {
            Self::Plain(client) => client.request(request),
            Self::Secure(client) => client.request(request),
        }
    }
}

/// An error and what caused it.
pub(super) fn text(error: &dyn std::error::Error) -> String {
    let mut said = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        push_cause(&mut said, cause);
        source = cause.source();
    }
    said
}

fn push_cause(said: &mut String, cause: &dyn Display) {
    let cause = cause.to_string();
    if !said.contains(&cause) {
        said.push_str(": ");
        said.push_str(&cause);
    }
}
