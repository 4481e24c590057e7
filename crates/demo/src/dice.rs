//! The one source of artificial randomness, repeatable by a seed and shared without a lock.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// A SplitMix64 generator whose state is a counter, so that threads may roll at once.
#[derive(Debug)]
pub(crate) struct Dice {
    state: AtomicU64,
}

impl Dice {
    /// Dice that roll the same for the same `seed`; without one they differ in each run.
    pub(crate) fn new(seed: Option<u64>) -> Self {
        let seed = seed.unwrap_or_else(|| fastrand::u64(..));
        Self { state: AtomicU64::new(mix(seed)) }
    }

    /// 64 bits, each of which may be either.
    pub(crate) fn bits(&self) -> u64 {
        mix(self.state.fetch_add(GOLDEN, Ordering::Relaxed))
    }

    /// A number from 0 to below 1.
    pub(crate) fn unit(&self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A whole number from 0 to below `end`, which is not 0.
    pub(crate) fn below(&self, end: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(end)) >> 64) as u64
    }

    /// True with this probability. 0 rolls nothing.
    pub(crate) fn chance(&self, probability: f64) -> bool {
        probability > 0.0 && self.unit() < probability
    }

    /// An exponentially distributed time with this mean, at most 20 times the mean.
    pub(crate) fn exponential(&self, mean: Duration) -> Duration {
        if mean.is_zero() {
            return mean;
        }
        mean.mul_f64((-(1.0 - self.unit()).ln()).min(20.0))
    }
}

/// SplitMix64's finaliser: neighbours become strangers.
pub(crate) fn mix(number: u64) -> u64 {
    let mut z = number.wrapping_add(GOLDEN);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_rolls_the_same() {
        let (a, b) = (Dice::new(Some(7)), Dice::new(Some(7)));
        for _ in 0..100 {
            assert_eq!(a.unit().to_bits(), b.unit().to_bits());
        }
    }

    #[test]
    fn an_exponential_time_has_its_mean() {
        let dice = Dice::new(Some(1));
        let total: Duration =
            (0..10_000).map(|_| dice.exponential(Duration::from_millis(10))).sum();
        let mean_ms = total.as_secs_f64() * 1000.0 / 10_000.0;
        assert!((9.5..10.5).contains(&mean_ms), "{mean_ms}");
    }

    #[test]
    fn probability_zero_never_and_one_always() {
        let dice = Dice::new(Some(3));
        assert!((0..1000).all(|_| !dice.chance(0.0) && dice.chance(1.0)));
    }
}
