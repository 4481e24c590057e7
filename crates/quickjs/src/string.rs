//! Strings across the border.

use std::ffi::{c_char, c_void};
use std::fmt;
use std::ops::Deref;
use std::slice;
use std::sync::Arc;

use crate::buffer::CommonBytes;
use crate::ctx::Ctx;
use crate::error::{ErrorKind, JsResult, Thrown};
use crate::sys;
use crate::value::Value;

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
        ctx.count_bytes(length);
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
        self.count_bytes(text.len());
        // SAFETY: pointer and length are those of a `str`; the result is ours.
        unsafe {
            Value::returned(
                self,
                sys::JS_NewStringLen(self.raw(), text.as_ptr().cast(), text.len()),
            )
        }
    }

    /// The text of these bytes as a string: a long one shows them where they lie, without a copy, and does not count for
    /// the memory limit.
    ///
    /// # Errors
    /// If there is no memory, or they are more than a string can have (1 GiB).
    pub fn common_string(self, bytes: &Arc<CommonBytes>) -> JsResult<'js> {
        let (letters, count, is_wide) = bytes.letters();
        if count < LENT_FROM {
            return self.string(bytes.text());
        }
        let Some(count) = u32::try_from(count).ok().filter(|&count| count <= sys::STRING_LEN_MAX)
        else {
            return Err(self.throw_error(ErrorKind::Range, "invalid string length"));
        };
        let owner = Arc::into_raw(Arc::clone(bytes));
        // SAFETY: the letters lie where they are told to as long as `owner` is not given back, which `release` does, once;
        // the engine never writes to them.
        unsafe {
            let owner = owner.cast_mut().cast();
            let string =
                sys::brunt_lent_string(self.raw(), letters, count, is_wide, owner, release);
            let string = Value::returned(self, string);
            if string.is_err() {
                release(owner);
            }
            string
        }
    }

    /// A string of bytes that should be UTF-8; each byte that is not becomes U+FFFD, as in k6. A long one is made in slices:
    /// the interrupt handler is asked after each.
    ///
    /// # Errors
    /// If there is no memory, or the handler stops what runs.
    pub fn string_from_utf8(self, bytes: &[u8]) -> JsResult<'js> {
        if bytes.len() >= SLICED_FROM {
            return self.sliced_string(bytes);
        }
        if let Ok(text) = std::str::from_utf8(bytes) {
            return self.string(text);
        }
        self.string(&repaired(bytes))
    }

    fn sliced_string(self, bytes: &[u8]) -> JsResult<'js> {
        let (mut count, mut is_wide) = (0, false);
        for slice in slices(bytes) {
            let (letters, has_wide) = measured(slice);
            count += letters;
            is_wide |= has_wide;
            self.poll(SLICE_COST)?;
        }
        let Some(length) = u32::try_from(count).ok().filter(|&count| count <= sys::STRING_LEN_MAX)
        else {
            return Err(self.throw_error(ErrorKind::Range, "invalid string length"));
        };
        let mut letters = std::ptr::null_mut();
        // SAFETY: `letters` outlives the call, and the result is ours.
        let string = unsafe {
            let string = sys::brunt_string_room(self.raw(), length, is_wide, &raw mut letters);
            Value::returned(self, string)?
        };
        let mut at = 0;
        for slice in slices(bytes) {
            // SAFETY: the string is new and in no other hands; it has room for `count` letters of this width, and the slices
            // have `count` letters together.
            at += unsafe {
                if is_wide {
                    write(letters.cast::<u16>().add(at), slice)
                } else {
                    write_narrow(letters.cast::<u8>().add(at), slice)
                }
            };
            self.poll(SLICE_COST)?;
        }
        assert_eq!(at, count, "the slices have as many letters as before");
        Ok(string)
    }
}

/// Texts of this many bytes or more are made in slices.
const SLICED_FROM: usize = 256 * 1024;

/// The bytes of a slice: a part of a millisecond.
const SLICE: usize = 64 * 1024;

/// More operations than the engine runs without a poll.
const SLICE_COST: i32 = 10_000;

/// Slices that cut no letter apart.
fn slices(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        let mut end = SLICE.min(rest.len());
        // A letter has three bytes of this kind at most: after more of them, no letter goes on.
        let is_inner = |at: usize| rest.get(at).is_some_and(|byte| byte & 0xC0 == 0x80);
        let inner = (0..3).take_while(|back| is_inner(end - back)).count();
        if end > 3 && inner < 3 {
            end -= inner;
        } else if end > 3 && !is_inner(end - 3) {
            end -= 3;
        }
        let (slice, left) = rest.split_at(end);
        rest = left;
        (!slice.is_empty()).then_some(slice)
    })
}

