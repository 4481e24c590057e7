//! Distributions in bounded memory: exact while small, then a histogram.

mod bucket;
mod distribution;
mod paged;

use self::bucket::key_of;
use self::distribution::EXACT_MAX;
pub use self::distribution::{Bin, Distribution};
pub(crate) use self::paged::PagePool;
use self::paged::Paged;
use crate::stat::TrendStat;
use crate::sum::Sum;

/// As [`EXACT_MAX`], within one tick on one core, for a series that has had more than that already:
/// the ledger could not keep them exact anyway.
const EXACT_MAX_LATER: usize = 256;

/// A distribution: count, sum, least and greatest value exact, percentiles exact up to 4096 values
/// and within 0.1 % from then on.
///
/// Holds any finite or infinite value, no NaN.
#[derive(Clone, Debug)]
pub struct TrendSink {
    stats: Stats,
    values: Distribution,
}

#[derive(Clone, Copy, Debug)]
struct Stats {
    count: u64,
    sum: Sum,
    min: f64,
    max: f64,
}

impl Default for TrendSink {
    fn default() -> Self {
        Self { stats: Stats::EMPTY, values: Distribution::default() }
    }
}

impl TrendSink {
    /// The distribution of these values, NaNs left out.
    pub fn from_values(values: impl IntoIterator<Item = f64>) -> Self {
        let mut sink = Self::default();
        for value in values {
            sink.add(value);
        }
        sink
    }

    /// Adds one value; a NaN is ignored.
    pub fn add(&mut self, value: f64) {
        if value.is_nan() {
            return;
        }
        self.stats.add(value);
        self.values.add(value);
    }

    /// Adds all values of another distribution. The order of merging changes nothing.
    pub fn merge(&mut self, other: &Self) {
        self.stats.merge(&other.stats);
        self.values.merge(&other.values);
    }

    /// How many values.
    pub fn count(&self) -> u64 {
        self.stats.count
    }

    /// Their sum.
    pub fn sum(&self) -> f64 {
        self.stats.sum.value()
    }

    /// The same, with what a float has no room for.
    pub fn whole_sum(&self) -> Sum {
        self.stats.sum
    }

    /// The values themselves.
    pub fn distribution(&self) -> &Distribution {
        &self.values
    }

    /// A distribution that was taken apart: its sum, its extremes, its values.
    pub fn from_parts(sum: Sum, (min, max): (f64, f64), values: Distribution) -> Self {
        Self { stats: Stats { count: values.count(), sum, min, max }, values }
    }

    /// The least; 0 if there is none.
    pub fn min(&self) -> f64 {
        if self.is_empty() { 0.0 } else { self.stats.min }
    }

    /// The greatest; 0 if there is none.
    pub fn max(&self) -> f64 {
        if self.is_empty() { 0.0 } else { self.stats.max }
    }

    /// The mean; 0 if there is no value.
    pub fn avg(&self) -> f64 {
        if self.is_empty() { 0.0 } else { self.sum() / self.stats.count as f64 }
    }

    /// Whether there is no value.
    pub fn is_empty(&self) -> bool {
        self.stats.count == 0
    }

    /// Whether percentiles are exact still.
    pub fn is_exact(&self) -> bool {
        self.values.is_exact()
    }

    /// The value below which `percent` (0 to 100) of all values lie, as k6 computes it: linear between
    /// the two values around the index `percent / 100 × (count − 1)`. 0 if there is no value.
    pub fn percentile(&self, percent: f64) -> f64 {
        if self.is_empty() {
            return 0.0;
        }
        let index = (percent / 100.0).clamp(0.0, 1.0) * (self.stats.count - 1) as f64;
        let ranks = (index.floor() as u64, index.ceil() as u64);
        let Stats { count, min, max, .. } = self.stats;
        let value = |rank: u64, found: f64| match rank {
            0 => min,
            rank if rank + 1 == count => max,
            _ => found.clamp(min, max),
        };
        let (low, high) = self.values.ranked(ranks.0, ranks.1);
        let (low, high) = (value(ranks.0, low), value(ranks.1, high));
        let part = index - index.floor();
        // Apart, so that infinities do not become NaN.
        if low < high { low + (high - low) * part } else { low }
    }

    /// The number that a statistic names.
    pub fn stat(&self, stat: &TrendStat) -> f64 {
        match stat {
            TrendStat::Avg => self.avg(),
            TrendStat::Min => self.min(),
            TrendStat::Med => self.percentile(50.0),
            TrendStat::Max => self.max(),
            TrendStat::Count => self.count() as f64,
            TrendStat::P { percent, .. } => self.percentile(*percent),
        }
    }

    /// Calls `each` with every value and the number of its occurrences, in no order. Once percentiles are not exact,
    /// each value represents its bucket.
    pub fn for_each(&self, mut each: impl FnMut(f64, u64)) {
        self.values.for_each(&mut each);
    }

    /// Sorts what is held exactly, so that later percentiles need not.
    pub(crate) fn sort(&mut self) {
        self.values.sort();
    }
}

impl Stats {
    const EMPTY: Self =
        Self { count: 0, sum: Sum::ZERO, min: f64::INFINITY, max: f64::NEG_INFINITY };

    #[inline]
    fn add(&mut self, value: f64) {
        self.count += 1;
        // As k6 adds up.
        self.sum.high += value;
        self.min = self.min.min(value);
        self.max = self.max.max(value);
    }

    fn merge(&mut self, other: &Self) {
        self.count += other.count;
        self.sum.add(other.sum);
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }
}

/// The values of one series that one core collects between two ticks. Allocates nothing in the usual case.
#[derive(Debug)]
pub(crate) struct TrendCell {
    stats: Stats,
    values: Vec<f64>,
    /// How many `values` may hold: [`EXACT_MAX`], later [`EXACT_MAX_LATER`].
    limit: u32,
    /// Values of earlier ticks, counted up to [`EXACT_MAX`].
    earlier: u32,
    paged: Paged,
}

impl TrendCell {
    pub(crate) fn new() -> Self {
        Self {
            stats: Stats::EMPTY,
            values: Vec::new(),
            limit: EXACT_MAX as u32,
            earlier: 0,
            paged: Paged::default(),
        }
    }

    #[inline]
    pub(crate) fn add(&mut self, value: f64, pool: &mut PagePool) {
        self.stats.add(value);
        if self.values.len() < self.limit as usize {
            self.values.push(value);
        } else {
            self.add_to_pages(value, pool);
        }
    }

    #[inline(never)]
    fn add_to_pages(&mut self, value: f64, pool: &mut PagePool) {
        self.paged.add(key_of(value), 1, pool);
    }

    /// The collected values; the cell is empty again and keeps the memory that it needs often.
    pub(crate) fn drain(&mut self, pool: &mut PagePool) -> TrendSink {
        let stats = std::mem::replace(&mut self.stats, Stats::EMPTY);
        let values = if stats.count as usize == self.values.len() {
            Distribution::exact(self.values.clone())
        } else {
            for value in &self.values {
                self.paged.add(key_of(*value), 1, pool);
            }
            let buckets = self.paged.buckets().collect();
            self.paged.clear(pool);
            Distribution::sparse(buckets)
        };
        self.values.clear();
        if self.limit as usize == EXACT_MAX {
            self.earlier = self.earlier.saturating_add(stats.count.min(1 << 20) as u32);
            if self.earlier as usize > EXACT_MAX {
                self.limit = EXACT_MAX_LATER as u32;
            }
            self.values.shrink_to(EXACT_MAX_LATER);
        }
        TrendSink { stats, values }
    }
}

#[cfg(test)]
mod tests;
