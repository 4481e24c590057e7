//! Messages between their frames: five bytes of head, then the message.

use std::io::Read as _;
use std::time::Duration;

use brunt_fiber::turn::given_way;
use brunt_http::http2::Duplex;
use brunt_net::budget::Share;
use bytes::buf::Reader;
use bytes::{Buf as _, Bytes, BytesMut};
use flate2::read::GzDecoder;

use super::Coding;
use crate::status::Status;

/// Bytes that are unpacked at a time: about a millisecond.
const SLICE: u64 = 256 * 1024;

/// Bytes of a message's head.
const HEAD: usize = 5;

/// A message with its head before it.
pub(super) fn framed(message: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(HEAD + message.len());
    bytes.push(0);
    bytes.extend_from_slice(&(message.len() as u32).to_be_bytes());
    bytes.extend_from_slice(message);
    bytes
}

/// `grpc-timeout`: at most eight digits, in the finest unit that they allow.
pub(super) fn timeout(timeout: Duration) -> String {
    const DIGITS: u128 = 100_000_000;
    let nanos = timeout.as_nanos();
    for (unit, size) in
        [('n', 1), ('u', 1000), ('m', 1_000_000), ('S', 1_000_000_000), ('M', 60_000_000_000)]
    {
        // Rounded up, so that the server never gives up before us.
        let count = nanos.div_ceil(size);
        if count < DIGITS {
            return format!("{count}{unit}");
        }
    }
    format!("{}H", nanos.div_ceil(3_600_000_000_000).min(DIGITS - 1))
}

/// Takes messages out of a stream. Holds at most one message, of at most `limit` bytes, and what came with it.
pub(super) struct Messages {
    came: BytesMut,
    /// The message that came whole, and needs no copy.
    whole: Bytes,
    limit: usize,
    coding: Coding,
    /// A message that is unpacked, slice by slice: a few kilobytes can become a gigabyte.
    unpacking: Option<Box<Unpacking>>,
    /// Its share of the memory that the process may use.
    share: Share,
}

struct Unpacking {
    packed: GzDecoder<Reader<Bytes>>,
    out: Vec<u8>,
}

impl Messages {
    pub(super) fn new(limit: usize, coding: Coding) -> Self {
        Self {
            came: BytesMut::new(),
            whole: Bytes::new(),
            limit,
            coding,
            unpacking: None,
            share: Share::default(),
        }
    }

    /// The next message; `None` at the end of the stream.
    pub(super) async fn next(&mut self, stream: &Duplex) -> Result<Option<Bytes>, Status> {
        loop {
            if self.unpacking.is_some() {
                // It lies here, so that whoever gives up in between loses nothing.
                given_way().await;
            }
            if let Some(message) = self.take()? {
                self.share.release();
                return Ok(Some(message));
            }
            if self.unpacking.is_some() {
                continue;
            }
            match stream.data().await {
                // A head that is not whole is none.
                Ok(None) if self.came.len() + self.whole.len() < HEAD => return Ok(None),
                Ok(None) => return Err(Status::new(Status::INTERNAL, "unexpected EOF")),
                Err(cut) => return Err(Status::of_cut(&cut)),
                Ok(Some(bytes)) => {
                    let bytes = Bytes::from(bytes);
                    if self.came.is_empty() && self.whole.is_empty() {
                        self.whole = bytes;
                    } else {
                        let whole = std::mem::take(&mut self.whole);
                        let size = (self.came.len() + whole.len() + bytes.len()) as u64;
                        self.share.cover(size).map_err(|_| Self::too_much())?;
                        self.came.extend_from_slice(&whole);
                        self.came.extend_from_slice(&bytes);
                    }
                }
            }
        }
    }

