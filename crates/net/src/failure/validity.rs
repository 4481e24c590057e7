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
    /// Go's words behind "has expired or is not yet valid".
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let side = if self.now > self.limit { "after" } else { "before" };
        write!(f, ": current time {} is {side} {}", utc(self.now), utc(self.limit))
    }
}

/// `2020-09-13T12:26:40Z`.
fn utc(unix_seconds: u64) -> String {
    brunt_moment::utc(i64::try_from(unix_seconds).unwrap_or(i64::MAX))
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
