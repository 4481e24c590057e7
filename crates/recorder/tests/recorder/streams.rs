//! Streams: nothing waits for its end, and nothing is held in memory that is large.

use std::sync::atomic::Ordering;

use brunt_recorder::{Line, Moment, Upstream};
use brunt_traffic::{Body, Resource, Side};
use http::Request;
use http_body_util::BodyExt as _;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::client::{Client, whole};
use crate::server::{Server, TestAuthority};
use crate::{Running, body, of};

#[tokio::test]
async fn events_arrive_before_the_response_ends() {
    let server = Server::plain().await;
    let running = Running::start(Upstream::default()).await;
    let mut client = Client::plain(running.address).await;
    let at = server.authority();
    let request =
        Request::get(format!("http://{at}/events")).header("host", &at).body(whole("")).unwrap();
    let mut events = client.send(request).await.into_body();
    let first = events.frame().await.unwrap().unwrap().into_data().unwrap();
    assert_eq!(first, "event: tick\ndata: 1\n\n");
    // Until now the server has not sent the second one.
    server.go_on.notify_one();
    let second = events.frame().await.unwrap().unwrap().into_data().unwrap();
    assert_eq!(second, "data: 2\n\n");
    assert!(events.frame().await.is_none());
    let (recording, _folder) = running.end().await;
    let exchange = of(&recording, "/events");
    let kinds: Vec<_> =
        exchange.events.iter().map(|it| (it.kind.as_str(), it.data.as_str())).collect();
    assert_eq!(kinds, [("tick", "1"), ("message", "2")]);
    assert!(exchange.events[0].at <= exchange.events[1].at);
    assert_eq!(body(exchange), "event: tick\ndata: 1\n\ndata: 2\n\n");
    assert_eq!(exchange.resource, Some(Resource::EventSource));
}

#[tokio::test]
async fn a_stream_that_still_runs_at_the_end_is_kept_as_it_is() {
    let server = Server::plain().await;
    let running = Running::start(Upstream::default()).await;
    let mut client = Client::plain(running.address).await;
    let at = server.authority();
    let request =
        Request::get(format!("http://{at}/events")).header("host", &at).body(whole("")).unwrap();
    let mut events = client.send(request).await.into_body();
    events.frame().await.unwrap().unwrap();
    let mut other = Client::plain(running.address).await;
    let waiting = tokio::spawn(async move {
        let Client::Http1(sender) = &mut other else { unreachable!() };
        let request = Request::get(format!("http://{at}/never")).header("host", &at);
        sender.send_request(request.body(whole("")).unwrap()).await.is_err()
    });
    // The server has the request when it has two connections.
    while server.connections.load(Ordering::Relaxed) < 2 {
        tokio::task::yield_now().await;
    }
    let (recording, _folder) = running.end().await;
    assert!(waiting.await.unwrap(), "connections end with the recorder");
    let stream = of(&recording, "/events");
    assert_eq!((stream.events.len(), stream.failure.as_deref()), (1, None));
    let never = of(&recording, "/never");
    assert!(never.response.is_none() && never.failure.as_ref().unwrap().contains("ended"));
}

