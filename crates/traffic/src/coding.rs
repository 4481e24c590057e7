//! Content codings, undone: gzip, deflate, br, zstd.

use std::io::{self, Read};

use bytes::Bytes;
use thiserror::Error;

/// A body that can't be decoded.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CodingError {
    /// A coding that this program does not know.
    #[error("the content coding {0:?} is not known: gzip, deflate, br and zstd are")]
    Unknown(String),
    /// The decoded body passes the bound.
    #[error("the body has more than {limit} bytes when it is unpacked")]
    TooLarge {
        /// In bytes.
        limit: u64,
    },
    /// The bytes are not of this coding, or end early.
    #[error("the body is not valid {coding}")]
    Damaged {
        /// As in the header.
        coding: String,
        /// The decoder's reason.
        source: io::Error,
    },
}

/// Undoes all codings of a `Content-Encoding`, the last first: `gzip, br`. An empty text and `identity` change nothing.
///
/// `limit` bounds the bytes after each step.
///
/// # Errors
/// Each of [`CodingError`].
pub fn undo(content_encoding: &str, bytes: &Bytes, limit: u64) -> Result<Bytes, CodingError> {
    let mut body = bytes.clone();
    let codings = content_encoding.split(',').map(|coding| coding.trim().to_ascii_lowercase());
    for coding in codings.rev() {
        let read = match coding.as_str() {
            "" | "identity" => continue,
            "gzip" | "x-gzip" => unpack(flate2::read::MultiGzDecoder::new(&body[..]), limit),
            // Servers disagree whether there is a zlib head.
            "deflate" => unpack(flate2::read::ZlibDecoder::new(&body[..]), limit)
                .or_else(|_| unpack(flate2::read::DeflateDecoder::new(&body[..]), limit)),
            "br" => unpack(brotli::Decompressor::new(&body[..], 4096), limit),
            "zstd" => zstd::stream::read::Decoder::new(&body[..])
                .and_then(|decoder| unpack(decoder, limit)),
            _ => return Err(CodingError::Unknown(coding)),
        };
        body = match read {
            Ok(Some(unpacked)) => Bytes::from(unpacked),
            Ok(None) => return Err(CodingError::TooLarge { limit }),
            Err(source) => return Err(CodingError::Damaged { coding, source }),
        };
    }
    Ok(body)
}

/// All bytes of a decoder; `None` if they are more than `limit`.
fn unpack(decoder: impl Read, limit: u64) -> io::Result<Option<Vec<u8>>> {
    let mut all = Vec::new();
    decoder.take(limit.saturating_add(1)).read_to_end(&mut all)?;
    Ok((all.len() as u64 <= limit).then_some(all))
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn gzip(bytes: &[u8]) -> Bytes {
        let mut writer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        writer.write_all(bytes).expect("memory takes it");
        Bytes::from(writer.finish().expect("memory takes it"))
    }

    #[test]
    fn codings_are_undone_from_the_last_to_the_first() {
        let text = b"hello hello hello".as_slice();
        let mut br = Vec::new();
        brotli::CompressorWriter::new(&mut br, 4096, 4, 20).write_all(&gzip(text)).expect("memory");
        let undone = undo("GZIP, br", &Bytes::from(br), 1000).expect("both are undone");
        assert_eq!(undone, text);
        let zstd = Bytes::from(zstd::encode_all(text, 1).expect("memory"));
        assert_eq!(undo("zstd", &zstd, 1000).expect("undone"), text);
        let mut raw = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::fast());
        raw.write_all(text).expect("memory");
        let raw = Bytes::from(raw.finish().expect("memory"));
        assert_eq!(undo("deflate", &raw, 1000).expect("undone"), text);
        assert_eq!(undo("identity", &zstd, 1000).expect("unchanged"), zstd);
    }

    #[test]
    fn bombs_damage_and_strangers_are_refused() {
        let bomb = gzip(&vec![0; 100_000]);
        assert!(matches!(
            undo("gzip", &bomb, 99_999),
            Err(CodingError::TooLarge { limit: 99_999 })
        ));
        assert!(undo("gzip", &bomb, 100_000).is_ok());
        assert!(matches!(
            undo("gzip", &bomb.slice(..20), 100_000),
            Err(CodingError::Damaged { .. })
        ));
        assert!(matches!(undo("pack200", &bomb, 9), Err(CodingError::Unknown(_))));
    }
}