    /// A message that is here already.
    fn take(&mut self) -> Result<Option<Bytes>, Status> {
        if self.unpacking.is_some() {
            return self.unpack();
        }
        let here = if self.whole.is_empty() { &self.came[..] } else { &self.whole[..] };
        let Some(mut head) = here.get(..5) else { return Ok(None) };
        let flag = head.get_u8();
        let size = head.get_u32() as usize;
        let told = match &self.coding {
            Coding::None if flag == 1 => {
                Some("grpc: compressed flag set with identity or empty encoding".to_owned())
            }
            Coding::Other(name) if flag == 1 => {
                Some(format!("grpc: Decompressor is not installed for grpc-encoding {name:?}"))
            }
            _ => None,
        };
        if let Some(told) = told {
            return Err(Status::new(Status::INTERNAL, told));
        }
        if flag > 1 {
            let told = format!("grpc: received unexpected payload format {flag}");
            return Err(Status::new(Status::INTERNAL, told));
        }
        if size > self.limit {
            return Err(self.too_large(size));
        }
        if here.len() < 5 + size {
            return Ok(None);
        }
        let message = if self.whole.is_empty() {
            self.came.advance(5);
            self.came.split_to(size).freeze()
        } else {
            self.whole.advance(5);
            self.whole.split_to(size)
        };
        if flag == 0 {
            return Ok(Some(message));
        }
        self.unpacking =
            Some(Box::new(Unpacking { packed: GzDecoder::new(message.reader()), out: Vec::new() }));
        self.unpack()
    }

    /// Unpacks a slice. `None`: there is more to do.
    fn unpack(&mut self) -> Result<Option<Bytes>, Status> {
        let Some(unpacking) = self.unpacking.take() else {
            return Ok(None);
        };
        let Unpacking { mut packed, mut out } = *unpacking;
        let begun = out.len();
        let most = (self.limit as u64 + 1).saturating_sub(begun as u64).min(SLICE);
        let read = packed.by_ref().take(most).read_to_end(&mut out);
        if let Err(error) = read {
            let why = match error.kind() {
                std::io::ErrorKind::UnexpectedEof => "unexpected EOF",
                _ => "gzip: invalid header",
            };
            let told = format!("grpc: failed to decompress the message: {why}");
            return Err(Status::new(Status::INTERNAL, told));
        }
        if out.len() > self.limit {
            return Err(self.too_large(out.len()));
        }
        if ((out.len() - begun) as u64) < most {
            return Ok(Some(out.into()));
        }
        let size = (self.came.len() + out.len()) as u64;
        self.share.cover(size).map_err(|_| Self::too_much())?;
        self.unpacking = Some(Box::new(Unpacking { packed, out }));
        Ok(None)
    }

    fn too_much() -> Status {
        let told = "grpc: received message is too large for all that is held already";
        Status::new(Status::RESOURCE_EXHAUSTED, told)
    }

