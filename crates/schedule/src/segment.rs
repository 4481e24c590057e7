//! The share of a test that one machine runs.
//!
//! A test is cut into segments whose lengths add up to 1. Work is numbered 0, 1, 2… over the whole
//! test; *striping* deals the numbers out to the segments so that at each moment every segment has
//! had its part, as nearly as whole numbers allow. Machines that know the sequence and their own
//! place in it agree on who does what without talking. All of it is exact: lengths are integers over
//! their least common denominator, which is also the period of the pattern.

mod stripes;

use std::fmt;
use std::sync::Arc;

use crate::fraction::{Fraction, gcd};
use stripes::Stripes;

/// The longest period of a striping that is accepted from a user: it costs four bytes for each unit.
const PERIOD_MAX: u64 = 10_000_000;

/// Work of dealing out one period: its length times the number of segments.
const DEALING_MAX: u64 = 200_000_000;

/// One segment of an execution segment sequence. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Segment {
    stripes: Arc<Stripes>,
    /// Which of the sequence's segments this is.
    own: usize,
}

/// Why a segment or sequence cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SegmentError {
    /// A bound is neither `a/b`, nor a decimal, nor a percentage.
    #[error("{0:?} is not a part of a whole: write it like 1/3, 0.25 or 25%")]
    Number(String),
    /// A bound outside 0…1, or bounds that do not ascend.
    #[error("the bounds of {0:?} must ascend and lie between 0 and 1")]
    Bounds(String),
    /// A sequence of less than two points.
    #[error("the execution segment sequence {0:?} needs at least two points, such as 0,1/2,1")]
    Short(String),
    /// The segment is none of those that the sequence has.
    #[error("the execution segment {segment} is not one of those in the sequence {sequence}")]
    Stranger {
        /// As it is printed, `from:to`.
        segment: String,
        /// As it is printed, `0,…,1`.
        sequence: String,
    },
    /// Bounds whose least common denominator is beyond reason.
    #[error("the bounds of {0} have no common denominator under 10 million: use simple fractions")]
    Fine(String),
}

impl Segment {
    /// The whole test: `0:1`.
    pub fn full() -> Self {
        Self { stripes: Arc::new(Stripes::deal(&[1])), own: 0 }
    }

    /// Reads `--execution-segment` (`from:to`, or `to` alone for `0:to`) and its sequence (`0,1/3,2/3,1`).
    ///
    /// Without a segment it is `0:1`. Without a sequence, the parts before and behind the segment are
    /// one segment each; a sequence that does not begin at 0 or end at 1 is completed.
    ///
    /// # Errors
    /// [`SegmentError`] if a text cannot be read, or the segment is not in the sequence.
    pub fn parse(segment: Option<&str>, sequence: Option<&str>) -> Result<Self, SegmentError> {
        let (from, to) = match segment {
            Some(text) => parse_range(text)?,
            None => (Fraction::ZERO, Fraction::ONE),
        };
        let mut bounds = match sequence {
            Some(text) => parse_sequence(text)?,
            None => vec![from, to],
        };
        if bounds[0] != Fraction::ZERO {
            bounds.insert(0, Fraction::ZERO);
        }
        if bounds[bounds.len() - 1] != Fraction::ONE {
            bounds.push(Fraction::ONE);
        }
        let own = bounds.windows(2).position(|pair| pair == [from, to]);
        let own = own.ok_or_else(|| SegmentError::Stranger {
            segment: format!("{from}:{to}"),
            sequence: join(&bounds),
        })?;
        let lengths = lengths(&bounds).ok_or_else(|| SegmentError::Fine(join(&bounds)))?;
        Ok(Self { stripes: Arc::new(Stripes::deal(&lengths)), own })
    }

    /// Whether this is the whole test.
    pub fn is_full(&self) -> bool {
        self.stripes.count() == 1
    }

    /// The segment's length, more than 0 and at most 1. For showing: what is to be exact uses [`Self::scale`].
    pub fn share(&self) -> f64 {
        self.stripes.length(self.own) as f64 / self.stripes.period() as f64
    }

