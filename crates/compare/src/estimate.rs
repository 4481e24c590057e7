//! A difference and how far it may be from the truth.

use crate::student;

/// The share of cases in which a comparison may be wrong.
pub(crate) const ALPHA: f64 = 0.05;

/// A difference (B − A) with its standard error and the degrees of freedom that the error was estimated with.
///
/// Of durations and rates it is a difference of logarithms, of shares one of shares.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Estimate {
    pub(crate) difference: f64,
    pub(crate) error: f64,
    pub(crate) degrees: f64,
}

/// A change from A to B with the interval that holds the truth in 95 of 100 cases: 0.1 = a tenth more, or ten
/// percentage points.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    /// The change.
    pub value: f64,
    /// The interval's lower end.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
}

impl Change {
    /// Whether the whole interval lies within a tolerance.
    pub(crate) fn is_within(&self, tolerance: f64) -> bool {
        self.low >= -tolerance && self.high <= tolerance
    }
}

impl Estimate {
    /// The interval that holds the truth in 95 of 100 cases.
    pub(crate) fn interval(&self) -> (f64, f64) {
        let half = if self.error > 0.0 {
            self.error * student::quantile(ALPHA, self.degrees)
        } else {
            0.0
        };
        (self.difference - half, self.difference + half)
    }

    /// How probable a difference of this size is where there is none.
    pub(crate) fn p_value(&self) -> f64 {
        if self.difference == 0.0 {
            1.0
        } else if self.error <= 0.0 {
            0.0
        } else {
            student::p_value(self.difference / self.error, self.degrees)
        }
    }

    /// With an error of at least this size.
    pub(crate) fn widened(mut self, error: f64, degrees: f64) -> Self {
        if error > self.error {
            (self.error, self.degrees) = (error, degrees);
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_leaves_out_zero_just_when_p_is_below_a_twentieth() {
        for difference in [0.01, 0.5, 1.0, 2.0, 2.7, 2.8, 3.0, 10.0] {
            let estimate = Estimate { difference, error: 1.0, degrees: 4.0 };
            assert_eq!(estimate.interval().0 > 0.0, estimate.p_value() < ALPHA, "{difference}");
        }
    }

    #[test]
    fn without_spread_the_interval_is_a_point() {
        let estimate = Estimate { difference: 0.1, error: 0.0, degrees: 4.0 };
        assert_eq!((estimate.interval(), estimate.p_value()), ((0.1, 0.1), 0.0));
        let estimate = Estimate { difference: 0.0, ..estimate };
        assert_eq!(estimate.p_value(), 1.0);
    }

    #[test]
    fn widening_never_narrows() {
        let estimate = Estimate { difference: 0.1, error: 1.0, degrees: 9.0 };
        assert_eq!(estimate.widened(0.5, 4.0), estimate);
        assert_eq!(estimate.widened(2.0, 4.0).degrees, 4.0);
    }
}
