//! `brunt record`: a proxy in front of the demo target, its files, and a real Chromium.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde_json::Value;

use crate::support::{DemoServer, brunt};

/// The address that a recorder prints.
fn address(line: &str) -> String {
    line.trim().strip_prefix("recorder: http://").expect("the first line").to_owned()
}

/// A request through a proxy, as curl sends it.
fn get(proxy: &str, url: &str) -> String {
    let mut stream = TcpStream::connect(proxy).expect("the recorder listens");
    let host = url.split('/').nth(2).expect("a host");
    write!(stream, "GET {url} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n")
        .expect("the recorder reads");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("a text");
    answer
}

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).expect("a file").permissions().mode() & 0o777
}

#[test]
fn a_session_ends_with_ctrl_c_and_leaves_its_files() {
    let demo = DemoServer::start();
    let mut record =
        brunt("record --proxy 127.0.0.1:0 --out out --har a.har --no-replay").stdin("Log in\n");
    let mut running = record.start();
    let proxy = address(&running.line());
    let answer = get(&proxy, &format!("{}/app/login.xhtml", demo.url));
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n") && answer.contains("Log in"), "{answer}");
    assert!(
        get(&proxy, &format!("http://{proxy}/")).starts_with("HTTP/1.1 400 "),
        "it is no server"
    );
    running.signal("INT");
    let told = running.wait();
    assert_eq!(told.code, 0, "{told:?}");
    assert!(told.stderr.contains("GET http://127.0.0.1:"), "{}", told.stderr);
    assert!(told.stderr.contains("recorded 1 request, 1 step"), "{}", told.stderr);
    let har: Value = serde_json::from_str(&record.read("a.har")).expect("JSON");
    assert_eq!(har["log"]["pages"][0]["title"], "Log in");
    assert_eq!(har["log"]["entries"].as_array().map(Vec::len), Some(1));
    let entry = &har["log"]["entries"][0];
    assert_eq!(entry["response"]["status"], 200);
    assert!(entry["response"]["content"]["text"].as_str().is_some_and(|it| it.contains("<form")));
    assert_eq!(mode(&record.path("a.har")), 0o600);
    assert!(record.read("out/script.js").contains("/app/login.xhtml"));
    let authority = record.path(".local/share/brunt/ca");
    assert_eq!((mode(&authority), mode(&authority.join("ca-key.pem"))), (0o700, 0o600));
}

#[test]
fn a_session_without_requests_is_told_and_leaves_nothing() {
    let mut record = brunt("record --proxy 127.0.0.1:0 --out out");
    let mut running = record.start();
    address(&running.line());
    running.signal("TERM");
    let told = running.wait();
    assert_eq!(told.code, 255);
    assert!(told.error().contains("no request came"), "{told:?}");
    assert!(!record.path("out").exists());
}

#[test]
fn things_that_cannot_be_are_told_before_a_session_begins() {
    let taken = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = taken.local_addr().expect("an address").port();
    for (line, said) in [
        (format!("record --proxy {port}"), "--proxy HOST:PORT"),
        ("record --browser no-such-browser".to_owned(), "no-such-browser"),
        ("record --browser firefox".to_owned(), "looked for: firefox, firefox-esr"),
        ("record --out old".to_owned(), "script.js is there already"),
        ("record --har no/such/a.har".to_owned(), "no/such/a.har"),
        ("record --ca-dir old/script.js".to_owned(), "--ca-dir DIR"),
        ("record --upstream-ca none.pem".to_owned(), "none.pem"),
        ("record --upstream-proxy socks5://me:sesame@a.test".to_owned(), "is an HTTP proxy"),
        ("record --only a/b".to_owned(), "is no host"),
    ] {
        // Port 0 comes first, so that the flag of the line wins.
        let line = line.replacen("record", "record --proxy 127.0.0.1:0", 1);
        let told = brunt(&line).file("old/script.js", "").told();
        assert_eq!(told.code, 255, "{line}: {told:?}");
        assert!(told.error().contains(said), "{line}: {}", told.stderr);
        assert!(!told.stderr.contains("sesame"), "{}", told.stderr);
    }
}

#[test]
fn the_authority_is_printed_and_exported() {
    let mut first = brunt("record ca --ca-dir ca");
    let told = first.told();
    assert_eq!(told.code, 0, "{told:?}");
    for word in ["SHA-256: ", "Firefox", "curl", "keytool", "update-ca-certificates"] {
        assert!(told.stdout.contains(word), "{word}: {}", told.stdout);
    }
    let folder = first.path("ca");
    let mut exported = brunt("record ca --export a.pem --ca-dir").word(&folder);
    assert_eq!(exported.told().code, 0);
    assert!(exported.read("a.pem").starts_with("-----BEGIN CERTIFICATE-----\n"));
    let mut exported = brunt("record ca --export a.crt --ca-dir").word(&folder);
    assert_eq!(exported.told().code, 0);
    let der = std::fs::read(exported.path("a.crt")).expect("a file");
    assert_eq!(der[..2], [0x30, 0x82]);
}

#[test]
fn a_real_chromium_trusts_the_recorder_and_is_recorded() {
    let demo = DemoServer::start_with("--tls");
    // It prints the page and ends, and with it the recording. The sandbox of Chromium wants more than a test has.
    let script = "#!/bin/sh\nexec /usr/bin/chromium --headless --no-sandbox --disable-gpu --dump-dom --timeout=20000 \"$@\" >page.html\n";
    let mut record = brunt("record --proxy 127.0.0.1:0 --out out --har a.har --no-replay")
        .words("--insecure-skip-tls-verify --browser ./browser.sh")
        .word(format!("{}/app/login.xhtml", demo.url))
        .file("browser.sh", script);
    let program = record.path("browser.sh");
    std::fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).expect("our file");
    let told = record.told();
    assert_eq!(told.code, 0, "{told:?}");
    let script = record.read("out/script.js");
    assert!(script.contains("insecureSkipTLSVerify: true"), "{script}");
    let page = record.read("page.html");
    assert!(page.contains("<title>Log in</title>"), "{page}");
    let har: Value = serde_json::from_str(&record.read("a.har")).expect("JSON");
    let entries = har["log"]["entries"].as_array().expect("entries");
    let of = |end: &str| {
        let is_it =
            |entry: &&Value| entry["request"]["url"].as_str().is_some_and(|url| url.contains(end));
        entries.iter().find(is_it).unwrap_or_else(|| panic!("{end} was not recorded"))
    };
    let document = of("/app/login.xhtml");
    assert_eq!(document["request"]["httpVersion"], "h2");
    assert_eq!(document["_resourceType"], "document");
    assert_eq!(of("/theme.css")["_resourceType"], "stylesheet");
    assert_eq!(of("/logo.png")["_resourceType"], "image");
}
