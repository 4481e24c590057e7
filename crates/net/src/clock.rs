//! The one place where this crate reads a clock.

use std::sync::OnceLock;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// A clock: nanoseconds since the Unix epoch, never going back. [`now`] is one; a caller that has
/// a clock of its own hands that in, so that all its moments lie on one line.
pub type Clock = fn() -> u64;

/// Nanoseconds since the Unix epoch, from the monotonic clock, anchored to the wall clock once per
/// process. Costs about 20 ns; an exchange on a kept connection reads it four times.
pub fn now() -> u64 {
    static ANCHOR: OnceLock<(Instant, u64)> = OnceLock::new();
    let (anchor, unix) = ANCHOR.get_or_init(|| {
        let unix = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        (Instant::now(), unix.as_nanos() as u64)
    });
    unix + anchor.elapsed().as_nanos() as u64
}

/// Where a [`Clock`] and tokio's clock meet, so that deadlines of the one can be awaited by the
/// other.
#[derive(Copy, Clone, Debug)]
pub struct Anchor {
    at: u64,
    instant: tokio::time::Instant,
}

impl Anchor {
    /// They meet now.
    pub fn new(clock: Clock) -> Self {
        Self { at: clock(), instant: tokio::time::Instant::from_std(Instant::now()) }
    }

    /// The tokio instant of a moment of the clock.
    #[inline]
    pub fn instant(self, at: u64) -> tokio::time::Instant {
        let ahead = std::time::Duration::from_nanos(at.saturating_sub(self.at));
        // A moment before the anchor is long over: the anchor itself is as good.
        self.instant.checked_add(ahead).unwrap_or(self.instant)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_never_goes_back_and_is_near_the_wall() {
        let first = now();
        let second = now();
        assert!(second >= first);
        let wall = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos() as u64;
        assert!(wall.abs_diff(second) < 60_000_000_000);
    }
}
