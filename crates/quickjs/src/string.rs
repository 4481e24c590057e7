//! Strings across the border.

use std::ffi::c_char;
use std::fmt;
use std::ops::Deref;
use std::slice;

use crate::error::{JsResult, Thrown};
use crate::sys;
use crate::value::Value;
use crate::vm::Ctx;

/// A JavaScript string seen as UTF-8, without a copy where the engine holds it as ASCII.
///
/// Lone surrogates, which UTF-8 cannot carry, are shown as U+FFFD.
pub struct JsStr<'js> {
    pointer: *const c_char,
    length: usize,
    ctx: Ctx<'js>,
    /// Set when the engine's bytes are not UTF-8.
    repaired: Option<String>,
}

impl<'js> JsStr<'js> {
    pub(crate) fn new(value: &Value<'js>) -> Result<Self, Thrown> {
        let ctx = value.ctx();
        let _inside = ctx.enter();
        let mut length = 0;
        // SAFETY: the value is alive and of this context; `length` is written on success.
        let pointer =
            unsafe { sys::JS_ToCStringLen2(ctx.raw(), &raw mut length, value.raw, false) };
        if pointer.is_null() {
            return Err(Thrown(()));
        }
        // SAFETY: the engine holds `length` bytes at `pointer` until `JS_FreeCString`.
        let bytes = unsafe { slice::from_raw_parts(pointer.cast::<u8>(), length) };
        let repaired = match std::str::from_utf8(bytes) {
            Ok(_) => None,
            Err(_) => Some(without_surrogates(bytes)),
        };
        Ok(Self { pointer, length, ctx, repaired })
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        if let Some(repaired) = &self.repaired {
            return repaired;
        }
        // SAFETY: the bytes live until `drop`, and `new` found them to be UTF-8.
        unsafe {
            std::str::from_utf8_unchecked(slice::from_raw_parts(
                self.pointer.cast::<u8>(),
                self.length,
            ))
        }
    }
}

impl Deref for JsStr<'_> {
    type Target = str;
    fn deref(&self) -> &str {
        self.as_str()
    }
}

impl fmt::Display for JsStr<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self)
    }
}

impl fmt::Debug for JsStr<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

impl Drop for JsStr<'_> {
    fn drop(&mut self) {
        // SAFETY: the pointer came from `JS_ToCStringLen2` of this context and is freed once.
        unsafe { sys::JS_FreeCString(self.ctx.raw(), self.pointer) };
    }
}

/// The text of the engine's bytes, which are UTF-8 but for lone surrogates: each of them, three bytes long, becomes one
/// U+FFFD.
fn without_surrogates(bytes: &[u8]) -> String {
    let mut bytes = bytes.to_vec();
    for at in 0..bytes.len().saturating_sub(2) {
        if bytes[at] == 0xED && bytes[at + 1] >= 0xA0 {
            bytes[at..at + 3].copy_from_slice("\u{FFFD}".as_bytes());
        }
    }
    String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

impl<'js> Ctx<'js> {
    /// A string.
    ///
    /// # Errors
    /// If there is no memory.
    pub fn string(self, text: &str) -> JsResult<'js> {
        // SAFETY: pointer and length are those of a `str`; the result is ours.
        unsafe {
            Value::returned(
                self,
                sys::JS_NewStringLen(self.raw(), text.as_ptr().cast(), text.len()),
            )
        }
    }

    /// A string of bytes that should be UTF-8; each byte that is not becomes U+FFFD, as in k6.
    ///
    /// # Errors
    /// If there is no memory.
    pub fn string_from_utf8(self, bytes: &[u8]) -> JsResult<'js> {
        if let Ok(text) = std::str::from_utf8(bytes) {
            return self.string(text);
        }
        self.string(&repaired(bytes))
    }
}

/// Bytes as text; each that is not UTF-8 becomes U+FFFD.
pub(crate) fn repaired(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() + 16);
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        // One mark a byte, as Go decodes; Rust's own repair puts one a sequence.
        text.extend(std::iter::repeat_n('\u{FFFD}', chunk.invalid().len()));
    }
    text
}
