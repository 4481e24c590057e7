use proptest::prelude::*;

use super::*;

fn naive_percentile(values: &[f64], percent: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let index = percent / 100.0 * (sorted.len() - 1) as f64;
    let (low, high) = (sorted[index.floor() as usize], sorted[index.ceil() as usize]);
    low + (high - low) * (index - index.floor())
}

fn latencies(max: usize) -> impl Strategy<Value = Vec<f64>> {
    let one = prop_oneof![Just(0.0), 0.001..60_000.0, 0.05..2.0, (1..9u32).prop_map(f64::from)];
    prop::collection::vec(one, 1..max)
}

#[test]
fn percentiles_interpolate_as_in_k6() {
    let trend = TrendSink::from_values([4.0, 1.0, 3.0, 2.0]);
    assert_eq!(trend.percentile(50.0), 2.5);
    assert_eq!(trend.percentile(95.0), 1.0 + 0.95 * 3.0);
    assert_eq!((trend.percentile(0.0), trend.percentile(100.0)), (1.0, 4.0));
    assert_eq!((trend.avg(), trend.min(), trend.max(), trend.count()), (2.5, 1.0, 4.0, 4));
}

#[test]
fn nothing_is_zero_and_one_value_is_every_percentile() {
    let nothing = TrendSink::default();
    assert_eq!((nothing.percentile(95.0), nothing.avg(), nothing.max()), (0.0, 0.0, 0.0));
    assert_eq!(TrendSink::from_values([7.5]).percentile(1.0), 7.5);
}

#[test]
fn infinities_are_values_and_nan_is_not() {
    let trend = TrendSink::from_values([f64::INFINITY, f64::NAN, 1.0, f64::INFINITY]);
    assert_eq!(trend.count(), 3);
    assert_eq!(trend.percentile(100.0), f64::INFINITY);
    assert_eq!(trend.percentile(80.0), f64::INFINITY);
}

#[test]
fn many_equal_values_come_out_as_they_went_in() {
    let trend = TrendSink::from_values(
        std::iter::repeat_n(0.0, 9000).chain(std::iter::repeat_n(3.0, 3000)),
    );
    assert!(!trend.is_exact());
    assert_eq!((trend.percentile(50.0), trend.percentile(90.0)), (0.0, 3.0));
}

#[test]
fn a_cell_is_exact_until_its_series_had_4096_values() {
    let pool = &mut PagePool::default();
    let mut cell = TrendCell::new();
    for _ in 0..4 {
        (0..1024).for_each(|v| cell.add(f64::from(v), pool));
        assert!(cell.drain(pool).is_exact());
    }
    (0..1024).for_each(|v| cell.add(f64::from(v), pool));
    let fifth = cell.drain(pool);
    assert!(fifth.is_exact());
    (0..1024).for_each(|v| cell.add(f64::from(v), pool));
    let sixth = cell.drain(pool);
    assert!(!sixth.is_exact());
    assert_eq!(sixth.percentile(50.0), fifth.percentile(50.0));
    assert!(cell.values.capacity() <= EXACT_MAX_LATER);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn small_ones_are_exact(values in latencies(1000), percent in 0.0..100.0) {
        let trend = TrendSink::from_values(values.iter().copied());
        prop_assert_eq!(trend.percentile(percent), naive_percentile(&values, percent));
    }

    #[test]
    fn large_ones_are_within_a_thousandth(values in latencies(9000), percent in 0.0..100.0) {
        let trend = TrendSink::from_values(values.iter().copied());
        let naive = naive_percentile(&values, percent);
        prop_assert!((trend.percentile(percent) - naive).abs() <= naive.abs() / 1000.0);
        prop_assert_eq!(trend.max(), naive_percentile(&values, 100.0));
        prop_assert_eq!(trend.percentile(0.0), naive_percentile(&values, 0.0));
    }

    #[test]
    fn the_order_of_merging_does_not_matter(
        parts in prop::collection::vec(latencies(2500), 1..5),
        seed: u64,
        percent in 0.0..100.0,
    ) {
        let pool = &mut PagePool::default();
        // Some parts come as a busy core gives them: in buckets.
        let sinks: Vec<_> = parts
            .iter()
            .enumerate()
            .map(|(index, values)| {
                if seed >> index & 1 == 0 {
                    return TrendSink::from_values(values.iter().copied());
                }
                let mut cell = TrendCell::new();
                cell.limit = EXACT_MAX_LATER as u32;
                for value in values {
                    cell.add(*value, pool);
                }
                cell.drain(pool)
            })
            .collect();
        let mut forth = TrendSink::default();
        for sink in &sinks {
            forth.merge(sink);
        }
        let mut back = TrendSink::default();
        for pair in sinks.rchunks(2) {
            let mut pair_sum = pair[0].clone();
            pair[1..].iter().for_each(|sink| pair_sum.merge(sink));
            back.merge(&pair_sum);
        }
        prop_assert_eq!(forth.percentile(percent), back.percentile(percent));
        prop_assert_eq!(forth.is_exact(), back.is_exact());
        prop_assert_eq!((forth.count(), forth.min(), forth.max()), (back.count(), back.min(), back.max()));
        prop_assert!((forth.sum() - back.sum()).abs() <= forth.sum().abs() * 1e-12);
        let all: Vec<f64> = parts.concat();
        let naive = naive_percentile(&all, percent);
        prop_assert!((forth.percentile(percent) - naive).abs() <= naive.abs() / 1000.0);
    }
}
