//! Relative references, RFC 3986 §5.2: what a `Location` means.

/// The absolute URL that `reference` means when met at `base`.
///
/// `base` is an absolute URL; `reference` may be one, or a path, a query, a fragment. Dot segments are
/// taken out. A reference without a fragment keeps none.
pub fn resolve(base: &str, reference: &str) -> String {
    if has_scheme(reference) {
        return reference.to_owned();
    }
    let (scheme, rest) = base.split_once(':').unwrap_or(("http", base));
    if reference.starts_with("//") {
        return format!("{scheme}:{reference}");
    }
    let rest = rest.split('#').next().unwrap_or_default();
    let (before_query, query) = match rest.find('?') {
        Some(at) => rest.split_at(at),
        None => (rest, ""),
    };
    let after_slashes = before_query.strip_prefix("//").unwrap_or(before_query);
    let (authority, path) = match after_slashes.find('/') {
        Some(at) => after_slashes.split_at(at),
        None => (after_slashes, "/"),
    };
    let (reference_path, tail) = match reference.find(['?', '#']) {
        Some(at) => reference.split_at(at),
        None => (reference, ""),
    };
    if reference_path.is_empty() {
        let query = if tail.starts_with('?') { "" } else { query };
        return format!("{scheme}://{authority}{path}{query}{tail}");
    }
    let merged = if reference_path.starts_with('/') {
        reference_path.to_owned()
    } else {
        let directory = path.rfind('/').map_or("/", |at| &path[..=at]);
        format!("{directory}{reference_path}")
    };
    format!("{scheme}://{authority}{}{tail}", without_dots(&merged))
}

fn has_scheme(reference: &str) -> bool {
    let end = reference.find(|char: char| !(char.is_ascii_alphanumeric() || "+-.".contains(char)));
    end.is_some_and(|end| end > 0 && reference[end..].starts_with(':'))
        && reference.starts_with(|char: char| char.is_ascii_alphabetic())
}

/// RFC 3986 §5.2.4. `path` begins with a slash, and so does what comes back.
fn without_dots(path: &str) -> String {
    let mut out: Vec<&str> = Vec::new();
    let mut segments = path[1..].split('/').peekable();
    while let Some(segment) = segments.next() {
        let is_last = segments.peek().is_none();
        match segment {
            "." | ".." => {
                if segment == ".." {
                    out.pop();
                }
                if is_last {
                    out.push("");
                }
            }
            segment => out.push(segment),
        }
    }
    format!("/{}", out.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 3986 §5.4, those that browsers and Go agree on.
    #[test]
    fn references_are_resolved_as_the_rfc_lists_them() {
        let base = "http://a/b/c/d;p?q";
        for (reference, wanted) in [
            ("g", "http://a/b/c/g"),
            ("./g", "http://a/b/c/g"),
            ("g/", "http://a/b/c/g/"),
            ("/g", "http://a/g"),
            ("//g", "http://g"),
            ("?y", "http://a/b/c/d;p?y"),
            ("g?y", "http://a/b/c/g?y"),
            ("#s", "http://a/b/c/d;p?q#s"),
            ("g#s", "http://a/b/c/g#s"),
            (";x", "http://a/b/c/;x"),
            ("", "http://a/b/c/d;p?q"),
            (".", "http://a/b/c/"),
            ("./", "http://a/b/c/"),
            ("..", "http://a/b/"),
            ("../g", "http://a/b/g"),
            ("../../g", "http://a/g"),
            ("../../../g", "http://a/g"),
            ("/./g", "http://a/g"),
            ("/../g", "http://a/g"),
            ("g;x=1/../y", "http://a/b/c/y"),
            ("https://x/y", "https://x/y"),
        ] {
            assert_eq!(resolve(base, reference), wanted, "{reference}");
        }
        assert_eq!(resolve("https://a:1?x", "b"), "https://a:1/b");
    }
}
