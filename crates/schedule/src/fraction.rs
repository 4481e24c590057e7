//! Exact parts of a whole, for segment bounds.

use std::cmp::Ordering;
use std::fmt;

/// A reduced fraction from 0 up. Both sides stay under 10^18, so products fit into `u128`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fraction {
    pub(crate) num: u64,
    pub(crate) den: u64,
}

const SIDE_MAX: u64 = 1_000_000_000_000_000_000;

impl Fraction {
    pub(crate) const ZERO: Self = Self { num: 0, den: 1 };
    pub(crate) const ONE: Self = Self { num: 1, den: 1 };

    /// Reduces; `None` if `den` is 0 or a side is too long.
    pub(crate) fn new(num: u64, den: u64) -> Option<Self> {
        if den == 0 || num > SIDE_MAX || den > SIDE_MAX {
            return None;
        }
        let divisor = gcd(num, den);
        Some(Self { num: num / divisor, den: den / divisor })
    }

    /// Reads `1/3`, `0.25`, `25%` or `1`.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        if let Some(percent) = text.strip_suffix('%') {
            let part = Self::parse_decimal(percent)?;
            return Self::new(part.num, part.den.checked_mul(100)?);
        }
        match text.split_once('/') {
            Some((num, den)) => Self::new(digits(num)?, digits(den)?),
            None => Self::parse_decimal(text),
        }
    }

    fn parse_decimal(text: &str) -> Option<Self> {
        let (whole, part) = text.split_once('.').unwrap_or((text, ""));
        let den = 10_u64.checked_pow(u32::try_from(part.len()).ok()?)?;
        let whole = if whole.is_empty() && !part.is_empty() { 0 } else { digits(whole)? };
        let part = if part.is_empty() { 0 } else { digits(part)? };
        Self::new(whole.checked_mul(den)?.checked_add(part)?, den)
    }
}

fn digits(text: &str) -> Option<u64> {
    if text.bytes().all(|b| b.is_ascii_digit()) { text.parse().ok() } else { None }
}

/// The greatest common divisor; that of 0 and n is n.
pub(crate) fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

impl Ord for Fraction {
    fn cmp(&self, other: &Self) -> Ordering {
        let left = u128::from(self.num) * u128::from(other.den);
        left.cmp(&(u128::from(other.num) * u128::from(self.den)))
    }
}

impl PartialOrd for Fraction {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for Fraction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.den {
            1 => write!(f, "{}", self.num),
            den => write!(f, "{}/{den}", self.num),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fractions_decimals_and_percentages_are_the_same_thing() {
        for text in ["1/4", "2/8", "0.25", ".25", "25%", "25.0%"] {
            assert_eq!(Fraction::parse(text), Some(Fraction { num: 1, den: 4 }), "{text}");
        }
        for text in ["", "/", "1/", "1/0", "-1", "+1/2", "a", ".", "%", "1e3", "1/3%"] {
            assert_eq!(Fraction::parse(text), None, "{text}");
        }
    }
}
