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
    sender.offer(Post::new("/x?y", "body").header("A", "b"), 1);
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
