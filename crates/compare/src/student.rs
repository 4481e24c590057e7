//! Student's t: how far a mean of few values may lie from the truth.

use special::Beta as _;

/// From here on t is the normal distribution to four digits, and the series below would take long.
const DEGREES_MAX: f64 = 1e5;

/// The probability of a value at least as far from zero as `t`, on either side.
pub(crate) fn p_value(t: f64, degrees: f64) -> f64 {
    let degrees = degrees.min(DEGREES_MAX);
    let t = t.abs();
    if t.is_nan() || degrees <= 0.0 {
        return 1.0;
    }
    if t == 0.0 {
        return 1.0;
    }
    // Without overflow for large t.
    let x = if t > 1e100 { 0.0 } else { degrees / (degrees + t * t) };
    let (p, q) = (degrees / 2.0, 0.5);
    x.inc_beta(p, q, p.ln_beta(q)).clamp(0.0, 1.0)
}

/// The value that t passes, on either side together, with probability `alpha` (0 to 1, without them).
pub(crate) fn quantile(alpha: f64, degrees: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    while p_value(high, degrees) > alpha {
        low = high;
        high *= 2.0;
        if high > 1e30 {
            return f64::INFINITY;
        }
    }
    for _ in 0..100 {
        let middle = f64::midpoint(low, high);
        if middle <= low || middle >= high {
            break;
        }
        if p_value(middle, degrees) > alpha {
            low = middle;
        } else {
            high = middle;
        }
    }
    f64::midpoint(low, high)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn quantiles_are_those_of_the_printed_tables() {
        // Two-sided, from the table in any textbook.
        for (alpha, degrees, wanted) in [
            (0.05, 1.0, 12.706),
            (0.05, 2.0, 4.303),
            (0.05, 4.0, 2.776),
            (0.05, 10.0, 2.228),
            (0.05, 30.0, 2.042),
            (0.01, 4.0, 4.604),
            (0.10, 4.0, 2.132),
            (0.001, 8.0, 5.041),
            (0.05, 1e9, 1.960),
        ] {
            let found = quantile(alpha, degrees);
            assert!((found - wanted).abs() < 6e-4, "{alpha} {degrees}: {found}");
        }
    }

    #[test]
    fn probabilities_are_those_of_another_program() {
        // By scipy 1.17, `2 * t.sf(t, degrees)`, with degrees that are no whole numbers.
        for (t, degrees, wanted) in [
            (2.5, 3.3, 0.080_052_836_308_354_47),
            (0.7, 1.2, 0.594_640_878_342_622_7),
            (4.4, 17.5, 0.000_367_197_003_002_934_5),
            (1.3, 250.0, 0.194_798_260_653_990_33),
        ] {
            assert!((p_value(t, degrees) - wanted).abs() < 1e-10, "{t} {degrees}");
        }
        assert!((quantile(0.05, 3.7) - 2.867_520_707_191_190_3).abs() < 1e-7);
        assert!((quantile(0.2, 7.5) - 1.405_211_846_415_953).abs() < 1e-7);
    }

    #[test]
    fn one_degree_is_cauchy_s_law() {
        for t in [0.1, 1.0, 5.0, 100.0_f64] {
            let wanted = 1.0 - 2.0 * t.atan() / std::f64::consts::PI;
            assert!((p_value(t, 1.0) - wanted).abs() < 1e-12);
        }
    }

    #[test]
    fn the_ends_are_no_trouble() {
        assert_eq!(p_value(f64::INFINITY, 3.0), 0.0);
        assert_eq!(p_value(0.0, 3.0), 1.0);
        assert_eq!(p_value(f64::NAN, 3.0), 1.0);
    }

    proptest! {
        #[test]
        fn a_quantile_has_the_probability_it_was_asked_for(alpha in 1e-6..0.99, degrees in 1.0..500.0) {
            let back = p_value(quantile(alpha, degrees), degrees);
            prop_assert!((back - alpha).abs() < 1e-8 + alpha * 1e-6, "{back}");
        }

        #[test]
        fn farther_is_rarer(t in 0.0..50.0, more in 0.01..10.0, degrees in 1.0..100.0) {
            prop_assert!(p_value(t + more, degrees) <= p_value(t, degrees));
        }
    }
}
