//! Many tests at once: p-values made larger, so that all together cry wolf once in twenty times.

/// Holm's correction: right whatever the tests have to do with each other. In the order of the input.
pub(crate) fn holm(p_values: &[f64]) -> Vec<f64> {
    let order = rising(p_values);
    let mut corrected = vec![1.0; p_values.len()];
    let mut least = 0.0_f64;
    for (rank, index) in order.iter().enumerate() {
        let factor = (p_values.len() - rank) as f64;
        least = least.max((factor * p_values[*index]).min(1.0));
        corrected[*index] = least;
    }
    corrected
}

/// Hochberg's correction: sharper than Holm's where tests agree more often than by chance, as figures of
/// the same requests do. In the order of the input.
pub(crate) fn hochberg(p_values: &[f64]) -> Vec<f64> {
    let order = rising(p_values);
    let mut corrected = vec![1.0; p_values.len()];
    let mut most = 1.0_f64;
    for (rank, index) in order.iter().enumerate().rev() {
        let factor = (p_values.len() - rank) as f64;
        most = most.min(factor * p_values[*index]);
        corrected[*index] = most;
    }
    corrected
}

fn rising(p_values: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|a, b| p_values[*a].total_cmp(&p_values[*b]));
    order
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn holm_multiplies_the_least_by_all_and_never_falls() {
        assert_eq!(holm(&[0.01, 0.04, 0.03, 0.005]), [0.03, 0.06, 0.06, 0.02]);
        assert_eq!(holm(&[]), Vec::<f64>::new());
        assert_eq!(holm(&[0.6, 0.7]), [1.0, 1.0]);
    }

    #[test]
    fn both_are_what_one_computes_by_hand() {
        let rounded = |all: Vec<f64>| all.iter().map(|p| (p * 1e4).round()).collect::<Vec<_>>();
        let p_values = [0.011, 0.02, 0.045, 0.13, 0.001];
        assert_eq!(rounded(holm(&p_values)), [440.0, 600.0, 900.0, 1300.0, 50.0]);
        assert_eq!(rounded(hochberg(&[0.03, 0.02, 0.045])), [450.0, 450.0, 450.0]);
    }

    #[test]
    fn hochberg_takes_all_if_the_largest_is_small_enough() {
        assert_eq!(hochberg(&[0.04, 0.045, 0.05]), [0.05, 0.05, 0.05]);
        assert_eq!(hochberg(&[0.01, 0.9, 0.9]), [0.03, 0.9, 0.9]);
        assert_eq!(hochberg(&[0.02]), [0.02]);
    }

    proptest! {
        #[test]
        fn holm_is_never_below_hochberg_nor_either_below_the_plain_one(
            p_values in prop::collection::vec(0.0..=1.0, 0..40),
        ) {
            let (holm, hochberg) = (holm(&p_values), hochberg(&p_values));
            for index in 0..p_values.len() {
                prop_assert!(hochberg[index] >= p_values[index]);
                prop_assert!(holm[index] >= hochberg[index] - 1e-12);
                prop_assert!(holm[index] <= 1.0);
            }
        }

        #[test]
        fn corrections_keep_the_order(p_values in prop::collection::vec(0.0..=1.0, 2..40)) {
            for corrected in [holm(&p_values), hochberg(&p_values)] {
                for (a, x) in p_values.iter().zip(&corrected) {
                    for (b, y) in p_values.iter().zip(&corrected) {
                        prop_assert!(a > b || x <= y);
                    }
                }
            }
        }
    }
}
