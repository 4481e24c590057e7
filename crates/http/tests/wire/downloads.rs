//! Responses whose bodies are read as they come.

use std::cell::Cell;
use std::future::poll_fn;
use std::net::SocketAddr;
use std::rc::Rc;
use std::task::Poll;

use brunt_http::{Chunk, Client, Exchange, Failure, Headers, Request, Spool, Target};
use tokio::io::AsyncWriteExt;

use crate::support::{client, read_head, run, server, until_closed};

const LIMIT: usize = 1 << 20;

/// Starts a GET whose body goes to a spool.
fn start(client: &Rc<Client>, url: String) -> (Rc<Spool>, tokio::task::JoinHandle<Exchange>) {
    let spool = Rc::new(Spool::new(LIMIT));
    let (its, client) = (spool.clone(), client.clone());
    let task = tokio::task::spawn_local(async move {
        let target = Target::parse(&url).unwrap();
        let headers = Headers::new();
        let mut request = Request::new("GET", &target, &headers);
        request.spool = Some(&its);
        request.deadline = Some(client.network().now() + 20_000_000_000);
        let exchange = client.exchange(&request).await;
        its.end(exchange.failure);
        exchange
    });
    (spool, task)
}

async fn next(spool: &Spool) -> Option<Result<Chunk, Failure>> {
    poll_fn(|cx| spool.poll_chunk(cx)).await
}

async fn endless(total: u64) -> (SocketAddr, Rc<Cell<u64>>) {
    let sent = Rc::new(Cell::new(0));
    let counts = sent.clone();
    let address = server(move |mut socket, _| {
        let sent = counts.clone();
        async move {
            while read_head(&mut socket).await.is_some() {
                let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {total}\r\n\r\n");
                socket.write_all(head.as_bytes()).await.unwrap();
                let block = vec![7; 1 << 16];
                let mut left = total;
                while left > 0 {
                    let size = left.min(1 << 16);
                    if socket.write_all(&block[..size as usize]).await.is_err() {
                        return;
                    }
                    left -= size;
                    sent.set(sent.get() + size);
                }
            }
        }
    })
    .await;
    (address, sent)
}

#[test]
fn the_head_is_there_before_the_body_and_a_slow_reader_slows_the_server() {
    run(async {
        let total = 200 << 20;
        let (address, sent) = endless(total).await;
        let client = Rc::new(client(|_| ()));
        let (spool, task) = start(&client, format!("http://{address}/"));
        let head = poll_fn(|cx| spool.poll_head(cx)).await.unwrap();
        assert_eq!((head.response().unwrap().status(), head.failure), (200, None));
        assert!(head.timings.waiting > 0 && head.body().is_empty());
        // Until nothing moves any more: buffer and sockets are full.
        let mut before = u64::MAX;
        while before != sent.get() {
            before = sent.get();
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        }
        assert!(sent.get() < total / 2, "{}", sent.get());
        let mut ready = 0;
        let mut last = 0;
        // The ready bytes are bounded: no other task runs while this doesn't wait.
        let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
        while let Poll::Ready(Some(Ok(chunk))) = spool.poll_chunk(&mut cx) {
            assert!(chunk.arrived_at >= last);
            last = chunk.arrived_at;
            ready += chunk.bytes.len();
        }
        assert!((1..LIMIT + (64 << 10)).contains(&ready), "{ready}");
        while let Some(chunk) = next(&spool).await {
            let chunk = chunk.unwrap();
            assert!(chunk.bytes.iter().all(|&byte| byte == 7));
            ready += chunk.bytes.len();
        }
        assert_eq!(ready as u64, total);
        let exchange = task.await.unwrap();
        assert_eq!((exchange.failure, exchange.body_size()), (None, total));
        assert!(exchange.timings.receiving > head.timings.receiving);
        assert_eq!(client.idle_count(), 1);
    });
}

#[test]
fn who_gives_up_ends_the_exchange_without_a_failure_and_the_connection() {
    run(async {
        let (address, _) = endless(1 << 40).await;
        let client = Rc::new(client(|_| ()));
        let (spool, task) = start(&client, format!("http://{address}/"));
        poll_fn(|cx| spool.poll_head(cx)).await.unwrap();
        next(&spool).await.unwrap().unwrap();
        spool.abandon();
        let exchange = task.await.unwrap();
        assert_eq!(exchange.response().unwrap().status(), 200);
        assert!(exchange.body_size() > 0 && client.idle_count() == 0);
        assert_eq!(next(&spool).await, None);
    });
}

/// A server that sends these pieces, each when the one before was read, and then closes.
async fn piecewise(pieces: &'static [&'static str], spool: Rc<Cell<usize>>) -> SocketAddr {
    server(move |mut socket, _| {
        let read = spool.clone();
        async move {
            read_head(&mut socket).await;
            for (number, piece) in pieces.iter().enumerate() {
                while read.get() < number {
                    tokio::task::yield_now().await;
                }
                socket.write_all(piece.as_bytes()).await.unwrap();
            }
            if pieces.last().is_some_and(|last| last.ends_with("0\r\n\r\n")) {
                until_closed(&mut socket).await;
            }
        }
    })
    .await
}

#[test]
fn chunks_come_one_by_one_and_a_body_cut_short_fails_after_them() {
    run(async {
        let read = Rc::new(Cell::new(0));
        let pieces = &[
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
            "3\r\nabc\r\n",
            "2\r\nde\r\n",
            "5\r\nf",
        ];
        let address = piecewise(pieces, read.clone()).await;
        let client = Rc::new(client(|_| ()));
        let (spool, task) = start(&client, format!("http://{address}/"));
        poll_fn(|cx| spool.poll_head(cx)).await.unwrap();
        let mut texts = Vec::new();
        loop {
            read.set(read.get() + 1);
            match next(&spool).await {
                Some(Ok(chunk)) => texts.push(String::from_utf8(chunk.bytes).unwrap()),
                Some(Err(failure)) => texts.push(failure.to_string()),
                None => break,
            }
        }
        assert_eq!(texts, ["abc", "de", "f", "unexpected EOF"]);
        assert!(task.await.unwrap().failure.is_some() && client.idle_count() == 0);
    });
}

#[test]
fn a_redirect_that_is_followed_is_not_streamed() {
    run(async {
        let read = Rc::new(Cell::new(9));
        let pieces = &["HTTP/1.1 302 F\r\nLocation: /b\r\nContent-Length: 4\r\n\r\nbody"];
        let address = piecewise(pieces, read).await;
        for follows in [true, false] {
            let client = Rc::new(client(|_| ()));
            let (spool, task) = start(&client, format!("http://{address}/"));
            spool.follow_redirects(follows);
            assert_eq!(poll_fn(|cx| spool.poll_head(cx)).await.is_none(), follows);
            assert_eq!(next(&spool).await.is_none(), follows);
            assert_eq!(task.await.unwrap().body_size(), 4);
        }
    });
}