/// How many letters of the engine's these bytes have, and whether one is beyond U+00FF.
fn measured(slice: &[u8]) -> (usize, bool) {
    if slice.is_ascii() {
        return (slice.len(), false);
    }
    let (mut count, mut is_wide) = (0, false);
    for chunk in slice.utf8_chunks() {
        for letter in chunk.valid().chars() {
            count += letter.len_utf16();
            is_wide |= letter > '\u{FF}';
        }
        count += chunk.invalid().len();
        is_wide |= !chunk.invalid().is_empty();
    }
    (count, is_wide)
}

/// Writes the letters of a slice, and gives their number.
///
/// # Safety
/// There is room for them at `to`.
unsafe fn write(to: *mut u16, slice: &[u8]) -> usize {
    let mut count = 0;
    for chunk in slice.utf8_chunks() {
        let marks = std::iter::repeat_n(0xFFFD, chunk.invalid().len());
        for letter in chunk.valid().encode_utf16().chain(marks) {
            // SAFETY: as the caller says.
            unsafe { to.add(count).write(letter) };
            count += 1;
        }
    }
    count
}

/// The same for letters up to U+00FF.
///
/// # Safety
/// There is room for them at `to`.
unsafe fn write_narrow(to: *mut u8, slice: &[u8]) -> usize {
    if slice.is_ascii() {
        // SAFETY: as the caller says; the engine has just allocated the room, and no slice refers to it.
        unsafe { to.copy_from_nonoverlapping(slice.as_ptr(), slice.len()) };
        return slice.len();
    }
    let mut count = 0;
    for letter in slice.utf8_chunks().flat_map(|chunk| chunk.valid().chars()) {
        // SAFETY: as the caller says.
        unsafe { to.add(count).write(u32::from(letter) as u8) };
        count += 1;
    }
    count
}

/// Texts of this many letters or more are read in place. Far more than the engine's short strings have.
const LENT_FROM: usize = 64 * 1024;

/// Gives an owner of letters back.
unsafe extern "C" fn release(owner: *mut c_void) {
    // SAFETY: it came from `Arc::into_raw` in `common_string`, and the engine gives it back once.
    drop(unsafe { Arc::from_raw(owner.cast::<CommonBytes>()) });
}

