//! JSON with holes: marks in a text stand for what JSON does not have, buffers for one.

use std::ffi::{c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::ctx::Ctx;
use crate::error::{JsResult, Thrown};
use crate::sys;
use crate::value::Value;

/// The byte around the number of a mark. A JSON text has no such byte: in strings it is written as `\u0001`.
pub(super) const MARK: u8 = 1;

impl<'js> Ctx<'js> {
    /// `JSON.stringify(value)`, which asks about each object that is neither plain nor an array, after its `toJSON`
    /// and before it is written: if `mark` returns a number, a mark with it replaces the object. Such a text is for
    /// [`Ctx::parse_marked`].
    ///
    /// # Errors
    /// As [`Ctx::stringify_json`], and what `mark` throws.
    pub fn stringify_marked(
        self,
        value: &Value<'js>,
        mark: impl FnMut(&Value<'js>) -> Result<Option<u32>, Thrown>,
    ) -> JsResult<'js, Option<String>> {
        let _inside = self.enter();
        let mut asked = Asked { ctx: self, mark };
        let opaque = (&raw mut asked).cast::<c_void>();
        // SAFETY: the value is alive and of this context; `ask` is called during the call only; the result is ours.
        let text = unsafe {
            let ask = ask_for(&asked);
            let raw = sys::brunt_stringify(self.raw(), value.raw_for(self), ask, opaque);
            Value::returned(self, raw)?
        };
        if text.is_undefined() { Ok(None) } else { text.to_string_lossy().map(Some) }
    }
}

/// Whom the engine asks while it writes.
struct Asked<'js, F> {
    ctx: Ctx<'js>,
    mark: F,
}

type Ask = unsafe extern "C" fn(*mut c_void, sys::JSValue) -> c_int;

/// The function that the engine calls for this asker.
fn ask_for<'js, F>(_: &Asked<'js, F>) -> Ask
where
    F: FnMut(&Value<'js>) -> Result<Option<u32>, Thrown>,
{
    ask::<'js, F>
}

/// The mark of a value; -1: none, -2: an exception waits.
unsafe extern "C" fn ask<'js, F>(opaque: *mut c_void, raw: sys::JSValue) -> c_int
where
    F: FnMut(&Value<'js>) -> Result<Option<u32>, Thrown>,
{
    // SAFETY: the asker of `stringify_marked`, which is waiting; one call at a time, since a script that runs in between
    // never calls it.
    let asked = unsafe { &mut *opaque.cast::<Asked<'js, F>>() };
    let ctx = asked.ctx;
    // SAFETY: the engine lends a value of this context.
    let value = unsafe { Value::borrowed(ctx, raw) };
    match catch_unwind(AssertUnwindSafe(|| (asked.mark)(&value))) {
        Ok(Ok(mark)) => mark.map_or(-1, |mark| c_int::try_from(mark).unwrap_or(-1)),
        Ok(Err(Thrown(()))) => -2,
        Err(payload) => {
            ctx.inner.panic.set(Some(payload));
            let _ = ctx.throw_uncatchable("a native function panicked");
            -2
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::Vm;
    use crate::ctx::Hooks;
    use std::rc::Rc;

    fn vm() -> Vm {
        Vm::new(Rc::new(()), Hooks::default(), 1024 * 1024)
    }

    #[test]
    fn what_json_does_not_have_is_marked_in_its_text_and_put_back() {
        let vm = vm();
        let ctx = vm.ctx();
        let script = "({ a: [new Uint8Array([7]), { d: new Date(0), b: new ArrayBuffer(3) }], m: new Map(), \
            t: { toJSON() { return [JSON.stringify(new Uint8Array(1)), new Uint8Array([8])] } }, s: '\\u00011\\u0001' })";
        let value = ctx.eval("t.js", script).unwrap();
        let mut kept = Vec::new();
        let text = ctx
            .stringify_marked(&value, |object| {
                let Some(bytes) = object.bytes() else { return Ok(None) };
                kept.push(bytes.to_vec());
                Ok(u32::try_from(kept.len() - 1).ok())
            })
            .unwrap()
            .unwrap();
        assert_eq!(kept, [vec![7], vec![0; 3], vec![8]]);
        assert!(ctx.parse_json(text.as_bytes()).is_err(), "marks are no JSON");
        let back =
            ctx.parse_marked(text.as_bytes(), |number| Ok(ctx.number(f64::from(number)))).unwrap();
        assert_eq!(
            ctx.stringify_json(&back).unwrap().unwrap(),
            r#"{"a":[0,{"d":"1970-01-01T00:00:00.000Z","b":1}],"m":{},"t":["{\"0\":0}",2],"s":"\u00011\u0001"}"#
        );
        for broken in ["\u{1}", "\u{1}1", "\u{1}x\u{1}", "[\u{1}99999999999\u{1}"] {
            assert!(
                ctx.parse_marked(broken.as_bytes(), |_| Ok(ctx.undefined())).is_err(),
                "{broken:?}"
            );
        }
        assert!(ctx.stringify_marked(&value, |_| Err(ctx.throw_type("no"))).is_err());
        assert_eq!(ctx.take_exception().unwrap().value.to_string_lossy().unwrap(), "TypeError: no");
        assert!(ctx.parse_marked(b"[\x010\x01]", |_| Err(ctx.throw_type("none"))).is_err());
        assert_eq!(
            ctx.take_exception().unwrap().value.to_string_lossy().unwrap(),
            "TypeError: none"
        );
    }

    #[test]
    fn json_refuses_with_the_words_of_k6() {
        let vm = vm();
        for (script, expected) in [
            (
                "const a = {}; a.a = [a]; JSON.stringify(a)",
                "TypeError: Converting circular structure to JSON",
            ),
            ("JSON.stringify({ a: 1n })", "TypeError: Do not know how to serialize a BigInt"),
            ("JSON.stringify([1n], null, 2)", "TypeError: Do not know how to serialize a BigInt"),
        ] {
            assert!(vm.ctx().eval("t.js", &format!("{{ {script} }}")).is_err());
            let error = vm.ctx().take_exception().unwrap();
            assert_eq!(error.value.to_string_lossy().unwrap(), expected);
        }
    }
}
