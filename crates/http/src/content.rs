//! Content codings: `Content-Encoding` of responses undone, `compression` of requests done.

mod decoder;
mod unpacking;

use std::cell::Cell;
use std::fmt;
use std::io::{self, Read, Write as _};

pub use decoder::{Decoded, Decoder};
pub use unpacking::{Outcome, Unpacked, unpack, unpack_small};

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

/// Why a body can't be decoded: k6's error 1701, or 1000 if it began well.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Undecodable {
    /// It ends before its coding has begun.
    Truncated,
    /// It ends too early.
    Cut,
    /// It doesn't begin as its coding begins.
    Header(Coding),
    /// It comes out whole, but isn't what was put in.
    Checksum(Coding),
    /// A good beginning is followed by nonsense.
    Corrupt(Coding),
    /// It unpacks to more than this many bytes.
    TooLarge(u64),
    /// It is coded more often than this.
    TooDeep(usize),
}

impl fmt::Display for Undecodable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Truncated | Self::Cut => f.write_str("unexpected EOF"),
            Self::Header(Coding::Gzip) => f.write_str("gzip: invalid header"),
            Self::Header(Coding::Deflate) => f.write_str("zlib: invalid header"),
            Self::Checksum(Coding::Deflate) => f.write_str("zlib: invalid checksum"),
            Self::Checksum(_) => f.write_str("gzip: invalid checksum"),
            Self::Corrupt(Coding::Gzip | Coding::Deflate) => f.write_str("flate: corrupt input"),
            Self::Header(Coding::Brotli) | Self::Corrupt(Coding::Brotli) => {
                f.write_str("brotli: invalid data")
            }
            Self::Header(Coding::Zstd) => f.write_str("invalid input: magic number mismatch"),
            Self::Corrupt(Coding::Zstd) => f.write_str("zstd: invalid data"),
            Self::TooLarge(limit) => write!(f, "more than {limit} bytes when decompressed"),
            Self::TooDeep(most) => write!(f, "more than {most} codings in Content-Encoding"),
        }
    }
}

impl Undecodable {
    /// k6's number for it: what goes wrong amid a body is to Go what its reader says, and no error of a coding.
    pub(crate) fn code(self) -> u16 {
        match self {
            Self::Cut | Self::Corrupt(Coding::Gzip | Coding::Deflate) => 1000,
            _ => 1701,
        }
    }

    /// As k6 shows it.
    pub(crate) fn write(self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const WHAT: &str = "error decompressing response body";
        match self {
            Self::Cut | Self::Corrupt(Coding::Gzip | Coding::Deflate) => write!(f, "{self}"),
            // Said twice there, too.
            Self::Header(Coding::Gzip | Coding::Deflate | Coding::Zstd) | Self::Checksum(_) => {
                write!(f, "{WHAT} ({WHAT} ({self}))")
            }
            _ => write!(f, "{WHAT} ({self})"),
        }
    }

    /// The meaning of a decoder's error.
    fn of(coding: Coding, error: &io::Error, is_dry: bool) -> Self {
        let text = error.to_string();
        match coding {
            _ if error.kind() == io::ErrorKind::UnexpectedEof => Self::Cut,
            // It says "invalid" when its input ends too early, too.
            Coding::Brotli if is_dry => Self::Cut,
            Coding::Gzip if text.contains("gzip header") => Self::Header(coding),
            Coding::Gzip if text.contains("checksum") => Self::Checksum(coding),
            Coding::Zstd if text.contains("frame descriptor") => Self::Header(coding),
            _ => Self::Corrupt(coding),
        }
    }
}

impl std::error::Error for Undecodable {}

/// The maximum number of codings of one body that are taken off. Each costs a pass over it, and room on the stack when
/// it comes in pieces.
const DEPTH_MAX: usize = 16;

/// The codings that a header lists, last first. Names that are no coding are passed over, as by k6.
fn codings(header: &str) -> Result<impl Iterator<Item = Coding>, Undecodable> {
    let all = || header.rsplit(',').filter_map(Coding::parse);
    if all().nth(DEPTH_MAX).is_some() {
        return Err(Undecodable::TooDeep(DEPTH_MAX));
    }
    Ok(all())
}

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
    match decode_as_far(header, body, limit) {
        (_, Some(why)) => Err(why),
        (decoded, None) => Ok(decoded),
    }
}

/// The same, but of a broken body what came out before it broke is returned, too; `None` if it never began.
pub fn decode_as_far(
    header: &str,
    body: &[u8],
    limit: u64,
) -> (Option<Vec<u8>>, Option<Undecodable>) {
    let mut decoded: Option<Vec<u8>> = None;
    if body.is_empty() {
        return (None, None);
    }
    let codings = match codings(header) {
        Ok(codings) => codings,
        Err(why) => return (None, Some(why)),
    };
    for coding in codings {
        let input = decoded.as_deref().unwrap_or(body);
        if input.is_empty() {
            break;
        }
        let mut out = Vec::new();
        if let Err(why) = decode_one(coding, input, limit, &mut out) {
            return (unpacking::has_begun(why).then_some(out), Some(why));
        }
        decoded = Some(out);
    }
    (decoded, None)
}

