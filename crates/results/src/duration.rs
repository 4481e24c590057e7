//! Durations as Go writes them: `1h15m30.5s`, `300ms`, `0s`. All are nanoseconds in an `i64`.

use std::fmt::Write as _;

const MICROSECOND: i64 = 1_000;
const MILLISECOND: i64 = 1_000_000;
const SECOND: i64 = 1_000_000_000;
const MINUTE: i64 = 60 * SECOND;
const HOUR: i64 = 60 * MINUTE;

/// A text that is no duration.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DurationError {
    /// There is no number where one is due, or something strange behind it.
    #[error("time: invalid duration {0:?}")]
    Invalid(String),
    /// A number without a unit.
    #[error("time: missing unit in duration {0:?}")]
    MissingUnit(String),
    /// A unit that doesn't exist.
    #[error("time: unknown unit {unit:?} in duration {text:?}")]
    UnknownUnit {
        /// The unit.
        unit: String,
        /// The whole text.
        text: String,
    },
}

/// Reads a duration: decimal numbers with units `ns us µs ms s m h`, an optional sign in front; or `0`.
///
/// # Errors
/// It is none, or doesn't fit 292 years.
pub fn parse(text: &str) -> Result<i64, DurationError> {
    let invalid = || DurationError::Invalid(text.to_owned());
    let (negative, mut rest) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    if rest == "0" {
        return Ok(0);
    }
    if rest.is_empty() {
        return Err(invalid());
    }
    let mut total: u128 = 0;
    while !rest.is_empty() {
        let number = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let (number, behind) = rest.split_at(number);
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        if (whole.is_empty() && fraction.is_empty()) || fraction.contains('.') {
            return Err(invalid());
        }
        let unit = behind.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(behind.len());
        let (unit, behind) = behind.split_at(unit);
        let size = match unit {
            "" => return Err(DurationError::MissingUnit(text.to_owned())),
            "ns" => 1,
            "us" | "\u{b5}s" | "\u{3bc}s" => MICROSECOND,
            "ms" => MILLISECOND,
            "s" => SECOND,
            "m" => MINUTE,
            "h" => HOUR,
            _ => {
                let unit = unit.to_owned();
                return Err(DurationError::UnknownUnit { unit, text: text.to_owned() });
            }
        };
        let whole: u128 =
            if whole.is_empty() { 0 } else { whole.parse().map_err(|_| invalid())? };
        total = whole
            .checked_mul(size as u128)
            .and_then(|ns| total.checked_add(ns))
            .and_then(|ns| ns.checked_add(part(fraction, size)))
            .filter(|ns| *ns <= i64::MAX as u128)
            .ok_or_else(invalid)?;
        rest = behind;
    }
    let total = total as i64;
    Ok(if negative { -total } else { total })
}

/// Digits behind the point, times the unit, cut to whole nanoseconds.
fn part(digits: &str, size: i64) -> u128 {
    let mut share = size as u128 * 1_000_000;
    let mut sum = 0;
    for digit in digits.bytes() {
        share /= 10;
        sum += share * u128::from(digit - b'0');
    }
    sum / 1_000_000
}

/// Writes a duration: the largest units first; below a second, one unit with a fraction.
///
/// ```
/// assert_eq!(brunt_results::duration::format(90_500_000_000), "1m30.5s");
/// ```
pub fn format(ns: i64) -> String {
    let mut out = String::new();
    if ns < 0 {
        out.push('-');
    }
    let ns = ns.unsigned_abs();
    if ns == 0 {
        out.push_str("0s");
    } else if ns < MICROSECOND as u64 {
        let _ = write!(out, "{ns}ns");
    } else if ns < MILLISECOND as u64 {
        fraction(&mut out, ns, MICROSECOND as u64, "\u{b5}s");
    } else if ns < SECOND as u64 {
        fraction(&mut out, ns, MILLISECOND as u64, "ms");
    } else {
        let minutes = ns / MINUTE as u64;
        if minutes >= 60 {
            let _ = write!(out, "{}h", minutes / 60);
        }
        if minutes > 0 {
            let _ = write!(out, "{}m", minutes % 60);
        }
        fraction(&mut out, ns % MINUTE as u64, SECOND as u64, "s");
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
    fn durations_read_as_go_reads_them() {
        for (text, ns) in [
            ("0", 0),
            ("300ms", 300 * MILLISECOND),
            ("1h15m30.5s", HOUR + 15 * MINUTE + 30 * SECOND + 500 * MILLISECOND),
            ("-1.5us", -1_500),
            ("+.5µs", 500),
            ("1.s", SECOND),
            ("0.000000000123h", 442),
            ("9223372036854775807ns", i64::MAX),
        ] {
            assert_eq!(parse(text), Ok(ns), "{text}");
        }
    }

    #[test]
    fn what_is_no_duration_is_told_as_go_tells_it() {
        for (text, said) in [
            ("", "time: invalid duration \"\""),
            ("-", "time: invalid duration \"-\""),
            (".s", "time: invalid duration \".s\""),
            ("5", "time: missing unit in duration \"5\""),
            ("5x", "time: unknown unit \"x\" in duration \"5x\""),
            ("ms", "time: invalid duration \"ms\""),
            ("1.2.3s", "time: invalid duration \"1.2.3s\""),
            ("9223372036854775808ns", "time: invalid duration \"9223372036854775808ns\""),
        ] {
            assert_eq!(parse(text).unwrap_err().to_string(), said);
        }
    }

    #[test]
    fn durations_print_as_go_prints_them() {
        for (ns, text) in [
            (0, "0s"),
            (1, "1ns"),
            (1_500, "1.5µs"),
            (626_531, "626.531µs"),
            (43_855_000, "43.855ms"),
            (SECOND, "1s"),
            (HOUR, "1h0m0s"),
            (HOUR + 90 * SECOND + 1, "1h1m30.000000001s"),
            (-1_500_000, "-1.5ms"),
        ] {
            assert_eq!(format(ns), text);
            assert_eq!(parse(text), Ok(ns));
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
