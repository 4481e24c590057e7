//! A rate that swings about a mean.

use std::f64::consts::{FRAC_PI_2, TAU};

use crate::rhythm::Sine;

/// `mean + amplitude · sin(offset + 2πt / period)` iterations a nanosecond; instants are nanoseconds.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Swing {
    mean: f64,
    amplitude: f64,
    period: f64,
    offset: f64,
    duration: u64,
}

impl Swing {
    pub(super) fn new(rate: u64, time_unit: u64, duration: u64, sine: Sine) -> Self {
        let per_unit = |rate: u64| rate as f64 / time_unit as f64;
        Self {
            mean: per_unit(rate),
            amplitude: per_unit(sine.amplitude),
            period: (sine.period.as_nanos() as f64).max(1.0),
            offset: sine.start.quarters() * FRAC_PI_2,
            duration,
        }
    }

    /// Iterations from the start to this moment.
    fn area_at(&self, at: f64) -> f64 {
        let swing = self.offset.cos() - (self.offset + TAU * at / self.period).cos();
        self.mean * at + self.amplitude * self.period / TAU * swing
    }

    pub(super) fn rate_at(&self, at: f64) -> f64 {
        self.mean + self.amplitude * (self.offset + TAU * at / self.period).sin()
    }

    pub(super) fn area(&self) -> f64 {
        self.area_at(self.duration as f64)
    }

    /// When this number of iterations has come: Newton's steps between bounds that close in, as the area only grows.
    pub(super) fn reach(&self, area: f64) -> u64 {
        let shift = 2.0 * self.amplitude * self.period / TAU;
        let mut low = ((area - shift) / self.mean).max(0.0);
        let mut high = (area + shift) / self.mean;
        let mut at = (area / self.mean).clamp(low, high);
        for _ in 0..64 {
            let miss = self.area_at(at) - area;
            if miss.abs() < 1e-7 {
                break;
            }
            if miss > 0.0 {
                high = at;
            } else {
                low = at;
            }
            let next = at - miss / self.rate_at(at);
            at = if low < next && next < high { next } else { f64::midpoint(low, high) };
        }
        (at as u64).min(self.duration)
    }
}
