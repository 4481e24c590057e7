//! Durations as k6 writes and reads them.

use std::time::Duration;

/// `10s`, `1m30s`, `1h0m0s`, `500ms`, `1.5s`, `0s`: what k6 prints.
pub(crate) fn print(duration: Duration) -> String {
    brunt_duration::format(i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX))
}

/// Reads `1s`, `1m30s`, `1.5h`, `1d`, or a bare number of milliseconds. `None` also for less than nothing.
pub(crate) fn parse(text: &str) -> Option<Duration> {
    u64::try_from(brunt_duration::parse_millis(text).ok()?).ok().map(Duration::from_nanos)
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
