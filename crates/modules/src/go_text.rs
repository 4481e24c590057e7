//! JavaScript values as Go prints them, which is how k6's messages show what they were given.

use std::fmt::Write as _;

use brunt_quickjs::{JsResult, Value};

use crate::boxed::unbox;

/// How deep objects are shown; what lies deeper, and circles, end as `...`.
const DEPTH_MAX: usize = 6;
/// How many bytes are written at most.
const TEXT_MAX: usize = 4096;

/// As `%v` prints it: `[a b]`, `map[a:1]`, `<nil>`.
pub(crate) fn plain(value: &Value<'_>) -> String {
    text(value, false)
}

/// As `%#v` prints it: `[]interface {}{"a", 1}`.
pub(crate) fn syntax(value: &Value<'_>) -> String {
    text(value, true)
}

fn text(value: &Value<'_>, is_syntax: bool) -> String {
    let mut out = Printer { out: String::new(), is_syntax };
    if out.put(value, 0).is_err() {
        // An exception of a getter does not replace the error that is being told.
        drop(value.ctx().take_exception());
    }
    out.out
}

struct Printer {
    out: String,
    is_syntax: bool,
}

impl Printer {
    fn put(&mut self, value: &Value<'_>, depth: usize) -> JsResult<'static, ()> {
        if depth > DEPTH_MAX || self.out.len() > TEXT_MAX {
            self.out.push_str("...");
            return Ok(());
        }
        if value.is_nullish() {
            self.out.push_str(if self.is_syntax && depth > 0 {
                "interface {}(nil)"
            } else {
                "<nil>"
            });
        } else if let Some(number) = value.as_number() {
            self.out.push_str(&number_text(number));
        } else if let Some(text) = value.as_str() {
            self.put_str(text.as_str());
        } else if value.is_symbol() {
            let text = value.get("description")?.to_string_lossy()?;
            self.put_str(&text);
        } else if !value.is_object() {
            self.out.push_str(&value.to_string_lossy()?);
        } else if let Some(primitive) = unbox(value).filter(|held| !held.is_string()) {
            self.put(&primitive, depth)?;
        } else {
            self.put_object(value, depth)?;
        }
        Ok(())
    }

    fn put_str(&mut self, text: &str) {
        if self.is_syntax {
            // Writing to a `String` does not fail.
            let _ = write!(self.out, "{text:?}");
        } else {
            self.out.push_str(text);
        }
    }

    fn put_object(&mut self, value: &Value<'_>, depth: usize) -> JsResult<'static, ()> {
        if value.is_date() {
            return self.put_date(value);
        }
        if value.is_function() {
            self.out.push_str("func");
            return Ok(());
        }
        if value.is_array() {
            return self.put_list(value, "[]interface {}", depth);
        }
        if value.is_map() || value.is_set() {
            let kind = if value.is_map() { "[][2]interface {}" } else { "[]interface {}" };
            let from = value.ctx().global().get("Array")?.get("from")?;
            let list = from.call(&value.ctx().undefined(), std::slice::from_ref(value))?;
            return self.put_list(&list, kind, depth);
        }
        if value.typed_array_name().is_some() {
            return self.put_list(value, crate::go_error::go_type(value), depth);
        }
        self.put_map(value, depth)
    }

    fn put_list(&mut self, list: &Value<'_>, kind: &str, depth: usize) -> JsResult<'static, ()> {
        let (open, between, close) = if self.is_syntax {
            self.out.push_str(kind);
            ('{', ", ", '}')
        } else {
            ('[', " ", ']')
        };
        self.out.push(open);
        for index in 0..list.length()? {
            if index > 0 {
                self.out.push_str(between);
            }
            self.put(&list.get_index(index)?, depth + 1)?;
            if self.out.len() > TEXT_MAX {
                break;
            }
        }
        self.out.push(close);
        Ok(())
    }

    /// Sorted by key, as Go prints maps.
    fn put_map(&mut self, value: &Value<'_>, depth: usize) -> JsResult<'static, ()> {
        let (open, between, close) = if self.is_syntax {
            ("map[string]interface {}{", ", ", '}')
        } else {
            ("map[", " ", ']')
        };
        let mut members = Vec::new();
        for key in value.keys()? {
            members.push((key.text().unwrap_or_default(), value.get(&key)?));
        }
        members.sort_by(|a, b| a.0.cmp(&b.0));
        self.out.push_str(open);
        for (index, (name, member)) in members.iter().enumerate() {
            if index > 0 {
                self.out.push_str(between);
            }
            self.put_str(name);
            self.out.push(':');
            self.put(member, depth + 1)?;
            if self.out.len() > TEXT_MAX {
                break;
            }
        }
        self.out.push(close);
        Ok(())
    }

    fn put_date(&mut self, value: &Value<'_>) -> JsResult<'static, ()> {
        let iso = value.get("toISOString")?.call(value, &[])?;
        // 1970-01-01T00:00:00.500Z is 1970-01-01 00:00:00.5 +0000 UTC.
        let iso = iso.to_string_lossy()?.replacen('T', " ", 1);
        let iso = iso.trim_end_matches('Z');
        let (moment, fraction) = iso.split_once('.').unwrap_or((iso, ""));
        self.out.push_str(moment);
        let fraction = fraction.trim_end_matches('0');
        if !fraction.is_empty() {
            self.out.push('.');
            self.out.push_str(fraction);
        }
        self.out.push_str(" +0000 UTC");
        Ok(())
    }
}

/// As Go prints it: whole numbers that JavaScript counts exactly are integers there, all others take an exponent below
/// -4 and from 6 on.
pub(crate) fn number_text(number: f64) -> String {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if number.fract() == 0.0 && number.abs() < EXACT {
        return format!("{number:.0}");
    }
    float_text(number)
}

/// The same of a number that is no integer in Go, whatever its value.
pub(crate) fn float_text(number: f64) -> String {
    if number.is_nan() {
        return "NaN".to_owned();
    }
    if number.is_infinite() {
        return if number > 0.0 { "+Inf" } else { "-Inf" }.to_owned();
    }
    let scientific = format!("{number:e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-4..6).contains(&exponent) {
        return format!("{number}");
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{digits}e{sign}{:02}", exponent.abs())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::vm;

    fn both(source: &str) -> (String, String) {
        let vm = vm(|_| Ok(()));
        let value = vm.ctx().eval("t.js", source).expect("it is an expression");
        (plain(&value), syntax(&value))
    }

    #[test]
    fn values_are_shown_as_go_shows_them() {
        for (source, shown, code) in [
            ("undefined", "<nil>", "<nil>"),
            ("[1, 'a', null]", "[1 a <nil>]", "[]interface {}{1, \"a\", interface {}(nil)}"),
            (
                "({b: 1, a: {c: true}})",
                "map[a:map[c:true] b:1]",
                "map[string]interface {}{\"a\":map[string]interface {}{\"c\":true}, \"b\":1}",
            ),
            ("1e21", "1e+21", "1e+21"),
            ("Infinity", "+Inf", "+Inf"),
            ("new Number(5)", "5", "5"),
            ("new Map([['a', 1]])", "[[a 1]]", "[][2]interface {}{[]interface {}{\"a\", 1}}"),
            ("new Set(['x'])", "[x]", "[]interface {}{\"x\"}"),
            ("new Uint8Array([1, 2])", "[1 2]", "[]uint8{1, 2}"),
            ("new Date(0)", "1970-01-01 00:00:00 +0000 UTC", "1970-01-01 00:00:00 +0000 UTC"),
        ] {
            assert_eq!(both(source), (shown.to_owned(), code.to_owned()), "{source}");
        }
        assert_eq!(both("new Date(1500)").0, "1970-01-01 00:00:01.5 +0000 UTC");
        assert_eq!(both("new Date(36000000)").0, "1970-01-01 10:00:00 +0000 UTC");
    }

    #[test]
    fn circles_end() {
        assert!(both("const o = {}; o.o = o; o").0.ends_with("...]]]]]]]"));
    }

    #[test]
    fn numbers_are_written_as_k6_writes_them() {
        for (number, text) in [
            (1.0, "1"),
            (-3.0, "-3"),
            (1.5, "1.5"),
            (1e21, "1e+21"),
            (1e20, "1e+20"),
            (9_007_199_254_740_991.0, "9007199254740991"),
            (1_234_567.5, "1.2345675e+06"),
            (0.00001, "1e-05"),
            (123_456.5, "123456.5"),
        ] {
            assert_eq!(number_text(number), text);
        }
    }
}
