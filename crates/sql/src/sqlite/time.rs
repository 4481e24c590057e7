//! Times as the Go driver writes and reads them.

use std::fmt::Write;

use jiff::Timestamp;
use jiff::tz::{Offset, TimeZone};

use crate::cell::Moment;

/// The first second of the year 1, in which the Go driver finds itself when it cannot read a time.
const YEAR_ONE: i64 = -62_135_596_800;

/// The time that a number in a column of times is: seconds, or milliseconds if it is too large for seconds.
/// The product wraps around as the Go driver's does.
pub(super) fn of_number(number: i64, zone: Option<&TimeZone>) -> Moment {
    const SECONDS_MAX: i64 = 1_000_000_000_000;
    if (-SECONDS_MAX..=SECONDS_MAX).contains(&number) {
        return in_zone(number, 0, 0, zone);
    }
    let nanos = number.wrapping_mul(1_000_000);
    let below = u32::try_from(nanos.rem_euclid(1_000_000_000)).unwrap_or(0);
    in_zone(nanos.div_euclid(1_000_000_000), below, 0, zone)
}

/// The time that a text in a column of times is.
pub(super) fn of_text(text: &[u8], zone: Option<&TimeZone>) -> Moment {
    let (seconds, nanos, offset) = read(text).unwrap_or((YEAR_ONE, 0, 0));
    in_zone(seconds, nanos, offset, zone)
}

fn in_zone(unix_seconds: i64, nanos: u32, offset: i32, zone: Option<&TimeZone>) -> Moment {
    let offset_seconds = match zone {
        None => offset,
        Some(zone) => Timestamp::from_second(unix_seconds)
            .map_or(0, |timestamp| zone.to_offset(timestamp).seconds()),
    };
    Moment { unix_seconds, nanos, offset_seconds }
}

/// `2024-02-29`, `2024-02-29 12:34`, `2024-02-29T12:34:56.789+02:00`, `…Z`: seconds, nanoseconds, and the zone's seconds.
fn read(text: &[u8]) -> Option<(i64, u32, i32)> {
    let text = text.strip_suffix(b"Z").unwrap_or(text);
    let number = |range: std::ops::Range<usize>| -> Option<i64> {
        let digits = text.get(range)?;
        digits.iter().try_fold(0, |number, digit| {
            digit.is_ascii_digit().then(|| number * 10 + i64::from(digit - b'0'))
        })
    };
    let is = |at: usize, wanted: &[u8]| text.get(at).is_some_and(|byte| wanted.contains(byte));
    let date = (number(0..4)?, number(5..7)?, number(8..10)?);
    if !is(4, b"-") || !is(7, b"-") {
        return None;
    }
    if text.len() == 10 {
        return Some((brunt_moment::unix_seconds(date, (0, 0, 0))?, 0, 0));
    }
    if !is(10, b" T") || !is(13, b":") {
        return None;
    }
    let (hour, minute) = (number(11..13)?, number(14..16)?);
    if text.len() == 16 {
        return Some((brunt_moment::unix_seconds(date, (hour, minute, 0))?, 0, 0));
    }
    if !is(16, b":") {
        return None;
    }
    let seconds = brunt_moment::unix_seconds(date, (hour, minute, number(17..19)?))?;
    let mut rest = &text[19..];
    let mut nanos = 0_u32;
    if let Some(fraction) = rest.strip_prefix(b".").or_else(|| rest.strip_prefix(b",")) {
        let count = fraction.iter().take_while(|byte| byte.is_ascii_digit()).count();
        if count == 0 {
            return None;
        }
        let digits = fraction[..count].iter().map(|digit| digit - b'0');
        for digit in digits.chain(std::iter::repeat(0)).take(9) {
            nanos = nanos * 10 + u32::from(digit);
        }
        rest = &fraction[count..];
    }
    if rest.is_empty() {
        return Some((seconds, nanos, 0));
    }
    let at = text.len() - rest.len();
    let sign = if is(at, b"+") {
        1
    } else if is(at, b"-") {
        -1
    } else {
        return None;
    };
    if rest.len() != 6 || !is(at + 3, b":") {
        return None;
    }
    let (hours, minutes) = (number(at + 1..at + 3)?, number(at + 4..at + 6)?);
    if hours > 24 || minutes > 59 {
        return None;
    }
    let offset = sign * (hours * 3600 + minutes * 60);
    Some((seconds - offset, nanos, i32::try_from(offset).ok()?))
}

