//! Streams whose both directions are their user's, on a connection of HTTP/2.

use std::cell::{Cell, RefCell};
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;

use brunt_http::http2::{Asked, Cut, Duplex, Line, NoLine, NoStream};
use brunt_http::{Failure, Http2Trouble, clock};
use brunt_net::{Dialer, Endpoint, Network, Offer, Settings};
use bytes::Bytes;
use h2::server::SendResponse;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::task::spawn_local;

use crate::frames::{
    DATA, END_HEADERS, END_STREAM, GOAWAY, HEADERS, RST_STREAM, SETTINGS, block, frame,
};
use crate::support::{run, server, until_closed};

type Request = http::Request<h2::RecvStream>;

const ASKED: Asked<'static> = Asked {
    method: "POST",
    scheme: "http",
    authority: "a.test",
    path: "/x",
    headers: &[("te", b"trailers"), ("x-a", b"1"), ("x-b", b"2")],
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
    assert_eq!(request.headers()["x-a"], "1");
    assert_eq!(request.headers()["x-b"], "2");
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
fn bytes_that_are_not_taken_stop_the_server_and_other_streams_go_on_after_it() {
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
        // The first one stays as it is, while the others are taken.
        let first = streams.remove(0);
        let others = streams
            .into_iter()
            .map(|stream| spawn_local(async move { all(&stream).await.unwrap().len() }));
        for other in others.collect::<Vec<_>>() {
            assert_eq!(other.await.unwrap(), 3 << 20);
        }
        assert_eq!(all(&first).await.unwrap().len(), 3 << 20);
        assert_eq!(sent.get(), 24 << 20);
    });
}

#[test]
fn a_stream_that_is_dropped_gives_its_window_and_its_place_back() {
    run(async {
        const SIZE: usize = 100_000;
        let address = serving(|_, mut respond| async move {
            let mut out = respond.send_response(http::Response::new(()), false).unwrap();
            out.send_data(vec![0; SIZE].into(), false).unwrap();
            std::future::poll_fn(|cx| out.poll_reset(cx)).await.unwrap();
        })
        .await;
        let line = line(address).await;
        // More than there may be at a time, with more bytes than the window has.
        for _ in 0..120 {
            let stream = line.begin(&ASKED).await.unwrap();
            stream.flush();
            assert!(stream.data().await.unwrap().is_some());
            // The rest of the bytes, here or on their way, is not taken.
        }
        let last = line.begin(&ASKED).await.unwrap();
        last.flush();
        let mut size = 0;
        while size < SIZE {
            size += last.data().await.unwrap().unwrap().len();
        }
        assert_eq!(size, SIZE);
    });
}

