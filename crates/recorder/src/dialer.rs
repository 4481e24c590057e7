//! Connections to servers, straight or through a further proxy.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::header::{HOST, PROXY_AUTHORIZATION};
use http::{HeaderValue, Request, StatusCode, Uri};
use http_body_util::Empty;
use hyper_util::client::legacy::connect::{Connected, Connection, HttpConnector};
use hyper_util::rt::TokioIo;
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_rustls::TlsConnector;
use tower_service::Service;

use crate::failure::Failure;
use crate::tasks::Tasks;
use crate::{Error, Upstream, failure, verifier};

/// A server that does not answer by then is not there. TLS included.
const TIMEOUT: Duration = Duration::from_secs(30);

/// The meaning of 407.
const CREDENTIALS: &str = "it wants other credentials than --upstream-proxy has";

/// Why there is no connection.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DialError {
    #[error("no connection to {host}: {why}")]
    Connect { host: String, why: String },
    #[error("no connection to {host} within {} s", TIMEOUT.as_secs())]
    Late { host: String },
    #[error("the upstream proxy {proxy}: {why}")]
    Proxy { proxy: String, why: String },
    #[error("TLS with {host} failed: {source}")]
    Tls { host: String, source: io::Error },
}

/// The way to servers, which all connections share.
#[derive(Debug)]
pub(crate) struct Network {
    tcp: HttpConnector,
    proxy: Option<FurtherProxy>,
    tls: Arc<ClientConfig>,
    tls_http1: Arc<ClientConfig>,
    tasks: Tasks,
}

/// A further proxy.
#[derive(Debug)]
struct FurtherProxy {
    address: Uri,
    /// As it may be shown.
    name: String,
    credentials: Option<HeaderValue>,
}

impl Network {
    pub(crate) fn new(upstream: &Upstream, tasks: &Tasks) -> Result<Self, Error> {
        let mut tcp = HttpConnector::new();
        tcp.enforce_http(false);
        tcp.set_nodelay(true);
        tcp.set_connect_timeout(Some(TIMEOUT));
        Ok(Self {
            tcp,
            proxy: upstream.proxy.as_ref().map(FurtherProxy::new).transpose()?,
            tls: verifier::client(upstream, false)?,
            tls_http1: verifier::client(upstream, true)?,
            tasks: tasks.clone(),
        })
    }

    /// The header that requests need that go to the further proxy as they are.
    pub(crate) fn proxy_credentials(&self) -> Option<&HeaderValue> {
        self.proxy.as_ref()?.credentials.as_ref()
    }

    /// The further proxy's 407, if there is such a proxy.
    pub(crate) fn refusal(&self) -> Option<Failure> {
        let proxy = self.proxy.as_ref()?.name.clone();
        let error = DialError::Proxy { proxy, why: CREDENTIALS.to_owned() };
        Some(Failure::new("", &error))
    }

    /// A connection to a server for whatever it speaks, without TLS of ours.
    pub(crate) async fn plain(&self, host: &str, port: u16) -> Result<Stream, DialError> {
        let io: Box<dyn Io> = match &self.proxy {
            None => Box::new(self.tcp(&format!("{host}:{port}"), &address(host, port)?).await?),
            Some(proxy) => self.through(proxy, host, port).await?,
        };
        Ok(Stream { io, is_http2: false, is_proxied: false })
    }

    async fn tcp(&self, host: &str, to: &Uri) -> Result<tokio::net::TcpStream, DialError> {
        let mut tcp = self.tcp.clone();
        let stream = tcp.call(to.clone()).await.map_err(|error| DialError::Connect {
            host: host.to_owned(),
            why: failure::chain(&error),
        })?;
        Ok(stream.into_inner())
    }

