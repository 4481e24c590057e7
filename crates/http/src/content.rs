//! Content codings: `Content-Encoding` of responses undone, `compression` of requests done.

mod decoder;

use std::cell::Cell;
use std::fmt;
use std::io::{self, Read, Write as _};

pub use decoder::{Decoded, Decoder};

/// A content coding.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Coding {
    /// `gzip`, several members too.
    Gzip,
    /// `deflate`: in the zlib format. Raw deflate is understood as well, since some servers send it.
    Deflate,
    /// `br`.
    Brotli,
    /// `zstd`.
    Zstd,
}

impl Coding {
    /// By its name, in any case.
    pub fn parse(name: &str) -> Option<Self> {
        let name = name.trim();
        let all = [Self::Gzip, Self::Deflate, Self::Brotli, Self::Zstd];
        all.into_iter().find(|coding| name.eq_ignore_ascii_case(coding.name()))
    }

    /// `gzip`, `deflate`, `br`, `zstd`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Deflate => "deflate",
            Self::Brotli => "br",
            Self::Zstd => "zstd",
        }
    }
}

/// Why a body can't be decoded: k6's error 1701.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Undecodable {
    /// It ends too early.
    Truncated,
    /// It isn't what the header says.
    Corrupt(Coding),
    /// It unpacks to more than this many bytes.
    TooLarge(u64),
}

impl fmt::Display for Undecodable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Truncated => f.write_str("unexpected EOF"),
            Self::Corrupt(Coding::Gzip) => f.write_str("gzip: invalid data"),
            Self::Corrupt(Coding::Deflate) => f.write_str("zlib: invalid data"),
            Self::Corrupt(Coding::Brotli) => f.write_str("brotli: invalid data"),
            Self::Corrupt(Coding::Zstd) => f.write_str("zstd: invalid data"),
            Self::TooLarge(limit) => write!(f, "more than {limit} bytes when decompressed"),
        }
    }
}

impl std::error::Error for Undecodable {}

/// A name in `compression` that is no coding.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown compression algorithm {0}, supported algorithms are [gzip deflate zstd br]")]
pub struct UnknownCoding(pub String);

/// Takes off the codings that `header` lists, last first, as far as they are known.
///
/// `header` is a comma list, as from [`Response::content_encoding`](crate::Response::content_encoding).
/// `limit` bounds what comes out of each coding, in bytes. `None`: there is nothing to take off, use the
/// body as it is. An empty body has nothing to take off either.
///
/// # Errors
/// [`Undecodable`].
pub fn decode(header: &str, body: &[u8], limit: u64) -> Result<Option<Vec<u8>>, Undecodable> {
    let mut decoded: Option<Vec<u8>> = None;
    for name in header.rsplit(',') {
        if name.trim().eq_ignore_ascii_case("identity") {
            continue;
        }
        let Some(coding) = Coding::parse(name) else {
            break;
        };
        let input = decoded.as_deref().unwrap_or(body);
        if input.is_empty() {
            break;
        }
        decoded = Some(decode_one(coding, input, limit)?);
    }
    Ok(decoded)
}

fn decode_one(coding: Coding, input: &[u8], limit: u64) -> Result<Vec<u8>, Undecodable> {
    let result = match coding {
        Coding::Gzip => read(flate2::read::MultiGzDecoder::new(input), limit),
        // The first byte of zlib names its method, 8, and the first two are a multiple of 31.
        Coding::Deflate if is_zlib(input) => read(flate2::read::ZlibDecoder::new(input), limit),
        Coding::Deflate => read(flate2::read::DeflateDecoder::new(input), limit),
        Coding::Brotli => {
            let is_dry = Cell::new(false);
            let input = Watched { rest: input, is_dry: &is_dry };
            // It says "invalid" when its input ends too early, too.
            read(brotli::Decompressor::new(input, 4096), limit).map_err(|error| {
                if is_dry.get() { io::ErrorKind::UnexpectedEof.into() } else { error }
            })
        }
        Coding::Zstd => {
            zstd::stream::read::Decoder::with_buffer(input).and_then(|it| read(it, limit))
        }
    };
    let out = result.map_err(|error| match error.kind() {
        io::ErrorKind::UnexpectedEof => Undecodable::Truncated,
        _ => Undecodable::Corrupt(coding),
    })?;
    if out.len() as u64 > limit { Err(Undecodable::TooLarge(limit)) } else { Ok(out) }
}

/// Input that tells whether more was wanted than there is.
struct Watched<'a> {
    rest: &'a [u8],
    is_dry: &'a Cell<bool>,
}

impl Read for Watched<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.is_dry.set(self.rest.is_empty());
        self.rest.read(into)
    }
}

