//! Request bodies made of pieces: memory, files, streams.

use std::cell::RefCell;
use std::net::SocketAddr;
use std::os::unix::fs::FileExt as _;
use std::rc::Rc;

use brunt_http::{Exchange, Headers, Payload, Shared};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::support::{
    chunks, client, failed, file_of, range, read_head, repeatable, reset_on_close, run, send,
    send_with, server, until_closed,
};

const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

/// The requests to a server: heads, and bodies as they were on the wire.
type Got = Rc<RefCell<Vec<(String, Vec<u8>)>>>;

/// Reads whole requests of either framing and answers each.
async fn receiving() -> (SocketAddr, Got) {
    let got = Got::default();
    let seen = got.clone();
    let address = server(move |mut socket, _| {
        let seen = seen.clone();
        async move {
            while let Some(head) = read_head(&mut socket).await {
                let mut body = Vec::new();
                if let Some(length) = head.split("Content-Length: ").nth(1) {
                    body.resize(length.split('\r').next().unwrap().parse().unwrap(), 0);
                    if socket.read_exact(&mut body).await.is_err() {
                        return;
                    }
                } else {
                    while !(body.ends_with(b"\r\n0\r\n\r\n") || body == b"0\r\n\r\n") {
                        let Ok(byte) = socket.read_u8().await else { return };
                        body.push(byte);
                    }
                }
                seen.borrow_mut().push((head, body));
                socket.write_all(OK).await.unwrap();
            }
        }
    })
    .await;
    (address, got)
}

fn pattern(size: usize, modulus: usize) -> Vec<u8> {
    (0..size).map(|n| (n % modulus) as u8).collect()
}

#[test]
fn pieces_arrive_in_order_whatever_they_are_and_how_long() {
    run(async {
        let (address, got) = receiving().await;
        let client = client(|_| ());
        let url = format!("http://{address}/");
        // More than any socket takes at once.
        let long = pattern(9_000_000, 241);
        let file = file_of(&long);
        let shared = Shared::from(long.clone());
        let mut payload = Payload::from(&b"begin"[..]);
        payload.push(shared.slice(5..20_000));
        payload.push(Shared::from("small"));
        payload.push(range(&file, 17, 8_000_000));
        payload.push(range(&file, 0, 0));
        payload.push(chunks(&["ab", "cde"], Some(5)));
        payload.push(shared.slice(3..8_000_003));
        for _ in 0..40 {
            payload.push(&b"xy"[..]);
        }
        let exchange = send(&client, &url, &payload).await;
        assert_eq!(exchange.failure, None);
        let wanted = [
            b"begin",
            &long[5..20_000],
            b"small",
            &long[17..8_000_017],
            b"abcde",
            &long[3..8_000_003],
            &b"xy".repeat(40),
        ]
        .concat();
        let (head, body) = got.borrow_mut().pop().unwrap();
        assert!(body == wanted);
        assert!(head.contains(&format!("Content-Length: {}\r\n", wanted.len())));
        assert_eq!(exchange.bytes_sent as usize, head.len() + body.len());
        // Many small ones are copied behind the head.
        let small: Payload = (0..100).map(|_| Shared::from("z").into()).collect();
        assert!(send(&client, &url, &small).await.reused);
        assert_eq!(got.borrow()[0].1, b"z".repeat(100));
        assert_eq!(client.idle_count(), 1);
    });
}

#[test]
fn a_body_of_unknown_size_is_framed_piece_by_piece() {
    run(async {
        let (address, got) = receiving().await;
        let client = client(|_| ());
        let url = format!("http://{address}/");
        let file = file_of(b"0123456789abcdefXYZ");
        let mut payload = Payload::from(&b"head"[..]);
        payload.push(range(&file, 1, 16));
        payload.push(&b""[..]);
        payload.push(repeatable(&["ab", "", "cde"]));
        payload.push(&b"tail"[..]);
        let framed =
            "4\r\nhead\r\n10\r\n123456789abcdefX\r\n2\r\nab\r\n3\r\ncde\r\n4\r\ntail\r\n0\r\n\r\n";
        for _ in 0..2 {
            assert_eq!(send(&client, &url, &payload).await.failure, None);
            let (head, body) = got.borrow_mut().pop().unwrap();
            assert_eq!(String::from_utf8(body).unwrap(), framed);
            assert!(head.contains("Transfer-Encoding: chunked\r\n") && !head.contains("Length"));
            assert!(payload.rewind());
        }
        let empty = Payload::from(chunks(&[], None));
        assert_eq!(send(&client, &url, &empty).await.failure, None);
        assert_eq!(got.borrow_mut().pop().unwrap().1, b"0\r\n\r\n");
    });
}

