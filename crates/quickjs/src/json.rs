//! JSON straight from bytes into JavaScript values, without a string in between.
//!
//! The grammar is RFC 8259's. The parser keeps its own stack, so that the depth of a document costs no native stack.

mod marks;
mod mistake;

use marks::MARK;
pub use mistake::{JsonError, JsonErrorKind};
use mistake::{TOP_LEVEL, in_literal, within};

use crate::ctx::Ctx;
use crate::error::{ErrorKind, JsResult};
use crate::sys;
use crate::value::Value;

/// Deepest nesting of arrays and objects.
pub const DEPTH_MAX: usize = 10_000;

enum Open {
    Array { start: usize },
    Object { start: usize, keys: usize, key: sys::JSAtom },
}

/// The expected token where a key belongs.
const KEY: &str = "looking for beginning of object key string";

/// Texts from this size on are parsed without a collection of garbage meanwhile.
const LARGE: usize = 64 * 1024;

/// How many recent keys are remembered: documents repeat theirs.
const KEY_CACHE: usize = 64;

/// How many kinds of objects are remembered.
const LIKES: usize = 8;

struct Parser<'a, 'js> {
    ctx: Ctx<'js>,
    text: &'a [u8],
    at: usize,
    /// Finished values of all open arrays and objects, innermost last. Owned.
    values: Vec<sys::JSValue>,
    /// Keys of all open objects. Owned.
    keys: Vec<sys::JSAtom>,
    open: Vec<Open>,
    cache: [(u32, u32, sys::JSAtom); KEY_CACHE],
    /// By a key's place in the cache, the place of the key that came after it. The last is that of no key: an object
    /// begins.
    after: [u8; KEY_CACHE + 1],
    /// The place of the key that came last.
    last: usize,
    /// Objects that were made, by their first key: the next ones have the same keys. Owned.
    likes: [sys::JSValue; LIKES],
    scratch: Vec<u8>,
    marked: Option<Marked<'a, 'js>>,
}

/// The value in the place of a mark with this number.
type Marked<'a, 'js> = &'a mut dyn FnMut(u32) -> JsResult<'js>;

/// No garbage is made while JSON is parsed: the collector would walk what is there already again and again.
struct NoCollection {
    rt: *mut sys::JSRuntime,
    threshold: usize,
    /// Bytes that the heap held before.
    heap: usize,
}

impl NoCollection {
    fn begin(rt: *mut sys::JSRuntime) -> Self {
        // SAFETY: the runtime is alive.
        unsafe {
            let threshold = sys::JS_GetGCThreshold(rt);
            sys::JS_SetGCThreshold(rt, usize::MAX);
            Self { rt, threshold, heap: sys::brunt_allocated(rt) }
        }
    }
}

impl Drop for NoCollection {
    fn drop(&mut self) {
        // SAFETY: the runtime is alive.
        unsafe {
            let heap = sys::brunt_allocated(self.rt);
            // As the collector would have left it, if most of the heap is the document. Otherwise a script that parses
            // again and again would move the threshold ahead of its garbage, which would never be collected.
            let is_document = heap.saturating_sub(self.heap) > self.heap;
            let raised = if is_document { heap + heap / 2 } else { 0 };
            sys::JS_SetGCThreshold(self.rt, self.threshold.max(raised));
        }
    }
}

