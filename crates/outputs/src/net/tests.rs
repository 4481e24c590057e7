use rcgen::{CertifiedKey, generate_simple_self_signed};
use rustls::pki_types::PrivateKeyDer;
use rustls::pki_types::pem::PemObject as _;
use url::Url;

use super::tls::Tls;
use super::*;
use crate::testing::Server;

/// A server with a certificate that it signed itself, and the file with that certificate.
fn secure() -> (Server, tempfile::NamedTempFile) {
    let CertifiedKey { cert, signing_key } =
        generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let key = PrivateKeyDer::from_pem_slice(signing_key.serialize_pem().as_bytes()).unwrap();
    let provider = std::sync::Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![cert.der().clone()], key)
        .unwrap();
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), cert.pem()).unwrap();
    (Server::start_tls(config), file)
}

fn send(url: &str, tls: &Tls, proxy: Option<&str>) -> Result<(), String> {
    let mut endpoint = Endpoint::at(&Url::parse(url).unwrap(), || tls.config()).unwrap();
    endpoint.proxy = proxy.map(|proxy| Proxy::at(proxy).unwrap());
    let sender = Sender::start(Sending {
        output: "test".into(),
        failure: "failed",
        endpoint,
        at_once: 1,
        waiting: 1,
        first: None,
        judge: Answer::is_success,
    })
    .unwrap();
    sender.offer(Post::new("/x?y", "body").header("A", "b").header("Host", "elsewhere"), 1);
    let sent = sender.finish();
    assert_eq!(sent.arrived + sent.lost, 1);
    sent.trouble.map_or(Ok(()), Err)
}

fn localhost(server: &Server) -> String {
    let (_, port) = server.address.rsplit_once(':').unwrap();
    format!("https://localhost:{port}")
}

#[test]
fn a_certificate_is_believed_if_its_authority_is_known_or_nobody_asks() {
    let (server, file) = secure();
    let url = localhost(&server);
    let known = Tls { authorities: file.path().to_str().map(String::from), ..Tls::default() };
    for tls in [known.clone(), Tls { insecure: true, ..Tls::default() }] {
        send(&url, &tls, None).unwrap();
        let request = server.next();
        assert_eq!((&*request.line, &*request.text()), ("POST /x?y", "body"));
    }
    let error = send(&url, &Tls::default(), None).unwrap_err();
    assert!(error.contains("TLS handshake") && error.contains("ertificate"), "{error}");
    // Of an authority that is known, but for another name.
    let other = url.replace("localhost", "127.0.0.1");
    assert!(send(&other, &known, None).unwrap_err().contains("ertificate"));
}

#[test]
fn a_proxy_is_asked_for_whole_addresses() {
    let proxy = Server::start(204);
    let with_name = proxy.url().replace("http://", "http://u:p@");
    send("http://nowhere.invalid:8086", &Tls::default(), Some(&with_name)).unwrap();
    let request = proxy.next();
    assert_eq!(request.line, "POST http://nowhere.invalid:8086/x?y");
    assert!(request.has("host: nowhere.invalid:8086"));
    assert!(request.has("proxy-authorization: Basic dTpw") && request.has("a: b"));
}

#[test]
fn a_proxy_that_makes_no_tunnel_is_quoted() {
    let proxy = Server::start(403);
    let tls = Tls { insecure: true, ..Tls::default() };
    let error = send("https://nowhere.invalid", &tls, Some(&proxy.url())).unwrap_err();
    assert_eq!(error, "the proxy answered HTTP/1.1 403 X");
    assert_eq!(proxy.next().line, "CONNECT nowhere.invalid:443");
}

#[test]
fn a_server_that_closes_after_each_answer_costs_nothing() {
    let (listener, address) = crate::testing::silent();
    let serve = std::thread::spawn(move || {
        use std::io::{Read as _, Write as _};
        for _ in 0..3 {
            let (mut stream, _) = listener.accept().unwrap();
            let mut read = Vec::new();
            while !read.ends_with(b"body") {
                let mut buffer = [0; 100];
                let size = stream.read(&mut buffer).unwrap();
                read.extend_from_slice(&buffer[..size]);
            }
            stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").unwrap();
        }
    });
    let endpoint =
        Endpoint::at(&Url::parse(&format!("http://{address}")).unwrap(), || Err(String::new()));
    let sender = Sender::start(Sending {
        output: "test".into(),
        failure: "failed",
        endpoint: endpoint.unwrap(),
        at_once: 1,
        waiting: 10,
        first: None,
        judge: Answer::is_success,
    })
    .unwrap();
    for _ in 0..3 {
        sender.offer(Post::new("/", "body"), 1);
    }
    let sent = sender.finish();
    assert_eq!((sent.arrived, sent.lost, sent.trouble), (3, 0, None));
    serve.join().unwrap();
}

