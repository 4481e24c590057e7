//! The values of the last minutes, in bounded memory.

use std::collections::VecDeque;
use std::time::Duration;

use crate::metric::Kind;
use crate::sink::Sink;
use crate::threshold::Timing;

/// At most this many parts make up a window. A longer window has wider parts: it reaches up to one part, a thirtieth of
/// itself, too far back. Up to a minute a part is a second.
const PARTS_MAX: u128 = 60;

/// The values of a metric in the last parts of time; all windows with parts of its width share it. Older values than those of the
/// longest window are dropped.
#[derive(Debug)]
pub(super) struct Ring {
    width: Duration,
    /// How many parts the longest window has.
    longest: u64,
    /// Which part of time and its values; the oldest comes first.
    parts: VecDeque<(u64, Sink)>,
    /// The values since the last look, when that was, and the last part that it sees.
    fresh: Sink,
    looked: Duration,
    last: u64,
}

/// The width of the parts of a window.
pub(super) fn width(window: Duration) -> Duration {
    let mut width = Timing::WINDOW_MIN;
    while window.as_nanos() > width.as_nanos() * PARTS_MAX {
        width *= 2;
    }
    width
}

impl Ring {
    pub(super) fn new(kind: Kind, width: Duration) -> Self {
        let (parts, fresh) = (VecDeque::new(), Sink::empty(kind));
        Self { width, longest: 0, parts, fresh, looked: Duration::ZERO, last: 0 }
    }

    pub(super) fn width(&self) -> Duration {
        self.width
    }

    /// How many parts it keeps.
    #[cfg(test)]
    pub(super) fn parts(&self) -> usize {
        self.parts.len()
    }

    /// Makes room for a window.
    pub(super) fn reserve(&mut self, window: Duration) {
        self.longest = self.longest.max(self.parts_of(window));
    }

    fn parts_of(&self, window: Duration) -> u64 {
        window.as_nanos().div_ceil(self.width.as_nanos()) as u64
    }

    pub(super) fn absorb(&mut self, sink: &Sink) {
        self.fresh.merge(sink);
    }

    /// Forgets the values so far, and counts time from here on.
    pub(super) fn begin(&mut self) {
        self.parts.clear();
        self.fresh = Sink::empty(self.fresh.kind());
        (self.looked, self.last) = (Duration::ZERO, 0);
    }

    /// Takes values in that were measured at this moment, though they come later. Those that are too old for every window are
    /// left out; a moment too far ahead counts as one that is less so, so that there are never many parts.
    pub(super) fn absorb_at(&mut self, sink: &Sink, moment: Duration) {
        let part = (moment.as_nanos() / self.width.as_nanos()) as u64;
        let part = part.min(self.last + PARTS_MAX as u64);
        if part + self.longest <= self.last {
            return;
        }
        let at = self.parts.partition_point(|(other, _)| *other < part);
        match self.parts.get_mut(at) {
            Some((other, own)) if *other == part => own.merge(sink),
            _ => self.parts.insert(at, (part, sink.clone())),
        }
    }

    /// Puts the values since the last look where they belong: into the part in which the middle between both looks lies,
    /// so that a look that comes a little early or late moves nothing.
    pub(super) fn settle(&mut self, now: Duration) {
        let middle = (self.looked + now.max(self.looked)) / 2;
        let part = (middle.as_nanos() / self.width.as_nanos()) as u64;
        self.looked = now.max(self.looked);
        let empty = Sink::empty(self.fresh.kind());
        let fresh = std::mem::replace(&mut self.fresh, empty);
        match self.parts.back_mut() {
            Some((last, sink)) if *last >= part => sink.merge(&fresh),
            _ => self.parts.push_back((part, fresh)),
        }
        let back = self.parts.back().map_or(part, |(last, _)| *last);
        let now = self.looked.saturating_sub(Duration::from_nanos(1));
        self.last = back.min((now.as_nanos() / self.width.as_nanos()) as u64).max(part);
        while self.parts.front().is_some_and(|(first, _)| first + self.longest <= part) {
            self.parts.pop_front();
        }
    }

