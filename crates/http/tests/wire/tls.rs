//! HTTPS.

use std::cell::RefCell;
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;

use brunt_http::{Headers, Payload, Request, Settings, Target};
use brunt_net::{Proxies, TlsAuth, TlsVersion};
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use rustls::crypto::ring::default_provider;
use rustls::pki_types::PrivateKeyDer;
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig, ServerConnection, SupportedProtocolVersion, version};
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::TcpStream;

use crate::support::{
    chunks, client, failed, file_of, get, post, range, read_head, run, send, server,
};

/// An authority of our own, and certificates from it.
struct Authority {
    issuer: Issuer<'static, KeyPair>,
    pem: String,
    root: rustls::pki_types::CertificateDer<'static>,
}

impl Authority {
    fn new() -> Self {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let certificate = params.self_signed(&key).unwrap();
        let (pem, root) = (certificate.pem(), certificate.der().clone());
        Self { issuer: Issuer::new(params, key), pem, root }
    }

    fn certificate(&self, name: &str, is_expired: bool) -> (rcgen::Certificate, KeyPair) {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        if is_expired {
            params.not_after = rcgen::date_time_ymd(2021, 1, 1);
        }
        (params.signed_by(&key, &self.issuer).unwrap(), key)
    }

    fn config(&self, name: &str, change: impl FnOnce(&mut Server)) -> Arc<ServerConfig> {
        let mut server = Server::default();
        change(&mut server);
        let (certificate, key) = self.certificate(name, server.is_expired);
        let builder = ServerConfig::builder_with_provider(Arc::new(default_provider()))
            .with_protocol_versions(server.versions)
            .unwrap();
        let builder = if server.wants_certificate {
            let mut roots = RootCertStore::empty();
            roots.add(self.root.clone()).unwrap();
            let provider = Arc::new(default_provider());
            let verifier = WebPkiClientVerifier::builder_with_provider(roots.into(), provider);
            builder.with_client_cert_verifier(verifier.build().unwrap())
        } else {
            builder.with_no_client_auth()
        };
        let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
        let chain = vec![certificate.der().clone()];
        Arc::new(builder.with_single_cert_with_ocsp(chain, key, server.staple).unwrap())
    }
}

struct Server {
    versions: &'static [&'static SupportedProtocolVersion],
    wants_certificate: bool,
    is_expired: bool,
    staple: Vec<u8>,
}

impl Default for Server {
    fn default() -> Self {
        Self {
            versions: rustls::ALL_VERSIONS,
            wants_certificate: false,
            is_expired: false,
            staple: Vec::new(),
        }
    }
}

/// The notes of a TLS server: kinds of handshakes, and bodies that had bytes.
#[derive(Clone, Default)]
struct Notes(Rc<RefCell<Vec<String>>>, Rc<RefCell<Vec<Vec<u8>>>>);

/// A blocking-style TLS server on an async socket: `answers` gives the plaintext answer to each head.
async fn tls_server(
    config: Arc<ServerConfig>,
    notes: Notes,
    answer: impl Into<Vec<u8>>,
) -> SocketAddr {
    let answer: Rc<Vec<u8>> = Rc::new(answer.into());
    server(move |socket, _| {
        let mut tls = Tls { socket, session: ServerConnection::new(config.clone()).unwrap() };
        let (notes, answer) = (notes.clone(), answer.clone());
        async move {
            let mut head = Vec::new();
            while let Some(bytes) = tls.read().await {
                head.extend_from_slice(&bytes);
                while let Some(end) = head.windows(4).position(|four| four == b"\r\n\r\n") {
                    let rest = head.split_off(end + 4);
                    let text = String::from_utf8(std::mem::replace(&mut head, rest)).unwrap();
                    notes
                        .0
                        .borrow_mut()
                        .push(format!("{:?}", tls.session.handshake_kind().unwrap()));
                    let length = text.split("Content-Length: ").nth(1);
                    let length =
                        length.map_or(0, |it| it.split('\r').next().unwrap().parse().unwrap());
                    while head.len() < length {
                        let Some(bytes) = tls.read().await else {
                            return;
                        };
                        head.extend_from_slice(&bytes);
                    }
                    let body: Vec<u8> = head.drain(..length).collect();
                    notes.1.borrow_mut().extend((length > 0).then_some(body));
                    if tls.write(&answer).await.is_err() {
                        return;
                    }
                }
            }
        }
    })
    .await
}

