//! A native histogram: buckets whose bounds grow by the eighth root of two.

use std::collections::BTreeMap;

use brunt_metrics::{Contains, TrendSink};

use crate::protobuf;

/// Eight buckets per doubling, each 9 % wider than the one before: what k6's growth factor of 1.1 comes
/// to.
const SCHEMA: i64 = 3;
const BUCKETS_PER_DOUBLING: f64 = 8.0;

/// Values this near to zero are zero: 2⁻¹²⁸.
const ZERO: f64 = 2.938_735_877_055_719e-39;

/// The fields of a `Histogram` in a remote-write request.
mod field {
    pub(super) const COUNT: u64 = 1;
    pub(super) const SUM: u64 = 3;
    pub(super) const SCHEMA: u64 = 4;
    pub(super) const ZERO_THRESHOLD: u64 = 5;
    pub(super) const ZERO_COUNT: u64 = 6;
    pub(super) const NEGATIVE_SPANS: u64 = 8;
    pub(super) const NEGATIVE_DELTAS: u64 = 9;
    pub(super) const POSITIVE_SPANS: u64 = 11;
    pub(super) const POSITIVE_DELTAS: u64 = 12;
    pub(super) const TIMESTAMP: u64 = 15;
}

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

    /// The message `Histogram`. `sum` may be told otherwise: a certain NaN says that the series ends.
    pub(super) fn push(&self, out: &mut Vec<u8>, at: i64, sum: Option<f64>) {
        protobuf::uint(out, field::COUNT, self.count);
        protobuf::double(out, field::SUM, sum.unwrap_or(self.sum));
        protobuf::sint(out, field::SCHEMA, SCHEMA);
        protobuf::double(out, field::ZERO_THRESHOLD, ZERO);
        protobuf::uint(out, field::ZERO_COUNT, self.zeros);
        push_buckets(out, &self.negative, field::NEGATIVE_SPANS, field::NEGATIVE_DELTAS);
        push_buckets(out, &self.positive, field::POSITIVE_SPANS, field::POSITIVE_DELTAS);
        protobuf::uint(out, field::TIMESTAMP, at as u64);
    }
}

/// The number of the bucket with `value` in it, which is above zero: its upper bound is 2^(number / 8).
fn bucket(value: f64) -> i32 {
    (value.min(f64::MAX).log2() * BUCKETS_PER_DOUBLING).ceil() as i32
}

/// Runs of neighbours, and how each count differs from the one before.
fn push_buckets(out: &mut Vec<u8>, buckets: &BTreeMap<i32, u64>, spans: u64, deltas: u64) {
    if buckets.is_empty() {
        return;
    }
    let mut runs: Vec<(i32, u64)> = Vec::new();
    let mut next = 0;
    for number in buckets.keys() {
        match runs.last_mut() {
            Some((_, length)) if *number == next => *length += 1,
            _ => runs.push((number - next, 1)),
        }
        next = number + 1;
    }
    for (offset, length) in runs {
        protobuf::message(out, spans, |out| {
            protobuf::sint(out, 1, offset.into());
            protobuf::uint(out, 2, length);
        });
    }
    let mut before = 0;
    protobuf::message(out, deltas, |out| {
        for count in buckets.values() {
            protobuf::varint(out, protobuf::zigzag(*count as i64 - before));
            before = *count as i64;
        }
    });
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
        // What k6 1.8.1 wrote.
        assert_eq!([bucket(0.0125), bucket(5.0), bucket(2.5)], [-50, 19, 11]);
    }

    #[test]
    fn neighbours_make_a_run() {
        let mut out = Vec::new();
        push_buckets(&mut out, &BTreeMap::from([(-3, 2), (-2, 5), (4, 1)]), 11, 12);
        let spans = [[11 << 3 | 2, 4, 8, 5, 16, 2], [11 << 3 | 2, 4, 8, 10, 16, 1]].concat();
        let deltas = [12 << 3 | 2, 3, 4, 6, 7];
        assert_eq!(out, [&spans[..], &deltas[..]].concat());
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
