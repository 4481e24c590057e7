//! Content codings, taken off the copies of bodies.

use std::io::{self, BufReader, Read};
use std::sync::Arc;

use brunt_traffic::{Body, Headers};

use crate::store::{Keeper, Store, reader};

/// More codings on one body are an attack, not a page.
const CODINGS_MAX: usize = 3;

/// The body without its codings, never larger than `limit`: what is larger loses its bytes and keeps its size. Of a damaged one, the part
/// before the damage is kept.
pub(crate) fn decoded(body: Body, headers: &Headers, store: &Arc<Store>, limit: u64) -> Body {
    let codings: Vec<String> = headers
        .all("content-encoding")
        .flat_map(|value| value.split(','))
        .map(|coding| coding.trim().to_ascii_lowercase())
        .filter(|coding| !coding.is_empty() && coding != "identity")
        .collect();
    if codings.is_empty() || matches!(body, Body::Empty | Body::Absent { .. }) {
        return body;
    }
    let size = body.size();
    let absent = |why: String| Body::Absent { why, size };
    if codings.len() > CODINGS_MAX {
        Keeper::forget(store, body);
        return absent(format!("it has {} content codings", codings.len()));
    }
    let mut keeper = Keeper::new(store, limit);
    let read = stacked(&body, &codings).and_then(|mut from| keeper.fill(&mut *from));
    Keeper::forget(store, body);
    match read {
        Err(error) if keeper.size() == 0 => {
            absent(format!("its content coding {} is damaged: {error}", codings.join(", ")))
        }
        _ => keeper.finish(),
    }
}

/// Readers of all codings, the last one applied first.
fn stacked(body: &Body, codings: &[String]) -> io::Result<Box<dyn Read>> {
    codings.iter().rev().try_fold(reader(body)?, |from, coding| one(from, coding))
}

fn one(from: Box<dyn Read>, coding: &str) -> io::Result<Box<dyn Read>> {
    Ok(match coding {
        "gzip" | "x-gzip" => Box::new(flate2::read::MultiGzDecoder::new(from)),
        "br" => Box::new(brotli::Decompressor::new(from, 16 * 1024)),
        "zstd" => Box::new(zstd::stream::read::Decoder::new(from)?),
        "deflate" => deflate(from)?,
        other => return Err(io::Error::other(format!("nothing here reads \"{other}\""))),
    })
}

/// `deflate` is zlib's format, but some servers send it without its head.
fn deflate(mut from: Box<dyn Read>) -> io::Result<Box<dyn Read>> {
    let mut head = [0; 2];
    let mut have = 0;
    while have < 2 {
        match from.read(&mut head[have..])? {
            0 => break,
            size => have += size,
        }
    }
    let is_zlib = have == 2 && head[0] & 0x0f == 8 && u16::from_be_bytes(head).is_multiple_of(31);
    let whole = BufReader::new(io::Cursor::new(head[..have].to_vec()).chain(from));
    Ok(if is_zlib {
        Box::new(flate2::bufread::ZlibDecoder::new(whole))
    } else {
        Box::new(flate2::bufread::DeflateDecoder::new(whole))
    })
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use flate2::Compression;
    use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};

    use super::*;
    use crate::config::Limits;

    const TEXT: &[u8] = b"the text of a page, the text of a page, the text of a page";

    fn gzip(plain: &[u8]) -> Vec<u8> {
        let mut to = GzEncoder::new(Vec::new(), Compression::fast());
        to.write_all(plain).unwrap();
        to.finish().unwrap()
    }

    fn plain(packed: Vec<u8>, coding: &str, limit: u64) -> Body {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::new(folder.path(), Limits::default());
        let headers = Headers(vec![("Content-Encoding".to_owned(), coding.to_owned())]);
        decoded(Body::Bytes(packed.into()), &headers, &store, limit)
    }

    #[test]
    fn every_coding_of_browsers_is_taken_off() {
        let mut zlib = ZlibEncoder::new(Vec::new(), Compression::fast());
        zlib.write_all(TEXT).unwrap();
        let mut raw = DeflateEncoder::new(Vec::new(), Compression::fast());
        raw.write_all(TEXT).unwrap();
        let mut br = Vec::new();
        brotli::CompressorWriter::new(&mut br, 4096, 5, 20).write_all(TEXT).unwrap();
        for (packed, coding) in [
            (gzip(TEXT), "gzip"),
            (gzip(TEXT), "X-GZIP"),
            (zlib.finish().unwrap(), "deflate"),
            (raw.finish().unwrap(), "deflate"),
            (br, "br"),
            (zstd::encode_all(TEXT, 1).unwrap(), "zstd"),
            (gzip(&zstd::encode_all(TEXT, 1).unwrap()), "zstd, gzip"),
            (TEXT.to_vec(), "identity"),
        ] {
            assert_eq!(plain(packed, coding, 1000).in_memory(), Some(TEXT), "{coding}");
        }
    }

    #[test]
    fn a_bomb_ends_at_the_limit() {
        let bomb = gzip(&vec![0; 10 << 20]);
        let body = plain(bomb, "gzip", 1 << 20);
        assert!(matches!(body, Body::Absent { .. }), "{body:?}");
    }

    #[test]
    fn damage_keeps_the_beginning_and_never_panics() {
        let mut packed = gzip(&TEXT.repeat(1000));
        packed.truncate(packed.len() - 9);
        let body = plain(packed, "gzip", 1 << 20);
        assert!(body.in_memory().unwrap().starts_with(TEXT));
        for coding in ["gzip", "br", "zstd", "deflate", "dcb", "gzip,gzip,gzip,gzip"] {
            let body = plain(b"\xffno such thing".to_vec(), coding, 1000);
            assert!(matches!(body, Body::Absent { size: Some(14), .. }), "{coding}: {body:?}");
        }
    }
}