struct Tls {
    socket: TcpStream,
    session: ServerConnection,
}

impl Tls {
    /// The next plaintext; `None` at the end or on an error.
    async fn read(&mut self) -> Option<Vec<u8>> {
        loop {
            self.flush().await.ok()?;
            let mut bytes = vec![0; 1 << 16];
            let size = self.socket.read(&mut bytes).await.ok()?;
            if size == 0 {
                return None;
            }
            let mut wire = &bytes[..size];
            let mut plain = Vec::new();
            while !wire.is_empty() {
                self.session.read_tls(&mut wire).ok()?;
                if self.session.process_new_packets().is_err() {
                    let _ = self.flush().await;
                    return None;
                }
                // Nothing to read yet is no end.
                let _ = std::io::Read::read_to_end(&mut self.session.reader(), &mut plain);
            }
            if !plain.is_empty() {
                return Some(plain);
            }
        }
    }

    async fn write(&mut self, plain: &[u8]) -> std::io::Result<()> {
        self.flush().await?;
        for piece in plain.chunks(30_000) {
            std::io::Write::write_all(&mut self.session.writer(), piece)?;
            self.flush().await?;
        }
        Ok(())
    }

    async fn flush(&mut self) -> std::io::Result<()> {
        while self.session.wants_write() {
            let mut wire = Vec::new();
            self.session.write_tls(&mut wire)?;
            self.socket.write_all(&wire).await?;
        }
        Ok(())
    }
}

static ONLY_12: &[&SupportedProtocolVersion] = &[&version::TLS12];
static ONLY_13: &[&SupportedProtocolVersion] = &[&version::TLS13];

const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

fn trusting(authority: &Authority) -> impl FnOnce(&mut Settings) {
    |settings| settings.net.tls.extra_roots = vec![authority.pem.clone()]
}

#[test]
fn both_versions_are_spoken_and_named_as_k6_does() {
    run(async {
        let authority = Authority::new();
        for (versions, name, suite) in [
            (ONLY_13, "tls1.3", "TLS_AES_128_GCM_SHA256"),
            (ONLY_12, "tls1.2", "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256"),
        ] {
            let config = authority.config("127.0.0.1", |server| server.versions = versions);
            let notes = Notes::default();
            let address = tls_server(config, notes.clone(), OK).await;
            let client = client(trusting(&authority));
            let url = format!("https://{address}/");
            for reused in [false, true, true] {
                let exchange = get(&client, &url).await;
                assert_eq!((exchange.failure, exchange.body()), (None, &b"ok"[..]));
                let tls = exchange.tls.unwrap();
                assert_eq!(
                    (tls.version, tls.cipher_suite, tls.ocsp_status()),
                    (name, suite, "unknown")
                );
                assert_eq!(exchange.reused, reused);
                assert_eq!(exchange.timings.tls_handshaking > 0, !reused);
                // Records cost more than their text; a handshake much more.
                let handshake = if reused { 0 } else { 300 };
                assert!(exchange.bytes_received > OK.len() as u64 + handshake);
                assert!(exchange.bytes_sent > 40 + handshake);
            }
            client.close_idle();
            get(&client, &url).await;
            // As k6: no session is resumed unless the settings say so.
            assert!(notes.0.borrow().iter().all(|kind| kind == "Full"));
        }
    });
}

#[test]
fn long_bodies_go_both_ways_in_records() {
    run(async {
        let authority = Authority::new();
        let body: Vec<u8> = (0..2_000_000_u32).map(|n| (n % 253) as u8).collect();
        let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len());
        let config = authority.config("127.0.0.1", |_| ());
        let address = tls_server(config, Notes::default(), [head.as_bytes(), &body].concat()).await;
        let client = client(trusting(&authority));
        for _ in 0..2 {
            let exchange = post(&client, &format!("https://{address}/"), &body).await;
            assert_eq!(exchange.failure, None);
            assert!(exchange.bytes_sent > 2_000_000 && exchange.bytes_received > 2_000_000);
            assert!(exchange.into_body() == body);
        }
        assert_eq!(client.idle_count(), 1);
    });
}

