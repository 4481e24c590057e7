//! Clocks of a fixed width: `00m01.5s`.

use std::{fmt::Write as _, time::Duration};

const DAY: u64 = 86_400;

/// A clock to tenths of a second, as wide as `longest` needs: `1.5s` of 9 s, `01.5s` of 30 s, `0m01.5s` of
/// 5 min, `00m01.5s` of 10 min.
pub(crate) fn clock(duration: Duration, longest: Duration) -> String {
    // To the nearest tenth, as k6 shows it.
    let tenths = (duration.as_millis() + 50) / 100;
    let longest = longest.max(duration).as_secs();
    let (total, tenth) = ((tenths / 10) as u64, tenths % 10);
    let mut out = String::new();
    // The leading unit is as wide as the longest time needs, those after it are complete.
    for (unit, whole, name) in [(DAY, u64::MAX, 'd'), (3600, DAY, 'h'), (60, 3600, 'm')] {
        if longest >= unit {
            let width = if longest >= whole { 2 } else { digits(longest / unit) };
            let _ = write!(out, "{:0width$}{name}", total % whole / unit);
        }
    }
    let width = if longest >= 60 { 2 } else { digits(longest) };
    let _ = write!(out, "{:0width$}.{tenth}s", total % 60);
    out
}

fn digits(number: u64) -> usize {
    number.checked_ilog10().unwrap_or(0) as usize + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_is_as_wide_as_the_longest_time() {
        let clock =
            |millis, longest| clock(Duration::from_millis(millis), Duration::from_secs(longest));
        assert_eq!(clock(1_040, 5), "1.0s");
        assert_eq!(clock(1_960, 5), "2.0s");
        assert_eq!(clock(1_500, 31), "01.5s");
        assert_eq!(clock(1_500, 600), "00m01.5s");
        assert_eq!(clock(1_500, 90), "0m01.5s");
        assert_eq!(clock(3_661_500, 7200), "1h01m01.5s");
        assert_eq!(clock(3_661_500, 36_000), "01h01m01.5s");
        assert_eq!(clock(90_061_000, 900_000), "01d01h01m01.0s");
        assert_eq!(clock(12_000, 5), "12.0s");
    }
}
