//! WebSockets: bytes pass at once and unchanged, and a copy of them is read for the record.
//!
//! The handshake passes without `Sec-WebSocket-Extensions`, so that no message is compressed.

use std::io::{self, Read, Write};
use std::sync::Arc;

use brunt_traffic::Side;
use bytes::{Buf as _, Bytes, BytesMut};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tungstenite::WebSocket;
use tungstenite::protocol::{Role, WebSocketConfig};

use crate::tape::Take;

/// A longer message is not recorded, and none after it.
const MESSAGE_MAX: usize = 16 << 20;

/// Bytes that are read at a time.
const CHUNK: usize = 16 * 1024;

/// Passes everything both ways until both ends are closed, and records messages.
pub(crate) async fn pass(
    client: impl AsyncRead + AsyncWrite + Send + 'static,
    server: impl AsyncRead + AsyncWrite + Send + 'static,
    take: Arc<Take>,
) {
    let (from_client, to_client) = tokio::io::split(client);
    let (from_server, to_server) = tokio::io::split(server);
    tokio::join!(
        one_way(from_client, to_server, Side::Client, &take),
        one_way(from_server, to_client, Side::Server, &take),
    );
}

async fn one_way(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    side: Side,
    take: &Take,
) {
    let mut messages = Messages::new(side);
    let mut buffer = BytesMut::with_capacity(CHUNK);
    loop {
        buffer.clear();
        buffer.reserve(CHUNK);
        if !matches!(from.read_buf(&mut buffer).await, Ok(1..)) {
            break;
        }
        if to.write_all(&buffer).await.is_err() || to.flush().await.is_err() {
            break;
        }
        for (is_text, data) in messages.push(&buffer) {
            take.message(side, is_text, data);
        }
    }
    let _ = to.shutdown().await;
}

/// Reads the frames of one side.
struct Messages {
    socket: WebSocket<Feed>,
    /// The side broke the rules, or has closed: nothing is read any more.
    is_over: bool,
}

impl Messages {
    fn new(from: Side) -> Self {
        let role = match from {
            Side::Client => Role::Server,
            Side::Server => Role::Client,
        };
        let config = WebSocketConfig::default()
            .max_message_size(Some(MESSAGE_MAX))
            .max_frame_size(Some(MESSAGE_MAX))
            .accept_unmasked_frames(true);
        let socket = WebSocket::from_raw_socket(Feed::default(), role, Some(config));
        Self { socket, is_over: false }
    }

    /// The messages that these bytes end, and whether each is text.
    fn push(&mut self, bytes: &[u8]) -> Vec<(bool, Bytes)> {
        let mut found = Vec::new();
        if self.is_over {
            return found;
        }
        self.socket.get_mut().0.extend_from_slice(bytes);
        loop {
            match self.socket.read() {
                Ok(tungstenite::Message::Text(text)) => found.push((true, text.into())),
                Ok(tungstenite::Message::Binary(data)) => found.push((false, data)),
                Ok(tungstenite::Message::Close(_)) => {
                    self.is_over = true;
                    break;
                }
                Ok(_) => {}
                Err(tungstenite::Error::Io(error)) if error.kind() == io::ErrorKind::WouldBlock => {
                    break;
                }
                Err(_) => {
                    self.is_over = true;
                    break;
                }
            }
        }
        if self.is_over {
            self.socket.get_mut().0 = BytesMut::new();
        }
        found
    }
}

/// Gives what it was given, and swallows answers: the two ends answer each other.
#[derive(Debug, Default)]
struct Feed(BytesMut);

impl Read for Feed {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        if self.0.is_empty() {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        let size = to.len().min(self.0.len());
        self.0.copy_to_slice(&mut to[..size]);
        Ok(size)
    }
}

impl Write for Feed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_read_however_their_frames_are_split() {
        // "Hello" in two frames with a ping between them, then two bytes; from a server, unmasked.
        let bytes = b"\x01\x03Hel\x89\x01!\x80\x02lo\x82\x02\x00\xff\x88\x02\x03\xe8\x81\x01x";
        let expected = [(true, Bytes::from("Hello")), (false, Bytes::from(&b"\x00\xff"[..]))];
        for size in [1, 2, 5, 100] {
            let mut messages = Messages::new(Side::Server);
            let all: Vec<_> = bytes.chunks(size).flat_map(|part| messages.push(part)).collect();
            assert_eq!(all, expected, "{size}");
        }
        // The same text from a client, masked.
        let masked = b"\x81\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58";
        let all = Messages::new(Side::Client).push(masked);
        assert_eq!(all, [(true, Bytes::from("Hello"))]);
    }

    #[test]
    fn rules_that_are_broken_end_the_record_and_nothing_else() {
        let mut messages = Messages::new(Side::Server);
        assert!(messages.push(b"\xff\xff\xff\xff").is_empty());
        assert!(messages.push(b"\x81\x01a").is_empty());
        assert!(messages.socket.get_ref().0.is_empty());
    }
}
