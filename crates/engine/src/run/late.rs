//! Scenarios that begin at a moment somebody else has chosen.

use std::time::Duration;

use brunt_fiber::clock;

/// Iterations that are due this much before they can begin are late, not missed: any start has some lateness.
const TOLERATED: Duration = Duration::from_millis(100);

/// Watches for the moment at which scenarios are to begin. A run without a leader begins at once, and watches nothing.
pub(super) struct LateStart {
    /// Unix ns.
    launch: u64,
    is_led: bool,
    has_begun: bool,
}

impl LateStart {
    /// The scenarios begin at `launch` (unix ns), or their load is made from then on.
    pub(super) fn new(launch: u64, is_led: bool) -> LateStart {
        LateStart { launch, is_led, has_begun: false }
    }

    /// The moment before which all that was due is missed (unix ns), if the start is heard of too late.
    pub(super) fn missed_until(&self, now: u64) -> Option<u64> {
        let is_late = now.saturating_sub(self.launch) > clock::duration_ns(TOLERATED);
        (self.is_led && is_late).then_some(now)
    }

    /// The lateness in nanoseconds, once: at the first look after the moment has come.
    pub(super) fn began(&mut self, now: u64) -> Option<u64> {
        if !self.is_led || self.has_begun || now < self.launch {
            return None;
        }
        self.has_begun = true;
        Some(now - self.launch)
    }

    /// When to look again (unix ns).
    pub(super) fn awaited(&self) -> u64 {
        if self.is_led && !self.has_begun { self.launch } else { u64::MAX }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_start_in_time_misses_nothing_and_a_late_one_what_was_due_before() {
        let start = LateStart::new(1_000_000_000, true);
        assert_eq!(start.missed_until(900_000_000), None);
        assert_eq!(start.missed_until(1_050_000_000), None);
        assert_eq!(start.missed_until(3_000_000_000), Some(3_000_000_000));
        assert_eq!(LateStart::new(1_000_000_000, false).missed_until(3_000_000_000), None);
    }

    #[test]
    fn the_lateness_is_told_once() {
        let mut start = LateStart::new(100, true);
        assert_eq!((start.began(99), start.awaited()), (None, 100));
        assert_eq!((start.began(107), start.awaited()), (Some(7), u64::MAX));
        assert_eq!(start.began(108), None);
    }
}
