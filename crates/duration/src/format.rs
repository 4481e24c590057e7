//! Durations as Go writes them.

use std::fmt::Write as _;

const MICROSECOND: i64 = 1_000;
const MILLISECOND: i64 = 1_000_000;
const SECOND: i64 = 1_000_000_000;
const MINUTE: i64 = 60 * SECOND;
const HOUR: i64 = 60 * MINUTE;

/// Writes a duration: the largest units first; below a second, one unit with a fraction.
///
/// ```
/// assert_eq!(brunt_duration::format(90_500_000_000), "1m30.5s");
/// ```
pub fn format(ns: i64) -> String {
    let mut out = String::new();
    if ns < 0 {
        out.push('-');
    }
    match ns.unsigned_abs() {
        0 => out.push_str("0s"),
        // Writing into a String cannot fail.
        ns @ ..1_000 => {
            let _ = write!(out, "{ns}ns");
        }
        ns @ ..1_000_000 => fraction(&mut out, ns, 1_000, "\u{b5}s"),
        ns @ ..1_000_000_000 => fraction(&mut out, ns, 1_000_000, "ms"),
        ns => {
            let minutes = ns / 60_000_000_000;
            if minutes >= 60 {
                let _ = write!(out, "{}h", minutes / 60);
            }
            if minutes > 0 {
                let _ = write!(out, "{}m", minutes % 60);
            }
            fraction(&mut out, ns % 60_000_000_000, 1_000_000_000, "s");
        }
    }
    out
}

/// Writes a duration as reports show it: rounded to the unit next finer than its leading one.
pub fn format_rounded(ns: i64) -> String {
    let units =
        [(HOUR, MINUTE), (MINUTE, SECOND), (SECOND, MILLISECOND), (MILLISECOND, MICROSECOND)];
    let finer = units.iter().find(|(unit, _)| ns.unsigned_abs() >= unit.unsigned_abs());
    format(finer.map_or(ns, |(_, finer)| {
        let half = if ns < 0 { -finer / 2 } else { finer / 2 };
        ns.saturating_add(half) / finer * finer
    }))
}

fn fraction(out: &mut String, ns: u64, unit: u64, name: &str) {
    let _ = write!(out, "{}", ns / unit);
    let rest = ns % unit;
    if rest > 0 {
        let width = unit.ilog10() as usize;
        let digits = format!("{rest:0width$}");
        let _ = write!(out, ".{}", digits.trim_end_matches('0'));
    }
    out.push_str(name);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_print_as_go_prints_them() {
        for (ns, text) in [
            (0, "0s"),
            (1, "1ns"),
            (1_500, "1.5µs"),
            (626_531, "626.531µs"),
            (43_855_000, "43.855ms"),
            (1_000_000_000, "1s"),
            (90_000_000_000, "1m30s"),
            (3_690_000_000_001, "1h1m30.000000001s"),
            (-1_500_000, "-1.5ms"),
        ] {
            assert_eq!(format(ns), text);
            assert_eq!(crate::parse(text), Ok(ns));
        }
    }

    #[test]
    fn reports_round_to_the_next_finer_unit() {
        for (ns, text) in [
            (302_983_000_000, "5m3s"),
            (5 * MINUTE, "5m0s"),
            (3_535_400_000, "3.535s"),
            (14_782_431, "14.782ms"),
            (770_848, "770.848µs"),
            (17, "17ns"),
            (HOUR + 29 * SECOND, "1h0m0s"),
            (999_999_999, "1s"),
        ] {
            assert_eq!(format_rounded(ns), text);
        }
    }
}
