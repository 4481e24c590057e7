//! The FormData polyfill that scripts for k6 import from `https://jslib.k6.io/formdata/…`, natively.
//!
//! Its objects show what the polyfill's show: `boundary` and `parts` are plain properties that scripts read and set,
//! `append` adds a part, `body()` is an `ArrayBuffer`. Letters of texts become bytes as there, the low byte of each
//! UTF-16 unit, which is what its users' servers get from k6. Version 0.0.1 takes `(name, value, filename)` and gives
//! texts no content type; the later one takes texts and objects of the shape that `http.file()` makes, and gives every
//! part one.

use std::any::Any;
use std::rc::Rc;
use std::sync::LazyLock;

use brunt_http::{Payload, Piece, Shared};
use brunt_quickjs::error::ErrorKind;
use brunt_quickjs::{Call, Ctx, JsResult, LateBytes, Members, Name, Value};

use super::{read_payload, shared_bytes};
use crate::go_error::adopt;
use crate::http;
use crate::state::throw;

static BOUNDARY: Name = Name::new("boundary");
static PARTS: Name = Name::new("parts");
static FIELD: Name = Name::new("field");
static FILE: Name = Name::new("file");
static DATA: Name = Name::new("data");
static NAME: Name = Name::new("name");
static VALUE: Name = Name::new("value");
static FILENAME: Name = Name::new("filename");
static CONTENT_TYPE: Name = Name::new("content_type");

/// The built-in names that the addresses of the polyfill stand for.
pub(crate) const FIRST: &str = "k6/jslib/formdata/0.0.1";
pub(crate) const LATEST: &str = "k6/jslib/formdata";

pub(crate) fn names() -> Vec<String> {
    vec!["FormData".to_owned()]
}

/// Version 0.0.1.
pub(crate) fn fill_first<'js>(
    ctx: Ctx<'js>,
    set: &mut dyn FnMut(&str, Value<'js>) -> JsResult<'js, ()>,
) -> JsResult<'js, ()> {
    static MEMBERS: LazyLock<Members> = LazyLock::new(|| {
        Members::new()
            .function(c"append", 3, append_value)
            .function(c"body", 0, |call| body(&call, read_value))
    });
    let prototype = ctx.object()?;
    prototype.define_members(&MEMBERS)?;
    set("FormData", ctx.constructor(c"FormData", 0, construct, &prototype)?)
}

/// Every other version.
pub(crate) fn fill<'js>(
    ctx: Ctx<'js>,
    set: &mut dyn FnMut(&str, Value<'js>) -> JsResult<'js, ()>,
) -> JsResult<'js, ()> {
    static MEMBERS: LazyLock<Members> = LazyLock::new(|| {
        Members::new()
            .function(c"append", 2, append_file)
            .function(c"body", 0, |call| body(&call, read_file))
    });
    let prototype = ctx.object()?;
    prototype.define_members(&MEMBERS)?;
    set("FormData", ctx.constructor(c"FormData", 0, construct, &prototype)?)
}

/// Works with and without `new`, as the polyfill does.
fn construct<'js>(call: Call<'js>) -> JsResult<'js> {
    let ctx = call.ctx();
    if !call.this().is_object() {
        return Err(throw(ctx, "a FormData of the formdata library is made with `new`"));
    }
    let form = ctx.object()?;
    let random: String = std::iter::repeat_with(fastrand::alphanumeric).take(20).collect();
    form.define(&BOUNDARY, ctx.string(&format!("------BruntFormBoundary{random}"))?)?;
    form.define(&PARTS, ctx.array()?)?;
    adopt(&call, &form)?;
    Ok(form)
}

fn add<'js>(call: &Call<'js>, part: Value<'js>) -> JsResult<'js> {
    let parts = call.this().get(&PARTS)?;
    parts.set_index(parts.length()?, part)?;
    Ok(call.ctx().undefined())
}

fn enough<'js>(call: &Call<'js>) -> JsResult<'js, ()> {
    if call.len() < 2 {
        return Err(call.ctx().throw_error(ErrorKind::Syntax, "Not enough arguments"));
    }
    Ok(())
}

fn append_value<'js>(call: Call<'js>) -> JsResult<'js> {
    enough(&call)?;
    let part = call.ctx().object_from([
        (&NAME, call.argument(0)),
        (&VALUE, call.argument(1)),
        (&FILENAME, call.argument(2)),
    ])?;
    add(&call, part)
}

fn append_file<'js>(call: Call<'js>) -> JsResult<'js> {
    let ctx = call.ctx();
    enough(&call)?;
    let data = call.argument(1);
    let file = if data.is_string() { ctx.object_from([(&DATA, data)])? } else { data };
    let part = ctx.object_from([(&FIELD, call.argument(0)), (&FILE, file)])?;
    add(&call, part)
}

/// A part as it is written.
struct Part {
    name: String,
    filename: Option<String>,
    content_type: Option<String>,
    content: Payload,
}

fn read_value<'js>(ctx: Ctx<'js>, part: &Value<'js>) -> JsResult<'js, Part> {
    let value = part.get(&VALUE)?;
    let is_binary = value.is_array_like_proxy()
        || value.is_array_buffer()
        || value.typed_array_name().is_some()
        || value.is_data_view();
    let filename = part.get(&FILENAME)?;
    let filename = if filename.truthy() { Some(filename.to_string_lossy()?) } else { None };
    let (own_name, own_type) =
        super::named_blob(&value).map(|blob| (blob.filename, blob.content_type)).unzip();
    Ok(Part {
        name: part.get(&NAME)?.to_string_lossy()?,
        filename: filename.or(own_name),
        content_type: own_type.or_else(|| is_binary.then(|| OCTETS.to_owned())),
        content: content(ctx, &value)?,
    })
}

