//! `k6/encoding`: base64 as Go reads and writes it.

use std::borrow::Cow;

use base64::alphabet::{Alphabet, STANDARD, URL_SAFE};
use base64::engine::general_purpose::GeneralPurpose;
use base64::engine::{DecodePaddingMode, GeneralPurposeConfig};
use base64::{DecodeError, Engine as _};
use brunt_quickjs::{Call, Ctx, JsResult, Value};
use memchr::memchr2;

use crate::go_error::{go_type, throw_go};
use crate::module::Module;

pub(crate) static STD: GeneralPurpose = engine(&STANDARD, true);
static RAW_STD: GeneralPurpose = engine(&STANDARD, false);
pub(crate) static URL: GeneralPurpose = engine(&URL_SAFE, true);
pub(crate) static RAW_URL: GeneralPurpose = engine(&URL_SAFE, false);

/// Go wants the padding to be there or not, and does not look at the bits that the last character has too many.
const fn engine(alphabet: &Alphabet, padded: bool) -> GeneralPurpose {
    let padding =
        if padded { DecodePaddingMode::RequireCanonical } else { DecodePaddingMode::RequireNone };
    let config = GeneralPurposeConfig::new()
        .with_encode_padding(padded)
        .with_decode_padding_mode(padding)
        .with_decode_allow_trailing_bits(true);
    GeneralPurpose::new(alphabet, config)
}

/// The exports.
/// The module that scripts import.
pub(crate) struct Exports;

impl Module for Exports {
    fn specifier(&self) -> &'static str {
        "k6/encoding"
    }

    fn names(&self) -> Vec<String> {
        ["b64decode", "b64encode"].map(str::to_owned).to_vec()
    }

    fn fill<'js>(&self, ctx: Ctx<'js>, exports: &Value<'js>) -> JsResult<'js, ()> {
        exports.define("b64decode", ctx.function(c"b64decode", 3, b64decode)?)?;
        exports.define("b64encode", ctx.function(c"b64encode", 2, b64encode)?)
    }
}

/// Lets `read` see the bytes of a string (as UTF-8), an `ArrayBuffer` or a view of one.
///
/// # Errors
/// A `GoError` for anything else. `read` must run no JavaScript.
pub(crate) fn with_input<'js, R>(
    value: &Value<'js>,
    read: impl FnOnce(&[u8]) -> R,
) -> JsResult<'js, R> {
    with_input_of("", value, read)
}

/// [`with_input`], for a function whose errors begin with these words.
pub(crate) fn with_input_of<'js, R>(
    who: &str,
    value: &Value<'js>,
    read: impl FnOnce(&[u8]) -> R,
) -> JsResult<'js, R> {
    if value.is_string() {
        return Ok(read(value.to_js_str()?.as_bytes()));
    }
    let refused = || {
        let message =
            format!("{who}invalid type {}, expected string, []byte or ArrayBuffer", go_type(value));
        throw_go(value.ctx(), &message)
    };
    value.with_bytes(read).ok_or_else(refused)
}

/// The script's name for the encoding; unknown names mean the standard one.
fn variant<'js>(name: &Value<'js>) -> JsResult<'js, &'static GeneralPurpose> {
    if name.is_nullish() {
        return Ok(&STD);
    }
    Ok(match &*name.to_js_str()? {
        "rawstd" => &RAW_STD,
        "url" => &URL,
        "rawurl" => &RAW_URL,
        _ => &STD,
    })
}

fn b64encode<'js>(call: Call<'js>) -> JsResult<'js> {
    let variant = variant(&call.argument(1))?;
    let text = with_input(&call.argument(0), |bytes| variant.encode(bytes))?;
    call.ctx().string(&text)
}

fn b64decode<'js>(call: Call<'js>) -> JsResult<'js> {
    let ctx = call.ctx();
    let input = call.argument(0);
    let text = if input.is_nullish() { ctx.string("")? } else { input };
    let variant = variant(&call.argument(1))?;
    let bytes = decode(variant, &text.to_js_str()?)
        .map_err(|at| throw_go(ctx, &format!("illegal base64 data at input byte {at}")))?;
    if call.argument(2).as_str().is_some_and(|format| &*format == "s") {
        return ctx.string_from_utf8(&bytes);
    }
    ctx.array_buffer(bytes)
}

