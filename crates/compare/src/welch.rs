//! Several runs a side: the unit is the run, and its spread is seen in the runs themselves.

use crate::estimate::Estimate;

/// The difference of the means (B − A) with Welch's standard error and degrees of freedom.
///
/// With one run on one side and several on the other, the one is taken to spread as the others do. None
/// with fewer than three runs in all, or none on a side.
pub(crate) fn welch(a: &[f64], b: &[f64]) -> Option<Estimate> {
    if a.is_empty() || b.is_empty() || a.len() + b.len() < 3 {
        return None;
    }
    let difference = mean(b) - mean(a);
    let (count_a, count_b) = (a.len() as f64, b.len() as f64);
    let (square, degrees) = match (variance(a), variance(b)) {
        (Some(var_a), Some(var_b)) => {
            let (part_a, part_b) = (var_a / count_a, var_b / count_b);
            (part_a + part_b, degrees(&[(part_a, count_a - 1.0), (part_b, count_b - 1.0)]))
        }
        (Some(variance), None) | (None, Some(variance)) => {
            (variance * (1.0 / count_a + 1.0 / count_b), count_a.max(count_b) - 1.0)
        }
        (None, None) => return None,
    };
    Some(Estimate { difference, error: square.sqrt(), degrees })
}

/// Satterthwaite's degrees of freedom of a sum of variances, each with its own; those of all together if
/// none of them varies.
pub(crate) fn degrees(parts: &[(f64, f64)]) -> f64 {
    let sum: f64 = parts.iter().map(|(variance, _)| variance).sum();
    if sum <= 0.0 {
        return parts.iter().map(|(_, degrees)| degrees).sum();
    }
    // Shares, so that small variances do not vanish when squared.
    1.0 / parts
        .iter()
        .map(|(variance, degrees)| (variance / sum) * (variance / sum) / degrees)
        .sum::<f64>()
}

/// The mean; NaN of none.
pub(crate) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The variance of what the values were drawn from; none of fewer than two.
pub(crate) fn variance(values: &[f64]) -> Option<f64> {
    if values.len() < 2 {
        return None;
    }
    let mean = mean(values);
    let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
    Some(squares / (values.len() - 1) as f64)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_example_by_hand() {
        // Means 2 and 5, variances 1 and 4, three each: error √(1/3 + 4/3), degrees (5/3)² / ((1/9 + 16/9) / 2).
        let found = welch(&[1.0, 2.0, 3.0], &[3.0, 5.0, 7.0]).unwrap();
        assert!((found.difference - 3.0).abs() < 1e-12);
        assert!((found.error - (5.0_f64 / 3.0).sqrt()).abs() < 1e-12);
        assert!((found.degrees - 25.0 / 9.0 / (17.0 / 18.0)).abs() < 1e-12, "{}", found.degrees);
    }

    #[test]
    fn the_interval_is_that_of_another_program() {
        // By scipy 1.17, `ttest_ind(b, a, equal_var=False)`.
        let found = welch(&[2.31, 2.44, 2.29, 2.52], &[2.61, 2.57, 2.74]).unwrap();
        let (low, high) = found.interval();
        assert!((found.degrees - 4.903_176_133_665_286).abs() < 1e-9, "{}", found.degrees);
        assert!((found.p_value() - 0.021_267_230_852_849_86).abs() < 1e-9, "{}", found.p_value());
        assert!((low - 0.056_199_333_130_076_97).abs() < 1e-9, "{low}");
        assert!((high - 0.443_800_666_869_923_03).abs() < 1e-9, "{high}");
    }

    #[test]
    fn one_run_against_several_spreads_as_they_do() {
        let found = welch(&[1.0, 2.0, 3.0], &[5.0]).unwrap();
        assert!((found.error - (4.0_f64 / 3.0).sqrt()).abs() < 1e-12);
        assert_eq!(found.degrees, 2.0);
        assert!(welch(&[1.0], &[2.0]).is_none());
    }

    proptest! {
        #[test]
        fn sides_that_change_places_change_the_sign_alone(
            a in prop::collection::vec(-5.0..5.0, 2..9),
            b in prop::collection::vec(-5.0..5.0, 2..9),
        ) {
            let (forth, back) = (welch(&a, &b).unwrap(), welch(&b, &a).unwrap());
            prop_assert!((forth.difference + back.difference).abs() < 1e-9);
            prop_assert!((forth.error - back.error).abs() < 1e-9);
            prop_assert!((forth.degrees - back.degrees).abs() < 1e-6);
        }

        #[test]
        fn degrees_lie_between_the_smaller_side_s_and_both_together(
            a in prop::collection::vec(-5.0..5.0, 2..9),
            b in prop::collection::vec(-5.0..5.0, 2..9),
        ) {
            let degrees = welch(&a, &b).unwrap().degrees;
            let least = a.len().min(b.len()) as f64 - 1.0;
            let most = (a.len() + b.len()) as f64 - 2.0;
            prop_assert!((least - 1e-9..=most + 1e-9).contains(&degrees), "{degrees}");
        }
    }
}
