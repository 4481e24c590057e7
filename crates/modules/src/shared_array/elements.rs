//! What a `SharedArray` keeps: each element as its JSON text, all in one buffer; buffers and typed arrays, which JSON does
//! not have and k6 loses, as their bytes.

use std::sync::{Arc, Mutex, PoisonError};

use brunt_quickjs::{CommonBytes, Ctx, JsResult, Value};
use memchr::memchr;
use rustc_hash::FxHashMap;

/// The shared arrays of a process, by name. They live as long as the test; there are as many as the script names.
#[derive(Debug, Default)]
pub(crate) struct SharedArrays(Mutex<FxHashMap<String, Arc<Elements>>>);

impl SharedArrays {
    pub(crate) fn find(&self, name: &str) -> Option<Arc<Elements>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(name).cloned()
    }

    /// Keeps the elements under this name; the first to come stay.
    pub(crate) fn keep(&self, name: &str, elements: Elements) -> Arc<Elements> {
        let mut arrays = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(arrays.entry(name.to_owned()).or_insert_with(|| Arc::new(elements)))
    }
}

/// The elements of an array.
#[derive(Debug, Default)]
pub(crate) struct Elements {
    text: Vec<u8>,
    /// Where each text ends in `text`, which is where the next begins. An empty text is `undefined`, or a binary element.
    ends: Vec<usize>,
    /// Those that are buffers or typed arrays, by rising index.
    binary: Vec<Binary>,
}

#[derive(Debug)]
struct Binary {
    index: u32,
    /// The class of the typed array; `None` is an `ArrayBuffer`.
    class: Option<&'static str>,
    bytes: Arc<CommonBytes>,
}

impl Elements {
    /// What an array of a script holds.
    ///
    /// # Errors
    /// What reading it throws.
    pub(crate) fn encode<'js>(ctx: Ctx<'js>, array: &Value<'js>) -> JsResult<'js, Self> {
        let length = array.length()?;
        let mut elements = Self::default();
        for index in 0..length {
            let element = array.get_index(index)?;
            if let Some(bytes) = binary(&element) {
                let class = element.typed_array_name();
                elements.binary.push(Binary { index, class, bytes });
                elements.push(b"");
            } else if let Some(json) = ctx.stringify_json(&element)? {
                elements.push(json.as_bytes());
            } else {
                elements.push(b"");
            }
        }
        elements.text.shrink_to_fit();
        Ok(elements)
    }

    /// Adds an element by its JSON text.
    pub(crate) fn push(&mut self, json: &[u8]) {
        self.text.extend_from_slice(json);
        self.ends.push(self.text.len());
    }

    /// How many there are.
    pub(crate) fn len(&self) -> u32 {
        u32::try_from(self.ends.len()).expect("a JavaScript array's length fits 32 bits")
    }

    /// Whether there is such an element, which is `undefined`.
    pub(crate) fn is_undefined(&self, index: u32) -> bool {
        self.text(index) == Some(&[]) && self.binary(index).is_none()
    }

    fn text(&self, index: u32) -> Option<&[u8]> {
        let index = index as usize;
        let end = *self.ends.get(index)?;
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        Some(&self.text[start..end])
    }

    fn binary(&self, index: u32) -> Option<&Binary> {
        let at = self.binary.binary_search_by_key(&index, |binary| binary.index).ok()?;
        Some(&self.binary[at])
    }

    /// The element, frozen to its depths. `None` beyond the end.
    pub(crate) fn read<'js>(&self, ctx: Ctx<'js>, index: u32) -> JsResult<'js, Option<Value<'js>>> {
        if let Some(binary) = self.binary(index) {
            let buffer = ctx.frozen_buffer(&binary.bytes)?;
            return match binary.class {
                Some(class) => ctx.typed_array(class, &buffer).map(Some),
                None => Ok(Some(buffer)),
            };
        }
        let Some(text) = self.text(index) else { return Ok(None) };
        if let Some(text) = plain_string(text) {
            return ctx.string(text).map(Some);
        }
        // `undefined` has no JSON: k6 throws a SyntaxError too.
        let value = ctx.parse_json(text).map_err(|error| ctx.throw_json(error))?;
        value.freeze_json()?;
        Ok(Some(value))
    }
}

/// What a JSON string says, if it says it without escapes: no parser is needed for it.
fn plain_string(json: &[u8]) -> Option<&str> {
    let [b'"', inner @ .., b'"'] = json else { return None };
    if memchr(b'\\', inner).is_some() { None } else { std::str::from_utf8(inner).ok() }
}

/// The bytes of an `ArrayBuffer` or typed array; those of a file that was opened are kept as they lie. (A `DataView` is no
/// data, but a way to look at some.)
fn binary(element: &Value<'_>) -> Option<Arc<CommonBytes>> {
    if !element.is_array_buffer() && element.typed_array_name().is_none() {
        return None;
    }
    let copy = || element.with_bytes(|bytes| Arc::new(bytes.to_vec().into()));
    element.common_bytes().or_else(copy)
}