#[test]
fn memory_files_and_streams_go_out_in_records() {
    run(async {
        let authority = Authority::new();
        let notes = Notes::default();
        let config = authority.config("127.0.0.1", |_| ());
        let address = tls_server(config, notes.clone(), OK).await;
        let client = client(trusting(&authority));
        let long: Vec<u8> = (0..300_000_u32).map(|n| (n % 241) as u8).collect();
        let file = file_of(&long);
        let mut payload = Payload::from("head".to_owned());
        payload.push(long.clone());
        payload.push(range(&file, 1000, 200_000));
        payload.push(chunks(&["ab", "", "cde"], Some(5)));
        payload.push(&b"tail"[..]);
        let exchange = send(&client, &format!("https://{address}/"), &payload).await;
        assert_eq!(exchange.failure, None);
        assert!(exchange.bytes_sent > 500_000);
        let wanted = [b"head", &long[..], &long[1000..201_000], b"abcde", b"tail"].concat();
        assert!(notes.1.borrow()[..] == [wanted]);
        assert_eq!(client.idle_count(), 1);
    });
}

#[test]
fn sessions_are_resumed_when_the_settings_say_so() {
    run(async {
        let authority = Authority::new();
        let notes = Notes::default();
        let config = authority.config("127.0.0.1", |_| ());
        let address = tls_server(config, notes.clone(), OK).await;
        let client = client(|settings| {
            trusting(&authority)(settings);
            settings.net.tls.remembered_sessions = 4;
        });
        for _ in 0..2 {
            assert_eq!(get(&client, &format!("https://{address}/")).await.failure, None);
            client.close_idle();
        }
        assert_eq!(*notes.0.borrow(), ["Full", "Resumed"]);
    });
}

#[test]
fn certificates_that_prove_nothing_have_their_codes() {
    run(async {
        let authority = Authority::new();
        let good = authority.config("127.0.0.1", |_| ());
        let other = authority.config("other.test", |_| ());
        let expired = authority.config("127.0.0.1", |server| server.is_expired = true);
        let trusting = client(trusting(&authority));
        let doubting = client(|_| ());
        let careless = client(|settings| settings.net.tls.insecure_skip_verify = true);
        for (config, client, code, text) in [
            (&good, &doubting, 1310, "x509: unknown authority"),
            (&other, &trusting, 1311, "x509: certificate doesn't match hostname"),
            (
                &expired,
                &trusting,
                1000,
                "x509: certificate has expired or is not yet valid: current time",
            ),
        ] {
            let address = tls_server(config.clone(), Notes::default(), OK).await;
            let url = format!("https://{address}/");
            let exchange = get(client, &url).await;
            let (told, why) = failed(&exchange);
            assert!(told == code && why.starts_with(text), "{told} {why}");
            if code == 1311 {
                let reason = exchange.reason("127.0.0.1").unwrap();
                let no_addresses = "tls: failed to verify certificate: x509: cannot validate certificate for \
                                    127.0.0.1 because it doesn't contain any IP SANs";
                assert_eq!(reason, no_addresses);
            }
            assert!(exchange.timings.connecting > 0 && exchange.timings.blocked == 0);
            assert_eq!(get(&careless, &url).await.failure, None);
        }
    });
}

#[test]
fn who_does_not_speak_tls_is_told_apart() {
    run(async {
        let client = client(|_| ());
        let plain = server(|mut socket, _| async move {
            let _ = socket.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await;
            crate::support::until_closed(&mut socket).await;
        })
        .await;
        let exchange = get(&client, &format!("https://{plain}/")).await;
        let text = "tls: first record does not look like a TLS handshake";
        assert_eq!(failed(&exchange), (1301, text.to_owned()));

        let silent = server(|mut socket, _| async move {
            let mut hello = [0; 4096];
            let _ = socket.read(&mut hello).await;
        })
        .await;
        let exchange = get(&client, &format!("https://{silent}/")).await;
        assert_eq!(failed(&exchange), (1000, "EOF".to_owned()));

        let refusing = server(|mut socket, _| async move {
            let _ = socket.write_all(b"\x15\x03\x03\x00\x02\x02\x28").await;
            crate::support::until_closed(&mut socket).await;
        })
        .await;
        let exchange = get(&client, &format!("https://{refusing}/")).await;
        assert_eq!(failed(&exchange), (1010, "remote error: tls: handshake failure".to_owned()));
    });
}