/// Decodes; lines may be broken anywhere. The error is where the input is wrong.
fn decode(variant: &GeneralPurpose, text: &str) -> Result<Vec<u8>, usize> {
    let given = text.as_bytes();
    let text = match memchr2(b'\r', b'\n', text.as_bytes()) {
        Some(_) => Cow::from(text.replace(['\r', '\n'], "")),
        None => Cow::from(text),
    };
    variant.decode(text.as_bytes()).map_err(|error| {
        let at = match error {
            DecodeError::InvalidByte(at, byte) if byte != b'=' => at,
            _ => wrong_padding(variant, text.as_bytes()),
        };
        let mut letters =
            given.iter().enumerate().filter(|(_, byte)| !matches!(byte, b'\r' | b'\n'));
        letters.nth(at).map_or(given.len(), |(at, _)| at)
    })
}

/// Where Go sees that a text is padded wrongly.
fn wrong_padding(variant: &GeneralPurpose, text: &[u8]) -> usize {
    let Some(at) = text.iter().position(|&byte| byte == b'=') else { return text.len() & !3 };
    let is_padded = std::ptr::eq(variant, &raw const STD) || std::ptr::eq(variant, &raw const URL);
    match (is_padded, at % 4, text.get(at + 1)) {
        (true, 2, None) => text.len(),
        // Well padded, but something follows.
        (true, 2, Some(b'=')) => at + 2,
        (true, 3, _) => at + 1,
        _ => at,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::{all, vm};

    // k6 answered the same to these calls.
    #[test]
    fn it_is_the_base64_of_go() {
        let vm = vm(|ctx| {
            crate::go_error::install(ctx)?;
            Exports.fill(ctx, &ctx.global())
        });
        all(
            &vm,
            &[
                (
                    "b64encode('hé') + b64encode(new Uint8Array([251, 255])) + b64encode(new Uint8Array([251, 255]).buffer, 'url')",
                    "aMOp+/8=-_8=",
                ),
                (
                    "b64encode('a', 'rawstd') + b64encode('a', 'rawurl') + b64encode('a', 'zzz')",
                    "YQYQYQ==",
                ),
                (
                    "b64encode(5)",
                    "threw GoError: invalid type int64, expected string, []byte or ArrayBuffer",
                ),
                (
                    "b64encode()",
                    "threw GoError: invalid type <nil>, expected string, []byte or ArrayBuffer",
                ),
                ("new Uint8Array(b64decode('aMOp')).join()", "104,195,169"),
                (
                    "b64decode('aMOp', 'std', 's') + b64decode('aM\\r\\nOp\\n', 'std', 's') + b64decode('YQ==', undefined, 's')",
                    "héhéa",
                ),
                ("b64decode('aMOp', 'std', 'x') instanceof ArrayBuffer", "true"),
                ("b64decode('YR==', 'std', 's')", "a"),
                ("b64decode('a!Op')", "threw GoError: illegal base64 data at input byte 1"),
                ("b64decode('YQ==YQ==')", "threw GoError: illegal base64 data at input byte 4"),
                ("b64decode('YWI=YQ==')", "threw GoError: illegal base64 data at input byte 4"),
                ("b64decode('YQ=')", "threw GoError: illegal base64 data at input byte 3"),
                ("b64decode('Y===')", "threw GoError: illegal base64 data at input byte 1"),
                ("b64decode(null).byteLength", "0"),
                ("b64decode('YQ')", "threw GoError: illegal base64 data at input byte 0"),
                (
                    "b64decode('YQ==', 'rawstd')",
                    "threw GoError: illegal base64 data at input byte 2",
                ),
                ("new Uint8Array(b64decode(1234)).join() + b64decode().byteLength", "215,109,2480"),
                (
                    "b64decode('//8=', 'std', 's') + b64decode('__8', 'rawurl').byteLength",
                    "\u{FFFD}\u{FFFD}2",
                ),
            ],
        );
    }
}