impl Value<'_> {
    /// The bytes whose text this string is, if it was made by [`Ctx::common_string`] and shows them where they lie.
    pub fn common_text(&self) -> Option<Arc<CommonBytes>> {
        // SAFETY: the value is alive.
        let owner = unsafe { sys::brunt_string_owner(self.raw, release) };
        if owner.is_null() {
            return None;
        }
        let owner = owner.cast::<CommonBytes>().cast_const();
        // SAFETY: an owner with our function is one of `common_string`, alive as long as the string; one more holder.
        unsafe {
            Arc::increment_strong_count(owner);
            Some(Arc::from_raw(owner))
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Vm;
    use crate::ctx::Hooks;
    use std::cell::Cell;
    use std::rc::Rc;

    /// A VM in which `text` is of common bytes and `copy` the same as a string of the engine's own.
    fn vm(content: &str) -> (Vm, Arc<CommonBytes>) {
        let vm = Vm::new(Rc::new(()), Hooks::default(), 1024 * 1024);
        let bytes = Arc::new(CommonBytes::from(content.as_bytes().to_vec()));
        let ctx = vm.ctx();
        ctx.global().define("text", ctx.common_string(&bytes).unwrap()).unwrap();
        ctx.global().define("copy", ctx.string(content).unwrap()).unwrap();
        (vm, bytes)
    }

    fn contents() -> [String; 3] {
        // A whole number of pages: a byte beyond it would be outside of the memory.
        let ascii = "0123456789abcde\n".repeat(8192);
        [ascii.clone(), ascii.replace('a', "é"), ascii.replace('a', "\u{1F600}")]
    }

    #[test]
    fn slices_cut_no_letter_apart() {
        for (at, letter) in [("é", 2), ("€", 3), ("😀", 4), ("\u{7F}", 1)] {
            for before in SLICE - 5..=SLICE {
                let text = format!("{}{at}{}", "a".repeat(before), "b".repeat(SLICE));
                assert_eq!(at.len(), letter);
                assert!(slices(text.as_bytes()).all(|slice| std::str::from_utf8(slice).is_ok()));
                assert_eq!(slices(text.as_bytes()).collect::<Vec<_>>().concat(), text.as_bytes());
            }
        }
        let strays = vec![0x80; SLICE + 10];
        assert_eq!(slices(&strays).map(<[u8]>::len).sum::<usize>(), strays.len());
    }

    #[test]
    fn a_long_text_is_made_in_slices_and_is_the_same() {
        let polls = Rc::new(Cell::new(0u32));
        let interrupt = |host: &dyn std::any::Any| {
            let polls = host.downcast_ref::<Cell<u32>>().unwrap();
            polls.set(polls.get() + 1);
            polls.get() > 100
        };
        let hooks = Hooks { interrupt: Some(interrupt), ..Hooks::default() };
        let vm = Vm::new(Rc::clone(&polls) as Rc<dyn std::any::Any>, hooks, 1024 * 1024);
        let ctx = vm.ctx();
        let parts: [&[u8]; 4] =
            [b"plain ", "café ".as_bytes(), "€ 😀 ".as_bytes(), b"\xff\xe2\x82 "];
        for kinds in 1..=parts.len() {
            let bytes = parts[..kinds].concat().repeat(SLICED_FROM / 5);
            polls.set(0);
            let text = ctx.string_from_utf8(&bytes).unwrap();
            assert!(polls.get() as usize >= 2 * bytes.len() / SLICE, "{kinds} {polls:?}");
            ctx.global().define("text", text).unwrap();
            ctx.global().define("whole", ctx.string(&repaired(&bytes)).unwrap()).unwrap();
            assert!(
                ctx.eval("t.js", "text === whole && text.length === whole.length")
                    .unwrap()
                    .truthy()
            );
        }
        assert!(ctx.string_from_utf8(&b"a\xff".repeat(8 << 20)).is_err(), "it was told to stop");
    }

    #[test]
    fn a_lent_string_is_like_any_other() {
        for content in contents() {
            let (vm, bytes) = vm(&content);
            let ctx = vm.ctx();
            assert!(Arc::ptr_eq(&ctx.global().get("text").unwrap().common_text().unwrap(), &bytes));
            assert!(ctx.global().get("copy").unwrap().common_text().is_none());
            for script in [
                "text === copy && copy === text && text == copy && !(text < copy)",
                "text.length === copy.length && text[70000] === copy[70000]",
                "text.slice(5, 60000) === copy.slice(5, 60000)",
                "text.slice(5, 60000).slice(7, 50000) === copy.slice(12, 50005)",
                "text.substring(60000, 60010) === copy.substring(60000, 60010)",
                "text + text === copy + copy && 'x' + text === 'x' + copy && text + 'x' === copy + 'x'",
                "let s = text; s += 'y'; s += 'z'; s === copy + 'yz' && text === copy",
                "text.split('\\n').length === 8193 && text.split('\\n')[9] === copy.split('\\n')[9]",
                "text.indexOf('e', 60000) === copy.indexOf('e', 60000) && text.lastIndexOf('0') === copy.lastIndexOf('0')",
                "text.replace('0', 'x') === copy.replace('0', 'x') && text.replaceAll('0', '') === copy.replaceAll('0', '')",
                "text.match(/b.d/g).length === 8192 && /e\\n$/.test(text)",
                "text.toUpperCase() === copy.toUpperCase() && [...text].length === [...copy].length",
                "const o = { [text]: 1 }; o[copy] === 1 && Object.keys(o)[0] === text && delete o[text] && !(copy in o)",
                "new Map([[text, 2]]).get(copy) === 2 && Symbol(text).description === copy",
                "JSON.parse(JSON.stringify(text)) === copy && JSON.stringify([text]) === JSON.stringify([copy])",
                "encodeURIComponent(text) === encodeURIComponent(copy) && text.normalize() === copy.normalize()",
                "parseInt(text) === 123456789 && Number(text.slice(0, 10)) === 123456789",
                "text.localeCompare(copy) === 0 && text.trim() === copy.trim() && text.isWellFormed()",
                "const parts = []; for (let i = 0; i < 100; i += 1) parts.push(text.slice(i * 700, i * 700 + 2000)); \
                 parts.join('').length === 200000 && parts[99] === copy.slice(69300, 71300)",
            ] {
                let told = ctx.eval("t.js", &format!("{{ {script} }}")).map(|value| value.truthy());
                assert_eq!(told.ok(), Some(true), "{script}");
            }
            assert_eq!(ctx.global().get("text").unwrap().to_js_str().unwrap().as_str(), content);
        }
    }

    #[test]
    fn letters_outlive_their_vm_and_are_let_go_with_it() {
        for content in contents() {
            let (vm, bytes) = vm(&content);
            let another = Vm::new(Rc::new(()), Hooks::default(), 1024 * 1024);
            let ctx = another.ctx();
            ctx.global().define("text", ctx.common_string(&bytes).unwrap()).unwrap();
            assert_eq!(Arc::strong_count(&bytes), 3);
            vm.ctx()
                .eval("t.js", "var part = text.slice(9, 99999); text = null; copy = null")
                .unwrap();
            assert_eq!(Arc::strong_count(&bytes), 3, "the part holds them");
            vm.ctx().eval("t.js", "part = null").unwrap();
            assert_eq!(Arc::strong_count(&bytes), 2);
            drop((vm, another));
            assert_eq!(Arc::strong_count(&bytes), 1);
        }
    }

    #[test]
    fn short_ones_are_copied() {
        let (vm, bytes) = vm("short é");
        assert_eq!(Arc::strong_count(&bytes), 1);
        assert!(vm.ctx().eval("t.js", "text === copy").unwrap().truthy());
    }
}
