//! The client of PostgreSQL against servers that lie, or speak something else.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::thread;

use brunt_sql::{Driver, Failure, Trouble};
use proptest::prelude::*;

use crate::support::{on_a_core, open, query};

/// A server that serves one client in its own thread.
fn server(serve: impl FnOnce(&mut TcpStream) + Send + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        serve(&mut stream);
        let _ = stream.shutdown(Shutdown::Write);
        let _ = stream.read_to_end(&mut Vec::new());
    });
    format!("host=127.0.0.1 port={port} user=u password=geheim connect_timeout=20")
}

/// A message.
fn message(tag: u8, body: &[u8]) -> Vec<u8> {
    let mut all = vec![tag];
    all.extend((body.len() as u32 + 4).to_be_bytes());
    all.extend_from_slice(body);
    all
}

/// Reads a message that has no tag: the wish for TLS, the startup.
fn untagged(stream: &mut TcpStream) -> Vec<u8> {
    let mut head = [0; 4];
    stream.read_exact(&mut head).unwrap();
    let mut body = vec![0; u32::from_be_bytes(head) as usize - 4];
    stream.read_exact(&mut body).unwrap();
    body
}

fn tagged(stream: &mut TcpStream) -> (u8, Vec<u8>) {
    let mut tag = [0];
    stream.read_exact(&mut tag).unwrap();
    (tag[0], untagged(stream))
}

/// The answer to a login: in, and ready.
fn welcome() -> Vec<u8> {
    [message(b'R', &[0; 4]), message(b'K', &[0; 8]), message(b'Z', b"I")].concat()
}

/// Whatever it says first, without TLS, ends the login with this.
fn refused(bytes: Vec<u8>) -> Failure {
    let dsn = server(move |stream| {
        untagged(stream);
        let _ = stream.write_all(&bytes);
    });
    on_a_core(open(Driver::Postgres, &format!("{dsn} sslmode=disable"))).unwrap_err()
}

/// It lets everybody in, and answers the first statement with this.
fn answered(bytes: Vec<u8>) -> Result<Vec<Vec<String>>, Failure> {
    let dsn = server(move |stream| {
        untagged(stream);
        stream.write_all(&welcome()).unwrap();
        tagged(stream);
        let _ = stream.write_all(&bytes);
    });
    on_a_core(async {
        let mut it = open(Driver::Postgres, &format!("{dsn} sslmode=disable")).await.unwrap();
        query(&mut it, "SELECT 1", &[]).await
    })
}

#[test]
fn a_server_that_speaks_something_else_is_told_apart() {
    for (bytes, trouble) in [
        (b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec(), Trouble::Protocol),
        (b"\x4a\0\0\0\x0a8.0.36\0".to_vec(), Trouble::Protocol),
        (Vec::new(), Trouble::Connect),
        (message(b'R', &[0, 0, 0, 10]), Trouble::Connect),
        (message(b'R', &[0, 0, 0, 7]), Trouble::Connect),
        (message(b'R', &[0]), Trouble::Protocol),
        (message(b'R', &[0, 0, 0, 11, b'r']), Trouble::Protocol),
        (vec![b'R', 0, 0, 0, 3], Trouble::Protocol),
        (vec![b'R', 0x3f, 0xff, 0xff, 0xff], Trouble::Protocol),
        (message(b'S', b"a\0b\0").repeat(1000), Trouble::Protocol),
        (message(b'E', b"SFATAL\0C53300\0Msorry, too many clients already\0\0"), Trouble::Connect),
    ] {
        let failure = refused(bytes.clone());
        let shown = String::from_utf8_lossy(&bytes[..bytes.len().min(40)]).into_owned();
        assert_eq!(failure.trouble(), trouble, "{shown:?}: {failure}");
        assert!(failure.is_fatal() && !failure.text().contains("geheim"));
    }
    let last = message(b'E', b"SFATAL\0C53300\0Msorry, too many clients already\0\0");
    let failure = refused(last);
    assert_eq!(failure.text(), "pq: sorry, too many clients already (53300)");
    assert_eq!(failure.code(), "53300");
}

