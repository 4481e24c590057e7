//! Clocks of a fixed width: `00m01.5s`.

use std::{fmt::Write as _, time::Duration};

const DAY: u64 = 86_400;

/// A clock to tenths of a second, as wide as `longest` needs: `01.5s` of 30 s, `00m01.5s` of 10 min.
pub(crate) fn clock(duration: Duration, longest: Duration) -> String {
    // To the nearest tenth, as k6 shows it.
    let tenths = (duration.as_millis() + 50) / 100;
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
    fn a_clock_is_as_wide_as_the_longest_time() {
        let clock =
            |millis, longest| clock(Duration::from_millis(millis), Duration::from_secs(longest));
        assert_eq!(clock(1_040, 5), "1.0s");
        assert_eq!(clock(1_960, 5), "2.0s");
        assert_eq!(clock(1_500, 31), "01.5s");
        assert_eq!(clock(1_500, 600), "00m01.5s");
        assert_eq!(clock(3_661_500, 7200), "01h01m01.5s");
        assert_eq!(clock(90_061_000, 900_000), "01d01h01m01.0s");
        assert_eq!(clock(12_000, 5), "12.0s");
    }
}
