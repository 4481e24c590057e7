//! One run a side: its slices are drawn again, in blocks of neighbours, to see how far its figures could have come out
//! otherwise (the moving-block bootstrap).
//!
//! Neighbouring slices resemble each other, so drawing them one by one would show too little spread. Blocks keep
//! neighbours together; [`length`] says how long a block must be. The spread of the figures over the draws is that
//! of the run's own figures, as far as a run can show it.

mod bins;
mod length;

use std::sync::Arc;

use brunt_metrics::TrendSink;

use self::bins::Bins;
use crate::measure::Statistic;
use crate::run::{Share, Slice};

/// A block lasts at least this long.
const BLOCK_LEAST_S: f64 = 5.0;
/// A run is cut into at most this many blocks: more tell no more, and take longer.
const BLOCKS_MAX: usize = 200;
/// If more draws than one in this many hold no value at all, there are too few values.
const EMPTY_DRAWS: usize = 20;

/// The draws of one run: the same for all of its figures.
#[derive(Debug)]
pub(crate) struct Blocks {
    slices: usize,
    /// Slices in a block.
    length: usize,
    /// Blocks in a draw.
    count: usize,
    /// The first slices of the blocks, draw by draw.
    starts: Vec<u32>,
    /// The factor that brings back the part of a variance that blocks leave out.
    left_out: f64,
}

/// The variance of a figure over the draws, and its degrees of freedom.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Spread {
    pub(crate) variance: f64,
    pub(crate) degrees: f64,
}

impl Blocks {
    /// Draws blocks of these slices. The series of the `main` duration, of the rate and of the failures say how
    /// long blocks are. None if there are not two blocks.
    pub(crate) fn of(
        slices: &[&Slice],
        main: Option<&Arc<str>>,
        draws: usize,
        seed: u64,
    ) -> Option<Self> {
        let widths: Vec<f64> = slices.iter().map(|slice| slice.width_s).collect();
        let width = median(&widths)?;
        let needed = (BLOCK_LEAST_S / width).ceil().max(1.0);
        let all = series(slices, main);
        let asked = all.iter().map(|one| length::of(one)).fold(1.0, f64::max);
        let fewest = slices.len().div_ceil(BLOCKS_MAX);
        let length = (needed.max(asked.ceil()).min(1e9) as usize).max(fewest);
        // Whatever the rule asks for, two blocks are the least that show a spread; five seconds are a must.
        let length = length.min(slices.len() / 2).max(needed as usize);
        if slices.len() < 2 * length {
            return None;
        }
        let count = slices.len().div_ceil(length);
        let places = (slices.len() - length + 1) as u32;
        let mut random = fastrand::Rng::with_seed(seed);
        let starts = (0..draws * count).map(|_| random.u32(0..places)).collect();
        let left_out = all.iter().map(|one| length::left_out(one, length)).fold(1.0, f64::max);
        Some(Self { slices: slices.len(), length, count, starts, left_out })
    }

    /// How many slices a block has.
    pub(crate) fn length(&self) -> usize {
        self.length
    }

    /// The spread of the logarithms of a duration's statistics, in the order of [`Statistic::ALL`]. None where there
    /// are too few values.
    pub(crate) fn durations(&self, sinks: &[Option<&TrendSink>]) -> [Option<Spread>; 5] {
        let bins = Bins::of(sinks, self.length);
        let mut moments = [Moments::default(); 5];
        for draw in self.starts.chunks_exact(self.count) {
            if let Some(values) = bins.statistics(draw) {
                for (moment, value) in moments.iter_mut().zip(values) {
                    moment.add(value.max(crate::measure::DURATION_LEAST_MS).ln());
                }
            }
        }
        let count = bins.count();
        std::array::from_fn(|index| {
            // A percentile with fewer than ten values beyond it is a few requests' chance.
            let rank = Statistic::ALL[index].rank().unwrap_or(0.5);
            let beyond = count as f64 * (1.0 - rank);
            if beyond < 10.0 { None } else { self.spread(&moments[index]) }
        })
    }

    /// The spread of the logarithm of counts per second.
    pub(crate) fn rate(&self, counts: &[u64], widths: &[f64]) -> Option<Spread> {
        let counts = self.sums(&counts.iter().map(|count| *count as f64).collect::<Vec<_>>());
        let widths = self.sums(widths);
        let mut moments = Moments::default();
        for draw in self.starts.chunks_exact(self.count) {
            let (count, width) = (total(&counts, draw), total(&widths, draw));
            if width > 0.0 {
                moments.add((count.max(0.5) / width).ln());
            }
        }
        self.spread(&moments)
    }

