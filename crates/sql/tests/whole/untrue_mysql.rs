//! The client of MySQL against servers that lie, that speak something else, or that are of a kind that is not at hand.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;

use brunt_sql::{Driver, Failure, Trouble};
use proptest::prelude::*;
use rsa::pkcs8::EncodePublicKey as _;
use rsa::{Oaep, RsaPrivateKey};
use sha2::{Digest as _, Sha256};

use crate::support::{on_a_core, open, query};

const NONCE: &[u8; 20] = b"abcdefghijklmnopqrst";

/// `OK`, without anything to tell.
const OK: &[u8] = b"\0\0\0\x02\0\0\0";

/// A server that serves one client in its own thread.
fn server(serve: impl FnOnce(&mut TcpStream) + Send + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        serve(&mut stream);
    });
    format!("u:geheim@tcp(127.0.0.1:{port})/?timeout=20s")
}

/// A server that says this and closes.
fn says(bytes: Vec<u8>) -> String {
    server(move |stream| {
        let _ = stream.write_all(&bytes);
        let _ = stream.shutdown(std::net::Shutdown::Write);
        let _ = stream.read_to_end(&mut Vec::new());
    })
}

fn packet(sequence: u8, payload: &[u8]) -> Vec<u8> {
    let mut all = (payload.len() as u32).to_le_bytes()[..3].to_vec();
    all.push(sequence);
    all.extend_from_slice(payload);
    all
}

/// The greeting of a server of this version, without TLS.
fn greeting(version: &str, plugin: &str) -> Vec<u8> {
    let mut all = vec![10];
    all.extend_from_slice(version.as_bytes());
    all.extend_from_slice(b"\0\x07\0\0\0");
    all.extend_from_slice(&NONCE[..8]);
    all.extend_from_slice(b"\0\xff\xf7\x2d\x02\0\xff\x81\x15\0\0\0\0\0\0\0\0\0\0");
    all.extend_from_slice(&NONCE[8..]);
    all.push(0);
    all.extend_from_slice(plugin.as_bytes());
    all.push(0);
    packet(0, &all)
}

/// The next packet of the client: its number and payload.
fn read(stream: &mut TcpStream) -> (u8, Vec<u8>) {
    let mut head = [0; 4];
    stream.read_exact(&mut head).unwrap();
    let mut payload = vec![0; u32::from_le_bytes([head[0], head[1], head[2], 0]) as usize];
    stream.read_exact(&mut payload).unwrap();
    (head[3], payload)
}

fn failure(dsn: &str) -> Failure {
    on_a_core(open(Driver::MySql, dsn)).unwrap_err()
}

#[test]
fn a_server_that_speaks_something_else_is_told_apart() {
    for (bytes, trouble, text) in [
        (b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec(), Trouble::Connect, "driver: bad connection"),
        (Vec::new(), Trouble::Connect, "driver: bad connection"),
        (packet(0, b"SSH-2.0\0\0\0\0\0\0\0\0\0"), Trouble::Protocol, "malformed packet"),
        (packet(0, b""), Trouble::Protocol, "malformed packet"),
        (packet(0, b"\x0a8.0"), Trouble::Protocol, "malformed packet"),
        (
            packet(0, b"\x09old\0"),
            Trouble::Protocol,
            "unsupported protocol version 9. Version 10 or higher is required",
        ),
        (
            packet(3, b"\x0a"),
            Trouble::Protocol,
            "commands out of sync. Did you run multiple statements at once?",
        ),
        (
            packet(0, b"\xff\x10\x04Too many connections"),
            Trouble::Connect,
            "Error 1040: Too many connections",
        ),
        (
            greeting("8.0.36", "caching_sha2_password")[..40].to_vec(),
            Trouble::Connect,
            "driver: bad connection",
        ),
    ] {
        let failure = failure(&says(bytes.clone()));
        assert_eq!((failure.trouble(), failure.text()), (trouble, text), "{bytes:?}");
    }
}

#[test]
fn tls_that_a_server_does_not_have_is_not_done_without() {
    let dsn = format!("{}&tls=skip-verify", says(greeting("8.0.36", "")));
    assert_eq!(failure(&dsn).text(), "TLS requested but server does not support TLS");
}

#[test]
fn a_server_that_says_nothing_is_given_up_in_time() {
    let dsn = server(|stream| drop(stream.read_to_end(&mut Vec::new())));
    let failure = failure(&dsn.replace("timeout=20s", "timeout=50ms"));
    assert_eq!(failure.trouble(), Trouble::Connect);
    assert!(failure.text().ends_with(": i/o timeout"), "{failure}");
}

