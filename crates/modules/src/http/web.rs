//! What `globals/web` needs of requests and responses: see there.

use std::rc::Rc;

use brunt_http::Payload;
use brunt_quickjs::{Call, Ctx, JsResult, Value};

use super::cookies;
use super::fasthttp::FileStream;
use super::file::FileData;
use super::response::Response;
use super::settle;
use super::state::SharedJar;

/// What an object made by `http.file()` holds.
pub(crate) struct FilePart {
    pub(crate) payload: Payload,
    /// The data was given as text.
    pub(crate) is_text: bool,
    pub(crate) filename: String,
    pub(crate) content_type: String,
}

/// What `http.file()` made, and `FileStream`; `None` for other values.
pub(crate) fn file_part(value: &Value<'_>) -> Option<FilePart> {
    if let Some(stream) = value.instance::<FileStream>() {
        return Some(stream.part());
    }
    value.instance::<FileData>().map(|file| FilePart {
        payload: file.data.clone(),
        is_text: file.is_text,
        filename: file.filename.clone(),
        content_type: file.content_type.clone(),
    })
}

/// The body of a response, its content codings taken off. `None` if it has none, or none was kept.
pub(crate) fn response_body<'a>(value: &'a Value<'_>) -> Option<&'a [u8]> {
    value.instance::<Response>()?.kept_body()
}

/// The lines of a response's head as they came; bytes beyond ASCII are read as Latin-1.
pub(crate) fn header_lines(value: &Value<'_>) -> Vec<(String, String)> {
    let head = value.instance::<Response>().and_then(Response::head);
    let line = |(name, value): (&str, &[u8])| {
        (name.to_owned(), value.iter().map(|&byte| char::from(byte)).collect())
    };
    head.map_or_else(Vec::new, |head| head.headers().map(line).collect())
}

/// Whether redirects led to this response.
pub(crate) fn is_redirected(value: &Value<'_>) -> bool {
    value.instance::<Response>().is_some_and(Response::is_redirected)
}

/// The jar that a script's `CookieJar` stands for.
pub(crate) fn jar_in(value: &Value<'_>) -> Option<SharedJar> {
    value.instance::<cookies::CookieJar>().map(|jar| Rc::clone(&jar.jar))
}

/// A cookie jar of nobody else.
pub(crate) fn new_jar(call: Call<'_>) -> JsResult<'_> {
    cookies::construct(call)
}

/// A promise that is settled with what a function returned or threw.
pub(crate) fn settled<'js>(ctx: Ctx<'js>, outcome: JsResult<'js>) -> JsResult<'js> {
    let (promise, deferred) = ctx.promise()?;
    settle(ctx, deferred, outcome)?;
    Ok(promise)
}
