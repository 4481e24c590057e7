//! Wrong uses of the proxy, its own pages, and servers that are not there.

use brunt_recorder::{Authority, Config, Error, Limits, Recorder, Upstream};
use http::Request;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use crate::client::{Client, text, whole};
use crate::server::Server;
use crate::{Running, of};

#[tokio::test]
async fn the_proxy_is_no_server_and_says_so() {
    let running = Running::start(Upstream::default()).await;
    let own = running.address.to_string();
    let mut client = Client::plain(running.address).await;
    for target in [
        "/shop?x=1".to_owned(),
        format!("http://{own}/"),
        format!("http://localhost:{}/", running.address.port()),
    ] {
        let (status, page) = client.get(&target, &own).await;
        assert_eq!(status, 400, "{target}");
        assert!(page.contains("This is a proxy") && page.contains(&own), "{page}");
    }
    let request = Request::connect(&own).header("host", &own).body(whole("")).unwrap();
    assert_eq!(text(client.send(request).await).await.0, 400);
    let (recording, _folder) = running.end().await;
    assert!(recording.exchanges.is_empty());
}

#[tokio::test]
async fn the_certificate_can_be_had_through_the_proxy() {
    let running = Running::start(Upstream::default()).await;
    let mut client = Client::plain(running.address).await;
    let (status, page) = client.get("http://brunt.record/", "brunt.record").await;
    assert!(status == 200 && page.contains(&running.authority.fingerprint()), "{page}");
    let (_, pem) = client.get("http://brunt.record/ca.pem", "brunt.record").await;
    assert_eq!(pem, running.authority.pem());
    let (_, pem) = client.get("/ca.pem", &running.address.to_string()).await;
    assert_eq!(pem, running.authority.pem());
    assert_eq!(client.get("http://brunt.record/x", "brunt.record").await.0, 404);
    let der = running.authority.der().to_vec();
    let mut client = Client::tls(running.address, "brunt.record:443", &der, true).await;
    assert_eq!(client.get("https://brunt.record/", "brunt.record").await.0, 200);
    let (recording, _folder) = running.end().await;
    assert!(recording.exchanges.is_empty());
}

#[tokio::test]
async fn a_server_that_is_not_there_is_a_page_and_a_failure() {
    let port = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap().port();
    let running = Running::start(Upstream::default()).await;
    let at = format!("127.0.0.1:{port}");
    let (status, page) =
        Client::plain(running.address).await.get(&format!("http://{at}/a"), &at).await;
    assert!(status == 502 && page.contains("cannot be reached"), "{status} {page}");
    let der = running.authority.der().to_vec();
    let mut client = Client::tls(running.address, &at, &der, true).await;
    assert_eq!(client.get(&format!("https://{at}/b"), &at).await.0, 502);
    let (recording, _folder) = running.end().await;
    for path in ["/a", "/b"] {
        let exchange = of(&recording, path);
        assert!(exchange.response.is_none());
        assert!(exchange.failure.as_ref().unwrap().contains(&at), "{:?}", exchange.failure);
    }
}

#[tokio::test]
async fn a_get_that_meets_the_end_of_a_connection_is_sent_again() {
    // A server that answers once a connection, and closes it when the second request comes.
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let at = listener.local_addr().unwrap().to_string();
    let connections = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&connections);
    tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            count.fetch_add(1, Ordering::Relaxed);
            tokio::spawn(async move {
                let mut buffer = [0; 4096];
                let _ = stream.read(&mut buffer).await;
                let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").await;
                let _ = stream.read(&mut buffer).await;
            });
        }
    });
    let running = Running::start(Upstream::default()).await;
    let mut client = Client::plain(running.address).await;
    for _ in 0..3 {
        let answer = client.get(&format!("http://{at}/"), &at).await;
        assert_eq!(answer, (200, "ok".to_owned()));
    }
    assert_eq!(connections.load(Ordering::Relaxed), 3);
    // A POST may have been heard: it is not sent twice.
    let request =
        Request::post(format!("http://{at}/")).header("host", &at).body(whole("x")).unwrap();
    let (status, page) = text(client.send(request).await).await;
    assert!(status == 502 && page.contains("broke the connection off"), "{status} {page}");
    running.end().await;
}

#[tokio::test]
async fn a_client_that_leaves_is_recorded_as_such() {
    let server = Server::plain().await;
    let running = Running::start(Upstream::default()).await;
    let at = server.authority();
    let mut client = Client::plain(running.address).await;
    let request = Request::get(format!("http://{at}/never")).header("host", &at);
    let Client::Http1(sender) = &mut client else { unreachable!() };
    let waiting = sender.send_request(request.body(whole("")).unwrap());
    let asked = async {
        while server.connections.load(Ordering::Relaxed) == 0 {
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        _ = waiting => panic!("it never answers"),
        () = asked => {}
    }
    drop(client);
    while running.lines.lock().unwrap().is_empty() {
        tokio::task::yield_now().await;
    }
    let (recording, _folder) = running.end().await;
    let failure = of(&recording, "/never").failure.clone().unwrap();
    assert!(failure.contains("the client went away"), "{failure}");
}

#[tokio::test]
async fn a_port_in_use_is_named() {
    let taken = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let config = Config {
        address: taken.local_addr().unwrap(),
        authority: Arc::new(Authority::open(folder.path()).unwrap()),
        upstream: Upstream::default(),
        pass: Vec::new(),
        folder: folder.path().to_owned(),
        limits: Limits::default(),
    };
    let Err(error) = Recorder::bind(config).await else { panic!("the port is taken") };
    assert!(matches!(&error, Error::Bind { .. }));
    assert!(error.to_string().contains(&taken.local_addr().unwrap().to_string()), "{error}");
}
