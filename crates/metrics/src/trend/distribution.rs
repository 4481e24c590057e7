//! Values and how often each came: the one histogram of everything that is measured.

pub use super::bucket::Bin;
use super::bucket::{bin_of, key_of, value_of};
use super::paged::{PagePool, Paged};

/// Up to this many values are kept as they are, so that small tests print what k6 prints, to the last digit.
pub(crate) const EXACT_MAX: usize = 4096;

/// A distribution of values: each of them up to 4096, from then on buckets that are at most 0.1 % of their values wide.
///
/// Holds any finite or infinite value, no NaN. Memory: 32 KiB of values, or 512 bytes for each sixteenth of a power of two that
/// occurs; latencies from a microsecond to a minute touch at most 208 KiB.
#[derive(Clone, Debug)]
pub struct Distribution(Held);

#[derive(Clone, Debug)]
enum Held {
    Exact(Vec<f64>),
    /// Buckets with their counts by rising key: the short form that leaves a core.
    Sparse(Vec<(u32, u64)>),
    Paged(Paged),
}

impl Default for Distribution {
    fn default() -> Self {
        Self::exact(Vec::new())
    }
}

impl Distribution {
    /// Of these, no NaN among them; at most 4096.
    pub(super) fn exact(values: Vec<f64>) -> Self {
        Self(Held::Exact(values))
    }

    /// Of what was counted by bucket already.
    pub(super) fn sparse(buckets: Vec<(u32, u64)>) -> Self {
        Self(Held::Sparse(buckets))
    }

    /// Of these values, no NaN among them.
    pub fn from_values(values: Vec<f64>) -> Self {
        if values.len() <= EXACT_MAX {
            return Self::exact(values);
        }
        let mut all = Self::default();
        for value in values {
            all.add(value);
        }
        all
    }

    /// Of buckets by rising key, as [`buckets`](Self::buckets) gives them; keys from 2²² on name no bucket and are left out.
    pub fn from_buckets(mut buckets: Vec<(u32, u64)>) -> Self {
        buckets.retain(|(key, count)| *key < 1 << 22 && *count > 0);
        Self::sparse(buckets)
    }

    /// The number of values.
    pub fn count(&self) -> u64 {
        match &self.0 {
            Held::Exact(values) => values.len() as u64,
            Held::Sparse(buckets) => buckets.iter().map(|(_, n)| n).sum(),
            Held::Paged(paged) => paged.buckets().map(|(_, n)| n).sum(),
        }
    }

    /// How many bytes its values or buckets take.
    pub fn size(&self) -> usize {
        match &self.0 {
            Held::Exact(values) => values.len() * size_of::<f64>(),
            Held::Sparse(buckets) => buckets.len() * size_of::<(u32, u64)>(),
            Held::Paged(paged) => paged.size(),
        }
    }

    /// Each value as it came, as long as it is [exact](Self::is_exact).
    pub fn values(&self) -> Option<&[f64]> {
        match &self.0 {
            Held::Exact(values) => Some(values),
            Held::Sparse(_) | Held::Paged(_) => None,
        }
    }

    /// All buckets that hold something, by rising key, with their counts. A key is the top 22 bits of a float whose sign bit is
    /// flipped (all bits, if it is negative): those of sign, exponent and ten bits of mantissa.
    pub fn buckets(&self) -> Vec<(u32, u64)> {
        match &self.0 {
            Held::Exact(values) => {
                let mut keys: Vec<_> = values.iter().map(|value| key_of(*value)).collect();
                keys.sort_unstable();
                let mut buckets: Vec<(u32, u64)> = Vec::new();
                for key in keys {
                    match buckets.last_mut() {
                        Some((last, count)) if *last == key => *count += 1,
                        _ => buckets.push((key, 1)),
                    }
                }
                buckets
            }
            Held::Sparse(buckets) => buckets.clone(),
            Held::Paged(paged) => paged.buckets().collect(),
        }
    }

    /// Adds one value, which must not be NaN.
    #[inline]
    pub fn add(&mut self, value: f64) {
        match &mut self.0 {
            Held::Exact(values) if values.len() < EXACT_MAX => values.push(value),
            Held::Paged(paged) => paged.add(key_of(value), 1, &mut PagePool::default()),
            _ => self.paged().add(key_of(value), 1, &mut PagePool::default()),
        }
    }

    /// Adds all values of another. The order of merging changes nothing.
    pub fn merge(&mut self, other: &Self) {
        if let (Held::Exact(values), Held::Exact(more)) = (&mut self.0, &other.0)
            && values.len() + more.len() <= EXACT_MAX
        {
            values.extend_from_slice(more);
            return;
        }
        let pool = &mut PagePool::default();
        let paged = self.paged();
        match &other.0 {
            Held::Exact(values) => values.iter().for_each(|v| paged.add(key_of(*v), 1, pool)),
            Held::Sparse(buckets) => buckets.iter().for_each(|(k, n)| paged.add(*k, *n, pool)),
            Held::Paged(pages) => pages.buckets().for_each(|(k, n)| paged.add(k, n, pool)),
        }
    }