fn scramble() -> Vec<u8> {
    let once = Sha256::digest(b"geheim");
    let mixed = Sha256::new().chain_update(Sha256::digest(once)).chain_update(NONCE).finalize();
    once.iter().zip(mixed).map(|(a, b)| a ^ b).collect()
}

#[test]
fn mysql_8_lets_in_whom_it_remembers() {
    let dsn = server(|stream| {
        stream.write_all(&greeting("8.0.36", "caching_sha2_password")).unwrap();
        let (sequence, answer) = read(stream);
        assert_eq!(sequence, 1);
        assert!(answer.windows(32).any(|part| part == scramble()));
        stream.write_all(&[packet(2, b"\x01\x03"), packet(3, OK)].concat()).unwrap();
        assert_eq!(read(stream).1, b"\x03SELECT 1");
        let mut answer = packet(1, b"\x01");
        answer.extend(packet(2, b"\x03def\0\0\0\x011\0\x0c\x3f\0\x01\0\0\0\x08\x81\0\0\0\0"));
        answer.extend(packet(3, b"\x011"));
        answer.extend(packet(4, b"\xfe\0\0\x02\0\0\0"));
        stream.write_all(&answer).unwrap();
    });
    on_a_core(async {
        let mut it = open(Driver::MySql, &dsn).await.unwrap();
        assert_eq!(query(&mut it, "SELECT 1", &[]).await.unwrap(), [["1"]]);
    });
}

#[test]
fn a_server_without_the_newer_end_of_rows_is_understood() {
    let dsn = server(|stream| {
        let mut hello = greeting("5.5.62", "mysql_native_password");
        // The flag of the newer end, in the upper half.
        let at = hello.windows(4).position(|part| part == b"\xff\x81\x15\0").unwrap();
        hello[at + 1] = 0x80;
        stream.write_all(&hello).unwrap();
        read(stream);
        stream.write_all(&packet(2, OK)).unwrap();
        for sql in [&b"\x03SELECT 1"[..], b"\x16SELECT ?"] {
            assert_eq!(read(stream).1, sql);
            let mut answer = Vec::new();
            let definition = b"\x03def\0\0\0\x011\0\x0c\x3f\0\x01\0\0\0\x08\x81\0\0\0\0";
            let end = b"\xfe\0\0\x02\0";
            let first = 1;
            let is_prepared = sql[0] == 0x16;
            if is_prepared {
                answer.extend(packet(1, b"\0\x09\0\0\0\x01\0\x01\0\0\0\0"));
                for sequence in [2, 4] {
                    answer.extend(packet(sequence, definition));
                    answer.extend(packet(sequence + 1, end));
                }
                stream.write_all(&answer).unwrap();
                assert_eq!(read(stream).1[..5], *b"\x17\x09\0\0\0");
                answer.clear();
            }
            answer.extend(packet(first, b"\x01"));
            answer.extend(packet(first + 1, definition));
            answer.extend(packet(first + 2, end));
            let row: &[u8] = if is_prepared { b"\0\0\x02\0\0\0\0\0\0\0" } else { b"\x011" };
            answer.extend(packet(first + 3, row));
            answer.extend(packet(first + 4, end));
            stream.write_all(&answer).unwrap();
        }
        // Only now is the statement let go: it had to run first.
        assert_eq!(read(stream).1, b"\x19\x09\0\0\0");
        assert_eq!(read(stream).1, b"\x03SELECT 3");
        stream.write_all(&packet(1, OK)).unwrap();
    });
    on_a_core(async {
        let mut it = open(Driver::MySql, &dsn).await.unwrap();
        assert_eq!(query(&mut it, "SELECT 1", &[]).await.unwrap(), [["1"]]);
        let cells = [brunt_sql::Cell::Int(5)];
        assert_eq!(query(&mut it, "SELECT ?", &cells).await.unwrap(), [["2"]]);
        assert!(query(&mut it, "SELECT 3", &[]).await.unwrap().is_empty());
    });
}

