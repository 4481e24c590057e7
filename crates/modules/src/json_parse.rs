//! `JSON.parse`: the native parser, which is faster than the engine's and says what is wrong as k6 does.

use brunt_quickjs::error::ErrorKind;
use brunt_quickjs::json::JsonError;
use brunt_quickjs::{Ctx, JsResult, Name, Thrown};

use crate::go_text::float_text;
use crate::shared_array;

static JSON: Name = Name::new("JSON");
static PARSE: Name = Name::new("parse");

/// Puts the native parser in place of the engine's, which still serves calls with a reviver and texts with lone
/// surrogates: those do not survive the way through UTF-8.
pub(crate) fn install(ctx: Ctx<'_>) -> JsResult<'_, ()> {
    let json = ctx.global().get(&JSON)?;
    let engines = json.get(&PARSE)?;
    // In a trace one of the two is enough; what is called so is in none.
    engines.define_hidden("name", ctx.string("[Symbol.parse]")?)?;
    let engines = ctx.root(engines);
    let ours = ctx.closure(c"parse", 2, move |call| {
        let ctx = call.ctx();
        // A file's text is read where it lies; the engine would copy it.
        if let Some(bytes) = call.argument(0).common_text()
            && !call.argument(1).is_function()
        {
            if shared_array::found_in_file(ctx, &bytes) {
                return Ok(ctx.null());
            }
            let text = bytes.text().as_bytes();
            return ctx.parse_json(text).map_err(|error| refuse(ctx, error, text));
        }
        // An object is made a string once: by whoever parses it.
        let is_object = call.argument(0).is_object();
        if is_object && call.argument(1).is_function() {
            return ctx.rooted(&engines).call(&call.this(), &call.arguments_from(0));
        }
        let text = call.argument(0).to_js_str()?;
        let has_reviver = call.argument(1).is_function();
        let bytes = text.as_bytes();
        let value = ctx.parse_json(bytes).map_err(|error| refuse(ctx, error, bytes))?;
        if has_reviver || !is_object && text.contains('\u{FFFD}') {
            return ctx.rooted(&engines).call(&call.this(), &call.arguments_from(0));
        }
        Ok(value)
    })?;
    json.define_hidden(&PARSE, ours)
}

/// Throws the fault of a text. Of the text behind the value k6 tells the token, if it is a whole one.
fn refuse(ctx: Ctx<'_>, error: JsonError, text: &[u8]) -> Thrown {
    if error.is_behind_the_value()
        && let Some(token) = offset(text, &error).and_then(|at| token(&text[at..]))
    {
        let message = format!("Unexpected token at the end: {token}");
        return ctx.throw_error(ErrorKind::Syntax, &message);
    }
    ctx.throw_json(error)
}

/// Where in the text the place of an error is, in bytes.
fn offset(text: &[u8], error: &JsonError) -> Option<usize> {
    let newlines =
        text.iter().enumerate().filter(|&(_, &byte)| byte == b'\n').map(|(at, _)| at + 1);
    let line = std::iter::once(0).chain(newlines).nth(error.line.checked_sub(1)?)?;
    Some(line + error.column.checked_sub(1)?).filter(|at| *at < text.len())
}

/// The word, string or number that a text begins with, as Go prints it.
fn token(text: &[u8]) -> Option<String> {
    match text.first()? {
        b'"' => {
            let end = text[1..].iter().position(|&byte| byte == b'"')?;
            let inner = &text[1..=end];
            let is_plain = inner.iter().all(|&byte| byte >= b' ' && byte != b'\\');
            is_plain.then(|| String::from_utf8_lossy(inner).into_owned())
        }
        b't' => text.starts_with(b"true").then(|| "true".to_owned()),
        b'f' => text.starts_with(b"false").then(|| "false".to_owned()),
        _ => {
            let number = &text[..number_length(text)?];
            let number: f64 = std::str::from_utf8(number).ok()?.parse().ok()?;
            number.is_finite().then(|| float_text(number))
        }
    }
}

/// How long the number of JSON is that a text begins with. `None`: it begins with none, or with a piece of one.
fn number_length(text: &[u8]) -> Option<usize> {
    let digits = |from: usize| {
        let count = text[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        (count > 0).then_some(from + count)
    };
    let mut at = usize::from(text.first() == Some(&b'-'));
    at = if text.get(at) == Some(&b'0') { at + 1 } else { digits(at)? };
    if text.get(at) == Some(&b'.') {
        at = digits(at + 1)?;
    }
    if matches!(text.get(at), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(text.get(at + 1), Some(b'+' | b'-')));
        at = digits(at + 1 + sign)?;
    }
    Some(at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::{all, vm};

    #[test]
    fn it_parses_like_the_engines_own() {
        all(
            &vm(install),
            &[
                (
                    "JSON.stringify(JSON.parse('{\"a\": [1, null, \"x\"]}'))",
                    r#"{"a":[1,null,"x"]}"#,
                ),
                ("JSON.parse('[1, 2]', (k, v) => Array.isArray(v) ? v : v * 2).join()", "2,4"),
                ("JSON.parse('\"a\\ud800b\"').charCodeAt(1).toString(16)", "d800"),
                ("JSON.parse(12)", "12"),
                (
                    "let n = 0; const once = { toString() { n++; return '[2]' } };
                     JSON.parse(once, (k, v) => v) + ',' + JSON.parse(once) + ',' + n",
                    "2,2,2",
                ),
                ("[JSON.parse.name, JSON.parse.length].join()", "parse,2"),
            ],
        );
    }

    #[test]
    fn mistakes_are_syntax_errors_with_a_place() {
        all(
            &vm(install),
            &[
                (
                    "JSON.parse('{\"a\": x}')",
                    "threw SyntaxError: invalid character 'x' looking for beginning of value",
                ),
                (
                    "try { JSON.parse('') } catch (e) { `${e.name} ${/end/.test(e.message)}` }",
                    "SyntaxError true",
                ),
                (
                    "[{}, [], [1, 2], '{} {', '[1, \"x', '{\"a', '{}x', '\\ud800'].map(x => { try { return JSON.parse(x) } \
                     catch (e) { return e.message } }).join('|')",
                    "invalid character 'o' looking for beginning of value|Unexpected end of JSON input (EOF)|\
                     Unexpected token at the end: <nil>|Unexpected token at the end: {|unexpected EOF|unexpected EOF|\
                     Unexpected token at the end: <nil>|invalid character 'ï' looking for beginning of value",
                ),
                (
                    "['01', '1 -5', '{} 1.50x', '1 1000000', '\\n[]\\n \"a\"', '1 true', '1 null', '1 2.', '1 \"a', \
                     '\"ä\" 7', '1 ,'].map(x => { try { return JSON.parse(x) } catch (e) { return e.message.slice(29) } }).join('|')",
                    "1|-5|1.5|1e+06|a|true|<nil>|<nil>|<nil>|7|<nil>",
                ),
                (
                    "JSON.parse()",
                    "threw SyntaxError: invalid character 'u' looking for beginning of value",
                ),
            ],
        );
    }
}
