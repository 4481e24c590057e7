//! `Timestamp` and `Duration` as text.

use std::fmt::Write as _;

use jiff::SignedDuration;
use jiff::civil::DateTime;

/// 0001-01-01T00:00:00Z and 9999-12-31T23:59:59Z.
pub(super) const SECONDS: std::ops::RangeInclusive<i64> = -62_135_596_800..=253_402_300_799;
/// Ten thousand years.
const DURATION_MAX: i64 = 315_576_000_000;
const EPOCH: DateTime = DateTime::constant(1970, 1, 1, 0, 0, 0, 0);
/// The beginning of a time: a digit for each 0.
const SHAPE: &str = "0000-00-00T00:00:00";

/// `1970-01-01T00:00:00Z`; `None` if it is no time that can be written.
pub(super) fn write_timestamp(seconds: i64, nanos: i32, out: &mut String) -> Option<()> {
    if !SECONDS.contains(&seconds) || !(0..1_000_000_000).contains(&nanos) {
        return None;
    }
    let time = EPOCH.checked_add(SignedDuration::new(seconds, nanos)).ok()?;
    let digits = fraction_digits(nanos.unsigned_abs());
    // Writing to a string cannot fail.
    let _ = write!(out, "{time:.digits$}Z");
    Some(())
}

/// `-1.500s`; `None` if it is no duration that can be written.
pub(super) fn write_duration(seconds: i64, nanos: i32, out: &mut String) -> Option<()> {
    let is_mixed = (seconds > 0 && nanos < 0) || (seconds < 0 && nanos > 0);
    if seconds.unsigned_abs() > DURATION_MAX.unsigned_abs()
        || nanos.unsigned_abs() >= 1_000_000_000
        || is_mixed
    {
        return None;
    }
    if seconds < 0 || nanos < 0 {
        out.push('-');
    }
    let _ = write!(out, "{}", seconds.unsigned_abs());
    write_fraction(nanos.unsigned_abs(), out);
    out.push('s');
    Some(())
}

/// A point and as many digits as needed, if any.
fn write_fraction(nanos: u32, out: &mut String) {
    let digits = fraction_digits(nanos);
    if digits > 0 {
        let part = nanos / 10_u32.pow(9 - digits as u32);
        let _ = write!(out, ".{part:0digits$}");
    }
}

/// Three, six, nine digits or none.
fn fraction_digits(nanos: u32) -> usize {
    match nanos {
        0 => 0,
        n if n % 1_000_000 == 0 => 3,
        n if n % 1000 == 0 => 6,
        _ => 9,
    }
}

/// Reads an RFC 3339 time: seconds and nanoseconds.
pub(super) fn read_timestamp(text: &str) -> Option<(i64, i32)> {
    // `jiff` takes more forms of a time, and a second 60.
    let (whole, rest) = text.split_at_checked(SHAPE.len())?;
    let fits = |(byte, shape): (u8, u8)| match shape {
        b'0' => byte.is_ascii_digit(),
        mark => byte == mark,
    };
    if !whole.bytes().zip(SHAPE.bytes()).all(fits) || whole.ends_with("60") {
        return None;
    }
    let time: DateTime = whole.parse().ok()?;
    let (nanos, rest) = match rest.strip_prefix('.') {
        None => (0, rest),
        Some(rest) => {
            let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
            (fraction(&rest[..digits])?, &rest[digits..])
        }
    };
    let offset = match rest.as_bytes() {
        [b'Z'] => 0,
        [sign @ (b'+' | b'-'), h1, h2, b':', m1, m2]
            if [h1, h2, m1, m2].iter().all(|digit| digit.is_ascii_digit()) =>
        {
            let two = |a: &u8, b: &u8| i64::from(a - b'0') * 10 + i64::from(b - b'0');
            let seconds = two(h1, h2) * 3600 + two(m1, m2) * 60;
            if *sign == b'+' { seconds } else { -seconds }
        }
        _ => return None,
    };
    let seconds = time.duration_since(EPOCH).as_secs() - offset;
    SECONDS.contains(&seconds).then_some((seconds, nanos))
}

/// Reads `1.5s`: seconds and nanoseconds, of one sign.
pub(super) fn read_duration(text: &str) -> Option<(i64, i32)> {
    let text = text.strip_suffix('s')?;
    let (is_negative, text) = match text.strip_prefix(['-', '+']) {
        Some(rest) => (text.starts_with('-'), rest),
        None => (false, text),
    };
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let are_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if (whole.is_empty() && part.is_empty()) || !are_digits(whole) {
        return None;
    }
    let seconds: i64 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    let nanos = if part.is_empty() { 0 } else { fraction(part)? };
    if seconds > DURATION_MAX {
        return None;
    }
    Some(if is_negative { (-seconds, -nanos) } else { (seconds, nanos) })
}

/// Nanoseconds of the digits behind a point: one to nine.
fn fraction(digits: &str) -> Option<i32> {
    if digits.is_empty() || digits.len() > 9 || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let number: i32 = digits.parse().ok()?;
    Some(number * 10_i32.pow(9 - digits.len() as u32))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_as_they_are_read() {
        for text in [
            "1970-01-01T00:00:00Z",
            "2024-02-29T23:59:59.500Z",
            "0001-01-01T00:00:00Z",
            "9999-12-31T23:59:59.999999999Z",
            "1969-12-31T23:59:59.000001Z",
            "2000-03-01T12:30:00Z",
        ] {
            let (seconds, nanos) = read_timestamp(text).unwrap();
            let mut out = String::new();
            write_timestamp(seconds, nanos, &mut out).unwrap();
            assert_eq!(out, text);
        }
        assert_eq!(read_timestamp("1970-01-01T02:00:00+02:00"), Some((0, 0)));
        assert_eq!(read_timestamp("1970-01-01T00:00:00.1Z"), Some((0, 100_000_000)));
        for wrong in [
            "",
            "1970-01-01",
            "2023-02-29T00:00:00Z",
            "1970-01-01T24:00:00Z",
            "1970-01-01T00:00:60Z",
            "1970-01-01 00:00:00Z",
            "1970-01-01T00:00:00z",
            "0000-12-31T23:59:59Z",
            "1970-01-01T00:00:00",
            "1970-01-01T00:00:00.Z",
            "1970-01-01T00:00:00.1234567890Z",
            "ä970-01-01T00:00:00Z",
            "1970-01-01T00:00:00+2:00",
        ] {
            assert_eq!(read_timestamp(wrong), None, "{wrong}");
        }
        assert_eq!(write_timestamp(i64::MAX, 0, &mut String::new()), None);
    }

    #[test]
    fn durations_are_written_as_they_are_read() {
        for text in ["0s", "1s", "-1.500s", "0.000000001s", "-0.000001s", "315576000000s"] {
            let (seconds, nanos) = read_duration(text).unwrap();
            let mut out = String::new();
            write_duration(seconds, nanos, &mut out).unwrap();
            assert_eq!(out, text);
        }
        assert_eq!(read_duration("1.5s"), Some((1, 500_000_000)));
        for wrong in ["", "s", "1", "1.s1", "-s", ".s", "1.1234567890s", "315576000001s", "1 s"] {
            assert_eq!(read_duration(wrong), None, "{wrong}");
        }
        assert_eq!(write_duration(1, -1, &mut String::new()), None);
    }

    #[test]
    fn no_duration_is_too_long_to_be_refused() {
        for seconds in [i64::MIN, i64::MAX, DURATION_MAX + 1] {
            assert_eq!(write_duration(seconds, 0, &mut String::new()), None);
        }
    }
}