#[tokio::test]
async fn sockets_pass_at_once_and_their_messages_are_recorded() {
    let authority = TestAuthority::new();
    let tls = authority.server(&["localhost"], &["h2", "http/1.1"], false);
    for server in [Server::plain().await, Server::start(Some(tls)).await] {
        let running =
            Running::start(Upstream { authorities: vec![authority.file()], ..Upstream::default() })
                .await;
        let at = server.authority();
        let der = running.authority.der().to_vec();
        let mut client = if server.is_tls {
            Client::tls(running.address, &at, &der, false).await
        } else {
            Client::tunnel(running.address, &at).await
        };
        let request = Request::get("/socket")
            .header("host", &at)
            .header("connection", "Upgrade")
            .header("upgrade", "websocket")
            .header("sec-websocket-key", "x")
            .header("sec-websocket-extensions", "permessage-deflate")
            .body(whole(""))
            .unwrap();
        let response = client.send(request).await;
        assert_eq!(response.status(), 101);
        assert_eq!(response.headers()["sec-websocket-accept"], "of the key");
        let mut io = TokioIo::new(hyper::upgrade::on(response).await.unwrap());
        let mut hello = [0; 7];
        io.read_exact(&mut hello).await.unwrap();
        assert_eq!(&hello, b"\x81\x05hello");
        io.write_all(b"\x81\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58").await.unwrap();
        let mut rest = Vec::new();
        io.read_to_end(&mut rest).await.unwrap();
        assert_eq!(rest, b"\x82\x01\x07\x88\x02\x03\xe8");
        drop(io);
        let lines = std::sync::Arc::clone(&running.lines);
        let is_closed = |line: &Line| matches!(line, Line::Exchange(told) if told.moment == Moment::SocketCloses);
        while !lines.lock().unwrap().iter().any(is_closed) {
            tokio::task::yield_now().await;
        }
        let (recording, _folder) = running.end().await;
        let exchange = of(&recording, "/socket");
        let scheme = if server.is_tls { "wss" } else { "ws" };
        assert_eq!(exchange.request.url.scheme(), scheme);
        assert_eq!(exchange.resource, Some(Resource::WebSocket));
        let messages: Vec<_> =
            exchange.messages.iter().map(|it| (it.from, it.is_text, &it.data[..])).collect();
        assert_eq!(
            messages,
            [
                (Side::Server, true, &b"hello"[..]),
                (Side::Client, true, b"Hello"),
                (Side::Server, false, b"\x07"),
            ]
        );
    }
}

#[tokio::test]
async fn large_bodies_go_to_files_and_larger_ones_leave_their_size() {
    let server = Server::plain().await;
    let running = Running::start_with(|config| {
        config.limits.body_in_memory = 10_000;
        config.limits.response = 1_000_000;
    })
    .await;
    let mut client = Client::plain(running.address).await;
    let at = server.authority();
    for size in [10_000, 10_001, 1_000_001] {
        let (status, text) = client.get(&format!("http://{at}/big?{size}"), &at).await;
        assert_eq!((status, text.len()), (200, size));
    }
    let request = Request::post(format!("http://{at}/reads"))
        .header("host", &at)
        .body(whole(vec![b'y'; 2_000_000]))
        .unwrap();
    let (_, read) = crate::client::text(client.send(request).await).await;
    assert_eq!(read, "2000000");
    let (recording, _folder) = running.end().await;
    let bodies: Vec<&Body> =
        recording.exchanges.iter().map(|it| &it.response.as_ref().unwrap().body).collect();
    assert!(matches!(bodies[0], Body::Bytes(bytes) if bytes.len() == 10_000));
    assert!(matches!(bodies[1], Body::File { size: 10_001, .. }));
    assert_eq!(bodies[1].read().unwrap().len(), 10_001);
    assert!(matches!(bodies[2], Body::Absent { size: Some(1_000_001), .. }));
    let upload = &of(&recording, "/reads").request.body;
    assert!(matches!(upload, Body::File { size: 2_000_000, .. }), "{upload:?}");
    assert_eq!(recording.left_out.len(), 1);
}

#[tokio::test]
async fn a_response_that_breaks_off_breaks_off_for_the_client_too() {
    let server = Server::plain().await;
    let running = Running::start(Upstream::default()).await;
    let mut client = Client::plain(running.address).await;
    let at = server.authority();
    let request =
        Request::get(format!("http://{at}/broken")).header("host", &at).body(whole("")).unwrap();
    let mut half = client.send(request).await.into_body();
    assert_eq!(half.frame().await.unwrap().unwrap().into_data().unwrap(), "half a ");
    server.go_on.notify_one();
    assert!(half.frame().await.unwrap().is_err());
    let (recording, _folder) = running.end().await;
    let exchange = of(&recording, "/broken");
    assert_eq!(body(exchange), "half a ");
    assert!(exchange.failure.as_ref().unwrap().contains("broke off"), "{:?}", exchange.failure);
}
