//! Iterations that come as users come who know nothing of each other.

use std::cell::RefCell;

use crate::rhythm::mixed;

/// The number of iterations that are drawn together. Each such block takes exactly as long as it does at an even pace, so
/// that rates hold in the long run, however long; within it the gaps are those of a Poisson process. Drawing one takes some
/// fifty microseconds and 32 KiB.
const BLOCK: u64 = 4096;

/// Blocks that a thread keeps: those of more scenarios at once are drawn again and again.
const KEPT_MAX: usize = 8;

/// A block as it was drawn: the places of its iterations in it, ascending, from 0 to below [`BLOCK`].
struct Drawn {
    seed: u64,
    block: u64,
    places: Box<[f64]>,
}

thread_local! {
    /// The blocks that were drawn last on this thread: a core asks for the iterations of a block one after the other.
    static KEPT: RefCell<Vec<Drawn>> = const { RefCell::new(Vec::new()) };
}

/// The place of each iteration on a scale on which an even pace has the whole numbers.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Poisson {
    seed: u64,
}

impl Poisson {
    pub(super) fn new(seed: u64) -> Self {
        Self { seed }
    }

    /// The place of iteration `k`, which counts from 0.
    pub(super) fn place(&self, k: u64) -> f64 {
        let (block, index) = (k / BLOCK, (k % BLOCK) as usize);
        (block * BLOCK) as f64 + self.of_block(block, |places| places[index])
    }

    /// How many iterations have a place up to here.
    pub(super) fn count(&self, end: f64) -> u64 {
        let block = (end / BLOCK as f64) as u64;
        let rest = end - (block * BLOCK) as f64;
        let within = self.of_block(block, |places| places.partition_point(|place| *place <= rest));
        block.saturating_mul(BLOCK).saturating_add(within as u64)
    }

    fn of_block<R>(&self, block: u64, look: impl FnOnce(&[f64]) -> R) -> R {
        KEPT.with_borrow_mut(|kept| {
            let is_it = |drawn: &Drawn| drawn.seed == self.seed && drawn.block == block;
            if let Some(drawn) = kept.iter().find(|drawn| is_it(drawn)) {
                return look(&drawn.places);
            }
            // The block before is needed no more.
            match kept.iter().position(|drawn| drawn.seed == self.seed) {
                Some(old) => drop(kept.remove(old)),
                None if kept.len() >= KEPT_MAX => drop(kept.remove(0)),
                None => {}
            }
            let places = self.draw(block);
            let answer = look(&places);
            kept.push(Drawn { seed: self.seed, block, places });
            answer
        })
    }

    /// Exponential gaps, one more than there are iterations, stretched so that together they are as long as the block: as
    /// far as is known how many iterations come in a time, theirs are the places of a Poisson process.
    fn draw(&self, block: u64) -> Box<[f64]> {
        let start = mixed(self.seed ^ mixed(block));
        let mut sum = 0.0;
        let mut gap = |index: u64| {
            // More than 0, at most 1.
            let uniform = ((mixed(start ^ mixed(index)) >> 11) + 1) as f64 / (1_u64 << 53) as f64;
            sum -= uniform.ln();
            sum
        };
        let mut places: Box<[f64]> = (0..BLOCK).map(&mut gap).collect();
        let whole = gap(BLOCK);
        for place in &mut places {
            *place *= BLOCK as f64 / whole;
        }
        places
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The variance of counts per window, over their mean: 1 for a Poisson process, near 0 for an even pace.
    fn dispersion(places: &[f64], window: f64) -> f64 {
        let windows = (places[places.len() - 1] / window) as usize;
        let mut counts = vec![0.0_f64; windows];
        for place in places {
            if let Some(count) = counts.get_mut((place / window) as usize) {
                *count += 1.0;
            }
        }
        let mean = counts.iter().sum::<f64>() / windows as f64;
        counts.iter().map(|count| (count - mean).powi(2)).sum::<f64>() / windows as f64 / mean
    }

    #[test]
    fn gaps_are_exponential_and_counts_are_those_of_a_poisson_process() {
        let poisson = Poisson::new(7);
        let places: Vec<f64> = (0..20 * BLOCK).map(|k| poisson.place(k)).collect();
        assert!(places.is_sorted());
        let gaps: Vec<f64> = places.windows(2).map(|pair| pair[1] - pair[0]).collect();
        for gap in [0.1, 0.5, 1.0, 2.0, 4.0_f64] {
            let share = gaps.iter().filter(|one| **one > gap).count() as f64 / gaps.len() as f64;
            assert!((share - (-gap).exp()).abs() < 0.006, "{share} of the gaps are above {gap}");
        }
        let dispersion = [1.0, 10.0, 100.0].map(|window| dispersion(&places, window));
        assert!(dispersion.iter().all(|found| (found - 1.0).abs() < 0.1), "{dispersion:?}");
    }

    #[test]
    fn in_the_long_run_there_are_as_many_as_at_an_even_pace() {
        let poisson = Poisson::new(3);
        for blocks in 1..10 {
            assert_eq!(poisson.count((blocks * BLOCK) as f64), blocks * BLOCK);
        }
        let (count, end) = (poisson.count(5000.0), 5000.0);
        assert!(poisson.place(count - 1) <= end && poisson.place(count) > end);
    }

    #[test]
    fn a_seed_gives_the_same_places_in_any_order() {
        let (one, other) = (Poisson::new(1), Poisson::new(2));
        let asked = [9000, 1, 5000, 2, 9000];
        let first = asked.map(|k| one.place(k));
        let _ = other.place(9000);
        assert_eq!(
            first.map(f64::to_bits),
            asked.map(|k| Poisson::new(1).place(k)).map(f64::to_bits)
        );
        assert_ne!(first[0].to_bits(), other.place(9000).to_bits());
    }
}
