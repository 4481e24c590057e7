//! Dates of MySQL, which have no zone, as moments of the zone that the DSN names (`loc`), and back.

use std::cell::RefCell;

use jiff::tz::TimeZone;

use crate::calendar::{civil, days};
use crate::cell::Moment;

thread_local! {
    /// The zones of this core's connections by number; the first is UTC. Columns remember the number alone.
    static ZONES: RefCell<Vec<TimeZone>> = const { RefCell::new(Vec::new()) };
}

/// UTC's number.
pub(super) const UTC: u8 = 0;

/// The number of a zone on this core. `None`: there are 256 already.
pub(super) fn number(zone: &TimeZone) -> Option<u8> {
    if *zone == TimeZone::UTC {
        return Some(UTC);
    }
    ZONES.with_borrow_mut(|zones| {
        if zones.is_empty() {
            zones.push(TimeZone::UTC);
        }
        let index = zones.iter().position(|it| it == zone).unwrap_or_else(|| {
            zones.push(zone.clone());
            zones.len() - 1
        });
        u8::try_from(index).ok()
    })
}

/// A date and a time of day, as MySQL has them: months and days may be zero.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Date {
    pub(super) year: u16,
    pub(super) month: u8,
    pub(super) day: u8,
    pub(super) hour: u8,
    pub(super) minute: u8,
    pub(super) second: u8,
    pub(super) micros: u32,
}

/// Go's zero time, which its driver hands over for a date of zeros: the first moment of the year 1.
const ZERO: i64 = -62_135_596_800;

impl Date {
    /// Reads `2006-01-02`, perhaps with ` 15:04:05` and a fraction behind it.
    pub(super) fn read(text: &[u8]) -> Option<Self> {
        let two = |at: usize| {
            let [a, b] = *text.get(at..)?.first_chunk::<2>()?;
            (a.is_ascii_digit() && b.is_ascii_digit()).then(|| (a - b'0') * 10 + (b - b'0'))
        };
        let is = |at: usize, mark: u8| text.get(at) == Some(&mark);
        let year = u16::from(two(0)?) * 100 + u16::from(two(2)?);
        let mut date = Self { year, month: two(5)?, day: two(8)?, ..Self::default() };
        if !is(4, b'-') || !is(7, b'-') {
            return None;
        }
        if text.len() > 10 {
            (date.hour, date.minute, date.second) = (two(11)?, two(14)?, two(17)?);
            if !is(13, b':') || !is(16, b':') {
                return None;
            }
        }
        if text.len() > 19 {
            let digits = &text[20..];
            if !is(19, b'.') || digits.len() > 6 || !digits.iter().all(u8::is_ascii_digit) {
                return None;
            }
            let fraction = digits.iter().fold(0, |sum, digit| sum * 10 + u32::from(digit - b'0'));
            date.micros = fraction * 10_u32.pow(6 - digits.len() as u32);
        }
        date.is_sound().then_some(date)
    }

    /// Whether each part is in its range; zeros are.
    pub(super) fn is_sound(self) -> bool {
        self.year <= 9999
            && self.month <= 12
            && self.day <= 31
            && self.hour < 24
            && self.minute < 60
            && self.second < 60
            && self.micros < 1_000_000
    }

    /// The moment, in a zone by its number.
    pub(super) fn moment(self, zone: u8) -> Moment {
        if (self.year, self.month, self.day) == (0, 0, 0) {
            return Moment { unix_seconds: ZERO, nanos: 0, offset_seconds: 0 };
        }
        let (month, day) = (self.month.max(1), self.day.max(1));
        let days = days(i64::from(self.year), i64::from(month), i64::from(day));
        let of_day =
            i64::from(self.hour) * 3600 + i64::from(self.minute) * 60 + i64::from(self.second);
        let seconds = days * 86_400 + of_day;
        let offset = if zone == UTC { 0 } else { offset_at(zone, seconds) };
        Moment {
            unix_seconds: seconds - i64::from(offset),
            nanos: self.micros * 1000,
            offset_seconds: offset,
        }
    }
}

/// The offset of a zone when its clocks show this, in seconds.
fn offset_at(zone: u8, shown: i64) -> i32 {
    ZONES
        .with_borrow(|zones| {
            let zone = zones.get(usize::from(zone))?;
            let date = jiff::Timestamp::from_second(shown).ok()?.to_zoned(TimeZone::UTC).datetime();
            Some(zone.to_zoned(date).ok()?.offset().seconds())
        })
        .unwrap_or(0)
}

