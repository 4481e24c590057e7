//! `http.file`: data that becomes a part of a multipart form.

use std::rc::Rc;

use brunt_fiber::clock;
use brunt_http::Shared;
use brunt_quickjs::{Call, JsResult};

use super::body;
use super::part::{FileData, FilePart};
use crate::globals::web::bodies::named_blob;
use crate::go_error::go_type;
use crate::throwing::throw;

pub(super) fn file<'js>(call: Call<'js>) -> JsResult<'js> {
    let ctx = call.ctx();
    let given = call.argument(0);
    let part = named_blob(&given);
    let kind = part.as_ref().map(|part| part.content_type.clone()).filter(|kind| !kind.is_empty());
    let payload = match given.as_str() {
        // As long as the file is there, its text counts as memory of the VU.
        Some(text) => {
            let text = ctx.held_bytes(text.as_bytes().to_vec())?;
            Some(Shared::new(Rc::new(text)).into())
        }
        None => body::payload_of(&given).or_else(|| part.map(|part| part.payload)),
    };
    let Some(payload) = payload else {
        let kind = go_type(&given);
        return Err(throw(ctx, &format!("invalid type {kind}, expected string or ArrayBuffer")));
    };
    let or = |index: usize, default: String| -> JsResult<'js, String> {
        let argument = call.argument(index);
        if argument.is_nullish() { Ok(default) } else { argument.to_string_lossy() }
    };
    let filename = or(1, clock::now_ns().to_string())?;
    let content_type = or(2, kind.unwrap_or_else(|| "application/octet-stream".to_owned()))?;
    let part = FilePart { payload, is_text: given.is_string(), filename, content_type };
    ctx.instance(FileData::new(ctx, part)?)
}
