//! `/gzip`, `/br`, `/deflate`, `/zstd`: the same JSON in each content coding.

use std::io::{self, Write};
use std::sync::LazyLock;

use bytes::Bytes;
use hyper::header::{CONTENT_ENCODING, HeaderValue};
use serde_json::json;

use super::documents::items;
use crate::call::Call;
use crate::reply::{self, Reply};

/// Items in the document: about 4 kB, so that compressing it pays.
const ITEMS: u64 = 30;

struct Coded {
    gzip: Bytes,
    brotli: Bytes,
    deflate: Bytes,
    zstd: Bytes,
}

/// Compressed once: the routes test decoders, not our encoders.
static CODED: LazyLock<Coded> =
    LazyLock::new(|| encode().expect("compressing from memory to memory meets no I/O error"));

fn encode() -> io::Result<Coded> {
    let document = |coding: &str| json!({ "coding": coding, "items": items(0, ITEMS) }).to_string();
    let level = flate2::Compression::default();
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), level);
    gzip.write_all(document("gzip").as_bytes())?;
    // "deflate" in HTTP is the zlib format, RFC 9110 §8.4.1.2.
    let mut deflate = flate2::write::ZlibEncoder::new(Vec::new(), level);
    deflate.write_all(document("deflate").as_bytes())?;
    let mut brotli = Vec::new();
    let params = brotli::enc::BrotliEncoderParams { quality: 5, ..Default::default() };
    brotli::BrotliCompress(&mut document("br").as_bytes(), &mut brotli, &params)?;
    Ok(Coded {
        gzip: gzip.finish()?.into(),
        deflate: deflate.finish()?.into(),
        brotli: brotli.into(),
        zstd: zstd::encode_all(document("zstd").as_bytes(), 3)?.into(),
    })
}

pub(super) fn gzip(call: &mut Call<'_>) -> Reply {
    coded("gzip", &call.compute(|| CODED.gzip.clone()))
}

pub(super) fn brotli(call: &mut Call<'_>) -> Reply {
    coded("br", &call.compute(|| CODED.brotli.clone()))
}

pub(super) fn deflate(call: &mut Call<'_>) -> Reply {
    coded("deflate", &call.compute(|| CODED.deflate.clone()))
}

pub(super) fn zstd(call: &mut Call<'_>) -> Reply {
    coded("zstd", &call.compute(|| CODED.zstd.clone()))
}

fn coded(coding: &'static str, bytes: &Bytes) -> Reply {
    let mut answer = reply::typed(HeaderValue::from_static("application/json"), bytes.clone());
    answer.headers_mut().insert(CONTENT_ENCODING, HeaderValue::from_static(coding));
    answer
}