/// Appends a moment as a date of a zone by its number: `2006-01-02 15:04:05.999999`, the fraction as long as need be.
pub(super) fn push(out: &mut Vec<u8>, moment: Moment, zone: u8) {
    if (moment.unix_seconds, moment.nanos) == (ZERO, 0) {
        out.extend_from_slice(b"0000-00-00");
        return;
    }
    let offset = if zone == UTC { 0 } else { offset_of(zone, moment.unix_seconds) };
    let shown = moment.unix_seconds.saturating_add(i64::from(offset));
    let (year, month, day) = civil(shown.div_euclid(86_400));
    let of_day = shown.rem_euclid(86_400);
    push_digits(out, year.clamp(0, 9999) as u32, 4);
    for (mark, part) in [
        (b'-', month),
        (b'-', day),
        (b' ', of_day / 3600),
        (b':', of_day / 60 % 60),
        (b':', of_day % 60),
    ] {
        out.push(mark);
        push_digits(out, part as u32, 2);
    }
    if moment.nanos != 0 {
        out.push(b'.');
        let is_enough = |digits: &u32| moment.nanos.is_multiple_of(10_u32.pow(9 - digits));
        let digits = [3, 6, 9].into_iter().find(is_enough).unwrap_or(9);
        push_digits(out, moment.nanos / 10_u32.pow(9 - digits), digits);
    }
}

fn offset_of(zone: u8, unix_seconds: i64) -> i32 {
    ZONES
        .with_borrow(|zones| {
            let moment = jiff::Timestamp::from_second(unix_seconds).ok()?;
            Some(zones.get(usize::from(zone))?.to_offset(moment).seconds())
        })
        .unwrap_or(0)
}

fn push_digits(out: &mut Vec<u8>, number: u32, count: u32) {
    for place in (0..count).rev() {
        out.push(b'0' + (number / 10_u32.pow(place) % 10) as u8);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn shown(moment: Moment, zone: u8) -> String {
        let mut out = Vec::new();
        push(&mut out, moment, zone);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_date_is_a_moment_of_its_zone() {
        let berlin = number(&TimeZone::get("Europe/Berlin").unwrap()).unwrap();
        assert_ne!(berlin, UTC);
        let date = Date::read(b"2026-07-01 12:00:00.5").unwrap();
        let summer = date.moment(berlin);
        assert_eq!((summer.offset_seconds, summer.nanos), (7200, 500_000_000));
        assert_eq!(summer.unix_seconds, date.moment(UTC).unix_seconds - 7200);
        assert_eq!(shown(summer, berlin), "2026-07-01 12:00:00.500");
        assert_eq!(shown(summer, UTC), "2026-07-01 10:00:00.500");
    }

    #[test]
    fn a_date_of_zeros_is_go_s_zero_time() {
        let zero = Date::read(b"0000-00-00 00:00:00").unwrap().moment(UTC);
        assert_eq!(zero.unix_seconds, -62_135_596_800);
        assert_eq!(shown(zero, UTC), "0000-00-00");
        assert_eq!(Date::read(b"2020-00-00").unwrap().moment(UTC).unix_seconds, 1_577_836_800);
    }

    #[test]
    fn what_is_no_date_is_none() {
        for text in
            ["", "2020", "2020-1-01", "2020-13-01", "2020-01-01 25:00:00", "2020-01-01x", "x"]
        {
            assert_eq!(Date::read(text.as_bytes()), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn moments_come_back(seconds in -62_135_596_799_i64..253_402_300_799, micros in 0..1_000_000u32) {
            let moment = Moment { unix_seconds: seconds, nanos: micros * 1000, offset_seconds: 0 };
            let date = Date::read(shown(moment, UTC).as_bytes()).unwrap();
            prop_assert_eq!(date.moment(UTC), moment);
            prop_assert_eq!(format!("{}Z", shown(Moment { nanos: 0, ..moment }, UTC).replace(' ', "T")), brunt_moment::utc(seconds));
        }

        #[test]
        fn no_bytes_make_it_panic(bytes: Vec<u8>) {
            let _ = Date::read(&bytes);
        }
    }
}
