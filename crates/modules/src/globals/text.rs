//! `TextEncoder` and `TextDecoder` (WHATWG Encoding): UTF-8, and decoding of UTF-16 in both byte orders, as in k6.

mod decoding;

use std::cell::RefCell;
use std::ffi::CStr;
use std::sync::LazyLock;

use brunt_quickjs::error::ErrorKind;
use brunt_quickjs::{Call, Class, Ctx, JsResult, Members, Name, Value};

use crate::go_error::adopt;
use crate::lazy::{LazyGlobal, lazy};
use decoding::{Decoding, Encoding};

static READ: Name = Name::new("read");
static WRITTEN: Name = Name::new("written");

/// Gives the VM both classes.
pub(crate) fn install(ctx: Ctx<'_>) -> JsResult<'_, ()> {
    static MEMBERS: LazyLock<Members> =
        LazyLock::new(|| lazy::<TextDecoder>(lazy::<TextEncoder>(Members::new())));
    ctx.global().define_members(&MEMBERS)
}

struct TextEncoder;

impl LazyGlobal for TextEncoder {
    const NAME: &'static CStr = c"TextEncoder";
    fn make(ctx: Ctx<'_>) -> JsResult<'_> {
        let prototype = ctx.class_prototype::<Self>()?;
        ctx.constructor(c"TextEncoder", 0, new_encoder, &prototype)
    }
}

impl Class for TextEncoder {
    const NAME: &'static CStr = c"TextEncoder";
    fn members() -> &'static Members {
        static MEMBERS: LazyLock<Members> = LazyLock::new(|| {
            Members::new()
                .getter(c"encoding", |call| call.ctx().string("utf-8"))
                .tag(c"TextEncoder")
                .function(c"encode", 0, encode)
                .function(c"encodeInto", 2, encode_into)
        });
        &MEMBERS
    }
}

fn new_encoder<'js>(call: Call<'js>) -> JsResult<'js> {
    needs_new(&call, "TextEncoder")?;
    let encoder = call.ctx().instance(TextEncoder)?;
    adopt(&call, &encoder)?;
    Ok(encoder)
}

/// Classes cannot be called like functions.
pub(crate) fn needs_new<'js>(call: &Call<'js>, class: &str) -> JsResult<'js, ()> {
    if call.this().is_object() {
        return Ok(());
    }
    Err(call.ctx().throw_type(&format!("the class {class} is made with `new`")))
}

fn encode<'js>(call: Call<'js>) -> JsResult<'js> {
    let (ctx, text) = (call.ctx(), call.argument(0));
    let bytes =
        if text.is_undefined() { Vec::new() } else { text.to_js_str()?.as_bytes().to_vec() };
    ctx.uint8_array(bytes)
}

/// Encodes as many whole characters as fit; says how many UTF-16 units it read and bytes it wrote.
fn encode_into<'js>(call: Call<'js>) -> JsResult<'js> {
    let (ctx, target) = (call.ctx(), call.argument(1));
    let text = call.argument(0).to_js_str()?;
    if target.typed_array_name() != Some("Uint8Array") {
        return Err(ctx.throw_type("encodeInto writes into a Uint8Array"));
    }
    if target.is_read_only() {
        return Err(ctx.throw_type("encodeInto cannot write to this array: it is frozen"));
    }
    let fitted = target.with_bytes_mut(|bytes| {
        let end = text.floor_char_boundary(bytes.len());
        let part = &text[..end];
        bytes[..end].copy_from_slice(part.as_bytes());
        (part.chars().map(char::len_utf16).sum::<usize>(), end)
    });
    let (read, written) = fitted.unwrap_or((0, 0));
    ctx.object_from([(&READ, ctx.number(read as f64)), (&WRITTEN, ctx.number(written as f64))])
}

struct TextDecoder {
    encoding: Encoding,
    fatal: bool,
    ignore_bom: bool,
    /// The bytes that a `decode` with `stream` left for the next one.
    decoding: RefCell<Decoding>,
}

impl LazyGlobal for TextDecoder {
    const NAME: &'static CStr = c"TextDecoder";
    fn make(ctx: Ctx<'_>) -> JsResult<'_> {
        let prototype = ctx.class_prototype::<Self>()?;
        ctx.constructor(c"TextDecoder", 0, new_decoder, &prototype)
    }
}

impl Class for TextDecoder {
    const NAME: &'static CStr = c"TextDecoder";
    fn members() -> &'static Members {
        static MEMBERS: LazyLock<Members> = LazyLock::new(|| {
            Members::new()
                .tag(c"TextDecoder")
                .getter(c"encoding", |call| {
                    let value = call.this();
                    call.ctx().string(this(call.ctx(), &value)?.encoding.name())
                })
                .getter(c"fatal", |call| {
                    let value = call.this();
                    Ok(call.ctx().bool(this(call.ctx(), &value)?.fatal))
                })
                .getter(c"ignoreBOM", |call| {
                    let value = call.this();
                    Ok(call.ctx().bool(this(call.ctx(), &value)?.ignore_bom))
                })
                .function(c"decode", 0, decode)
        });
        &MEMBERS
    }
}

fn this<'a>(ctx: Ctx<'_>, value: &'a Value<'_>) -> JsResult<'a, &'a TextDecoder> {
    value.instance().ok_or_else(|| ctx.throw_type("this is not a TextDecoder"))
}

