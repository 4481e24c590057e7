//! `setup()`'s result as JSON, by the rules of k6's host, which are not those of `JSON.stringify`: functions and numbers
//! that JSON lacks fail the run, `toJSON` is not asked, typed arrays of bytes are base64 (k6-modules.md §3).

use std::vec::IntoIter;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use brunt_quickjs::name::Key;
use brunt_quickjs::{Ctx, Name, Thrown, Value};

use crate::boxed::unbox;
use crate::html;
use crate::http::kinds;

/// Deepest nesting; beyond it the data is refused. The parser on the other side takes as much.
const DEPTH_MAX: usize = 1_000;

static DESCRIPTION: Name = Name::new("description");

/// Why a value cannot be said in JSON.
enum Refused {
    /// The reason.
    Because(String),
    /// A getter or proxy of the value threw.
    Thrown,
}

impl From<Thrown> for Refused {
    fn from(_: Thrown) -> Self {
        Self::Thrown
    }
}

/// The JSON text of what `setup()` returned; keys keep their order. `None` for `undefined`, which is no data.
///
/// # Errors
/// A sentence for the user: functions, `NaN`, infinities, cycles, years beyond 9999, exceptions of getters, more JSON than
/// the VU may hold.
pub(crate) fn encode_setup_data<'js>(
    ctx: Ctx<'js>,
    value: &Value<'js>,
) -> Result<Option<String>, String> {
    if value.is_undefined() {
        return Ok(None);
    }
    let most = Some(ctx.memory_limit()).filter(|bytes| *bytes > 0).unwrap_or(usize::MAX);
    let mut writer = Writer { out: String::new(), most, open: Vec::new() };
    let reason = match writer.document(value) {
        Ok(()) => return Ok(Some(writer.out)),
        Err(Refused::Because(reason)) => reason,
        Err(Refused::Thrown) => ctx
            .take_exception()
            .and_then(|exception| exception.value.to_string_lossy().ok())
            .unwrap_or_else(|| "reading it threw".to_owned()),
    };
    Err(format!("error marshaling setup() data to JSON: {reason}"))
}

struct Writer<'js> {
    out: String,
    /// The most bytes of JSON: the limit of the VU's heap.
    most: usize,
    open: Vec<Open<'js>>,
}

/// An array or object that is being written.
struct Open<'js> {
    /// The object by which cycles are found.
    value: Value<'js>,
    rest: Rest<'js>,
    is_first: bool,
    /// It is an object of ours whose methods are its own: a response, a selection.
    has_methods: bool,
}

