//! A further proxy on the way to servers.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use brunt_recorder::Upstream;
use bytes::Bytes;
use http::{Method, Request, Response};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use url::Url;

use crate::Running;
use crate::client::Client;
use crate::server::{Server, TestAuthority};

/// `me:sesame`
const CREDENTIALS: &str = "Basic bWU6c2VzYW1l";

/// A proxy that wants credentials, tunnels, answers other requests itself, and notes them all.
async fn further_proxy() -> (SocketAddr, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let notes = Arc::clone(&seen);
    tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            let notes = Arc::clone(&notes);
            let service = service_fn(move |request| {
                notes.lock().unwrap().push(format!("{} {}", request.method(), request.uri()));
                async move { Ok::<_, Infallible>(answer(request)) }
            });
            let connection = http1::Builder::new().serve_connection(TokioIo::new(stream), service);
            tokio::spawn(connection.with_upgrades());
        }
    });
    (address, seen)
}

fn answer(mut request: Request<Incoming>) -> Response<Full<Bytes>> {
    if request.headers().get("proxy-authorization").is_none_or(|it| it != CREDENTIALS) {
        let refused = Response::builder().status(407).header("proxy-authenticate", "Basic");
        return refused.body(Full::default()).unwrap();
    }
    if request.method() != Method::CONNECT {
        return Response::new(Full::from("by the further proxy"));
    }
    let to = request.uri().authority().unwrap().to_string();
    let upgrade = hyper::upgrade::on(&mut request);
    tokio::spawn(async move {
        let mut client = TokioIo::new(upgrade.await.unwrap());
        let mut server = TcpStream::connect(to).await.unwrap();
        let _ = tokio::io::copy_bidirectional(&mut client, &mut server).await;
    });
    Response::new(Full::default())
}

fn through(proxy: SocketAddr, user: &str, authority: &TestAuthority) -> Upstream {
    Upstream {
        proxy: Some(Url::parse(&format!("http://{user}@{proxy}")).unwrap()),
        authorities: vec![authority.file()],
        ..Upstream::default()
    }
}

#[tokio::test]
async fn servers_are_reached_through_a_further_proxy() {
    let authority = TestAuthority::new();
    let server = Server::start(Some(authority.server(&["localhost"], &["h2"], false))).await;
    let (proxy, seen) = further_proxy().await;
    let running = Running::start(through(proxy, "me:sesame", &authority)).await;
    let at = server.authority();
    let der = running.authority.der().to_vec();
    let mut client = Client::tls(running.address, &at, &der, true).await;
    let answer = client.get(&format!("https://{at}/a"), &at).await;
    assert_eq!(answer, (200, "/a".to_owned()));
    let mut client = Client::plain(running.address).await;
    let answer = client.get("http://shop.test/b?c", "shop.test").await;
    assert_eq!(answer, (200, "by the further proxy".to_owned()));
    // Plain HTTP in a tunnel: a WebSocket's way.
    let plain = Server::plain().await;
    let mut client = Client::tunnel(running.address, &plain.authority()).await;
    assert_eq!(client.get("/d", &plain.authority()).await, (200, "/d".to_owned()));
    let seen = seen.lock().unwrap().clone();
    let expected = [
        format!("CONNECT {at}"),
        "GET http://shop.test/b?c".to_owned(),
        format!("CONNECT {}", plain.authority()),
    ];
    assert_eq!(seen, expected);
    let (recording, _folder) = running.end().await;
    let text = format!("{recording:?}");
    assert!(!text.contains("sesame") && !text.contains("bWU6c2VzYW1l"));
}

#[tokio::test]
async fn wrong_credentials_are_told_without_them() {
    let authority = TestAuthority::new();
    let (proxy, _) = further_proxy().await;
    let running = Running::start(through(proxy, "me:wrong", &authority)).await;
    let der = running.authority.der().to_vec();
    let mut client = Client::tls(running.address, "shop.test:443", &der, true).await;
    let (status, page) = client.get("https://shop.test/a", "shop.test").await;
    assert!(status == 502 && page.contains("credentials") && !page.contains("wrong"), "{page}");
    assert!(running.notices()[0].contains(&proxy.to_string()), "{:?}", running.notices());
    // A plain request gets the proxy's 407, which is not for the browser: it knows nothing of that proxy.
    let mut client = Client::plain(running.address).await;
    let (status, page) = client.get("http://shop.test/b", "shop.test").await;
    assert!(status == 502 && page.contains("credentials"), "{status} {page}");
}
