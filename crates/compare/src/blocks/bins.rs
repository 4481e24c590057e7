//! The values of a run in few bins, summed over each block: a percentile of a draw costs some additions.

use brunt_metrics::TrendSink;

use crate::measure::Statistic;

/// The most bins: a bin holds a hundredth of the values, from the 98th percentile on a thousandth.
const BINS_MAX: usize = 128;

/// A duration's values over the blocks of a run.
#[derive(Debug)]
pub(super) struct Bins {
    /// The least value of each bin, rising, and behind them the greatest of all.
    cuts: Vec<f64>,
    /// The values of each bin in each block, by its first slice.
    counts: Vec<[u32; BINS_MAX]>,
    /// Their sum in each block.
    sums: Vec<f64>,
    count: u64,
}

impl Bins {
    /// The values of these slices, in blocks of `length` slices.
    pub(super) fn of(sinks: &[Option<&TrendSink>], length: usize) -> Self {
        let mut all: Vec<(f64, u64)> = Vec::new();
        for sink in sinks.iter().flatten() {
            sink.for_each(|value, count| all.push((value, count)));
        }
        all.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let count =
            all.iter().map(|(_, count)| count).fold(0, |sum: u64, more| sum.saturating_add(*more));
        let cuts = cuts(&all, count);

        // Sums of draws must fit into 32 bits, which a processor adds many at a time: billions of values are told in
        // thousands.
        let shift = (64 - u64::leading_zeros(count)).saturating_sub(26);
        let mut rows = vec![[0_u32; BINS_MAX]; sinks.len()];
        for (row, sink) in rows.iter_mut().zip(sinks) {
            let Some(sink) = sink else { continue };
            let mut counts = [0_u64; BINS_MAX];
            sink.for_each(|value, count| {
                let bin = cuts.partition_point(|cut| *cut <= value);
                let bin = bin.clamp(1, cuts.len().max(2) - 1) - 1;
                counts[bin] = counts[bin].saturating_add(count);
            });
            for (bin, count) in row.iter_mut().zip(counts) {
                *bin = (count >> shift) as u32;
            }
        }
        let sum = |sink: Option<&TrendSink>| sink.map_or(0.0, TrendSink::sum);
        let scale = (1_u64 << shift) as f64;
        let plain: Vec<f64> = sinks.iter().map(|sink| sum(*sink) / scale).collect();
        let sums = plain.windows(length).map(|block| block.iter().sum()).collect();
        Self { cuts, counts: blocks(&rows, length), sums, count }
    }

    /// How many values there are in all.
    pub(super) fn count(&self) -> u64 {
        self.count
    }

    /// The statistics of a draw of blocks, in the order of [`Statistic::ALL`]; none without values.
    pub(super) fn statistics(&self, draw: &[u32]) -> Option<[f64; 5]> {
        let mut counts = [0_u32; BINS_MAX];
        let mut sum = 0.0;
        for start in draw {
            let block = &self.counts[*start as usize];
            for (count, more) in counts.iter_mut().zip(block) {
                *count = count.wrapping_add(*more);
            }
            sum += self.sums[*start as usize];
        }
        let total: u64 = counts.iter().map(|count| u64::from(*count)).sum();
        if total == 0 {
            return None;
        }
        Some(Statistic::ALL.map(|statistic| match statistic.rank() {
            Some(rank) => self.percentile(&counts, rank * total as f64),
            None => sum / total as f64,
        }))
    }

    /// The value that `below` of the values are less than; within a bin they lie evenly.
    fn percentile(&self, counts: &[u32; BINS_MAX], below: f64) -> f64 {
        let mut seen = 0.0;
        for (bin, count) in counts.iter().enumerate().take(self.cuts.len() - 1) {
            let count = f64::from(*count);
            if count > 0.0 && seen + count >= below {
                let (low, high) = (self.cuts[bin], self.cuts[bin + 1]);
                return low + (high - low) * ((below - seen) / count).clamp(0.0, 1.0);
            }
            seen += count;
        }
        self.cuts[self.cuts.len() - 1]
    }
}