#[test]
fn versions_without_overlap_fail() {
    run(async {
        let authority = Authority::new();
        let config = authority.config("127.0.0.1", |server| server.versions = ONLY_12);
        let address = tls_server(config, Notes::default(), OK).await;
        let client = client(|settings| settings.net.tls.min = Some(TlsVersion::Tls13));
        let exchange = get(&client, &format!("https://{address}/")).await;
        let text = "remote error: tls: protocol version not supported";
        assert_eq!(failed(&exchange), (1010, text.to_owned()));
    });
}

#[test]
fn a_client_certificate_is_shown_to_who_asks() {
    run(async {
        let authority = Authority::new();
        let config = authority.config("127.0.0.1", |server| server.wants_certificate = true);
        let address = tls_server(config, Notes::default(), OK).await;
        let url = format!("https://{address}/");
        let nobody = client(trusting(&authority));
        let text = "remote error: tls: certificate required";
        assert_eq!(failed(&get(&nobody, &url).await), (1010, text.to_owned()));
        let (certificate, key) = authority.certificate("someone.test", false);
        let auth = |domain: &str| TlsAuth {
            cert: certificate.pem(),
            key: key.serialize_pem(),
            password: None,
            domains: vec![domain.to_owned()],
        };
        let someone = client(|settings| {
            trusting(&authority)(settings);
            settings.net.tls.auth = vec![auth("127.0.0.1")];
        });
        assert_eq!(get(&someone, &url).await.failure, None);
        // `domains` is a hint only, as in k6.
        let elsewhere = client(|settings| {
            trusting(&authority)(settings);
            settings.net.tls.auth = vec![auth("other.test")];
        });
        assert_eq!(get(&elsewhere, &url).await.failure, None);
    });
}