    /// The spread of a share.
    pub(crate) fn share(&self, shares: &[Share]) -> Option<Spread> {
        let hits = self.sums(&shares.iter().map(|share| share.hits as f64).collect::<Vec<_>>());
        let totals = self.sums(&shares.iter().map(|share| share.total as f64).collect::<Vec<_>>());
        let mut moments = Moments::default();
        for draw in self.starts.chunks_exact(self.count) {
            let (hits, total) = (total(&hits, draw), total(&totals, draw));
            if total > 0.0 {
                moments.add(hits / total);
            }
        }
        self.spread(&moments)
    }

    /// The sum of each block, by its first slice.
    fn sums(&self, values: &[f64]) -> Vec<f64> {
        values.windows(self.length).map(|block| block.iter().sum()).collect()
    }

    fn spread(&self, moments: &Moments) -> Option<Spread> {
        let draws = self.starts.len() / self.count;
        let empty = draws - moments.count as usize;
        if empty * EMPTY_DRAWS > draws {
            return None;
        }
        // A draw is a little longer than the run. And few blocks show too little of the spread, just as few values
        // do that are set against their own mean.
        let blocks = self.slices as f64 / self.length as f64;
        let longer = (self.count * self.length) as f64 / self.slices as f64;
        let variance = moments.variance()? * longer * self.left_out * blocks / (blocks - 1.0);
        Some(Spread { variance, degrees: blocks - 1.0 })
    }
}

/// The series that say how long blocks are: rate, failures, median and p95 of the main duration.
fn series(slices: &[&Slice], main: Option<&Arc<str>>) -> Vec<Vec<f64>> {
    let mut all = vec![
        slices.iter().map(|slice| slice.all.requests.max(slice.iterations) as f64).collect(),
        slices.iter().map(|slice| slice.all.failed().value().unwrap_or(0.0)).collect(),
    ];
    if let Some(main) = main {
        for statistic in [Statistic::P50, Statistic::P95] {
            // A slice without values is as the one before it.
            let mut last = 0.0;
            let value = |slice: &&Slice| {
                let found = slice.all.durations.get(main).and_then(|sink| statistic.of(sink));
                last = found.map_or(last, f64::ln);
                last
            };
            all.push(slices.iter().map(value).collect());
        }
    }
    all
}

fn total(sums: &[f64], draw: &[u32]) -> f64 {
    draw.iter().map(|start| sums[*start as usize]).sum()
}

fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().filter(|width| *width > 0.0)
}

/// Mean and squares of values that come one by one.
#[derive(Clone, Copy, Debug, Default)]
struct Moments {
    count: f64,
    mean: f64,
    squares: f64,
}

impl Moments {
    fn add(&mut self, value: f64) {
        self.count += 1.0;
        let before = value - self.mean;
        self.mean += before / self.count;
        self.squares += before * (value - self.mean);
    }

