//! Durations as Go writes them: `1h15m30.5s`, `300ms`, `0s`. All are nanoseconds in an `i64`.

pub use brunt_duration::{DurationError, format, parse};

const MICROSECOND: i64 = 1_000;
const MILLISECOND: i64 = 1_000_000;
const SECOND: i64 = 1_000_000_000;
const MINUTE: i64 = 60 * SECOND;
const HOUR: i64 = 60 * MINUTE;

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

#[cfg(test)]
mod tests {
    use super::*;

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
