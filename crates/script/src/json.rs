//! JSON modules.

use serde::de::IgnoredAny;

/// The fault of a JSON text, and its byte.
pub(crate) struct Fault {
    pub(crate) message: String,
    pub(crate) offset: u32,
}

/// Whether a text is JSON. Nesting costs no stack here.
pub(crate) fn check(text: &str) -> Result<(), Fault> {
    let Err(error) = serde_json::from_str::<IgnoredAny>(text) else {
        return Ok(());
    };
    // serde_json counts lines by LF only, and columns in bytes.
    let line_start = text
        .split_inclusive('\n')
        .take(error.line().saturating_sub(1))
        .map(str::len)
        .sum::<usize>();
    // Column 0 is the line end before.
    let mut offset = (line_start + error.column()).saturating_sub(1).min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    let full = error.to_string();
    // The place is told by the error that this becomes.
    let message = full.rfind(" at line ").map_or(full.as_str(), |end| &full[..end]);
    Err(Fault { message: format!("not valid JSON: {message}"), offset: offset as u32 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_has_its_place() {
        let fault = check("{\n  \"ä\": tru\n}").expect_err("not JSON");
        assert_eq!(fault.message, "not valid JSON: expected ident");
        assert_eq!(&"{\n  \"ä\": tru\n}"[fault.offset as usize..], "\n}");
        assert_eq!(check("").expect_err("empty").offset, 0);
        assert_eq!(check("[1,]").expect_err("comma").offset, 3);
        assert_eq!(check("{} x").expect_err("more").offset, 3);
    }

    #[test]
    fn deep_nesting_is_no_danger() {
        let text = "[".repeat(1_000_000);
        assert!(check(&text).is_err());
        assert!(check(&(text.clone() + &text.replace('[', "]"))).is_ok());
    }
}