#[test]
fn what_the_server_breaks_off_is_told_apart() {
    run(async {
        let address = serving(|request, mut respond| async move {
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

/// The kind and the payload of each frame.
type Frames = Rc<RefCell<Vec<(u8, Vec<u8>)>>>;

/// A server whose words are written out. It has read the preface and greeted with these settings; then it says the words of
/// each stream, when the whole of its request is there: the stream's number is put in. `None`: it hangs up.
async fn scripted(
    settings: &'static [u8],
    words: impl Fn(u32) -> Option<Vec<u8>> + 'static,
    seen: Frames,
) -> SocketAddr {
    let words = Rc::new(words);
    server(move |mut socket, _| {
        let (words, seen) = (Rc::clone(&words), Rc::clone(&seen));
        async move {
            let mut preface = [0; 24];
            socket.read_exact(&mut preface).await.unwrap();
            socket.write_all(&frame(SETTINGS, 0, 0, settings)).await.unwrap();
            let mut head = [0; 9];
            while socket.read_exact(&mut head).await.is_ok() {
                let mut payload = vec![0; usize::from(head[1]) << 8 | usize::from(head[2])];
                socket.read_exact(&mut payload).await.unwrap();
                seen.borrow_mut().push((head[3], payload));
                if head[3] == DATA && head[4] & END_STREAM != 0 {
                    let stream = u32::from_be_bytes([head[5], head[6], head[7], head[8]]);
                    let Some(words) = words(stream) else { return };
                    let _ = socket.write_all(&words).await;
                }
            }
        }
    })
    .await
}

const PING: u8 = 6;

/// `:status: 200`, then `lines`.
fn head(stream: u32, flags: u8, lines: &[(&str, &str)]) -> Vec<u8> {
    let lines = [&[0x88][..], &block(lines)].concat();
    frame(HEADERS, END_HEADERS | flags, stream, &lines)
}

/// Trailers: the same without a status.
fn end(stream: u32, lines: &[(&str, &str)]) -> Vec<u8> {
    frame(HEADERS, END_HEADERS | END_STREAM, stream, &block(lines))
}

fn goaway(last: u32, code: u32) -> Vec<u8> {
    frame(GOAWAY, 0, 0, &[last.to_be_bytes(), code.to_be_bytes()].concat())
}

/// Sends all of a request at once; the answer's status, body and size.
async fn whole(line: &Rc<Line>) -> Result<(u16, Vec<u8>, Option<String>), Cut> {
    let stream = line.begin(&ASKED).await.unwrap();
    stream.send(b"ask", true).await;
    let status = stream.head(|head, _| head.status()).await?;
    let body = all(&stream).await?;
    Ok((status, body, size(&stream)))
}

/// The result of one call of such a server.
async fn answered(
    words: impl Fn(u32) -> Option<Vec<u8>> + 'static,
) -> Result<(u16, Vec<u8>, Option<String>), Cut> {
    let line = line(scripted(&[], words, Rc::default()).await).await;
    whole(&line).await
}

async fn until(is_so: impl Fn() -> bool) {
    while !is_so() {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

#[test]
fn an_answer_may_be_a_head_alone_and_a_length_in_it_does_not_count() {
    run(async {
        let words = |stream| Some(head(stream, END_STREAM, &[("content-length", "7")]));
        let line = line(scripted(&[], words, Rc::default()).await).await;
        let stream = line.begin(&ASKED).await.unwrap();
        assert!(stream.send(b"ask", true).await);
        assert_eq!(stream.head(|head, is_all| (head.status(), is_all)).await, Ok((200, true)));
        assert_eq!(stream.data().await, Ok(None));
        assert_eq!(size(&stream), None);
    });
}

#[test]
fn a_status_among_the_trailers_is_borne() {
    run(async {
        let told = answered(|stream| {
            let body = frame(DATA, 0, stream, b"yes");
            Some(
                [head(stream, 0, &[]), body, head(stream, END_STREAM, &[("x-size", "3")])].concat(),
            )
        });
        assert_eq!(told.await, Ok((200, b"yes".to_vec(), Some("3".to_owned()))));
    });
}

#[test]
fn what_a_server_breaks_of_one_stream_ends_that_stream_alone() {
    run(async {
        let protocol_error = Err(Cut::Failed(Failure::Http2(Http2Trouble::Stream, 1)));
        let seen = Rc::<RefCell<Vec<_>>>::default();
        let words = |stream| {
            Some(match stream {
                // A second head.
                1 => [head(1, 0, &[]), head(1, 0, &[])].concat(),
                // No lawful name.
                3 => head(3, 0, &[("X-A", "b")]),
                // A body without a head.
                5 => frame(DATA, 0, 5, b"x"),
                // More than the window.
                7 => [head(7, 0, &[]), frame(DATA, 0, 7, &[0; 1 << 14]).repeat(65)].concat(),
                // The server's own end, before and behind the last byte.
                9 => [head(9, 0, &[]), frame(DATA, 0, 9, b"x"), frame(RST_STREAM, 0, 9, &[0; 4])]
                    .concat(),
                11 => [
                    head(11, 0, &[]),
                    end(11, &[("x-size", "0")]),
                    frame(RST_STREAM, 0, 11, &[0; 4]),
                ]
                .concat(),
                _ => [head(stream, 0, &[]), end(stream, &[])].concat(),
            })
        };
        let line = line(scripted(&[], words, Rc::clone(&seen)).await).await;
        for _ in 0..3 {
            assert_eq!(whole(&line).await, protocol_error);
        }
        // Its user takes none of the bytes.
        let stream = line.begin(&ASKED).await.unwrap();
        stream.send(b"ask", true).await;
        until(|| seen.borrow().iter().any(|(_, payload)| payload[..] == [0, 0, 0, 3])).await;
        let flooded = Failure::Http2(Http2Trouble::Stream, 3);
        assert_eq!(all(&stream).await, Err(Cut::Failed(flooded)));
        drop(stream);
        assert_eq!(whole(&line).await, Err(Cut::Reset(0)));
        assert_eq!(whole(&line).await, Ok((200, Vec::new(), Some("0".to_owned()))));
        assert_eq!(whole(&line).await, Ok((200, Vec::new(), None)));
        let resets = seen.borrow().iter().filter(|(kind, _)| *kind == RST_STREAM).count();
        assert_eq!(resets, 4, "who was told to stop is not told so back");
    });
}

#[test]
fn what_a_server_breaks_of_the_connection_ends_it_and_the_server_is_told() {
    run(async {
        const ENHANCE_YOUR_CALM: u32 = 11;
        for (words, code) in [
            (frame(DATA, 0, 0, b"x"), 1),
            (frame(SETTINGS, 0, 0, b"12345"), 6),
            (frame(HEADERS, END_HEADERS, 1, &[0xfe]), 9),
            (frame(PING, 0, 0, &[0; 8]).repeat(50_000), ENHANCE_YOUR_CALM),
            ([head(1, 0, &[]), frame(DATA, 0, 1, &[]).repeat(50_000)].concat(), ENHANCE_YOUR_CALM),
        ] {
            let expected = Failure::Http2(Http2Trouble::Connection, code);
            let seen = Rc::<RefCell<Vec<_>>>::default();
            let address = scripted(&[], move |_| Some(words.clone()), Rc::clone(&seen)).await;
            let line = line(address).await;
            assert_eq!(whole(&line).await, Err(Cut::Failed(expected)));
            assert!(!line.is_open());
            if code < ENHANCE_YOUR_CALM {
                // A server amid a flood reads nothing.
                until(|| seen.borrow().iter().any(|(kind, _)| *kind == GOAWAY)).await;
            }
        }
    });
}

#[test]
fn streams_wait_for_their_turn_when_the_server_bears_one_at_a_time() {
    run(async {
        let most = Rc::new(Cell::new(0));
        let seen = Rc::clone(&most);
        let address = server(move |mut socket, _| {
            let most = Rc::clone(&seen);
            async move {
                let one = frame(SETTINGS, 0, 0, &[0, 3, 0, 0, 0, 1]);
                socket.write_all(&one).await.unwrap();
                let (mut came, mut stream) = ([0; 4096], 1);
                loop {
                    // All that is sent before an answer.
                    let mut asked = Vec::new();
                    let quiet = Duration::from_millis(10);
                    while let Ok(size) = tokio::time::timeout(quiet, socket.read(&mut came)).await {
                        let Ok(1..) = size else { return };
                        asked.extend_from_slice(&came[..size.unwrap()]);
                    }
                    let asked = asked.windows(3).filter(|part| *part == b"ask").count();
                    most.set(asked.max(most.get()));
                    for _ in 0..asked {
                        let answer = [head(stream, 0, &[]), end(stream, &[("x-size", "1")])];
                        socket.write_all(&answer.concat()).await.unwrap();
                        stream += 2;
                    }
                }
            }
        })
        .await;
        let line = line(address).await;
        let calls = (0..20).map(|_| {
            let line = Rc::clone(&line);
            spawn_local(async move { whole(&line).await })
        });
        for call in calls.collect::<Vec<_>>() {
            assert_eq!(call.await.unwrap(), Ok((200, Vec::new(), Some("1".to_owned()))));
        }
        assert_eq!(most.get(), 1);
        // A task that gives up waiting leaves its place to the next one.
        let first = line.begin(&ASKED).await.unwrap();
        {
            let second = line.begin(&ASKED);
            assert!(tokio::time::timeout(Duration::from_millis(5), second).await.is_err());
        }
        let third = line.begin(&ASKED);
        drop(first);
        third.await.unwrap();
    });
}

#[test]
fn a_head_that_is_larger_than_the_server_wants_is_not_sent() {
    run(async {
        let seen = Rc::<RefCell<Vec<_>>>::default();
        let hundred = &[0, 6, 0, 0, 0, 100];
        let line = line(scripted(hundred, |_| None, Rc::clone(&seen)).await).await;
        assert_eq!(line.begin(&ASKED).await.unwrap_err(), NoStream::HeadTooLarge(100));
        assert!(line.is_open());
        assert!(seen.borrow().iter().all(|(kind, _)| *kind != HEADERS));
    });
}

#[test]
fn a_small_window_is_kept_to() {
    run(async {
        let seen = Rc::<RefCell<Vec<_>>>::default();
        // Ten bytes for each stream.
        let ten = &[0, 4, 0, 0, 0, 10];
        let line = line(scripted(ten, |_| None, Rc::clone(&seen)).await).await;
        let stream = line.begin(&ASKED).await.unwrap();
        let sent = tokio::time::timeout(Duration::from_millis(20), stream.send(&[7; 25], true));
        assert!(sent.await.is_err());
        let bodies = || -> usize {
            let seen = seen.borrow();
            seen.iter().filter(|(kind, _)| *kind == DATA).map(|(_, payload)| payload.len()).sum()
        };
        until(|| bodies() == 10).await;
    });
}

#[test]
fn a_farewell_lets_the_streams_end_that_were_seen_and_closes_then() {
    run(async {
        let hung_up = Rc::new(Cell::new(false));
        let told = Rc::clone(&hung_up);
        let address = server(move |mut socket, _| {
            let hung_up = Rc::clone(&told);
            async move {
                socket.write_all(&frame(SETTINGS, 0, 0, &[])).await.unwrap();
                // Until both requests are there.
                let mut came = Vec::new();
                while came.windows(3).filter(|part| *part == b"ask").count() < 2 {
                    let byte = socket.read_u8().await.unwrap();
                    came.push(byte);
                }
                let answer = [goaway(1, 0), head(1, 0, &[]), end(1, &[("x-size", "1")])].concat();
                socket.write_all(&answer).await.unwrap();
                until_closed(&mut socket).await;
                hung_up.set(true);
            }
        })
        .await;
        let line = line(address).await;
        let (seen, unseen) = tokio::join!(whole(&line), whole(&line));
        assert_eq!(seen, Ok((200, Vec::new(), Some("1".to_owned()))));
        assert_eq!(unseen, Err(Cut::Failed(Failure::Http2(Http2Trouble::Unseen, 0))));
        assert!(!line.is_open());
        // The line is still held, and closed all the same.
        until(|| hung_up.get()).await;
        drop(line);
    });
}

#[test]
fn a_farewell_and_the_end_before_the_answer_are_told_with_the_reason() {
    run(async {
        let address = server(|mut socket, _| async move {
            socket.write_all(&frame(SETTINGS, 0, 0, &[])).await.unwrap();
            let mut came = Vec::new();
            while !came.ends_with(b"ask") {
                came.push(socket.read_u8().await.unwrap());
            }
            socket.write_all(&goaway(1, 11)).await.unwrap();
        })
        .await;
        let line = line(address).await;
        let expected = Failure::Http2(Http2Trouble::GoAway, 11);
        assert_eq!(whole(&line).await, Err(Cut::Failed(expected)));
        assert_eq!(line.begin(&ASKED).await.unwrap_err(), NoStream::Failed(expected));
    });
}

#[test]
fn questions_are_answered_while_no_stream_is_open() {
    run(async {
        let seen = Rc::<RefCell<Vec<_>>>::default();
        let words = |stream| {
            let ping = frame(PING, 0, 0, b"12345678");
            Some([head(stream, 0, &[]), end(stream, &[]), ping].concat())
        };
        let line = line(scripted(&[], words, Rc::clone(&seen)).await).await;
        whole(&line).await.unwrap();
        let has = |kind| seen.borrow().iter().any(|(other, _)| *other == kind);
        until(|| has(PING)).await;
        assert!(!has(GOAWAY));
        drop(line);
        until(|| has(GOAWAY)).await;
    });
}

#[test]
fn a_server_without_http2_is_told_apart() {
    run(async {
        for (words, expected) in [
            (&b"HTTP/1.1 400 Bad Request\r\n\r\n"[..], NoLine::Http1),
            (b"\0\0\0\x06\0\0\0\0\0", NoLine::Strange),
            (b"220 mail.test ready\r\n", NoLine::Strange),
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
