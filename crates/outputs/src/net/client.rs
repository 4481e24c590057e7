//! One connection to a server, kept while it serves.

use std::fmt::Display;

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Request, StatusCode, header};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::client::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo};
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use super::endpoint::{Endpoint, Protocol, Proxy};

/// An answer's body is read up to here; it only explains a refusal.
const ANSWER_MAX: usize = 64 * 1024;

/// Most bytes of a proxy's answer to `CONNECT`.
const PROXY_HEAD_MAX: usize = 8 * 1024;

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

enum Connection {
    One(http1::SendRequest<Full<Bytes>>),
    Two(http2::SendRequest<Full<Bytes>>),
}

/// Sends posts to one server, one after the other.
pub(crate) struct Client {
    endpoint: Endpoint,
    connection: Option<Connection>,
}

trait Stream: AsyncRead + AsyncWrite + Unpin + Send {}
impl<T: AsyncRead + AsyncWrite + Unpin + Send> Stream for T {}

impl Client {
    pub(crate) fn new(endpoint: Endpoint) -> Self {
        Self { endpoint, connection: None }
    }

    /// Sends it and reads the answer, within the endpoint's time.
    ///
    /// # Errors
    /// A sentence: what went wrong on the way. A refusal by the server is an answer.
    pub(crate) async fn send(&mut self, post: &Post) -> Result<Answer, String> {
        let limit = self.endpoint.timeout;
        let sent = tokio::time::timeout(limit, self.attempt_twice(post)).await;
        let answer = sent.unwrap_or_else(|_| Err(format!("no answer within {limit:?}")));
        if answer.is_err() {
            self.connection = None;
        }
        answer
    }

    /// The server may have closed a connection just when we took it: then a new one is tried.
    async fn attempt_twice(&mut self, post: &Post) -> Result<Answer, String> {
        let is_old = self.connection.is_some();
        match self.attempt(post).await {
            Err(_) if is_old => {
                self.connection = None;
                self.attempt(post).await
            }
            result => result,
        }
    }

    async fn attempt(&mut self, post: &Post) -> Result<Answer, String> {
        if self.connection.is_none() {
            self.connection = Some(connect(&self.endpoint).await?);
        }
        let Some(connection) = &mut self.connection else { unreachable!("made above") };
        let authority = self.endpoint.authority();
        let whole = format!("{}://{authority}{}", self.endpoint.scheme(), post.path);
        // Whole addresses are for HTTP/2 (which takes them apart) and for proxies.
        let through_proxy = self.endpoint.proxy.is_some() && self.endpoint.tls.is_none();
        let is_whole = through_proxy || self.endpoint.protocol == Protocol::Two;
        let mut request = Request::post(if is_whole { &whole } else { &post.path })
            .body(Full::new(post.body.clone()))
            .map_err(text)?;
        request.headers_mut().clone_from(&post.headers);
        let response = match connection {
            Connection::One(one) => {
                let host = HeaderValue::from_str(&authority).map_err(text)?;
                request.headers_mut().insert(header::HOST, host);
                // Also of nothing: without it some servers would wait for a body.
                request.headers_mut().insert(header::CONTENT_LENGTH, post.body.len().into());
                if let Some(Proxy { authorization: Some(value), .. }) = &self.endpoint.proxy
                    && through_proxy
                {
                    let value = HeaderValue::from_str(value).map_err(text)?;
                    request.headers_mut().insert(header::PROXY_AUTHORIZATION, value);
                }
                one.ready().await.map_err(text)?;
                one.send_request(request).await.map_err(text)?
            }
            Connection::Two(two) => {
                two.ready().await.map_err(text)?;
                two.send_request(request).await.map_err(text)?
            }
        };
        let (head, body) = response.into_parts();
        let whole = Limited::new(body, ANSWER_MAX).collect().await;
        let (body, trailers) = if let Ok(whole) = whole {
            let trailers = whole.trailers().cloned().unwrap_or_default();
            (whole.to_bytes(), trailers)
        } else {
            // Longer than anyone reads; the status says enough, and the connection is lost.
            self.connection = None;
            (Bytes::new(), HeaderMap::new())
        };
        Ok(Answer { status: head.status, headers: head.headers, trailers, body })
    }
}

async fn connect(endpoint: &Endpoint) -> Result<Connection, String> {
    let Endpoint { host, port, proxy, .. } = endpoint;
    let (to_host, to_port) = match proxy {
        Some(proxy) => (&proxy.host, proxy.port),
        None => (host, *port),
    };
    let address = format!("{to_host}:{to_port}");
    let mut tcp = TcpStream::connect((to_host.as_str(), to_port))
        .await
        .map_err(|error| format!("could not connect to {address}: {error}"))?;
    // Posts are written whole.
    tcp.set_nodelay(true).map_err(text)?;
    let stream: Box<dyn Stream> = match &endpoint.tls {
        None => Box::new(tcp),
        Some(config) => {
            if let Some(proxy) = proxy {
                ask_proxy(&mut tcp, endpoint, proxy).await?;
            }
            let name = ServerName::try_from(host.clone()).map_err(text)?;
            let tls = TlsConnector::from(config.clone()).connect(name, tcp).await;
            Box::new(tls.map_err(|error| format!("the TLS handshake with {address}: {error}"))?)
        }
    };
    let io = TokioIo::new(stream);
    Ok(match endpoint.protocol {
        Protocol::One => {
            let (sender, connection) = http1::handshake(io).await.map_err(text)?;
            tokio::spawn(connection);
            Connection::One(sender)
        }
        Protocol::Two => {
            let handshake = http2::handshake(TokioExecutor::new(), io).await;
            let (sender, connection) = handshake.map_err(text)?;
            tokio::spawn(connection);
            Connection::Two(sender)
        }
    })
}

/// Asks the proxy for a tunnel.
async fn ask_proxy(tcp: &mut TcpStream, endpoint: &Endpoint, proxy: &Proxy) -> Result<(), String> {
    let Endpoint { host, port, .. } = endpoint;
    let mut request = format!("CONNECT {host}:{port} HTTP/1.1\r\nHost: {host}:{port}\r\n");
    if let Some(authorization) = &proxy.authorization {
        request.push_str("Proxy-Authorization: ");
        request.push_str(authorization);
        request.push_str("\r\n");
    }
    request.push_str("\r\n");
    tcp.write_all(request.as_bytes()).await.map_err(text)?;
    // Byte by byte, so that nothing of the tunnel is taken.
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        if head.len() >= PROXY_HEAD_MAX {
            return Err("the proxy's answer has no end".into());
        }
        head.push(tcp.read_u8().await.map_err(|error| format!("the proxy: {error}"))?);
    }
    let head = String::from_utf8_lossy(&head);
    let status = head.split_whitespace().nth(1).unwrap_or_default();
    if status.starts_with('2') {
        Ok(())
    } else {
        Err(format!("the proxy answered {}", head.lines().next().unwrap_or_default()))
    }
}

/// An error and what caused it.
#[allow(clippy::needless_pass_by_value, reason = "as `map_err` hands it over")]
fn text(error: impl std::error::Error) -> String {
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
