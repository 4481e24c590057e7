//! Constraints on versions: `>= 1.2, < 2 || ~3.1`.

const OPERATORS: [&str; 11] = ["!=", ">=", "=>", "<=", "=<", "~>", "=", ">", "<", "~", "^"];

/// A constraint with one space between its parts and none within; `*` if it is empty; `None` for a text that is no constraint.
pub(super) fn canonical(text: &str) -> Option<String> {
    if text.is_empty() {
        return Some("*".to_owned());
    }
    let parts: Option<Vec<String>> = text.split("||").map(all_of).collect();
    Some(parts?.join(" || "))
}

/// Comparisons that hold together, with commas or blanks between them.
fn all_of(text: &str) -> Option<String> {
    let mut parts = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let operator = OPERATORS.into_iter().find(|operator| rest.starts_with(operator));
        let operator = operator.unwrap_or_default();
        rest = rest[operator.len()..].trim_start();
        let end = rest.find(|c: char| c.is_whitespace() || c == ',').unwrap_or(rest.len());
        let (version, tail) = rest.split_at(end);
        if !is_version(version) {
            return None;
        }
        rest = tail.trim_start_matches(|c: char| c.is_whitespace() || c == ',');
        // `1.2 - 2` is from the one to the other.
        match rest.strip_prefix("- ").filter(|_| operator.is_empty()) {
            Some(to) => {
                parts.push(format!(">={version}"));
                rest = to.trim_start();
                let end = rest.find(|c: char| c.is_whitespace() || c == ',').unwrap_or(rest.len());
                let (version, tail) = rest.split_at(end);
                parts.push(format!("<={version}"));
                rest = tail.trim_start_matches(|c: char| c.is_whitespace() || c == ',');
                if !is_version(version) {
                    return None;
                }
            }
            None => parts.push(format!("{operator}{version}")),
        }
    }
    (!parts.is_empty()).then(|| parts.join(" "))
}

/// One to three numbers (or `x`, `X`, `*`), and what may follow after `-` or `+`.
fn is_version(text: &str) -> bool {
    let text = text.strip_prefix('v').unwrap_or(text);
    let (numbers, tail) = match text.find(['-', '+']) {
        Some(at) => (&text[..at], &text[at + 1..]),
        None => (text, "0"),
    };
    let is_number = |part: &str| {
        matches!(part, "x" | "X" | "*")
            || !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit())
    };
    let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '+');
    numbers.split('.').count() <= 3
        && numbers.split('.').all(is_number)
        && !tail.is_empty()
        && tail.chars().all(is_word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constraints_are_written_in_one_way() {
        for (text, written) in [
            ("", "*"),
            ("*", "*"),
            (">= 0.54", ">=0.54"),
            (">= 1.0 , < 2", ">=1.0 <2"),
            ("=1.0 || >2", "=1.0 || >2"),
            (">= v1.0.0-rc.1+x", ">=v1.0.0-rc.1+x"),
            ("1.x", "1.x"),
            ("1.2 - 2", ">=1.2 <=2"),
        ] {
            assert_eq!(canonical(text).as_deref(), Some(written), "{text}");
        }
        for text in ["nonsense", "with", ">=", "1.2.3.4", ">= 1 ||", "1.-", ">= 0.5 with k6/x/foo"]
        {
            assert_eq!(canonical(text), None, "{text}");
        }
    }
}
