//! Content codings taken off a body that is all there, a slice at a time.
//!
//! A body of a megabyte may unpack to a thousand, or to nothing for seconds: whoever unpacks it must stop now and then, so that
//! others on the core go on and the request's time limit holds.

use std::cell::Cell;
use std::io::{self, Read};
use std::ops::Deref;

use brunt_net::budget::{Share, make_room};

use super::{Coding, Undecodable, codings, decode_one, is_zlib, opened, why};
use crate::failure::Failure;

/// The most bytes that a slice reads of a coding, and the most that it makes.
const INPUT_STEP: usize = 64 * 1024;
const OUTPUT_STEP: usize = 512 * 1024;

/// The maximum number of codings of a small body that are taken off at once.
const LAYERS: usize = 2;

/// The bytes that are copied at a time.
const BUFFER: usize = 32 * 1024;

/// A body with its codings off. Beyond its first MiB it counts towards what all bodies may hold.
#[derive(Debug, Default)]
pub struct Unpacked {
    bytes: Vec<u8>,
    share: Share,
}

impl Unpacked {
    fn keep(&mut self, data: &[u8], limit: u64) -> Result<(), Failure> {
        let size = (self.bytes.len() + data.len()) as u64;
        if size > limit {
            return Err(Failure::Decompression(Undecodable::TooLarge(limit)));
        }
        self.share.cover(size).map_err(Failure::BodiesTooLarge)?;
        let most = limit - self.bytes.len() as u64;
        let made = make_room(&mut self.bytes, data.len(), most);
        made.map_err(Failure::BodiesTooLarge)?;
        self.bytes.extend_from_slice(data);
        Ok(())
    }
}

impl Deref for Unpacked {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes
    }
}

/// The result of unpacking: the body (`None`: there was nothing to take off, or it never began), and the failure.
pub type Outcome = (Option<Unpacked>, Option<Failure>);

/// As [`unpack`], at once: for a small body that unpacks to little, as most do. `None` if it is not one.
pub fn unpack_small(header: &str, body: &[u8], limit: u64) -> Option<Outcome> {
    let most = limit.min(OUTPUT_STEP as u64);
    let mut decoded: Option<Vec<u8>> = None;
    let all = || header.rsplit(',').filter_map(Coding::parse);
    if all().nth(LAYERS).is_some() {
        return None;
    }
    for coding in all() {
        let input = decoded.as_deref().unwrap_or(body);
        if input.is_empty() {
            break;
        }
        if input.len() > INPUT_STEP {
            return None;
        }
        let mut out = Vec::new();
        if let Err(why) = decode_one(coding, input, most, &mut out) {
            if matches!(why, Undecodable::TooLarge(_)) && most < limit {
                return None;
            }
            let out = has_begun(why).then_some(out);
            return Some((out.map(Unpacked::from), Some(Failure::Decompression(why))));
        }
        decoded = Some(out);
    }
    Some((decoded.map(Unpacked::from), None))
}

/// Takes off the codings that `header` lists, last first, as far as they are known. `limit` bounds what comes out of each, in
/// bytes; what all bodies of the process may hold bounds it, too.
///
/// After each slice, which takes about a millisecond, `pause` is waited for: it lets others have their turn. When it says
/// `false`, there is no time left ([`Failure::Timeout`]).
pub async fn unpack(
    header: &str,
    body: &[u8],
    limit: u64,
    pause: impl AsyncFn() -> bool,
) -> Outcome {
    let mut decoded: Option<Unpacked> = None;
    if body.is_empty() {
        return (None, None);
    }
    let codings = match codings(header) {
        Ok(codings) => codings,
        Err(why) => return (None, Some(Failure::Decompression(why))),
    };
    for coding in codings {
        let input = decoded.as_deref().unwrap_or(body);
        if input.is_empty() {
            break;
        }
        if decoded.is_some() && !pause().await {
            return (None, Some(Failure::Timeout));
        }
        let mut out = Unpacked::default();
        if let Err(failure) = unpack_one(coding, input, limit, &mut out, &pause).await {
            let is_kept = match failure {
                Failure::Decompression(why) => has_begun(why),
                _ => false,
            };
            return (is_kept.then_some(out), Some(failure));
        }
        decoded = Some(out);
    }
    (decoded, None)
}

async fn unpack_one(
    coding: Coding,
    input: &[u8],
    limit: u64,
    out: &mut Unpacked,
    pause: &impl AsyncFn() -> bool,
) -> Result<(), Failure> {
    let (allowed, is_dry) = (Cell::new(INPUT_STEP), Cell::new(false));
    let source = Sliced { rest: input, allowed: &allowed, is_dry: &is_dry };
    let failed = |error: &io::Error, out: &mut Unpacked| {
        Failure::Decompression(why(coding, input, &mut out.bytes, error, is_dry.get()))
    };
    let mut decoder =
        opened(coding, is_zlib(input), source).map_err(|error| failed(&error, &mut *out))?;
    let mut buffer = vec![0; BUFFER];
    let mut made = 0;
    loop {
        match decoder.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(size) => {
                out.keep(&buffer[..size], limit)?;
                made += size;
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => made = OUTPUT_STEP,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(failed(&error, out)),
        }
        if made >= OUTPUT_STEP {
            if !pause().await {
                return Err(Failure::Timeout);
            }
            made = 0;
            allowed.set(INPUT_STEP);
        }
    }
}

