//! The probable exports of a CommonJS file, by its text: for a namespace, whose names must be known before the file
//! can run.

use std::collections::BTreeSet;

/// The names of assignments to `exports.x`, of `Object.defineProperty(exports, 'x'` and of the keys in
/// `module.exports = { x }`. It may find too many, in comments for example: those are `undefined` in the end.
pub(crate) fn named_exports(source: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for (at, word) in source.match_indices("exports") {
        let rest = source[at + word.len()..].trim_start();
        if let Some(rest) = rest.strip_prefix('.') {
            let name = identifier(rest);
            let after = rest[name.len()..].trim_start();
            if after.starts_with('=') && !after.starts_with("==") {
                names.insert(name.to_owned());
            }
        } else if let Some(rest) = rest.strip_prefix('=') {
            if let Some(body) = rest.trim_start().strip_prefix('{') {
                keys(body, &mut names);
            }
        } else if let Some(rest) = rest.strip_prefix(',') {
            // `defineProperty(exports, "x"`
            if let Some(rest) = rest.trim_start().strip_prefix(['"', '\'']) {
                names.insert(identifier(rest).to_owned());
            }
        }
    }
    names.remove("");
    names
}

/// The keys of an object literal, whose opening brace was taken away.
fn keys(body: &str, names: &mut BTreeSet<String>) {
    let mut depth = 0_u32;
    let mut is_key = true;
    for (at, c) in body.char_indices() {
        match c {
            '{' | '(' | '[' => depth += 1,
            '}' | ')' | ']' if depth == 0 => return,
            '}' | ')' | ']' => depth -= 1,
            ',' if depth == 0 => is_key = true,
            c if is_key && depth == 0 && !c.is_whitespace() => {
                names.insert(identifier(body[at..].trim_start_matches(['"', '\''])).to_owned());
                is_key = false;
            }
            _ => {}
        }
    }
}

/// The identifier that a text begins with; perhaps empty.
fn identifier(text: &str) -> &str {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$');
    let end = text.find(|c| !is_part(c)).unwrap_or(text.len());
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(source: &str) -> Vec<String> {
        named_exports(source).into_iter().collect()
    }

    #[test]
    fn the_usual_ways_to_export_are_seen() {
        assert_eq!(found("exports.a = 1; module.exports.b = exports.c = 2;"), ["a", "b", "c"]);
        assert_eq!(found("Object.defineProperty(exports, \"d\", { get })"), ["d"]);
        assert_eq!(
            found("module.exports = { e, f: { no: 1 }, g() { return [1, 2]; }, 'h': 1 };"),
            ["e", "f", "g", "h"]
        );
    }

    #[test]
    fn what_is_no_export_is_passed_over() {
        assert_eq!(
            found("if (exports.a == 1) {} exports.b; module.exports = f(x); exports"),
            [""; 0]
        );
        assert_eq!(found("exports. = ; module.exports = {"), [""; 0]);
    }
}