/// The text of a time as an argument: `2024-02-29 12:34:56.789+00:00`.
pub(super) fn write(moment: Moment) -> String {
    let offset = Offset::from_seconds(moment.offset_seconds).unwrap_or(Offset::UTC);
    let timestamp = Timestamp::from_second(moment.unix_seconds)
        .unwrap_or(if moment.unix_seconds < 0 { Timestamp::MIN } else { Timestamp::MAX });
    let civil = offset.to_datetime(timestamp);
    let mut out = String::with_capacity(36);
    let _ = write!(
        out,
        "{:04}-{:02}-{:02} {:02}:{:02}:{:02}",
        civil.year(),
        civil.month(),
        civil.day(),
        civil.hour(),
        civil.minute(),
        civil.second()
    );
    if moment.nanos > 0 {
        let _ = write!(out, ".{:09}", moment.nanos);
        out.truncate(out.trim_end_matches('0').len());
    }
    let seconds = offset.seconds();
    let sign = if seconds < 0 { '-' } else { '+' };
    let minutes = seconds.abs() / 60;
    let _ = write!(out, "{sign}{:02}:{:02}", minutes / 60, minutes % 60);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moment(unix_seconds: i64, nanos: u32, offset_seconds: i32) -> Moment {
        Moment { unix_seconds, nanos, offset_seconds }
    }

    #[test]
    fn texts_are_read_as_the_go_driver_reads_them() {
        for (text, expected) in [
            ("2024-02-29", moment(1_709_164_800, 0, 0)),
            ("2024-02-29 12:34", moment(1_709_210_040, 0, 0)),
            ("2024-02-29 12:34:56", moment(1_709_210_096, 0, 0)),
            ("2024-02-29T12:34:56.789Z", moment(1_709_210_096, 789_000_000, 0)),
            ("2024-02-29 12:34:56+02:00", moment(1_709_202_896, 0, 7200)),
            ("text", moment(YEAR_ONE, 0, 0)),
            ("", moment(YEAR_ONE, 0, 0)),
            ("2024-02-30", moment(YEAR_ONE, 0, 0)),
            ("2024-02-29 12:34:56 x", moment(YEAR_ONE, 0, 0)),
            ("2024-02-29 12:34:56.", moment(YEAR_ONE, 0, 0)),
        ] {
            assert_eq!(of_text(text.as_bytes(), None), expected, "{text}");
        }
        let berlin = TimeZone::get("Europe/Berlin").unwrap();
        let expected = moment(1_709_210_096, 0, 3600);
        assert_eq!(of_text(b"2024-02-29 12:34:56", Some(&berlin)), expected);
    }

    #[test]
    fn numbers_are_seconds_or_milliseconds() {
        assert_eq!(of_number(42, None), moment(42, 0, 0));
        assert_eq!(of_number(1_709_210_096_789, None), moment(1_709_210_096, 789_000_000, 0));
        let wrapped = moment(5_188_146_770, 731_811_392, 0);
        assert_eq!(of_number(9_007_199_254_740_993, None), wrapped);
        assert_eq!(of_number(i64::MIN, None), moment(0, 0, 0));
    }

    #[test]
    fn arguments_are_written_as_the_go_driver_writes_them() {
        for (moment, expected) in [
            (moment(1_709_210_096, 789_000_000, 0), "2024-02-29 12:34:56.789+00:00"),
            (moment(1_709_210_096, 0, -5400), "2024-02-29 11:04:56-01:30"),
            (moment(i64::MAX, 0, 0), "9999-12-30 22:00:00+00:00"),
        ] {
            assert_eq!(write(moment), expected);
        }
    }
}
