//! Streams whose both directions are their user's, on a connection of HTTP/2.

use std::cell::{Cell, RefCell};
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;

use brunt_http::clock;
use brunt_http::http2::{Asked, Cut, Duplex, Line, NoLine};
use brunt_net::{Dialer, Endpoint, Network, Offer, Settings};
use bytes::Bytes;
use h2::server::SendResponse;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::task::spawn_local;

use crate::support::{run, server, until_closed};

type Request = http::Request<h2::RecvStream>;

const ASKED: Asked<'static> = Asked {
    method: "POST",
    scheme: "http",
    authority: "a.test",
    path: "/x",
    headers: &[("te", b"trailers"), ("x-a", b"1")],
    passing: &[("x-b", b"2")],
};

fn dialer() -> Rc<Dialer> {
    Dialer::new(Network::new(Settings::default(), clock::now).unwrap(), None)
}

async fn opened(address: SocketAddr) -> Result<Rc<Line>, NoLine> {
    let endpoint = Endpoint { host: "127.0.0.1", port: address.port(), is_secure: false };
    let opened = dialer().open(&endpoint, Offer::Http).await.unwrap();
    Line::open(opened, 1 << 20).await
}

async fn line(address: SocketAddr) -> Rc<Line> {
    opened(address).await.unwrap()
}

