//! A rate that swings about a mean.

use std::f64::consts::TAU;
use std::time::Duration;

/// `mean + amplitude · sin(offset + 2πt/period)` hits a second.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Sine {
    period: f64,
    mean: f64,
    amplitude: f64,
    offset: f64,
}

/// A fault of a sine.
#[derive(Copy, Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SineError {
    /// A period of no time.
    #[error("the period must be longer than 0")]
    Period,
    /// A mean of no hits.
    #[error("the mean rate must be more than 0")]
    Mean,
    /// There would be less than no hits.
    #[error("the amplitude must be less than the mean rate, and not negative")]
    Amplitude,
    /// An offset that is no angle.
    #[error("the offset must be a finite number of radians")]
    Offset,
}

impl Sine {
    /// `mean` and `amplitude` in hits a second. `offset` in radians: 0 begins at the mean and rises, π/2 begins at the
    /// peak, π at the mean and falls, 3π/2 at the trough.
    ///
    /// # Errors
    /// [`SineError`].
    pub fn new(
        period: Duration,
        mean: f64,
        amplitude: f64,
        offset: f64,
    ) -> Result<Self, SineError> {
        if period.is_zero() {
            return Err(SineError::Period);
        }
        if !(mean > 0.0 && mean.is_finite()) {
            return Err(SineError::Mean);
        }
        if !(0.0..mean).contains(&amplitude) {
            return Err(SineError::Amplitude);
        }
        if !offset.is_finite() {
            return Err(SineError::Offset);
        }
        Ok(Self { period: period.as_secs_f64(), mean, amplitude, offset })
    }

    fn hits(&self, time: f64) -> f64 {
        let swing = self.offset.cos() - (self.offset + TAU * time / self.period).cos();
        self.mean * time + self.amplitude * self.period / TAU * swing
    }

    fn rate_at(&self, time: f64) -> f64 {
        self.mean + self.amplitude * (self.offset + TAU * time / self.period).sin()
    }

    /// See [`Pacer::due`](super::Pacer::due).
    pub fn due(&self, n: u64) -> Option<u64> {
        let wanted = n as f64;
        // The swing never shifts hits by more than twice its area.
        let shift = self.amplitude * self.period / TAU * 2.0;
        let mut low = ((wanted - shift) / self.mean).max(0.0);
        let mut high = (wanted + shift) / self.mean;
        let mut time = (wanted / self.mean).clamp(low, high);
        // Newton's steps, kept between bounds that close in: the rate is positive, so the hits only grow.
        for _ in 0..64 {
            let miss = self.hits(time) - wanted;
            if miss.abs() < 1e-7 {
                break;
            }
            if miss > 0.0 {
                high = time;
            } else {
                low = time;
            }
            let next = time - miss / self.rate_at(time);
            time = if low < next && next < high { next } else { f64::midpoint(low, high) };
        }
        Some((time * 1e9) as u64)
    }

    /// Hits a second, at a moment.
    pub fn rate(&self, at: Duration) -> f64 {
        self.rate_at(at.as_secs_f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pacer::Pacer;

    #[test]
    fn a_whole_period_has_the_hits_of_the_mean() {
        let sine = Sine::new(Duration::from_secs(10), 100.0, 90.0, 0.0).unwrap();
        let pacer = Pacer::Sine(sine);
        assert_eq!(pacer.hits_before(Duration::from_secs(10)).abs_diff(1_000), 0);
        // M·t + A·P/π in the upper half.
        assert_eq!(pacer.hits_before(Duration::from_secs(5)).abs_diff(786), 1);
        assert!((pacer.rate(Duration::from_millis(2_500)) - 190.0).abs() < 1e-9);
        let dues: Vec<_> = (0..3_000).map(|n| pacer.due(n).unwrap()).collect();
        assert!(dues.is_sorted());
    }

    #[test]
    fn the_offset_says_where_it_begins() {
        let peak = Sine::new(Duration::from_secs(10), 100.0, 90.0, TAU / 4.0).unwrap();
        assert!((peak.rate(Duration::ZERO) - 190.0).abs() < 1e-9);
        assert_eq!(peak.due(0), Some(0));
    }

    #[test]
    fn nonsense_is_refused() {
        let second = Duration::from_secs(1);
        for (period, mean, amplitude, error) in [
            (Duration::ZERO, 1.0, 0.5, SineError::Period),
            (second, 0.0, 0.0, SineError::Mean),
            (second, f64::NAN, 0.0, SineError::Mean),
            (second, 1.0, 1.0, SineError::Amplitude),
            (second, 1.0, -0.1, SineError::Amplitude),
        ] {
            assert_eq!(Sine::new(period, mean, amplitude, 0.0), Err(error));
        }
        assert_eq!(Sine::new(second, 1.0, 0.0, f64::INFINITY), Err(SineError::Offset));
    }
}
