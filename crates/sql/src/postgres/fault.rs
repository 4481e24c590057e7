//! `ErrorResponse`: why the server refuses.

use crate::failure::{Failure, Trouble};

/// A failure with the Go driver's text: `pq: TEXT at column N (SQLSTATE)`.
pub(super) fn refusal(body: &[u8], sql: &str) -> Failure {
    let (mut severity, mut code, mut text, mut position) = ("", "", String::new(), 0_usize);
    for field in body.split(|byte| *byte == 0) {
        let Some((kind, value)) = field.split_first() else { continue };
        match kind {
            b'V' => severity = std::str::from_utf8(value).unwrap_or_default(),
            b'S' if severity.is_empty() => {
                severity = std::str::from_utf8(value).unwrap_or_default();
            }
            b'C' => code = std::str::from_utf8(value).unwrap_or_default(),
            b'M' => text = String::from_utf8_lossy(value).into_owned(),
            b'P' => {
                position = std::str::from_utf8(value).map_or(0, |it| it.parse().unwrap_or(0));
            }
            _ => {}
        }
    }
    if let Some(counts) = parameter_counts(code, &text) {
        let (got, wanted) = counts;
        let text = format!("pq: got {got} parameters but the statement requires {wanted}");
        return Failure::new(Trouble::Server, text).with_code(code, 0);
    }
    let is_last = matches!(severity, "FATAL" | "PANIC");
    let trouble = match code {
        _ if is_last => Trouble::Broken,
        "40001" | "40P01" => Trouble::Retry,
        _ => Trouble::Server,
    };
    let place = place(sql, position);
    Failure::new(trouble, format!("pq: {text}{place} ({code})")).with_code(code, 0)
}

/// Where in the statement: characters are counted from 1.
fn place(sql: &str, position: usize) -> String {
    if position == 0 {
        return String::new();
    }
    let (mut line, mut column) = (1, 1);
    for character in sql.chars().take(position - 1) {
        column += 1;
        if character == '\n' {
            (line, column) = (line + 1, 1);
        }
    }
    if line == 1 { format!(" at column {column}") } else { format!(" at position {line}:{column}") }
}

/// `bind message supplies 1 parameters, but prepared statement "" requires 2`.
fn parameter_counts(code: &str, text: &str) -> Option<(u32, u32)> {
    let rest = text.strip_prefix("bind message supplies ").filter(|_| code == "08P01")?;
    let (got, rest) = rest.split_once(' ')?;
    Some((got.parse().ok()?, rest.rsplit_once(' ')?.1.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_have_the_words_of_the_go_driver() {
        let body = b"SFEHLER\0VERROR\0C42601\0Msyntax error at or near \"SELEC\"\0P1\0\0";
        let failure = refusal(body, "SELEC 1");
        assert_eq!(failure.text(), "pq: syntax error at or near \"SELEC\" at column 1 (42601)");
        assert_eq!((failure.code(), failure.trouble()), ("42601", Trouble::Server));
        let failure = refusal(b"SERROR\0C42703\0Mno x\0P11\0", "SELECT\n1, x");
        assert_eq!(failure.text(), "pq: no x at position 2:4 (42703)");
        let failure = refusal(b"SERROR\0C40P01\0Mdeadlock detected\0\0", "");
        assert_eq!(failure.trouble(), Trouble::Retry);
        assert!(refusal(b"SFATAL\0C57P01\0Mgone\0\0", "").is_fatal());
        let text = b"SERROR\0C08P01\0Mbind message supplies 1 parameters, but prepared statement \"\" requires 2\0\0";
        assert_eq!(refusal(text, "").text(), "pq: got 1 parameters but the statement requires 2");
        assert!(refusal(b"\0\xff\0C", "").text().starts_with("pq: "));
    }
}
