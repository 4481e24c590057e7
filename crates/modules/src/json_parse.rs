//! `JSON.parse`: the native parser, which is faster than the engine's and says what is wrong as k6 does.

use brunt_quickjs::{Ctx, JsResult, Name};

use crate::shared_array;

static JSON: Name = Name::new("JSON");
static PARSE: Name = Name::new("parse");

/// Puts the native parser in place of the engine's, which still serves calls with a reviver and texts with lone
/// surrogates: those do not survive the way through UTF-8.
pub(crate) fn install(ctx: Ctx<'_>) -> JsResult<'_, ()> {
    let json = ctx.global().get(&JSON)?;
    let engines = ctx.root(json.get(&PARSE)?);
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
            return ctx.parse_json(text).map_err(|error| ctx.throw_json(error));
        }
        // An object is made a string once: by whoever parses it.
        let is_object = call.argument(0).is_object();
        if is_object && call.argument(1).is_function() {
            return ctx.rooted(&engines).call(&call.this(), &call.arguments_from(0));
        }
        let text = call.argument(0).to_js_str()?;
        let has_reviver = call.argument(1).is_function();
        let value = ctx.parse_json(text.as_bytes()).map_err(|error| ctx.throw_json(error))?;
        if has_reviver || !is_object && text.contains('\u{FFFD}') {
            return ctx.rooted(&engines).call(&call.this(), &call.arguments_from(0));
        }
        Ok(value)
    })?;
    json.define_hidden(&PARSE, ours)
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
                    "JSON.parse()",
                    "threw SyntaxError: invalid character 'u' looking for beginning of value",
                ),
            ],
        );
    }
}
