//! HTTP/1.1 on real sockets: what works.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use brunt_fiber::core::carry_out_chores;

use crate::support::{
    answering, answering_once, client, get, post, read_head, run, server, until_closed, with,
};
use brunt_http::{Headers, Request, Target};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

#[test]
fn a_kept_connection_is_used_again_and_every_byte_counts() {
    run(async {
        let address = answering(OK).await;
        let client = client(|_| ());
        let url = format!("http://{address}/a?b");
        let first = get(&client, &url).await;
        assert_eq!((first.response().unwrap().status(), first.body()), (200, &b"ok"[..]));
        assert!(!first.reused && first.timings.connecting > 0);
        assert!(first.timings.blocked >= first.timings.connecting);
        assert_eq!(first.remote, Some(address));
        let second = get(&client, &url).await;
        assert!(second.reused);
        assert_eq!(second.timings.connecting, 0);
        assert!(second.timings.waiting > 0 && second.finished_at > second.started_at);
        let head = format!("GET /a?b HTTP/1.1\r\nHost: {address}\r\n\r\n");
        assert_eq!(second.bytes_sent, head.len() as u64);
        assert_eq!(second.bytes_received, OK.len() as u64);
        assert_eq!(client.take_wire_bytes(), (2 * head.len() as u64, 2 * OK.len() as u64));
        assert_eq!(client.take_wire_bytes(), (0, 0));
        assert_eq!(client.idle_count(), 1);
        client.close_idle();
        assert_eq!(client.idle_count(), 0);
    });
}

#[test]
fn bodies_of_every_framing_arrive() {
    run(async {
        let client = client(|_| ());
        for (bytes, wanted) in [
            ("HTTP/1.0 200 Fine\r\n\r\nuntil close", "until close"),
            (
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;x\r\nabc\r\n0\r\nT: u\r\n\r\n",
                "abc",
            ),
            ("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", "ok"),
            ("HTTP/1.1 304 NM\r\nContent-Length: 5\r\n\r\n", ""),
            ("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabcdef", "abc"),
        ] {
            let address = answering_once(bytes).await;
            let exchange = get(&client, &format!("http://{address}/")).await;
            assert_eq!(exchange.failure, None, "{bytes}");
            assert_eq!(exchange.body(), wanted.as_bytes());
        }
        let address = answering("HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n").await;
        let exchange = with(&client, &format!("http://{address}/"), |r| {
            r.method = "HEAD";
        })
        .await;
        assert_eq!((exchange.failure, exchange.body_size()), (None, 0));
    });
}

#[test]
fn bytes_after_the_end_and_close_keep_a_connection_out_of_the_pool() {
    run(async {
        for bytes in [
            "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabcdef",
            "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
            "HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n",
        ] {
            let address = answering(bytes).await;
            let client = client(|_| ());
            get(&client, &format!("http://{address}/")).await;
            assert_eq!(client.idle_count(), 0, "{bytes}");
        }
    });
}

#[test]
fn without_reuse_the_server_is_told() {
    run(async {
        let heads = Rc::new(RefCell::new(Vec::new()));
        let seen = heads.clone();
        let address = server(move |mut socket, _| {
            let seen = seen.clone();
            async move {
                let head = read_head(&mut socket).await.unwrap();
                seen.borrow_mut().push(head);
                socket.write_all(OK.as_bytes()).await.unwrap();
            }
        })
        .await;
        let client = client(|settings| settings.no_connection_reuse = true);
        for _ in 0..2 {
            assert!(!get(&client, &format!("http://{address}/")).await.reused);
        }
        assert!(heads.borrow().iter().all(|head| head.contains("\r\nConnection: close\r\n")));
    });
}

/// Many sizes: one write, a vectored write, and more than the socket takes at once.
#[test]
fn request_bodies_of_any_size_arrive_whole() {
    run(async {
        let address = server(|mut socket, _| async move {
            while let Some(head) = read_head(&mut socket).await {
                let length = head.split("Content-Length: ").nth(1).unwrap();
                let length: usize = length.split('\r').next().unwrap().parse().unwrap();
                let mut body = vec![0; length];
                socket.read_exact(&mut body).await.unwrap();
                let sum: u64 = body.iter().map(|&byte| u64::from(byte)).sum();
                let sum = sum.to_string();
                let answer =
                    format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{sum}", sum.len());
                socket.write_all(answer.as_bytes()).await.unwrap();
            }
        })
        .await;
        let client = client(|_| ());
        for size in [0, 1, 16 * 1024, 16 * 1024 + 1, 100_000, 20_000_000] {
            let body: Vec<u8> = (0..size).map(|n| (n % 251) as u8).collect();
            let sum: u64 = body.iter().map(|&byte| u64::from(byte)).sum();
            let exchange = post(&client, &format!("http://{address}/"), &body).await;
            assert_eq!((exchange.failure, exchange.body()), (None, sum.to_string().as_bytes()));
            assert!(exchange.bytes_sent > size as u64);
        }
        assert_eq!(client.idle_count(), 1);
    });
}

#[test]
fn long_bodies_are_read_into_place() {
    run(async {
        let body: Vec<u8> = (0..3_000_000_u32).map(|n| (n % 253) as u8).collect();
        let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len());
        let address = answering([head.as_bytes(), &body].concat()).await;
        let client = client(|_| ());
        let url = format!("http://{address}/");
        for _ in 0..2 {
            let exchange = get(&client, &url).await;
            assert_eq!(exchange.failure, None);
            assert_eq!(exchange.bytes_received, (head.len() + body.len()) as u64);
            assert!(exchange.into_body() == body);
        }
        let discarded = with(&client, &url, |request| request.discard_body = true).await;
        assert_eq!((discarded.body(), discarded.body_size()), (&b""[..], body.len() as u64));
        assert_eq!(discarded.response().unwrap().status(), 200);
    });
}

