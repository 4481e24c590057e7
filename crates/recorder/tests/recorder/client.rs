//! A client that goes through the recorder, as a browser does.

use std::net::SocketAddr;
use std::sync::Arc;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::client::conn::{http1, http2};
use hyper::upgrade::Upgraded;
use hyper_util::rt::{TokioExecutor, TokioIo};
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

pub(crate) type Body = UnsyncBoxBody<Bytes, std::convert::Infallible>;

pub(crate) fn whole(text: impl Into<Bytes>) -> Body {
    Full::new(text.into()).boxed_unsync()
}

/// One connection, HTTP/1.1 or HTTP/2.
pub(crate) enum Client {
    Http1(http1::SendRequest<Body>),
    Http2(http2::SendRequest<Body>),
}

impl Client {
    async fn http1(io: impl AsyncRead + AsyncWrite + Unpin + Send + 'static) -> Self {
        let (sender, connection) = http1::handshake(TokioIo::new(io)).await.unwrap();
        tokio::spawn(connection.with_upgrades());
        Self::Http1(sender)
    }

    /// Straight to the proxy, for whole URLs.
    pub(crate) async fn plain(proxy: SocketAddr) -> Self {
        Self::http1(TcpStream::connect(proxy).await.unwrap()).await
    }

    /// `CONNECT`, and HTTP/1.1 without TLS inside.
    pub(crate) async fn tunnel(proxy: SocketAddr, to: &str) -> Self {
        Self::http1(connect(proxy, to).await).await
    }

    /// `CONNECT`, and TLS inside, trusting this authority alone.
    pub(crate) async fn tls(proxy: SocketAddr, to: &str, authority: &[u8], is_http2: bool) -> Self {
        let stream = tls(connect(proxy, to).await, to, authority, is_http2).await.unwrap();
        if is_http2 {
            assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"h2"[..]));
            let (sender, connection) =
                http2::handshake(TokioExecutor::new(), TokioIo::new(stream)).await.unwrap();
            tokio::spawn(connection);
            Self::Http2(sender)
        } else {
            Self::http1(stream).await
        }
    }

    pub(crate) async fn send(&mut self, request: Request<Body>) -> Response<Incoming> {
        match self {
            Self::Http1(sender) => {
                sender.ready().await.unwrap();
                sender.send_request(request).await.unwrap()
            }
            Self::Http2(sender) => {
                sender.ready().await.unwrap();
                sender.send_request(request).await.unwrap()
            }
        }
    }

    /// The status and the whole body. `target` is a path in HTTP/1.1's tunnels, else a URL.
    pub(crate) async fn get(&mut self, target: &str, host: &str) -> (u16, String) {
        let request = Request::get(target).header("host", host).body(whole("")).unwrap();
        text(self.send(request).await).await
    }
}

pub(crate) async fn text(response: Response<Incoming>) -> (u16, String) {
    let status = response.status().as_u16();
    let bytes = response.into_body().collect().await.unwrap().to_bytes();
    (status, String::from_utf8_lossy(&bytes).into_owned())
}

/// The inside of a tunnel.
pub(crate) async fn connect(proxy: SocketAddr, to: &str) -> TokioIo<Upgraded> {
    let stream = TcpStream::connect(proxy).await.unwrap();
    stream.set_nodelay(true).unwrap();
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.unwrap();
    tokio::spawn(connection.with_upgrades());
    let request = Request::connect(to).header("host", to).body(whole("")).unwrap();
    let response = sender.send_request(request).await.unwrap();
    assert_eq!(response.status(), 200);
    TokioIo::new(hyper::upgrade::on(response).await.unwrap())
}

pub(crate) async fn tls<T: AsyncRead + AsyncWrite + Unpin>(
    io: T,
    to: &str,
    authority: &[u8],
    is_http2: bool,
) -> std::io::Result<TlsStream<T>> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from(authority.to_vec())).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![if is_http2 { b"h2".to_vec() } else { b"http/1.1".to_vec() }];
    let (host, _) = to.rsplit_once(':').unwrap();
    let name = ServerName::try_from(host.to_owned()).unwrap();
    TlsConnector::from(Arc::new(config)).connect(name, io).await
}
