//! An arrival rate that is set while the test runs.

use std::time::Duration;

const SECOND: f64 = 1e9;

/// Changes that are kept: whoever is further behind than this many takes the oldest for the beginning.
const LEGS_MAX: usize = 256;

/// An open workload whose rate is told as it goes on: iteration k is due at [`due(k)`](Self::due), as in
/// [`Arrivals`](crate::Arrivals). Each change begins a leg of constant rate; the past stays as it was, so all cores agree.
#[derive(Clone, Debug, PartialEq)]
pub struct Course {
    /// Never empty; starts ascend, and so do numbers.
    legs: Vec<Leg>,
    /// Nothing is due from here on; nanoseconds.
    end: Option<u64>,
}

/// A stretch of constant rate.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Leg {
    /// Nanoseconds since the scenario's start.
    start: u64,
    /// Iterations per second.
    rate: f64,
    /// The number of its first iteration.
    first: u64,
}

impl Leg {
    /// When the n-th of this leg is due; none if its rate is 0.
    fn due(&self, n: u64) -> Option<u64> {
        (self.rate > 0.0).then(|| self.start.saturating_add((n as f64 / self.rate * SECOND) as u64))
    }

    /// How many are due before `at`.
    fn count(&self, at: u64) -> u64 {
        let past = at.saturating_sub(self.start);
        let mut count = (past as f64 / SECOND * self.rate).ceil() as u64;
        // Rounding errs by one at most; `due` decides.
        while count > 0 && self.due(count - 1).is_none_or(|due| due >= at) {
            count -= 1;
        }
        while self.due(count).is_some_and(|due| due < at) {
            count += 1;
        }
        count
    }
}

impl Default for Course {
    /// Nothing is due until a rate is set.
    fn default() -> Course {
        Course { legs: vec![Leg { start: 0, rate: 0.0, first: 0 }], end: None }
    }
}

impl Course {
    /// From `at` (since the scenario's start) on there are `rate` iterations per second; 0 for none. A moment before the
    /// last change is taken for that change's.
    pub fn set(&mut self, at: Duration, rate: f64) {
        let rate = if rate.is_finite() { rate.max(0.0) } else { 0.0 };
        let last = self.legs[self.legs.len() - 1];
        let start = nanos(at).max(last.start);
        let leg = Leg { start, rate, first: last.first + last.count(start) };
        if start == last.start {
            self.legs.pop();
        }
        if self.legs.len() >= LEGS_MAX {
            self.legs.remove(0);
        }
        self.legs.push(leg);
    }

    /// From `at` on nothing is due, ever.
    pub fn end(&mut self, at: Duration) {
        self.end = Some(nanos(at));
    }

    /// Whether nothing more can be set.
    pub fn is_ended(&self) -> bool {
        self.end.is_some()
    }

    /// When the k-th iteration (from 0) is due, since the scenario's start; none if that is not known yet, or never.
    pub fn due(&self, k: u64) -> Option<Duration> {
        let after = self.legs.partition_point(|leg| leg.first <= k);
        let due = match after.checked_sub(1) {
            // Legs without iterations have the same first number; the last of them has it.
            Some(index) => self.legs[index].due(k - self.legs[index].first)?,
            None => self.legs[0].start,
        };
        self.end.is_none_or(|end| due < end).then(|| Duration::from_nanos(due))
    }

    /// How many iterations are due before `at`.
    pub fn count(&self, at: Duration) -> u64 {
        let at = self.end.map_or(nanos(at), |end| end.min(nanos(at)));
        let after = self.legs.partition_point(|leg| leg.start <= at).max(1);
        let leg = &self.legs[after - 1];
        leg.first + leg.count(at)
    }

    /// Iterations per second at `at`.
    pub fn rate_at(&self, at: Duration) -> f64 {
        let at = nanos(at);
        if self.end.is_some_and(|end| at >= end) {
            return 0.0;
        }
        let after = self.legs.partition_point(|leg| leg.start <= at);
        after.checked_sub(1).map_or(0.0, |index| self.legs[index].rate)
    }
}

fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::secs;

    fn due_ms(course: &Course) -> Vec<u64> {
        let moments = (0..).map_while(|k| course.due(k)).take(30);
        moments.map(|due| due.as_millis() as u64).collect()
    }

    #[test]
    fn nothing_is_due_before_a_rate_is_set_and_nothing_after_the_end() {
        let mut course = Course::default();
        assert_eq!(course.due(0), None);
        course.set(secs(1), 4.0);
        course.end(secs(2));
        assert_eq!(due_ms(&course), [1000, 1250, 1500, 1750]);
        assert_eq!(
            (course.count(secs(9)), course.rate_at(secs(1)), course.rate_at(secs(2))),
            (4, 4.0, 0.0)
        );
    }

    #[test]
    fn a_change_leaves_the_past_as_it_was() {
        let mut course = Course::default();
        course.set(secs(0), 2.0);
        let before: Vec<_> = (0..4).map(|k| course.due(k)).collect();
        course.set(secs(2), 10.0);
        assert_eq!((0..4).map(|k| course.due(k)).collect::<Vec<_>>(), before);
        course.set(Duration::from_millis(2250), 0.0);
        course.set(secs(5), 1.0);
        course.end(secs(7));
        assert_eq!(due_ms(&course), [0, 500, 1000, 1500, 2000, 2100, 2200, 5000, 6000]);
    }

    #[test]
    fn moments_never_go_back_and_numbers_are_never_lost() {
        let random = &mut fastrand::Rng::with_seed(3);
        for _ in 0..200 {
            let mut course = Course::default();
            let mut at = Duration::ZERO;
            for _ in 0..20 {
                course.set(at, if random.bool() { random.f64() * 500.0 } else { 0.0 });
                at += Duration::from_nanos(random.u64(0..500_000_000));
            }
            course.end(at);
            let all: Vec<_> = (0..).map_while(|k| course.due(k)).collect();
            assert!(all.is_sorted());
            assert_eq!(all.len() as u64, course.count(at));
            let middle = at / 2;
            let before = all.iter().filter(|due| **due < middle).count() as u64;
            assert_eq!(course.count(middle), before);
        }
    }

    #[test]
    fn old_changes_are_forgotten() {
        let mut course = Course::default();
        for second in 0..1000 {
            course.set(secs(second), 1.0);
        }
        assert_eq!(course.legs.len(), LEGS_MAX);
        assert_eq!(course.due(999), Some(secs(999)));
        assert_eq!(course.due(0), Some(secs(1000 - LEGS_MAX as u64)));
    }
}
