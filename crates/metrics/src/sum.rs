//! Sums that come out the same in whatever order their parts are added.

/// A sum as two floats: the nearest one, and what it lacks.
///
/// Parts of up to 53 bits add up without loss as long as all of them fit into some hundred bits: a sum of frames is then that of
/// slices, of cores, of series, to the last digit.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sum {
    /// The sum as a float.
    pub high: f64,
    /// The rest, to be added to it.
    pub low: f64,
}

impl Sum {
    /// Nothing.
    pub const ZERO: Self = Self { high: 0.0, low: 0.0 };

    /// Adds another sum.
    pub fn add(&mut self, other: Self) {
        let (high, low) = two_sum(self.high, other.high);
        if !high.is_finite() {
            (self.high, self.low) = (high, 0.0);
            return;
        }
        let (rest, lost) = two_sum(self.low, other.low);
        let (high, low) = two_sum(high, low + rest);
        (self.high, self.low) = two_sum(high, low + lost);
    }

    /// As one float.
    pub fn value(self) -> f64 {
        self.high + self.low
    }
}

impl From<f64> for Sum {
    fn from(high: f64) -> Self {
        Self { high, low: 0.0 }
    }
}

/// The sum of two floats, and what was lost by rounding it (Knuth's algorithm).
fn two_sum(one: f64, other: f64) -> (f64, f64) {
    let sum = one + other;
    let part = sum - one;
    (sum, (one - (sum - part)) + (other - part))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn infinities_are_no_trap() {
        let mut sum = Sum::from(1.0);
        sum.add(f64::INFINITY.into());
        sum.add(2.0.into());
        assert_eq!(sum.value(), f64::INFINITY);
        sum.add(f64::NEG_INFINITY.into());
        assert!(sum.value().is_nan());
    }

    proptest! {
        #[test]
        fn the_order_does_not_matter(
            mut parts in prop::collection::vec(prop_oneof![0.000_001..60_000.0, -5.0..1e12], 1..500),
            group in 1usize..50,
        ) {
            let all = |parts: &[f64]| {
                let mut sum = Sum::ZERO;
                for part in parts {
                    sum.add((*part).into());
                }
                sum
            };
            let forth = all(&parts);
            let mut groups = Sum::ZERO;
            parts.chunks(group).for_each(|group| groups.add(all(group)));
            parts.sort_by(f64::total_cmp);
            prop_assert_eq!(forth.value(), all(&parts).value());
            prop_assert_eq!(forth.value(), groups.value());
        }
    }
}