/// A server of HTTP/2 that does this with each request.
async fn serving<F>(answer: impl Fn(Request, SendResponse<Bytes>) -> F + 'static) -> SocketAddr
where
    F: Future<Output = ()> + 'static,
{
    let answer = Rc::new(answer);
    server(move |socket, _| {
        let answer = Rc::clone(&answer);
        async move {
            let mut connection = h2::server::handshake(socket).await.unwrap();
            while let Some(Ok((request, respond))) = connection.accept().await {
                spawn_local(answer(request, respond));
            }
        }
    })
    .await
}

/// Sends back what comes, and says how much it was in the trailers.
async fn echo(request: Request, mut respond: SendResponse<Bytes>) {
    assert_eq!((&request.headers()["x-a"], &request.headers()["x-b"]), (&"1", &"2"));
    let mut body = request.into_body();
    let mut out = respond.send_response(http::Response::new(()), false).unwrap();
    let mut size = 0;
    while let Some(Ok(bytes)) = body.data().await {
        size += bytes.len();
        body.flow_control().release_capacity(bytes.len()).unwrap();
        out.send_data(bytes, false).unwrap();
    }
    let mut trailers = http::HeaderMap::new();
    trailers.insert("x-size", size.into());
    out.send_trailers(trailers).unwrap();
}

async fn all(stream: &Duplex) -> Result<Vec<u8>, Cut> {
    let mut all = Vec::new();
    while let Some(bytes) = stream.data().await? {
        all.extend(bytes);
    }
    Ok(all)
}

fn size(stream: &Duplex) -> Option<String> {
    let value = |value: &[u8]| String::from_utf8(value.to_vec()).unwrap();
    stream
        .trailers(|mut lines| lines.find(|(name, _)| *name == "x-size").map(|it| value(it.1)))
        .flatten()
}

#[test]
fn long_bodies_go_both_ways_at_once_and_trailers_follow() {
    run(async {
        let line = line(serving(echo).await).await;
        let streams = async |count: u8| {
            let stream = line.begin(&ASKED).await.unwrap();
            let bytes = vec![count; 3_000_000];
            let (is_sent, told) = tokio::join!(stream.send(&bytes, true), async {
                let head = stream.head(|head, is_all| (head.status(), is_all)).await;
                (head, all(&stream).await)
            });
            assert!(is_sent);
            assert_eq!(told, (Ok((200, false)), Ok(bytes)));
            assert_eq!(size(&stream), Some("3000000".to_owned()));
        };
        streams(1).await;
        tokio::join!(streams(2), streams(3), streams(4));
        assert!(line.is_open());
    });
}

#[test]
fn messages_go_one_by_one() {
    run(async {
        let line = line(serving(echo).await).await;
        let stream = line.begin(&ASKED).await.unwrap();
        stream.flush();
        for text in [&b"one"[..], b"two"] {
            assert!(stream.send(text, false).await);
            assert_eq!(stream.data().await, Ok(Some(text.to_vec())));
        }
        stream.finish();
        assert!(!stream.send(b"more", false).await);
        assert_eq!(stream.data().await, Ok(None));
        assert_eq!(size(&stream), Some("6".to_owned()));
    });
}

#[test]
fn what_nobody_takes_stops_the_server_and_other_streams_go_on_after_it() {
    run(async {
        let sent = Rc::new(Cell::new(0));
        let seen = Rc::clone(&sent);
        let address = serving(move |_, mut respond| {
            let sent = Rc::clone(&seen);
            async move {
                let mut out = respond.send_response(http::Response::new(()), false).unwrap();
                let mut left: usize = 3 << 20;
                while left > 0 {
                    out.reserve_capacity(left);
                    let room = std::future::poll_fn(|cx| out.poll_capacity(cx)).await;
                    let Some(Ok(room)) = room else { return };
                    left -= room;
                    sent.set(sent.get() + room);
                    out.send_data(vec![0; room].into(), left == 0).unwrap();
                }
            }
        })
        .await;
        let line = line(address).await;
        let mut streams = Vec::new();
        for _ in 0..8 {
            let stream = line.begin(&ASKED).await.unwrap();
            stream.finish();
            streams.push(stream);
        }
        // All that may come without leave: 1 MiB of each, 4 MiB of all.
        while sent.get() < 4 << 20 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
        assert_eq!(sent.get(), 4 << 20);
        for stream in streams {
            assert_eq!(all(&stream).await.unwrap().len(), 3 << 20);
        }
        assert_eq!(sent.get(), 24 << 20);
    });
}

#[test]
fn a_stream_that_is_dropped_gives_its_window_and_its_place_back() {
    run(async {
        let address = serving(async |_, mut respond| {
            let mut out = respond.send_response(http::Response::new(()), false).unwrap();
            out.send_data(vec![0; 900_000].into(), false).unwrap();
            std::future::poll_fn(|cx| out.poll_reset(cx)).await.unwrap();
        })
        .await;
        let line = line(address).await;
        for _ in 0..20 {
            let stream = line.begin(&ASKED).await.unwrap();
            stream.flush();
            // Something came, and nobody takes it.
            stream.head(|_, _| ()).await.unwrap();
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    });
}

#[test]
fn what_the_server_breaks_off_is_told_apart() {
    run(async {
        let address = serving(async |request, mut respond| {
            let code: u32 = request.headers()["x-a"].to_str().unwrap().parse().unwrap();
            respond.send_reset(code.into());
        })
        .await;
        let line = line(address).await;
        let stream = line.begin(&ASKED).await.unwrap();
        stream.flush();
        assert_eq!(stream.head(|_, _| ()).await, Err(Cut::Reset(1)));
        assert!(!stream.send(b"x", true).await);
        assert!(line.is_open(), "another stream may fare better");
        stream.cancel();
        assert_eq!(stream.data().await, Err(Cut::GivenUp));
    });
}

/// A server whose words are written out, after its greeting. Counts the frames of each kind that come.
async fn saying(words: Vec<u8>, kinds: Rc<RefCell<Vec<u8>>>) -> SocketAddr {
    server(move |mut socket, _| {
        let (words, kinds) = (words.clone(), Rc::clone(&kinds));
        async move {
            let mut preface = [0; 24];
            socket.read_exact(&mut preface).await.unwrap();
            socket.write_all(&[0, 0, 0, 4, 0, 0, 0, 0, 0]).await.unwrap();
            socket.write_all(&words).await.unwrap();
            let mut head = [0; 9];
            while socket.read_exact(&mut head).await.is_ok() {
                kinds.borrow_mut().push(head[3]);
                let mut payload = vec![0; usize::from(head[1]) << 8 | usize::from(head[2])];
                socket.read_exact(&mut payload).await.unwrap();
            }
        }
    })
    .await
}

#[test]
fn questions_are_answered_while_no_stream_is_open() {
    run(async {
        let kinds = Rc::default();
        let ping = [0, 0, 8, 6, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8];
        let address = saying(ping.to_vec(), Rc::clone(&kinds)).await;
        let line = line(address).await;
        while !kinds.borrow().contains(&6) {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        drop(line);
        // The goodbye.
        while !kinds.borrow().contains(&7) {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    });
}

#[test]
fn a_farewell_ends_the_line_for_new_streams() {
    run(async {
        let goaway = [0, 0, 8, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2];
        let line = line(saying(goaway.to_vec(), Rc::default()).await).await;
        while line.is_open() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        assert_eq!(line.begin(&ASKED).await.unwrap_err().code(), 1613);
    });
}

#[test]
fn who_does_not_speak_http2_is_told_apart() {
    run(async {
        for (words, expected) in [
            (&b"HTTP/1.1 400 Bad Request\r\n\r\n"[..], NoLine::Http1),
            (b"\0\0\0\x06\0\0\0\0\0", NoLine::Strange),
            (b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", NoLine::Strange),
        ] {
            let address = server(move |mut socket, _| async move {
                socket.write_all(words).await.unwrap();
                until_closed(&mut socket).await;
            })
            .await;
            assert_eq!(opened(address).await.unwrap_err(), expected);
        }
        let address = server(|_, _| async {}).await;
        assert!(matches!(opened(address).await, Err(NoLine::Failed(_))));
    });
}