    /// `CONNECT` by the further proxy.
    async fn through(
        &self,
        proxy: &FurtherProxy,
        host: &str,
        port: u16,
    ) -> Result<Box<dyn Io>, DialError> {
        let failed = |why: String| DialError::Proxy { proxy: proxy.name.clone(), why };
        let stream = self.to_proxy(proxy).await?;
        let to = address(host, port)?;
        let authority = to.authority().map(ToString::to_string).unwrap_or_default();
        let mut request = Request::connect(&authority).header(HOST, &authority);
        if let Some(credentials) = &proxy.credentials {
            request = request.header(PROXY_AUTHORIZATION, credentials);
        }
        let request =
            request.body(Empty::<Bytes>::new()).map_err(|error| failed(error.to_string()))?;
        let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream))
            .await
            .map_err(|error| failed(failure::chain(&error)))?;
        self.tasks.spawn(async move {
            let _ = connection.with_upgrades().await;
        });
        let mut answer =
            sender.send_request(request).await.map_err(|error| failed(failure::chain(&error)))?;
        match answer.status() {
            status if status.is_success() => {}
            StatusCode::PROXY_AUTHENTICATION_REQUIRED => {
                return Err(failed(CREDENTIALS.to_owned()));
            }
            status => return Err(failed(format!("it answered {status} for {authority}"))),
        }
        let upgraded = hyper::upgrade::on(&mut answer)
            .await
            .map_err(|error| failed(failure::chain(&error)))?;
        Ok(Box::new(TokioIo::new(upgraded)))
    }

    async fn to_proxy(&self, proxy: &FurtherProxy) -> Result<tokio::net::TcpStream, DialError> {
        self.tcp(&proxy.name, &proxy.address).await.map_err(|error| match error {
            DialError::Connect { why, .. } => DialError::Proxy { proxy: proxy.name.clone(), why },
            other => other,
        })
    }
}

impl FurtherProxy {
    fn new(url: &url::Url) -> Result<Self, Error> {
        let host = url.host_str().filter(|_| url.scheme() == "http").ok_or_else(|| {
            Error::Proxy(format!(
                "is an HTTP proxy: http://HOST:PORT or http://USER:PASSWORD@HOST:PORT, not \"{}://…\"",
                url.scheme()
            ))
        })?;
        let name = format!("{host}:{}", url.port().unwrap_or(80));
        let address: Uri = format!("http://{name}/")
            .parse()
            .map_err(|_| Error::Proxy(format!("has an address that is not understood: {name}")))?;
        let has_credentials = !url.username().is_empty() || url.password().is_some();
        let credentials = has_credentials.then(|| {
            let mut pair = unescaped(url.username());
            pair.push(b':');
            pair.extend(unescaped(url.password().unwrap_or_default()));
            let text = format!("Basic {}", STANDARD.encode(pair));
            HeaderValue::from_str(&text).map(|mut value| {
                value.set_sensitive(true);
                value
            })
        });
        let credentials = credentials
            .transpose()
            .map_err(|_| Error::Proxy("has credentials that no header can carry".to_owned()))?;
        Ok(Self { address, name, credentials })
    }
}

/// `%41` is `A`.
fn unescaped(text: &str) -> Vec<u8> {
    // A form's value, except that a plus is a plus.
    let text = text.replace('+', "%2B");
    let mut pairs = url::form_urlencoded::parse(text.as_bytes());
    pairs.next().map(|(name, _)| name.as_bytes().to_vec()).unwrap_or_default()
}

fn address(host: &str, port: u16) -> Result<Uri, DialError> {
    let host = if host.contains(':') && !host.starts_with('[') {
        format!("[{host}]")
    } else {
        host.to_owned()
    };
    format!("http://{host}:{port}/")
        .parse()
        .map_err(|_| DialError::Connect { host, why: "that is no host's name".to_owned() })
}

/// Dials for hyper's client.
#[derive(Debug, Clone)]
pub(crate) struct Dialer {
    pub(crate) network: Arc<Network>,
    /// Host and port that a browser has asked a tunnel for, and by which name it greeted the server there; `None`: those of the URL.
    pub(crate) target: Option<Target>,
    /// HTTP/1.1 alone.
    pub(crate) is_http1: bool,
    /// Requests for `http:` may go to the further proxy as they are, without `CONNECT`.
    pub(crate) may_ask_proxy: bool,
}

