//! `new SharedArray(name, () => JSON.parse(open(file)))`, as most are made: the array is never made. Its elements stay
//! where they lie, in the file's text.
//!
//! While the callback runs, a [`Hunt`] is on: `JSON.parse` asks [`found_in_file`] before it parses a file. If what it
//! returns goes straight back to the constructor, no script can see it, and the text will do.

use std::cell::RefCell;
use std::ops::Range;
use std::sync::Arc;

use brunt_quickjs::{CommonBytes, Ctx, Running};
use memchr::memmem;
use serde::de::{Deserializer as _, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::{Elements, Text};

thread_local! {
    /// The constructors whose callbacks run, the innermost last.
    static HUNTS: RefCell<Vec<Quarry>> = const { RefCell::new(Vec::new()) };
}

struct Quarry {
    constructor: Running,
    found: Option<Elements>,
}

/// A callback of a `SharedArray` runs, until this is dropped.
pub(crate) struct Hunt {
    /// How many were on before.
    depth: usize,
}

impl Hunt {
    /// To be called in the constructor.
    pub(crate) fn begin(ctx: Ctx<'_>) -> Self {
        let quarry = Quarry { constructor: ctx.running(), found: None };
        HUNTS.with_borrow_mut(|hunts| {
            hunts.push(quarry);
            Self { depth: hunts.len() - 1 }
        })
    }

    /// The elements, if the callback returned those of a file.
    pub(crate) fn found(self) -> Option<Elements> {
        HUNTS.with_borrow_mut(|hunts| hunts.get_mut(self.depth)?.found.take())
    }
}

impl Drop for Hunt {
    fn drop(&mut self) {
        HUNTS.with_borrow_mut(|hunts| hunts.truncate(self.depth));
    }
}

/// In `JSON.parse`: keeps the elements of this text, if that is all that its caller wants. `true`: any value will do as
/// the result.
pub(crate) fn found_in_file(ctx: Ctx<'_>, bytes: &Arc<CommonBytes>) -> bool {
    let Some(constructor) =
        HUNTS.with_borrow(|hunts| hunts.last().map(|quarry| quarry.constructor))
    else {
        return false;
    };
    if !ctx.returns_to(constructor) || has_own_json(ctx) {
        return false;
    }
    let Some(mut elements) = Elements::of_file(bytes) else { return false };
    if elements.weigh(ctx).is_err() {
        // The script ends at the next look at it.
        drop(ctx.take_exception());
        return false;
    }
    HUNTS.with_borrow_mut(|hunts| {
        if let Some(quarry) = hunts.last_mut() {
            quarry.found = Some(elements);
        }
    });
    true
}

/// The script says how its values are written as JSON, which a text that is never parsed would miss.
fn has_own_json(ctx: Ctx<'_>) -> bool {
    ["Object", "Array", "String", "Number", "Boolean"].iter().any(|class| {
        let prototype = ctx.global().get(*class).and_then(|class| class.get("prototype"));
        let to_json = prototype.and_then(|prototype| prototype.get("toJSON"));
        to_json.is_ok_and(|to_json| !to_json.is_undefined())
    })
}

impl Elements {
    /// The elements of a JSON array; `None` for anything else, for what is not JSON, and for numbers that come back from
    /// JavaScript as others: -0, and those with an exponent, which may be infinite.
    fn of_file(bytes: &Arc<CommonBytes>) -> Option<Self> {
        let text = bytes.text();
        if has_odd_numbers(text.as_bytes()) {
            return None;
        }
        let mut document = serde_json::Deserializer::from_str(text);
        let spans = document.deserialize_seq(Spans { text }).ok()?;
        document.end().ok()?;
        let text = Text::File(Arc::clone(bytes));
        Some(Self { text, spans, ..Self::default() })
    }
}

/// Notes where each element of an array lies.
struct Spans<'t> {
    text: &'t str,
}

impl<'t> Visitor<'t> for Spans<'t> {
    type Value = Vec<Range<usize>>;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("an array")
    }

    fn visit_seq<A: SeqAccess<'t>>(self, mut array: A) -> Result<Self::Value, A::Error> {
        struct Element<'t>(&'t RawValue);
        impl<'t> serde::Deserialize<'t> for Element<'t> {
            fn deserialize<D: serde::Deserializer<'t>>(from: D) -> Result<Self, D::Error> {
                <&RawValue>::deserialize(from).map(Element)
            }
        }
        let mut spans = Vec::new();
        while let Some(Element(raw)) = array.next_element()? {
            let start = raw.get().as_ptr().addr() - self.text.as_ptr().addr();
            spans.push(start..start + raw.get().len());
        }
        spans.shrink_to_fit();
        Ok(spans)
    }
}

fn has_odd_numbers(json: &[u8]) -> bool {
    let may_have = memmem::find(json, b"-0").is_some()
        || json.windows(2).any(|pair| pair[0].is_ascii_digit() && matches!(pair[1], b'e' | b'E'));
    if !may_have {
        return false;
    }
    let mut rest = json.iter().copied();
    let mut before = 0_u8;
    while let Some(byte) = rest.next() {
        match byte {
            b'"' => loop {
                match rest.next() {
                    Some(b'"') | None => break,
                    Some(b'\\') => {
                        rest.next();
                    }
                    Some(_) => {}
                }
            },
            b'e' | b'E' if before.is_ascii_digit() => return true,
            b'0' if before == b'-' => return true,
            _ => {}
        }
        before = byte;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn elements(json: &str) -> Option<Vec<String>> {
        let bytes = Arc::new(CommonBytes::from(json.as_bytes().to_vec()));
        let elements = Elements::of_file(&bytes)?;
        let text = |index| String::from_utf8(elements.text(index).unwrap().to_vec()).unwrap();
        Some((0..elements.len()).map(text).collect())
    }

    #[test]
    fn elements_lie_in_their_file() {
        let found = elements(" [ {\"a\": [1, 2]} , \"x,]\",null\n, -0.5 ]\n").unwrap_or_default();
        assert!(found.is_empty(), "-0.5 may be -0: {found:?}");
        let found = elements(" [ {\"a\": [1, 2]} , \"x,]-0 1e9\",null\n, -1.5 ]\n").unwrap();
        assert_eq!(found, ["{\"a\": [1, 2]}", "\"x,]-0 1e9\"", "null", "-1.5"]);
        assert_eq!(elements("[]"), Some(vec![]));
    }

    #[test]
    fn what_is_no_array_or_would_change_is_left_to_the_parser() {
        for json in ["{}", "[1", "[1,]", "[1] 2", "[01]", "[-0]", "[1e400]", "[{\"a\": 2E3}]", ""] {
            assert_eq!(elements(json), None, "{json}");
        }
    }
}
