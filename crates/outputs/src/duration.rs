//! Durations as Go writes and reads them.

use std::fmt::Write;
use std::time::Duration;

/// `10s`, `1m30s`, `1h0m0s`, `500ms`, `1.5s`, `0s`: what k6 prints.
pub(crate) fn print(duration: Duration) -> String {
    let nanos = duration.as_nanos();
    let (unit, name) = match nanos {
        0 => return "0s".to_owned(),
        1..1_000 => (1, "ns"),
        1_000..1_000_000 => (1_000, "µs"),
        1_000_000..1_000_000_000 => (1_000_000, "ms"),
        _ => (1_000_000_000, "s"),
    };
    let mut out = String::new();
    let mut rest = nanos;
    if name == "s" {
        let minutes = nanos / 60_000_000_000;
        if minutes >= 60 {
            let _ = write!(out, "{}h", minutes / 60);
        }
        if minutes > 0 {
            let _ = write!(out, "{}m", minutes % 60);
        }
        rest = nanos % 60_000_000_000;
    }
    let _ = write!(out, "{}", rest / unit);
    let digits = unit.ilog10() as usize;
    let fraction = format!("{:0digits$}", rest % unit);
    let fraction = fraction.trim_end_matches('0');
    if !fraction.is_empty() {
        let _ = write!(out, ".{fraction}");
    }
    out + name
}

/// Reads `1s`, `1m30s`, `1.5h`, `1d`, or a bare number of milliseconds.
pub(crate) fn parse(text: &str) -> Option<Duration> {
    if let Ok(millis) = text.parse::<f64>() {
        return Duration::try_from_secs_f64(millis / 1000.0).ok();
    }
    let mut rest = text;
    let mut seconds = 0.0;
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let number: f64 = rest[..end].parse().ok()?;
        rest = &rest[end..];
        let end = rest.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(rest.len());
        let unit = match &rest[..end] {
            "ns" => 1e-9,
            "us" | "µs" => 1e-6,
            "ms" => 1e-3,
            "s" => 1.0,
            "m" => 60.0,
            "h" => 3600.0,
            "d" => 86_400.0,
            _ => return None,
        };
        seconds += number * unit;
        rest = &rest[end..];
    }
    (!text.is_empty()).then_some(())?;
    Duration::try_from_secs_f64(seconds).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_printed_as_in_go() {
        for (nanos, text) in [
            (0, "0s"),
            (1, "1ns"),
            (1500, "1.5µs"),
            (500_000_000, "500ms"),
            (1_500_000_000, "1.5s"),
            (10_000_000_000, "10s"),
            (90_000_000_000, "1m30s"),
            (3_600_000_000_000, "1h0m0s"),
            (3_661_000_000_001, "1h1m1.000000001s"),
        ] {
            assert_eq!(print(Duration::from_nanos(nanos)), text);
            assert_eq!(parse(text).unwrap().as_nanos().abs_diff(u128::from(nanos)) / 1000, 0);
        }
    }

    #[test]
    fn what_is_no_duration_is_none() {
        for text in ["", "x", "1x", "s", "1s2", "-1s", "1..2s", "1e999h"] {
            assert_eq!(parse(text), None, "{text}");
        }
        assert_eq!(parse("250"), Some(Duration::from_millis(250)));
        assert_eq!(parse("1d"), Some(Duration::from_hours(24)));
    }
}
