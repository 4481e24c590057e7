//! Requests that wait for each other before they are sent.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use brunt_fiber::core::carry_out_chores;
use futures_util::future::join_all;
use tokio::io::AsyncWriteExt;
use tokio::task::{spawn_local, yield_now};

use crate::support::{answering, client, get, read_head, run, server, until_closed, with};

const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

#[test]
fn requests_are_sent_when_nobody_else_has_anything_to_do() {
    run(async {
        let address = answering(OK).await;
        let url = Rc::new(format!("http://{address}/"));
        let client = Rc::new(client(|_| ()));
        get(&client, &url).await;
        let task = spawn_local({
            let (client, url) = (Rc::clone(&client), Rc::clone(&url));
            async move { get(&client, &url).await }
        });
        // As long as someone works, the request waits.
        let began = client.network().now();
        while client.network().now() < began + 2_000_000 {
            yield_now().await;
        }
        let exchange = task.await.unwrap();
        assert_eq!(exchange.failure, None);
        // The wait counts as being blocked, not as part of the request.
        assert!(exchange.timings.blocked > 1_500_000, "{:?}", exchange.timings);
        assert!(exchange.timings.sending < 1_500_000, "{:?}", exchange.timings);
    });
}

#[test]
fn many_at_once_arrive_whole_and_are_counted() {
    run(async {
        let address = answering(OK).await;
        let clients: Vec<_> = (0..100).map(|_| client(|_| ())).collect();
        for round in 0..3 {
            let url = format!("http://{address}/{round}");
            let exchanges = join_all(clients.iter().map(|client| get(client, &url))).await;
            let sent = format!("GET /{round} HTTP/1.1\r\nHost: {address}\r\n\r\n").len();
            for exchange in exchanges {
                assert_eq!((exchange.failure, exchange.body()), (None, &b"ok"[..]));
                assert_eq!(exchange.bytes_sent, sent as u64);
                assert!(exchange.timings.waiting > 0);
            }
        }
    });
}

#[test]
fn a_timeout_while_it_waits_sends_nothing() {
    run(async {
        let heads = Rc::new(RefCell::new(Vec::new()));
        let seen = Rc::clone(&heads);
        let address = server(move |mut socket, _| {
            let seen = Rc::clone(&seen);
            async move {
                while let Some(head) = read_head(&mut socket).await {
                    seen.borrow_mut().push(head);
                    socket.write_all(OK.as_bytes()).await.unwrap();
                }
            }
        })
        .await;
        let client = Rc::new(client(|_| ()));
        get(&client, &format!("http://{address}/first")).await;
        let url = format!("http://{address}/second");
        let task = spawn_local({
            let client = Rc::clone(&client);
            async move {
                with(&client, &url, |request| {
                    request.deadline = Some(client.network().now() + 1_000_000);
                })
                .await
            }
        });
        let began = client.network().now();
        while client.network().now() < began + 10_000_000 {
            yield_now().await;
        }
        let exchange = task.await.unwrap();
        assert_eq!((exchange.failure.unwrap().code(), exchange.bytes_sent), (1050, 0));
        carry_out_chores();
        assert_eq!(client.idle_count(), 0);
        get(&client, &format!("http://{address}/third")).await;
        let paths: Vec<_> = heads.borrow().iter().map(|head| head[4..8].to_owned()).collect();
        assert_eq!(paths, ["/fir", "/thi"]);
    });
}

#[test]
fn a_timeout_after_it_was_sent_knows_what_was_sent() {
    run(async {
        let address = server(|mut socket, _| async move { until_closed(&mut socket).await }).await;
        let client = client(|_| ());
        let exchange = with(&client, &format!("http://{address}/"), |request| {
            request.deadline = Some(client.network().now() + 20_000_000);
        })
        .await;
        assert_eq!(exchange.failure.unwrap().code(), 1050);
        assert!(exchange.bytes_sent > 30);
        assert!(exchange.timings.waiting > 5_000_000, "{:?}", exchange.timings);
    });
}

/// The server closes the kept connection while the next request waits to be sent: it goes out on a new one.
#[test]
fn a_connection_that_dies_meanwhile_is_replaced() {
    run(async {
        let count = Rc::new(Cell::new(0));
        let served = Rc::clone(&count);
        let (close, closed) = tokio::sync::oneshot::channel::<()>();
        let close_first = Rc::new(Cell::new(Some(closed)));
        let address = server(move |mut socket, number| {
            let (served, close_first) = (Rc::clone(&served), Rc::clone(&close_first));
            async move {
                read_head(&mut socket).await.unwrap();
                served.set(served.get() + 1);
                socket.write_all(OK.as_bytes()).await.unwrap();
                if number == 0 {
                    close_first.take().unwrap().await.unwrap();
                } else {
                    until_closed(&mut socket).await;
                }
            }
        })
        .await;
        let url = Rc::new(format!("http://{address}/"));
        let client = Rc::new(client(|_| ()));
        get(&client, &url).await;
        let task = spawn_local({
            let (client, url) = (Rc::clone(&client), Rc::clone(&url));
            async move { get(&client, &url).await }
        });
        // It is in the outbox now.
        yield_now().await;
        yield_now().await;
        close.send(()).unwrap();
        let began = client.network().now();
        while client.network().now() < began + 5_000_000 {
            yield_now().await;
        }
        let exchange = task.await.unwrap();
        assert_eq!((exchange.failure, exchange.reused), (None, false));
        assert_eq!(count.get(), 2);
    });
}

/// Scripts that compute for longer than they send don't hold requests back.
#[test]
fn after_a_late_one_requests_are_sent_at_once() {
    run(async {
        let address = answering(OK).await;
        let url = format!("http://{address}/");
        let clients: Vec<_> = (0..4).map(|_| client(|_| ())).collect();
        join_all(clients.iter().map(|client| get(client, &url))).await;
        // All in one task, with half a millisecond of work between one and the next.
        let slow = join_all(clients.iter().map(|client| async {
            let exchange = get(client, &url);
            let began = std::time::Instant::now();
            while began.elapsed() < Duration::from_micros(500) {}
            exchange.await
        }));
        let exchanges = slow.await;
        assert!(exchanges.iter().all(|exchange| exchange.failure.is_none()));
        // The first waited for the second, the others did not wait.
        assert!(exchanges[0].timings.blocked > 400_000, "{:?}", exchanges[0].timings);
        let last = exchanges[3].timings.blocked;
        assert!(last < exchanges[0].timings.blocked, "{last}, {:?}", exchanges[0].timings);
    });
}
