//! The rate over time, and its inverse.

mod swing;

use std::time::Duration;

use self::swing::Swing;
use crate::{Sine, Stage};

const SECOND: f64 = 1e9;

/// When the k-th iteration of the whole test is due. Instants are nanoseconds.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Pace {
    Constant(Constant),
    Ramping(Ramping),
    Swinging(Swing),
}

impl Pace {
    pub(crate) fn constant(rate: u64, time_unit: Duration, duration: Duration) -> Self {
        let (rate, time_unit) = (rate.max(1), nanos(time_unit).max(1));
        Self::Constant(Constant { rate, time_unit, duration: nanos(duration) })
    }

    pub(crate) fn ramping(start_rate: u64, time_unit: Duration, stages: &[Stage]) -> Self {
        Self::Ramping(Ramping::new(start_rate, nanos(time_unit).max(1), stages))
    }

    pub(crate) fn swinging(rate: u64, time_unit: Duration, duration: Duration, sine: Sine) -> Self {
        let (rate, time_unit) = (rate.max(1), nanos(time_unit).max(1));
        Self::Swinging(Swing::new(rate, time_unit, nanos(duration), sine))
    }

    /// How many iterations an even pace comes to, with the fraction of the next one.
    pub(crate) fn area(&self) -> f64 {
        match self {
            Self::Constant(c) => c.duration as f64 / c.time_unit as f64 * c.rate as f64,
            Self::Ramping(ramping) => ramping.area() as f64 / ramping.iteration() as f64,
            Self::Swinging(swing) => swing.area(),
        }
    }

    /// When an even pace has come to this number of iterations; `None` if it never does.
    pub(crate) fn reach(&self, area: f64) -> Option<u64> {
        if area > self.area() {
            return None;
        }
        Some(match self {
            Self::Constant(c) => {
                ((area / c.rate as f64 * c.time_unit as f64) as u64).min(c.duration)
            }
            Self::Ramping(ramping) => ramping.reach(area),
            Self::Swinging(swing) => swing.reach(area),
        })
    }

    /// `k` counts from 0.
    pub(crate) fn due(&self, k: u64) -> Option<u64> {
        match self {
            Self::Constant(constant) => constant.due(k),
            Self::Ramping(ramping) => ramping.due(k),
            // As a constant rate, it begins with one at 0.
            Self::Swinging(_) => self.reach(k as f64),
        }
    }

    pub(crate) fn count(&self) -> u64 {
        match self {
            Self::Constant(constant) => constant.count(),
            Self::Ramping(ramping) => ramping.count(),
            Self::Swinging(swing) => swing.area() as u64 + 1,
        }
    }

    pub(crate) fn per_second(&self, at: Duration) -> f64 {
        match self {
            Self::Constant(c) => c.rate as f64 / c.time_unit as f64 * SECOND,
            Self::Ramping(ramping) => ramping.per_second(nanos(at)),
            Self::Swinging(swing) => swing.rate_at(nanos(at) as f64) * SECOND,
        }
    }
}

/// Longer durations than 584 years are cut to that; options do not let them in.
fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

/// `rate` in each `time_unit`, evenly.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Constant {
    rate: u64,
    time_unit: u64,
    duration: u64,
}

impl Constant {
    /// `k · time_unit / rate`, truncated, if that is not after the end. Exact: k6 multiplies a period that is
    /// already rounded to nanoseconds, and so drifts by up to one of them for each iteration.
    fn due(&self, k: u64) -> Option<u64> {
        let (units, rest) = (k / self.rate, k % self.rate);
        let below = match rest.checked_mul(self.time_unit) {
            Some(product) => product / self.rate,
            None => (u128::from(rest) * u128::from(self.time_unit) / u128::from(self.rate)) as u64,
        };
        let due = units.checked_mul(self.time_unit)?.checked_add(below)?;
        (due <= self.duration).then_some(due)
    }

    /// The least k that is not due: `k · time_unit / rate`, truncated, is more than the duration.
    fn count(&self) -> u64 {
        let area = (u128::from(self.duration) + 1) * u128::from(self.rate);
        u64::try_from(area.div_ceil(u128::from(self.time_unit))).unwrap_or(u64::MAX)
    }
}