const OCTETS: &str = "application/octet-stream";

fn read_file<'js>(ctx: Ctx<'js>, part: &Value<'js>) -> JsResult<'js, Part> {
    let (name, file) = (part.get(&FIELD)?.to_string_lossy()?, part.get(&FILE)?);
    // What `http.file()` made need not come out as a value of JavaScript. Blobs and files are beyond the polyfill.
    let known = http::file_part(&file).filter(|known| !known.is_text);
    if let Some(known) = known.or_else(|| super::named_blob(&file)) {
        let kind = Some(known.content_type).filter(|kind| !kind.is_empty());
        return Ok(Part {
            name,
            filename: Some(known.filename).filter(|filename| !filename.is_empty()),
            content_type: Some(kind.unwrap_or_else(|| OCTETS.to_owned())),
            content: known.payload,
        });
    }
    let text = |key: &Name| -> JsResult<'js, Option<String>> {
        let value = file.get(key)?;
        if value.truthy() { value.to_string_lossy().map(Some) } else { Ok(None) }
    };
    Ok(Part {
        name,
        filename: text(&FILENAME)?,
        content_type: Some(text(&CONTENT_TYPE)?.unwrap_or_else(|| OCTETS.to_owned())),
        content: content(ctx, &file.get(&DATA)?)?,
    })
}

/// The bytes of a string, an array of numbers, a buffer or a view. Of anything else there are none.
fn content<'js>(ctx: Ctx<'js>, value: &Value<'js>) -> JsResult<'js, Payload> {
    if let Some(text) = value.as_str() {
        return Ok(low_bytes(&text).into());
    }
    if let Some(bytes) = shared_bytes(value) {
        return Ok(bytes.into());
    }
    if value.is_array_like_proxy() {
        let class = ctx.global().get("Uint8Array")?;
        let array = class.construct(std::slice::from_ref(value))?;
        return Ok(shared_bytes(&array).map_or_else(Payload::new, Payload::from));
    }
    if let Some(part) = http::file_part(value) {
        return Ok(part.payload);
    }
    Ok(super::native_body(value).map_or_else(Payload::new, |body| body.payload))
}

/// The low byte of each UTF-16 unit.
fn low_bytes(text: &str) -> Vec<u8> {
    if text.is_ascii() { text.into() } else { text.encode_utf16().map(|unit| unit as u8).collect() }
}

fn body<'js>(
    call: &Call<'js>,
    read: fn(Ctx<'js>, &Value<'js>) -> JsResult<'js, Part>,
) -> JsResult<'js> {
    let (ctx, form) = (call.ctx(), call.this());
    let boundary = low_bytes(&form.get(&BOUNDARY)?.to_js_str()?);
    let list = form.get(&PARTS)?;
    let parts: JsResult<'js, Vec<Part>> =
        (0..list.length()?).map(|index| read(ctx, &list.get_index(index)?)).collect();
    let payload = joined(&boundary, &parts?);
    let size = payload.len().and_then(|size| usize::try_from(size).ok());
    let size = size.filter(|&size| i32::try_from(size).is_ok());
    let Some(size) = size else {
        let message = "the form has more bytes than an ArrayBuffer can hold; the global FormData has no such limit";
        return Err(throw(ctx, message));
    };
    ctx.late_buffer(Rc::new(LateBody { payload, size }))
}

/// What `body()` returns: joined if a script looks at it, not if it is only sent.
struct LateBody {
    payload: Payload,
    size: usize,
}

impl LateBytes for LateBody {
    fn size(&self) -> usize {
        self.size
    }

    fn make(&self) -> Option<Vec<u8>> {
        let bytes = read_payload(&self.payload).ok()?;
        (bytes.len() == self.size).then(|| bytes.into_owned())
    }
}

/// What a buffer would be made of that no script has looked at.
pub(super) fn late_payload(value: &Value<'_>) -> Option<Payload> {
    let late: Rc<dyn Any> = value.late_bytes()?;
    late.downcast::<LateBody>().ok().map(|late| late.payload.clone())
}

/// The body: one buffer of heads, with the contents in between, which stay where they are.
fn joined(boundary: &[u8], parts: &[Part]) -> Payload {
    let mut text = Vec::with_capacity(parts.len() * (boundary.len() + 192) + boundary.len() + 8);
    // Where a content cuts the text.
    let mut cuts = Vec::with_capacity(parts.len());
    for part in parts {
        text.extend_from_slice(b"--");
        text.extend_from_slice(boundary);
        text.extend_from_slice(b"\r\n");
        let mut head = format!("Content-Disposition: form-data; name=\"{}\"", part.name);
        if let Some(filename) = &part.filename {
            head.push_str("; filename=\"");
            head.push_str(&filename.replace('"', "%22"));
            head.push('"');
        }
        if let Some(content_type) = &part.content_type {
            head.push_str("\r\nContent-Type: ");
            head.push_str(content_type);
        }
        head.push_str("\r\n\r\n");
        text.extend_from_slice(&low_bytes(&head));
        cuts.push((text.len(), &part.content));
        text.extend_from_slice(b"\r\n");
    }
    text.extend_from_slice(b"--");
    text.extend_from_slice(boundary);
    text.extend_from_slice(b"--\r\n");
    let text = Shared::from(text);
    let mut pieces: Vec<Piece> = Vec::with_capacity(2 * cuts.len() + 1);
    let mut from = 0;
    for (end, content) in cuts {
        pieces.push(text.slice(from..end).into());
        pieces.extend_from_slice(content.pieces());
        from = end;
    }
    pieces.push(text.slice(from..text.as_slice().len()).into());
    pieces.into_iter().collect()
}
