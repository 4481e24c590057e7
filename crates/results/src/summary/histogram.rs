//! Durations, counted so that percentiles can be told.

/// As many values are kept as they are; beyond, they go into buckets.
const EXACT_MAX: usize = 4096;
/// Each power of two is cut into `PARTS` buckets, two to this power: a value is off by at most half a bucket, 1/2048
/// of it.
const PARTS_LOG2: u32 = 10;
const PARTS: usize = 1 << PARTS_LOG2;

/// Percentiles of values: exact up to 4096 values, then within 0.05 %.
///
/// Memory: 32 KiB of values at first; then 8 KiB for each power of two that occurs, at most 440 KiB.
#[derive(Clone, Debug, Default)]
pub struct Histogram {
    count: u64,
    total: u128,
    min: u64,
    max: u64,
    exact: Vec<u64>,
    /// One row of buckets for each power of two, made when it is needed.
    rows: Vec<Option<Box<[u64]>>>,
}

impl Histogram {
    /// Counts a value.
    pub fn add(&mut self, value: u64) {
        self.min = if self.count == 0 { value } else { self.min.min(value) };
        self.max = self.max.max(value);
        self.count += 1;
        self.total += u128::from(value);
        if self.rows.is_empty() {
            if self.exact.len() < EXACT_MAX {
                self.exact.push(value);
                return;
            }
            for value in std::mem::take(&mut self.exact) {
                self.put(value);
            }
        }
        self.put(value);
    }

    fn put(&mut self, value: u64) {
        let (row, part) = place(value);
        if self.rows.len() <= row {
            self.rows.resize(row + 1, None);
        }
        let row = self.rows[row].get_or_insert_with(|| vec![0; PARTS].into_boxed_slice());
        row[part] += 1;
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
        if self.rows.is_empty() {
            let mut sorted = self.exact.clone();
            sorted.sort_unstable();
            return shares.iter().map(|share| sorted[rank(*share) as usize - 1]).collect();
        }
        let mut found = Vec::with_capacity(shares.len());
        let mut below = 0;
        let mut buckets = self.buckets();
        let mut bucket = buckets.next();
        for share in shares {
            let rank = rank(*share);
            while let Some((_, count)) = bucket
                && below + count < rank
            {
                below += count;
                bucket = buckets.next();
            }
            // The ends are known exactly.
            found.push(match bucket {
                _ if rank == self.count => self.max,
                _ if rank == 1 => self.min,
                Some((middle, _)) => middle.clamp(self.min, self.max),
                None => self.max,
            });
        }
        found
    }

    /// The value at one share.
    pub fn quantile(&self, share: f64) -> u64 {
        self.quantiles(&[share])[0]
    }

    /// The middles of all buckets that hold something, ascending, each with its count.
    fn buckets(&self) -> impl Iterator<Item = (u64, u64)> {
        let rows = self.rows.iter().enumerate();
        let rows = rows.filter_map(|(row, parts)| parts.as_ref().map(|parts| (row, parts)));
        rows.flat_map(|(row, parts)| {
            let parts = parts.iter().enumerate().filter(|(_, count)| **count > 0);
            parts.map(move |(part, count)| (middle(row, part), *count))
        })
    }
}

/// Where a value is counted. Row 0 holds the values below `PARTS`, each in a bucket of its own.
fn place(value: u64) -> (usize, usize) {
    let bits = u64::BITS - value.leading_zeros();
    let shift = bits.saturating_sub(PARTS_LOG2 + 1);
    if bits <= PARTS_LOG2 {
        (0, value as usize)
    } else {
        (shift as usize + 1, (value >> shift) as usize - PARTS)
    }
}

/// The value in the middle of a bucket.
fn middle(row: usize, part: usize) -> u64 {
    if row == 0 {
        return part as u64;
    }
    let shift = row - 1;
    (((PARTS + part) as u64) << shift) + ((1_u64 << shift) >> 1)
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
                let (row, part) = place(value);
                assert!(part < PARTS);
                let middle = middle(row, part);
                assert!(middle.abs_diff(value) as f64 <= value as f64 / 2000.0, "{value} {middle}");
            }
        }
    }

    #[test]
    fn nothing_is_zero() {
        assert_eq!(Histogram::default().quantiles(&[0.5, 1.0]), [0, 0]);
    }
}
