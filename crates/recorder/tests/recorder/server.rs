//! Servers to record: one handler for all, with and without TLS.

use std::convert::Infallible;
use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use http::header::{HeaderName, HeaderValue};
use http::{HeaderMap, Request, Response, StatusCode};
use http_body_util::channel::Channel;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{RootCertStore, ServerConfig};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::sync::Notify;
use tokio_rustls::TlsAcceptor;

type Body = UnsyncBoxBody<Bytes, io::Error>;

/// A server until it is dropped.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    /// The second half of `/events` waits for this.
    pub(crate) go_on: Arc<Notify>,
    pub(crate) is_tls: bool,
    /// Connections so far.
    pub(crate) connections: Arc<AtomicUsize>,
    task: tokio::task::JoinHandle<()>,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Server {
    pub(crate) async fn plain() -> Self {
        Self::start(None).await
    }

    pub(crate) async fn start(tls: Option<ServerConfig>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let go_on = Arc::new(Notify::new());
        let connections = Arc::new(AtomicUsize::new(0));
        let is_tls = tls.is_some();
        let acceptor = tls.map(|config| TlsAcceptor::from(Arc::new(config)));
        let (notify, count) = (Arc::clone(&go_on), Arc::clone(&connections));
        let task = tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                stream.set_nodelay(true).unwrap();
                count.fetch_add(1, Ordering::Relaxed);
                let (acceptor, notify) = (acceptor.clone(), Arc::clone(&notify));
                tokio::spawn(async move {
                    let service = service_fn(move |request| {
                        let notify = Arc::clone(&notify);
                        async move { Ok::<_, Infallible>(answer(request, notify).await) }
                    });
                    let server = auto::Builder::new(TokioExecutor::new());
                    let _ = match acceptor {
                        None => {
                            let io = TokioIo::new(stream);
                            server.serve_connection_with_upgrades(io, service).await
                        }
                        Some(acceptor) => {
                            let Ok(stream) = acceptor.accept(stream).await else { return };
                            let io = TokioIo::new(stream);
                            server.serve_connection_with_upgrades(io, service).await
                        }
                    };
                });
            }
        });
        Self { address, go_on, is_tls, connections, task }
    }

    /// `localhost:1234`
    pub(crate) fn authority(&self) -> String {
        format!("localhost:{}", self.address.port())
    }
}

fn whole(text: impl Into<Bytes>) -> Body {
    Full::new(text.into()).map_err(|never| match never {}).boxed_unsync()
}

pub(crate) fn gzip(plain: &[u8]) -> Vec<u8> {
    let mut to = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    to.write_all(plain).unwrap();
    to.finish().unwrap()
}

async fn answer(mut request: Request<Incoming>, go_on: Arc<Notify>) -> Response<Body> {
    let mut response = Response::new(whole(""));
    let set = |response: &mut Response<Body>, name: &'static str, value: &'static str| {
        response
            .headers_mut()
            .insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    };
    match request.uri().path() {
        "/echo" => {
            let mut text = format!("{} {:?}\n", request.method(), request.version());
            for (name, value) in request.headers() {
                writeln!(text, "{name}: {}", value.to_str().unwrap()).unwrap();
            }
            let body = request.into_body().collect().await.unwrap();
            let trailers = body.trailers().cloned();
            write!(text, "\n{}", String::from_utf8_lossy(&body.to_bytes())).unwrap();
            if let Some(trailers) = trailers {
                write!(text, "\ntrailers: {trailers:?}").unwrap();
            }
            *response.body_mut() = whole(text);
            set(&mut response, "alt-svc", "h3=\":443\"");
            set(&mut response, "connection", "x-secret");
            set(&mut response, "x-secret", "of this connection");
        }
        "/gzip" => {
            set(&mut response, "content-encoding", "gzip");
            *response.body_mut() = whole(gzip(b"<p>a packed page</p>"));
        }
        "/chunked" => {
            let (mut sender, body) = Channel::new(4);
            tokio::spawn(async move {
                sender.send_data(Bytes::from("one ")).await.unwrap();
                sender.send_data(Bytes::from("two")).await.unwrap();
                let mut trailers = HeaderMap::new();
                trailers.insert("x-sum", HeaderValue::from_static("42"));
                sender.send_trailers(trailers).await.unwrap();
            });
            set(&mut response, "trailer", "x-sum");
            *response.body_mut() = body.boxed_unsync();
        }
        "/events" => {
            let (mut sender, body) = Channel::new(4);
            tokio::spawn(async move {
                let _ = sender.send_data(Bytes::from("event: tick\ndata: 1\n\n")).await;
                go_on.notified().await;
                let _ = sender.send_data(Bytes::from("data: 2\n\n")).await;
            });
            set(&mut response, "content-type", "text/event-stream");
            *response.body_mut() = body.boxed_unsync();
        }
        "/socket" => {
            let extensions = request.headers().get("sec-websocket-extensions").is_some();
            let upgrade = hyper::upgrade::on(&mut request);
            tokio::spawn(async move {
                let mut io = TokioIo::new(upgrade.await.unwrap());
                let hello: &[u8] = if extensions { b"\x81\x03bad" } else { b"\x81\x05hello" };
                io.write_all(hello).await.unwrap();
                let mut heard = [0; 11];
                io.read_exact(&mut heard).await.unwrap();
                io.write_all(b"\x82\x01\x07\x88\x02\x03\xe8").await.unwrap();
                let _ = io.shutdown().await;
            });
            *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
            set(&mut response, "connection", "upgrade");
            set(&mut response, "upgrade", "websocket");
            set(&mut response, "sec-websocket-accept", "of the key");
        }
        "/big" => {
            let size: usize = request.uri().query().unwrap().parse().unwrap();
            *response.body_mut() = whole(vec![b'x'; size]);
        }
        "/broken" => {
            let (mut sender, body) = Channel::new(1);
            tokio::spawn(async move {
                let _ = sender.send_data(Bytes::from("half a ")).await;
                go_on.notified().await;
                sender.abort(io::Error::other("enough"));
            });
            *response.body_mut() = body.boxed_unsync();
        }
        "/never" => std::future::pending().await,
        "/204" => *response.status_mut() = StatusCode::NO_CONTENT,
        "/304" => {
            *response.status_mut() = StatusCode::NOT_MODIFIED;
            set(&mut response, "etag", "\"a\"");
        }
        "/reads" => {
            let body = request.into_body().collect().await.unwrap().to_bytes();
            *response.body_mut() = whole(body.len().to_string());
        }
        path => {
            *response.body_mut() = whole(path.to_owned());
        }
    }
    response
}

