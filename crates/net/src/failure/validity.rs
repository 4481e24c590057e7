//! When a certificate is valid, and when it was looked at.

use std::fmt;

/// A certificate that is too old or too new: both moments in seconds since the Unix epoch.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Validity {
    /// When it was looked at.
    pub now: u64,
    /// Its last second if that is before `now`, its first one otherwise.
    pub limit: u64,
}

impl fmt::Display for Validity {
    /// What Go says behind "has expired or is not yet valid".
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let side = if self.now > self.limit { "after" } else { "before" };
        write!(f, ": current time {} is {side} {}", Utc(self.now), Utc(self.limit))
    }
}

/// `2020-09-13T12:26:40Z`.
struct Utc(u64);

impl fmt::Display for Utc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month, day) = date(self.0 / 86_400);
        let second = self.0 % 86_400;
        let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
    }
}

/// The date of the Gregorian calendar, so many days after 1970-01-01 (Howard Hinnant's formula).
fn date(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    (era * 400 + year_of_era + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_moments_are_told_as_go_writes_them() {
        let old = Validity { now: 1_795_353_899, limit: 1_600_000_000 };
        assert_eq!(
            old.to_string(),
            ": current time 2026-11-22T13:24:59Z is after 2020-09-13T12:26:40Z"
        );
        let new = Validity { now: 951_782_400, limit: 4_000_000_000 };
        assert_eq!(
            new.to_string(),
            ": current time 2000-02-29T00:00:00Z is before 2096-10-02T07:06:40Z"
        );
    }
}
