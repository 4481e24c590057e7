//! Durations for people: `1m30s`, and clocks of a fixed width: `00m01.5s`.

use std::{fmt::Write as _, time::Duration};

const DAY: u64 = 86_400;

/// The short form, as Go prints it: `10m0s`, `1.5s`, `500ms`, `0s`.
pub(crate) fn short(duration: Duration) -> String {
    let nanos = duration.as_nanos();
    let fraction = |value: u128, unit: u128, name: &str| {
        let mut text = (value / unit).to_string();
        let rest = value % unit;
        if rest > 0 {
            let width = unit.ilog10() as usize;
            let digits = format!("{rest:0width$}");
            let _ = write!(text, ".{}", digits.trim_end_matches('0'));
        }
        text + name
    };
    match nanos {
        0 => "0s".to_owned(),
        1..1_000 => format!("{nanos}ns"),
        1_000..1_000_000 => fraction(nanos, 1_000, "µs"),
        1_000_000..1_000_000_000 => fraction(nanos, 1_000_000, "ms"),
        _ => {
            let minutes = duration.as_secs() / 60;
            let seconds = nanos - u128::from(minutes) * 60_000_000_000;
            let seconds = fraction(seconds, 1_000_000_000, "s");
            match (minutes / 60, minutes % 60) {
                (0, 0) => seconds,
                (0, minutes) => format!("{minutes}m{seconds}"),
                (hours, minutes) => format!("{hours}h{minutes}m{seconds}"),
            }
        }
    }
}

/// A clock to tenths of a second, as wide as `longest` needs: `01.5s` of 30 s, `00m01.5s` of 10 min.
pub(crate) fn clock(duration: Duration, longest: Duration) -> String {
    // Tenths are cut, not rounded: 0.99 s is not yet one second.
    let tenths = duration.as_millis() / 100;
    let longest = longest.max(duration).as_secs();
    let (total, tenth) = ((tenths / 10) as u64, tenths % 10);
    let mut out = String::new();
    if longest >= DAY {
        let width = (longest / DAY).ilog10() as usize + 1;
        let _ = write!(out, "{:0width$}d", total / DAY);
    }
    if longest >= 3600 {
        let _ = write!(out, "{:02}h", total % DAY / 3600);
    }
    if longest >= 60 {
        let _ = write!(out, "{:02}m", total % 3600 / 60);
    }
    let width = if longest >= 10 { 2 } else { 1 };
    let _ = write!(out, "{:0width$}.{tenth}s", total % 60);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_durations_read_like_gos() {
        for (millis, text) in [
            (0, "0s"),
            (500, "500ms"),
            (1_500, "1.5s"),
            (30_000, "30s"),
            (90_000, "1m30s"),
            (600_000, "10m0s"),
            (3_600_000, "1h0m0s"),
            (93_784_005, "26h3m4.005s"),
        ] {
            assert_eq!(short(Duration::from_millis(millis)), text);
        }
        assert_eq!(short(Duration::from_nanos(1_500)), "1.5µs");
        assert_eq!(short(Duration::from_nanos(1_000_001)), "1.000001ms");
    }

    #[test]
    fn a_clock_is_as_wide_as_the_longest_time() {
        let clock = |millis, longest| {
            clock(Duration::from_millis(millis), Duration::from_secs(longest))
        };
        assert_eq!(clock(1_090, 5), "1.0s");
        assert_eq!(clock(1_500, 31), "01.5s");
        assert_eq!(clock(1_500, 600), "00m01.5s");
        assert_eq!(clock(3_661_500, 7200), "01h01m01.5s");
        assert_eq!(clock(90_061_000, 900_000), "01d01h01m01.0s");
        assert_eq!(clock(12_000, 5), "12.0s");
    }
}
