//! Dates and times of PostgreSQL's style ISO: `2024-02-29 12:34:56.789+01`, `0044-03-15 BC`, `24:00:00`.

use super::describe::form;
use crate::calendar::{civil, days};
use crate::cell::Moment;

/// A number of digits up to the next other character.
fn number(text: &mut &[u8]) -> Option<i64> {
    let end = text.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(text.len());
    if end == 0 || end > 9 {
        return None;
    }
    let (digits, rest) = text.split_at(end);
    *text = rest;
    Some(digits.iter().fold(0, |sum, digit| sum * 10 + i64::from(digit - b'0')))
}

fn skip(text: &mut &[u8], mark: u8) -> Option<()> {
    *text = text.strip_prefix(&[mark])?;
    Some(())
}

/// Seconds of the day and nanoseconds.
fn time(text: &mut &[u8]) -> Option<(i64, u32)> {
    let hour = number(text)?;
    skip(text, b':')?;
    let minute = number(text)?;
    skip(text, b':')?;
    let second = number(text)?;
    let mut nanos = 0;
    if skip(text, b'.').is_some() {
        let before = text.len();
        let fraction = number(text)?;
        let digits = before - text.len();
        nanos = u32::try_from(fraction).ok()? * 10_u32.pow(u32::try_from(9 - digits).ok()?);
    }
    let is_sound = hour <= 24 && minute < 60 && second <= 60;
    is_sound.then_some((hour * 3600 + minute * 60 + second, nanos))
}

/// Seconds east of Greenwich: `+01`, `-03:30`, `+00:53:28`. Without one, 0.
fn zone(text: &mut &[u8]) -> Option<i32> {
    let sign = match text.first() {
        Some(b'+') => 1,
        Some(b'-') => -1,
        _ => return Some(0),
    };
    *text = &text[1..];
    let mut seconds = number(text)? * 3600;
    for unit in [60, 1] {
        if skip(text, b':').is_none() {
            break;
        }
        seconds += number(text)? * unit;
    }
    i32::try_from(seconds).ok().filter(|seconds| *seconds < 86_400).map(|seconds| sign * seconds)
}

/// The moment of a text. `None` for another form: `infinity`.
pub(super) fn read(text: &[u8], kind: u8) -> Option<Moment> {
    let rest = &mut { text };
    let (mut year, mut month, mut day) = (0, 1, 1);
    if kind != form::TIME {
        year = number(rest)?;
        skip(rest, b'-')?;
        month = number(rest)?;
        skip(rest, b'-')?;
        day = number(rest)?;
    }
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    if kind == form::TIMESTAMP {
        skip(rest, b' ')?;
    }
    let (seconds, nanos) = if kind == form::DATE { (0, 0) } else { time(rest)? };
    let offset_seconds = zone(rest)?;
    if *rest == b" BC" {
        year = 1 - year;
    } else if !rest.is_empty() {
        return None;
    }
    let local = days(year, month, day) * 86_400 + seconds;
    Some(Moment { unix_seconds: local - i64::from(offset_seconds), nanos, offset_seconds })
}

/// Appends a moment as the server reads it: in its own zone.
pub(super) fn push(out: &mut Vec<u8>, moment: Moment) {
    use std::io::Write as _;
    let local = moment.unix_seconds + i64::from(moment.offset_seconds);
    let (year, month, date) = civil(local.div_euclid(86_400));
    let second = local.rem_euclid(86_400);
    let (shown, is_before) = if year <= 0 { (1 - year, true) } else { (year, false) };
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    // Writing to memory does not fail.
    let _ = write!(out, "{shown:04}-{month:02}-{date:02} {hour:02}:{minute:02}:{second:02}");
    if moment.nanos > 0 {
        let fraction = format!("{:09}", moment.nanos);
        let _ = write!(out, ".{}", fraction.trim_end_matches('0'));
    }
    if moment.offset_seconds == 0 {
        out.push(b'Z');
    } else {
        let sign = if moment.offset_seconds < 0 { '-' } else { '+' };
        let offset = moment.offset_seconds.unsigned_abs();
        let _ = write!(out, "{sign}{:02}:{:02}", offset / 3600, offset / 60 % 60);
        if !offset.is_multiple_of(60) {
            let _ = write!(out, ":{:02}", offset % 60);
        }
    }
    if is_before {
        out.extend_from_slice(b" BC");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_moments() {
        for (text, kind, unix_seconds, nanos, offset) in [
            ("1970-01-02", form::DATE, 86_400, 0, 0),
            ("2020-09-13 12:26:40", form::TIMESTAMP, 1_600_000_000, 0, 0),
            ("2020-09-13 14:26:40.5+02", form::TIMESTAMP, 1_600_000_000, 500_000_000, 7200),
            ("2020-09-13 08:56:40-03:30", form::TIMESTAMP, 1_600_000_000, 0, -12_600),
            ("0001-01-01 BC", form::DATE, -62_167_219_200, 0, 0),
            ("12:34:56.000001", form::TIME, -62_167_219_200 + 45_296, 1000, 0),
            ("24:00:00+01", form::TIME, -62_167_219_200 + 82_800, 0, 3600),
        ] {
            let wanted = Moment { unix_seconds, nanos, offset_seconds: offset };
            assert_eq!(read(text.as_bytes(), kind), Some(wanted), "{text}");
        }
        for text in ["infinity", "-infinity", "", "2020-13-01 00:00:00", "2020-01-01 00:00"] {
            assert_eq!(read(text.as_bytes(), form::TIMESTAMP), None, "{text}");
        }
    }

    #[test]
    fn moments_are_texts_that_come_back() {
        for seconds in [0, -1, 1_600_000_000, -62_135_596_801, -99_999_999_999, 253_402_300_799] {
            for offset_seconds in [0, 3600, -12_600] {
                let moment = Moment { unix_seconds: seconds, nanos: 120_000_000, offset_seconds };
                let mut out = Vec::new();
                push(&mut out, moment);
                let text = String::from_utf8(out).unwrap().replace('Z', "+00");
                assert_eq!(read(text.as_bytes(), form::TIMESTAMP), Some(moment), "{text}");
            }
        }
    }
}