async fn fails(client: &brunt_http::Client, url: &str, payload: &Payload) -> String {
    let exchange = send(client, url, payload).await;
    let (code, text) = failed(&exchange);
    assert_eq!(code, 1000);
    assert_eq!(client.idle_count(), 0, "{text}");
    let next = send(client, url, &Payload::from(&b"next"[..])).await;
    assert_eq!(next.failure, None);
    client.close_idle();
    text
}

#[test]
fn a_file_that_is_gone_no_file_or_cut_short_fails_its_request_only() {
    run(async {
        let (address, _) = receiving().await;
        let client = client(|_| ());
        let url = format!("http://{address}/");
        let file = file_of(b"12345");
        let end_of = |text: String| text.rsplit(": ").next().unwrap().to_owned();

        let short = Payload::from(range(&file, 2, 4));
        let text = fails(&client, &url, &short).await;
        assert!(text.starts_with("read ") && text.contains("shorter"), "{text}");

        let directory = tempfile::tempdir().unwrap();
        let mut of_directory = range(&file, 0, 5);
        of_directory.path = directory.path().into();
        let text = fails(&client, &url, &of_directory.into()).await;
        assert!(text.starts_with("read ") && end_of(text) == "is a directory");

        let gone = Payload::from(range(&file, 0, 5));
        drop(file);
        let text = fails(&client, &url, &gone).await;
        assert!(text.starts_with("open ") && end_of(text) == "no such file or directory");
    });
}

/// Something happens to the file while the server has read but a part of it.
#[test]
fn a_file_may_become_another_while_it_is_sent() {
    const SIZE: u64 = 64 << 20;
    type Act = fn(&tempfile::NamedTempFile);
    let cases: [(&str, Act); 4] = [
        ("became shorter", |file| file.as_file().set_len(1 << 20).unwrap()),
        ("was changed", |file| file.as_file().set_len(SIZE + 1).unwrap()),
        ("was changed", |file| file.as_file().write_all_at(b"other", SIZE / 2).unwrap()),
        ("was deleted", |file| std::fs::remove_file(file.path()).unwrap()),
    ];
    for (what, act) in cases {
        run(async move {
            let file = Rc::new(tempfile::NamedTempFile::new().unwrap());
            file.as_file().set_len(SIZE).unwrap();
            let its = file.clone();
            let address = server(move |mut socket, _| {
                let file = its.clone();
                async move {
                    read_head(&mut socket).await;
                    let mut some = vec![0; 1 << 20];
                    socket.read_exact(&mut some).await.unwrap();
                    act(&file);
                    until_closed(&mut socket).await;
                }
            })
            .await;
            let payload = Payload::from(range(&file, 0, SIZE));
            let exchange = send(&client(|_| ()), &format!("http://{address}/"), &payload).await;
            let (code, text) = failed(&exchange);
            assert!(code == 1000 && text.contains(what), "{what}: {text}");
        });
    }
}

#[test]
fn a_stream_that_fails_or_lies_fails_its_request_only() {
    run(async {
        let (address, _) = receiving().await;
        let client = client(|_| ());
        let url = format!("http://{address}/");
        for (source, wanted) in [
            (chunks(&["ab", "!it broke"], None), "request body: it broke"),
            (chunks(&["!at once"], Some(7)), "request body: at once"),
            (chunks(&["ab"], Some(3)), "request body: the stream ended before its declared size"),
            (chunks(&["ab", "cd"], Some(3)), "request body: the stream passes its declared size"),
        ] {
            let text = fails(&client, &url, &Payload::from(source)).await;
            assert!(wanted.starts_with(text.trim_end_matches('…')), "{text}");
        }
    });
}

/// A server that says `leave` to the head, and notes what comes after it.
async fn asked_for_leave(leave: &'static [u8]) -> (SocketAddr, Got) {
    let got = Got::default();
    let seen = got.clone();
    let address = server(move |mut socket, _| {
        let seen = seen.clone();
        async move {
            let head = read_head(&mut socket).await.unwrap();
            socket.write_all(leave).await.unwrap();
            let mut body = vec![0; 5];
            let size = socket.read(&mut body).await.unwrap_or(0);
            body.truncate(size);
            seen.borrow_mut().push((head, body));
            let _ = socket.write_all(OK).await;
        }
    })
    .await;
    (address, got)
}