fn new_decoder<'js>(call: Call<'js>) -> JsResult<'js> {
    needs_new(&call, "TextDecoder")?;
    let ctx = call.ctx();
    let label = call.argument(0);
    let label = if label.is_undefined() { "utf-8".to_owned() } else { label.to_string_lossy()? };
    let Some(encoding) = Encoding::labelled(&label) else {
        let message = format!("TextDecoder knows utf-8, utf-16le and utf-16be, not \"{label}\"");
        return Err(ctx.throw_error(ErrorKind::Range, &message));
    };
    let options = call.argument(1);
    let option = |name: &str| {
        if options.is_object() { options.get(name).map(|value| value.truthy()) } else { Ok(false) }
    };
    let (fatal, ignore_bom) = (option("fatal")?, option("ignoreBOM")?);
    let decoding = RefCell::new(Decoding::default());
    let decoder = ctx.instance(TextDecoder { encoding, fatal, ignore_bom, decoding })?;
    adopt(&call, &decoder)?;
    Ok(decoder)
}

fn decode<'js>(call: Call<'js>) -> JsResult<'js> {
    let (ctx, value) = (call.ctx(), call.this());
    let decoder = this(ctx, &value)?;
    let options = call.argument(1);
    let is_last = !(options.is_object() && options.get("stream")?.truthy());
    let input = call.argument(0);
    let mut decoding = decoder.decoding.borrow_mut();
    let mut decode = |bytes: &[u8]| {
        decoding.decode(decoder.encoding, bytes, decoder.fatal, decoder.ignore_bom, is_last)
    };
    let decoded =
        if input.is_undefined() { Some(decode(&[])) } else { input.with_bytes(&mut decode) };
    match decoded {
        Some(Some(text)) => ctx.string(&text),
        Some(None) => {
            let name = decoder.encoding.name();
            Err(ctx.throw_type(&format!("the encoded data was not valid {name}")))
        }
        None => Err(ctx.throw_type("decode needs an ArrayBuffer or a view of one")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::{all, vm};

    #[test]
    fn text_becomes_bytes() {
        all(
            &vm(install),
            &[
                (
                    "const e = new TextEncoder(); [...e.encode('é€😀')].join()",
                    "195,169,226,130,172,240,159,152,128",
                ),
                (
                    "[e.encoding, e.encode().length, e.encode('x') instanceof Uint8Array, e instanceof TextEncoder].join()",
                    "utf-8,0,true,true",
                ),
                (
                    "const u = new Uint8Array(6); const r = e.encodeInto('a😀é', u); [r.read, r.written, ...u].join()",
                    "3,5,97,240,159,152,128,0",
                ),
                ("TextEncoder()", "threw TypeError: the class TextEncoder is made with `new`"),
                (
                    "class My extends TextEncoder { twice(s) { return this.encode(s + s).length } } new My().twice('ab')",
                    "4",
                ),
            ],
        );
    }

    #[test]
    fn bytes_become_text() {
        all(
            &vm(install),
            &[
                (
                    "const b = (...n) => new Uint8Array(n); new TextDecoder().decode(b(195, 169, 240, 159, 152, 128))",
                    "é😀",
                ),
                (
                    "const d = new TextDecoder('UTF8', { fatal: 1 }); [d.encoding, d.fatal, d.ignoreBOM].join()",
                    "utf-8,true,false",
                ),
                (
                    "new TextDecoder('zz')",
                    "threw RangeError: TextDecoder knows utf-8, utf-16le and utf-16be, not \"zz\"",
                ),
                ("d.decode(b(255))", "threw TypeError: the encoded data was not valid utf-8"),
                ("new TextDecoder().decode(b(97, 240, 159, 98, 255))", "a\u{FFFD}b\u{FFFD}"),
                (
                    "const s = new TextDecoder(); s.decode(b(240, 159), { stream: true }) + s.decode(b(152, 128, 195), { stream: true }) + s.decode()",
                    "😀\u{FFFD}",
                ),
                (
                    "new TextDecoder().decode(b(239, 187, 191, 97)).length + '' + new TextDecoder('utf-8', { ignoreBOM: true }).decode(b(239, 187, 191, 97)).length",
                    "12",
                ),
                (
                    "const l = new TextDecoder('utf-16le'); l.decode(b(0x3d, 0xd8, 0), { stream: true }) + l.decode(b(0xde, 0x61), { stream: true }) + l.decode(b(0))",
                    "😀a",
                ),
                (
                    "new TextDecoder('utf-16be').decode(b(0xfe, 0xff, 0, 97, 0xd8, 0, 0, 98, 1)) + new TextDecoder('utf-16').encoding",
                    "a\u{FFFD}b\u{FFFD}utf-16le",
                ),
                (
                    "const p = new TextDecoder(); p.decode(b(239, 187), { stream: true }) + p.decode(b(191, 97), { stream: true }) + p.decode(b(239, 187, 191)).length",
                    "a1",
                ),
                (
                    "new TextDecoder().decode(b(97).buffer) + new TextDecoder().decode(new DataView(b(97, 98).buffer, 1)) + new TextDecoder().decode()",
                    "ab",
                ),
                (
                    "new TextDecoder().decode('x')",
                    "threw TypeError: decode needs an ArrayBuffer or a view of one",
                ),
                (
                    "new TextDecoder().decode.call({}, b(1))",
                    "threw TypeError: this is not a TextDecoder",
                ),
            ],
        );
    }
}
