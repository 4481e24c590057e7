//! Duration strings in requests: `10s`, `1m30s`, `1.5h`, `1d12h`.

/// Nanoseconds; `None` if it is no duration. Units: `ns us µs ms s m h`, and whole days (`d`) first, as in k6.
pub(crate) fn parse(text: &str) -> Option<u64> {
    let mut rest = text;
    if rest.is_empty() {
        return None;
    }
    let mut total = 0.0_f64;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let number: f64 = rest[..digits].parse().ok()?;
        rest = &rest[digits..];
        let unit_length = rest.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(rest.len());
        let unit = match &rest[..unit_length] {
            "ns" => 1.0,
            "us" | "µs" | "μs" => 1e3,
            "ms" => 1e6,
            "s" => 1e9,
            "m" => 60e9,
            "h" => 3600e9,
            "d" => 86_400e9,
            _ => return None,
        };
        total += number * unit;
        rest = &rest[unit_length..];
    }
    Some(total as u64)
}

/// What Go says of a text that [`parse`] refuses.
pub(crate) fn why_not(text: &str) -> String {
    let mut rest = text.strip_prefix(['-', '+']).unwrap_or(text);
    while !rest.is_empty() {
        let is_number = |c: char| c.is_ascii_digit() || c == '.';
        let digits = rest.find(|c| !is_number(c)).unwrap_or(rest.len());
        if !rest[..digits].contains(|c: char| c.is_ascii_digit()) {
            break;
        }
        rest = &rest[digits..];
        let length = rest.find(is_number).unwrap_or(rest.len());
        let unit = &rest[..length];
        if unit.is_empty() {
            return format!("missing unit in duration {text:?}");
        }
        if !matches!(unit, "ns" | "us" | "µs" | "μs" | "ms" | "s" | "m" | "h") {
            return format!("unknown unit {unit:?} in duration {text:?}");
        }
        rest = &rest[length..];
    }
    format!("invalid duration {text:?}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_duration_is_told_in_gos_words() {
        for (text, why) in [
            ("", "invalid duration \"\""),
            ("soon", "invalid duration \"soon\""),
            (" 1s", "invalid duration \" 1s\""),
            ("1 s", "unknown unit \" s\" in duration \"1 s\""),
            ("5m5", "missing unit in duration \"5m5\""),
            ("1x", "unknown unit \"x\" in duration \"1x\""),
        ] {
            assert_eq!((parse(text), why_not(text).as_str()), (None, why));
        }
    }

    #[test]
    fn units_combine() {
        assert_eq!(parse("10s"), Some(10_000_000_000));
        assert_eq!(parse("1m30s"), Some(90_000_000_000));
        assert_eq!(parse("1.5ms"), Some(1_500_000));
        assert_eq!(parse("1d1h"), Some(90_000_000_000_000));
        for wrong in ["", "10", "s", "10x", "-1s", "1 s"] {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
    }
}
