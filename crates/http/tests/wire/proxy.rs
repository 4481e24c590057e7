//! Through a proxy.

use crate::support::{client, failed, get, read_head, run, server};
use brunt_http::Proxies;
use tokio::io::AsyncWriteExt;

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
        let client = client(|it| it.proxies = through(&format!("http://u:p@{address}")));
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
        let client = client(|it| it.proxies = through(&address.to_string()));
        let exchange = get(&client, "https://target.test/").await;
        let text = "proxy refused the connection with status 407";
        assert_eq!(failed(&exchange), (1000, text.to_owned()));
        assert!(exchange.bytes_received > 0);
    });
}
