//! The words of a Rust file: what is left without comments, and with texts made empty.

/// Names, numbers, `::`, and all other signs one by one.
pub(super) fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let size = if first.is_whitespace() {
            first.len_utf8()
        } else if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            comment(rest)
        } else if let Some(size) = text_size(rest) {
            words.push("\"".to_owned());
            size
        } else {
            let is_of_name = |char: char| char.is_alphanumeric() || char == '_';
            let size = match rest.find(|char| !is_of_name(char)).unwrap_or(rest.len()) {
                0 if rest.starts_with("::") => 2,
                0 => first.len_utf8(),
                size => size,
            };
            words.push(rest[..size].to_owned());
            size
        };
        rest = &rest[size..];
    }
    words
}

/// The size of a comment, and of those in it.
fn comment(text: &str) -> usize {
    let (mut depth, mut at) = (0, 0);
    while at < text.len() {
        if text[at..].starts_with("/*") {
            (depth, at) = (depth + 1, at + 2);
        } else if text[at..].starts_with("*/") {
            (depth, at) = (depth - 1, at + 2);
        } else {
            at += text[at..].chars().next().map_or(1, char::len_utf8);
        }
        if depth == 0 {
            break;
        }
    }
    at
}

/// The size of the text or letter that begins here, if one does.
fn text_size(text: &str) -> Option<usize> {
    let bare = text.trim_start_matches(['b', 'c']);
    let prefix = text.len() - bare.len();
    if prefix > 1 {
        return None;
    }
    if let Some(raw) = bare.strip_prefix('r') {
        let inner = raw.trim_start_matches('#');
        let hashes = raw.len() - inner.len();
        let inner = inner.strip_prefix('"')?;
        let end = format!("\"{}", "#".repeat(hashes));
        let size = inner.find(&end)? + end.len();
        return Some(prefix + 1 + hashes + 1 + size);
    }
    let until = |quote: char, text: &str| {
        let mut is_escaped = false;
        text.find(|char: char| {
            let ends = char == quote && !is_escaped;
            is_escaped = char == '\\' && !is_escaped;
            ends
        })
    };
    if let Some(inner) = bare.strip_prefix('"') {
        return Some(prefix + 1 + until('"', inner)? + 1);
    }
    let inner = bare.strip_prefix('\'')?;
    // Otherwise it is the name of a lifetime.
    let first = inner.chars().next()?;
    let is_letter = first == '\\' || inner[first.len_utf8()..].starts_with('\'');
    if !is_letter {
        return None;
    }
    Some(prefix + 1 + until('\'', inner)? + 1)
}

#[test]
fn comments_and_texts_are_no_words() {
    let text = r##"use a::b; // use c
/* mod /* x */ y */ fn f<'a>(x: &'a str) -> char { r#"mod "z" {"#; b"\"{"; '\''; '"' }"##;
    let said = words(text).join(" ");
    assert_eq!(said, "use a :: b ; fn f < ' a > ( x : & ' a str ) - > char { \" ; \" ; \" ; \" }");
}
