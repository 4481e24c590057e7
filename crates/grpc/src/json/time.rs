//! `Timestamp` and `Duration` as text.

use std::fmt::Write as _;

/// 0001-01-01T00:00:00Z and 9999-12-31T23:59:59Z.
pub(super) const SECONDS: std::ops::RangeInclusive<i64> = -62_135_596_800..=253_402_300_799;
/// Ten thousand years.
const DURATION_MAX: i64 = 315_576_000_000;
const DAY: i64 = 86_400;

/// `1970-01-01T00:00:00Z`; `None` if it is no time that can be written.
pub(super) fn write_timestamp(seconds: i64, nanos: i32, out: &mut String) -> Option<()> {
    if !SECONDS.contains(&seconds) || !(0..1_000_000_000).contains(&nanos) {
        return None;
    }
    let (days, second) = (seconds.div_euclid(DAY), seconds.rem_euclid(DAY));
    let (year, month, day) = date(days);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    // Writing to a string cannot fail.
    let _ = write!(out, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}");
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

/// Three, six, nine digits or none.
fn write_fraction(nanos: u32, out: &mut String) {
    let _ = match nanos {
        0 => return,
        n if n % 1_000_000 == 0 => write!(out, ".{:03}", n / 1_000_000),
        n if n % 1000 == 0 => write!(out, ".{:06}", n / 1000),
        n => write!(out, ".{n:09}"),
    };
}

/// Reads an RFC 3339 time: seconds and nanoseconds.
pub(super) fn read_timestamp(text: &str) -> Option<(i64, i32)> {
    let bytes = text.as_bytes();
    let number = |from: usize, to: usize| -> Option<i64> {
        let digits = bytes.get(from..to)?;
        digits.iter().all(u8::is_ascii_digit).then(|| text[from..to].parse().ok())?
    };
    let mark = |at: usize, mark: u8| (bytes.get(at) == Some(&mark)).then_some(());
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let (hour, minute, second) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
    mark(4, b'-')?;
    mark(7, b'-')?;
    mark(10, b'T')?;
    mark(13, b':')?;
    mark(16, b':')?;
    let days = days(year, month, day);
    if date(days) != (year, month, day) || hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let rest = &text[19..];
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
    let seconds = days * DAY + hour * 3600 + minute * 60 + second - offset;
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

/// Days since 1970 of a date, in the proleptic Gregorian calendar. Years are counted from March, so that the leap day is
/// the last.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year - era * 400;
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// The date of a day: year, month, day.
fn date(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let of_era = days - era * 146_097;
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (year + era * 400 + i64::from(month <= 2), month, day)
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
    fn each_day_has_its_date() {
        for day in (-800_000..800_000).step_by(97) {
            let (year, month, of_month) = date(day);
            assert_eq!(days(year, month, of_month), day);
        }
    }

    #[test]
    fn no_duration_is_too_long_to_be_refused() {
        for seconds in [i64::MIN, i64::MAX, DURATION_MAX + 1] {
            assert_eq!(write_duration(seconds, 0, &mut String::new()), None);
        }
    }
}
