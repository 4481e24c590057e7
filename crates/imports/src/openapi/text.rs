//! Texts in TypeScript: literals, comments.

use std::fmt::Write as _;

/// A string literal between single quotes.
pub(super) fn literal(text: &str) -> String {
    let mut out = String::from("'");
    for c in text.chars() {
        match c {
            '\'' => out.push_str("\\'"),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}') => {
                let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('\'');
    out
}

/// A part of a template literal.
pub(super) fn template(text: &str) -> String {
    text.replace('\\', "\\\\").replace('`', "\\`").replace("${", "\\${").replace(['\r', '\n'], " ")
}

/// A member of an object type or literal.
pub(super) fn member(name: &str) -> String {
    if super::identifier::is_identifier(name) { name.to_owned() } else { literal(name) }
}

/// Access to a member.
pub(super) fn access(name: &str) -> String {
    if super::identifier::is_identifier(name) {
        format!(".{name}")
    } else {
        format!("[{}]", literal(name))
    }
}

/// A text for one line of a comment.
pub(super) fn line(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    // Control characters first: one between `*` and `/` would bring them together.
    text.chars().filter(|c| !c.is_control()).collect::<String>().replace("*/", "*\\/")
}

/// A comment for readers of code, or nothing. Long lines are broken.
pub(super) fn doc(paragraphs: &[String], indent: &str) -> String {
    let mut lines = Vec::new();
    for paragraph in paragraphs.iter().flat_map(|text| text.lines()) {
        let paragraph = line(paragraph);
        let mut current = String::new();
        for word in paragraph.split(' ') {
            if !current.is_empty() && current.len() + word.len() > 100 {
                lines.push(std::mem::take(&mut current));
            }
            if !current.is_empty() {
                current.push(' ');
            }
            current.push_str(word);
        }
        lines.push(current);
    }
    // Two paragraphs have one empty line between them.
    lines.dedup_by(|own, last| own.is_empty() && last.is_empty());
    while lines.last().is_some_and(String::is_empty) {
        lines.pop();
    }
    match lines.as_slice() {
        [] => String::new(),
        [one] => format!("{indent}/** {one} */\n"),
        all => {
            let inner =
                all.iter().map(|own| format!("{indent} * {own}").trim_end().to_owned() + "\n");
            format!("{indent}/**\n{}{indent} */\n", inner.collect::<String>())
        }
    }
}