    /// Its pages, made of what is held if there are none yet.
    fn paged(&mut self) -> &mut Paged {
        if !matches!(self.0, Held::Paged(_)) {
            let mut paged = Paged::default();
            let pool = &mut PagePool::default();
            match &self.0 {
                Held::Exact(values) => values.iter().for_each(|v| paged.add(key_of(*v), 1, pool)),
                Held::Sparse(buckets) => buckets.iter().for_each(|(k, n)| paged.add(*k, *n, pool)),
                Held::Paged(_) => {}
            }
            self.0 = Held::Paged(paged);
        }
        let Held::Paged(paged) = &mut self.0 else { unreachable!("made above") };
        paged
    }

    /// Whether it still knows each value.
    pub fn is_exact(&self) -> bool {
        matches!(self.0, Held::Exact(_))
    }

    /// Calls `each` with every value and the number of its occurrences, in no order. Once it is not exact, a value is the one
    /// in place of its bucket: the roundest in it.
    pub fn for_each(&self, mut each: impl FnMut(f64, u64)) {
        match &self.0 {
            Held::Exact(values) => values.iter().for_each(|value| each(*value, 1)),
            Held::Sparse(buckets) => buckets.iter().for_each(|(k, n)| each(value_of(*k), *n)),
            Held::Paged(paged) => paged.buckets().for_each(|(k, n)| each(value_of(k), n)),
        }
    }

    /// All buckets that hold something, rising; while it is exact, one without width for each value.
    pub fn bins(&self) -> Vec<Bin> {
        match &self.0 {
            Held::Exact(values) => {
                let mut sorted = values.clone();
                sorted.sort_unstable_by(f64::total_cmp);
                sorted.into_iter().map(|low| Bin { low, width: 0.0, count: 1 }).collect()
            }
            Held::Sparse(buckets) => buckets.iter().map(|(k, n)| bin_of(*k, *n)).collect(),
            Held::Paged(paged) => paged.buckets().map(|(k, n)| bin_of(k, n)).collect(),
        }
    }

    /// Sorts what is held exactly, so that later ranks need not.
    pub(super) fn sort(&mut self) {
        if let Held::Exact(values) = &mut self.0 {
            values.sort_unstable_by(f64::total_cmp);
        }
    }

    /// The values of two ranks, counted from 0; `low` ≤ `high` < the number of values.
    pub(super) fn ranked(&self, low: u64, high: u64) -> (f64, f64) {
        match &self.0 {
            Held::Exact(values) if values.is_sorted() => {
                (values[low as usize], values[high as usize])
            }
            Held::Exact(values) => {
                let mut sorted = values.clone();
                sorted.sort_unstable_by(f64::total_cmp);
                (sorted[low as usize], sorted[high as usize])
            }
            Held::Sparse(buckets) => ranked_in(buckets.iter().copied(), low, high),
            Held::Paged(paged) => ranked_in(paged.buckets(), low, high),
        }
    }
}

fn ranked_in(buckets: impl Iterator<Item = (u32, u64)>, low: u64, high: u64) -> (f64, f64) {
    let mut seen = 0;
    let mut found = None;
    for (key, in_bucket) in buckets {
        seen += in_bucket;
        if found.is_none() && low < seen {
            found = Some(key);
        }
        if high < seen {
            return (value_of(found.unwrap_or(key)), value_of(key));
        }
    }
    // There are no such ranks.
    (f64::INFINITY, f64::INFINITY)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_are_the_values_first_and_later_hold_them() {
        let mut distribution = Distribution::default();
        for value in [3.0, 1.0, 2.0, 1.0] {
            distribution.add(value);
        }
        let bins = distribution.bins();
        assert_eq!(bins.iter().map(|bin| bin.low).collect::<Vec<_>>(), [1.0, 1.0, 2.0, 3.0]);
        assert!(bins.iter().all(|bin| bin.count == 1 && bin.width == 0.0));
        for n in 0..EXACT_MAX {
            distribution.add(1e6 + n as f64);
        }
        assert!(!distribution.is_exact());
        let bins = distribution.bins();
        assert_eq!((bins[0].low, bins[0].count), (1.0, 2));
        assert!(bins.is_sorted_by(|a, b| a.low + a.width <= b.low));
        assert_eq!(bins.iter().map(|bin| bin.count).sum::<u64>(), EXACT_MAX as u64 + 4);
        let last = bins.last().unwrap();
        assert!((last.low..last.low + last.width).contains(&(1e6 + EXACT_MAX as f64 - 1.0)));
        assert_eq!(last.width, 512.0);
    }
}
