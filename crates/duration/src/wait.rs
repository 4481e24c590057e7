//! Durations that somebody waits: none is less than nothing. Errors are in our words.

use std::time::Duration;

use crate::DurationError as Why;

/// The longest duration k6 knows: 2^63 − 1 ns, some 292 years.
pub const MAX: Duration = Duration::from_nanos(i64::MAX as u64);

/// Why a text is no duration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WaitError {
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
/// [`WaitError`]; [`WaitError::NoUnit`] only for a number behind units or days.
pub fn parse_millis(text: &str) -> Result<Duration, WaitError> {
    if text.trim_start_matches(['-', '+']).eq_ignore_ascii_case("nan") {
        return Err(WaitError::Malformed);
    }
    not_negative(text, crate::parse_millis(text))
}

/// A number of milliseconds as a duration.
///
/// # Errors
/// [`WaitError`] if it is negative, too long or no number.
pub fn from_millis(millis: f64) -> Result<Duration, WaitError> {
    let nanos = millis * 1e6;
    if nanos.is_nan() {
        Err(WaitError::Malformed)
    } else if nanos < 0.0 {
        Err(WaitError::Negative)
    } else if nanos >= i64::MAX as f64 {
        Err(WaitError::TooLong)
    } else {
        Ok(Duration::from_nanos(nanos as u64))
    }
}

/// Reads the same where every number must have its unit.
///
/// # Errors
/// [`WaitError`]; [`WaitError::NoUnit`] for a bare number other than 0.
pub fn parse_days(text: &str) -> Result<Duration, WaitError> {
    not_negative(text, crate::parse_days(text))
}

/// Reads what Go itself takes for a duration: each number has its unit, and there are no days. This is how
/// k6 reads its flags, and stages outside of scripts.
///
/// # Errors
/// The same as [`parse_days`].
pub fn parse(text: &str) -> Result<Duration, WaitError> {
    not_negative(text, crate::parse(text))
}

/// In our words, and without what no option can be.
#[expect(clippy::needless_pass_by_value, reason = "what was read goes nowhere else")]
fn not_negative(text: &str, read: Result<i64, Why>) -> Result<Duration, WaitError> {
    match read {
        Ok(ns) => match u64::try_from(ns) {
            Ok(ns) => Ok(Duration::from_nanos(ns)),
            Err(_) if text.starts_with('-') => Err(WaitError::Negative),
            // It has wrapped.
            Err(_) => Err(WaitError::TooLong),
        },
        Err(Why::MissingUnit(_)) => Err(WaitError::NoUnit),
        Err(Why::TooLong(_) | Why::DaysRange(_)) => Err(WaitError::TooLong),
        Err(_) => Err(WaitError::Malformed),
    }
}

/// Prints as Go does: `10m0s`, `1h0m0.5s`, `1.5ms`, `0s`.
pub fn format(duration: Duration) -> String {
    crate::format(i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_bare_number_is_milliseconds_in_scripts_and_refused_on_the_command_line() {
        assert_eq!(parse_millis("1500"), Ok(Duration::from_millis(1500)));
        assert_eq!(parse_millis("0.5"), Ok(Duration::from_micros(500)));
        assert_eq!(parse_days("1500"), Err(WaitError::NoUnit));
    }

    #[test]
    fn units_combine_and_days_lead() {
        assert_eq!(parse_millis("1m30s"), Ok(Duration::from_secs(90)));
        assert_eq!(parse_millis("1.5h"), Ok(Duration::from_mins(90)));
        assert_eq!(parse_millis("1d12h"), Ok(Duration::from_hours(36)));
        assert_eq!(parse_millis("2d"), Ok(Duration::from_hours(48)));
        assert_eq!(parse_millis("1.5µs2ns"), Ok(Duration::from_nanos(1502)));
        assert_eq!(parse_millis(".5s"), Ok(Duration::from_millis(500)));
        assert_eq!(parse_millis("0"), Ok(Duration::ZERO));
        assert_eq!(parse_millis("1d+1h"), Ok(Duration::from_hours(25)));
        assert_eq!(parse_millis("-0s"), Ok(Duration::ZERO));
    }

    #[test]
    fn nonsense_is_refused() {
        for text in [
            "", "s", "1x", "1.2.3s", "1s5", "d", "1.5d", "1h2d", "1s1d", "1d1d", "one", ".s", "1 s",
        ] {
            assert!(parse_millis(text).is_err(), "{text}");
        }
        assert_eq!(parse_millis("-5s"), Err(WaitError::Negative));
        assert_eq!(parse_millis("-5"), Err(WaitError::Negative));
        assert_eq!(parse_millis("300000000h"), Err(WaitError::TooLong));
        assert_eq!(parse_millis("NaN"), Err(WaitError::Malformed));
    }

    #[test]
    fn it_prints_like_go() {
        let printed = |text| format(parse_millis(text).unwrap());
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
            prop_assert_eq!(parse_millis(&format(duration)), Ok(duration));
        }

        #[test]
        fn no_text_makes_it_panic(text in "\\PC{0,20}") {
            let _ = parse_millis(&text);
        }
    }
}
