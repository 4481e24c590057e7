//! The static files of the pages, with what a browser's cache needs.

use std::io::Cursor;
use std::sync::LazyLock;
use std::sync::atomic::Ordering::Relaxed;

use bytes::Bytes;
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderValue};
use hyper::{Response, StatusCode};
use image::{ImageFormat, Rgb, RgbImage};

use crate::body::Body;
use crate::call::Call;
use crate::images::Answer;
use crate::reply::{self, Refusal, Reply};

/// The files by name. Library and version in the query are for caches only.
static FILES: LazyLock<[(&str, Answer); 3]> = LazyLock::new(|| {
    let text = |text: &'static str| Bytes::from_static(text.as_bytes());
    [
        ("theme.css", Answer::new(text(include_str!("resource/theme.css")), "text/css")),
        ("jsf.js", Answer::new(text(include_str!("resource/jsf.js")), "text/javascript")),
        ("logo.png", Answer::new(logo(), "image/png")),
    ]
});

/// Answers a file: 200, or 304 to a client that has it.
pub(super) fn answer(call: &Call<'_>, name: &str) -> Result<Reply, Refusal> {
    if !call.is_get() {
        return Err(reply::wrong_method("GET, HEAD"));
    }
    let file = FILES.iter().find(|(known, _)| *known == name);
    let (_, file) = file.ok_or_else(reply::not_found)?;
    let counts = &call.app.forms.counts;
    let mut reply = Response::new(Body::empty());
    if file.is_known_by(&call.parts.headers) {
        counts.not_modified.fetch_add(1, Relaxed);
        *reply.status_mut() = StatusCode::NOT_MODIFIED;
    } else {
        counts.resources.fetch_add(1, Relaxed);
        let content_type = HeaderValue::from_static(file.content_type);
        reply.headers_mut().insert(CONTENT_TYPE, content_type);
        *reply.body_mut() = file.bytes.clone().into();
    }
    let headers = reply.headers_mut();
    file.describe(headers);
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("max-age=86400"));
    Ok(reply)
}

/// A small picture: a bar that swells.
fn logo() -> Bytes {
    let picture = RgbImage::from_fn(96, 32, |x, y| {
        let is_bar = y.abs_diff(16) * 6 < x;
        Rgb(if is_bar { [200, 80, 40] } else { [250, 246, 240] })
    });
    let mut png = Cursor::new(Vec::new());
    picture.write_to(&mut png, ImageFormat::Png).expect("a picture in memory can be encoded");
    png.into_inner().into()
}
