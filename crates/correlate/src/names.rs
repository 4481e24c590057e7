//! Names of variables, columns and keys.

use crate::values::singular;

/// Words that JavaScript keeps, and names that scripts have already.
const KEPT: [&str; 64] = [
    "await",
    "break",
    "case",
    "catch",
    "class",
    "const",
    "continue",
    "debugger",
    "default",
    "delete",
    "do",
    "else",
    "enum",
    "eval",
    "export",
    "extends",
    "false",
    "finally",
    "for",
    "function",
    "if",
    "implements",
    "import",
    "in",
    "instanceof",
    "interface",
    "let",
    "new",
    "null",
    "package",
    "private",
    "protected",
    "public",
    "return",
    "static",
    "super",
    "switch",
    "this",
    "throw",
    "true",
    "try",
    "typeof",
    "undefined",
    "var",
    "void",
    "while",
    "with",
    "yield",
    "arguments",
    "async",
    "http",
    "check",
    "group",
    "sleep",
    "data",
    "open",
    "options",
    "user",
    "params",
    "response",
    "res",
    "url",
    "page",
    "console",
];

/// Names that say nothing of the value.
const EMPTY: [&str; 12] = [
    "href", "src", "content", "value", "action", "location", "url", "link", "message", "body",
    "set", "x",
];

/// A name in camel case: `javax.faces.ViewState` to `viewState`, `X-CSRF-TOKEN` to `csrfToken`, `user[order_id]` to `orderId`.
pub(crate) fn camel(name: &str) -> String {
    let name = name.trim_end_matches("[]").trim_end_matches(']');
    let last = name.rsplit(['.', ':', '[', '$', '/']).find(|part| !part.is_empty()).unwrap_or(name);
    let last = last.strip_prefix("X-").or_else(|| last.strip_prefix("x-")).unwrap_or(last);
    let mut words: Vec<String> = Vec::new();
    for part in last.split(|c: char| !c.is_ascii_alphanumeric()).filter(|part| !part.is_empty()) {
        let is_mixed = part.bytes().any(|byte| byte.is_ascii_lowercase());
        if !is_mixed {
            words.push(part.to_ascii_lowercase());
            continue;
        }
        let mut word = String::new();
        let mut was_lower = false;
        for c in part.chars() {
            if c.is_ascii_uppercase() && was_lower {
                words.push(std::mem::take(&mut word));
            }
            was_lower = c.is_ascii_lowercase() || c.is_ascii_digit();
            word.push(c.to_ascii_lowercase());
        }
        words.push(word);
    }
    let mut camel = String::new();
    for (index, word) in words.iter().enumerate() {
        if index == 0 {
            camel.push_str(word);
        } else {
            let mut letters = word.chars();
            camel.extend(letters.next().map(|c| c.to_ascii_uppercase()));
            camel.push_str(letters.as_str());
        }
    }
    let camel = match camel.as_str() {
        "viewstate" => "viewState".to_owned(),
        "eventvalidation" => "eventValidation".to_owned(),
        "viewstategenerator" => "viewStateGenerator".to_owned(),
        "requestverificationtoken" => "requestVerificationToken".to_owned(),
        "csrfmiddlewaretoken" | "csrf" | "csrftoken" | "xsrf" | "xsrfToken" => {
            "csrfToken".to_owned()
        }
        "jsessionid" => "sessionId".to_owned(),
        _ => camel,
    };
    if camel.is_empty() {
        return "value".to_owned();
    }
    if camel.len() > 40 {
        return camel.chars().take(40).collect();
    }
    if camel.starts_with(|c: char| c.is_ascii_digit()) {
        return format!("own{camel}");
    }
    camel
}

/// As [`camel`], for a variable: no word that JavaScript keeps.
pub(crate) fn variable(name: &str) -> String {
    let camel = camel(name);
    if !KEPT.contains(&camel.as_str()) {
        return camel;
    }
    let mut letters = camel.chars();
    let first = letters.next().map(|c| c.to_ascii_uppercase());
    "own".chars().chain(first).chain(letters).collect()
}

/// Whether a name tells something of the value.
pub(crate) fn tells(name: &str) -> bool {
    !name.is_empty()
        && !EMPTY.contains(&name.to_ascii_lowercase().as_str())
        && name.bytes().any(|byte| byte.is_ascii_alphabetic())
}

/// The name of the id of a member of a collection: `orderId` for `orders`.
pub(crate) fn of_member(collection: &str) -> String {
    let stem = variable(singular(collection));
    if stem == "value" || stem.starts_with("own") { "id".to_owned() } else { format!("{stem}Id") }
}

/// A name that `is_taken` does not know: with a number if it must be.
pub(crate) fn free(name: &str, is_taken: impl Fn(&str) -> bool) -> String {
    if !is_taken(name) {
        return name.to_owned();
    }
    (2..u32::MAX)
        .map(|number| format!("{name}{number}"))
        .find(|name| !is_taken(name))
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_in_camel_case_and_free() {
        for (name, wanted) in [
            ("javax.faces.ViewState", "viewState"),
            ("__VIEWSTATE", "viewState"),
            ("X-CSRF-TOKEN", "csrfToken"),
            ("user[order_id]", "orderId"),
            ("access_token", "accessToken"),
            ("form:j_idt5:name", "name"),
            ("class", "ownClass"),
            ("7a", "own7a"),
            ("", "value"),
        ] {
            assert_eq!(variable(name), wanted);
        }
        assert_eq!(of_member("orders"), "orderId");
        assert_eq!(free("id", |name| name == "id"), "id2");
    }
}
