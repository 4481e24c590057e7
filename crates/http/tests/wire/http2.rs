//! HTTP/2, against a server made of the same crate's other half.

use std::cell::{Cell, RefCell};
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use brunt_http::{
    Body, Client, Headers, Network, Request, Settings, SharedConnections, Target, clock,
};
use bytes::Bytes;
use h2::server::SendResponse;
use rustls::ServerConfig;
use rustls::crypto::ring::default_provider;
use rustls::pki_types::PrivateKeyDer;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};
use tokio_rustls::TlsAcceptor;

use crate::support::{failed, get, read_head, run, server, with};

type Asked = http::Request<h2::RecvStream>;

/// A server of HTTP/2; `answer` gets each request, with the number of its connection.
async fn http2<F>(answer: impl Fn(Asked, SendResponse<Bytes>, usize) -> F + 'static) -> SocketAddr
where
    F: Future<Output = ()> + 'static,
{
    let answer = Rc::new(answer);
    server(move |socket, number| {
        let answer = Rc::clone(&answer);
        async move { serve(socket, number, &*answer).await }
    })
    .await
}

async fn serve<F>(
    socket: impl AsyncRead + AsyncWrite + Unpin,
    number: usize,
    answer: &impl Fn(Asked, SendResponse<Bytes>, usize) -> F,
) where
    F: Future<Output = ()> + 'static,
{
    let mut connection = h2::server::handshake(socket).await.unwrap();
    while let Some(Ok((request, respond))) = connection.accept().await {
        tokio::task::spawn_local(answer(request, respond, number));
    }
}

fn response(status: u16) -> http::Response<()> {
    http::Response::builder().status(status).header("x-a", "1").header("x-a", "2").body(()).unwrap()
}

/// A client that shares connections of its own, and speaks HTTP/2 to everybody.
pub(crate) fn sharing(change: impl FnOnce(&mut Settings)) -> Client {
    let mut settings = Settings::default();
    settings.dialing.prior_http2 = true;
    settings.tls.http2 = true;
    change(&mut settings);
    let network = Network::new(settings, clock::now).unwrap();
    let shared = SharedConnections::new(&network);
    Client::sharing(network, None, shared)
}

#[test]
fn many_requests_share_one_connection() {
    run(async {
        let connections = Rc::new(Cell::new(0));
        let seen = Rc::clone(&connections);
        let address = http2(move |request, mut respond, number| {
            seen.set(seen.get().max(number + 1));
            async move {
                assert_eq!(request.uri().path(), "/a");
                let mut stream = respond.send_response(response(200), false).unwrap();
                stream.send_data("hello".into(), true).unwrap();
            }
        })
        .await;
        let client = sharing(|_| ());
        let url = format!("http://{address}/a?b");
        let exchanges = tokio::join!(get(&client, &url), get(&client, &url), get(&client, &url));
        for exchange in [exchanges.0, exchanges.1, exchanges.2] {
            let answer = exchange.response().unwrap();
            assert_eq!((answer.status(), answer.version()), (200, "HTTP/2.0"));
            assert_eq!(answer.reason(), "OK");
            assert_eq!(answer.headers().filter(|(name, _)| *name == "x-a").count(), 2);
            assert_eq!((exchange.body(), exchange.remote), (&b"hello"[..], Some(address)));
        }
        assert_eq!(connections.get(), 1);
    });
}

#[test]
fn a_request_is_told_as_http2_wants_it() {
    run(async {
        let asked = Rc::new(RefCell::new(Vec::new()));
        let kept = Rc::clone(&asked);
        let address = http2(move |request, mut respond, _| {
            let kept = Rc::clone(&kept);
            async move {
                let (head, mut body) = request.into_parts();
                let mut bytes = Vec::new();
                while let Some(data) = body.data().await {
                    let data = data.unwrap();
                    body.flow_control().release_capacity(data.len()).unwrap();
                    bytes.extend_from_slice(&data);
                }
                kept.borrow_mut().push((head, bytes));
                respond.send_response(response(204), true).unwrap();
            }
        })
        .await;
        let client = sharing(|_| ());
        let (url, body) = (format!("http://{address}/x"), vec![7; 300_000]);
        let target = Target::parse(&url).unwrap();
        let mut headers = Headers::new();
        headers.append("X-Mixed", "1").unwrap();
        headers.append("Connection", "keep-alive").unwrap();
        let mut request = Request::new("PUT", &target, &headers);
        request.host = Some("other.test");
        request.body = Body::Bytes(&body);
        let exchange = client.exchange(&request).await;
        assert_eq!(exchange.response().unwrap().status(), 204);
        let asked = asked.borrow();
        let (head, sent) = &asked[0];
        assert_eq!(head.uri.to_string(), "http://other.test/x");
        assert_eq!((head.method.as_str(), sent.len()), ("PUT", 300_000));
        assert_eq!(
            (&head.headers["x-mixed"], &head.headers["content-length"]),
            (&http::HeaderValue::from_static("1"), &http::HeaderValue::from_static("300000"))
        );
        assert!(!head.headers.contains_key("connection"));
    });
}

#[test]
fn what_a_server_breaks_off_has_its_reason() {
    run(async {
        let address = http2(|_, mut respond, _| async move {
            respond.send_reset(h2::Reason::ENHANCE_YOUR_CALM);
        })
        .await;
        let client = sharing(|_| ());
        let (code, text) = failed(&get(&client, &format!("http://{address}/")).await);
        assert_eq!(code, 1642);
        assert!(text.starts_with("http2: stream error: "), "{text}");
    });
}

#[test]
fn a_lost_connection_is_replaced() {
    run(async {
        let address = server(|socket, number| async move {
            let mut connection = h2::server::handshake(socket).await.unwrap();
            if let Some(Ok((_, mut respond))) = connection.accept().await {
                respond.send_response(response(200 + number as u16), true).unwrap();
            }
            connection.graceful_shutdown();
            while connection.accept().await.is_some() {}
        })
        .await;
        let client = sharing(|_| ());
        let url = format!("http://{address}/");
        for status in [200, 201, 202] {
            let exchange = get(&client, &url).await;
            assert_eq!(exchange.response().unwrap().status(), status);
            // The server says goodbye; the driver of the connection must hear it.
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    });
}

#[test]
fn a_timeout_ends_one_request_and_not_its_neighbours() {
    run(async {
        let address = http2(|request, mut respond, _| async move {
            if request.uri().path() == "/slow" {
                std::future::pending::<()>().await;
            }
            respond.send_response(response(200), true).unwrap();
        })
        .await;
        let client = sharing(|_| ());
        let (url, slow) = (format!("http://{address}/"), format!("http://{address}/slow"));
        let slow = with(&client, &slow, |request| {
            request.deadline = Some(clock::now() + 50_000_000);
        });
        let (slow, quick) = tokio::join!(slow, get(&client, &url));
        assert_eq!(failed(&slow).0, 1050);
        assert!(quick.response().is_ok());
        assert!(get(&client, &url).await.reused);
    });
}

/// A server of TLS that offers these protocols, and its certificate in PEM.
async fn tls(protocols: &[&'static [u8]]) -> (SocketAddr, String) {
    let key = rcgen::KeyPair::generate().unwrap();
    let params = rcgen::CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
    let certificate = params.self_signed(&key).unwrap();
    let der = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
    let mut config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], der)
        .unwrap();
    config.alpn_protocols = protocols.iter().map(|name| name.to_vec()).collect();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let address = server(move |socket, number| {
        let acceptor = acceptor.clone();
        async move {
            let Ok(mut socket) = acceptor.accept(socket).await else { return };
            if socket.get_ref().1.alpn_protocol() == Some(b"h2") {
                let answer = |_, mut respond: SendResponse<Bytes>, _| async move {
                    let mut stream = respond.send_response(response(200), false).unwrap();
                    stream.send_data(vec![7; 200_000].into(), true).unwrap();
                };
                return serve(socket, number, &answer).await;
            }
            while read_head(&mut socket).await.is_some() {
                let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";
                socket.write_all(answer).await.unwrap();
                socket.flush().await.unwrap();
            }
        }
    })
    .await;
    (address, certificate.pem())
}

#[test]
fn tls_agrees_on_what_both_can_speak() {
    run(async {
        for (protocols, version, size) in [
            (&[&b"h2"[..], b"http/1.1"][..], "HTTP/2.0", 200_000),
            (&[b"http/1.1"], "HTTP/1.1", 2),
            (&[], "HTTP/1.1", 2),
        ] {
            let (address, pem) = tls(protocols).await;
            let client = sharing(|settings| {
                // A certificate that signs itself is no authority: this is about protocols.
                settings.tls.insecure_skip_verify = true;
                settings.tls.extra_roots = vec![pem];
                settings.tls.only_extra_roots = true;
            });
            let url = format!("https://localhost:{}/", address.port());
            for is_reused in [false, true] {
                let exchange = get(&client, &url).await;
                let answer = exchange.response().unwrap();
                assert_eq!((answer.version(), exchange.body().len()), (version, size));
                assert!(exchange.tls.is_some());
                assert!(exchange.reused || !is_reused);
            }
        }
    });
}

#[test]
fn a_client_with_connections_of_its_own_speaks_no_http2() {
    run(async {
        let (address, _) = tls(&[b"h2", b"http/1.1"]).await;
        let client = crate::support::client(|settings| {
            settings.tls.insecure_skip_verify = true;
        });
        let exchange = get(&client, &format!("https://localhost:{}/", address.port())).await;
        assert_eq!(exchange.response().unwrap().version(), "HTTP/1.1");
    });
}
