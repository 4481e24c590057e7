//! `Blob` and `File` (W3C File API): bytes in pieces, which are neither copied nor changed.

use std::borrow::Cow;
use std::ffi::CStr;
use std::io::{Read, Seek, SeekFrom};
use std::ops::Range;
use std::rc::Rc;
use std::sync::LazyLock;

use brunt_fiber::clock;
use brunt_http::{FileRange, Payload, Piece, Shared};
use brunt_quickjs::{Call, Class, Ctx, JsResult, Members, Name, Value, Weight};

use super::parts::{self, Set};
use crate::globals::text::needs_new;
use crate::globals::url::params::{is_iterable, list_of};
use crate::go_error::adopt;
use crate::reading::{Room, length_of};
use crate::throwing::{settled, throw};

/// The maximum number of bytes that are made into one buffer or string. Larger bodies can be sent, and read as a
/// stream.
pub(crate) const READ_MAX: u64 = 1024 * 1024 * 1024;

/// The content of a `Blob` or `File`. A clone shares the pieces.
#[derive(Clone)]
pub(crate) struct BlobData {
    payload: Payload,
    size: u64,
    kind: Rc<str>,
}

impl BlobData {
    /// `payload` has no streams in it; `kind` is the type as it is to be shown.
    pub(crate) fn new(payload: Payload, kind: &str) -> Self {
        Self { size: payload.len().unwrap_or(0), payload, kind: kind.into() }
    }

    pub(crate) fn payload(&self) -> &Payload {
        &self.payload
    }

    /// The type: a MIME type, or empty.
    pub(crate) fn kind(&self) -> &str {
        &self.kind
    }

    /// The bytes of the list of its pieces.
    fn list_len(&self) -> usize {
        size_of_val(self.payload.pieces())
    }

    /// A part of it, as far as there is that much.
    pub(super) fn slice(&self, range: Range<u64>, kind: &str) -> Self {
        let mut start = 0;
        let mut pieces = Vec::new();
        for piece in self.payload.pieces() {
            let len = piece.len().unwrap_or(0);
            let from = range.start.max(start);
            let to = range.end.min(start + len);
            if from < to {
                pieces.push(part(piece, from - start..to - start));
            }
            start += len;
        }
        Self::new(pieces.into_iter().collect(), kind)
    }
}

/// A part of a piece, which has it.
fn part(piece: &Piece, range: Range<u64>) -> Piece {
    let in_memory = range.start as usize..range.end as usize;
    match piece {
        Piece::Static(bytes) => Piece::Static(&bytes[in_memory]),
        Piece::Bytes(bytes) => Piece::Bytes(bytes.slice(in_memory)),
        Piece::File(file) => Piece::File(FileRange {
            path: file.path.clone(),
            start: file.start + range.start,
            len: range.end - range.start,
        }),
        Piece::Stream(source) => Piece::Stream(source.clone()),
    }
}

/// All bytes of a payload that has no streams in it. Files are read here and now.
///
/// # Errors
/// A sentence: too large, or a file that cannot be read.
pub(crate) fn read_payload(payload: &Payload) -> Result<Cow<'_, [u8]>, String> {
    let size = payload.len().ok_or("a stream cannot be read as a whole")?;
    if size > READ_MAX {
        return Err(format!("{size} bytes are too many to be read as a whole: {READ_MAX} can be"));
    }
    if let Some(bytes) = payload.in_memory() {
        return Ok(bytes);
    }
    let mut bytes = Vec::with_capacity(size as usize);
    for piece in payload.pieces() {
        match piece {
            Piece::File(range) => read_file(range, &mut bytes)
                .map_err(|error| format!("{} cannot be read: {error}", range.path.display()))?,
            _ => bytes.extend_from_slice(piece.as_slice().unwrap_or_default()),
        }
    }
    Ok(Cow::Owned(bytes))
}

