//! The elements of a `SharedArray`: each as its JSON text, all in one buffer, or in the file that they came from.
//! Buffers and views of them, at any depth, which JSON does not have and k6 loses, are kept as their bytes, with a
//! mark in the text for each.

mod unparsed;

use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use brunt_quickjs::{CommonBytes, CommonWeight, Ctx, HeldBytes, JsResult, Thrown, Value};
use memchr::memchr;
use rustc_hash::FxHashMap;

pub(crate) use self::unparsed::{Hunt, found_in_file};
use super::COST_OF_ELEMENT;
use crate::globals::web::bodies::is_blob;

/// The shared arrays of a process, by name. They live as long as the test; there are as many as the script names, and
/// together they and the heaps of VUs have the memory that is there for all VUs.
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
    text: Text,
    /// Where each text lies. An empty one is `undefined`.
    spans: Vec<Range<usize>>,
    /// The bytes behind the marks, by their numbers.
    binary: Vec<Binary>,
    /// Of all that, but for the bytes of a file.
    weight: CommonWeight,
}

/// Bytes that count for each array: its name and its place among the others.
const COST_OF_ARRAY: usize = 512;

/// The JSON texts of elements.
#[derive(Debug)]
enum Text {
    /// One behind the other, with marks for what is binary.
    Own(Vec<u8>),
    /// In the JSON array of a file.
    File(Arc<CommonBytes>),
}

impl Default for Text {
    fn default() -> Self {
        Self::Own(Vec::new())
    }
}

/// A buffer, or a view of a whole one.
#[derive(Debug)]
struct Binary {
    shape: Shape,
    bytes: Arc<CommonBytes>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Shape {
    Buffer,
    Typed(&'static str),
    View,
}

impl Elements {
    /// The elements of an array of a script.
    ///
    /// # Errors
    /// The exception of reading it; a `TypeError` for a `Blob` or `File`, which can't be read at once. They may have as much
    /// memory as the heap of a VU.
    pub(crate) fn encode<'js>(ctx: Ctx<'js>, array: &Value<'js>) -> JsResult<'js, Self> {
        let length = array.length()?;
        let mut elements = Self::default();
        // Holes are many elements, and none to the heap that the array lies in.
        let spans = (length as usize).saturating_mul(size_of::<Range<usize>>());
        elements.weight.grow_as_heap(ctx, spans.saturating_add(COST_OF_ARRAY))?;
        let mut seen = Seen::default();
        for index in 0..length {
            let element = array.get_index(index)?;
            let binary = &mut elements.binary;
            let json = ctx.stringify_marked(&element, |value| seen.mark(value, binary))?;
            let json = json.unwrap_or_default();
            // Plain values are written at once, and there may be millions of them.
            ctx.poll(COST_OF_ELEMENT)?;
            let texts = elements.text_len() + json.len();
            let weight = spans + COST_OF_ARRAY + texts + seen.copied;
            elements.weight.grow_as_heap(ctx, weight)?;
            elements.push(json.as_bytes());
        }
        if let Text::Own(text) = &mut elements.text {
            text.shrink_to_fit();
        }
        Ok(elements)
    }

    /// Adds an element by its JSON text.
    fn push(&mut self, json: &[u8]) {
        let Text::Own(text) = &mut self.text else { unreachable!("a file has all its elements") };
        let start = text.len();
        text.extend_from_slice(json);
        self.spans.push(start..text.len());
    }

    /// Adds a record of a file, as its JSON text.
    ///
    /// # Errors
    /// There is no memory for it among that of all VUs.
    pub(crate) fn push_of_file<'js>(&mut self, ctx: Ctx<'js>, json: &[u8]) -> JsResult<'js, ()> {
        ctx.poll(COST_OF_ELEMENT)?;
        self.push(json);
        self.weigh(ctx)
    }