/// A client of a server that is told, for each connection in turn, how many posts it answers there, and whether it reads one
/// more before it closes the connection. Beside it: a sign for each that is closed.
fn closing(
    connections: &'static [(usize, bool)],
) -> (client::Client, std::sync::mpsc::Receiver<()>) {
    use std::io::{Read as _, Write as _};
    let (listener, address) = crate::testing::silent();
    let (closed, is_closed) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        for &(answered, takes_one_more) in connections {
            let (mut stream, _) = listener.accept().unwrap();
            for number in 0..answered + usize::from(takes_one_more) {
                let mut text = Vec::new();
                while !text.ends_with(b"body") {
                    let mut buffer = [0; 100];
                    let size = stream.read(&mut buffer).unwrap();
                    assert!(size > 0, "the client keeps its connection");
                    text.extend_from_slice(&buffer[..size]);
                }
                if number < answered {
                    stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").unwrap();
                }
            }
            drop(stream);
            closed.send(()).unwrap();
        }
    });
    let url = Url::parse(&format!("http://{address}")).unwrap();
    (client::Client::new(Endpoint::at(&url, || Err(String::new())).unwrap()), is_closed)
}

#[tokio::test]
async fn a_server_that_closed_an_idle_connection_is_dialled_again() {
    let (mut client, is_closed) = closing(&[(2, false), (1, false), (1, false), (2, false)]);
    for count in [2, 1, 1, 2] {
        for _ in 0..count {
            client.send(&Post::new("/", "body")).await.unwrap();
        }
        // Seen at once or not: either way the next post goes over another connection.
        is_closed.recv().unwrap();
    }
}

#[tokio::test]
async fn a_post_that_a_kept_connection_swallows_is_sent_once_more_on_a_new_one() {
    let (mut client, _is_closed) = closing(&[(2, true), (1, true), (1, true)]);
    for _ in 0..4 {
        client.send(&Post::new("/", "body")).await.unwrap();
    }
}

#[tokio::test]
async fn a_post_that_a_new_connection_swallows_may_have_arrived_and_is_not_sent_again() {
    let (mut client, is_closed) = closing(&[(1, false), (0, true), (1, false)]);
    client.send(&Post::new("/", "body")).await.unwrap();
    is_closed.recv().unwrap();
    // hyper's task sees that the kept connection is closed.
    for _ in 0..10 {
        tokio::time::sleep(std::time::Duration::from_millis(1)).await;
    }
    client.send(&Post::new("/", "body")).await.unwrap_err();
    is_closed.recv().unwrap();
    client.send(&Post::new("/", "body")).await.unwrap();
}

/// Answers each connection with these bytes, whatever it is asked, and says how many there were.
fn raw(answer: &'static [u8]) -> (String, std::sync::Arc<std::sync::atomic::AtomicUsize>) {
    use std::io::{Read as _, Write as _};
    let (listener, address) = crate::testing::silent();
    let accepted = std::sync::Arc::<std::sync::atomic::AtomicUsize>::default();
    let count = std::sync::Arc::clone(&accepted);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            count.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            std::thread::spawn(move || {
                let mut stream = stream.unwrap();
                let mut buffer = [0; 4096];
                while let Ok(size @ 1..) = stream.read(&mut buffer) {
                    if buffer[..size].ends_with(b"body") && stream.write_all(answer).is_err() {
                        return;
                    }
                }
            });
        }
    });
    (address, accepted)
}

#[test]
fn garbage_for_an_answer_is_an_error_and_the_next_post_has_a_connection_of_its_own() {
    let (address, accepted) = raw(b"\x00\xffthis is no HTTP\r\n\r\n");
    for _ in 0..2 {
        let error = send(&format!("http://{address}"), &Tls::default(), None).unwrap_err();
        assert!(error.starts_with("invalid HTTP"), "{error}");
    }
    assert_eq!(accepted.load(std::sync::atomic::Ordering::Relaxed), 2);
}

