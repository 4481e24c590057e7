//! The port that answers wrongly on purpose.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use brunt_demo::{Demo, DemoConfig};

/// All that comes back, and how it ended.
fn raw(addr: SocketAddr, path: &str, limit: usize) -> (Vec<u8>, std::io::Result<()>) {
    let mut stream = TcpStream::connect(addr).unwrap();
    stream.set_read_timeout(Some(Duration::from_millis(500))).unwrap();
    write!(stream, "GET /{path} HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
    let mut got = Vec::new();
    let mut block = [0; 16384];
    while got.len() < limit {
        match stream.read(&mut block) {
            Ok(0) => return (got, Ok(())),
            Ok(size) => got.extend_from_slice(&block[..size]),
            Err(error) => return (got, Err(error)),
        }
    }
    (got, Ok(()))
}

#[test]
fn faults_are_what_their_paths_say() {
    let demo = Demo::start(DemoConfig::fast()).unwrap();
    let addr = demo.faults_addr().unwrap();
    let text = |path: &str| String::from_utf8_lossy(&raw(addr, path, 1 << 16).0).into_owned();
    assert!(text("invalid-status-line").starts_with("HTTP/1.1 abc"));
    assert!(text("truncated-chunk").ends_with("64\r\nonly so much"));
    assert!(text("short-body").contains("Content-Length: 100"));
    assert!(text("long-body").ends_with("hello, and more than that"));
    assert!(text("").contains("/reset-mid-body\n"));
    assert_eq!(text("drip").len(), text("ok").len());

    let (got, end) = raw(addr, "reset-mid-body", 1 << 16);
    assert!(got.ends_with(b"only so much"));
    assert_eq!(end.unwrap_err().kind(), ErrorKind::ConnectionReset);
    let (got, end) = raw(addr, "reset", 1 << 16);
    assert!(got.is_empty());
    assert_eq!(end.unwrap_err().kind(), ErrorKind::ConnectionReset);
    let (got, end) = raw(addr, "close", 1 << 16);
    assert!(got.is_empty() && end.is_ok());
    let (got, end) = raw(addr, "never", 1 << 16);
    assert!(got.is_empty());
    assert_eq!(end.unwrap_err().kind(), ErrorKind::WouldBlock);

    let (got, _) = raw(addr, "endless-header", 4 << 20);
    assert!(got.len() >= 4 << 20);
}

#[test]
fn without_a_faults_port_there_is_none() {
    let demo = Demo::start(DemoConfig { faults_listen: None, ..DemoConfig::fast() }).unwrap();
    assert_eq!(demo.faults_addr(), None);
}
