//! `console`, and how k6 2.2 writes values (k6-modules.md §1.1).

use std::fmt::Write as _;
use std::sync::LazyLock;
use std::vec::IntoIter;

use brunt_js::{Host, Phase};
use brunt_quickjs::name::Key;
use brunt_quickjs::{Call, Ctx, JsResult, Members, Name, Value};
use log::Level;

use crate::go_error::BareError;

static CONSOLE: Name = Name::new("console");
static DESCRIPTION: Name = Name::new("description");

/// The mark by which `cli` tells our own log lines from other crates': it begins with `brunt`.
const TARGET: &str = "brunt::console";

/// The mark of lines of init code, which go with the log even if the console has a file of its own, as in k6.
const TARGET_IN_INIT: &str = "brunt::console::init";

/// Bytes of a line: what is longer is cut, and says so. A line is copied, quoted and written by threads that other VUs need.
const LINE_MAX: usize = 1 << 20;

/// Objects nested deeper than this are shown as `[Object]`: finding cycles compares each with all around it.
const DEPTH_MAX: usize = 1_000;

/// Gives the VM its `console`: these five functions and no more, as in k6.
pub(crate) fn install(ctx: Ctx<'_>) -> JsResult<'_, ()> {
    static MEMBERS: LazyLock<Members> = LazyLock::new(|| {
        Members::new()
            .function(c"debug", 0, |call| write(&call, Level::Debug))
            .function(c"error", 0, |call| write(&call, Level::Error))
            .function(c"info", 0, |call| write(&call, Level::Info))
            .function(c"log", 0, |call| write(&call, Level::Info))
            .function(c"warn", 0, |call| write(&call, Level::Warn))
    });
    let console = ctx.object()?;
    console.define_members(&MEMBERS)?;
    ctx.global().define_hidden(&CONSOLE, console)
}

fn write<'js>(call: &Call<'js>, level: Level) -> JsResult<'js> {
    let ctx = call.ctx();
    if log::log_enabled!(target: TARGET, level) {
        emit(ctx, level, &format_arguments(&call.arguments_from(0))?);
    }
    Ok(ctx.undefined())
}

/// Hands a line of the script to the log.
pub(crate) fn emit(ctx: Ctx<'_>, level: Level, text: &str) {
    let in_init = Host::of(ctx).phase() == Phase::Init;
    let target = if in_init { TARGET_IN_INIT } else { TARGET };
    log::log!(target: target, level, source = "console"; "{text}");
}

/// The arguments as one line: joined by spaces, strings as they are, `%s` no different from other text.
///
/// # Errors
/// Exceptions of getters of the values.
pub(crate) fn format_arguments<'js>(arguments: &[Value<'js>]) -> JsResult<'js, String> {
    let mut writer = Writer { out: String::new(), open: Vec::new(), cut: 0, is_cut: false };
    for (index, argument) in arguments.iter().enumerate() {
        if index > 0 {
            if writer.out.len() >= LINE_MAX {
                writer.is_cut = true;
                break;
            }
            writer.put(" ");
        }
        writer.argument(argument)?;
    }
    Ok(writer.line())
}

/// Adds a text, as much of it as there is room for; the rest is counted.
fn put(out: &mut String, cut: &mut usize, text: &str) {
    let room = LINE_MAX.saturating_sub(out.len());
    let end = if text.len() <= room { text.len() } else { text.floor_char_boundary(room) };
    out.push_str(&text[..end]);
    *cut += text.len() - end;
}

/// Writes nested values with a stack of its own: the depth of a value costs no native stack.
struct Writer<'js> {
    out: String,
    open: Vec<Open<'js>>,
    /// Bytes that had no room.
    cut: usize,
    /// More followed, which was not looked at.
    is_cut: bool,
}

/// An array or object that is being written.
struct Open<'js> {
    value: Value<'js>,
    rest: Rest<'js>,
    is_first: bool,
}

enum Rest<'js> {
    Elements { next: u32, length: u32 },
    Properties(IntoIter<Key<'js>>),
}

impl<'js> Writer<'js> {
    fn put(&mut self, text: &str) {
        put(&mut self.out, &mut self.cut, text);
    }

    /// The line, and how much of it is missing.
    fn line(self) -> String {
        let Self { mut out, cut, is_cut, .. } = self;
        if is_cut {
            let _ = write!(out, " … (cut after {LINE_MAX} bytes)");
        } else if cut > 0 {
            let _ = write!(out, " … (cut after {LINE_MAX} bytes, {cut} bytes more)");
        }
        out
    }