/// The server answers and hangs up before it has read all.
#[test]
fn an_early_answer_to_a_long_request_is_seen() {
    run(async {
        let address = server(|mut socket, _| async move {
            read_head(&mut socket).await;
            socket.write_all(b"HTTP/1.1 413 Too Much\r\nContent-Length: 0\r\n\r\n").await.unwrap();
            until_closed(&mut socket).await;
        })
        .await;
        let client = client(|_| ());
        let body = vec![0; 50_000_000];
        let exchange = post(&client, &format!("http://{address}/"), &body).await;
        assert_eq!(exchange.response().unwrap().status(), 413);
        assert_eq!(client.idle_count(), 0);
    });
}

#[test]
fn a_connection_that_died_idle_is_replaced() {
    run(async {
        // Each connection answers once and is closed after its answer.
        let address = answering_once(OK).await;
        let client = client(|_| ());
        let url = format!("http://{address}/");
        for _ in 0..3 {
            let exchange = get(&client, &url).await;
            assert_eq!((exchange.failure, exchange.reused), (None, false));
            assert!(exchange.timings.connecting > 0);
        }
    });
}

/// The server closes when the second request is already on its way: only harmless ones are repeated.
#[test]
fn a_request_on_a_dying_connection_is_repeated_if_it_does_no_harm() {
    run(async {
        let connections = Rc::new(Cell::new(0));
        let count = connections.clone();
        let address = server(move |mut socket, _| {
            count.set(count.get() + 1);
            async move {
                read_head(&mut socket).await;
                socket.write_all(OK.as_bytes()).await.unwrap();
                read_head(&mut socket).await;
            }
        })
        .await;
        let url = format!("http://{address}/");
        let client = client(|_| ());
        get(&client, &url).await;
        let second = get(&client, &url).await;
        assert_eq!((second.failure, second.reused, connections.get()), (None, false, 2));
        // Sent twice, counted twice.
        let head = format!("GET / HTTP/1.1\r\nHost: {address}\r\n\r\n");
        assert_eq!(second.bytes_sent, 2 * head.len() as u64);
        let third = with(&client, &url, |request| request.method = "POST").await;
        assert_eq!(crate::support::failed(&third), (1000, "EOF".to_owned()));
        assert_eq!(connections.get(), 2);
    });
}

#[test]
fn the_pool_is_bounded_per_host_and_in_all() {
    run(async {
        let address = answering(OK).await;
        let client = client(|settings| {
            settings.idle_total = 5;
            settings.idle_per_host = 3;
            settings.net.hosts = vec![("*.test".to_owned(), address.to_string())];
        });
        for (host, idle) in [("a", 3), ("b", 5), ("c", 5)] {
            let target = format!("http://{host}.test/");
            let target = Target::parse(&target).unwrap();
            let headers = Headers::new();
            let request = Request::new("GET", &target, &headers);
            let all = futures_util::future::join_all((0..4).map(|_| client.exchange(&request)));
            assert!(all.await.iter().all(|exchange| exchange.failure.is_none()));
            assert_eq!(client.idle_count(), idle);
        }
    });
}

#[test]
fn a_dropped_exchange_closes_its_connection_and_its_bytes_count() {
    run(async {
        let [is_asked, is_closed] = [(); 2].map(|()| Rc::new(Cell::new(false)));
        let (asked, flag) = (is_asked.clone(), is_closed.clone());
        let address = server(move |mut socket, _| {
            let (asked, flag) = (asked.clone(), flag.clone());
            async move {
                read_head(&mut socket).await;
                asked.set(true);
                until_closed(&mut socket).await;
                flag.set(true);
            }
        })
        .await;
        let client = client(|_| ());
        let url = format!("http://{address}/");
        {
            let mut exchange = std::pin::pin!(get(&client, &url));
            while !is_asked.get() {
                assert!(futures_util::poll!(exchange.as_mut()).is_pending());
                carry_out_chores();
                tokio::task::yield_now().await;
            }
        }
        assert!(client.take_wire_bytes().0 > 30);
        while !is_closed.get() {
            tokio::task::yield_now().await;
        }
        assert_eq!(client.idle_count(), 0);
    });
}

#[test]
fn a_local_address_is_dialed_from() {
    run(async {
        let peers = Rc::new(RefCell::new(Vec::new()));
        let seen = peers.clone();
        let address = server(move |mut socket, _| {
            seen.borrow_mut().push(socket.peer_addr().unwrap().ip().to_string());
            async move {
                read_head(&mut socket).await;
                socket.write_all(OK.as_bytes()).await.unwrap();
            }
        })
        .await;
        let any = client(|_| ());
        let ip = "127.0.0.77".parse().unwrap();
        let client = brunt_http::Client::new(any.network().clone(), Some(ip));
        assert_eq!(get(&client, &format!("http://{address}/")).await.failure, None);
        assert_eq!(*peers.borrow(), ["127.0.0.77"]);
    });
}

/// The hosts file, or RFC 6761: no name server is asked.
#[test]
fn localhost_is_known() {
    run(async {
        let address = answering(OK).await;
        let client = client(|_| ());
        for reused in [false, true] {
            let exchange = get(&client, &format!("http://localhost:{}/", address.port())).await;
            assert_eq!((exchange.failure, exchange.remote), (None, Some(address)));
            assert_eq!(exchange.reused, reused);
        }
    });
}