#[test]
fn secrets_are_logged_when_asked_for() {
    run(async {
        let authority = Authority::new();
        let config = authority.config("127.0.0.1", |_| ());
        let address = tls_server(config, Notes::default(), OK).await;
        let path = std::env::temp_dir().join(format!("brunt-keylog-{}", address.port()));
        let client = client(|settings| {
            trusting(&authority)(settings);
            settings.net.tls.key_log = Some(path.clone());
        });
        get(&client, &format!("https://{address}/")).await;
        let lines = std::fs::read_to_string(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        assert!(lines.contains("CLIENT_TRAFFIC_SECRET_0 "));
        assert!(lines.lines().all(|line| line.split(' ').count() == 3));
    });
}

#[test]
fn a_tunnel_leads_through_a_proxy() {
    run(async {
        let authority = Authority::new();
        let config = authority.config("target.test", |_| ());
        let target = tls_server(config, Notes::default(), OK).await;
        let proxy = server(move |mut socket, _| async move {
            let head = read_head(&mut socket).await.unwrap();
            assert!(head.starts_with("CONNECT target.test:443 HTTP/1.1\r\n"));
            assert!(head.contains("\r\nProxy-Authorization: Basic dTpw\r\n"));
            socket.write_all(b"HTTP/1.1 200 Go\r\nContent-Length: 5\r\n\r\n").await.unwrap();
            let mut onward = TcpStream::connect(target).await.unwrap();
            let _ = copy_bidirectional(&mut socket, &mut onward).await;
        })
        .await;
        let client = client(|settings| {
            trusting(&authority)(settings);
            let url = format!("http://u:p@{proxy}");
            let variable = |name: &str| (name == "https_proxy").then(|| url.clone());
            settings.net.proxies = Proxies::from_env(variable).unwrap();
        });
        for reused in [false, true] {
            let exchange = get(&client, "https://target.test/").await;
            assert_eq!((exchange.failure, exchange.body()), (None, &b"ok"[..]));
            assert_eq!((exchange.remote, exchange.reused), (Some(proxy), reused));
        }
    });
}

/// A proxy that is spoken to over TLS: `CONNECT` leads to `target`, anything else is answered here.
async fn secure_proxy(config: Arc<ServerConfig>, target: SocketAddr) -> SocketAddr {
    let acceptor = tokio_rustls::TlsAcceptor::from(config);
    server(move |socket, _| {
        let acceptor = acceptor.clone();
        async move {
            let Ok(mut tls) = acceptor.accept(socket).await else { return };
            while let Some(head) = read_head(&mut tls).await {
                if head.starts_with("CONNECT target.test:443 HTTP/1.1\r\n") {
                    tls.write_all(b"HTTP/1.1 200 Go\r\n\r\n").await.unwrap();
                    let mut onward = TcpStream::connect(target).await.unwrap();
                    let _ = copy_bidirectional(&mut tls, &mut onward).await;
                    return;
                }
                assert!(head.starts_with("GET http://target.test/ HTTP/1.1\r\n"), "{head}");
                tls.write_all(OK.as_bytes()).await.unwrap();
            }
        }
    })
    .await
}

#[test]
fn a_proxy_may_be_spoken_to_over_tls() {
    run(async {
        let authority = Authority::new();
        let config = authority.config("target.test", |_| ());
        let notes = Notes::default();
        let target = tls_server(config, notes.clone(), OK).await;
        let proxy = secure_proxy(authority.config("127.0.0.1", |_| ()), target).await;
        let proxied = |settings: &mut Settings| {
            settings.net.proxies = Proxies::everything(&format!("https://{proxy}")).unwrap();
        };
        let client = client(|settings| {
            trusting(&authority)(settings);
            proxied(settings);
        });
        for url in ["https://target.test/", "http://target.test/"] {
            for reused in [false, true] {
                let exchange = get(&client, url).await;
                assert_eq!((exchange.failure, exchange.body()), (None, &b"ok"[..]), "{url}");
                assert_eq!((exchange.remote, exchange.reused), (Some(proxy), reused));
                assert_eq!(exchange.tls.unwrap().version, "tls1.3");
            }
        }
        let body = vec![7; 3_000_000];
        assert_eq!(post(&client, "https://target.test/", &body).await.failure, None);
        assert_eq!(notes.1.borrow()[0].len(), body.len());
        // From a file, too: what goes through TLS can't go past it.
        let file = file_of(&vec![5; 500_000]);
        let payload = Payload::from(range(&file, 0, 500_000));
        assert_eq!(send(&client, "https://target.test/", &payload).await.failure, None);
        assert_eq!(notes.1.borrow()[1].len(), 500_000);
    });
}

#[test]
fn a_proxy_that_is_not_trusted_is_told_with_its_reason() {
    run(async {
        let authority = Authority::new();
        for (is_expired, trusts, why) in [
            (false, false, "certificate signed by unknown authority"),
            (true, true, "certificate has expired or is not yet valid: current time "),
        ] {
            let config = authority.config("127.0.0.1", |server| server.is_expired = is_expired);
            let proxy = secure_proxy(config, SocketAddr::from(([127, 0, 0, 1], 1))).await;
            let client = client(|settings| {
                if trusts {
                    trusting(&authority)(settings);
                }
                settings.net.proxies = Proxies::everything(&format!("https://{proxy}")).unwrap();
            });
            let (code, text) = failed(&get(&client, "http://target.test/").await);
            let start = format!("proxyconnect tcp: tls: failed to verify certificate: x509: {why}");
            assert_eq!(code, 1200);
            assert!(text.starts_with(&start), "{text}");
        }
    });
}

#[test]
fn what_the_authority_says_comes_with_the_certificate() {
    run(async {
        let authority = Authority::new();
        // An answer of one certificate, good since 2023, unsigned.
        let staple = [
            &b"\x30\x46\x0a\x01\x00\xa0\x41\x30\x3f\x06\x09\x2b\x06\x01\x05\x05\x07\x30\x01\x01"[..],
            b"\x04\x32\x30\x30\x30\x2e\xa2\x02\x04\x00\x18\x0f20261122132500Z",
            b"\x30\x17\x30\x15\x30\x00\x80\x00\x18\x0f20231114221320Z",
        ]
        .concat();
        for versions in [ONLY_12, ONLY_13] {
            let config = authority.config("127.0.0.1", |server| {
                server.versions = versions;
                server.staple = staple.clone();
            });
            let address = tls_server(config, Notes::default(), OK).await;
            let client = client(trusting(&authority));
            for _ in 0..2 {
                let tls = get(&client, &format!("https://{address}/")).await.tls.unwrap();
                let staple = tls.staple.expect("it was stapled");
                assert_eq!((tls.ocsp_status(), staple.this_update), ("good", 1_700_000_000));
            }
        }
        let config = authority.config("127.0.0.1", |_| ());
        let address = tls_server(config, Notes::default(), OK).await;
        let exchange = get(&client(trusting(&authority)), &format!("https://{address}/")).await;
        assert_eq!(exchange.tls.unwrap().ocsp_status(), "unknown");
    });
}

#[test]
fn another_protocol_goes_through_either_kind_of_proxy() {
    run(async {
        let authority = Authority::new();
        let config = authority.config("target.test", |_| ());
        let answer =
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\nhello";
        let target = tls_server(config, Notes::default(), answer).await;
        let secure = secure_proxy(authority.config("127.0.0.1", |_| ()), target).await;
        let plain = server(move |mut socket, _| async move {
            let head = read_head(&mut socket).await.unwrap();
            assert!(head.starts_with("CONNECT target.test:443 HTTP/1.1\r\n"));
            socket.write_all(b"HTTP/1.1 200 Go\r\n\r\n").await.unwrap();
            let mut onward = TcpStream::connect(target).await.unwrap();
            let _ = copy_bidirectional(&mut socket, &mut onward).await;
        })
        .await;
        for proxy in [format!("https://{secure}"), format!("http://{plain}")] {
            let client = Rc::new(client(|settings| {
                trusting(&authority)(settings);
                settings.net.proxies = Proxies::everything(&proxy).unwrap();
            }));
            let address = Target::parse("https://target.test/").unwrap();
            let headers = Headers::new();
            let (exchange, upgraded) =
                client.upgrade(&Request::new("GET", &address, &headers)).await;
            assert_eq!((exchange.failure, exchange.tls.unwrap().version), (None, "tls1.3"));
            let mut upgraded = upgraded.expect("it was 101");
            let mut came = Vec::new();
            while came.len() < 5 {
                let read = |cx: &mut std::task::Context<'_>| {
                    upgraded.poll_receive(cx, |bytes| came.extend_from_slice(bytes))
                };
                assert_eq!(std::future::poll_fn(read).await, Ok(true));
            }
            assert_eq!(came, b"hello");
            upgraded.close();
        }
    });
}

