//! A port whose answers are wrong on purpose: the path names the fault. For tests of clients.
//!
//! Each connection carries one request; its head is read first (at most 16 KiB) so that the fault is
//! the only surprise.

use std::io;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{sleep, timeout};

use crate::server::Halt;

const HEAD_MAX: usize = 16 * 1024;
/// An endless answer ends after this much, when a client has no limit of its own.
const ENDLESS_MAX: usize = 256 << 20;
/// A silent connection is closed after this long.
const SILENCE_MAX: Duration = Duration::from_mins(10);
/// Connections at once; more wait unaccepted.
const CONNECTIONS_MAX: usize = 1024;

/// The behaviour of the connection after the listed bytes were written.
#[derive(Clone, Copy)]
enum Then {
    /// The connection is closed in order (FIN).
    Close,
    /// The connection is reset (RST).
    Reset,
    /// Nothing more, ever, but the connection stays open.
    Silence,
    /// These bytes again and again.
    Endless(&'static [u8]),
    /// The listed bytes are sent singly, one each 50 ms; then the connection is closed.
    Drip,
}

const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

/// Path, what is written, what comes then.
const FAULTS: &[(&str, &[u8], Then)] = &[
    ("ok", OK, Then::Close),
    ("invalid-status-line", b"HTTP/1.1 abc Strange\r\nContent-Length: 0\r\n\r\n", Then::Close),
    ("not-http", b"SSH-2.0-OpenSSH_9.2\r\n", Then::Close),
    ("garbage", &[0xff, 0x00, 0x13, 0x37, 0x80, 0x0a, 0x0d, 0xfe], Then::Close),
    ("bad-header", b"HTTP/1.1 200 OK\r\nno colon in here\r\nContent-Length: 0\r\n\r\n", Then::Close),
    (
        "endless-header",
        b"HTTP/1.1 200 OK\r\n",
        Then::Endless(b"X-Padding: 0123456789012345678901234567890123456789012345678901234567890\r\n"),
    ),
    (
        "endless-header-line",
        b"HTTP/1.1 200 OK\r\nX-Padding: ",
        Then::Endless(b"0123456789012345678901234567890123456789012345678901234567890123"),
    ),
    ("endless-status-line", b"HTTP/1.1 200 ", Then::Endless(b"OOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOO")),
    ("endless-body", b"HTTP/1.1 200 OK\r\n\r\n", Then::Endless(&[b'x'; 4096])),
    (
        "truncated-chunk",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n64\r\nonly so much",
        Then::Close,
    ),
    (
        "missing-last-chunk",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
        Then::Close,
    ),
    (
        "invalid-chunk",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nhello\r\n0\r\n\r\n",
        Then::Close,
    ),
    ("short-body", b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nonly so much", Then::Close),
    ("long-body", b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello, and more than that", Then::Close),
    ("close", b"", Then::Close),
    ("reset", b"", Then::Reset),
    ("reset-mid-head", b"HTTP/1.1 200 OK\r\nContent-Le", Then::Reset),
    ("reset-mid-body", b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nonly so much", Then::Reset),
    ("close-mid-head", b"HTTP/1.1 200 OK\r\nContent-Le", Then::Close),
    ("never", b"", Then::Silence),
    ("never-mid-head", b"HTTP/1.1 200 OK\r\nContent-Le", Then::Silence),
    ("never-mid-body", b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nonly so much", Then::Silence),
    ("drip", OK, Then::Drip),
    (
        "bad-gzip",
        b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 12\r\n\r\nnot gzip at!",
        Then::Close,
    ),
    (
        "bad-content-length",
        b"HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\nhello",
        Then::Close,
    ),
    (
        "two-content-lengths",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello!",
        Then::Close,
    ),
    ("bad-redirect", b"HTTP/1.1 302 Found\r\nLocation: http://[::1\r\nContent-Length: 0\r\n\r\n", Then::Close),
    ("no-location", b"HTTP/1.1 302 Found\r\nContent-Length: 0\r\n\r\n", Then::Close),
    (
        "redirect-loop",
        b"HTTP/1.1 302 Found\r\nLocation: /redirect-loop\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
        Then::Close,
    ),
    ("http10", b"HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\nuntil the end", Then::Close),
    (
        "interim",
        b"HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
        Then::Close,
    ),
    ("bare-lf", b"HTTP/1.1 200 OK\nContent-Length: 2\n\nok", Then::Close),
];

/// Accepts until told to halt.
pub(crate) async fn serve(listener: TcpListener, mut halt: Halt) {
    let slots = std::sync::Arc::new(tokio::sync::Semaphore::new(CONNECTIONS_MAX));
    loop {
        let Ok(slot) = slots.clone().acquire_owned().await else {
            return;
        };
        let accepted = tokio::select! {
            () = halt.wait() => return,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((stream, _)) => {
                tokio::spawn(async move {
                    // A client that went away is the expected end of many of these.
                    let _ = misbehave(stream).await;
                    drop(slot);
                });
            }
            Err(_) => sleep(Duration::from_millis(50)).await,
        }
    }
}

async fn misbehave(mut stream: TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let Some(path) = read_path(&mut stream).await? else {
        return Ok(());
    };
    let name = path.split('?').next().unwrap_or("").trim_start_matches('/');
    let Some((_, bytes, then)) = FAULTS.iter().find(|(fault, ..)| *fault == name) else {
        return list(&mut stream).await;
    };
    if !matches!(then, Then::Drip) {
        stream.write_all(bytes).await?;
    }
    match then {
        Then::Close => {
            stream.shutdown().await?;
            // Unread bytes of a request body would turn this end into a reset.
            timeout(Duration::from_secs(1), wait_for_end(&mut stream)).await.unwrap_or(Ok(()))
        }
        Then::Reset => {
            // The bytes should arrive before the reset throws them away.
            sleep(Duration::from_millis(20)).await;
            stream.set_zero_linger()
        }
        Then::Silence => wait_for_end(&mut stream).await,
        Then::Endless(piece) => {
            let block = piece.repeat(16 * 1024 / piece.len() + 1);
            for _ in 0..ENDLESS_MAX / block.len() {
                stream.write_all(&block).await?;
            }
            stream.shutdown().await
        }
        Then::Drip => {
            for byte in *bytes {
                stream.write_all(&[*byte]).await?;
                sleep(Duration::from_millis(50)).await;
            }
            stream.shutdown().await
        }
    }
}

/// The request's path, once its head has come whole; `None` if it never does.
async fn read_path(stream: &mut TcpStream) -> io::Result<Option<String>> {
    let mut head = Vec::with_capacity(1024);
    while memchr::memmem::find(&head, b"\r\n\r\n").is_none() {
        if head.len() >= HEAD_MAX || stream.read_buf(&mut head).await? == 0 {
            return Ok(None);
        }
    }
    let head = String::from_utf8_lossy(&head);
    Ok(head.split(' ').nth(1).map(str::to_owned))
}

async fn list(stream: &mut TcpStream) -> io::Result<()> {
    let names: Vec<String> = FAULTS.iter().map(|(name, ..)| format!("/{name}\n")).collect();
    let body = names.concat();
    let head = format!(
        "HTTP/1.1 404 Not Found\r\nContent-Type: text/plain\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).await?;
    stream.write_all(body.as_bytes()).await?;
    stream.shutdown().await
}

/// Says nothing until the client leaves.
async fn wait_for_end(stream: &mut TcpStream) -> io::Result<()> {
    let mut scratch = [0; 1024];
    let silence = async {
        while stream.read(&mut scratch).await? > 0 {}
        io::Result::Ok(())
    };
    timeout(SILENCE_MAX, silence).await.unwrap_or(Ok(()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fault_has_its_own_path() {
        for (index, (name, ..)) in FAULTS.iter().enumerate() {
            assert!(!name.is_empty());
            assert!(FAULTS[..index].iter().all(|(other, ..)| other != name), "{name} twice");
        }
    }
}
