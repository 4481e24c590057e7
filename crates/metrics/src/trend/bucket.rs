//! Log-linear buckets over the bits of an `f64`.
//!
//! Flipping the sign bit of positive numbers and all bits of negative ones makes the bits of floats
//! sort like their values. The top 22 of them (sign, exponent, 10 bits of mantissa) number the
//! bucket, so each bucket is at most 2⁻¹⁰ (0.098 %) of its values wide, from −∞ to ∞.

/// Bits of mantissa that tell buckets apart.
const MANTISSA_BITS: u32 = 10;
/// Bits that a bucket does not tell apart.
const SHIFT: u32 = 52 - MANTISSA_BITS;
const SIGN: u64 = 1 << 63;

/// The bucket that holds `value`, which must not be NaN. Greater values, greater keys.
pub(super) fn key_of(value: f64) -> u32 {
    // -0.0 and 0.0 are one value.
    let bits = (value + 0.0).to_bits();
    let sortable = if bits & SIGN == 0 { bits | SIGN } else { !bits };
    (sortable >> SHIFT) as u32
}

/// A bucket: values from `low` up to, and without, `low + width`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bin {
    /// Its least value.
    pub low: f64,
    /// How wide it is; 0 = it holds `low` alone.
    pub width: f64,
    /// How many values are in it.
    pub count: u64,
}

/// The bucket of a key.
pub(super) fn bin_of(key: u32, count: u64) -> Bin {
    let low = from_sortable(u64::from(key) << SHIFT);
    let next = from_sortable((u64::from(key) + 1) << SHIFT);
    Bin { low, width: (next - low).max(0.0), count }
}

/// The number that represents a bucket: the one with the fewest decimal digits in it.
///
/// So whole numbers up to 2048, and any number of three digits, come out as they went in; the middle of the bucket
/// would turn a 2 into 2.001. Zero represents every number closer to it than 10⁻³¹¹.
pub(super) fn value_of(key: u32) -> f64 {
    let low = u64::from(key) << SHIFT;
    let high = low | ((1 << SHIFT) - 1);
    let (low, high) = (from_sortable(low), from_sortable(high));
    if high <= 0.0 { -roundest(-high, -low) } else { roundest(low, high) }
}

fn from_sortable(sortable: u64) -> f64 {
    f64::from_bits(if sortable & SIGN == 0 { !sortable } else { sortable & !SIGN })
}

/// The number of fewest decimal digits from `low` to `high`, both positive or zero.
fn roundest(low: f64, high: f64) -> f64 {
    if low == 0.0 || !high.is_finite() {
        // The bucket of zero; the bucket of infinity (its other bits would be NaN).
        return low;
    }
    // A bucket is 10⁻³ to 10⁻⁴ of its values wide: some number of at most five digits is in it.
    let magnitude = low.log10().floor() as i32;
    for digits in 0..6 {
        let exponent = magnitude - digits;
        let candidate = if exponent >= 0 {
            let step = 10f64.powi(exponent);
            (low / step).ceil() * step
        } else {
            // Dividing by a whole power of ten gives the double nearest to the decimal.
            let scale = 10f64.powi(-exponent);
            (low * scale).ceil() / scale
        };
        if (low..=high).contains(&candidate) {
            return candidate;
        }
    }
    low
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn whole_numbers_and_three_digits_come_out_as_they_went_in() {
        for whole in -2048..=2048 {
            let value = f64::from(whole);
            assert_eq!(value_of(key_of(value)).to_bits(), (value + 0.0).to_bits(), "{value}");
        }
        for text in ["0.5", "127", "1.27", "0.001", "33.3", "9.99", "123000", "1e9", "0.000123"] {
            let value: f64 = text.parse().unwrap();
            assert_eq!(value_of(key_of(value)).to_string(), value.to_string());
        }
    }

    #[test]
    fn the_ends_of_the_line_have_buckets() {
        for value in [0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY] {
            assert_eq!(value_of(key_of(value)), value);
        }
        for value in [f64::MAX, f64::MIN, f64::MIN_POSITIVE, 5e-324, -5e-324] {
            let back = value_of(key_of(value));
            assert!((back - value).abs() <= value.abs() / 1000.0 + 1e-310, "{value}: {back}");
        }
    }

    proptest! {
        #[test]
        fn keys_sort_like_values(a: f64, b: f64) {
            if a < b {
                prop_assert!(key_of(a) <= key_of(b));
            }
        }

        #[test]
        fn a_bucket_is_within_a_thousandth(value in proptest::num::f64::NORMAL) {
            let back = value_of(key_of(value));
            prop_assert!((back - value).abs() <= value.abs() / 1000.0, "{} {}", value, back);
        }
    }
}