#[test]
fn mysql_8_gets_the_password_encrypted_if_it_does_not_remember() {
    for is_switched in [false, true] {
        let dsn = server(move |stream| {
            let key = RsaPrivateKey::new(&mut rsa::rand_core::OsRng, 1024).unwrap();
            let pem = key.to_public_key().to_public_key_pem(rsa::pkcs8::LineEnding::LF).unwrap();
            let first = if is_switched { "mysql_native_password" } else { "caching_sha2_password" };
            stream.write_all(&greeting("8.0.36", first)).unwrap();
            read(stream);
            let mut sequence = 2;
            if is_switched {
                let switch = [b"\xfecaching_sha2_password\0", &NONCE[..], b"\0"].concat();
                stream.write_all(&packet(2, &switch)).unwrap();
                assert_eq!(read(stream), (3, scramble()));
                sequence = 4;
            }
            stream.write_all(&packet(sequence, b"\x01\x04")).unwrap();
            assert_eq!(read(stream), (sequence + 1, vec![2]));
            let key_packet = [b"\x01", pem.as_bytes()].concat();
            stream.write_all(&packet(sequence + 2, &key_packet)).unwrap();
            let (_, secret) = read(stream);
            let mut password = key.decrypt(Oaep::new::<sha1::Sha1>(), &secret).unwrap();
            password.iter_mut().zip(NONCE).for_each(|(byte, mixed)| *byte ^= mixed);
            assert_eq!(password, b"geheim\0");
            stream.write_all(&packet(sequence + 4, OK)).unwrap();
            let _ = stream.read_to_end(&mut Vec::new());
        });
        on_a_core(async { open(Driver::MySql, &dsn).await.unwrap().close() });
    }
}

/// A server that lets everybody in and answers the first statement with this.
fn answers(bytes: Vec<u8>) -> String {
    server(move |stream| {
        stream.write_all(&greeting("8.0.36", "mysql_native_password")).unwrap();
        read(stream);
        stream.write_all(&packet(2, OK)).unwrap();
        read(stream);
        let _ = stream.write_all(&bytes);
        let _ = stream.shutdown(std::net::Shutdown::Write);
        let _ = stream.read_to_end(&mut Vec::new());
    })
}

fn asked(bytes: Vec<u8>) -> Failure {
    let dsn = answers(bytes);
    on_a_core(async {
        let mut it = open(Driver::MySql, &dsn).await.unwrap();
        let failure = query(&mut it, "SELECT 1", &[]).await.unwrap_err();
        assert_eq!(it.is_idle(), !failure.is_fatal());
        failure
    })
}

#[test]
fn an_answer_that_makes_no_sense_ends_the_connection() {
    for (bytes, trouble, text) in [
        (Vec::new(), Trouble::Broken, "invalid connection"),
        (packet(1, b""), Trouble::Protocol, "malformed packet"),
        (packet(1, b"\xfe\xff\xff\xff\xff\xff\xff\xff\xff"), Trouble::Protocol, "malformed packet"),
        (packet(1, b"\x01"), Trouble::Broken, "invalid connection"),
        ([packet(1, b"\x01"), packet(2, b"x")].concat(), Trouble::Protocol, "malformed packet"),
        (
            packet(0, b"\x01"),
            Trouble::Protocol,
            "commands out of sync. You can't run this command now",
        ),
        (b"\xff\xff\xff\x01ab".to_vec(), Trouble::Broken, "invalid connection"),
        (packet(1, b"\xff\x15\x04#28000No"), Trouble::Server, "Error 1045 (28000): No"),
    ] {
        let failure = asked(bytes.clone());
        assert_eq!((failure.trouble(), failure.text()), (trouble, text), "{bytes:?}");
    }
}

#[test]
fn a_file_that_a_server_asks_for_unasked_is_not_sent() {
    let dsn = server(|stream| {
        stream.write_all(&greeting("8.0.36", "mysql_native_password")).unwrap();
        read(stream);
        stream.write_all(&packet(2, OK)).unwrap();
        read(stream);
        stream.write_all(&packet(1, b"\xfb/etc/passwd")).unwrap();
        assert_eq!(read(stream), (2, Vec::new()), "an empty file");
        stream.write_all(&packet(3, OK)).unwrap();
        let _ = stream.read_to_end(&mut Vec::new());
    });
    on_a_core(async {
        let mut it = open(Driver::MySql, &dsn).await.unwrap();
        let failure = query(&mut it, "SELECT 1", &[]).await.unwrap_err();
        assert_eq!(failure.text(), "local file '/etc/passwd' is not registered");
    });
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn no_answer_makes_it_panic_or_wait(payloads in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 0..6)) {
        let mut bytes = Vec::new();
        for (index, payload) in payloads.iter().enumerate() {
            bytes.extend(packet(index as u8 + 1, payload));
        }
        let dsn = answers(bytes);
        on_a_core(async {
            let mut it = open(Driver::MySql, &dsn).await.unwrap();
            let _ = it.start(&brunt_sql::Ask { sql: "SELECT 1", args: &brunt_sql::Args::new(), is_prepared: false }).await;
            let mut chunk = brunt_sql::Chunk::default();
            while it.next(&mut chunk).await.unwrap_or(false) {
                for row in 0..chunk.len() {
                    let _ = chunk.read(row, &it.columns(), |_, _| Ok::<(), ()>(()));
                }
            }
        });
    }
}
