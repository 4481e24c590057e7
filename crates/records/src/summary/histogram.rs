//! Latencies in whole nanoseconds, counted so that percentiles can be told as vegeta tells them.

use brunt_metrics::{Bin, Distribution};

/// Percentiles of values: exact up to 4096 values, then within 0.05 %. Memory: as that of a [`Distribution`].
#[derive(Clone, Debug, Default)]
pub struct Histogram {
    count: u64,
    total: u128,
    min: u64,
    max: u64,
    values: Distribution,
}

impl Histogram {
    /// Counts a value.
    pub fn add(&mut self, value: u64) {
        self.min = if self.count == 0 { value } else { self.min.min(value) };
        self.max = self.max.max(value);
        self.count += 1;
        self.total += u128::from(value);
        // Exact up to 104 days.
        self.values.add(value as f64);
    }

    /// Counts all values of another.
    pub fn merge(&mut self, other: &Self) {
        if other.count == 0 {
            return;
        }
        self.min = if self.count == 0 { other.min } else { self.min.min(other.min) };
        self.max = self.max.max(other.max);
        self.count += other.count;
        self.total += other.total;
        self.values.merge(&other.values);
    }

    /// How many values there are.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Their sum.
    pub fn total(&self) -> u128 {
        self.total
    }

    /// Their mean; 0 if there are none.
    pub fn mean(&self) -> u64 {
        if self.count == 0 { 0 } else { (self.total / u128::from(self.count)) as u64 }
    }

    /// The smallest; 0 if there are none.
    pub fn min(&self) -> u64 {
        self.min
    }

    /// The largest; 0 if there are none.
    pub fn max(&self) -> u64 {
        self.max
    }

    /// The values at these shares (0 to 1, ascending) of all values in order: the smallest value that this share of
    /// values does not pass. 0 if there are none.
    pub fn quantiles(&self, shares: &[f64]) -> Vec<u64> {
        debug_assert!(shares.is_sorted(), "one pass finds them all");
        let rank = |share: f64| {
            // A share such as 0.9 of 10 must not become the tenth by an error in the last digit.
            let rank = (share * self.count as f64 * (1.0 - 1e-12)).ceil() as u64;
            rank.clamp(1, self.count.max(1))
        };
        if self.count == 0 {
            return vec![0; shares.len()];
        }
        let bins = self.values.bins();
        let mut bins = bins.iter();
        let mut bin = bins.next();
        let mut below = 0;
        let mut found = Vec::with_capacity(shares.len());
        for share in shares {
            let rank = rank(*share);
            while let Some(Bin { count, .. }) = bin
                && below + count < rank
            {
                below += count;
                bin = bins.next();
            }
            // The ends are known exactly.
            found.push(match bin {
                _ if rank == self.count => self.max,
                _ if rank == 1 => self.min,
                Some(bin) => middle(bin).clamp(self.min, self.max),
                None => self.max,
            });
        }
        found
    }

    /// The value at one share.
    pub fn quantile(&self, share: f64) -> u64 {
        self.quantiles(&[share])[0]
    }
}

/// The value in the middle of a bucket.
fn middle(bin: &Bin) -> u64 {
    (bin.low as u64).saturating_add(bin.width as u64 / 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_values_are_exact() {
        let mut histogram = Histogram::default();
        for value in (1..=100).rev() {
            histogram.add(value * 1_000_001);
        }
        let ranks: Vec<u64> = histogram.quantiles(&[0.0, 0.005, 0.5, 0.9, 0.95, 0.99, 0.991, 1.0]);
        let ranks: Vec<u64> = ranks.iter().map(|value| value / 1_000_001).collect();
        assert_eq!(ranks, [1, 1, 50, 90, 95, 99, 100, 100]);
        assert_eq!(histogram.mean(), 50_500_050);
    }

    #[test]
    fn many_values_are_within_a_thousandth() {
        let mut histogram = Histogram::default();
        let mut values: Vec<u64> =
            (0..200_000_u64).map(|n| (n * 7_919 % 200_000 + 1).pow(2) / 3).collect();
        for value in &values {
            histogram.add(*value);
        }
        values.sort_unstable();
        for share in [0.0, 0.01, 0.1, 0.5, 0.9, 0.99, 0.999, 0.9999, 1.0] {
            let exact = values[((share * 200_000.0_f64).ceil() as usize).max(1) - 1];
            let told = histogram.quantile(share);
            let error = (told as f64 - exact as f64).abs() / (exact as f64).max(1.0);
            assert!(error <= 0.0006, "{share}: {told} for {exact}");
        }
        assert_eq!((histogram.min(), histogram.max()), (values[0], values[199_999]));
    }

    #[test]
    fn every_value_lies_near_the_middle_of_its_bucket() {
        for bits in 0..64 {
            for value in [1_u64 << bits, (1 << bits) + (1 << bits >> 1), (1 << bits) - 1, u64::MAX]
            {
                let mut histogram = Histogram::default();
                for value in std::iter::repeat_n(value, 5_000).chain([0, u64::MAX]) {
                    histogram.add(value);
                }
                let middle = histogram.quantile(0.5);
                assert!(middle.abs_diff(value) as f64 <= value as f64 / 2000.0, "{value} {middle}");
            }
        }
    }

    #[test]
    fn several_together_are_as_one_that_had_them_all() {
        for count in [0, 1, 100, 5_000] {
            let (mut parts, mut whole) = ([const { None }; 3], Histogram::default());
            for n in 0..count {
                let part: &mut Option<Histogram> = &mut parts[n as usize % 3];
                part.get_or_insert_default().add(n * n);
                whole.add(n * n);
            }
            let mut together = Histogram::default();
            parts.iter().flatten().for_each(|part| together.merge(part));
            let shares = [0.0, 0.1, 0.5, 0.99, 1.0];
            assert_eq!(together.quantiles(&shares), whole.quantiles(&shares));
            let told = |it: &Histogram| (it.count(), it.total(), it.min(), it.max());
            assert_eq!(told(&together), told(&whole));
        }
    }

    #[test]
    fn nothing_is_zero() {
        assert_eq!(Histogram::default().quantiles(&[0.5, 1.0]), [0, 0]);
    }
}