    /// How many of the first `v` things fall to this segment. Over a sequence these add up to `v`.
    pub fn scale(&self, v: u64) -> u64 {
        self.stripes.owned_below(self.own, v)
    }

    /// The number, in the whole test, of this segment's n-th thing; both count from 0.
    pub fn global(&self, n: u64) -> u64 {
        self.stripes.nth(self.own, n)
    }

    /// The segment's place in a sequence cut in proportion to how `v` things (VUs) are dealt out, so
    /// that iterations follow the VUs that exist, not the ideal shares. `None` if it gets none of the
    /// things, and so has no work.
    pub fn resegment(&self, v: u64) -> Option<Self> {
        if self.scale(v) == 0 {
            return None;
        }
        if self.is_full() {
            return Some(self.clone());
        }
        let shares = (0..self.stripes.count()).map(|index| self.stripes.owned_below(index, v));
        let shares: Vec<u64> = shares.collect();
        let own = shares[..self.own].iter().filter(|share| **share > 0).count();
        let shares: Vec<u64> = shares.into_iter().filter(|share| *share > 0).collect();
        let divisor = shares.iter().copied().fold(0, gcd);
        let lengths: Vec<u64> = shares.iter().map(|share| share / divisor).collect();
        Some(Self { stripes: Arc::new(Stripes::deal(&lengths)), own })
    }

    /// The sequence as text: `0,1/3,2/3,1`.
    pub fn sequence(&self) -> String {
        let bounds: Vec<Fraction> = (0..=self.stripes.count()).map(|i| self.bound(i)).collect();
        join(&bounds)
    }

    fn bound(&self, index: usize) -> Fraction {
        let below = (0..index).map(|i| self.stripes.length(i)).sum();
        Fraction::new(below, self.stripes.period()).unwrap_or(Fraction::ONE)
    }
}

impl Default for Segment {
    fn default() -> Self {
        Self::full()
    }
}

impl PartialEq for Segment {
    fn eq(&self, other: &Self) -> bool {
        self.own == other.own && self.stripes.lengths() == other.stripes.lengths()
    }
}

impl Eq for Segment {}

impl fmt::Display for Segment {
    /// As users write it: `1/3:2/3`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.bound(self.own), self.bound(self.own + 1))
    }
}

fn parse_number(text: &str) -> Result<Fraction, SegmentError> {
    Fraction::parse(text).ok_or_else(|| SegmentError::Number(text.into()))
}

fn parse_range(text: &str) -> Result<(Fraction, Fraction), SegmentError> {
    let (from, to) = match text.split_once(':') {
        Some((from, to)) => (parse_number(from)?, parse_number(to)?),
        None => (Fraction::ZERO, parse_number(text)?),
    };
    if from < to && to <= Fraction::ONE {
        Ok((from, to))
    } else {
        Err(SegmentError::Bounds(text.into()))
    }
}

fn parse_sequence(text: &str) -> Result<Vec<Fraction>, SegmentError> {
    let bounds = text.split(',').map(parse_number).collect::<Result<Vec<_>, _>>()?;
    if bounds.len() < 2 {
        return Err(SegmentError::Short(text.into()));
    }
    let ascending = bounds.is_sorted_by(|a, b| a < b);
    if ascending && bounds[bounds.len() - 1] <= Fraction::ONE {
        Ok(bounds)
    } else {
        Err(SegmentError::Bounds(text.into()))
    }
}

fn join(bounds: &[Fraction]) -> String {
    bounds.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
}

/// The lengths between the bounds, over the least common denominator; `None` if that is out of reason.
fn lengths(bounds: &[Fraction]) -> Option<Vec<u64>> {
    let mut period = 1_u64;
    for bound in bounds {
        period = (period / gcd(period, bound.den)).checked_mul(bound.den)?;
        if period > PERIOD_MAX || period.checked_mul(bounds.len() as u64)? > DEALING_MAX {
            return None;
        }
    }
    let scaled = |bound: &Fraction| bound.num * (period / bound.den);
    Some(bounds.windows(2).map(|pair| scaled(&pair[1]) - scaled(&pair[0])).collect())
}

#[cfg(test)]
mod tests;