#[test]
fn a_head_without_end_is_an_error() {
    use std::io::{Read as _, Write as _};
    let (listener, address) = crate::testing::silent();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let _ = stream.read(&mut [0; 4096]);
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n");
        while stream
            .write_all(b"a: bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb\r\n")
            .is_ok()
        {}
    });
    let error = send(&format!("http://{address}"), &Tls::default(), None).unwrap_err();
    assert!(error.contains("message head is too large"), "{error}");
}

#[test]
fn of_a_body_without_end_only_the_status_counts() {
    use std::io::{Read as _, Write as _};
    let (listener, address) = crate::testing::silent();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let _ = stream.read(&mut [0; 4096]);
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 999999999999\r\n\r\n");
        while stream.write_all(&[b'x'; 4096]).is_ok() {}
    });
    send(&format!("http://{address}"), &Tls::default(), None).unwrap();
}

#[tokio::test]
async fn a_silent_server_is_given_the_endpoints_time() {
    let (_listener, address) = crate::testing::silent();
    let url = Url::parse(&format!("http://{address}")).unwrap();
    let mut endpoint = Endpoint::at(&url, || Err(String::new())).unwrap();
    endpoint.timeout = std::time::Duration::from_millis(50);
    let error = client::Client::new(endpoint).send(&Post::new("/", "body")).await.unwrap_err();
    assert_eq!(error, "no answer within 50ms");
}

#[tokio::test]
async fn one_connection_serves_all_posts() {
    let (address, accepted) = raw(b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nso.");
    let url = Url::parse(&format!("http://{address}")).unwrap();
    let endpoint = Endpoint::at(&url, || Err(String::new())).unwrap();
    let mut client = client::Client::new(endpoint);
    for _ in 0..200 {
        client.send(&Post::new("/", "body")).await.unwrap();
    }
    assert_eq!(accepted.load(std::sync::atomic::Ordering::Relaxed), 1);
}

#[test]
fn nobody_at_the_address_is_told_with_it() {
    let address = crate::testing::nobody();
    let error = send(&format!("http://{address}"), &Tls::default(), None).unwrap_err();
    let refused =
        std::io::Error::from_raw_os_error(if cfg!(target_os = "linux") { 111 } else { 61 });
    assert_eq!(error, format!("could not connect to {address}: {refused}"));
    let error = send("http://nowhere.invalid:1", &Tls::default(), None).unwrap_err();
    assert!(
        error.starts_with("could not connect to nowhere.invalid:1: failed to lookup"),
        "{error}"
    );
}

#[test]
fn tls_goes_through_a_tunnel() {
    use std::io::{Read as _, Write as _};
    use std::net::TcpStream;
    let (server, _file) = secure();
    let (listener, address) = crate::testing::silent();
    let target = server.address.clone();
    std::thread::spawn(move || {
        let (mut near, _) = listener.accept().unwrap();
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            near.read_exact(&mut byte).unwrap();
            head.push(byte[0]);
        }
        let head = String::from_utf8(head).unwrap().to_lowercase();
        assert!(head.contains("proxy-authorization: basic dtpw\r\n"), "{head}");
        near.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n").unwrap();
        let far = TcpStream::connect(target).unwrap();
        let (mut from, mut to) = (near.try_clone().unwrap(), far.try_clone().unwrap());
        std::thread::spawn(move || std::io::copy(&mut from, &mut to));
        let _ = std::io::copy(&mut &far, &mut near);
    });
    let tls = Tls { insecure: true, ..Tls::default() };
    send(&localhost(&server), &tls, Some(&format!("http://u:p@{address}"))).unwrap();
    assert_eq!(server.next().line, "POST /x?y");
}

#[test]
fn a_proxy_whose_answer_has_no_end_is_left() {
    use std::io::{Read as _, Write as _};
    let (listener, address) = crate::testing::silent();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let _ = stream.read(&mut [0; 4096]);
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nA: ");
        while stream.write_all(&[b'x'; 1024]).is_ok() {}
    });
    let tls = Tls { insecure: true, ..Tls::default() };
    let proxy = format!("http://{address}");
    let error = send("https://nowhere.invalid", &tls, Some(&proxy)).unwrap_err();
    assert_eq!(error, "the proxy's answer has no end");
}
