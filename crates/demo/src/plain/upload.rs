//! `POST /upload/detect`: takes a multipart body strictly, and tells what was in it.

use std::fmt::Write;

use bytes::Bytes;
use hyper::header::CONTENT_TYPE;
use hyper::{Method, StatusCode};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tokio::time::Instant;

use super::multipart::{self, Malformed};
use crate::call::Call;
use crate::reply::{self, Refusal, Reply};
use crate::timing::milliseconds;

/// `{"parts":[{"name","filename","type","bytes","sha256"}],"ms"}`, or 400 with the offset of the
/// byte where the body stops being what RFC 7578 describes.
pub(super) async fn detect(call: &mut Call<'_>) -> Result<Reply, Refusal> {
    let begin = Instant::now();
    if call.parts.method != Method::POST {
        return Err(reply::wrong_method("POST"));
    }
    let content_type = call.header(CONTENT_TYPE).unwrap_or("").to_owned();
    let body = call.whole_body(usize::MAX).await?;
    let told = call.compute(|| inspect(&content_type, &body.bytes));
    match told {
        Ok(parts) => {
            Ok(reply::json(&json!({ "parts": parts, "ms": milliseconds(begin.elapsed()) })))
        }
        Err(malformed) => Err(refuse(&malformed)),
    }
}

/// 400 with the offset.
pub(crate) fn refuse(malformed: &Malformed) -> Refusal {
    let status = StatusCode::BAD_REQUEST;
    let answer = reply::json(&json!({
        "status": status.as_u16(),
        "error": malformed.reason,
        "offset": malformed.offset,
    }));
    Box::new(reply::with_status(answer, status))
}

fn inspect(content_type: &str, body: &Bytes) -> Result<Vec<Value>, Malformed> {
    let told = multipart::parse(content_type, body)?.into_iter().map(|part| {
        json!({
            "name": part.name,
            "filename": part.filename,
            "type": part.content_type,
            "bytes": part.content.len(),
            "sha256": hex(&Sha256::digest(&part.content)),
        })
    });
    Ok(told.collect())
}

/// Bytes as lower-case hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
