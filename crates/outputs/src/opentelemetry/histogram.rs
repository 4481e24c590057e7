//! A histogram with the SDKs' usual bounds.

use brunt_metrics::TrendSink;

/// Each is the upper bound of a bucket; one more holds what is above.
pub(super) const BOUNDS: [f64; 15] = [
    0.0, 5.0, 10.0, 25.0, 50.0, 75.0, 100.0, 250.0, 500.0, 750.0, 1000.0, 2500.0, 5000.0, 7500.0,
    10_000.0,
];

/// The values of a trend by bucket.
#[derive(Debug)]
pub(crate) struct Histogram {
    pub(super) counts: [u64; BOUNDS.len() + 1],
    pub(super) count: u64,
    pub(super) sum: f64,
    pub(super) min: f64,
    pub(super) max: f64,
}

impl Default for Histogram {
    fn default() -> Self {
        let (min, max) = (f64::INFINITY, f64::NEG_INFINITY);
        Self { counts: [0; BOUNDS.len() + 1], count: 0, sum: 0.0, min, max }
    }
}

impl Histogram {
    pub(super) fn add(&mut self, trend: &TrendSink) {
        if trend.is_empty() {
            return;
        }
        self.count += trend.count();
        self.sum += trend.sum();
        self.min = self.min.min(trend.min());
        self.max = self.max.max(trend.max());
        trend.for_each(|value, count| {
            self.counts[BOUNDS.partition_point(|bound| *bound < value)] += count;
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_on_a_bound_is_below_it() {
        let mut histogram = Histogram::default();
        histogram.add(&TrendSink::from_values([-1.0, 0.0, 5.0, 5.1, 10_000.0, 10_000.5]));
        let filled: Vec<_> = histogram.counts.iter().map(|count| *count as usize).collect();
        assert_eq!(filled, [2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1]);
        assert_eq!((histogram.count, histogram.min, histogram.max), (6, -1.0, 10_000.5));
    }
}
