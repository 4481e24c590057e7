//! Directives for k6 at the head of a file: string literals such as `"use k6 >= 0.54"` and `"use k6 with k6/x/faker
//! >= 0.4"`.

use std::collections::BTreeMap;

use brunt_script::Graph;

mod constraint;

/// Which versions of k6 and of its extensions the files of a script want; `*` is any.
///
/// # Errors
/// A directive says what is no version, or two speak of the same extension.
pub(crate) fn of(graph: &Graph) -> Result<BTreeMap<String, String>, String> {
    let mut found = BTreeMap::new();
    for module in &graph.modules {
        for text in literals(&module.source) {
            let Some((name, version)) = wanted(text) else { continue };
            let url = &module.url;
            let canonical = constraint::canonical(version).ok_or_else(|| {
                format!(
                    "error while parsing use directives constraint \"{version}\" for \"{name}\" in \"{url}\": improper \
                     constraint: {version}"
                )
            })?;
            if found.insert(name.to_owned(), canonical).is_some() {
                return Err(format!(
                    "error while parsing use directives in \"{url}\": already have constraint for \"{name}\""
                ));
            }
        }
    }
    Ok(found)
}

/// The extension (or k6 itself) and the version that a directive asks for.
fn wanted(literal: &str) -> Option<(&str, &str)> {
    let rest = literal.strip_prefix("use k6")?.trim();
    let extension = rest.strip_prefix("with ").map(str::trim_start);
    match extension.filter(|rest| rest.starts_with("k6/x/")) {
        Some(rest) => {
            let (name, version) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
            Some((name, version.trim()))
        }
        None => Some(("k6", rest)),
    }
}

/// The string literals with which a file begins; comments and `;` may stand between them.
fn literals(source: &str) -> impl Iterator<Item = &str> {
    let mut rest = source.trim_start_matches('\u{feff}');
    if rest.starts_with("#!") {
        rest = after_line(rest);
    }
    std::iter::from_fn(move || {
        rest = after_blanks(rest);
        let quote = rest.chars().next().filter(|quote| matches!(quote, '"' | '\''))?;
        let inside = &rest[1..];
        let end = inside.find([quote, '\n', '\\'])?;
        let tail = inside[end..].strip_prefix(quote)?;
        let next = tail.trim_start_matches([' ', '\t']);
        let ends = next.is_empty() || next.starts_with([';', '\n', '\r', '/', '}']);
        rest = tail;
        ends.then(|| &inside[..end])
    })
}

/// The rest of the source after blanks, comments and `;`.
fn after_blanks(source: &str) -> &str {
    let mut rest = source;
    loop {
        rest = rest.trim_start_matches(|c: char| c.is_whitespace() || c == ';');
        if rest.starts_with("//") {
            rest = after_line(rest);
        } else if let Some(comment) = rest.strip_prefix("/*") {
            rest = comment.split_once("*/").map_or("", |(_, rest)| rest);
        } else {
            return rest;
        }
    }
}

fn after_line(source: &str) -> &str {
    source.split_once('\n').map_or("", |(_, rest)| rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(source: &str) -> Vec<(&str, &str)> {
        literals(source).filter_map(wanted).collect()
    }

    #[test]
    fn literals_at_the_head_are_read_and_no_others() {
        let source = "#!/usr/bin/k6\n// a test\n/* of\nmany lines */ \"use k6 >= 0.52\"; 'use k6 with k6/x/bar';\n\
                      \"use strict\"\n\n\"use k6 with  k6/x/foo >= 0.3\" // why\nimport x from 'y';\n'use k6 with k6/x/late'\n";
        let wanted = [("k6", ">= 0.52"), ("k6/x/bar", ""), ("k6/x/foo", ">= 0.3")];
        assert_eq!(found(source), wanted);
        assert_eq!(found("'use k6 > 1' + x; 'use k6 > 2'"), []);
        assert_eq!(found("`use k6 > 1`"), []);
        assert_eq!(found("'use k6 with bar'"), [("k6", "with bar")]);
        assert_eq!(found("'use k6\\n'"), []);
        assert_eq!(found("/* 'use k6'"), []);
    }
}
