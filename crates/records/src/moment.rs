//! Moments of records as RFC 3339 writes them, each in its own zone: `2026-11-21T18:59:01.895402269Z`.

use brunt_moment::{Stamps, zone};

use crate::Timestamp;

/// Writes the moments of records: mostly the next one has the zone and the second of the one before.
#[derive(Clone, Debug)]
pub(crate) struct Moments {
    minutes_east: i16,
    stamps: Stamps,
}

impl Default for Moments {
    fn default() -> Self {
        Self::east(0)
    }
}

impl Moments {
    fn east(minutes_east: i16) -> Self {
        Self { minutes_east, stamps: Stamps::new(zone(minutes_east)) }
    }

    /// Appends a moment in its own zone, with as many digits as it needs.
    pub(crate) fn write(&mut self, out: &mut Vec<u8>, moment: Timestamp) {
        let minutes_east = moment.zone_minutes().unwrap_or(0);
        if minutes_east != self.minutes_east {
            *self = Self::east(minutes_east);
        }
        self.stamps.push_nano(out, moment.unix_ns());
    }
}

/// The same as a text.
pub(crate) fn text(moment: Timestamp) -> String {
    let mut out = Vec::with_capacity(35);
    Moments::default().write(&mut out, moment);
    String::from_utf8(out).expect("digits and signs are ASCII")
}

/// Reads the moments of records. Those before 1970 are read as the epoch, for `Timestamp` knows none.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reader {
    moments: brunt_moment::Reader,
}

impl Reader {
    pub(crate) fn read(&mut self, text: &str) -> Option<Timestamp> {
        let (ns, zone) = self.moments.read(text)?;
        let moment = Timestamp::from_unix_ns(u64::try_from(ns.max(0)).ok()?);
        Some(zone.map_or(moment, |minutes| moment.in_zone(minutes)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_print_and_read_back() {
        let mut moments = Moments::default();
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
            assert_eq!(Reader::default().read(written), Some(moment));
            let mut out = Vec::new();
            moments.write(&mut out, moment);
            assert_eq!(String::from_utf8(out).unwrap(), written);
        }
    }

    #[test]
    fn what_was_before_1970_is_its_beginning() {
        assert_eq!(
            Reader::default().read("0001-01-01T00:00:00Z"),
            Some(Timestamp::from_unix_ns(0))
        );
        assert_eq!(Reader::default().read("2026-11-21"), None);
    }
}
