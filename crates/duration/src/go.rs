//! Durations as Go itself reads them.

use std::time::Duration;

use crate::DurationError;

/// Reads a duration: decimal numbers with units `ns us µs ms s m h`, an optional sign in front; or `0`.
///
/// # Errors
/// The text is no duration, or doesn't fit 292 years.
pub fn parse(text: &str) -> Result<i64, DurationError> {
    let invalid = || DurationError::Invalid(text.to_owned());
    let too_long = || DurationError::TooLong(text.to_owned());
    let (is_negative, mut rest) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    if rest == "0" {
        return Ok(0);
    }
    if rest.is_empty() {
        return Err(invalid());
    }
    let is_digit = |c: char| c.is_ascii_digit();
    let mut total: u128 = 0;
    while !rest.is_empty() {
        let end = rest.find(|c| !is_digit(c)).unwrap_or(rest.len());
        let (whole, behind) = rest.split_at(end);
        let (fraction, behind) = match behind.strip_prefix('.') {
            None => ("", behind),
            Some(behind) => behind.split_at(behind.find(|c| !is_digit(c)).unwrap_or(behind.len())),
        };
        if whole.is_empty() && fraction.is_empty() {
            return Err(invalid());
        }
        let end = behind.find(|c| is_digit(c) || c == '.').unwrap_or(behind.len());
        let (unit, behind) = behind.split_at(end);
        let size = match unit {
            "" => return Err(DurationError::MissingUnit(text.to_owned())),
            "ns" => 1,
            "us" | "\u{b5}s" | "\u{3bc}s" => 1_000,
            "ms" => 1_000_000,
            "s" => 1_000_000_000,
            "m" => 60_000_000_000,
            "h" => 3_600_000_000_000,
            _ => {
                let unit = unit.to_owned();
                return Err(DurationError::UnknownUnit { unit, text: text.to_owned() });
            }
        };
        let whole: u128 =
            if whole.is_empty() { 0 } else { whole.parse().map_err(|_| too_long())? };
        total = whole
            .checked_mul(size)
            .and_then(|ns| total.checked_add(ns))
            .and_then(|ns| ns.checked_add(part(fraction, size)))
            .filter(|ns| *ns <= 1 << 63)
            .ok_or_else(too_long)?;
        rest = behind;
    }
    let signed = if is_negative { -(total as i128) } else { total as i128 };
    i64::try_from(signed).map_err(|_| too_long())
}

/// Reads the same as a time that somebody waits.
///
/// # Errors
/// The text is no duration, doesn't fit, or is negative.
pub fn parse_wait(text: &str) -> Result<Duration, DurationError> {
    let ns = u64::try_from(parse(text)?);
    ns.map(Duration::from_nanos).map_err(|_| DurationError::Invalid(text.to_owned()))
}

/// Digits behind the point, times the unit, cut to whole nanoseconds.
fn part(digits: &str, size: u128) -> u128 {
    let mut share = size * 1_000_000;
    let mut sum = 0;
    for digit in digits.bytes() {
        share /= 10;
        sum += share * u128::from(digit - b'0');
    }
    sum / 1_000_000
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_read_as_go_reads_them() {
        for (text, ns) in [
            ("0", 0),
            ("300ms", 300_000_000),
            ("1h15m30.5s", 4_530_500_000_000),
            ("-1.5us", -1_500),
            ("+.5µs", 500),
            ("1.s", 1_000_000_000),
            ("0.000000000123h", 442),
            ("9223372036854775807ns", i64::MAX),
            ("-9223372036854775808ns", i64::MIN),
        ] {
            assert_eq!(parse(text), Ok(ns), "{text}");
        }
    }

    #[test]
    fn nobody_waits_for_less_than_nothing() {
        assert_eq!(parse_wait("1m"), Ok(Duration::from_mins(1)));
        assert_eq!(parse_wait("-0s"), Ok(Duration::ZERO));
        let said = parse_wait("-1s").unwrap_err().to_string();
        assert_eq!(said, "time: invalid duration \"-1s\"");
    }

    /// k6 1.8.1 and vegeta.
    #[test]
    fn what_is_no_duration_is_told_as_go_tells_it() {
        for (text, said) in [
            ("", "time: invalid duration \"\""),
            ("-", "time: invalid duration \"-\""),
            (".s", "time: invalid duration \".s\""),
            ("5", "time: missing unit in duration \"5\""),
            ("5x", "time: unknown unit \"x\" in duration \"5x\""),
            ("1 s", "time: unknown unit \" s\" in duration \"1 s\""),
            ("ms", "time: invalid duration \"ms\""),
            ("1.2.3s", "time: missing unit in duration \"1.2.3s\""),
            ("1..5s", "time: missing unit in duration \"1..5s\""),
            ("\u{661}s", "time: invalid duration \"\\xd9\\xa1s\""),
            ("9223372036854775808ns", "time: invalid duration \"9223372036854775808ns\""),
        ] {
            assert_eq!(parse(text).unwrap_err().to_string(), said);
        }
    }
}