    /// Counts what has come from a file.
    fn weigh<'js>(&mut self, ctx: Ctx<'js>) -> JsResult<'js, ()> {
        let spans = size_of_val(self.spans.as_slice());
        let weight = COST_OF_ARRAY + spans + self.text_len();
        self.weight.grow(ctx, weight)
    }

    /// Bytes of texts that are not in a file.
    fn text_len(&self) -> usize {
        match &self.text {
            Text::Own(text) => text.len(),
            Text::File(_) => 0,
        }
    }

    /// How many there are.
    pub(crate) fn len(&self) -> u32 {
        u32::try_from(self.spans.len()).expect("a JavaScript array's length fits 32 bits")
    }

    /// Whether there is such an element, which is `undefined`.
    pub(crate) fn is_undefined(&self, index: u32) -> bool {
        self.text(index) == Some(&[])
    }

    fn text(&self, index: u32) -> Option<&[u8]> {
        let span = self.spans.get(index as usize)?.clone();
        Some(match &self.text {
            Text::Own(text) => &text[span],
            Text::File(bytes) => &bytes.text().as_bytes()[span],
        })
    }

    /// The element, frozen to its depths. `None` beyond the end.
    pub(crate) fn read<'js>(&self, ctx: Ctx<'js>, index: u32) -> JsResult<'js, Option<Value<'js>>> {
        let Some(text) = self.text(index) else { return Ok(None) };
        if let Some(text) = plain_string(text) {
            return ctx.string(text).map(Some);
        }
        if text.is_empty() {
            // `undefined` has no JSON.
            let message = "invalid character 'u' looking for beginning of value";
            return Err(ctx.throw_syntax(message));
        }
        let value = if self.binary.is_empty() {
            ctx.parse_json(text)
        } else {
            ctx.parse_marked(text, |number| self.marked(ctx, number))
        };
        let value = value.map_err(|error| ctx.throw_json(error))?;
        value.freeze_json()?;
        Ok(Some(value))
    }

    fn marked<'js>(&self, ctx: Ctx<'js>, number: u32) -> JsResult<'js> {
        let binary = &self.binary[number as usize];
        let buffer = ctx.frozen_buffer(&binary.bytes)?;
        match binary.shape {
            Shape::Buffer => Ok(buffer),
            Shape::Typed(class) => ctx.typed_array(class, &buffer),
            Shape::View => ctx.data_view(&buffer),
        }
    }
}

/// The content of a JSON string without escapes: no parser is needed for it.
fn plain_string(json: &[u8]) -> Option<&str> {
    let [b'"', inner @ .., b'"'] = json else { return None };
    if memchr(b'\\', inner).is_some() { None } else { std::str::from_utf8(inner).ok() }
}

/// The binary values so far, by the place of their bytes: a value that many elements refer to is kept once.
#[derive(Default)]
struct Seen<'js> {
    /// They stay alive as long, so that no other bytes come to lie there.
    values: Vec<Value<'js>>,
    /// As long as these are held, a script that writes to the buffers writes elsewhere.
    held: Vec<HeldBytes>,
    marks: FxHashMap<(usize, usize, Shape), Mark>,
    /// Bytes that were copied.
    copied: usize,
}

#[derive(Clone, Copy)]
struct Mark {
    number: u32,
    /// The bytes are held.
    is_held: bool,
}

impl<'js> Seen<'js> {
    /// The mark for a value that is binary; those bytes of a file that was opened are kept as they lie.
    fn mark(
        &mut self,
        value: &Value<'js>,
        binary: &mut Vec<Binary>,
    ) -> Result<Option<u32>, Thrown> {
        let shape = if value.is_array_buffer() {
            Shape::Buffer
        } else if let Some(class) = value.typed_array_name() {
            Shape::Typed(class)
        } else if value.is_data_view() {
            Shape::View
        } else if is_blob(value) {
            let message = "a SharedArray can't hold a Blob or File: give it the bytes, as \
                           `await blob.arrayBuffer()` has them";
            return Err(value.ctx().throw_type(message));
        } else {
            return Ok(None);
        };
        let place = |bytes: &[u8]| (bytes.as_ptr() as usize, bytes.len(), shape);
        // A detached buffer has no bytes, and is an empty object for JSON.
        let Some(known) = value.with_bytes(place) else { return Ok(None) };
        if let Some(&Mark { number, is_held }) = self.marks.get(&known) {
            // A script may have changed them since.
            let kept = &binary[number as usize].bytes;
            if is_held || value.with_bytes(|bytes| *bytes == kept[..]) == Some(true) {
                return Ok(Some(number));
            }
        }
        let held = value.shared_bytes();
        let copied = &mut self.copied;
        let copy = || {
            value.with_bytes(|bytes| {
                *copied += bytes.len();
                Arc::new(bytes.to_vec().into())
            })
        };
        let Some(bytes) = value.common_bytes().or_else(copy) else { return Ok(None) };
        let number = u32::try_from(binary.len()).expect("fewer values than a memory can hold");
        binary.push(Binary { shape, bytes });
        // Holding them may have moved them; what is small was copied instead.
        if let Some(place) = value.with_bytes(place) {
            let is_held = held.as_ref().is_some_and(|held| held.as_ptr() as usize == place.0);
            self.marks.insert(place, Mark { number, is_held });
            self.held.extend(held.filter(|_| is_held));
        }
        self.values.push(value.clone());
        Ok(Some(number))
    }
}
