//! Durations as k6 writes and reads them: Go's units, and days.

use std::fmt::Write as _;
use std::time::Duration;

/// The longest duration k6 knows: 2^63 − 1 ns, some 292 years.
pub const MAX: Duration = Duration::from_nanos(i64::MAX as u64);

const UNITS: [(&str, u64); 8] = [
    ("ns", 1),
    ("us", 1_000),
    ("µs", 1_000),
    ("μs", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("m", 60_000_000_000),
    ("h", 3_600_000_000_000),
];

const DAY: u64 = 86_400_000_000_000;

/// Why a text is no duration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DurationError {
    /// Neither a number nor numbers with units.
    #[error("not a duration: write it like 500ms, 1m30s or 2h")]
    Malformed,
    /// A number alone where a unit is needed.
    #[error("the unit is missing: write it like 500ms, 1m30s or 2h")]
    NoUnit,
    /// Less than 0.
    #[error("a duration cannot be negative")]
    Negative,
    /// More than [`MAX`].
    #[error("longer than 292 years")]
    TooLong,
}

/// Reads `1m30s`, `1.5h`, `2d`, `1d12h`; a bare number is **milliseconds**, as in scripts.
///
/// # Errors
/// [`DurationError`]; never [`DurationError::NoUnit`].
pub fn parse(text: &str) -> Result<Duration, DurationError> {
    match text.parse::<f64>() {
        Ok(millis) => from_millis(millis),
        Err(_) => parse_with_unit(text),
    }
}

/// A number of milliseconds as a duration.
///
/// # Errors
/// [`DurationError`] if it is negative, too long or no number.
pub fn from_millis(millis: f64) -> Result<Duration, DurationError> {
    let nanos = millis * 1e6;
    if nanos.is_nan() {
        Err(DurationError::Malformed)
    } else if nanos < 0.0 {
        Err(DurationError::Negative)
    } else if nanos >= i64::MAX as f64 {
        Err(DurationError::TooLong)
    } else {
        Ok(Duration::from_nanos(nanos as u64))
    }
}

/// Reads a duration in which every number has its unit, as on the command line.
///
/// # Errors
/// [`DurationError`]; [`DurationError::NoUnit`] for a bare number other than 0.
pub fn parse_with_unit(text: &str) -> Result<Duration, DurationError> {
    if let Some(rest) = text.strip_prefix('-') {
        parse_with_unit(rest)?;
        return Err(DurationError::Negative);
    }
    let text = text.strip_prefix('+').unwrap_or(text);
    if text == "0" {
        return Ok(Duration::ZERO);
    }
    let (days, rest) = match text.split_once('d') {
        Some((days, rest)) => (days.parse::<u64>().map_err(|_| DurationError::Malformed)?, rest),
        None if text.is_empty() => return Err(DurationError::Malformed),
        None => (0, text),
    };
    let mut nanos = days.checked_mul(DAY).ok_or(DurationError::TooLong)?;
    let mut rest = rest;
    while !rest.is_empty() {
        let end =
            rest.find(|c: char| !c.is_ascii_digit() && c != '.').ok_or(DurationError::NoUnit)?;
        let (number, tail) = rest.split_at(end);
        let end = tail.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(tail.len());
        let (unit, tail) = tail.split_at(end);
        let unit = UNITS.iter().find(|(name, _)| *name == unit).ok_or(DurationError::Malformed)?;
        nanos = nanos.checked_add(times(number, unit.1)?).ok_or(DurationError::TooLong)?;
        rest = tail;
    }
    if nanos > i64::MAX as u64 {
        Err(DurationError::TooLong)
    } else {
        Ok(Duration::from_nanos(nanos))
    }
}

/// Reads what Go itself takes for a duration: each number has its unit, and there are no days. This is how
/// k6 reads its flags, and stages outside of scripts.
///
/// # Errors
/// Those of [`parse_with_unit`].
pub fn parse_as_go(text: &str) -> Result<Duration, DurationError> {
    if text.contains('d') { Err(DurationError::Malformed) } else { parse_with_unit(text) }
}

