//! Texts as JavaScript writes them: literals, templates, keys, identifiers, comments.

use std::fmt::Write as _;

/// Words that no variable may be called, and names that scripts use already.
const TAKEN: &[&str] = &[
    "abstract",
    "arguments",
    "async",
    "await",
    "boolean",
    "break",
    "byte",
    "case",
    "catch",
    "char",
    "class",
    "const",
    "continue",
    "debugger",
    "default",
    "delete",
    "do",
    "double",
    "else",
    "enum",
    "eval",
    "export",
    "extends",
    "false",
    "final",
    "finally",
    "float",
    "for",
    "function",
    "goto",
    "if",
    "implements",
    "import",
    "in",
    "instanceof",
    "int",
    "interface",
    "let",
    "long",
    "native",
    "new",
    "null",
    "of",
    "package",
    "private",
    "protected",
    "public",
    "return",
    "short",
    "static",
    "super",
    "switch",
    "synchronized",
    "this",
    "throw",
    "throws",
    "transient",
    "true",
    "try",
    "typeof",
    "undefined",
    "var",
    "void",
    "volatile",
    "while",
    "with",
    "yield",
    "NaN",
    "Infinity",
    "Object",
    "Array",
    "String",
    "Number",
    "Math",
    "JSON",
    "Date",
    "Promise",
    "RegExp",
    "Error",
    "globalThis",
    "open",
    "require",
    "console",
    "crypto",
    "encoding",
    "http",
    "check",
    "fail",
    "group",
    "sleep",
    "exec",
    "secrets",
    "options",
    "headers",
    "pageHeaders",
    "fetchHeaders",
    "resourceHeaders",
    "res",
    "answers",
    "inputs",
    "input",
    "think",
    "later",
    "multipart",
    "uuid",
    "eventData",
    "absolute",
    "found",
    "BASE",
    "PACE",
    "FormData",
    "WebSocket",
    "EventSource",
    "URL",
    "SharedArray",
    "parseHTML",
    "formFields",
    "without",
    "update",
    "between",
    "parameter",
    "segment",
    "numbersAsText",
    "unescapeHtml",
    "randomText",
    "events",
    "messages",
    "module",
    "exports",
    "name",
    "socket",
];

/// A text between single quotes.
pub(crate) fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    out.push(quote);
    escape(text, quote, &mut out);
    out.push(quote);
    out
}

/// The inside of a template literal.
pub(crate) fn in_template(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    escape(text, '`', &mut out);
    out
}

/// `quote` is the quote around the text; a template keeps its lines.
fn escape(text: &str, quote: char, out: &mut String) {
    for (at, char) in text.char_indices() {
        match char {
            '\\' => out.push_str("\\\\"),
            '\n' if quote == '`' => out.push('\n'),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '$' if quote == '`' && text[at + 1..].starts_with('{') => out.push_str("\\$"),
            // It would end the script of a page that shows this one.
            '/' if text[..at].ends_with('<') && is_script(&text[at + 1..]) => out.push_str("\\/"),
            char if char == quote => {
                out.push('\\');
                out.push(char);
            }
            char if is_unseen(char) => push_escaped(char, out),
            char => out.push(char),
        }
    }
}

fn is_script(text: &str) -> bool {
    text.get(..6).is_some_and(|word| word.eq_ignore_ascii_case("script"))
}

/// Whether an editor shows nothing for it, or something else: controls, marks of direction, separators, the byte order mark.
fn is_unseen(char: char) -> bool {
    char.is_control()
        || matches!(char, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{a0}')
}

fn push_escaped(char: char, out: &mut String) {
    let mut units = [0; 2];
    for unit in char.encode_utf16(&mut units) {
        let _ = write!(out, "\\u{unit:04x}");
    }
}

/// A text in a comment of one line.
pub(crate) fn in_comment(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            char if char.is_whitespace() => out.push(' '),
            char if is_unseen(char) => push_escaped(char, &mut out),
            char => out.push(char),
        }
    }
    out
}