fn read_file(range: &FileRange, into: &mut Vec<u8>) -> std::io::Result<()> {
    let mut file = std::fs::File::open(&range.path)?;
    file.seek(SeekFrom::Start(range.start))?;
    if file.take(range.len).read_to_end(into)? as u64 == range.len {
        Ok(())
    } else {
        Err(std::io::Error::new(std::io::ErrorKind::UnexpectedEof, "it has become shorter"))
    }
}

/// The bytes of an `ArrayBuffer` or of a view of one, as they are now: later writes do not show.
pub(crate) fn shared_bytes(value: &Value<'_>) -> Option<Shared> {
    value.shared_bytes().map(|bytes| Shared::new(Rc::new(bytes)))
}

static SIZE: Name = Name::new("size");
static TYPE: Name = Name::new("type");

/// The weight is that of the list of pieces, whose bytes may be those of others, too.
struct Blob(
    BlobData,
    #[expect(dead_code, reason = "it counts as long as the object lives")] Weight,
);

/// A named Blob, as it also lies in a `FormData`.
pub(super) struct NamedBlob {
    pub(super) data: BlobData,
    pub(super) name: String,
    /// Milliseconds since 1970.
    pub(super) last_modified: f64,
}

pub(super) struct File(
    pub(super) Rc<NamedBlob>,
    #[expect(dead_code, reason = "it counts as long as the object lives")] Weight,
);

/// The content of a `Blob` or a `File`; `None` for other values.
pub(super) fn of<'a>(value: &'a Value<'_>) -> Option<&'a BlobData> {
    if let Some(blob) = value.instance::<Blob>() {
        return Some(&blob.0);
    }
    value.instance::<File>().map(|file| &file.0.data)
}

/// The name of a `File`; `None` for other values.
pub(super) fn name_of<'a>(value: &'a Value<'_>) -> Option<&'a str> {
    value.instance::<File>().map(|file| file.0.name.as_str())
}

/// The class `Blob`.
pub(crate) fn class(ctx: Ctx<'_>) -> JsResult<'_> {
    parts::class(ctx, "Blob", || {
        ctx.constructor(c"Blob", 0, construct, &ctx.class_prototype::<Blob>()?)
    })
}

/// The class `File`, which extends `Blob`.
pub(super) fn file_class(ctx: Ctx<'_>) -> JsResult<'_> {
    parts::class(ctx, "File", || {
        let parent = class(ctx)?;
        let prototype = ctx.class_prototype::<File>()?;
        prototype.set_prototype(&ctx.class_prototype::<Blob>()?)?;
        let class = ctx.constructor(c"File", 2, construct_file, &prototype)?;
        class.set_prototype(&parent)?;
        Ok(class)
    })
}

/// A `Blob` object.
pub(super) fn object(ctx: Ctx<'_>, data: BlobData) -> JsResult<'_> {
    // Of its own, as in k6, which shows them: `JSON.stringify(blob)`.
    let (size, kind) = (ctx.number(data.size as f64), ctx.string(&data.kind)?);
    let weight = Weight::of(ctx, data.list_len())?;
    let object = ctx.instance(Blob(data, weight))?;
    object.define_read_only(&SIZE, size)?;
    object.define_read_only(&TYPE, kind)?;
    Ok(object)
}

/// A `File` object.
pub(super) fn file_object(ctx: Ctx<'_>, file: Rc<NamedBlob>) -> JsResult<'_> {
    file_class(ctx)?;
    let weight = Weight::of(ctx, file.data.list_len() + file.name.len())?;
    ctx.instance(File(file, weight))
}

impl Class for Blob {
    const NAME: &'static CStr = c"Blob";
    fn members() -> &'static Members {
        static MEMBERS: LazyLock<Members> = LazyLock::new(|| {
            Members::new()
                .function(c"arrayBuffer", 0, |call| promised(&call, array_buffer))
                .function(c"bytes", 0, |call| {
                    promised(&call, |ctx, blob| ctx.uint8_array(read(ctx, blob)?.into_owned()))
                })
                .getter(c"size", |call| {
                    let value = call.this();
                    Ok(call.ctx().number(this(call.ctx(), &value)?.size as f64))
                })
                .function(c"slice", 2, slice)
                .function(c"stream", 0, stream)
                .function(c"text", 0, |call| promised(&call, decoded))
                .getter(c"type", |call| {
                    let value = call.this();
                    call.ctx().string(&this(call.ctx(), &value)?.kind)
                })
                .tag(c"Blob")
        });
        &MEMBERS
    }
}

impl Class for File {
    const NAME: &'static CStr = c"File";
    fn members() -> &'static Members {
        static MEMBERS: LazyLock<Members> = LazyLock::new(|| {
            Members::new()
                .getter(c"lastModified", |call| {
                    let value = call.this();
                    Ok(call.ctx().number(this_file(call.ctx(), &value)?.last_modified))
                })
                .getter(c"name", |call| {
                    let value = call.this();
                    call.ctx().string(&this_file(call.ctx(), &value)?.name)
                })
                .string(c"webkitRelativePath", c"")
                .tag(c"File")
        });
        &MEMBERS
    }
}

fn this<'a>(ctx: Ctx<'_>, value: &'a Value<'_>) -> JsResult<'a, &'a BlobData> {
    of(value).ok_or_else(|| ctx.throw_type("this is not a Blob"))
}

fn this_file<'a>(ctx: Ctx<'_>, value: &'a Value<'_>) -> JsResult<'a, &'a NamedBlob> {
    let file = value.instance::<File>().map(|file| &*file.0);
    file.ok_or_else(|| ctx.throw_type("this is not a File"))
}