impl<'js> Ctx<'js> {
    /// The value of a JSON text. Integral numbers up to 2^31 take the engine's integer form.
    ///
    /// # Errors
    /// The first mistake; nothing is thrown, except that [`JsonErrorKind::Memory`] leaves the engine's exception.
    pub fn parse_json(self, text: &[u8]) -> Result<Value<'js>, JsonError> {
        self.parse(text, None)
    }

    /// The value of a text of [`Ctx::stringify_marked`]; `marked` gives the values in the places of the marks.
    ///
    /// # Errors
    /// As [`Ctx::parse_json`]. An exception of `marked` is told as [`JsonErrorKind::Memory`]: the exception waits.
    pub fn parse_marked(
        self,
        text: &[u8],
        mut marked: impl FnMut(u32) -> JsResult<'js>,
    ) -> Result<Value<'js>, JsonError> {
        self.parse(text, Some(&mut marked))
    }

    fn parse<'a>(
        self,
        text: &'a [u8],
        marked: Option<Marked<'a, 'js>>,
    ) -> Result<Value<'js>, JsonError> {
        let mut parser = Parser {
            ctx: self,
            text,
            at: 0,
            values: Vec::with_capacity(32),
            keys: Vec::with_capacity(32),
            open: Vec::with_capacity(8),
            cache: [(0, 0, 0); KEY_CACHE],
            after: [0; KEY_CACHE + 1],
            last: KEY_CACHE,
            likes: [sys::UNDEFINED; LIKES],
            scratch: Vec::new(),
            marked,
        };
        // Not for small texts, of which there are many: they could put the collector off for ever.
        let _quiet = (text.len() >= LARGE).then(|| NoCollection::begin(self.inner.rt.as_ptr()));
        parser.document()
    }

    /// `JSON.stringify(value)`; `None` for what JSON cannot say (`undefined`, functions).
    ///
    /// # Errors
    /// The exceptions of `toJSON` and getters, and a `TypeError` for cycles.
    pub fn stringify_json(self, value: &Value<'js>) -> JsResult<'js, Option<String>> {
        let _inside = self.enter();
        // SAFETY: the value is alive and of this context; the result is ours.
        let text = unsafe {
            Value::returned(
                self,
                sys::JS_JSONStringify(
                    self.raw(),
                    value.raw_for(self),
                    sys::UNDEFINED,
                    sys::UNDEFINED,
                ),
            )?
        };
        if text.is_undefined() { Ok(None) } else { text.to_string_lossy().map(Some) }
    }

    /// Throws a `SyntaxError` that says what is wrong with a JSON text.
    pub fn throw_json(self, error: JsonError) -> crate::Thrown {
        if error.kind == JsonErrorKind::Memory {
            return crate::Thrown(());
        }
        self.throw_error(ErrorKind::Syntax, &error.in_decoder_words())
    }
}

impl Drop for Parser<'_, '_> {
    fn drop(&mut self) {
        let ctx = self.ctx.raw();
        for &value in self.values.iter().chain(&self.likes) {
            // SAFETY: the stack, and the list of objects, own each of their values.
            unsafe { sys::JS_FreeValue(ctx, value) };
        }
        let open = self.open.iter().filter_map(|open| match open {
            Open::Object { key, .. } if *key != 0 => Some(*key),
            _ => None,
        });
        let cached = self.cache.iter().map(|entry| entry.2).filter(|&atom| atom != 0);
        for atom in self.keys.iter().copied().chain(open).chain(cached) {
            // SAFETY: key stack, open objects and cache each own their references.
            unsafe { sys::JS_FreeAtom(ctx, atom) };
        }
    }
}