    /// The values of a window up to the last look, and the time that they took.
    pub(super) fn over(&self, window: Duration) -> (Sink, Duration) {
        let mut all = Sink::empty(self.fresh.kind());
        let first = (self.last + 1).saturating_sub(self.parts_of(window));
        for (_, sink) in self.parts.iter().filter(|(part, _)| (first..=self.last).contains(part)) {
            all.merge(sink);
        }
        if let Sink::Trend(trend) = &mut all {
            trend.sort();
        }
        let start = Duration::from_nanos_u128(self.width.as_nanos() * u128::from(first));
        (all, self.looked.saturating_sub(start))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn counted(ring: &Ring, window: Duration) -> (f64, Duration) {
        match ring.over(window) {
            (Sink::Counter { sum, .. }, over) => (sum, over),
            (other, _) => panic!("{other:?}"),
        }
    }

    fn one() -> Sink {
        Sink::Counter { sum: 1.0, rest: 0.0, first_at: Some(1) }
    }

    #[test]
    fn a_window_has_the_values_of_its_last_seconds_alone() {
        let mut ring = Ring::new(Kind::Counter, width(SECOND * 10));
        ring.reserve(SECOND * 10);
        for second in 1..=100 {
            ring.absorb(&one());
            // Looks are never quite on time.
            let late = Duration::from_millis(u64::from(second * 37 % 200));
            ring.settle(SECOND * second + late);
            assert!(ring.parts.len() <= 10);
        }
        assert_eq!(counted(&ring, SECOND * 10).0, 10.0);
        assert_eq!(counted(&ring, SECOND * 3).0, 3.0);
    }

    #[test]
    fn long_windows_have_wide_parts_and_no_more_of_them() {
        for seconds in [1, 59, 60, 61, 119, 120, 600, 86_400] {
            let window = SECOND * seconds;
            let mut ring = Ring::new(Kind::Counter, width(window));
            ring.reserve(window);
            for second in 1..=seconds * 2 {
                ring.absorb(&one());
                ring.settle(SECOND * second);
            }
            assert!(ring.parts.len() <= 60, "{seconds}");
            let (count, over) = counted(&ring, window);
            assert_eq!(count, over.as_secs_f64(), "{seconds}");
            let most = f64::from(seconds) * (1.0 + 1.0 / 30.0);
            let least = f64::from(seconds) * (1.0 - 1.0 / 30.0);
            assert!((least..=most).contains(&count), "{seconds}: {count}");
        }
    }

    #[test]
    fn values_that_come_late_count_where_they_belong() {
        let mut ring = Ring::new(Kind::Counter, SECOND);
        ring.reserve(SECOND * 2);
        // The look at a second comes when the values of the next two are there.
        for second in 1..=20 {
            for of in if second == 1 { 0..=2 } else { second + 1..=second + 1 } {
                ring.absorb_at(&one(), SECOND * of + SECOND / 2);
            }
            ring.settle(SECOND * second);
            let seconds = second.min(2);
            assert_eq!(counted(&ring, SECOND * 2), (f64::from(seconds), SECOND * seconds));
            assert!(ring.parts.len() <= 4);
        }
        ring.absorb_at(&one(), SECOND);
        ring.absorb_at(&one(), SECOND * 1_000_000);
        assert_eq!(counted(&ring, SECOND * 2).0, 2.0);
        ring.settle(SECOND * 21);
        assert!(ring.parts.len() <= 4);
    }

    #[test]
    fn values_that_come_after_a_look_at_the_same_moment_are_not_lost() {
        let mut ring = Ring::new(Kind::Counter, SECOND);
        ring.reserve(SECOND * 5);
        for _ in 0..3 {
            ring.absorb(&one());
            ring.settle(SECOND * 2);
        }
        assert_eq!(counted(&ring, SECOND * 5), (3.0, SECOND * 2));
    }
}