fn decode_one(
    coding: Coding,
    input: &[u8],
    limit: u64,
    out: &mut Vec<u8>,
) -> Result<(), Undecodable> {
    let is_dry = Cell::new(false);
    let source = Watched { rest: input, is_dry: &is_dry };
    let result = opened(coding, is_zlib(input), source).and_then(|it| read(it, limit, out));
    result.map_err(|error| why(coding, input, out, &error, is_dry.get()))?;
    if out.len() as u64 > limit { Err(Undecodable::TooLarge(limit)) } else { Ok(()) }
}

/// The decoder that takes one coding off. Each of them can be asked again after its source had nothing for now.
fn opened<'a>(
    coding: Coding,
    is_zlib: bool,
    source: impl Read + 'a,
) -> io::Result<Box<dyn Read + 'a>> {
    Ok(match coding {
        Coding::Gzip => Box::new(flate2::read::MultiGzDecoder::new(source)),
        // The first byte of zlib names its method, 8, and the first two are a multiple of 31.
        Coding::Deflate if is_zlib => Box::new(flate2::read::ZlibDecoder::new(source)),
        Coding::Deflate => Box::new(flate2::read::DeflateDecoder::new(source)),
        Coding::Brotli => Box::new(brotli::Decompressor::new(source, 4096)),
        Coding::Zstd => Box::new(zstd::stream::read::Decoder::new(source)?),
    })
}

/// The meaning of a decoder's error about a whole body, of which `out` had come out.
fn why(
    coding: Coding,
    input: &[u8],
    out: &mut Vec<u8>,
    error: &io::Error,
    is_dry: bool,
) -> Undecodable {
    match Undecodable::of(coding, error, is_dry) {
        Undecodable::Cut if out.is_empty() && is_only_a_header(coding, input) => {
            Undecodable::Truncated
        }
        // It was taken for a raw stream, and is none either.
        Undecodable::Corrupt(Coding::Deflate) | Undecodable::Cut
            if coding == Coding::Deflate && !is_zlib(input) =>
        {
            out.clear();
            Undecodable::Header(coding)
        }
        why => why,
    }
}

/// Whether these bytes could not even hold the header that a body in this coding begins with.
fn is_only_a_header(coding: Coding, input: &[u8]) -> bool {
    match coding {
        Coding::Gzip => input.len() < 10,
        Coding::Deflate => input.len() < 2,
        Coding::Brotli | Coding::Zstd => false,
    }
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
fn read(decoder: impl Read, limit: u64, out: &mut Vec<u8>) -> io::Result<()> {
    decoder.take(limit.saturating_add(1)).read_to_end(out)?;
    Ok(())
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
        // Unlike a server's header, in lower case only.
        let coding = Coding::parse(name).filter(|coding| coding.name() == name.trim());
        let coding = coding.ok_or_else(unknown)?;
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
        assert_eq!(decode("gzip, foo", &gzip, 99).unwrap().unwrap(), b"abc");
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
            assert_eq!(decode(name, half, 1 << 20), Err(Undecodable::Cut), "{name}");
            let noise = [0xFF, 0xFE, 0xFD, 0xFC].repeat(16);
            assert!(decode(name, &noise, 1 << 20).is_err(), "{name}");
        }
    }

    /// k6 1.8.1: `error decompressing response body (unexpected EOF)`.
    #[test]
    fn three_bytes_are_no_gzip() {
        assert_eq!(decode("gzip", b"abc", 99), Err(Undecodable::Truncated));
    }

    /// The codes and texts of k6 1.8.1.
    #[test]
    fn what_breaks_amid_a_body_is_told_from_what_never_began() {
        type Case<'a> = (&'a str, &'a [u8], u16, String, Option<&'a [u8]>);
        let (gzip, _) = encode("gzip", b"hello world").unwrap();
        let (zlib, _) = encode("deflate", b"hello world").unwrap();
        let (mut other_sum, size) = (gzip.clone(), gzip.len());
        other_sum[size - 8] ^= 1;
        let twice = |what: &str| {
            format!(
                "error decompressing response body (error decompressing response body ({what}))"
            )
        };
        let cases: [Case<'_>; 7] = [
            ("gzip", b"not gzip at all", 1701, twice("gzip: invalid header"), None),
            ("deflate", b"notzlib", 1701, twice("zlib: invalid header"), None),
            ("gzip", &other_sum, 1701, twice("gzip: invalid checksum"), Some(b"hello world")),
            ("gzip", &gzip[..size - 4], 1000, "unexpected EOF".to_owned(), Some(b"hello world")),
            (
                "deflate",
                &zlib[..zlib.len() - 2],
                1000,
                "unexpected EOF".to_owned(),
                Some(b"hello world"),
            ),
            (
                "zstd",
                b"not zstd at all!",
                1701,
                twice("invalid input: magic number mismatch"),
                Some(b""),
            ),
            ("zstd", b"\x28\xb5\x2f\xfd\x04", 1000, "unexpected EOF".to_owned(), Some(b"")),
        ];
        for (header, body, code, text, kept) in cases {
            let (partial, why) = decode_as_far(header, body, 99);
            let failure = crate::Failure::Decompression(why.unwrap());
            assert_eq!((failure.code(), failure.to_string()), (code, text), "{header} {body:?}");
            assert_eq!(partial.as_deref(), kept, "{header} {body:?}");
        }
    }

    #[test]
    fn an_unknown_compression_is_refused() {
        assert!(encode("GZIP", b"x").is_err());
        assert_eq!(
            encode("gzip,lzma", b"x").unwrap_err().to_string(),
            "unknown compression algorithm lzma, supported algorithms are [gzip deflate zstd br]"
        );
    }
}