    fn variance(&self) -> Option<f64> {
        (self.count > 1.0).then(|| self.squares / (self.count - 1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A minute of slices with the same four values each, which rise by `step` from slice to slice.
    fn slices(count: usize, step: f64) -> Vec<Slice> {
        let metric: Arc<str> = "d".into();
        (0..count)
            .map(|index| {
                let mut slice = Slice { start_s: index as f64, width_s: 1.0, ..Slice::default() };
                let level = 10.0 + step * index as f64;
                let values = (0..40).map(|n| level + f64::from(n % 4));
                slice.all.requests = 40;
                slice.all.durations.insert(Arc::clone(&metric), TrendSink::from_values(values));
                slice
            })
            .collect()
    }

    fn sinks(slices: &[Slice]) -> Vec<Option<&TrendSink>> {
        slices.iter().map(|slice| slice.all.durations.get("d")).collect()
    }

    #[test]
    fn equal_slices_have_no_spread() {
        let slices = slices(60, 0.0);
        let refs: Vec<&Slice> = slices.iter().collect();
        let blocks = Blocks::of(&refs, Some(&"d".into()), 200, 1).unwrap();
        assert_eq!(blocks.length(), 5);
        let widths = [1.0; 60];
        assert!(blocks.rate(&[40; 60], &widths).unwrap().variance < 1e-20);
        for spread in blocks.durations(&sinks(&slices)) {
            assert!(spread.unwrap().variance < 1e-12);
        }
        let shares = [Share { hits: 1, total: 40 }; 60];
        assert!(blocks.share(&shares).unwrap().variance < 1e-20);
    }

    #[test]
    fn a_seed_gives_one_answer() {
        let slices = slices(60, 0.3);
        let refs: Vec<&Slice> = slices.iter().collect();
        let found = |seed| {
            let blocks = Blocks::of(&refs, None, 300, seed).unwrap();
            blocks.durations(&sinks(&slices)).map(|spread| spread.unwrap().variance)
        };
        assert_eq!(found(7), found(7));
        assert_ne!(found(7), found(8));
    }

    #[test]
    fn ten_seconds_are_the_least() {
        let nine = slices(9, 0.1);
        let ten = slices(10, 0.1);
        let refs = |slices: &'static [Slice]| slices.iter().collect::<Vec<_>>();
        assert!(Blocks::of(&refs(nine.leak()), None, 10, 1).is_none());
        let blocks = Blocks::of(&refs(ten.leak()), None, 10, 1).unwrap();
        assert_eq!((blocks.length(), blocks.count), (5, 2));
        assert!(Blocks::of(&[], None, 10, 1).is_none());
    }

    #[test]
    fn long_runs_have_two_hundred_blocks_at_most() {
        let slices = slices(3600, 0.0);
        let refs: Vec<&Slice> = slices.iter().collect();
        let blocks = Blocks::of(&refs, None, 10, 1).unwrap();
        assert_eq!((blocks.length(), blocks.count), (18, 200));
    }

    #[test]
    fn a_percentile_needs_ten_values_beyond_it() {
        // 2400 values: 24 beyond p99. 600: 6.
        let is_known = |count: usize| {
            let slices = slices(count, 0.1);
            let refs: Vec<&Slice> = slices.iter().collect();
            let blocks = Blocks::of(&refs, None, 50, 1).unwrap();
            blocks.durations(&sinks(&slices)).map(|spread| spread.is_some())
        };
        assert_eq!(is_known(60), [true; 5]);
        assert_eq!(is_known(15), [true, true, true, false, true]);
    }

    /// Draws of blocks of five slices, whatever the series would ask for.
    fn blocks_of_five(slices: usize, draws: usize) -> Blocks {
        let (length, count) = (5, slices / 5);
        let mut random = fastrand::Rng::with_seed(9);
        let places = (slices - length + 1) as u32;
        let starts = (0..draws * count).map(|_| random.u32(0..places)).collect();
        Blocks { slices, length, count, starts, left_out: 1.0 }
    }

    /// Numbers that everybody can make again: the upper 53 bits of a congruential generator.
    fn made_again(count: usize, seed: u64) -> Vec<f64> {
        let mut state = seed;
        let next = |_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005);
            state = state.wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / 2_f64.powi(53)
        };
        (0..count).map(next).collect()
    }

    #[test]
    fn spreads_are_those_of_another_program() {
        // numpy: 400 000 draws of blocks of a rate, 20 000 of percentiles of all values of the drawn slices.
        let counts: Vec<u64> =
            made_again(60, 11).iter().map(|value| 1000 + (200.0 * value) as u64).collect();
        let rate = blocks_of_five(60, 8000).rate(&counts, &[1.0; 60]).unwrap();
        assert!((rate.variance / 2.436e-5 - 1.0).abs() < 0.06, "{}", rate.variance);
        let sinks: Vec<TrendSink> = (0..30_u64)
            .map(|slice| {
                let wave = (slice as f64).sin();
                let values = made_again(40, 100 + slice);
                TrendSink::from_values(values.into_iter().map(|value| 10.0 + 5.0 * value + wave))
            })
            .collect();
        let sinks: Vec<Option<&TrendSink>> = sinks.iter().map(Some).collect();
        let found = blocks_of_five(30, 8000).durations(&sinks);
        for (found, wanted) in [(found[0], 9.115e-5), (found[2], 4.975e-5)] {
            let found = found.unwrap().variance;
            assert!((found / wanted - 1.0).abs() < 0.1, "{found}, not {wanted}");
        }
    }

    #[test]
    fn the_spread_of_a_mean_of_independent_slices_is_the_textbook_s() {
        // 400 slices with one value each from the same law, blocks of one: the variance of the mean is σ²/n.
        let mut random = fastrand::Rng::with_seed(3);
        let counts: Vec<u64> = (0..400).map(|_| 1000 + random.u64(0..100)).collect();
        let logs: Vec<f64> = counts.iter().map(|count| (*count as f64).ln()).collect();
        let wanted = crate::welch::variance(&logs).unwrap() / 400.0;
        let slices: Vec<Slice> = counts
            .iter()
            .map(|count| Slice { width_s: 10.0, iterations: *count, ..Slice::default() })
            .collect();
        let refs: Vec<&Slice> = slices.iter().collect();
        let blocks = Blocks::of(&refs, None, 4000, 5).unwrap();
        let found = blocks.rate(&counts, &[10.0; 400]).unwrap().variance;
        assert!((found / wanted - 1.0).abs() < 0.3, "{found} {wanted}");
    }
}