    fn argument(&mut self, value: &Value<'js>) -> JsResult<'js, ()> {
        if value.is_string() || value.is_undefined() {
            self.put(&value.to_js_str()?);
            return Ok(());
        }
        if value.is_symbol() {
            return self.description(value);
        }
        if let Some(error) = value.instance::<BareError>() {
            self.put(error.text());
            return Ok(());
        }
        self.begin(value)?;
        while let Some(open) = self.open.last_mut() {
            if self.out.len() >= LINE_MAX {
                // Values may go on for ever.
                self.open.clear();
                self.is_cut = true;
                break;
            }
            let separator = if open.is_first { " " } else { ", " };
            let next = match &mut open.rest {
                Rest::Elements { next, length } if *next < *length => {
                    *next += 1;
                    self.out.push_str(separator);
                    Some(open.value.get_index(*next - 1)?)
                }
                Rest::Properties(keys) => match keys.next() {
                    Some(key) => {
                        self.out.push_str(separator);
                        put(&mut self.out, &mut self.cut, &key.text().unwrap_or_default());
                        self.out.push_str(": ");
                        Some(open.value.get(&key)?)
                    }
                    None => None,
                },
                Rest::Elements { .. } => None,
            };
            open.is_first = false;
            match next {
                Some(value) => self.begin(&value)?,
                None => self.end(),
            }
        }
        Ok(())
    }

    /// Writes a nested value, or opens it if it has parts.
    fn begin(&mut self, value: &Value<'js>) -> JsResult<'js, ()> {
        if value.is_nullish() {
            self.put("null");
        } else if value.is_string() {
            // k6 escapes nothing in these.
            self.quoted(&value.to_js_str()?);
        } else if value.is_symbol() {
            self.put("\"");
            self.description(value)?;
            self.put("\"");
        } else if value.is_function() {
            self.put("[object Function]");
        } else if value.is_object() {
            return self.object(value);
        } else {
            self.put(&value.to_js_str()?);
        }
        Ok(())
    }

    fn object(&mut self, value: &Value<'js>) -> JsResult<'js, ()> {
        if value.is_error() {
            self.put(&value.to_js_str()?);
            return Ok(());
        }
        if value.is_date() && !value.to_number()?.is_nan() {
            let text = value.get("toISOString")?.call(value, &[])?;
            self.quoted(&text.to_js_str()?);
            return Ok(());
        }
        if value.is_array_buffer() {
            self.array_buffer(value);
            return Ok(());
        }
        if self.open.iter().any(|open| open.value.strict_equals(value)) {
            self.put("[Circular]");
            return Ok(());
        }
        if self.open.len() >= DEPTH_MAX {
            self.put("[Object]");
            return Ok(());
        }
        let class = value.typed_array_name();
        let rest = if class.is_some() || value.is_array_like_proxy() {
            let length = value.length()?;
            if let Some(class) = class {
                self.put(class);
                let _ = write!(self.out, "({length}) ");
            }
            self.put("[");
            Rest::Elements { next: 0, length }
        } else {
            self.put("{");
            Rest::Properties(value.keys()?.into_iter())
        };
        self.open.push(Open { value: value.clone(), rest, is_first: true });
        Ok(())
    }

    fn end(&mut self) {
        let Some(open) = self.open.pop() else { return };
        if !self.out.ends_with(['[', '{']) {
            self.out.push(' ');
        }
        self.out.push(if matches!(open.rest, Rest::Elements { .. }) { ']' } else { '}' });
    }

    fn array_buffer(&mut self, value: &Value<'js>) {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let room = LINE_MAX.saturating_sub(self.out.len()) / 3;
        let out = &mut self.out;
        out.push_str("ArrayBuffer { [Uint8Contents]: <");
        let length = value.with_bytes(|bytes| {
            for (index, byte) in bytes.iter().take(room).enumerate() {
                if index > 0 {
                    out.push(' ');
                }
                out.push(DIGITS[usize::from(byte >> 4)] as char);
                out.push(DIGITS[usize::from(byte & 15)] as char);
            }
            bytes.len()
        });
        self.cut += length.unwrap_or(0).saturating_sub(room) * 3;
        let out = &mut self.out;
        let _ = write!(out, ">, byteLength: {} }}", length.unwrap_or(0));
    }

    fn description(&mut self, symbol: &Value<'js>) -> JsResult<'js, ()> {
        let description = symbol.get(&DESCRIPTION)?;
        if !description.is_undefined() {
            self.put(&description.to_js_str()?);
        }
        Ok(())
    }

    fn quoted(&mut self, text: &str) {
        self.put("\"");
        self.put(text);
        self.put("\"");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::vm;

    fn shown(arguments: &str) -> String {
        let vm = vm(install);
        let list = vm.ctx().eval("t.js", &format!("[{arguments}]")).unwrap();
        let list: Vec<_> =
            (0..list.length().unwrap()).map(|index| list.get_index(index).unwrap()).collect();
        format_arguments(&list).unwrap()
    }

    // k6 printed these texts for the same arguments.
    #[test]
    fn values_look_as_k6_shows_them() {
        let cases = [
            (
                "function f() {}, [() => 1], class A {}",
                "[object Function] [ [object Function] ] [object Function]",
            ),
            (
                "undefined, null, [undefined, null], { a: undefined }",
                "undefined null [ null, null ] { a: null }",
            ),
            (
                "{ a: 1, b: 'x', c: { d: [] }, e: {} }, [1, 'x', null]",
                "{ a: 1, b: \"x\", c: { d: [] }, e: {} } [ 1, \"x\", null ]",
            ),
            (r#"['a"b'], 'top "q"', '%s'"#, r#"[ "a"b" ] top "q" %s"#),
            (
                "(() => { const c = { a: 1 }; c.c = c; return c })(), (() => { const d = [1]; d.push(d); return d })()",
                "{ a: 1, c: [Circular] } [ 1, [Circular] ]",
            ),
            (
                "(() => { const s = { q: 1 }; return { a: s, b: s } })()",
                "{ a: { q: 1 }, b: { q: 1 } }",
            ),
            (
                "new Date(0), [new Date(123)], new Date(NaN)",
                "\"1970-01-01T00:00:00.000Z\" [ \"1970-01-01T00:00:00.123Z\" ] {}",
            ),
            (
                "new Error('m'), [new TypeError('n')], new Error(''), { e: new RangeError('z') }",
                "Error: m [ TypeError: n ] Error { e: RangeError: z }",
            ),
            (
                "new Uint8Array([1, 255]), [new Float32Array([1.5])], new Uint8Array(0)",
                "Uint8Array(2) [ 1, 255 ] [ Float32Array(1) [ 1.5 ] ] Uint8Array(0) []",
            ),
            (
                "new Uint8Array([1, 255]).buffer, new ArrayBuffer(0)",
                "ArrayBuffer { [Uint8Contents]: <01 ff>, byteLength: 2 } ArrayBuffer { [Uint8Contents]: <>, byteLength: 0 }",
            ),
            (
                "new Map([[1, 2]]), new Set([1]), /x/g, Promise.resolve(1), new Number(5)",
                "{} {} {} {} {}",
            ),
            (
                "Symbol('x'), [Symbol('y')], 10n, [10n], -0, NaN, [NaN, 1e21]",
                "x [ \"y\" ] 10 [ 10 ] 0 NaN [ NaN, 1e+21 ]",
            ),
            (
                "new Array(3), [1, , 2], true, [false]",
                "[ null, null, null ] [ 1, null, 2 ] true [ false ]",
            ),
            ("'', 'x', ''", " x "),
            (
                "{ get a() { return 3 } }, Object.create({ z: 1 }), { 'a-b': 1 }",
                "{ a: 3 } {} { a-b: 1 }",
            ),
        ];
        for (arguments, expected) in cases {
            assert_eq!(shown(arguments), expected, "{arguments}");
        }
    }

    #[test]
    fn depth_costs_no_native_stack() {
        let text =
            shown("(() => { let d = {}; for (let i = 0; i < 5000; i++) d = { d }; return d })()");
        assert!(text.contains("d: [Object] }"));
    }

    #[test]
    fn a_getter_that_throws_is_heard() {
        let vm = vm(install);
        let value = vm.ctx().eval("t.js", "({ get a() { throw 1 } })").unwrap();
        assert!(format_arguments(&[value]).is_err());
    }

    #[test]
    fn there_are_five_functions() {
        let vm = vm(install);
        crate::harness::all(
            &vm,
            &[
                ("Object.keys(console).join()", "debug,error,info,log,warn"),
                ("console.log('x', {})", "undefined"),
            ],
        );
    }
}
