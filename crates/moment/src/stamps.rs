//! Moments written, many of them in one second.

use std::fmt::Write as _;

use jiff::Timestamp;
use jiff::tz::TimeZone;

/// Nanoseconds in a second.
const SECOND: u64 = 1_000_000_000;

/// Writes moments in a zone. The part down to the second is kept, as moments mostly come by the thousand in the same one.
#[derive(Clone, Debug)]
pub struct Stamps {
    zone: TimeZone,
    second: Option<u64>,
    /// `2026-11-21T21:19:31`
    text: String,
    /// `Z` or `+01:00`
    offset: String,
}

impl Stamps {
    /// In this zone.
    pub fn new(zone: TimeZone) -> Self {
        Self { zone, second: None, text: String::new(), offset: String::new() }
    }

    /// To the nanosecond, zeros at the end cut: `2026-11-21T21:19:31.5Z`. `at` is nanoseconds since the Unix epoch.
    #[inline]
    pub fn push_nano(&mut self, out: &mut Vec<u8>, at: u64) {
        self.turn_to(at / SECOND);
        out.extend_from_slice(self.text.as_bytes());
        let mut nanos = at % SECOND;
        if nanos > 0 {
            let mut digits = *b".000000000";
            let mut length = 1;
            for (at, digit) in digits.iter_mut().enumerate().skip(1).rev() {
                *digit += (nanos % 10) as u8;
                nanos /= 10;
                if *digit != b'0' {
                    length = length.max(at + 1);
                }
            }
            out.extend_from_slice(&digits[..length]);
        }
        out.extend_from_slice(self.offset.as_bytes());
    }

    /// To the second: `2026-11-21T21:19:31Z`.
    #[inline]
    pub fn push_second(&mut self, out: &mut Vec<u8>, at: u64) {
        self.turn_to(at / SECOND);
        out.extend_from_slice(self.text.as_bytes());
        out.extend_from_slice(self.offset.as_bytes());
    }

    fn turn_to(&mut self, second: u64) {
        if self.second != Some(second) {
            self.second = Some(second);
            self.text.clear();
            self.offset.clear();
            let whole = to_second(second as i64, &self.zone);
            let whole = whole.expect("64 bits of nanoseconds end in 2554, and jiff's time in 9999");
            // A year has four digits from 0 to 9999.
            let (text, offset) = whole.split_at("2026-11-21T21:19:31".len());
            self.text.push_str(text);
            self.offset.push_str(offset);
        }
    }
}

/// A second, counted from 1970, in a zone: `2026-11-21T22:19:31+01:00`, with `Z` where it is UTC. `None` beyond the year 9999.
pub fn to_second(unix_second: i64, zone: &TimeZone) -> Option<String> {
    let moment = Timestamp::from_second(unix_second).ok()?.to_zoned(zone.clone());
    let mut text = moment.datetime().to_string();
    let offset = moment.offset().seconds();
    if offset == 0 {
        text.push('Z');
    } else {
        let sign = if offset < 0 { '-' } else { '+' };
        let minutes = offset.unsigned_abs() / 60;
        // A String takes all that is written.
        let _ = write!(text, "{sign}{:02}:{:02}", minutes / 60, minutes % 60);
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::zone;

    fn written(zone: TimeZone, at: u64) -> String {
        let mut out = Vec::new();
        Stamps::new(zone).push_nano(&mut out, at);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn moments_are_written_as_in_go() {
        let at = 1_795_297_950_622_692_600;
        assert_eq!(written(TimeZone::UTC, at), "2026-11-21T21:52:30.6226926Z");
        assert_eq!(written(zone(60), at), "2026-11-21T22:52:30.6226926+01:00");
        assert_eq!(written(zone(-210), 1_795_297_950 * SECOND), "2026-11-21T18:22:30-03:30");
        assert_eq!(written(TimeZone::UTC, SECOND + 1), "1970-01-01T00:00:01.000000001Z");
        assert_eq!(written(TimeZone::UTC, SECOND / 2), "1970-01-01T00:00:00.5Z");
        assert!(written(TimeZone::UTC, u64::MAX).starts_with("2554-07-21T"));
        assert_eq!(written(zone(i16::MAX), 0), "1970-01-01T00:00:00Z");
    }

    #[test]
    fn each_second_is_written_anew() {
        let mut stamps = Stamps::new(TimeZone::UTC);
        let mut out = Vec::new();
        for second in [59, 59, 60] {
            stamps.push_second(&mut out, second * SECOND + 7);
            out.push(b'\n');
        }
        let lines = "1970-01-01T00:00:59Z\n1970-01-01T00:00:59Z\n1970-01-01T00:01:00Z\n";
        assert_eq!(String::from_utf8(out).unwrap(), lines);
    }
}