fn is_zlib(input: &[u8]) -> bool {
    match input {
        [first, second, ..] => {
            first & 15 == 8 && (u16::from(*first) << 8 | u16::from(*second)) % 31 == 0
        }
        _ => true,
    }
}

/// Reads at most one byte more than the limit.
fn read(decoder: impl Read, limit: u64) -> io::Result<Vec<u8>> {
    let mut out = Vec::new();
    decoder.take(limit.saturating_add(1)).read_to_end(&mut out)?;
    Ok(out)
}

/// Puts on the codings that `list` names, in order. Returns the body and the `Content-Encoding` for it.
///
/// # Errors
/// [`UnknownCoding`]: a name that is no coding.
pub fn encode(list: &str, body: &[u8]) -> Result<(Vec<u8>, String), UnknownCoding> {
    let mut names = Vec::new();
    let mut encoded: Option<Vec<u8>> = None;
    for name in list.split(',') {
        let unknown = || UnknownCoding(name.trim().to_owned());
        let coding = Coding::parse(name).ok_or_else(unknown)?;
        let input = encoded.as_deref().unwrap_or(body);
        let output = encode_one(coding, input).expect("writing to memory doesn't fail");
        encoded = Some(output);
        names.push(coding.name());
    }
    Ok((encoded.unwrap_or_default(), names.join(", ")))
}

fn encode_one(coding: Coding, input: &[u8]) -> io::Result<Vec<u8>> {
    let level = flate2::Compression::default();
    match coding {
        Coding::Gzip => {
            let mut encoder = flate2::write::GzEncoder::new(Vec::new(), level);
            encoder.write_all(input)?;
            encoder.finish()
        }
        Coding::Deflate => {
            let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), level);
            encoder.write_all(input)?;
            encoder.finish()
        }
        Coding::Brotli => {
            // Quality 6 in a 4 MiB window: what Go's usual package does.
            let mut out = Vec::new();
            brotli::CompressorWriter::new(&mut out, 4096, 6, 22).write_all(input)?;
            Ok(out)
        }
        Coding::Zstd => zstd::stream::encode_all(input, 0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [&str; 4] = ["gzip", "deflate", "br", "zstd"];

    #[test]
    fn what_is_put_on_can_be_taken_off_alone_and_stacked() {
        let body = b"hello hello hello ".repeat(100);
        for list in ALL.iter().copied().chain(["gzip, br", "zstd,deflate,gzip"]) {
            let (encoded, header) = encode(list, &body).unwrap();
            assert!(encoded.len() < body.len());
            assert_eq!(decode(&header, &encoded, 1 << 20).unwrap().unwrap(), body, "{list}");
        }
    }

    #[test]
    fn raw_deflate_and_several_gzip_members_are_understood() {
        let mut raw = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::best());
        raw.write_all(b"hello").unwrap();
        assert_eq!(decode("deflate", &raw.finish().unwrap(), 99).unwrap().unwrap(), b"hello");
        let (member, _) = encode("gzip", b"hello").unwrap();
        let two = [member.clone(), member].concat();
        assert_eq!(decode("GZIP", &two, 99).unwrap().unwrap(), b"hellohello");
    }

    #[test]
    fn unknown_codings_and_empty_bodies_are_left_alone() {
        assert_eq!(decode("foo", b"abc", 99), Ok(None));
        assert_eq!(decode("identity", b"abc", 99), Ok(None));
        assert_eq!(decode("gzip", b"", 99), Ok(None));
        let (gzip, _) = encode("gzip", b"abc").unwrap();
        assert_eq!(decode("foo, gzip", &gzip, 99).unwrap().unwrap(), b"abc");
    }

    #[test]
    fn each_coding_notices_truncation_noise_and_bombs() {
        let body = vec![7; 100_000];
        for name in ALL {
            let (encoded, _) = encode(name, &body).unwrap();
            assert_eq!(
                decode(name, &encoded, 99_999),
                Err(Undecodable::TooLarge(99_999)),
                "{name}"
            );
            let half = &encoded[..encoded.len() / 2];
            assert_eq!(decode(name, half, 1 << 20), Err(Undecodable::Truncated), "{name}");
            let noise = [0xFF, 0xFE, 0xFD, 0xFC].repeat(16);
            assert!(decode(name, &noise, 1 << 20).is_err(), "{name}");
        }
    }

    /// k6 1.8.1: `error decompressing response body (unexpected EOF)`.
    #[test]
    fn three_bytes_are_no_gzip() {
        assert_eq!(decode("gzip", b"abc", 99), Err(Undecodable::Truncated));
    }

    #[test]
    fn an_unknown_compression_is_refused() {
        assert_eq!(
            encode("gzip,lzma", b"x").unwrap_err().to_string(),
            "unknown compression algorithm lzma, supported algorithms are [gzip deflate zstd br]"
        );
    }
}
