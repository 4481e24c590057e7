//! Through a proxy.

use crate::support::{client, failed, get, read_head, run, server, until_closed};
use brunt_net::Proxies;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

fn through(proxy: &str) -> Proxies {
    Proxies::from_env(|name| (name != "NO_PROXY" && name != "no_proxy").then(|| proxy.to_owned()))
        .unwrap()
}

#[test]
fn plain_requests_are_handed_over_whole() {
    run(async {
        let address = server(|mut socket, _| async move {
            while let Some(head) = read_head(&mut socket).await {
                let answer =
                    format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{head}", head.len());
                socket.write_all(answer.as_bytes()).await.unwrap();
            }
        })
        .await;
        let client = client(|it| it.net.proxies = through(&format!("http://u:p@{address}")));
        for reused in [false, true] {
            let exchange = get(&client, "http://target.test:81/x?y").await;
            let head = String::from_utf8(exchange.body().to_vec()).unwrap();
            assert!(
                head.starts_with(
                    "GET http://target.test:81/x?y HTTP/1.1\r\nHost: target.test:81\r\n"
                )
            );
            assert!(head.contains("Proxy-Authorization: Basic dTpw\r\n"));
            assert_eq!((exchange.remote, exchange.reused), (Some(address), reused));
        }
    });
}

#[test]
fn a_refused_tunnel_is_a_failure_of_its_own() {
    run(async {
        let address = server(|mut socket, _| async move {
            let head = read_head(&mut socket).await.unwrap();
            assert_eq!(head, "CONNECT target.test:443 HTTP/1.1\r\nHost: target.test:443\r\n\r\n");
            socket.write_all(b"HTTP/1.1 407 No\r\nContent-Length: 0\r\n\r\n").await.unwrap();
        })
        .await;
        let client = client(|it| it.net.proxies = through(&address.to_string()));
        let exchange = get(&client, "https://target.test/").await;
        let text = "proxy refused the connection with status 407";
        assert_eq!(failed(&exchange), (1000, text.to_owned()));
        assert!(exchange.bytes_received > 0);
    });
}

#[test]
fn a_proxy_gets_headers_of_its_own_with_connect() {
    run(async {
        let address = server(|mut socket, _| async move {
            let head = read_head(&mut socket).await.unwrap();
            let right = head.contains("\r\nX-Mixed: a b\r\n\r\n");
            let status = if right { 403 } else { 500 };
            let answer = format!("HTTP/1.1 {status} No\r\nContent-Length: 0\r\n\r\n");
            socket.write_all(answer.as_bytes()).await.unwrap();
        })
        .await;
        let client = client(|it| {
            it.net.proxies = through(&address.to_string());
            it.proxy_headers.append("X-Mixed", "a b").unwrap();
        });
        let exchange = get(&client, "https://target.test/").await;
        assert_eq!(failed(&exchange).1, "proxy refused the connection with status 403");
    });
}

/// A SOCKS5 proxy that wants `u` and `p`, says `reply` to what it is asked for (returned), and if that is
/// yes answers as the target itself.
async fn socks(socket: &mut TcpStream, reply: u8) -> Vec<u8> {
    let mut greeting = [0; 4];
    socket.read_exact(&mut greeting).await.unwrap();
    assert_eq!(greeting, [5, 2, 0, 2]);
    socket.write_all(&[5, 2]).await.unwrap();
    let mut login = [0; 5];
    socket.read_exact(&mut login).await.unwrap();
    assert_eq!(login, [1, 1, b'u', 1, b'p']);
    socket.write_all(&[1, 0]).await.unwrap();
    let mut asked = vec![0; 256];
    let size = socket.read(&mut asked).await.unwrap();
    asked.truncate(size);
    let tail: &[u8] =
        if reply == 0 { b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok" } else { b"" };
    // The first bytes of what follows may come in the same packet.
    let answer = [&[5, reply, 0, 3, 4][..], b"name", &[0, 80], tail].concat();
    socket.write_all(&answer).await.unwrap();
    asked
}

#[test]
fn socks_is_asked_for_names_and_addresses() {
    for (url, asked) in [
        ("http://target.test:81/", &b"\x05\x01\0\x03\x0btarget.test\0\x51"[..]),
        ("http://10.1.2.3/", &[5, 1, 0, 1, 10, 1, 2, 3, 0, 80]),
        (
            "http://[2001:db8::1]/",
            &[5, 1, 0, 4, 0x20, 1, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 80],
        ),
    ] {
        run(async move {
            let address = server(move |mut socket, _| async move {
                assert_eq!(socks(&mut socket, 0).await, asked);
                let head = read_head(&mut socket).await.unwrap();
                assert!(head.starts_with("GET / HTTP/1.1\r\nHost: ") && !head.contains("Proxy"));
            })
            .await;
            let client = client(|it| it.net.proxies = through(&format!("socks5://u:p@{address}")));
            let exchange = get(&client, url).await;
            assert_eq!((exchange.failure, exchange.body()), (None, &b"ok"[..]));
        });
    }
}

#[test]
fn what_socks_refuses_is_told() {
    run(async {
        let address = server(|mut socket, _| async move {
            socks(&mut socket, 5).await;
        })
        .await;
        let client = client(|it| it.net.proxies = through(&format!("socks5h://u:p@{address}")));
        let exchange = get(&client, "http://target.test/").await;
        assert_eq!(failed(&exchange), (1200, "socks connect: connection refused".to_owned()));
    });
    run(async {
        let address = server(|mut socket, _| async move {
            socket.write_all(b"HTTP/1.1 400 No\r\n\r\n").await.unwrap();
            until_closed(&mut socket).await;
        })
        .await;
        let client = client(|it| it.net.proxies = through(&format!("socks5://{address}")));
        let exchange = get(&client, "http://target.test/").await;
        let text = "socks connect: the proxy does not speak SOCKS5";
        assert_eq!(failed(&exchange), (1200, text.to_owned()));
    });
}

#[test]
fn a_proxy_that_is_not_there_has_its_own_code() {
    run(async {
        let client = client(|it| it.net.proxies = through("127.0.0.1:1"));
        let exchange = get(&client, "http://target.test/").await;
        assert_eq!(
            failed(&exchange),
            (
                1200,
                "proxyconnect tcp: dial tcp 127.0.0.1:1: connect: connection refused".to_owned()
            )
        );
    });
}