/// The end of a tunnel.
#[derive(Debug, Clone)]
pub(crate) struct Target {
    pub(crate) host: String,
    pub(crate) port: u16,
    pub(crate) name: Option<String>,
}

impl Dialer {
    async fn dial(self, uri: Uri) -> Result<Stream, DialError> {
        let is_tls = uri.scheme_str() == Some("https");
        let of_url = || {
            let host = uri.host().unwrap_or_default().trim_matches(['[', ']']).to_owned();
            let port = uri.port_u16().unwrap_or(if is_tls { 443 } else { 80 });
            Target { host, port, name: None }
        };
        let target = self.target.clone().unwrap_or_else(of_url);
        let network = &self.network;
        if let (Some(proxy), false, true) = (&network.proxy, is_tls, self.may_ask_proxy) {
            let io = Box::new(network.to_proxy(proxy).await?);
            return Ok(Stream { io, is_http2: false, is_proxied: true });
        }
        let plain = network.plain(&target.host, target.port).await?;
        if !is_tls {
            return Ok(plain);
        }
        let name = target.name.as_ref().unwrap_or(&target.host).clone();
        let failed = |source| DialError::Tls { host: name.clone(), source };
        let server = ServerName::try_from(name.clone())
            .map_err(|_| failed(io::Error::other("that is no host's name")))?;
        let config = if self.is_http1 { &network.tls_http1 } else { &network.tls };
        let stream = TlsConnector::from(Arc::clone(config))
            .connect(server, plain.io)
            .await
            .map_err(failed)?;
        let is_http2 = stream.get_ref().1.alpn_protocol() == Some(b"h2");
        Ok(Stream { io: Box::new(stream), is_http2, is_proxied: false })
    }
}

impl Service<Uri> for Dialer {
    type Response = TokioIo<Stream>;
    type Error = DialError;
    type Future = Pin<Box<dyn Future<Output = Result<TokioIo<Stream>, DialError>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), DialError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let dialer = self.clone();
        Box::pin(async move {
            let host = uri.host().unwrap_or_default().to_owned();
            match tokio::time::timeout(TIMEOUT, dialer.dial(uri)).await {
                Ok(stream) => stream.map(TokioIo::new),
                Err(_) => Err(DialError::Late { host }),
            }
        })
    }
}

/// Any connection.
trait Io: AsyncRead + AsyncWrite + Unpin + Send {}

impl<T: AsyncRead + AsyncWrite + Unpin + Send> Io for T {}

/// A connection to a server.
pub(crate) struct Stream {
    io: Box<dyn Io>,
    is_http2: bool,
    /// It leads to the further proxy, which wants whole URLs.
    is_proxied: bool,
}

impl Connection for Stream {
    fn connected(&self) -> Connected {
        let connected = Connected::new().proxy(self.is_proxied);
        if self.is_http2 { connected.negotiated_h2() } else { connected }
    }
}

impl AsyncRead for Stream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        to: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_read(cx, to)
    }
}

impl AsyncWrite for Stream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        from: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.io).poll_write(cx, from)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        from: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.io).poll_write_vectored(cx, from)
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn proxy(url: &str) -> Result<FurtherProxy, Error> {
        FurtherProxy::new(&url::Url::parse(url).unwrap())
    }

    #[test]
    fn a_further_proxy_has_an_address_and_credentials() {
        let with = proxy("http://a%40b:c+d%3a@proxy.test:3128").unwrap();
        assert_eq!((with.address.port_u16(), with.name.as_str()), (Some(3128), "proxy.test:3128"));
        let value = with.credentials.unwrap();
        assert!(value.is_sensitive());
        let pair = STANDARD.decode(value.as_bytes().strip_prefix(b"Basic ").unwrap()).unwrap();
        assert_eq!(pair, b"a@b:c+d:");
        assert!(proxy("http://proxy.test").unwrap().credentials.is_none());
    }

    #[test]
    fn other_kinds_of_proxies_are_refused_without_their_password() {
        let error = proxy("socks5://me:sesame@proxy.test:1080").unwrap_err().to_string();
        assert!(error.contains("socks5") && !error.contains("sesame"), "{error}");
    }
}
