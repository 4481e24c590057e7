//! The FormData polyfill that scripts for k6 import from `https://jslib.k6.io/formdata/…`, natively.
//!
//! Its objects show what the polyfill's show: `boundary` and `parts` are plain properties that scripts read and set,
//! `append` adds a part, `body()` is an `ArrayBuffer`. Letters of texts become bytes as there, the low byte of each
//! UTF-16 unit, which is what its users' servers get from k6. `append` takes what `http.file()` makes, and objects of that
//! shape. Version 0.0.2 also takes texts, which become parts of `text/plain`; with 0.0.1 such a part is there, but empty.

use std::any::Any;
use std::rc::Rc;
use std::sync::LazyLock;

use brunt_http::{Payload, Piece, Shared};
use brunt_quickjs::error::ErrorKind;
use brunt_quickjs::{Call, Ctx, JsResult, LateBytes, Members, Name, Value};

use super::blob::{read_payload, shared_bytes};
use super::bodies::{named_blob, native_body};
use crate::go_error::adopt;
use crate::http::part::file_part;
use crate::module::Module;
use crate::reading::length_of;
use crate::state::VuState;
use crate::throwing::throw;

static BOUNDARY: Name = Name::new("boundary");
static PARTS: Name = Name::new("parts");
static FIELD: Name = Name::new("field");
static FILE: Name = Name::new("file");
static DATA: Name = Name::new("data");
static FILENAME: Name = Name::new("filename");
static CONTENT_TYPE: Name = Name::new("content_type");

const FIRST_VERSION: &str = "k6/jslib/formdata/0.0.1";
const LATEST_VERSION: &str = "k6/jslib/formdata";

/// The modules that scripts import: the built-in ones in place of the addresses of the polyfill.
pub(crate) struct Exports {
    specifier: &'static str,
    /// The members of its instances.
    prototype: fn() -> &'static Members,
    /// The class with this prototype.
    class: for<'js> fn(Ctx<'js>, &Value<'js>) -> JsResult<'js>,
}

/// Version 0.0.1.
pub(crate) static FIRST: Exports = Exports {
    specifier: FIRST_VERSION,
    prototype: || {
        static MEMBERS: LazyLock<Members> = LazyLock::new(|| {
            Members::new()
                .function(c"append", 2, |call| append(&call, false))
                .function(c"body", 0, body)
        });
        &MEMBERS
    },
    class: |ctx, prototype| {
        ctx.constructor(c"FormData", 0, |call| construct(&call, FIRST_VERSION), prototype)
    },
};

/// Every other version.
pub(crate) static LATEST: Exports = Exports {
    specifier: LATEST_VERSION,
    prototype: || {
        static MEMBERS: LazyLock<Members> = LazyLock::new(|| {
            Members::new()
                .function(c"append", 2, |call| append(&call, true))
                .function(c"body", 0, body)
        });
        &MEMBERS
    },
    class: |ctx, prototype| {
        ctx.constructor(c"FormData", 0, |call| construct(&call, LATEST_VERSION), prototype)
    },
};

impl Module for Exports {
    fn specifier(&self) -> &'static str {
        self.specifier
    }

    fn names(&self) -> Vec<String> {
        vec!["FormData".to_owned()]
    }

    fn fill<'js>(&self, ctx: Ctx<'js>, exports: &Value<'js>) -> JsResult<'js, ()> {
        let prototype = ctx.object()?;
        prototype.define_members((self.prototype)())?;
        exports.define("FormData", (self.class)(ctx, &prototype)?)
    }
}

/// Works with and without `new`, as the polyfill does.
fn construct<'js>(call: &Call<'js>, version: &'static str) -> JsResult<'js> {
    let ctx = call.ctx();
    let form = ctx.object()?;
    let mut random = fastrand::Rng::with_seed(VuState::drawn(ctx));
    let random: String = std::iter::repeat_with(|| random.alphanumeric()).take(20).collect();
    form.define(&BOUNDARY, ctx.string(&format!("------BruntFormBoundary{random}"))?)?;
    form.define(&PARTS, ctx.array()?)?;
    if call.this().is_function() {
        adopt(call, &form)?;
    } else if let Some(module) = VuState::of(ctx).module(ctx, version) {
        form.set_prototype(&module.get("FormData")?.get("prototype")?)?;
    }
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

/// Adds a part. `takes_texts`: a text is a field's value, and not merely something without data.
fn append<'js>(call: &Call<'js>, takes_texts: bool) -> JsResult<'js> {
    let ctx = call.ctx();
    enough(call)?;
    let data = call.argument(1);
    let file = if takes_texts && data.is_string() {
        ctx.object_from([(&DATA, data), (&CONTENT_TYPE, ctx.string("text/plain")?)])?
    } else {
        data
    };
    let part = ctx.object_from([(&FIELD, call.argument(0)), (&FILE, file)])?;
    add(call, part)
}

/// A part as it is written.
struct Part {
    name: String,
    filename: Option<String>,
    content_type: String,
    content: Payload,
}

const OCTETS: &str = "application/octet-stream";

fn read_part<'js>(ctx: Ctx<'js>, part: &Value<'js>) -> JsResult<'js, Part> {
    let (name, file) = (part.get(&FIELD)?.to_string_lossy()?, part.get(&FILE)?);
    // A file of `http.file()` need not come out as a value of JavaScript. Blobs and files are beyond the polyfill.
    let known = file_part(&file).filter(|known| !known.is_text);
    if let Some(known) = known.or_else(|| named_blob(&file)) {
        let kind = Some(known.content_type).filter(|kind| !kind.is_empty());
        return Ok(Part {
            name,
            filename: Some(known.filename).filter(|filename| !filename.is_empty()),
            content_type: kind.unwrap_or_else(|| OCTETS.to_owned()),
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
        content_type: text(&CONTENT_TYPE)?.unwrap_or_else(|| OCTETS.to_owned()),
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
    if let Some(part) = file_part(value) {
        return Ok(part.payload);
    }
    Ok(native_body(value).map_or_else(Payload::new, |body| body.payload))
}

/// The low byte of each UTF-16 unit.
fn low_bytes(text: &str) -> Vec<u8> {
    if text.is_ascii() { text.into() } else { text.encode_utf16().map(|unit| unit as u8).collect() }
}

fn body<'js>(call: Call<'js>) -> JsResult<'js> {
    let (ctx, form) = (call.ctx(), call.this());
    let boundary = low_bytes(&form.get(&BOUNDARY)?.to_js_str()?);
    let list = form.get(&PARTS)?;
    let parts: JsResult<'js, Vec<Part>> =
        (0..length_of(&list)?).map(|index| read_part(ctx, &list.get_index(index)?)).collect();
    let payload = joined(&boundary, &parts?);
    let size = payload.len().and_then(|size| usize::try_from(size).ok());
    let size = size.filter(|&size| i32::try_from(size).is_ok());
    let Some(size) = size else {
        let message = "the form has more bytes than an ArrayBuffer can hold; the global FormData has no such limit";
        return Err(throw(ctx, message));
    };
    ctx.late_buffer(Rc::new(LateBody { payload, size }))
}

/// The result of `body()`: joined if a script looks at it, not if it is only sent.
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

/// The pieces of a buffer that no script has looked at.
pub(crate) fn late_payload(value: &Value<'_>) -> Option<Payload> {
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
        head.push_str("\r\nContent-Type: ");
        head.push_str(&part.content_type);
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
