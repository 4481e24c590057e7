//! A client of WebSockets that does nothing that can be left out: no script, no masks, no look at what comes, nothing
//! measured. Its cost is the kernel's part, which no other client avoids.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};

/// How the program is called as this client: `brunt-bench bare PATTERN HOST:PORT CONNECTIONS SECONDS`.
pub(crate) const WORD: &str = "bare";

const UPGRADE: &[u8] =
    b"GET /ws/echo HTTP/1.1\r\nHost: bare\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
    Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";

/// A text of 100 bytes, masked with zeros.
fn message() -> Vec<u8> {
    [&[0x81, 0x80 | 0x64, 0, 0, 0, 0][..], &[b'x'; 100]].concat()
}

/// A close frame without a code, masked with zeros.
const CLOSE: [u8; 6] = [0x88, 0x80, 0, 0, 0, 0];

/// Runs as the client; prints how much was done.
///
/// # Errors
/// If the arguments are none, or the server does not answer as a WebSocket server does.
#[expect(clippy::print_stdout, reason = "what the figure reads")]
pub(crate) fn run(arguments: &[String]) -> anyhow::Result<()> {
    let [pattern, address, connections, seconds] = arguments else {
        anyhow::bail!("{WORD} PATTERN HOST:PORT CONNECTIONS SECONDS");
    };
    let address: SocketAddr = address.parse()?;
    let connections = connections.parse()?;
    let end = Instant::now() + Duration::from_secs(seconds.parse()?);
    let done = match pattern.as_str() {
        "one" => echo(address, connections, end),
        "open" => open(address, connections, end),
        _ => anyhow::bail!("no such pattern: {pattern}"),
    };
    println!("{}", done?);
    Ok(())
}

/// Opens this many at once.
fn connected(address: SocketAddr, connections: usize) -> anyhow::Result<Vec<TcpStream>> {
    let mut streams = Vec::with_capacity(connections);
    for _ in 0..connections {
        let mut stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(Duration::from_secs(5)))?;
        stream.write_all(UPGRADE)?;
        streams.push(stream);
    }
    let mut answer = [0; 1024];
    for stream in &mut streams {
        let length = stream.read(&mut answer)?;
        ensure!(answer[..length].starts_with(b"HTTP/1.1 101"), "the server does not upgrade");
    }
    Ok(streams)
}

/// Messages to and fro, one at a time on each connection.
fn echo(address: SocketAddr, connections: usize, end: Instant) -> anyhow::Result<u64> {
    let (message, mut answer) = (message(), [0; 102]);
    let mut streams = connected(address, connections)?;
    let mut done = 0;
    while Instant::now() < end {
        for stream in &mut streams {
            stream.write_all(&message)?;
        }
        for stream in &mut streams {
            stream.read_exact(&mut answer).context("an echo")?;
            done += 1;
        }
    }
    Ok(done)
}

/// Connections opened, upgraded and closed.
fn open(address: SocketAddr, connections: usize, end: Instant) -> anyhow::Result<u64> {
    let mut done = 0;
    while Instant::now() < end {
        let mut streams = connected(address, connections)?;
        for stream in &mut streams {
            stream.write_all(&CLOSE)?;
        }
        for stream in &mut streams {
            stream.read_exact(&mut [0; 2]).context("a close frame")?;
            done += 1;
        }
    }
    Ok(done)
}