fn construct<'js>(call: Call<'js>) -> JsResult<'js> {
    needs_new(&call, "Blob")?;
    let data = read_parts(call.ctx(), &call.argument(0), &call.argument(1))?;
    let object = object(call.ctx(), data)?;
    adopt(&call, &object)?;
    Ok(object)
}

fn construct_file<'js>(call: Call<'js>) -> JsResult<'js> {
    let ctx = call.ctx();
    needs_new(&call, "File")?;
    if call.len() < 2 {
        return Err(ctx.throw_type("a File is made of parts and a name"));
    }
    let (name, options) = (call.argument(1).to_string_lossy()?, call.argument(2));
    let data = read_parts(ctx, &call.argument(0), &options)?;
    let modified = if options.is_object() { options.get("lastModified")? } else { ctx.undefined() };
    let last_modified = if modified.is_undefined() { now_ms() } else { modified.to_number()? };
    let last_modified = if last_modified.is_finite() { last_modified.trunc() } else { 0.0 };
    let object = file_object(ctx, Rc::new(NamedBlob { data, name, last_modified }))?;
    adopt(&call, &object)?;
    Ok(object)
}

/// Milliseconds since 1970.
pub(super) fn now_ms() -> f64 {
    (clock::now_ns() / 1_000_000) as f64
}