/// Whether something of it can be shown.
pub(super) fn has_begun(why: Undecodable) -> bool {
    !matches!(
        why,
        Undecodable::Truncated
            | Undecodable::TooLarge(_)
            | Undecodable::TooDeep(_)
            | Undecodable::Header(Coding::Gzip | Coding::Deflate)
    )
}

impl From<Vec<u8>> for Unpacked {
    /// For what is small.
    fn from(bytes: Vec<u8>) -> Self {
        Self { bytes, share: Share::default() }
    }
}

/// Input that is given out as far as it is allowed; then reading "would block".
struct Sliced<'a> {
    rest: &'a [u8],
    allowed: &'a Cell<usize>,
    is_dry: &'a Cell<bool>,
}

impl Read for Sliced<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.is_dry.set(self.rest.is_empty());
        let allowed = self.allowed.get();
        if allowed == 0 && !self.rest.is_empty() && !into.is_empty() {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        let most = into.len().min(allowed);
        let size = self.rest.read(&mut into[..most])?;
        self.allowed.set(allowed - size);
        Ok(size)
    }
}

#[cfg(test)]
mod tests {
    use std::task::{Context, Poll, Waker};

    use super::super::{decode_as_far, encode};
    use super::*;

    /// Runs it to its end; says how often it paused.
    fn unpacked(header: &str, body: &[u8], limit: u64, turns: usize) -> (Outcome, usize) {
        let paused = Cell::new(0);
        let pause = async || {
            paused.set(paused.get() + 1);
            paused.get() < turns
        };
        let mut unpacking = std::pin::pin!(unpack(header, body, limit, pause));
        match unpacking.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(outcome) => (outcome, paused.get()),
            Poll::Pending => unreachable!("nothing here waits"),
        }
    }

    #[test]
    fn slices_make_what_one_go_makes() {
        let body: Vec<u8> =
            (0..900_000_u32).flat_map(|number| (number * number % 977).to_le_bytes()).collect();
        let (mut cut, noise) = (0, [0xFF, 0xFE, 0xFD, 0xFC].repeat(40_000));
        for list in ["gzip", "deflate", "br", "zstd", "gzip, gzip", "zstd,deflate"] {
            let (encoded, header) = encode(list, &body).unwrap();
            let (whole, paused) = unpacked(&header, &encoded, 1 << 30, usize::MAX);
            assert!(whole.1.is_none() && paused >= 5, "{list} {paused}");
            assert!(*whole.0.unwrap() == body, "{list}");
            for broken in [&encoded[..encoded.len() / 2], &noise, b"a", b"abc"] {
                let (out, why) = decode_as_far(&header, broken, 1 << 30);
                let ((sliced, failure), _) = unpacked(&header, broken, 1 << 30, usize::MAX);
                assert_eq!(failure, why.map(Failure::Decompression), "{list}");
                assert!(sliced.as_deref() == out.as_deref(), "{list}");
                if let Some((small, failure)) = unpack_small(&header, broken, 1 << 30) {
                    assert_eq!(failure, why.map(Failure::Decompression), "{list}");
                    assert!(small.as_deref() == out.as_deref(), "{list}");
                    cut += 1;
                }
            }
        }
        assert!(cut >= 12, "{cut}");
    }

    #[test]
    fn a_bomb_ends_at_its_bound_or_when_its_time_is_over() {
        for name in ["gzip", "deflate", "br", "zstd"] {
            let (encoded, _) = encode(name, &vec![0; 30_000_000]).unwrap();
            assert!(unpack_small(name, &encoded, 1 << 30).is_none(), "{name}");
            let ((out, failure), _) = unpacked(name, &encoded, 10_000_000, usize::MAX);
            let why = Failure::Decompression(Undecodable::TooLarge(10_000_000));
            assert_eq!((out.is_none(), failure), (true, Some(why)), "{name}");
            let ((_, failure), paused) = unpacked(name, &encoded, 1 << 30, 7);
            assert_eq!((failure, paused), (Some(Failure::Timeout), 7), "{name}");
        }
    }

    #[test]
    fn a_body_that_is_coded_too_often_is_refused_and_each_coding_has_its_turn() {
        let (encoded, header) = encode("gzip,gzip,gzip", b"hello").unwrap();
        assert!(unpack_small(&header, &encoded, 100).is_none());
        let ((out, failure), paused) = unpacked(&header, &encoded, 100, usize::MAX);
        assert_eq!((out.as_deref(), failure, paused), (Some(&b"hello"[..]), None, 2));
        let ((out, failure), _) = unpacked(&header, &encoded, 100, 1);
        assert_eq!((out.is_none(), failure), (true, Some(Failure::Timeout)));
        let header = "gzip,".repeat(100_000);
        assert!(unpack_small(&header, b"x", 100).is_none());
        let why = Failure::Decompression(Undecodable::TooDeep(16));
        assert_eq!(unpacked(&header, b"x", 100, usize::MAX).0.1, Some(why));
        assert_eq!(unpacked(&header, b"", 100, usize::MAX).0.1, None);
    }

    #[test]
    fn members_without_content_pause_too() {
        let (empty, _) = encode("gzip", b"").unwrap();
        let ((out, failure), paused) = unpacked("gzip", &empty.repeat(100_000), 100, usize::MAX);
        assert_eq!((out.unwrap().len(), failure), (0, None));
        assert!(paused >= 20, "{paused}");
    }
}