async fn send_with_leave(address: SocketAddr) -> Exchange {
    let mut headers = Headers::new();
    headers.append("Expect", "100-continue").unwrap();
    let payload = Payload::from(&b"hello"[..]);
    send_with(&client(|_| ()), &format!("http://{address}/"), &payload, &headers).await
}

#[test]
fn a_body_waits_for_leave_and_is_kept_back_when_the_answer_is_final() {
    run(async {
        let (address, got) = asked_for_leave(b"HTTP/1.1 100 Continue\r\n\r\n").await;
        let exchange = send_with_leave(address).await;
        assert_eq!(exchange.response().unwrap().status(), 200);
        let (head, body) = got.borrow_mut().pop().unwrap();
        assert!(head.contains("Expect: 100-continue\r\n") && body == b"hello");

        let refusal = b"HTTP/1.1 417 No\r\nContent-Length: 0\r\n\r\n";
        let (address, got) = asked_for_leave(refusal).await;
        let exchange = send_with_leave(address).await;
        assert_eq!(exchange.response().unwrap().status(), 417);
        // The server notices the end of the connection.
        while got.borrow().is_empty() {
            tokio::task::yield_now().await;
        }
        assert_eq!(got.borrow()[0].1, b"");
    });
}

/// The only test that waits for a clock: what is tested is that it waits, and not for ever.
#[test]
fn a_server_that_says_nothing_gets_the_body_after_a_second() {
    run(async {
        let (address, got) = asked_for_leave(b"").await;
        let exchange = send_with_leave(address).await;
        assert_eq!(exchange.failure, None);
        assert!(exchange.timings.sending >= 1_000_000_000);
        assert_eq!(got.borrow()[0].1, b"hello");
    });
}

#[test]
fn an_answer_before_the_end_of_a_body_counts_and_ends_the_connection() {
    run(async {
        let address = server(|mut socket, _| async move {
            read_head(&mut socket).await;
            let answer = b"HTTP/1.1 413 Too large\r\nContent-Length: 2\r\n\r\nno";
            socket.write_all(answer).await.unwrap();
            until_closed(&mut socket).await;
        })
        .await;
        let file = tempfile::NamedTempFile::new().unwrap();
        file.as_file().set_len(1 << 40).unwrap();
        let client = client(|_| ());
        let payload = Payload::from(range(&file, 0, 1 << 40));
        let exchange = send(&client, &format!("http://{address}/"), &payload).await;
        assert_eq!((exchange.failure, exchange.body()), (None, &b"no"[..]));
        assert_eq!(client.idle_count(), 0);
    });
}

#[test]
fn a_reset_in_the_middle_of_a_file_is_the_connections_failure() {
    run(async {
        let address = server(|mut socket, _| async move {
            read_head(&mut socket).await;
            let mut some = vec![0; 1 << 20];
            socket.read_exact(&mut some).await.unwrap();
            reset_on_close(&socket);
        })
        .await;
        let file = tempfile::NamedTempFile::new().unwrap();
        file.as_file().set_len(64 << 20).unwrap();
        let payload = Payload::from(range(&file, 0, 64 << 20));
        let exchange = send(&client(|_| ()), &format!("http://{address}/"), &payload).await;
        let (code, text) = failed(&exchange);
        assert!(matches!(code, 1220 | 1201), "{code} {text}");
    });
}

/// A kept connection that the server closed: what can't be read twice is not sent twice.
#[test]
fn a_stream_that_cannot_begin_again_is_not_tried_again() {
    run(async {
        let address = server(|mut socket, number| async move {
            read_head(&mut socket).await;
            socket.write_all(OK).await.unwrap();
            // Every other connection dies when the next request has begun to come.
            if number % 2 == 0 {
                read_head(&mut socket).await;
                reset_on_close(&socket);
            } else {
                until_closed(&mut socket).await;
            }
        })
        .await;
        for (source, is_sent_again) in [(repeatable(&["a"]), true), (chunks(&["a"], None), false)] {
            let client = client(|_| ());
            let url = format!("http://{address}/");
            let mut headers = Headers::new();
            headers.append("Idempotency-Key", "1").unwrap();
            send(&client, &url, &Payload::from(&b""[..])).await;
            let payload = Payload::from(source);
            let exchange = send_with(&client, &url, &payload, &headers).await;
            assert_eq!(exchange.failure.is_none(), is_sent_again && !exchange.reused);
        }
    });
}