/// A chain of 90 kB, which rustls has no room for; and tickets without end. As it is: an error, and the client goes on.
#[test]
fn a_handshake_that_is_too_large_is_an_error_and_no_panic() {
    for versions in [ONLY_12, ONLY_13] {
        for count in [1, 300] {
            run(async {
                let authority = Authority::new();
                let (certificate, key) = authority.certificate("127.0.0.1", false);
                let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
                let size = certificate.der().len();
                let chain = vec![certificate.der().clone(); count];
                let config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
                    .with_protocol_versions(versions)
                    .unwrap()
                    .with_no_client_auth()
                    .with_single_cert(chain, key)
                    .unwrap();
                let address = tls_server(Arc::new(config), Notes::default(), OK).await;
                let client = client(|settings| settings.net.tls.insecure_skip_verify = true);
                let exchange = get(&client, &format!("https://{address}")).await;
                if count == 1 {
                    assert_eq!(exchange.failure, None);
                } else {
                    assert!(size * count > 90_000, "{size}");
                    let text = "tls: handshake message exceeds maximum of 65535 bytes";
                    assert_eq!(failed(&exchange), (1300, text.to_owned()));
                }
            });
        }
    }
}

#[test]
fn tickets_without_end_are_too_many() {
    run(async {
        let authority = Authority::new();
        let (certificate, key) = authority.certificate("127.0.0.1", false);
        let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
        let mut config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
            .with_protocol_versions(ONLY_13)
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], key)
            .unwrap();
        config.send_tls13_tickets = 4000;
        let address = tls_server(Arc::new(config), Notes::default(), OK).await;
        let client = client(|settings| {
            settings.net.tls.insecure_skip_verify = true;
            // A client that remembers no session resumes none.
            settings.net.tls.remembered_sessions = 1;
        });
        let exchange = get(&client, &format!("https://{address}")).await;
        assert_eq!(failed(&exchange), (1300, "tls: too many ignored records".to_owned()));
    });
}