/// Straight lines between rates.
///
/// Areas (numbers of iterations) are kept exactly, as integers in units of `1 / (2 · time_unit)`: a leg
/// from rate f to rate t that takes L ns has (f + t) · L of them. So the fraction of an iteration that a
/// stage leaves to the next is never rounded, however many stages there are.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Ramping {
    time_unit: u64,
    legs: Vec<Leg>,
    /// The rate after the last stage, per `time_unit`.
    last_rate: u64,
}

/// A stage that takes time.
#[derive(Debug, Clone, PartialEq)]
struct Leg {
    start: u64,
    length: u64,
    from: u64,
    to: u64,
    /// Area before this leg, and with it.
    area_before: u128,
    area_after: u128,
    /// Whether the discriminant fits into 128 bits.
    is_small: bool,
}

impl Ramping {
    fn new(start_rate: u64, time_unit: u64, stages: &[Stage]) -> Self {
        let (mut from, mut start, mut area) = (start_rate, 0_u64, 0_u128);
        let mut legs = Vec::with_capacity(stages.len());
        for Stage { duration, target: to } in stages.iter().copied() {
            let length = nanos(duration);
            let rates = u128::from(from) + u128::from(to);
            let area_after = area.saturating_add(rates.saturating_mul(u128::from(length)));
            // (f + t)² · L bounds both terms of the discriminant.
            let bound = rates.checked_mul(rates).and_then(|r| r.checked_mul(u128::from(length)));
            let is_small = bound.is_some_and(|bound| bound < u128::MAX / 4);
            if length > 0 {
                legs.push(Leg { start, length, from, to, area_before: area, area_after, is_small });
            }
            (from, start, area) = (to, start.saturating_add(length), area_after);
        }
        Self { time_unit, legs, last_rate: from }
    }

    /// Twice the time unit: how much area one iteration is.
    fn iteration(&self) -> u128 {
        2 * u128::from(self.time_unit)
    }

    fn due(&self, k: u64) -> Option<u64> {
        let area = (u128::from(k) + 1).checked_mul(self.iteration())?;
        let leg = self.legs.partition_point(|leg| leg.area_after < area);
        Some(self.legs.get(leg)?.reach(area))
    }

    fn count(&self) -> u64 {
        u64::try_from(self.area() / self.iteration()).unwrap_or(u64::MAX)
    }

    fn area(&self) -> u128 {
        self.legs.last().map_or(0, |leg| leg.area_after)
    }

    /// When this number of iterations has come, a fraction of one included.
    fn reach(&self, iterations: f64) -> u64 {
        let area = ((iterations * self.iteration() as f64) as u128).clamp(1, self.area().max(1));
        let leg = self.legs.partition_point(|leg| leg.area_after < area);
        self.legs.get(leg).map_or(0, |leg| leg.reach(area))
    }

    fn per_second(&self, at: u64) -> f64 {
        let leg = self.legs.iter().find(|leg| at < leg.start.saturating_add(leg.length));
        let rate = leg.map_or(self.last_rate as f64, |leg| {
            let passed = at.saturating_sub(leg.start) as f64 / leg.length as f64;
            leg.from as f64 + (leg.to as f64 - leg.from as f64) * passed
        });
        rate / self.time_unit as f64 * SECOND
    }
}

impl Leg {
    /// When the area reaches `area`, which it does in this leg.
    ///
    /// With m the area still missing at the leg's start, x solves `2fx + (t−f)x²/L = m`, and the form
    /// `x = m / (f + √(f² + (t−f)m/L))` of the answer needs no branch for f = t and never subtracts
    /// two near numbers. The radicand is an integer over L, got without rounding: near the
    /// end of a ramp down to 0 a float would be left with nothing but its rounding.
    fn reach(&self, area: u128) -> u64 {
        let missing = area - self.area_before;
        let (from, length) = (self.from as f64, self.length as f64);
        let under_root = if self.is_small {
            let change = i128::from(self.to) - i128::from(self.from);
            let from = i128::from(self.from);
            // Not negative: at the leg's end it is t² · L.
            (from * from * i128::from(self.length) + change * missing as i128) as f64 / length
        } else {
            let change = self.to as f64 - from;
            (from * from + change * missing as f64 / length).max(0.0)
        };
        let passed = missing as f64 / (from + under_root.sqrt());
        // The cast saturates; a missing area of 0 in a leg of rate 0 gives NaN, which becomes 0.
        self.start.saturating_add((passed as u64).min(self.length))
    }
}
