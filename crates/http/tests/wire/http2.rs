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
use tokio::sync::Semaphore;
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
    let mut settings = Settings { prior_http2: true, ..Settings::default() };
    settings.net.tls.http2 = true;
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
        assert_eq!(text, "http2: stream error with http2 ErrCode ENHANCE_YOUR_CALM");
    });
}

#[test]
fn a_lost_connection_is_replaced() {
    run(async {
        let gone = Rc::new(Semaphore::new(0));
        let told = Rc::clone(&gone);
        let address = server(move |socket, number| {
            let told = Rc::clone(&told);
            async move {
                let mut connection = h2::server::handshake(socket).await.unwrap();
                if let Some(Ok((_, mut respond))) = connection.accept().await {
                    respond.send_response(response(200 + number as u16), true).unwrap();
                }
                connection.graceful_shutdown();
                while connection.accept().await.is_some() {}
                told.add_permits(1);
            }
        })
        .await;
        let client = sharing(|_| ());
        let url = format!("http://{address}/");
        for status in [200, 201, 202] {
            let exchange = get(&client, &url).await;
            assert_eq!(exchange.response().unwrap().status(), status);
            // The server has said goodbye, and the client has answered that.
            gone.acquire().await.unwrap().forget();
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
                settings.net.tls.insecure_skip_verify = true;
                settings.net.tls.extra_roots = vec![pem];
                settings.net.tls.only_extra_roots = true;
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
fn http2_is_spoken_only_if_the_settings_say_so() {
    run(async {
        let (address, _) = tls(&[b"h2", b"http/1.1"]).await;
        for (http2, version) in [(false, "HTTP/1.1"), (true, "HTTP/2.0")] {
            let client = crate::support::client(|settings| {
                settings.net.tls.insecure_skip_verify = true;
                settings.net.tls.http2 = http2;
            });
            let exchange = get(&client, &format!("https://localhost:{}/", address.port())).await;
            assert_eq!(exchange.response().unwrap().version(), version);
        }
    });
}

/// A frame.
fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let size = (payload.len() as u32).to_be_bytes();
    [&size[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

#[test]
fn the_words_of_a_status_are_those_that_go_has() {
    run(async {
        let address = http2(|request, mut respond, _| async move {
            let status = request.uri().path()[1..].parse().unwrap();
            respond.send_response(response(status), true).unwrap();
        })
        .await;
        let client = sharing(|_| ());
        for (status, words) in [
            (203, "Non-Authoritative Information"),
            (413, "Request Entity Too Large"),
            (414, "Request URI Too Long"),
            (416, "Requested Range Not Satisfiable"),
            (422, "Unprocessable Entity"),
            (599, ""),
        ] {
            let exchange = get(&client, &format!("http://{address}/{status}")).await;
            assert_eq!(exchange.response().unwrap().reason(), words);
        }
    });
}

#[test]
fn what_a_header_asks_of_the_connection_is_left_out_or_refused_as_in_go() {
    run(async {
        let address = http2(|request, mut respond, _| async move {
            let known = ["connection", "transfer-encoding", "upgrade", "keep-alive"];
            assert!(known.iter().all(|name| !request.headers().contains_key(*name)));
            respond.send_response(response(200), true).unwrap();
        })
        .await;
        let client = sharing(|_| ());
        let url = format!("http://{address}/");
        let target = Target::parse(&url).unwrap();
        for (name, value, text) in [
            ("upgrade", "h2c", "invalid Upgrade request header: [\"h2c\"]"),
            ("Connection", "close, te", "invalid Connection request header: [\"close, te\"]"),
            ("Upgrade", "websocket", ""),
            ("Upgrade", "", ""),
            ("connection", "Keep-Alive", ""),
            ("Connection", "", ""),
            ("Transfer-Encoding", "chunked", ""),
            ("Keep-Alive", "timeout=5", ""),
        ] {
            let mut headers = Headers::new();
            headers.append(name, value).unwrap();
            let exchange = client.exchange(&Request::new("GET", &target, &headers)).await;
            if text.is_empty() {
                assert_eq!(exchange.response().unwrap().status(), 200, "{name}: {value}");
            } else {
                assert_eq!(failed(&exchange), (1000, text.to_owned()));
            }
        }
    });
}

/// A server that says these bytes once the first request is there, and closes if it has nothing more to say.
async fn saying(bytes: Vec<u8>) -> SocketAddr {
    let bytes = Rc::new(bytes);
    server(move |mut socket, _| {
        let bytes = Rc::clone(&bytes);
        async move {
            let settings = frame(4, 0, 0, &[]);
            socket.write_all(&settings).await.unwrap();
            let mut seen = [0; 4096];
            // Preface, settings, window and headers come in one write.
            let _ = tokio::io::AsyncReadExt::read(&mut socket, &mut seen).await;
            let _ = socket.write_all(&bytes).await;
            let _ = socket.shutdown().await;
            crate::support::until_closed(&mut socket).await;
        }
    })
    .await
}

/// The header block of `:status: 200`.
const OK: u8 = 0x88;

#[test]
fn what_breaks_the_rules_ends_in_the_failure_that_k6_has_for_it() {
    run(async {
        let head = frame(1, 4, 1, &[OK]);
        let goaway = |last: u32, code: u32| {
            frame(7, 0, 0, &[last.to_be_bytes(), code.to_be_bytes()].concat())
        };
        let with_head = |more: Vec<u8>| [head.clone(), more].concat();
        for (what, bytes, code) in [
            ("nothing at all", vec![], 1000),
            ("a head without an end", head.clone(), 1000),
            ("a reset", frame(3, 0, 1, &[0, 0, 0, 2]), 1633),
            ("a reset for no known reason", frame(3, 0, 1, &[0, 0, 1, 0]), 1630),
            ("a reset after the head", with_head(frame(3, 0, 1, &[0, 0, 0, 8])), 1639),
            ("goodbye in the middle", with_head(goaway(1, 11)), 1622),
            ("a body before the head", frame(0, 1, 1, b"x"), 1632),
            ("a body for nobody", frame(0, 1, 7, b"x"), 1652),
            ("a frame that is too long", frame(0, 0, 1, &vec![0; 20_000]), 1000),
            ("a block of nonsense", frame(1, 4, 1, &[0xff, 0xff]), 1660),
            ("a continuation of nothing", frame(9, 4, 1, &[OK]), 1652),
            ("a block that is interrupted", [frame(1, 0, 1, &[OK]), head.clone()].concat(), 1652),
            ("padding without end", frame(0, 8, 1, &[9, 1]), 1652),
            ("a push", frame(5, 4, 1, &[0, 0, 0, 2, OK]), 1652),
            ("a window without end", frame(8, 0, 0, &[0x7f, 0xff, 0xff, 0xff]), 1654),
            ("no window at all", frame(8, 0, 0, &[0; 4]), 1652),
            ("half a ping", frame(6, 0, 0, &[0; 4]), 1657),
            ("half a setting", frame(4, 0, 0, &[0; 4]), 1657),
            ("two heads", with_head(frame(1, 4, 1, &[OK])), 1652),
            ("a head behind the body", with_head(frame(1, 5, 1, &[OK])), 1652),
            ("a status twice", frame(1, 5, 1, &[OK, OK]), 1632),
            ("goodbye at once", goaway(0, 11), 1000),
            ("a body of the connection", frame(0, 1, 0, b"x"), 1652),
            ("a reset of the connection", frame(3, 0, 0, &[0, 0, 0, 8]), 1652),
            ("goodbye on a stream", frame(7, 0, 1, &[0; 8]), 1652),
            ("a ping on a stream", frame(6, 0, 1, &[0; 8]), 1652),
            ("settings of a stream", frame(4, 0, 1, &[]), 1652),
            ("an acknowledgement that says more", frame(4, 1, 0, &[0; 6]), 1657),
            ("half a priority", frame(2, 0, 1, &[0; 4]), 1657),
            ("half a reset", frame(3, 0, 1, &[0; 3]), 1657),
            ("no window for a stream", frame(8, 0, 1, &[0; 4]), 1632),
            ("a window of a stream without end", frame(8, 0, 1, &[0x7f, 0xff, 0xff, 0xff]), 1634),
            ("a line break in a header", frame(1, 5, 1, b"\x88\x00\x01a\x02\r\n"), 1632),
            ("no status", frame(1, 5, 1, b"\x00\x01a\x01b"), 1632),
            ("less than declared", with_length(b"2", b"x"), 1000),
            ("more than declared", with_length(b"1", b"xy"), 1000),
        ] {
            let address = saying(bytes).await;
            let client = sharing(|_| ());
            let exchange = get(&client, &format!("http://{address}/")).await;
            let (told, text) = failed(&exchange);
            assert_eq!(told, code, "{what}: {text}");
        }
    });
}

#[test]
fn what_a_server_says_in_the_wrong_place_has_k6s_words() {
    run(async {
        let goodbye = frame(7, 0, 0, &[0, 0, 0, 0, 0, 0, 0, 2]);
        let text = "http2: Transport received GOAWAY from server ErrCode:INTERNAL_ERROR";
        let much = "net/http: server replied with more than declared Content-Length; truncated";
        for (bytes, text, body) in [
            (goodbye, text, ""),
            (b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec(), "http2: frame too large", ""),
            (with_length(b"2", b"abc"), much, "ab"),
        ] {
            let address = saying(bytes).await;
            let client = sharing(|_| ());
            let exchange = get(&client, &format!("http://{address}/")).await;
            assert_eq!(failed(&exchange), (1000, text.to_owned()));
            assert_eq!(exchange.body(), body.as_bytes());
        }
        // Two lengths are none.
        let block = [&[OK][..], b"\x0f\x0d\x01\x34\x0f\x0d\x01\x33"].concat();
        let bytes = [frame(1, 4, 1, &block), frame(0, 1, 1, b"abc")].concat();
        let address = saying(bytes).await;
        let exchange = get(&sharing(|_| ()), &format!("http://{address}/")).await;
        assert_eq!((exchange.failure, exchange.body()), (None, &b"abc"[..]));
    });
}

#[test]
fn a_ping_is_answered_while_nobody_asks() {
    run(async {
        let (tell, told) = tokio::sync::oneshot::channel();
        let tell = Rc::new(Cell::new(Some(tell)));
        let address = server(move |socket, _| {
            let tell = tell.take();
            async move {
                let mut connection = h2::server::handshake(socket).await.unwrap();
                let mut pings = connection.ping_pong().unwrap();
                let (request, mut respond) = connection.accept().await.unwrap().unwrap();
                drop(request);
                respond.send_response(response(200), true).unwrap();
                drop(respond);
                let pong = async move {
                    // The answer to the request goes first.
                    tokio::task::yield_now().await;
                    pings.ping(h2::Ping::opaque()).await.unwrap();
                    tell.unwrap().send(()).unwrap();
                    std::future::pending::<()>().await;
                };
                tokio::join!(pong, connection.accept());
            }
        })
        .await;
        let client = sharing(|_| ());
        assert!(get(&client, &format!("http://{address}/")).await.response().is_ok());
        told.await.unwrap();
        let (sent, received) = client.take_wire_bytes();
        assert!(sent > 0 && received > 0);
    });
}

#[test]
fn a_stream_that_is_refused_as_wrong_goes_to_another_connection() {
    run(async {
        let address = http2(|_, mut respond, number| async move {
            if number == 0 {
                return respond.send_reset(h2::Reason::PROTOCOL_ERROR);
            }
            respond.send_response(response(200), true).unwrap();
        })
        .await;
        let client = sharing(|_| ());
        let exchange = get(&client, &format!("http://{address}/")).await;
        assert_eq!(exchange.response().unwrap().status(), 200);
    });
}

/// A whole response that declares a length.
fn with_length(length: &[u8], body: &[u8]) -> Vec<u8> {
    let block = [&[OK, 0x0f, 13, length.len() as u8], length].concat();
    [frame(1, 4, 1, &block), frame(0, 1, 1, body)].concat()
}

#[test]
fn what_is_allowed_is_taken() {
    run(async {
        let block = [&[OK][..], b"\x00\x01a\x01b"].concat();
        let bytes = [
            // Settings of all sizes, a ping, a frame of an unknown kind.
            frame(4, 0, 0, &[0, 1, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 4, 0, 1, 0, 0]),
            frame(6, 0, 0, &[7; 8]),
            frame(77, 0, 0, b"?"),
            frame(1, 4, 1, b"\x08\x03103"),
            // Priority and padding, and a block in two frames.
            frame(1, 32 | 8, 1, &[&[2, 0, 0, 0, 0, 9][..], &block[..2], &[0, 0]].concat()),
            frame(9, 4, 1, &block[2..]),
            frame(0, 8, 1, b"\x03hel\0\0\0"),
            frame(0, 0, 1, b""),
            frame(0, 0, 1, b"lo"),
            frame(1, 4 | 1, 1, b"\x00\x01t\x01v"),
        ]
        .concat();
        for pieces in [bytes.len(), 1, 3] {
            let bytes = Rc::new(bytes.clone());
            let address = server(move |mut socket, _| {
                let bytes = Rc::clone(&bytes);
                async move {
                    socket.set_nodelay(true).unwrap();
                    socket.write_all(&frame(4, 0, 0, &[])).await.unwrap();
                    for piece in bytes.chunks(pieces) {
                        socket.write_all(piece).await.unwrap();
                        tokio::task::yield_now().await;
                    }
                    crate::support::until_closed(&mut socket).await;
                }
            })
            .await;
            let exchange = get(&sharing(|_| ()), &format!("http://{address}/")).await;
            let answer = exchange.response().unwrap();
            assert_eq!((answer.status(), exchange.body()), (200, &b"hello"[..]));
            assert_eq!(answer.header("a"), Some(&b"b"[..]));
            assert_eq!(answer.header("t"), None);
        }
    });
}

#[test]
fn what_a_server_has_not_looked_at_is_sent_again() {
    run(async {
        let address = http2(|_, mut respond, number| async move {
            if number == 0 && respond.stream_id().as_u32() == 1 {
                return respond.send_reset(h2::Reason::REFUSED_STREAM);
            }
            respond.send_response(response(200), true).unwrap();
        })
        .await;
        let client = sharing(|_| ());
        let exchange = crate::support::post(&client, &format!("http://{address}/"), b"once").await;
        assert_eq!(exchange.response().unwrap().status(), 200);
    });
}

#[test]
fn more_requests_than_the_server_allows_wait_their_turn() {
    run(async {
        let most = Rc::new(Cell::new(0));
        let seen = Rc::clone(&most);
        let address = server(move |socket, _| {
            let seen = Rc::clone(&seen);
            async move {
                let mut builder = h2::server::Builder::new();
                builder.max_concurrent_streams(2);
                let mut connection = builder.handshake::<_, Bytes>(socket).await.unwrap();
                let open = Rc::new(Cell::new(0));
                while let Some(Ok((_, mut respond))) = connection.accept().await {
                    open.set(open.get() + 1);
                    seen.set(seen.get().max(open.get()));
                    let open = Rc::clone(&open);
                    tokio::task::spawn_local(async move {
                        tokio::task::yield_now().await;
                        open.set(open.get() - 1);
                        respond.send_response(response(200), true).unwrap();
                    });
                }
            }
        })
        .await;
        let client = sharing(|_| ());
        let url = format!("http://{address}/");
        assert!(get(&client, &url).await.response().is_ok());
        let all = futures_util::future::join_all((0..20).map(|_| get(&client, &url))).await;
        assert!(all.iter().all(|exchange| exchange.response().is_ok()));
        assert!(most.get() <= 2, "{}", most.get());
    });
}

#[test]
fn who_gives_up_waiting_for_a_place_leaves_it_to_the_others() {
    run(async {
        let (seen, gate) = (Rc::new(Cell::new(0)), Rc::new(Semaphore::new(1)));
        let (count, opens) = (Rc::clone(&seen), Rc::clone(&gate));
        let address = server(move |socket, _| {
            let (count, opens) = (Rc::clone(&count), Rc::clone(&opens));
            async move {
                let mut builder = h2::server::Builder::new();
                builder.max_concurrent_streams(1);
                let mut connection = builder.handshake::<_, Bytes>(socket).await.unwrap();
                while let Some(Ok((_, mut respond))) = connection.accept().await {
                    count.set(count.get() + 1);
                    let opens = Rc::clone(&opens);
                    tokio::task::spawn_local(async move {
                        opens.acquire().await.unwrap().forget();
                        respond.send_response(response(200), true).unwrap();
                    });
                }
            }
        })
        .await;
        let (client, url) = (Rc::new(sharing(|_| ())), format!("http://{address}/"));
        assert!(get(&client, &url).await.response().is_ok());
        let ask = || {
            let (client, url) = (Rc::clone(&client), url.clone());
            tokio::task::spawn_local(async move { get(&client, &url).await.response().is_ok() })
        };
        let all: Vec<_> = (0..6).map(|_| ask()).collect();
        while seen.get() < 2 {
            tokio::task::yield_now().await;
        }
        // The first one is asking, the others wait.
        let gives_up = |index| matches!(index, 1 | 3 | 5);
        all.iter()
            .enumerate()
            .filter(|(index, _)| gives_up(*index))
            .for_each(|(_, task)| task.abort());
        gate.add_permits(3);
        for (index, task) in all.into_iter().enumerate() {
            let came = tokio::time::timeout(Duration::from_secs(20), task).await;
            let came = came.expect("a place was free, and nobody was told").ok();
            assert_eq!(came, (!gives_up(index)).then_some(true), "{index}");
        }
    });
}

/// The bytes of all frames are counted, whoever reads them.
#[test]
fn the_bytes_of_a_shared_connection_are_counted_once() {
    run(async {
        let address = http2(|_, mut respond, _| async move {
            let mut stream = respond.send_response(response(200), false).unwrap();
            stream.send_data(vec![1; 10_000].into(), true).unwrap();
        })
        .await;
        let client = sharing(|_| ());
        let url = format!("http://{address}/");
        let all = futures_util::future::join_all((0..5).map(|_| get(&client, &url))).await;
        assert!(all.iter().all(|exchange| exchange.body().len() == 10_000));
        let (sent, received) = client.take_wire_bytes();
        assert!((50_000..51_000).contains(&received), "{received}");
        assert!((100..400).contains(&sent), "{sent}");
    });
}