/// An authority for servers, and for clients that they ask for a certificate.
pub(crate) struct TestAuthority {
    issuer: Issuer<'static, KeyPair>,
    der: CertificateDer<'static>,
    folder: TempDir,
}

impl TestAuthority {
    pub(crate) fn new() -> Self {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let certificate = params.self_signed(&key).unwrap();
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("authority.pem"), certificate.pem()).unwrap();
        let der = certificate.der().clone();
        Self { issuer: Issuer::from_ca_cert_der(&der, key).unwrap(), der, folder }
    }

    /// The file with its certificate.
    pub(crate) fn file(&self) -> PathBuf {
        self.folder.path().join("authority.pem")
    }

    fn signed(&self, names: &[&str]) -> (rcgen::Certificate, KeyPair) {
        let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
        let key = KeyPair::generate().unwrap();
        let certificate =
            CertificateParams::new(names).unwrap().signed_by(&key, &self.issuer).unwrap();
        (certificate, key)
    }

    /// TLS for a server of these names, which may want a certificate of ours from its clients.
    pub(crate) fn server(&self, names: &[&str], protocols: &[&str], wants: bool) -> ServerConfig {
        let (certificate, key) = self.signed(names);
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .unwrap();
        let builder = if wants {
            let mut roots = RootCertStore::empty();
            roots.add(self.der.clone()).unwrap();
            let verifier = rustls::server::WebPkiClientVerifier::builder_with_provider(
                Arc::new(roots),
                provider,
            );
            builder.with_client_cert_verifier(verifier.build().unwrap())
        } else {
            builder.with_no_client_auth()
        };
        let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key.serialize_der()));
        let mut config = builder.with_single_cert(vec![certificate.der().clone()], key).unwrap();
        config.alpn_protocols = protocols.iter().map(|it| it.as_bytes().to_vec()).collect();
        config
    }

    /// Files of a client's certificate and its key.
    pub(crate) fn client(&self) -> (PathBuf, PathBuf) {
        let (certificate, key) = self.signed(&["client.test"]);
        let files = [self.folder.path().join("client.pem"), self.folder.path().join("key.pem")];
        std::fs::write(&files[0], certificate.pem()).unwrap();
        std::fs::write(&files[1], key.serialize_pem()).unwrap();
        let [certificate, key] = files;
        (certificate, key)
    }
}

/// TLS by a certificate that signs itself, as `openssl req -x509` makes it; and its PEM.
pub(crate) fn self_signed(name: &str) -> (ServerConfig, String) {
    let key = KeyPair::generate().unwrap();
    let mut params = CertificateParams::new([name.to_owned()]).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let certificate = params.self_signed(&key).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let der = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], der)
        .unwrap();
    (config, certificate.pem())
}
