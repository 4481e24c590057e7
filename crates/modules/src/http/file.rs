//! `http.file`: data that becomes a part of a multipart form.

use std::sync::LazyLock;

use brunt_fiber::clock;
use brunt_http::Payload;
use brunt_quickjs::class::Own;
use brunt_quickjs::name::Key;
use brunt_quickjs::{Call, Class, Ctx, JsResult, Members, Name};

use super::body;
use crate::globals::web;
use crate::go_error::go_type;
use crate::state::throw;

static DATA: Name = Name::new("data");
static FILENAME: Name = Name::new("filename");
static CONTENT_TYPE: Name = Name::new("content_type");

/// The object that `http.file()` returns.
pub(super) struct FileData {
    pub(super) data: Payload,
    /// The data was given as text, and is shown as text.
    pub(super) is_text: bool,
    pub(super) filename: String,
    pub(super) content_type: String,
}

impl Class for FileData {
    const NAME: &'static std::ffi::CStr = c"FileData";
    const EXOTIC: bool = true;

    fn members() -> &'static Members {
        static NONE: LazyLock<Members> = LazyLock::new(Members::new);
        &NONE
    }

    fn own<'js>(&self, ctx: Ctx<'js>, key: &Key<'js>) -> JsResult<'js, Own<'js>> {
        if key.is(&DATA) {
            // What lies in a file or comes from a stream is not shown.
            let Some(data) = self.data.in_memory() else { return Ok(Own::Once(ctx.undefined())) };
            return Ok(Own::Keep(if self.is_text {
                ctx.string_from_utf8(&data)?
            } else {
                ctx.array_buffer(data.into_owned())?
            }));
        }
        if key.is(&FILENAME) {
            return Ok(Own::Once(ctx.string(&self.filename)?));
        }
        if key.is(&CONTENT_TYPE) {
            return Ok(Own::Once(ctx.string(&self.content_type)?));
        }
        Ok(Own::None)
    }

    fn own_names(&self) -> &'static [&'static Name] {
        static NAMES: [&Name; 3] = [&DATA, &FILENAME, &CONTENT_TYPE];
        &NAMES
    }
}

pub(super) fn file<'js>(call: Call<'js>) -> JsResult<'js> {
    let ctx = call.ctx();
    let given = call.argument(0);
    let part = web::named_blob(&given);
    let kind = part.as_ref().map(|part| part.content_type.clone()).filter(|kind| !kind.is_empty());
    let data = body::payload_of(&given).or_else(|| part.map(|part| part.payload));
    let Some(data) = data else {
        let kind = go_type(&given);
        return Err(throw(ctx, &format!("invalid type {kind}, expected string or ArrayBuffer")));
    };
    let or = |index: usize, default: String| -> JsResult<'js, String> {
        let argument = call.argument(index);
        if argument.is_nullish() { Ok(default) } else { argument.to_string_lossy() }
    };
    let filename = or(1, clock::now_ns().to_string())?;
    let content_type = or(2, kind.unwrap_or_else(|| "application/octet-stream".to_owned()))?;
    ctx.instance(FileData { data, is_text: given.is_string(), filename, content_type })
}
