//! Times as text.

use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::number::push_whole;

/// Writes moments as RFC 3339 in a zone. The part down to the second is kept, as moments mostly come
/// by the thousand in the same one.
pub(crate) struct Stamps {
    zone: TimeZone,
    second: Option<u64>,
    /// `2026-11-21T21:19:31`
    text: String,
    /// `Z` or `+01:00`
    offset: String,
}

/// Nanoseconds in a second.
const SECOND: u64 = 1_000_000_000;

impl Stamps {
    pub(crate) fn new(zone: TimeZone) -> Self {
        Self { zone, second: None, text: String::new(), offset: String::new() }
    }

    /// To the nanosecond, zeros at the end cut: `2026-11-21T21:19:31.5Z`. `at` is nanoseconds since
    /// the Unix epoch.
    pub(crate) fn push_nano(&mut self, out: &mut Vec<u8>, at: u64) {
        self.turn_to(at / SECOND);
        out.extend_from_slice(self.text.as_bytes());
        let mut nanos = at % SECOND;
        if nanos > 0 {
            let mut digits = 9;
            while nanos.is_multiple_of(10) {
                nanos /= 10;
                digits -= 1;
            }
            out.push(b'.');
            push_whole(out, nanos, digits);
        }
        out.extend_from_slice(self.offset.as_bytes());
    }

    /// To the second.
    pub(crate) fn push_second(&mut self, out: &mut Vec<u8>, at: u64) {
        self.turn_to(at / SECOND);
        out.extend_from_slice(self.text.as_bytes());
        out.extend_from_slice(self.offset.as_bytes());
    }

    fn turn_to(&mut self, second: u64) {
        if self.second == Some(second) {
            return;
        }
        let moment = Timestamp::from_second(second as i64)
            .expect("64 bits of nanoseconds end in 2554, and jiff's time in 9999")
            .to_zoned(self.zone.clone());
        let offset = moment.offset().seconds();
        self.second = Some(second);
        self.text = moment.datetime().to_string();
        self.offset = if offset == 0 {
            "Z".to_owned()
        } else {
            let sign = if offset < 0 { '-' } else { '+' };
            let minutes = offset.unsigned_abs() / 60;
            format!("{sign}{:02}:{:02}", minutes / 60, minutes % 60)
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_written_as_in_go() {
        let written = |zone: TimeZone, at| {
            let mut out = Vec::new();
            Stamps::new(zone).push_nano(&mut out, at);
            String::from_utf8(out).unwrap()
        };
        let at = 1_795_297_950_622_692_600;
        assert_eq!(written(TimeZone::UTC, at), "2026-11-21T21:52:30.6226926Z");
        let east = TimeZone::fixed(jiff::tz::offset(1));
        assert_eq!(written(east, at), "2026-11-21T22:52:30.6226926+01:00");
        let west = TimeZone::fixed(jiff::tz::Offset::from_seconds(-12_600).unwrap());
        assert_eq!(written(west, 1_795_297_950 * SECOND), "2026-11-21T18:22:30-03:30");
        assert_eq!(written(TimeZone::UTC, SECOND + 1), "1970-01-01T00:00:01.000000001Z");
        assert!(written(TimeZone::UTC, u64::MAX).starts_with("2554-07-21T"));
    }
}
