//! Which exchanges are worth keeping, on one core: a look at two numbers for each that is not.

use std::collections::BinaryHeap;

use rustc_hash::FxHashMap;

use super::Why;

/// The first of each kind of failure.
pub(super) const FAILURES_EACH: u8 = 5;
/// The slowest ones.
pub(super) const SLOWEST: usize = 20;
/// At random.
pub(super) const RANDOM: usize = 20;
/// Kinds of failures of which a core keeps any.
const KINDS_MAX: usize = 1000;

/// One core's choice. [`EvidenceStore`](super::EvidenceStore) has the choices of all cores and chooses among them again.
#[derive(Debug, Default)]
pub struct Picker {
    /// Their durations in whole nanoseconds, the least on top.
    slowest: BinaryHeap<std::cmp::Reverse<u64>>,
    /// Numbers that were drawn for them, the greatest on top.
    drawn: BinaryHeap<u64>,
    failures: FxHashMap<u64, u8>,
}

/// Why an exchange is to be kept; nothing if it isn't.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Picked {
    /// It failed.
    pub failure: bool,
    /// It was slow.
    pub slow: bool,
    /// Its lot was drawn: those with the least numbers stay.
    pub lot: Option<u64>,
}

impl Picked {
    /// Whether it is kept at all.
    pub fn is_kept(self) -> bool {
        self.failure || self.slow || self.lot.is_some()
    }

    /// All reasons.
    pub fn reasons(self) -> impl Iterator<Item = Why> {
        let reasons = [
            (self.failure, Why::Failure),
            (self.slow, Why::Slow),
            (self.lot.is_some(), Why::Random),
        ];
        reasons.into_iter().filter(|(is_so, _)| *is_so).map(|(_, why)| why)
    }
}

impl Picker {
    /// Looks at an exchange that took this number of nanoseconds. `failed`: a number for the kind of its failure. `lot`: any
    /// number, drawn anew for each.
    #[inline]
    pub fn pick(&mut self, nanos: u64, failed: Option<u64>, lot: u64) -> Picked {
        let slow = self.slowest.len() < SLOWEST
            || self.slowest.peek().is_some_and(|least| nanos > least.0);
        let is_drawn =
            self.drawn.len() < RANDOM || self.drawn.peek().is_some_and(|greatest| lot < *greatest);
        if !slow && !is_drawn && failed.is_none() {
            return Picked::default();
        }
        if slow {
            if self.slowest.len() >= SLOWEST {
                self.slowest.pop();
            }
            self.slowest.push(std::cmp::Reverse(nanos));
        }
        if is_drawn {
            if self.drawn.len() >= RANDOM {
                self.drawn.pop();
            }
            self.drawn.push(lot);
        }
        let failure = failed.is_some_and(|kind| self.is_among_first(kind));
        Picked { failure, slow, lot: is_drawn.then_some(lot) }
    }

    fn is_among_first(&mut self, kind: u64) -> bool {
        if self.failures.len() >= KINDS_MAX && !self.failures.contains_key(&kind) {
            return false;
        }
        let count = self.failures.entry(kind).or_default();
        let is_first = *count < FAILURES_EACH;
        *count += u8::from(is_first);
        is_first
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slowest_and_the_first_of_each_failure_are_kept() {
        let mut picker = Picker::default();
        let picked: Vec<_> = (0..1000u64)
            .map(|n| picker.pick(1000 - n, (n >= 500).then_some(n % 2), u64::MAX))
            .collect();
        assert_eq!(picked.iter().filter(|picked| picked.slow).count(), SLOWEST);
        assert_eq!(picked.iter().filter(|picked| picked.failure).count(), 10);
        assert!(picked[500].failure && !picked[510].failure);
        assert!(picker.pick(5000, None, u64::MAX).slow);
    }

    #[test]
    fn lots_are_drawn_less_and_less_often() {
        let mut picker = Picker::default();
        let mut random = fastrand::Rng::with_seed(7);
        let kept = (0..100_000).filter(|_| picker.pick(1, None, random.u64(..)).lot.is_some());
        let kept = kept.count();
        // 20 · (1 + ln(100 000 / 20))
        assert!((120..280).contains(&kept), "{kept}");
    }
}