/// The arguments `(parts, options)` of a constructor.
fn read_parts<'js>(
    ctx: Ctx<'js>,
    parts: &Value<'js>,
    options: &Value<'js>,
) -> JsResult<'js, BlobData> {
    let (mut kind, mut native_endings) = (String::new(), false);
    if options.is_object() {
        let given = options.get("type")?;
        if !given.is_undefined() {
            kind = type_of(&given.to_js_str()?);
        }
        let endings = options.get("endings")?;
        if !endings.is_undefined() {
            native_endings = match endings.to_js_str()?.as_str() {
                "native" => true,
                "transparent" => false,
                other => {
                    let message = format!("\"{other}\" is not a way to treat line endings");
                    return Err(ctx.throw_type(&message));
                }
            };
        }
    } else if !options.is_nullish() {
        return Err(ctx.throw_type("the options of a Blob must be an object"));
    }
    if parts.is_undefined() {
        return Ok(BlobData::new(Payload::new(), &kind));
    }
    if !parts.is_object() || !is_iterable(ctx, parts)? {
        return Err(ctx.throw_type("the parts of a Blob must be an array, or another iterable"));
    }
    let list = if parts.is_array() { parts.clone() } else { list_of(ctx, parts)? };
    let mut pieces = Vec::new();
    let weight = Weight::default();
    let mut room = Room::new();
    for index in 0..length_of(&list)? {
        let value = list.get_index(index)?;
        if let Some(blob) = of(&value) {
            weight.add(ctx, blob.list_len())?;
            pieces.extend(blob.payload.pieces().iter().cloned());
        } else if let Some(bytes) = shared_bytes(&value) {
            pieces.push(bytes.into());
        } else {
            let text = value.to_js_str()?;
            room.take(ctx, text.len())?;
            let text = if native_endings {
                Cow::Owned(text.replace("\r\n", "\n").replace('\r', "\n"))
            } else {
                Cow::Borrowed(text.as_str())
            };
            let text = ctx.held_bytes(text.into_owned().into_bytes())?;
            pieces.push(Shared::new(Rc::new(text)).into());
        }
    }
    Ok(BlobData::new(pieces.into_iter().collect(), &kind))
}

/// A type as the standard keeps it: in small letters, or none if it has others than printable ASCII.
fn type_of(given: &str) -> String {
    let is_kept = given.bytes().all(|byte| matches!(byte, 0x20..=0x7E));
    if is_kept { given.to_ascii_lowercase() } else { String::new() }
}

fn read<'a>(ctx: Ctx<'_>, blob: &'a BlobData) -> JsResult<'a, Cow<'a, [u8]>> {
    read_payload(&blob.payload).map_err(|message| throw(ctx, &message))
}

fn array_buffer<'js>(ctx: Ctx<'js>, blob: &BlobData) -> JsResult<'js> {
    let bytes = read_payload(&blob.payload).map_err(|message| throw(ctx, &message))?;
    ctx.array_buffer(bytes.into_owned())
}

/// The bytes as text: UTF-8, without a byte order mark.
pub(super) fn decoded<'js>(ctx: Ctx<'js>, blob: &BlobData) -> JsResult<'js> {
    let bytes = read_payload(&blob.payload).map_err(|message| throw(ctx, &message))?;
    ctx.string_from_utf8(bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&bytes))
}

/// A promise of what `make` makes of this blob.
fn promised<'js>(
    call: &Call<'js>,
    make: impl FnOnce(Ctx<'js>, &BlobData) -> JsResult<'js>,
) -> JsResult<'js> {
    let (ctx, value) = (call.ctx(), call.this());
    let outcome = match of(&value) {
        Some(blob) => make(ctx, blob),
        None => Err(ctx.throw_type("this is not a Blob")),
    };
    settled(ctx, outcome)
}

/// `slice(start, end, type)`, counted from the end if negative.
fn slice<'js>(call: Call<'js>) -> JsResult<'js> {
    let (ctx, value) = (call.ctx(), call.this());
    let blob = this(ctx, &value)?;
    let bound = |index: usize, otherwise: u64| -> JsResult<'js, u64> {
        let given = call.argument(index);
        if given.is_undefined() {
            return Ok(otherwise);
        }
        // As WebIDL's `[Clamp]` has it.
        let at = given.to_number()?;
        let at = if at.is_nan() { 0.0 } else { at.round_ties_even() };
        let size = blob.size as f64;
        Ok((if at < 0.0 { (size + at).max(0.0) } else { at.min(size) }) as u64)
    };
    let range = bound(0, 0)?..bound(1, blob.size)?;
    let kind = call.argument(2);
    let kind = if kind.is_undefined() { String::new() } else { type_of(&kind.to_js_str()?) };
    object(ctx, blob.slice(range, &kind))
}

fn stream<'js>(call: Call<'js>) -> JsResult<'js> {
    let value = call.this();
    this(call.ctx(), &value)?;
    parts::call(call.ctx(), Set::Streams, "blobStream", &[value])
}