#[test]
fn a_server_without_tls_is_refused_unless_it_need_not_have_it() {
    for answer in [b'N', b'H'] {
        let dsn = server(move |stream| {
            untagged(stream);
            stream.write_all(&[answer]).unwrap();
        });
        let failure = on_a_core(open(Driver::Postgres, &dsn)).unwrap_err();
        if answer == b'N' {
            assert_eq!(failure.text(), "pq: SSL is not enabled on the server");
        } else {
            assert_eq!(failure.trouble(), Trouble::Protocol);
        }
    }
    // Words behind the answer come from somebody on the way.
    let dsn = server(|stream| {
        untagged(stream);
        stream.write_all(&[b"S".to_vec(), welcome()].concat()).unwrap();
    });
    on_a_core(open(Driver::Postgres, &dsn)).unwrap_err();
}

#[test]
fn a_login_with_too_many_rounds_is_refused() {
    let dsn = server(|stream| {
        untagged(stream);
        stream.write_all(&message(b'R', b"\0\0\0\x0aSCRAM-SHA-256\0\0")).unwrap();
        let (_, first) = tagged(stream);
        let nonce = String::from_utf8(first).unwrap().split("r=").nth(1).unwrap().to_owned();
        let body = format!("\0\0\0\x0br={nonce}x,s=c2FsdA==,i=4000000000");
        stream.write_all(&message(b'R', body.as_bytes())).unwrap();
    });
    let failure = on_a_core(open(Driver::Postgres, &format!("{dsn} sslmode=disable"))).unwrap_err();
    assert!(failure.text().starts_with("pq: SCRAM: "), "{failure}");
}

#[test]
fn answers_that_are_none_break_the_connection() {
    let columns = message(b'T', b"\0\x01a\0\0\0\0\0\0\0\0\0\0\x17\0\x04\xff\xff\xff\xff\0\0");
    for bytes in [
        b"garbage garbage".to_vec(),
        Vec::new(),
        columns.clone(),
        message(b'T', b"\xff\xff"),
        message(b'?', b""),
        vec![b'T', 0xff, 0xff, 0xff, 0xff],
        [columns.clone(), message(b'X', b"")].concat(),
        [columns.clone(), vec![b'D', 0, 0, 1, 0, 0]].concat(),
    ] {
        let failure = answered(bytes).unwrap_err();
        assert!(matches!(failure.trouble(), Trouble::Protocol | Trouble::Broken), "{failure}");
    }
    let row = message(b'D', b"\0\x01\0\0\0\x017");
    let end = [message(b'C', b"SELECT 1\0"), message(b'Z', b"I")].concat();
    assert_eq!(answered([columns, row, end].concat()).unwrap(), [["7"]]);
}

#[test]
fn results_end_wherever_packets_end() {
    let columns = message(b'T', b"\0\x01a\0\0\0\0\0\0\0\0\0\0\x17\0\x04\xff\xff\xff\xff\0\0");
    let row = message(b'D', b"\0\x01\0\0\0\x017");
    let whole = [columns, row, message(b'C', b"SELECT 1\0"), message(b'Z', b"I")].concat();
    let dsn = server(move |stream| {
        stream.set_nodelay(true).unwrap();
        untagged(stream);
        stream.write_all(&welcome()).unwrap();
        for cut in 0..=whole.len() {
            tagged(stream);
            stream.write_all(&whole[..cut]).unwrap();
            thread::yield_now();
            stream.write_all(&whole[cut..]).unwrap();
        }
    });
    on_a_core(async {
        let mut it = open(Driver::Postgres, &format!("{dsn} sslmode=disable")).await.unwrap();
        for _ in 0..40 {
            assert_eq!(query(&mut it, "SELECT 1", &[]).await.unwrap(), [["7"]]);
            assert_eq!(it.outcome().rows_affected, Some(1));
        }
    });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn no_bytes_make_a_login_panic(bytes: Vec<u8>) {
        refused(bytes);
    }

    #[test]
    fn no_messages_make_a_statement_panic(
        all in proptest::collection::vec(("[TDCEZINSG12]", proptest::collection::vec(0_u8..32, 0..40)), 0..5),
    ) {
        let bytes = all.iter().map(|(tag, body)| message(tag.as_bytes()[0], body)).collect::<Vec<_>>();
        // A row may be other than its columns promise; the reader of rows says so.
        let bytes: Vec<_> = bytes.into_iter().filter(|it| it[0] != b'D').collect();
        let _ = answered(bytes.concat());
    }
}