    fn too_large(&self, size: usize) -> Status {
        let told = format!("grpc: received message larger than max ({size} vs. {})", self.limit);
        Status::new(Status::RESOURCE_EXHAUSTED, told)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn timeouts_have_at_most_eight_digits() {
        for (duration, text) in [
            (Duration::from_mins(2), "120000m"),
            (Duration::from_millis(50), "50000000n"),
            (Duration::from_millis(100), "100000u"),
            (Duration::ZERO, "0n"),
            (Duration::from_hours(876_000), "52560000M"),
            (Duration::MAX, "99999999H"),
        ] {
            assert_eq!(timeout(duration), text);
        }
    }

    #[test]
    fn messages_are_taken_out_of_what_came() {
        let mut messages = Messages::new(10, Coding::None);
        let mut two = BytesMut::from(&framed(b"abc")[..]);
        two.extend_from_slice(&framed(b"")[..]);
        two.extend_from_slice(&[0, 0]);
        messages.whole = two.freeze();
        assert_eq!(messages.take(), Ok(Some(Bytes::from_static(b"abc"))));
        assert_eq!(messages.take(), Ok(Some(Bytes::new())));
        assert_eq!(messages.take(), Ok(None));
        messages.whole = framed(&[7; 11]).into();
        assert_eq!(messages.take().unwrap_err().code, Status::RESOURCE_EXHAUSTED);
        messages.whole = Bytes::from_static(&[1, 0, 0, 0, 1, 9]);
        assert_eq!(messages.take().unwrap_err().code, Status::INTERNAL);
        messages.whole = Bytes::from_static(&[2, 0, 0, 0, 1, 9]);
        assert_eq!(messages.take().unwrap_err().code, Status::INTERNAL);
    }

    #[test]
    fn packed_messages_are_unpacked_within_the_limit() {
        use std::io::Write as _;
        let pack = |bytes: &[u8]| {
            let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            packer.write_all(bytes).unwrap();
            let packed = packer.finish().unwrap();
            let mut framed = framed(&packed);
            framed[0] = 1;
            Bytes::from(framed)
        };
        let mut messages = Messages::new(100, Coding::Gzip);
        messages.whole = pack(&[5; 100]);
        assert_eq!(messages.take(), Ok(Some(Bytes::from(vec![5; 100]))));
        messages.whole = pack(&vec![5; 100_000]);
        assert!(messages.take().unwrap_err().message.contains("larger than max"));
        messages.whole = Bytes::from_static(&[1, 0, 0, 0, 1, 9]);
        assert!(messages.take().unwrap_err().message.contains("decompress"));
        // A long one comes in slices, and the next message behind it.
        let long = 3 * SLICE as usize;
        let mut messages = Messages::new(long, Coding::Gzip);
        messages.whole = [&pack(&vec![5; long])[..], &framed(b"next")].concat().into();
        assert_eq!((messages.take(), messages.take()), (Ok(None), Ok(None)));
        let whole = loop {
            if let Some(whole) = messages.take().unwrap() {
                break whole;
            }
        };
        assert_eq!(whole.len(), long);
        assert_eq!(messages.take(), Ok(Some(Bytes::from_static(b"next"))));
        messages.whole = pack(&vec![5; long + 1]);
        let refused = (0..5).find_map(|_| messages.take().err());
        assert!(refused.unwrap().message.contains("larger than max"));
    }

    /// The messages in bytes that come in such pieces, up to the first that is refused.
    fn read(bytes: &[u8], step: usize, limit: usize) -> Vec<Result<Bytes, Status>> {
        let (mut messages, mut told) = (Messages::new(limit, Coding::Gzip), Vec::new());
        for piece in bytes.chunks(step) {
            messages.came.extend_from_slice(piece);
            loop {
                match messages.take() {
                    Ok(Some(message)) => told.push(Ok(message)),
                    Ok(None) if messages.unpacking.is_some() => {}
                    Ok(None) => break,
                    Err(status) => {
                        told.push(Err(status));
                        return told;
                    }
                }
            }
        }
        told
    }

    #[test]
    fn a_message_of_the_limit_is_taken_and_one_of_a_byte_more_is_not() {
        for limit in [0, 1, 5, 16_384, 65_536] {
            for step in [1, 4, 5, 6, 16_384, usize::MAX] {
                let whole = read(&framed(&vec![7; limit]), step, limit);
                assert_eq!(whole, [Ok(Bytes::from(vec![7; limit]))]);
                let refused = read(&framed(&vec![7; limit + 1]), step, limit);
                assert_eq!(refused.len(), 1);
                assert!(refused[0].is_err());
            }
        }
        assert!(read(&[0, 255, 255, 255, 255], 1, 4 << 20)[0].is_err());
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_the_same_however_they_were_split(
            heads in prop::collection::vec((0u8..3, 0u8..20, prop::collection::vec(any::<u8>(), 0..20)), 0..8),
            step in 1usize..30,
        ) {
            let mut bytes = Vec::new();
            for (flag, size, rest) in heads {
                bytes.extend([flag, 0, 0, 0, size]);
                bytes.extend(rest);
            }
            prop_assert_eq!(read(&bytes, step, 15), read(&bytes, usize::MAX, 15));
        }
    }
}
