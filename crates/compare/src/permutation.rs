//! The exact permutation test: of all ways to deal the runs to the two sides, how many set them this far apart?

/// The most runs a side for which all ways are tried: 924 of them.
pub(crate) const RUNS_MAX: usize = 6;

/// The answer of the test.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Permutation {
    /// The share of ways whose means lie at least as far apart, on either side.
    pub p: f64,
    /// The least that this can be with these runs: 0.1 with three a side.
    pub least: f64,
}

/// Tries all ways. None if a side is empty or has more than six runs.
pub(crate) fn exact(a: &[f64], b: &[f64]) -> Option<Permutation> {
    if a.is_empty() || b.is_empty() || a.len() > RUNS_MAX || b.len() > RUNS_MAX {
        return None;
    }
    let all: Vec<f64> = a.iter().chain(b).copied().collect();
    let (count_a, count_b) = (a.len() as f64, b.len() as f64);
    let total: f64 = all.iter().sum();
    let apart = |sum_a: f64| (sum_a / count_a - (total - sum_a) / count_b).abs();
    let observed = apart(a.iter().sum());
    let mut ways: Vec<f64> = Vec::new();
    for way in 0_u32..1 << all.len() {
        if way.count_ones() as usize == a.len() {
            let chosen = all.iter().enumerate().filter(|(index, _)| way >> index & 1 == 1);
            ways.push(apart(chosen.map(|(_, value)| value).sum()));
        }
    }
    // Sums in another order differ in their last bits.
    let slack = all.iter().fold(0.0_f64, |most, value| most.max(value.abs())) * 1e-12;
    let farthest = ways.iter().copied().fold(0.0, f64::max);
    let share = |bound: f64| {
        ways.iter().filter(|way| **way >= bound - slack).count() as f64 / ways.len() as f64
    };
    Some(Permutation { p: share(observed), least: share(farthest) })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn three_a_side_that_do_not_overlap_give_a_tenth() {
        let found = exact(&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0]).unwrap();
        assert!((found.p - 0.1).abs() < 1e-12 && (found.least - 0.1).abs() < 1e-12);
        let found = exact(&[1.0, 2.0, 4.0], &[3.0, 5.0, 6.0]).unwrap();
        assert!((found.p - 0.2).abs() < 1e-12, "{found:?}");
    }

    #[test]
    fn the_share_is_that_of_another_program() {
        // By scipy 1.17, `permutation_test` with all ways.
        let found = exact(&[2.31, 2.44, 2.29, 2.52], &[2.61, 2.57, 2.74]).unwrap();
        assert!((found.p - 2.0 / 35.0).abs() < 1e-12 && (found.least - 1.0 / 35.0).abs() < 1e-12);
        let (a, b) = ([1.0, 2.0, 4.0, 8.0, 16.0], [3.0, 5.0, 9.0, 7.0, 30.0, 31.0]);
        assert!((exact(&a, &b).unwrap().p - 128.0 / 462.0).abs() < 1e-12);
    }

    #[test]
    fn equal_runs_are_no_evidence() {
        assert_eq!(exact(&[2.0; 3], &[2.0; 3]).unwrap().p, 1.0);
    }

    #[test]
    fn more_than_six_are_not_tried() {
        assert!(exact(&[1.0; 7], &[1.0; 3]).is_none());
        assert!(exact(&[], &[1.0; 3]).is_none());
        assert!(exact(&[1.0; 6], &[1.0; 6]).is_some());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn sides_may_change_places(
            a in prop::collection::vec(-5.0..5.0, 1..5),
            b in prop::collection::vec(-5.0..5.0, 1..5),
        ) {
            let (forth, back) = (exact(&a, &b).unwrap(), exact(&b, &a).unwrap());
            prop_assert!((forth.p - back.p).abs() < 1e-12);
            prop_assert!(forth.least <= forth.p + 1e-12 && forth.p <= 1.0);
        }
    }
}
