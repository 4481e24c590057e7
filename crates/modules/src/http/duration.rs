//! Duration strings in requests: `10s`, `1m30s`, `1.5h`, `1d12h`.

/// Nanoseconds; `None` if it is no duration. Units: `ns us µs ms s m h`, and whole days (`d`) first, as in k6.
pub(crate) fn parse(text: &str) -> Option<u64> {
    let mut rest = text.trim();
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

#[cfg(test)]
mod tests {
    use super::*;

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
