//! Counting what is different without keeping it.

use std::sync::Arc;

use crate::series::Series;

/// 2¹⁴ registers: 16 KiB for an error of about 0.8 % (HyperLogLog: Flajolet et al., 2007).
const BITS: u32 = 14;
const REGISTERS: usize = 1 << BITS;

/// How many different series were seen, about.
#[derive(Debug)]
pub(super) struct Distinct {
    registers: Box<[u8]>,
}

impl Default for Distinct {
    fn default() -> Self {
        Self { registers: vec![0; REGISTERS].into_boxed_slice() }
    }
}

impl Distinct {
    pub(super) fn add(&mut self, series: &Arc<Series>) {
        self.add_hash(mix(series.tags.stable_hash() ^ mix(u64::from(series.metric.0))));
    }

    fn add_hash(&mut self, hash: u64) {
        let register = &mut self.registers[(hash >> (64 - BITS)) as usize];
        let rank = (hash << BITS | 1 << (BITS - 1)).leading_zeros() as u8 + 1;
        *register = (*register).max(rank);
    }

    pub(super) fn count(&self) -> u64 {
        let registers = REGISTERS as f64;
        let untouched: usize = self.registers.iter().map(|rank| usize::from(*rank == 0)).sum();
        let harmonic: f64 = self.registers.iter().map(|rank| (-f64::from(*rank)).exp2()).sum();
        let estimate = 0.7213 / (1.0 + 1.079 / registers) * registers * registers / harmonic;
        if estimate <= 3.0 * registers && untouched > 0 {
            // Few: how many registers are still empty tells more (the other formula's bias is greatest
            // around 2.5 times the registers, hence 3 where the paper has 2.5).
            return (registers * (registers / untouched as f64).ln()).round() as u64;
        }
        estimate.round() as u64
    }
}

/// Spreads a weak hash over all bits (the finisher of splitmix64).
fn mix(mut bits: u64) -> u64 {
    bits = bits.wrapping_add(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_count_is_within_three_percent_and_repeats_do_not_count() {
        for many in [0u64, 1, 100, 5000, 40_000, 100_000, 1_000_000] {
            let mut distinct = Distinct::default();
            for number in (0..many).chain(0..many.min(1000)) {
                distinct.add_hash(mix(number));
            }
            let error = distinct.count().abs_diff(many);
            assert!(error * 33 <= many, "{many}: {}", distinct.count());
        }
    }
}
