//! Certificates: the recorder's for clients, and those of servers.

use std::path::PathBuf;

use brunt_recorder::Upstream;

use crate::client::{self, Client};
use crate::server::{Server, TestAuthority, self_signed};
use crate::{Running, of};

async fn asked(running: &Running, at: &str) -> (u16, String) {
    let der = running.authority.der().to_vec();
    let mut client = Client::tls(running.address, at, &der, true).await;
    client.get(&format!("https://{at}/a"), at).await
}

fn believing(file: PathBuf) -> Upstream {
    Upstream { authorities: vec![file], ..Upstream::default() }
}

#[tokio::test]
async fn a_server_that_nobody_vouches_for_is_a_page_that_says_how_to_go_on() {
    let authority = TestAuthority::new();
    let server = Server::start(Some(authority.server(&["localhost"], &["h2"], false))).await;
    let running = Running::start(Upstream::default()).await;
    for _ in 0..2 {
        let (status, page) = asked(&running, &server.authority()).await;
        assert!(status == 502 && page.contains("--upstream-ca"), "{status} {page}");
    }
    let notices = running.notices();
    assert!(notices.len() == 1 && notices[0].contains("localhost"), "{notices:?}");
    let (recording, _folder) = running.end().await;
    assert!(of(&recording, "/a").failure.as_ref().unwrap().contains("not trusted"));
    for upstream in
        [believing(authority.file()), Upstream { insecure: true, ..Upstream::default() }]
    {
        let running = Running::start(upstream).await;
        let answer = asked(&running, &server.authority()).await;
        assert_eq!(answer, (200, "/a".to_owned()));
    }
}

#[tokio::test]
async fn a_wrong_name_stays_wrong_with_its_authority() {
    let authority = TestAuthority::new();
    let server = Server::start(Some(authority.server(&["other.test"], &["h2"], false))).await;
    let running = Running::start(believing(authority.file())).await;
    let (status, page) = asked(&running, &server.authority()).await;
    assert!(
        status == 502 && page.contains("another name") && page.contains("other.test"),
        "{page}"
    );
}

#[tokio::test]
async fn a_certificate_that_signs_itself_can_be_named_and_its_name_counts() {
    for (name, is_right) in [("localhost", true), ("other.test", false)] {
        let (tls, pem) = self_signed(name);
        let server = Server::start(Some(tls)).await;
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("own.pem");
        std::fs::write(&file, pem).unwrap();
        let running = Running::start(believing(file)).await;
        let (status, page) = asked(&running, &server.authority()).await;
        assert_eq!(status == 200, is_right, "{page}");
    }
}

#[tokio::test]
async fn a_server_may_want_a_certificate_from_us() {
    let authority = TestAuthority::new();
    let tls = authority.server(&["localhost"], &["h2", "http/1.1"], true);
    let server = Server::start(Some(tls)).await;
    let running = Running::start(believing(authority.file())).await;
    let (status, page) = asked(&running, &server.authority()).await;
    assert!(status == 502 && page.contains("--upstream-cert"), "{status} {page}");
    let with = Upstream { identity: Some(authority.client()), ..believing(authority.file()) };
    let running = Running::start(with).await;
    assert_eq!(asked(&running, &server.authority()).await.0, 200);
}

#[tokio::test]
async fn an_address_has_a_certificate_as_a_name_has() {
    let authority = TestAuthority::new();
    let server = Server::start(Some(authority.server(&["127.0.0.1"], &["h2"], false))).await;
    let running = Running::start(believing(authority.file())).await;
    // The client verifies the address, as the recorder does.
    assert_eq!(asked(&running, &server.address.to_string()).await.0, 200);
    let (recording, _folder) = running.end().await;
    assert_eq!(of(&recording, "/a").request.url.host_str(), Some("127.0.0.1"));
}

#[tokio::test]
async fn a_client_that_does_not_trust_us_is_told_of_once() {
    let authority = TestAuthority::new();
    let server = Server::start(Some(authority.server(&["localhost"], &["h2"], false))).await;
    let running = Running::start(Upstream::default()).await;
    let other = std::fs::read(authority.file()).unwrap();
    let other = {
        use rustls::pki_types::CertificateDer;
        use rustls::pki_types::pem::PemObject as _;
        CertificateDer::from_pem_slice(&other).unwrap()
    };
    let at = server.authority();
    for _ in 0..2 {
        let io = client::connect(running.address, &at).await;
        assert!(client::tls(io, &at, &other, true).await.is_err());
    }
    while running.notices().is_empty() {
        tokio::task::yield_now().await;
    }
    let notices = running.notices();
    assert_eq!(notices.len(), 1);
    assert!(notices[0].contains("localhost") && notices[0].contains("--pass localhost"));
}

#[tokio::test]
async fn a_host_may_be_passed_on_unread() {
    let authority = TestAuthority::new();
    let server = Server::start(Some(authority.server(&["localhost"], &["h2"], false))).await;
    let running = Running::start_with(|config| config.pass = vec!["LOCALHOST".to_owned()]).await;
    let pem = std::fs::read(authority.file()).unwrap();
    let own = {
        use rustls::pki_types::CertificateDer;
        use rustls::pki_types::pem::PemObject as _;
        CertificateDer::from_pem_slice(&pem).unwrap()
    };
    // The client meets the server's own certificate.
    let at = server.authority();
    let mut client = Client::tls(running.address, &at, &own, true).await;
    assert_eq!(client.get(&format!("https://{at}/a"), &at).await.0, 200);
    let (recording, _folder) = running.end().await;
    assert!(recording.exchanges.is_empty());
    assert_eq!(recording.left_out.len(), 1, "{:?}", recording.left_out);
}
