//! Packets: three bytes of length, one that counts, and the content.

use std::io;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader};

/// A packet of this size is continued by the next.
const PIECE_MAX: usize = 0xff_ffff;

/// The largest statement or row, `max_allowed_packet`; a connection that sends more is closed.
pub(crate) const PACKET_MAX: usize = 64 << 20;

/// Bytes that wait to be sent; beyond these they are.
const OUT_MAX: usize = 64 << 10;

/// Why no packet came.
#[derive(Debug)]
pub(crate) enum Lost {
    /// The client is gone, or broke the protocol.
    Gone,
    /// The packet is larger than [`PACKET_MAX`].
    TooLarge,
}

/// Packets to a client.
#[derive(Debug, Default)]
pub(crate) struct Packets {
    out: Vec<u8>,
    pub(crate) next: u8,
}

impl Packets {
    /// Appends a packet whose content `write` writes.
    pub(crate) fn packet(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        let start = self.out.len();
        self.out.extend_from_slice(&[0; 4]);
        write(&mut self.out);
        let length = self.out.len() - start - 4;
        if length < PIECE_MAX {
            self.head(start, length);
            return;
        }
        let content = self.out.split_off(start + 4);
        self.out.truncate(start);
        let mut pieces = content.chunks(PIECE_MAX).collect::<Vec<_>>();
        if length.is_multiple_of(PIECE_MAX) {
            pieces.push(&[]);
        }
        for piece in pieces {
            let start = self.out.len();
            self.out.extend_from_slice(&[0; 4]);
            self.out.extend_from_slice(piece);
            self.head(start, piece.len());
        }
    }

    fn head(&mut self, start: usize, length: usize) {
        self.out[start..start + 3].copy_from_slice(&(length as u32).to_le_bytes()[..3]);
        self.out[start + 3] = self.next;
        self.next = self.next.wrapping_add(1);
    }

    pub(crate) fn is_full(&self) -> bool {
        self.out.len() >= OUT_MAX
    }
}

/// A connection.
#[derive(Debug)]
pub(crate) struct Wire<S> {
    stream: BufReader<S>,
    pub(crate) packets: Packets,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Wire<S> {
    pub(crate) fn new(stream: S) -> Self {
        Self { stream: BufReader::with_capacity(OUT_MAX, stream), packets: Packets::default() }
    }

    /// The next packet of the client, pieces put together. What is written next answers it.
    pub(crate) async fn read(&mut self) -> Result<Vec<u8>, Lost> {
        let mut content = Vec::new();
        loop {
            let mut head = [0; 4];
            self.stream.read_exact(&mut head).await.map_err(|_| Lost::Gone)?;
            let length = u32::from_le_bytes([head[0], head[1], head[2], 0]) as usize;
            self.packets.next = head[3].wrapping_add(1);
            if content.len() + length > PACKET_MAX {
                return Err(Lost::TooLarge);
            }
            // Room comes as bytes do: a length alone takes no memory.
            let read = (&mut self.stream).take(length as u64).read_to_end(&mut content).await;
            if read.ok() != Some(length) {
                return Err(Lost::Gone);
            }
            if length < PIECE_MAX {
                return Ok(content);
            }
        }
    }

    /// Sends what waits.
    pub(crate) async fn flush(&mut self) -> io::Result<()> {
        self.stream.write_all(&self.packets.out).await?;
        self.packets.out.clear();
        self.packets.out.shrink_to(2 * OUT_MAX);
        self.stream.flush().await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn long_packets_are_pieces_and_whole_again() {
        for length in [0, 5, PIECE_MAX - 1, PIECE_MAX, PIECE_MAX + 5] {
            let (here, there) = tokio::io::duplex(1 << 20);
            let (mut here, mut there) = (Wire::new(here), Wire::new(there));
            here.packets.packet(|out| out.resize(out.len() + length, 7));
            let (sent, read) = tokio::join!(here.flush(), there.read());
            sent.unwrap();
            assert!(read.unwrap() == vec![7; length], "{length}");
        }
    }

    #[tokio::test]
    async fn a_packet_that_is_too_large_is_refused_before_it_is_read() {
        let (mut here, there) = tokio::io::duplex(1 << 10);
        let mut there = Wire::new(there);
        let write = async {
            // An error means that the reader has seen enough.
            while here.write_all(&[0xff, 0xff, 0xff, 0]).await.is_ok()
                && here.write_all(&vec![0; PIECE_MAX]).await.is_ok()
            {}
        };
        let read = async {
            let lost = there.read().await;
            drop(there);
            lost
        };
        let ((), lost) = tokio::join!(write, read);
        assert!(matches!(lost, Err(Lost::TooLarge)));
    }
}