/// `number`, digits with at most one point, times `unit`; exact, truncated to whole nanoseconds.
fn times(number: &str, unit: u64) -> Result<u64, DurationError> {
    let (whole, part) = number.split_once('.').unwrap_or((number, ""));
    if (whole.is_empty() && part.is_empty()) || part.contains('.') {
        return Err(DurationError::Malformed);
    }
    let whole: u64 =
        if whole.is_empty() { 0 } else { whole.parse().map_err(|_| DurationError::TooLong)? };
    // Digits past the 18th are worth less than a nanosecond in any unit.
    let part = &part[..part.len().min(18)];
    let scale = 10_u128.pow(part.len() as u32);
    let part: u128 =
        if part.is_empty() { 0 } else { part.parse().map_err(|_| DurationError::Malformed)? };
    let below = (part * u128::from(unit) / scale) as u64;
    whole.checked_mul(unit).and_then(|n| n.checked_add(below)).ok_or(DurationError::TooLong)
}

/// Prints as Go does: `10m0s`, `1h0m0.5s`, `1.5ms`, `0s`.
pub fn format(duration: Duration) -> String {
    let nanos = duration.as_nanos();
    if nanos == 0 {
        return "0s".into();
    }
    if nanos < 1_000 {
        return format!("{nanos}ns");
    }
    if nanos < 1_000_000 {
        return decimal(nanos, 1_000) + "µs";
    }
    if nanos < 1_000_000_000 {
        return decimal(nanos, 1_000_000) + "ms";
    }
    let minute = 60_000_000_000;
    let mut text = String::new();
    let minutes = nanos / minute;
    // Writing into a String cannot fail.
    if minutes >= 60 {
        let _ = write!(text, "{}h", minutes / 60);
    }
    if minutes > 0 {
        let _ = write!(text, "{}m", minutes % 60);
    }
    text + &decimal(nanos % minute, 1_000_000_000) + "s"
}

/// `nanos / unit` with as many decimals as it needs.
fn decimal(nanos: u128, unit: u128) -> String {
    let (whole, part) = (nanos / unit, nanos % unit);
    if part == 0 {
        return whole.to_string();
    }
    let width = unit.ilog10() as usize;
    let part = format!("{part:0width$}");
    format!("{whole}.{}", part.trim_end_matches('0'))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_bare_number_is_milliseconds_in_scripts_and_refused_on_the_command_line() {
        assert_eq!(parse("1500"), Ok(Duration::from_millis(1500)));
        assert_eq!(parse("0.5"), Ok(Duration::from_micros(500)));
        assert_eq!(parse_with_unit("1500"), Err(DurationError::NoUnit));
    }

    #[test]
    fn units_combine_and_days_lead() {
        assert_eq!(parse("1m30s"), Ok(Duration::from_secs(90)));
        assert_eq!(parse("1.5h"), Ok(Duration::from_mins(90)));
        assert_eq!(parse("1d12h"), Ok(Duration::from_hours(36)));
        assert_eq!(parse("2d"), Ok(Duration::from_hours(48)));
        assert_eq!(parse("1.5µs2ns"), Ok(Duration::from_nanos(1502)));
        assert_eq!(parse(".5s"), Ok(Duration::from_millis(500)));
        assert_eq!(parse("0"), Ok(Duration::ZERO));
    }

    #[test]
    fn nonsense_is_refused() {
        for text in ["", "s", "1x", "1.2.3s", "1s5", "d", "1.5d", "one", ".s", "1 s"] {
            assert!(parse(text).is_err(), "{text}");
        }
        assert_eq!(parse("-5s"), Err(DurationError::Negative));
        assert_eq!(parse("-5"), Err(DurationError::Negative));
        assert_eq!(parse("300000000h"), Err(DurationError::TooLong));
        assert_eq!(parse("NaN"), Err(DurationError::Malformed));
    }

    #[test]
    fn it_prints_like_go() {
        let printed = |text| format(parse(text).unwrap());
        assert_eq!(printed("600s"), "10m0s");
        assert_eq!(printed("1h"), "1h0m0s");
        assert_eq!(printed("2d"), "48h0m0s");
        assert_eq!(printed("1500ms"), "1.5s");
        assert_eq!(printed("90.001s"), "1m30.001s");
        assert_eq!(printed("1.5ms"), "1.5ms");
        assert_eq!(printed("100us"), "100µs");
        assert_eq!(printed("7ns"), "7ns");
        assert_eq!(printed("0"), "0s");
    }

    proptest! {
        #[test]
        fn printing_then_parsing_gives_the_same(nanos in 0..i64::MAX as u64) {
            let duration = Duration::from_nanos(nanos);
            prop_assert_eq!(parse(&format(duration)), Ok(duration));
        }

        #[test]
        fn no_text_makes_it_panic(text in "\\PC{0,20}") {
            let _ = parse(&text);
        }
    }
}
