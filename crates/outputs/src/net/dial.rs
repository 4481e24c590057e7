//! The way to a server, up to where TLS begins: a TCP connection, and the proxy's tunnel.

use std::error::Error;
use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{Extensions, Request, Response, Uri, header};
use http_body_util::Empty;
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper::ext::ReasonPhrase;
use hyper_util::client::legacy;
use hyper_util::client::legacy::connect::{Connected, Connection, HttpConnector};
use hyper_util::rt::TokioIo;
use tokio::io::{self, AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tower_service::Service;

use super::client::text;
use super::endpoint::{Endpoint, Proxy};

/// The maximum number of bytes of a proxy's answer to `CONNECT`.
const PROXY_HEAD_MAX: usize = 8 * 1024;

/// Opens connections for hyper's client.
#[derive(Clone)]
pub(super) struct Dialer {
    tcp: HttpConnector,
    proxy: Option<Arc<Proxy>>,
    /// Whether the proxy is asked for a tunnel; otherwise it is given whole requests.
    is_tunnel: bool,
}

/// Why there is no connection, as a sentence.
#[derive(Debug)]
pub(super) struct Refusal(pub(super) String);

impl fmt::Display for Refusal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl Error for Refusal {}

impl Dialer {
    pub(super) fn new(endpoint: &Endpoint) -> Self {
        let mut tcp = HttpConnector::new();
        // Of https too: TLS is laid over it elsewhere.
        tcp.enforce_http(false);
        // Posts are written whole.
        tcp.set_nodelay(true);
        let proxy = endpoint.proxy.clone().map(Arc::new);
        Self { tcp, proxy, is_tunnel: endpoint.tls.is_some() }
    }

    async fn dial(mut self, to: Uri) -> Result<TokioIo<Line>, Refusal> {
        let address = match &self.proxy {
            None => to.clone(),
            Some(proxy) => {
                let address = format!("http://{}", proxy.authority());
                address.try_into().map_err(|error| Refusal(format!("the proxy: {error}")))?
            }
        };
        let tcp = self.connect(address).await?;
        let (tcp, is_proxied) = match &self.proxy {
            None => (tcp, false),
            Some(proxy) if self.is_tunnel => (tunnel(tcp, &to, proxy).await?, false),
            Some(_) => (tcp, true),
        };
        Ok(TokioIo::new(Line { tcp: tcp.into_inner(), is_proxied, served: Served::default() }))
    }

    async fn connect(&mut self, to: Uri) -> Result<TokioIo<TcpStream>, Refusal> {
        let address = authority(&to);
        let refused = |error: &dyn Error| {
            Refusal(format!("could not connect to {address}: {}", innermost(error)))
        };
        poll_fn(|context| self.tcp.poll_ready(context)).await.map_err(|error| refused(&error))?;
        self.tcp.call(to).await.map_err(|error| refused(&error))
    }
}

impl Service<Uri> for Dialer {
    type Response = TokioIo<Line>;
    type Error = Refusal;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Refusal>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Refusal>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, to: Uri) -> Self::Future {
        Box::pin(self.clone().dial(to))
    }
}

/// Asks the proxy for a tunnel. (`Tunnel` of hyper-util would do so too, but its error does not tell what the proxy answered.)
async fn tunnel(
    tcp: TokioIo<TcpStream>,
    to: &Uri,
    proxy: &Proxy,
) -> Result<TokioIo<TcpStream>, Refusal> {
    let failed = |error: hyper::Error| {
        Refusal(if error.is_parse_too_large() {
            "the proxy's answer has no end".to_owned()
        } else {
            format!("the proxy: {}", text(&error))
        })
    };
    let broken = |error: http::Error| Refusal(format!("the proxy: {error}"));
    let mut builder = http1::Builder::new();
    builder.max_buf_size(PROXY_HEAD_MAX);
    let (mut sender, connection) = builder.handshake(tcp).await.map_err(failed)?;
    tokio::spawn(connection.with_upgrades());
    let address = authority(to);
    let request = Request::connect(&address).header(header::HOST, &address);
    let mut request = request.body(Empty::<Bytes>::new()).map_err(broken)?;
    if let Some(authorization) = &proxy.authorization {
        request.headers_mut().insert(header::PROXY_AUTHORIZATION, authorization.clone());
    }
    let answer = sender.send_request(request).await.map_err(failed)?;
    if !answer.status().is_success() {
        return Err(Refusal(format!("the proxy answered {}", first_line(&answer))));
    }
    let upgraded = hyper::upgrade::on(answer).await.map_err(failed)?;
    let parts = upgraded.downcast::<TokioIo<TcpStream>>();
    let parts = parts.expect("the connection was made of just this");
    if parts.read_buf.is_empty() {
        Ok(parts.io)
    } else {
        Err(Refusal("the proxy sent bytes before it was asked for any".to_owned()))
    }
}

/// `HTTP/1.1 403 Forbidden`
fn first_line(answer: &Response<Incoming>) -> String {
    let status = answer.status();
    let reason = answer.extensions().get::<ReasonPhrase>();
    let reason = reason.map_or(status.canonical_reason().unwrap_or_default().into(), |reason| {
        String::from_utf8_lossy(reason.as_bytes())
    });
    format!("{:?} {} {reason}", answer.version(), status.as_u16()).trim_end().to_owned()
}

/// `host:port`; of no port, the scheme's.
fn authority(uri: &Uri) -> String {
    let usual = if uri.scheme_str() == Some("https") { 443 } else { 80 };
    format!("{}:{}", uri.host().unwrap_or_default(), uri.port_u16().unwrap_or(usual))
}

/// The system's message, without the errors around it.
fn innermost(error: &dyn Error) -> String {
    let mut error = error;
    while let Some(cause) = error.source() {
        error = cause;
    }
    error.to_string()
}

/// A TCP connection that knows whether a proxy wants whole requests on it.
pub(super) struct Line {
    tcp: TcpStream,
    is_proxied: bool,
    served: Served,
}

impl Connection for Line {
    fn connected(&self) -> Connected {
        self.tcp.connected().proxy(self.is_proxied).extra(self.served.clone())
    }
}

/// Whether a connection has brought an answer. hyper hands it out with each answer and each error of the connection.
#[derive(Clone, Default)]
pub(super) struct Served(Arc<AtomicBool>);

impl Served {
    /// The connection that these belong to has brought an answer.
    pub(super) fn set(extensions: &Extensions) {
        if let Some(Self(served)) = extensions.get::<Self>() {
            served.store(true, Relaxed);
        }
    }

    /// Whether the request failed on a connection that had served before.
    pub(super) fn before(error: &legacy::Error) -> bool {
        let mut extensions = Extensions::new();
        if let Some(connected) = error.connect_info() {
            connected.get_extras(&mut extensions);
        }
        extensions.get::<Self>().is_some_and(|Self(served)| served.load(Relaxed))
    }
}

impl AsyncRead for Line {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.tcp).poll_read(context, buffer)
    }
}

impl AsyncWrite for Line {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.tcp).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[std::io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.tcp).poll_write_vectored(context, parts)
    }

    fn is_write_vectored(&self) -> bool {
        self.tcp.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.tcp).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.tcp).poll_shutdown(context)
    }
}