enum Rest<'js> {
    Elements { array: Value<'js>, next: u32, length: u32 },
    Properties(IntoIter<Key<'js>>),
}

impl<'js> Writer<'js> {
    fn document(&mut self, value: &Value<'js>) -> Result<(), Refused> {
        self.value(value)?;
        while let Some(open) = self.open.last_mut() {
            open.value.ctx().poll(1)?;
            if self.out.len() > self.most {
                let reason = format!("it is longer than vuMemory, {} bytes", self.most);
                return Err(Refused::Because(reason));
            }
            let separator = if std::mem::take(&mut open.is_first) { "" } else { "," };
            let next = match &mut open.rest {
                Rest::Elements { array, next, length } if *next < *length => {
                    *next += 1;
                    self.out.push_str(separator);
                    Some(array.get_index(*next - 1)?)
                }
                Rest::Properties(keys) => match keys.next() {
                    // Methods of what k6 makes are no data of it, though they are its own.
                    Some(key) if open.has_methods && open.value.get(&key)?.is_function() => {
                        open.is_first = separator.is_empty();
                        continue;
                    }
                    Some(key) => {
                        self.out.push_str(separator);
                        string(&mut self.out, &key.text().unwrap_or_default());
                        self.out.push(':');
                        Some(open.value.get(&key)?)
                    }
                    None => None,
                },
                Rest::Elements { .. } => None,
            };
            if let Some(value) = next {
                self.value(&value)?;
            } else {
                let is_array = matches!(open.rest, Rest::Elements { .. });
                self.out.push(if is_array { ']' } else { '}' });
                self.open.pop();
            }
        }
        Ok(())
    }

    fn value(&mut self, value: &Value<'js>) -> Result<(), Refused> {
        if let Some(number) = value.as_number().filter(|number| !number.is_finite()) {
            return Err(Refused::Because(format!("{number} is no JSON value")));
        }
        if value.is_nullish() {
            self.out.push_str("null");
        } else if value.is_string() {
            string(&mut self.out, &value.to_js_str()?);
        } else if value.is_symbol() {
            let description = value.get(&DESCRIPTION)?;
            let text = description.as_str();
            string(&mut self.out, text.as_deref().unwrap_or_default());
        } else if value.is_function() {
            return Err(Refused::Because("a function is no JSON value".to_owned()));
        } else if value.is_object() {
            return self.object(value);
        } else {
            // Numbers, booleans, BigInts: JavaScript writes them as JSON does.
            self.out.push_str(&value.to_js_str()?);
        }
        Ok(())
    }

    fn object(&mut self, value: &Value<'js>) -> Result<(), Refused> {
        if value.is_date() {
            return self.date(value);
        }
        let class = value.typed_array_name();
        if let Some("Uint8Array" | "Uint8ClampedArray") = class {
            let text = value.with_bytes(|bytes| STANDARD.encode(bytes)).unwrap_or_default();
            string(&mut self.out, &text);
            return Ok(());
        }
        let elements = if class.is_some() || value.is_array_like_proxy() {
            Some(value.clone())
        } else if value.is_map() || value.is_set() {
            let array = value.ctx().global().get("Array")?;
            Some(array.get("from")?.call(&array, std::slice::from_ref(value))?)
        } else if let Some(primitive) = unbox(value) {
            return self.value(&primitive);
        } else {
            None
        };
        if self.open.iter().any(|open| open.value.strict_equals(value)) {
            return Err(Refused::Because("it contains itself".to_owned()));
        }
        if self.open.len() >= DEPTH_MAX {
            let reason = format!("it is nested deeper than {DEPTH_MAX} levels");
            return Err(Refused::Because(reason));
        }
        let rest = if let Some(array) = elements {
            self.out.push('[');
            let length = array.length()?;
            Rest::Elements { array, next: 0, length }
        } else {
            self.out.push('{');
            Rest::Properties(value.keys()?.into_iter())
        };
        let has_methods = kinds::has_own_methods(value) || html::has_own_methods(value);
        self.open.push(Open { value: value.clone(), rest, is_first: true, has_methods });
        Ok(())
    }

    /// RFC 3339 with as many digits of a second as it has. An invalid date is `null`.
    fn date(&mut self, value: &Value<'js>) -> Result<(), Refused> {
        if value.to_number()?.is_nan() {
            self.out.push_str("null");
            return Ok(());
        }
        let text = value.get("toISOString")?.call(value, &[])?.to_string_lossy()?;
        if text.starts_with(['+', '-']) {
            let reason = format!("the date {text} is outside of the years 0 to 9999");
            return Err(Refused::Because(reason));
        }
        let text = text.trim_end_matches('Z').trim_end_matches('0').trim_end_matches('.');
        let text = format!("{text}Z");
        string(&mut self.out, &text);
        Ok(())
    }
}

/// Writes a JSON string.
fn string(out: &mut String, text: &str) {
    out.push_str(&serde_json::to_string(text).expect("a string is valid JSON"));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::vm;

    fn encoded(source: &str) -> Result<Option<String>, String> {
        let vm = vm(|_| Ok(()));
        let value = vm.ctx().eval("t.js", &format!("({source})")).unwrap();
        encode_setup_data(vm.ctx(), &value)
    }

    // k6 handed these texts to the VUs for the same data, but for the order of keys.
    #[test]
    fn data_is_written_as_k6_writes_it() {
        let cases = [
            (
                "[new Date(0), new Date(120), new Date(123), new Date(NaN), new Date(36e5)]",
                r#"["1970-01-01T00:00:00Z","1970-01-01T00:00:00.12Z","1970-01-01T00:00:00.123Z",null,"1970-01-01T01:00:00Z"]"#,
            ),
            (
                "[new Int8Array([1,2]), new Uint8ClampedArray([1,2]), new Uint8Array([1,2]), new Float64Array([1.5]), new BigInt64Array([5n])]",
                r#"[[1,2],"AQI=","AQI=",[1.5],[5]]"#,
            ),
            (
                "[new DataView(new ArrayBuffer(2)), new ArrayBuffer(2), /x/, new Error('x'), Object.assign(new Error('x'), { code: 1 })]",
                r#"[{},{},{},{},{"code":1}]"#,
            ),
            (
                "[new Number(5), new Boolean(true), Object(5n), Object(Symbol('q')), Symbol('x'), Symbol(), 123456789012345678901234567890n]",
                r#"[5,true,5,"q","x","",123456789012345678901234567890]"#,
            ),
            (
                "[new Map([[{ a: 1 }, new Set([1])]]), 1e21, 1e-7, 1.5]",
                r#"[[[{"a":1},[1]]],1e+21,1e-7,1.5]"#,
            ),
            (
                "[new (class { x = 1; toJSON() { return 7 } }), [1, , 2], Promise.resolve(1), new WeakMap()]",
                r#"[{"x":1},[1,null,2],{},{}]"#,
            ),
            ("[undefined, null, { a: undefined }]", r#"[null,null,{"a":null}]"#),
            ("{ b: 1, a: 2, '10': 1, '2': 2, [Symbol('z')]: 1 }", r#"{"2":2,"10":1,"b":1,"a":2}"#),
            ("'\"<\\n'", r#""\"<\n""#),
            ("(function () { return arguments })(1, 2)", r#"{"0":1,"1":2}"#),
            ("null", "null"),
            ("Symbol('x')", r#""x""#),
            ("(() => { const s = { q: 1 }; return [s, s] })()", r#"[{"q":1},{"q":1}]"#),
        ];
        for (source, expected) in cases {
            assert_eq!(encoded(source).unwrap().as_deref(), Some(expected), "{source}");
        }
        assert_eq!(encoded("undefined"), Ok(None));
    }

    #[test]
    fn what_json_cannot_say_fails_the_run() {
        let sources = [
            "[function () {}]",
            "() => 1",
            "NaN",
            "{ a: [Infinity] }",
            "(() => { const c = {}; c.c = [c]; return c })()",
            "(() => { const m = new Map(); m.set(1, m); return m })()",
            "new Date(8.64e15)",
            "{ get a() { throw new Error('gt') } }",
            "(() => { let d = {}; for (let i = 0; i < 5000; i++) d = { d }; return d })()",
        ];
        for source in sources {
            let error = encoded(source).unwrap_err();
            assert!(error.starts_with("error marshaling setup() data to JSON: "), "{error}");
        }
    }
}
