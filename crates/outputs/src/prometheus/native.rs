//! A native histogram: buckets whose bounds grow by the eighth root of two.

use std::collections::BTreeMap;

use brunt_metrics::{Contains, TrendSink};

use super::message::{BucketSpan, Histogram};

/// Eight buckets per doubling, each 9 % wider than the one before: what k6's growth factor of 1.1 comes
/// to.
const SCHEMA: i32 = 3;
const BUCKETS_PER_DOUBLING: f64 = 8.0;

/// Values this near to zero are zero: 2⁻¹²⁸.
const ZERO: f64 = 2.938_735_877_055_719e-39;

/// The values of a trend by bucket. Bounded by nature: 2048 doublings of either sign, of which latencies
/// touch some twenty.
#[derive(Debug)]
pub(crate) struct Native {
    /// Of the metric's unit in Prometheus' one: milliseconds become seconds.
    factor: f64,
    count: u64,
    sum: f64,
    zeros: u64,
    positive: BTreeMap<i32, u64>,
    negative: BTreeMap<i32, u64>,
}

impl Native {
    pub(super) fn new(contains: Contains) -> Self {
        Self {
            factor: if contains == Contains::Time { 1e-3 } else { 1.0 },
            count: 0,
            sum: 0.0,
            zeros: 0,
            positive: BTreeMap::new(),
            negative: BTreeMap::new(),
        }
    }

    pub(super) fn add(&mut self, trend: &TrendSink) {
        self.count += trend.count();
        self.sum += trend.sum() * self.factor;
        trend.for_each(|value, count| {
            let value = value * self.factor;
            if value.abs() <= ZERO {
                self.zeros += count;
            } else if value > 0.0 {
                *self.positive.entry(bucket(value)).or_default() += count;
            } else {
                *self.negative.entry(bucket(-value)).or_default() += count;
            }
        });
    }

    /// As a message. `sum` may be told otherwise: a certain NaN says that the series ends.
    pub(super) fn message(&self, at: i64, sum: Option<f64>) -> Histogram {
        let (negative_spans, negative_deltas) = runs(&self.negative);
        let (positive_spans, positive_deltas) = runs(&self.positive);
        Histogram {
            count: Some(self.count),
            sum: sum.unwrap_or(self.sum),
            schema: SCHEMA,
            zero_threshold: ZERO,
            zero_count: Some(self.zeros),
            negative_spans,
            negative_deltas,
            positive_spans,
            positive_deltas,
            timestamp: at,
        }
    }
}

/// The number of the bucket with `value` in it, which is above zero: its upper bound is 2^(number / 8).
fn bucket(value: f64) -> i32 {
    (value.min(f64::MAX).log2() * BUCKETS_PER_DOUBLING).ceil() as i32
}

/// Runs of neighbours, and how each count differs from the one before.
fn runs(buckets: &BTreeMap<i32, u64>) -> (Vec<BucketSpan>, Vec<i64>) {
    let (mut spans, mut deltas): (Vec<BucketSpan>, _) = (Vec::new(), Vec::new());
    let (mut next, mut before) = (0, 0);
    for (&number, &count) in buckets {
        match spans.last_mut() {
            Some(span) if number == next => span.length += 1,
            _ => spans.push(BucketSpan { offset: number - next, length: 1 }),
        }
        deltas.push(count as i64 - before);
        (next, before) = (number + 1, count as i64);
    }
    (spans, deltas)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_lies_below_the_bound_of_its_bucket_and_above_the_one_before() {
        for value in [0.0125, 5.0, 2.5, 1.0, 1e-9, 3.3e12] {
            let number = f64::from(bucket(value));
            assert!(value <= (number / 8.0).exp2() * (1.0 + 1e-12), "{value}");
            assert!(value > ((number - 1.0) / 8.0).exp2(), "{value}");
        }
        // The numbers that k6 1.8.1 wrote.
        assert_eq!([bucket(0.0125), bucket(5.0), bucket(2.5)], [-50, 19, 11]);
    }

    #[test]
    fn neighbours_make_a_run() {
        let (spans, deltas) = runs(&BTreeMap::from([(-3, 2), (-2, 5), (4, 1)]));
        let expected = [(-3, 2), (5, 1)].map(|(offset, length)| BucketSpan { offset, length });
        assert_eq!(spans, expected);
        assert_eq!(deltas, [2, 3, -4]);
        assert_eq!(runs(&BTreeMap::new()), (Vec::new(), Vec::new()));
    }

    #[test]
    fn values_of_both_signs_and_zero_are_counted_apart() {
        let mut native = Native::new(Contains::Time);
        native.add(&TrendSink::from_values([1000.0, -1000.0, 0.0, 1000.0]));
        assert_eq!((native.count, native.zeros, native.sum), (4, 1, 1.0));
        assert_eq!(native.positive, BTreeMap::from([(0, 2)]));
        assert_eq!(native.negative, BTreeMap::from([(0, 1)]));
    }
}
