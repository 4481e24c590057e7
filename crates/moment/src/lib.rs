//! Moments as RFC 3339 writes them: `2026-11-21T21:19:31.5+01:00`. The calendar is jiff's.
//!
//! ```text
//! Stamps         many moments in one zone: samples, records
//! to_second      one moment in a zone: lines of the log
//! utc            one second in UTC: certificates
//! Reader, parse  moments and their zones: records in files
//! unix_seconds   a date that is spelt otherwise: cookies, DER
//! ```
//!
//! Absent: clocks, and all other ways to write a date (`strftime` of jiff has them).
#![forbid(unsafe_code)]

mod read;
mod stamps;

use jiff::SignedDuration;
use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;

pub use self::read::{Reader, parse};
pub use self::stamps::{Stamps, to_second};

const EPOCH: DateTime = DateTime::constant(1970, 1, 1, 0, 0, 0, 0);

/// A second in UTC, counted from 1970: `2020-09-13T12:26:40Z`. A moment beyond the years −9999 to 9999 is their end.
pub fn utc(unix_seconds: i64) -> String {
    format!("{:.0}Z", EPOCH.saturating_add(SignedDuration::from_secs(unix_seconds)))
}

/// The second of a date and a time in UTC, counted from 1970. `None` if the calendar has no such day, or the day no such time.
pub fn unix_seconds(date: (i64, i64, i64), time: (i64, i64, i64)) -> Option<i64> {
    let (year, month, day) = date;
    let (hour, minute, second) = time;
    let small = |number: i64| i8::try_from(number).ok();
    let date = Date::new(i16::try_from(year).ok()?, small(month)?, small(day)?).ok()?;
    let time = jiff::civil::Time::new(small(hour)?, small(minute)?, small(second)?, 0).ok()?;
    Some(date.to_datetime(time).duration_since(EPOCH).as_secs())
}

/// A zone this number of minutes east of Greenwich; UTC if no zone can be so far.
pub fn zone(minutes_east: i16) -> TimeZone {
    let offset = jiff::tz::Offset::from_seconds(i32::from(minutes_east) * 60);
    offset.map_or(TimeZone::UTC, TimeZone::fixed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_are_dates_and_dates_are_seconds() {
        for (text, date, time, seconds) in [
            ("1970-01-01T00:00:00Z", (1970, 1, 1), (0, 0, 0), 0),
            ("1969-12-31T23:59:59Z", (1969, 12, 31), (23, 59, 59), -1),
            ("2000-02-29T00:00:00Z", (2000, 2, 29), (0, 0, 0), 951_782_400),
            ("2020-09-13T12:26:40Z", (2020, 9, 13), (12, 26, 40), 1_600_000_000),
            ("2096-10-02T07:06:40Z", (2096, 10, 2), (7, 6, 40), 4_000_000_000),
            // The last second of certificates that shall never end, and of cookies.
            ("9999-12-31T23:59:59Z", (9999, 12, 31), (23, 59, 59), 253_402_300_799),
        ] {
            assert_eq!(utc(seconds), text);
            assert_eq!(unix_seconds(date, time), Some(seconds), "{text}");
        }
        assert_eq!(utc(i64::MAX), "9999-12-31T23:59:59Z");
    }

    #[test]
    fn what_no_calendar_has_is_none() {
        let noon = (12, 0, 0);
        for date in [(2026, 2, 29), (2026, 4, 31), (2026, 0, 1), (2026, 13, 1), (1 << 40, 1, 1)] {
            assert_eq!(unix_seconds(date, noon), None, "{date:?}");
        }
        for time in [(24, 0, 0), (0, 60, 0), (0, 0, 60), (-1, 0, 0)] {
            assert_eq!(unix_seconds((2026, 1, 1), time), None, "{time:?}");
        }
    }
}
