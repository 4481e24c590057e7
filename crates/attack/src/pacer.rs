//! When each hit is due: a formula, not a loop.

mod ramp;
mod sine;
mod text;

use std::time::Duration;

pub use ramp::Ramp;
pub use sine::{Sine, SineError};
pub use text::InvalidPacer;

use brunt_schedule::Rate;

/// When hits are due, counted from the start of an attack. The first is due at once.
#[derive(Clone, Debug, PartialEq)]
pub enum Pacer {
    /// Never: each worker sends its next hit when its last one ended.
    Unlimited,
    /// At a steady rate (which isn't unlimited).
    Constant(Rate),
    /// At rates that go up and down in straight lines.
    Ramp(Ramp),
    /// At a rate that swings.
    Sine(Sine),
}

impl Pacer {
    /// The pacer of a rate: [`Pacer::Unlimited`] if that is 0.
    pub fn of_rate(rate: Rate) -> Self {
        if rate.hits == 0 { Self::Unlimited } else { Self::Constant(rate) }
    }

    /// When hit `n` (counted from 0) is due: nanoseconds from the start. `None`: never, as the pacer has come to its
    /// end (or has no schedule at all). Later hits are never due earlier.
    pub fn due(&self, n: u64) -> Option<u64> {
        match self {
            Self::Unlimited => None,
            Self::Constant(rate) => {
                let ns = u128::from(n) * rate.per.as_nanos() / u128::from(rate.hits);
                u64::try_from(ns).ok()
            }
            Self::Ramp(ramp) => ramp.due(n),
            Self::Sine(sine) => sine.due(n),
        }
    }

    /// Hits a second, at a moment counted from the start.
    pub fn rate(&self, at: Duration) -> f64 {
        match self {
            Self::Unlimited => f64::INFINITY,
            Self::Constant(rate) => rate.hits_per_second(),
            Self::Ramp(ramp) => ramp.rate(at),
            Self::Sine(sine) => sine.rate(at),
        }
    }

    /// How many hits are due before this moment.
    pub fn hits_before(&self, moment: Duration) -> u64 {
        let moment = u64::try_from(moment.as_nanos()).unwrap_or(u64::MAX);
        let is_before = |n| self.due(n).is_some_and(|due| due < moment);
        if !is_before(0) {
            return 0;
        }
        // Hit `low` is due before it, hit `high` isn't.
        let (mut low, mut high) = (0, 1);
        while is_before(high) {
            (low, high) = (high, high.saturating_mul(2));
            if low == high {
                return high;
            }
        }
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if is_before(middle) { low = middle } else { high = middle }
        }
        high
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn constant(text: &str) -> Pacer {
        Pacer::of_rate(Rate::parse(text).unwrap())
    }

    #[test]
    fn a_steady_rate_is_exact_however_long_it_lasts() {
        let pacer = constant("3/s");
        let dues: Vec<_> = (0..5).map(|n| pacer.due(n).unwrap()).collect();
        assert_eq!(dues, [0, 333_333_333, 666_666_666, 1_000_000_000, 1_333_333_333]);
        assert_eq!(pacer.due(3_000_000_000), Some(1_000_000_000_000_000_000));
        assert_eq!(constant("1/3s").due(1), Some(3_000_000_000));
    }

    #[test]
    fn the_hits_of_a_time_are_counted() {
        let count = |text, secs| constant(text).hits_before(Duration::from_secs(secs));
        assert_eq!((count("50", 2), count("5", 1), count("1000", 300)), (100, 5, 300_000));
        assert_eq!((count("1/3s", 1), count("7", 0), count("0", 5)), (1, 0, 0));
    }
}
