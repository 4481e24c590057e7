//! Moments as RFC 3339 writes them: `2026-11-21T18:59:01.895402269Z`.

use crate::Timestamp;

const SECOND: u64 = 1_000_000_000;
const DAY_SECONDS: i64 = 86_400;

/// Appends a moment in its own zone, with as many digits as it needs.
pub(crate) fn write(out: &mut Vec<u8>, moment: Timestamp) {
    let zone = i64::from(moment.zone_minutes().unwrap_or(0));
    let seconds = (moment.unix_ns() / SECOND) as i64 + zone * 60;
    let (year, month, day) = date(seconds.div_euclid(DAY_SECONDS));
    let second = seconds.rem_euclid(DAY_SECONDS) as u64;
    digits(out, year as u64, 4);
    out.push(b'-');
    digits(out, month, 2);
    out.push(b'-');
    digits(out, day, 2);
    for (sign, value) in [(b'T', second / 3600), (b':', second / 60 % 60), (b':', second % 60)] {
        out.push(sign);
        digits(out, value, 2);
    }
    let fraction = moment.unix_ns() % SECOND;
    if fraction > 0 {
        out.push(b'.');
        digits(out, fraction, 9);
        while out.last() == Some(&b'0') {
            out.pop();
        }
    }
    match moment.zone_minutes() {
        None | Some(0) => out.push(b'Z'),
        Some(zone) => {
            out.push(if zone < 0 { b'-' } else { b'+' });
            digits(out, u64::from(zone.unsigned_abs()) / 60, 2);
            out.push(b':');
            digits(out, u64::from(zone.unsigned_abs()) % 60, 2);
        }
    }
}

/// The same as a text.
pub(crate) fn text(moment: Timestamp) -> String {
    let mut out = Vec::with_capacity(35);
    write(&mut out, moment);
    String::from_utf8(out).expect("digits and signs are ASCII")
}

/// Reads a moment. Those before 1970 are read as the epoch, for `Timestamp` knows none.
pub(crate) fn parse(text: &str) -> Option<Timestamp> {
    let bytes = text.as_bytes();
    let field = |from: usize, to: usize| {
        let digits = bytes.get(from..to)?;
        digits.iter().try_fold(0_i64, |sum, digit| {
            digit.is_ascii_digit().then(|| sum * 10 + i64::from(digit - b'0'))
        })
    };
    let signs = [(4, b'-'), (7, b'-'), (13, b':'), (16, b':')];
    if signs.iter().any(|(at, sign)| bytes.get(*at) != Some(sign))
        || !matches!(bytes.get(10), Some(b'T' | b't' | b' '))
    {
        return None;
    }
    let (year, month, day) = (field(0, 4)?, field(5, 7)?, field(8, 10)?);
    let (hour, minute, second) = (field(11, 13)?, field(14, 16)?, field(17, 19)?);
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    if hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let mut at = 19;
    let mut fraction = 0;
    if bytes.get(at) == Some(&b'.') {
        at += 1;
        let mut unit = SECOND as i64;
        while let Some(digit) = bytes.get(at).filter(|byte| byte.is_ascii_digit()) {
            unit /= 10;
            fraction += unit * i64::from(digit - b'0');
            at += 1;
        }
    }
    let zone = match bytes.get(at)? {
        b'Z' | b'z' if bytes.len() == at + 1 => None,
        sign @ (b'+' | b'-') if bytes.len() == at + 6 && bytes[at + 3] == b':' => {
            let minutes = field(at + 1, at + 3)? * 60 + field(at + 4, at + 6)?;
            Some(if *sign == b'-' { -minutes } else { minutes })
        }
        _ => return None,
    };
    let days = days(year, month, day);
    let seconds = days * DAY_SECONDS + hour * 3600 + minute * 60 + second - zone.unwrap_or(0) * 60;
    let ns = i128::from(seconds) * i128::from(SECOND) + i128::from(fraction);
    let moment = Timestamp::from_unix_ns(u64::try_from(ns.max(0)).ok()?);
    Some(match zone {
        None => moment,
        Some(zone) => moment.in_zone(zone as i16),
    })
}

fn digits(out: &mut Vec<u8>, value: u64, width: usize) {
    let mut unit = 10_u64.pow(width as u32 - 1);
    for _ in 0..width {
        out.push(b'0' + (value / unit % 10) as u8);
        unit /= 10;
    }
}

// The two below are the usual arithmetic of the proleptic Gregorian calendar, with years that begin in March, so that
// the leap day comes last, in eras of 400 years.

/// The date of a day, counted from 1970-01-01.
fn date(day: i64) -> (i64, u64, u64) {
    let day = day + 719_468;
    let era = day.div_euclid(146_097);
    let of_era = day.rem_euclid(146_097);
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (era * 400 + year + i64::from(month <= 2), month as u64, day as u64)
}

/// The day of a date, counted from 1970-01-01.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = year - i64::from(month <= 2);
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * (if month > 2 { month - 3 } else { month + 9 }) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_print_and_read_back() {
        for (ns, zone, written) in [
            (0, None, "1970-01-01T00:00:00Z"),
            (1_795_287_541_895_402_269, None, "2026-11-21T18:59:01.895402269Z"),
            (1_795_287_541_500_000_000, Some(330), "2026-11-22T00:29:01.5+05:30"),
            (951_782_400_000_000_001, Some(-60), "2000-02-28T23:00:00.000000001-01:00"),
        ] {
            let mut moment = Timestamp::from_unix_ns(ns);
            if let Some(zone) = zone {
                moment = moment.in_zone(zone);
            }
            assert_eq!(text(moment), written);
            assert_eq!(parse(written), Some(moment));
        }
    }

    #[test]
    fn what_is_no_moment_is_none() {
        for text in [
            "",
            "2026-11-21",
            "2026-11-21T18:59:01",
            "2026-13-21T18:59:01Z",
            "2026-11-21T24:59:01Z",
            "2026-11-21T18:59:01.Zx",
            "2026-11-21T18:59:01+0100",
            "x026-11-21T18:59:01Z",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
        assert_eq!(parse("0001-01-01T00:00:00Z"), Some(Timestamp::from_unix_ns(0)));
    }
}