impl<'js> Parser<'_, 'js> {
    fn document(&mut self) -> Result<Value<'js>, JsonError> {
        loop {
            // A value is expected here.
            if self.ctx.poll(2).is_err() {
                return Err(self.error(JsonErrorKind::Memory));
            }
            self.space();
            match self.peek()? {
                b'[' => {
                    self.at += 1;
                    self.enter(Open::Array { start: self.values.len() })?;
                    self.space();
                    if self.peek()? != b']' {
                        continue;
                    }
                    self.at += 1;
                    self.close()?;
                }
                b'{' => {
                    self.at += 1;
                    self.last = KEY_CACHE;
                    self.enter(Open::Object {
                        start: self.values.len(),
                        keys: self.keys.len(),
                        key: 0,
                    })?;
                    self.space();
                    if self.peek()? != b'}' {
                        self.key().map_err(|error| JsonError {
                            is_first_key: error.expected == KEY,
                            ..error
                        })?;
                        continue;
                    }
                    self.at += 1;
                    self.close()?;
                }
                _ => {
                    let value = self.scalar()?;
                    self.values.push(value);
                }
            }
            // A value is complete: on to the next one, or out of what it ends.
            loop {
                let Some(open) = self.open.last_mut() else {
                    return self.finish();
                };
                if let Open::Object { key, .. } = open {
                    self.keys.push(std::mem::take(key));
                }
                let is_object = matches!(open, Open::Object { .. });
                self.space();
                match (self.peek()?, is_object) {
                    (b',', false) => {
                        self.at += 1;
                        break;
                    }
                    (b',', true) => {
                        self.at += 1;
                        self.space();
                        self.key()?;
                        break;
                    }
                    (b']', false) | (b'}', true) => {
                        self.at += 1;
                        self.close()?;
                    }
                    _ => {
                        return Err(self.unexpected(if is_object {
                            "after object key:value pair"
                        } else {
                            "after array element"
                        }));
                    }
                }
            }
        }
    }

    fn finish(&mut self) -> Result<Value<'js>, JsonError> {
        self.space();
        if self.at < self.text.len() {
            return Err(self.unexpected(TOP_LEVEL));
        }
        let raw = self.values.pop().expect("a document is one value");
        // SAFETY: the stack's reference becomes the value's.
        Ok(unsafe { Value::owned(self.ctx, raw) })
    }

    fn enter(&mut self, open: Open) -> Result<(), JsonError> {
        if self.open.len() >= DEPTH_MAX {
            return Err(self.error(JsonErrorKind::Depth));
        }
        self.open.push(open);
        Ok(())
    }

    /// Makes the array or object whose last value is complete, and pushes it as a value.
    fn close(&mut self) -> Result<(), JsonError> {
        let ctx = self.ctx.raw();
        let made = match self.open.pop().expect("close is called inside an array or object") {
            Open::Array { start } => {
                let count = i32::try_from(self.values.len() - start)
                    .expect("fewer than two billion elements");
                // SAFETY: `count` values lie from `start` on; the engine takes them over, so they are cut off below.
                let made =
                    unsafe { sys::JS_NewArrayFrom(ctx, count, self.values.as_ptr().add(start)) };
                // SAFETY: shrinking, and the cut-off values are the engine's now. They need no drop.
                unsafe { self.values.set_len(start) };
                made
            }
            Open::Object { start, keys, .. } => self.object(start, keys),
        };
        if made.tag == sys::TAG_EXCEPTION {
            return Err(self.error(JsonErrorKind::Memory));
        }
        self.values.push(made);
        Ok(())
    }

    fn object(&mut self, start: usize, first_key: usize) -> sys::JSValue {
        let ctx = self.ctx.raw();
        let keys = &self.keys[first_key..];
        let count = keys.len();
        let like = keys.first().map_or(0, |&key| key as usize % LIKES);
        let length = i32::try_from(count).expect("fewer than two billion keys");
        // SAFETY: `count` keys and values lie there; the engine takes over the values, if it makes an object.
        let made = unsafe {
            let values = self.values.as_ptr().add(start);
            sys::brunt_object_like(ctx, self.likes[like], length, keys.as_ptr(), values)
        };
        if made.tag != sys::TAG_UNDEFINED {
            // SAFETY: shrinking; the values are the engine's now.
            unsafe { self.values.set_len(start) };
            self.drop_keys(first_key);
            return made;
        }
        let unique =
            count <= 24 && keys.iter().enumerate().all(|(index, key)| !keys[..index].contains(key));
        let made = if unique {
            let count = i32::try_from(count).expect("at most 24");
            // SAFETY: `count` keys and values lie there; the engine takes over the values and borrows the keys.
            let made = unsafe {
                sys::brunt_object_from(ctx, count, keys.as_ptr(), self.values.as_ptr().add(start))
            };
            // SAFETY: shrinking; the values are the engine's now.
            unsafe { self.values.set_len(start) };
            made
        } else {
            // SAFETY: the context is alive; values are given to the engine one by one, the last of equal keys stays.
            unsafe {
                let made = sys::JS_NewObject(ctx);
                for (index, &key) in keys.iter().enumerate() {
                    let value = self.values[start + index];
                    if made.tag == sys::TAG_EXCEPTION {
                        sys::JS_FreeValue(ctx, value);
                    } else {
                        sys::JS_DefinePropertyValue(ctx, made, key, value, sys::PROP_C_W_E);
                    }
                }
                self.values.set_len(start);
                made
            }
        };
        self.drop_keys(first_key);
        if made.tag == sys::TAG_OBJECT {
            // SAFETY: the object is alive; the list owns a reference to each of its own.
            unsafe {
                sys::JS_DupValue(ctx, made);
                let before = std::mem::replace(&mut self.likes[like], made);
                sys::JS_FreeValue(ctx, before);
            }
        }
        made
    }

    /// Forgets the keys of an object that is made.
    fn drop_keys(&mut self, first: usize) {
        for key in self.keys.drain(first..) {
            // SAFETY: the key stack owned the reference.
            unsafe { sys::JS_FreeAtom(self.ctx.raw(), key) };
        }
    }

    /// Reads `"key":` and leaves the key with the innermost object.
    fn key(&mut self) -> Result<(), JsonError> {
        if self.peek()? != b'"' {
            return Err(self.unexpected(KEY));
        }
        let start = self.at + 1;
        let atom = if let Some((end, atom)) = self.foreseen_atom(start) {
            self.at = end + 1;
            atom
        } else if let Some(end) = self.plain_string_end(start) {
            self.at = end + 1;
            self.cached_atom(start, end)
        } else {
            self.escaped_string().map_err(within)?;
            // SAFETY: pointer and length are those of the scratch buffer.
            unsafe {
                sys::JS_NewAtomLen(self.ctx.raw(), self.scratch.as_ptr().cast(), self.scratch.len())
            }
        };
        if atom == 0 {
            let _ = self.ctx.throw_memory();
            return Err(self.error(JsonErrorKind::Memory));
        }
        if let Some(Open::Object { key, .. }) = self.open.last_mut() {
            *key = atom;
        }
        self.space();
        if self.peek()? != b':' {
            return Err(self.unexpected("after object key"));
        }
        self.at += 1;
        Ok(())
    }

    /// The key that came after the last one before, if it comes again: the index of its closing quote, and the key. Most
    /// documents are lists of objects of one kind.
    fn foreseen_atom(&mut self, start: usize) -> Option<(usize, sys::JSAtom)> {
        let place = usize::from(self.after[self.last]);
        let (from, to, atom) = self.cache[place];
        let known = &self.text[from as usize..to as usize];
        let end = start + known.len();
        if atom == 0 || self.text.get(end) != Some(&b'"') || self.text[start..end] != *known {
            return None;
        }
        self.last = place;
        // SAFETY: the cached atom is alive.
        Some((end, unsafe { sys::JS_DupAtom(self.ctx.raw(), atom) }))
    }

    fn cached_atom(&mut self, start: usize, end: usize) -> sys::JSAtom {
        let bytes = &self.text[start..end];
        let ctx = self.ctx.raw();
        let hash =
            bytes.iter().fold(bytes.len(), |hash, &byte| hash.wrapping_mul(31) ^ byte as usize);
        let place = hash % KEY_CACHE;
        self.after[self.last] = place as u8;
        self.last = place;
        let entry = &mut self.cache[place];
        let (Ok(start_at), Ok(end_at)) = (u32::try_from(start), u32::try_from(end)) else {
            // Beyond 4 GiB keys are not remembered.
            // SAFETY: pointer and length are those of the slice.
            return unsafe { sys::JS_NewAtomLen(ctx, bytes.as_ptr().cast(), bytes.len()) };
        };
        if entry.2 == 0 || self.text[entry.0 as usize..entry.1 as usize] != *bytes {
            // SAFETY: pointer and length are those of the slice; the old reference is the cache's to free.
            unsafe {
                if entry.2 != 0 {
                    sys::JS_FreeAtom(ctx, entry.2);
                }
                entry.2 = sys::JS_NewAtomLen(ctx, bytes.as_ptr().cast(), bytes.len());
            }
            (entry.0, entry.1) = (start_at, end_at);
        }
        // SAFETY: the cached atom is alive.
        unsafe { sys::JS_DupAtom(ctx, entry.2) }
    }

    fn scalar(&mut self) -> Result<sys::JSValue, JsonError> {
        let scalar = match self.peek()? {
            b'"' => self.string(),
            b'-' | b'0'..=b'9' => self.number(),
            b't' => self.word(b"true", sys::value(sys::TAG_BOOL, 1)),
            b'f' => self.word(b"false", sys::value(sys::TAG_BOOL, 0)),
            b'n' => self.word(b"null", sys::NULL),
            MARK if self.marked.is_some() => self.marked_value(),
            _ => Err(self.unexpected("looking for beginning of value")),
        };
        scalar.map_err(within)
    }

    fn marked_value(&mut self) -> Result<sys::JSValue, JsonError> {
        self.at += 1;
        let mut number = 0_u32;
        while self.peek()? != MARK {
            let Some(digit) = (self.peek()? as char).to_digit(10) else {
                return Err(self.unexpected("in mark"));
            };
            number = number.saturating_mul(10).saturating_add(digit);
            self.at += 1;
        }
        self.at += 1;
        let marked = self.marked.as_mut().expect("asked for above");
        marked(number).map(Value::into_raw).map_err(|_| self.error(JsonErrorKind::Memory))
    }

    fn word(&mut self, word: &[u8], value: sys::JSValue) -> Result<sys::JSValue, JsonError> {
        for (index, &expected) in word.iter().enumerate() {
            if self.peek()? != expected {
                return Err(self.unexpected(in_literal(word[0], index)));
            }
            self.at += 1;
        }
        Ok(value)
    }

    fn number(&mut self) -> Result<sys::JSValue, JsonError> {
        let start = self.at;
        let negative = self.text[self.at] == b'-';
        self.at += usize::from(negative);
        let digits = self.at;
        match self.peek()? {
            b'0' => self.at += 1,
            b'1'..=b'9' => self.digits(),
            _ => return Err(self.unexpected("in numeric literal")),
        }
        let integral = !matches!(self.text.get(self.at), Some(b'.' | b'e' | b'E'));
        if integral && self.at - digits <= 9 {
            let magnitude = self.text[digits..self.at]
                .iter()
                .fold(0, |sum, digit| sum * 10 + i32::from(digit - b'0'));
            if !(negative && magnitude == 0) {
                return Ok(sys::value(sys::TAG_INT, if negative { -magnitude } else { magnitude }));
            }
        }
        if self.text.get(self.at) == Some(&b'.') {
            self.at += 1;
            self.some_digits()?;
        }
        if matches!(self.text.get(self.at), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.text.get(self.at), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.some_digits()?;
        }
        let text = std::str::from_utf8(&self.text[start..self.at]).expect("digits are ASCII");
        let number: f64 = text.parse().expect("the grammar of JSON numbers is within Rust's");
        Ok(self.ctx.number(number).into_raw())
    }

    fn digits(&mut self) {
        while self.text.get(self.at).is_some_and(u8::is_ascii_digit) {
            self.at += 1;
        }
    }

    fn some_digits(&mut self) -> Result<(), JsonError> {
        if !self.peek()?.is_ascii_digit() {
            return Err(self.unexpected("in numeric literal"));
        }
        self.digits();
        Ok(())
    }

    /// Where a string without escapes ends: the index of its closing quote. `None` if it has escapes, or is wrong.
    fn plain_string_end(&self, start: usize) -> Option<usize> {
        let rest = &self.text[start..];
        let end = rest.iter().position(|&byte| byte == b'"' || byte == b'\\' || byte < 0x20)?;
        (rest[end] == b'"').then_some(start + end)
    }

    fn string(&mut self) -> Result<sys::JSValue, JsonError> {
        let start = self.at + 1;
        let value = if let Some(end) = self.plain_string_end(start) {
            self.at = end + 1;
            let text = &self.text[start..end];
            if text.is_ascii() {
                // SAFETY: ASCII is UTF-8.
                self.ctx.string(unsafe { std::str::from_utf8_unchecked(text) })
            } else {
                self.ctx.string_from_utf8(text)
            }
        } else {
            self.escaped_string()?;
            self.wide_string()
        };
        value.map(Value::into_raw).map_err(|_| self.error(JsonErrorKind::Memory))
    }

    /// A string from the scratch buffer, which may hold surrogates in three bytes each (the engine reads them so).
    fn wide_string(&self) -> JsResult<'js> {
        // SAFETY: pointer and length are those of the scratch buffer; the engine checks the bytes; the result is ours.
        unsafe {
            let made = sys::JS_NewStringLen(
                self.ctx.raw(),
                self.scratch.as_ptr().cast(),
                self.scratch.len(),
            );
            Value::returned(self.ctx, made)
        }
    }

    /// Decodes a string with escapes into the scratch buffer.
    fn escaped_string(&mut self) -> Result<(), JsonError> {
        self.scratch.clear();
        self.at += 1;
        loop {
            match self.peek()? {
                b'"' => {
                    self.at += 1;
                    return Ok(());
                }
                b'\\' => {
                    self.at += 1;
                    let escape = self.peek()?;
                    self.at += 1;
                    match escape {
                        b'"' | b'\\' | b'/' => self.scratch.push(escape),
                        b'b' => self.scratch.push(8),
                        b'f' => self.scratch.push(12),
                        b'n' => self.scratch.push(b'\n'),
                        b'r' => self.scratch.push(b'\r'),
                        b't' => self.scratch.push(b'\t'),
                        b'u' => self.unicode_escape()?,
                        _ => {
                            self.at -= 1;
                            return Err(self.unexpected("in string escape code"));
                        }
                    }
                }
                byte if byte < 0x20 => return Err(self.unexpected("in string literal")),
                byte => {
                    self.scratch.push(byte);
                    self.at += 1;
                }
            }
        }
    }

    fn unicode_escape(&mut self) -> Result<(), JsonError> {
        let mut unit = self.four_hex()?;
        if (0xD800..0xDC00).contains(&unit) && self.text[self.at..].starts_with(b"\\u") {
            let back = self.at;
            self.at += 2;
            let low = self.four_hex()?;
            if (0xDC00..0xE000).contains(&low) {
                unit = 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00);
            } else {
                self.at = back;
            }
        }
        if let Some(character) = char::from_u32(unit) {
            self.scratch.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
        } else {
            // A lone surrogate, in the three bytes that UTF-8 would give it.
            let unit = unit as u16;
            self.scratch.extend_from_slice(&[
                0xE0 | (unit >> 12) as u8,
                0x80 | (unit >> 6 & 0x3F) as u8,
                0x80 | (unit & 0x3F) as u8,
            ]);
        }
        Ok(())
    }

    fn four_hex(&mut self) -> Result<u32, JsonError> {
        let mut unit = 0;
        for _ in 0..4 {
            let Some(digit) = (self.peek()? as char).to_digit(16) else {
                return Err(self.unexpected("in \\u hexadecimal character escape"));
            };
            unit = unit * 16 + digit;
            self.at += 1;
        }
        Ok(unit)
    }

    fn space(&mut self) {
        while matches!(self.text.get(self.at), Some(b' ' | b'\n' | b'\r' | b'\t')) {
            self.at += 1;
        }
    }

    fn peek(&self) -> Result<u8, JsonError> {
        self.text.get(self.at).copied().ok_or_else(|| self.error(JsonErrorKind::End))
    }

    fn error(&self, kind: JsonErrorKind) -> JsonError {
        let before = &self.text[..self.at.min(self.text.len())];
        #[allow(clippy::naive_bytecount, reason = "once per broken document")]
        let line = before.iter().filter(|&&byte| byte == b'\n').count() + 1;
        let column = before.iter().rev().take_while(|&&byte| byte != b'\n').count() + 1;
        let byte = self.text.get(self.at).copied();
        JsonError { kind, line, column, byte, expected: "", is_first_key: false, is_within: false }
    }

    fn unexpected(&self, expected: &'static str) -> JsonError {
        JsonError { expected, ..self.error(JsonErrorKind::Character) }
    }
}