/// The text, with an ellipsis in place of all behind `length` characters.
pub(crate) fn shortened(text: &str, length: usize) -> String {
    match text.char_indices().nth(length) {
        Some((end, _)) => format!("{}…", text[..end].trim_end()),
        None => text.to_owned(),
    }
}

/// Whether the text may be written as a name without quotes.
pub(crate) fn is_identifier(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_' || c == '$')
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '$')
}

/// A key of an object literal.
pub(crate) fn key(text: &str) -> String {
    // `__proto__: x` would set the prototype.
    match text {
        "__proto__" => "['__proto__']".to_owned(),
        text if is_identifier(text) => text.to_owned(),
        text => quoted(text),
    }
}

/// The member of an object: `.id`, `['order-id']`, `[3]`.
pub(crate) fn member(text: &str) -> String {
    if is_identifier(text) { format!(".{text}") } else { format!("[{}]", quoted(text)) }
}

/// A variable's name from any text: `order-id` is `orderId`. Empty if the text has no letter or digit of ASCII.
pub(crate) fn camel_case(text: &str) -> String {
    let mut out = String::new();
    let mut is_begin = false;
    let mut last_is_lower = false;
    for char in text.chars() {
        if !char.is_ascii_alphanumeric() {
            is_begin = !out.is_empty();
            continue;
        }
        if is_begin {
            out.push(char.to_ascii_uppercase());
        } else if out.is_empty() || !last_is_lower {
            out.push(char.to_ascii_lowercase());
        } else {
            out.push(char);
        }
        last_is_lower = !is_begin && (char.is_ascii_lowercase() || char.is_ascii_digit());
        is_begin = false;
    }
    if out.starts_with(|c: char| c.is_ascii_digit()) {
        out.insert(0, '_');
    }
    out
}

/// Names that are given once.
#[derive(Debug, Default, Clone)]
pub(crate) struct Names(std::collections::BTreeSet<String>);

impl Names {
    /// The wanted name as an identifier, or with the first number behind it that nothing has; `other` if it has no letters.
    pub(crate) fn take(&mut self, wanted: &str, other: &str) -> String {
        let name = if is_identifier(wanted) { wanted.to_owned() } else { camel_case(wanted) };
        let name = if name.is_empty() { other.to_owned() } else { name };
        let is_free = |name: &String| !TAKEN.contains(&name.as_str()) && !self.0.contains(name);
        let mut free = name.clone();
        let mut number = 1_u32;
        while !is_free(&free) {
            number += 1;
            free = format!("{name}{number}");
        }
        self.0.insert(free.clone());
        free
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_show_what_editors_hide() {
        assert_eq!(quoted("it's"), r#""it's""#);
        assert_eq!(quoted("it's \"x\""), r#"'it\'s "x"'"#);
        assert_eq!(
            quoted("a\u{2028}\u{feff}\0\n</script>ö"),
            r"'a\u2028\ufeff\u0000\n<\/script>ö'"
        );
        assert_eq!(in_template("`${x}` $5 \\ \r\n"), "\\`\\${x}\\` $5 \\\\ \\r\n");
        assert_eq!(in_comment("a\nb\u{2029}c */"), "a b\u{2029}c */".replace('\u{2029}', " "));
    }

    #[test]
    fn any_text_gives_a_name() {
        for (text, name) in [
            ("order-id", "orderId"),
            ("viewState", "viewState"),
            ("X-CSRF-Token", "xCsrfToken"),
            ("form:user", "formUser"),
            ("7up", "_7up"),
            ("ключ", ""),
            ("user_name", "userName"),
            ("ID", "id"),
        ] {
            assert_eq!(camel_case(text), name);
        }
        let mut names = Names::default();
        let all = ["id", "id", "new", "ключ", "ключ"].map(|text| names.take(text, "value"));
        assert_eq!(all.join(" "), "id id2 new2 value value2");
    }
}
