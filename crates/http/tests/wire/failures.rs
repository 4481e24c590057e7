//! Each way to fail, with k6's code and text (observed in k6 1.8.1).

use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;

use crate::support::{
    answering_once, client, failed, get, read_head, reset_on_close, run, server, until_closed, with,
};
use tokio::io::AsyncWriteExt;

async fn get_once(bytes: &str) -> brunt_http::Exchange {
    let address = answering_once(bytes).await;
    get(&client(|_| ()), &format!("http://{address}/")).await
}

#[test]
fn broken_responses_have_the_texts_of_k6() {
    run(async {
        for (bytes, text) in [
            ("", "EOF"),
            ("garbage here\r\n\r\n", r#"malformed HTTP status code "here""#),
            ("HTTP/1.1 abc OK\r\n\r\n", r#"malformed HTTP status code "abc""#),
            ("HTTQ/1.1 200 OK\r\n\r\n", r#"malformed HTTP version "HTTQ/1.1""#),
            (
                "HTTP/1.1 200 OK\r\nfoo bar\r\n\r\n",
                r#"malformed MIME header: missing colon: "foo bar""#,
            ),
            ("HTTP/1.1 200 OK\r\nContent-", r#"malformed MIME header: missing colon: "Content-""#),
            ("HTTP/1.1 200 OK\r\nContent-Length: 1", "unexpected EOF"),
            ("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n", "unexpected EOF"),
            ("HTTP/1.1 200 OK", "unexpected EOF"),
            ("HTTP/1.1 000 No\r\n\r\n", r#"malformed HTTP status code "000""#),
            ("HTTP/1.1 200 OK\r\n a: b\r\n\r\n", r#"malformed MIME header initial line: " a: b""#),
            ("HTTP/1.1 200 OK\r\nx-a: \x01\r\n\r\n", r#"malformed MIME header line: "X-A: \x01""#),
            ("HTTP/1.1 200 OK\r\nContent-Length: \r\n\r\n", r#"invalid empty Content-Length """#),
            (
                "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n",
                r#"http: message cannot contain multiple Content-Length headers; got ["2" "3"]"#,
            ),
            (
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\r\nok",
                "empty hex number for chunk length",
            ),
            (
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n",
                "http: unexpected EOF reading trailer",
            ),
            ("HTTP/1.1 20", r#"malformed HTTP status code "20""#),
            ("HTT", r#"malformed HTTP response "HTT""#),
            ("HTTP/1.1 200 OK\r\nContent-Length: abc\r\n\r\nabc", r#"bad Content-Length "abc""#),
            (
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: foo\r\n\r\n",
                r#"unsupported transfer encoding: "foo""#,
            ),
            (
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nab",
                "invalid byte in chunk length",
            ),
        ] {
            let exchange = get_once(bytes).await;
            assert_eq!(failed(&exchange), (1000, text.to_owned()));
            assert_eq!(exchange.body(), b"");
        }
    });
}

#[test]
fn what_came_of_a_body_is_kept() {
    run(async {
        for (bytes, text) in [
            ("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc", "unexpected EOF"),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabc", "unexpected EOF"),
            (
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabcXX0\r\n\r\n",
                "malformed chunked encoding",
            ),
        ] {
            let exchange = get_once(bytes).await;
            assert_eq!(failed(&exchange), (1000, text.to_owned()));
            assert_eq!(exchange.body(), b"abc", "{bytes}");
            assert_eq!(exchange.head().unwrap().status(), 200);
        }
    });
}

#[test]
fn an_endless_head_is_cut_off() {
    run(async {
        let address = server(|mut socket, _| async move {
            read_head(&mut socket).await;
            let _ = socket.write_all(b"HTTP/1.1 200 OK\r\n").await;
            while socket.write_all(b"X-A: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\n").await.is_ok() {}
        })
        .await;
        let exchange = get(&client(|_| ()), &format!("http://{address}/")).await;
        let text = "net/http: server response headers exceeded 1048576 bytes; aborted";
        assert_eq!(failed(&exchange), (1000, text.to_owned()));
    });
}

#[test]
fn a_body_beyond_the_limit_is_refused() {
    run(async {
        let address = answering_once("HTTP/1.1 200 OK\r\n\r\nabcdef").await;
        let client = client(|settings| settings.body_limit = 5);
        let exchange = get(&client, &format!("http://{address}/")).await;
        assert_eq!(failed(&exchange), (1000, "response body exceeds 5 bytes".to_owned()));
        let whole = with(&client, &format!("http://{address}/"), |it| {
            it.discard_body = true;
        })
        .await;
        assert_eq!((whole.failure, whole.body_size()), (None, 6));
    });
}

#[test]
fn resets_are_told_apart_from_ends() {
    run(async {
        let before = server(|mut socket, _| async move {
            read_head(&mut socket).await;
            reset_on_close(&socket);
        })
        .await;
        let client = client(|_| ());
        let exchange = get(&client, &format!("http://{before}/")).await;
        assert_eq!(failed(&exchange), (1220, "read: connection reset by peer".to_owned()));
        assert!(exchange.timings.waiting > 0);

        let client = Rc::new(client);
        let reader = Rc::clone(&client);
        reader.take_wire_bytes();
        let inside = server(move |mut socket, _| {
            let reader = Rc::clone(&reader);
            async move {
                let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc";
                read_head(&mut socket).await;
                socket.write_all(answer).await.unwrap();
                // The reset must not overtake the data.
                let mut read = 0;
                while read < answer.len() as u64 {
                    read += reader.take_wire_bytes().1;
                    tokio::task::yield_now().await;
                }
                reset_on_close(&socket);
            }
        })
        .await;
        let exchange = get(&client, &format!("http://{inside}/")).await;
        assert_eq!(failed(&exchange), (1220, "read: connection reset by peer".to_owned()));
        assert_eq!(exchange.body(), b"abc");
    });
}

#[test]
fn a_server_that_never_answers_times_out() {
    run(async {
        let silent = server(|mut socket, _| async move { until_closed(&mut socket).await }).await;
        let stuck = server(|mut socket, _| async move {
            read_head(&mut socket).await;
            socket.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc").await.unwrap();
            until_closed(&mut socket).await;
        })
        .await;
        let client = client(|_| ());
        for (address, body) in [(silent, &b""[..]), (stuck, b"abc"), (silent, b"")] {
            let exchange = with(&client, &format!("http://{address}/"), |request| {
                request.deadline = Some(client.network().now() + 60_000_000);
            })
            .await;
            assert_eq!(failed(&exchange), (1050, "request timeout".to_owned()));
            assert_eq!(exchange.body(), body);
            let lasted = exchange.finished_at - exchange.started_at;
            assert!((50_000_000..5_000_000_000).contains(&lasted), "{lasted}");
            assert!(exchange.timings.duration() > 40_000_000);
            assert_eq!(client.idle_count(), 0);
        }
    });
}

#[test]
fn who_cannot_be_dialed_is_named_by_code() {
    run(async {
        // A port that was free a moment ago.
        let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let client = client(|settings| {
            settings.net.block_hostnames = vec!["*.blocked.test".to_owned()];
            settings.net.blacklist_ips = vec!["10.0.0.0/8".to_owned()];
            settings.net.hosts = vec![("mapped.test".to_owned(), "10.1.1.1".to_owned())];
        });
        for (url, code, text) in [
            (format!("http://{free}/"), 1212, "dial: connection refused"),
            ("http://x.blocked.test/".to_owned(), 1111, "hostname is blocked"),
            ("http://10.1.2.3/".to_owned(), 1110, "ip is blacklisted"),
            ("http://mapped.test/".to_owned(), 1110, "ip is blacklisted"),
            ("http://nope.invalid/".to_owned(), 1101, "lookup: no such host"),
        ] {
            let exchange = get(&client, &url).await;
            assert_eq!(failed(&exchange), (code, text.to_owned()), "{url}");
            assert_eq!(exchange.timings, brunt_http::Timings::default());
            assert_eq!(exchange.bytes_sent, 0);
        }
    });
}

/// A listener whose queue is full doesn't answer: the connect timeout ends that.
#[test]
fn a_connect_that_takes_too_long_is_given_up() {
    run(async {
        let socket = tokio::net::TcpSocket::new_v4().unwrap();
        socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let listener = socket.listen(1).unwrap();
        let address: SocketAddr = listener.local_addr().unwrap();
        let mut fill = Vec::new();
        for _ in 0..16 {
            let connect = tokio::net::TcpStream::connect(address);
            match tokio::time::timeout(Duration::from_millis(50), connect).await {
                Ok(stream) => fill.push(stream),
                Err(_) => break,
            }
        }
        let client = client(|settings| settings.net.connect_timeout = Duration::from_millis(50));
        let exchange = get(&client, &format!("http://{address}/")).await;
        assert_eq!(failed(&exchange), (1211, "dial: i/o timeout".to_owned()));
    });
}

#[test]
fn names_lead_where_the_hosts_option_says() {
    run(async {
        let address = answering_once("HTTP/1.1 204 No\r\n\r\n").await;
        let client = client(|settings| {
            settings.net.hosts = vec![("*.mapped.test".to_owned(), address.to_string())];
        });
        let exchange = get(&client, "http://x.mapped.test/").await;
        assert_eq!((exchange.failure, exchange.remote), (None, Some(address)));
    });
}

#[test]
fn what_cannot_stand_in_a_head_is_not_sent() {
    run(async {
        let client = client(|_| ());
        let url = "http://127.0.0.1:1/";
        let exchange = with(&client, url, |request| request.method = "G T").await;
        assert_eq!(failed(&exchange), (1000, r#"net/http: invalid method "G T""#.to_owned()));
        let exchange = with(&client, url, |request| request.host = Some("a\r\nB: c")).await;
        let text = r#"net/http: invalid header field value for "Host""#;
        assert_eq!(failed(&exchange), (1000, text.to_owned()));
    });
}