/// The values at the ranks where bins begin, each once, and the greatest.
fn cuts(sorted: &[(f64, u64)], count: u64) -> Vec<f64> {
    let coarse = (0..98).map(|n| f64::from(n) / 100.0);
    let fine = (0..20).map(|n| 0.98 + f64::from(n) / 1000.0);
    let mut cuts: Vec<f64> = Vec::with_capacity(BINS_MAX);
    let (mut next, mut seen) = (0, 0_u64);
    for rank in coarse.chain(fine) {
        let wanted = rank * count as f64;
        while let Some((_, more)) = sorted.get(next)
            && (seen + more) as f64 <= wanted
        {
            seen += more;
            next += 1;
        }
        if let Some((value, _)) = sorted.get(next)
            && cuts.last() != Some(value)
        {
            cuts.push(*value);
        }
    }
    let greatest = sorted.last().map_or(0.0, |(value, _)| *value);
    cuts.push(greatest);
    if cuts.len() < 2 {
        cuts.push(greatest);
    }
    cuts
}

/// The sums of `length` neighbouring rows, by the first of them.
fn blocks(rows: &[[u32; BINS_MAX]], length: usize) -> Vec<[u32; BINS_MAX]> {
    let mut all = Vec::with_capacity((rows.len() + 1).saturating_sub(length));
    let mut block = [0_u32; BINS_MAX];
    for (index, row) in rows.iter().enumerate() {
        for (sum, more) in block.iter_mut().zip(row) {
            *sum = sum.wrapping_add(*more);
        }
        if index + 1 >= length {
            all.push(block);
            let oldest = &rows[index + 1 - length];
            for (sum, less) in block.iter_mut().zip(oldest) {
                *sum = sum.wrapping_sub(*less);
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of_all(values: &[Vec<f64>]) -> (Bins, TrendSink) {
        let sinks: Vec<TrendSink> =
            values.iter().map(|values| TrendSink::from_values(values.iter().copied())).collect();
        let mut merged = TrendSink::default();
        for sink in &sinks {
            merged.merge(sink);
        }
        (Bins::of(&sinks.iter().map(Some).collect::<Vec<_>>(), 1), merged)
    }

    #[test]
    fn equal_values_are_a_point() {
        let (bins, _) = of_all(&[vec![3.0; 50], vec![3.0; 70]]);
        assert_eq!(bins.statistics(&[0, 1, 1]).unwrap(), [3.0; 5]);
        assert_eq!(bins.count(), 120);
    }

    #[test]
    fn a_draw_without_values_has_no_statistics() {
        let sink = TrendSink::from_values([1.0]);
        let bins = Bins::of(&[None, Some(&sink)], 1);
        assert_eq!(bins.statistics(&[0, 0]), None);
        assert!(bins.statistics(&[0, 1]).is_some());
        assert_eq!(Bins::of(&[None], 1).statistics(&[0]), None);
    }

    #[test]
    fn blocks_are_sums_of_neighbours() {
        let rows: Vec<[u32; BINS_MAX]> = (1..=5).map(|n| [n; BINS_MAX]).collect();
        let firsts: Vec<u32> = blocks(&rows, 3).iter().map(|row| row[0]).collect();
        assert_eq!(firsts, [6, 9, 12]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn each_slice_once_is_the_run_itself(
            values in prop::collection::vec(prop::collection::vec(1.0..500.0, 100..300), 4..12),
        ) {
            let (bins, merged) = of_all(&values);
            let draw: Vec<u32> = (0..values.len() as u32).collect();
            let found = bins.statistics(&draw).unwrap();
            prop_assert!((found[4] - merged.avg()).abs() < 1e-6);
            for (value, percent) in found.iter().zip([50.0, 90.0, 95.0, 99.0]) {
                // Within the width of a bin.
                let low = merged.percentile(percent - 1.2);
                let high = merged.percentile((percent + 1.2_f64).min(100.0));
                prop_assert!((low..=high).contains(value), "{percent}: {value} {low} {high}");
            }
        }

        #[test]
        fn percentiles_rise(values in prop::collection::vec(prop::collection::vec(0.0..50.0, 1..40), 1..6), at: u32) {
            let (bins, _) = of_all(&values);
            let found = bins.statistics(&[at % values.len() as u32]).unwrap();
            prop_assert!(found[..4].is_sorted(), "{found:?}");
        }
    }
}
