//! `Timestamp` and `Duration` as text, in the form of protobuf's JSON mapping: seconds with 0, 3, 6 or 9 digits and `s`, from a 64-bit and a 32-bit number,
//! to ±315 576 000 000 s. Go's durations (`brunt-duration`) are another text and end at 292 years.

use std::fmt::Write as _;

/// 0001-01-01T00:00:00Z and 9999-12-31T23:59:59Z.
pub(super) const SECONDS: std::ops::RangeInclusive<i64> = -62_135_596_800..=253_402_300_799;
/// Ten thousand years.
const DURATION_MAX: i64 = 315_576_000_000;
const SECOND: i128 = 1_000_000_000;
/// The places of the `T`, and of the first digit of a fraction.
const T: usize = "2006-01-02".len();
const FRACTION: usize = "2006-01-02T15:04:05.".len();

/// `1970-01-01T00:00:00Z`; `None` if it is no time that can be written.
pub(super) fn write_timestamp(seconds: i64, nanos: i32, out: &mut String) -> Option<()> {
    if !SECONDS.contains(&seconds) || !(0..1_000_000_000).contains(&nanos) {
        return None;
    }
    out.push_str(brunt_moment::utc(seconds).trim_end_matches('Z'));
    write_fraction(nanos.unsigned_abs(), out);
    out.push('Z');
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
    // Narrower than other moments: capitals, and no more digits than nanoseconds have.
    let bytes = text.as_bytes();
    let digits = bytes.iter().skip(FRACTION).take_while(|byte| byte.is_ascii_digit()).count();
    if bytes.get(T) != Some(&b'T') || bytes.ends_with(b"z") || digits > 9 {
        return None;
    }
    let (ns, _) = brunt_moment::parse(text)?;
    let seconds = i64::try_from(ns.div_euclid(SECOND)).ok()?;
    SECONDS.contains(&seconds).then_some((seconds, ns.rem_euclid(SECOND) as i32))
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
        assert_eq!(read_timestamp("1970-01-01T00:00:00.5+24:00"), Some((-86_400, 500_000_000)));
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
            "1970-01-01T00:00:00+99:00",
            "10000-01-01T00:00:00Z",
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
