//! The steady part of a run, in stretches of one length: does its beginning differ from the rest?

use std::time::Duration;

/// The first tenth of the steady part against the rest.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WarmUp {
    /// The metric that was looked at.
    pub metric: String,
    /// From the start of the run to the begin and the end of the first tenth.
    pub stretch: (Duration, Duration),
    /// The median of the first tenth, in milliseconds.
    pub first: f64,
    /// The median of the other tenths, in milliseconds.
    pub rest: f64,
    /// The medians of the tenths after the first, in milliseconds.
    pub others: Vec<f64>,
}

impl WarmUp {
    /// Whether the first tenth differs by more than a fifth from the rest, and more than the others do: a service whose times waver all the time
    /// does not warm up.
    pub(crate) fn differs(&self) -> bool {
        /// Part of the median of the rest.
        const PART: f64 = 0.2;
        /// Milliseconds. Less than that is the weather of a machine.
        const LEAST: f64 = 0.5;
        /// The first tenth is further away than any other one by this factor.
        const OUT: f64 = 1.5;
        let away = |median: f64| (median - self.rest).abs();
        let first = away(self.first);
        let wave = self.others.iter().map(|median| away(*median)).fold(0.0, f64::max);
        first > self.rest * PART && first > LEAST && first > wave * OUT
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn warm_up(first: f64, others: &[f64]) -> WarmUp {
        WarmUp { first, rest: 10.0, others: others.to_vec(), ..WarmUp::default() }
    }

    #[test]
    fn a_slow_beginning_stands_out() {
        assert!(warm_up(25.0, &[11.0, 10.0, 9.5, 10.0]).differs());
        assert!(warm_up(5.0, &[10.0, 10.0, 10.2]).differs());
    }

    #[test]
    fn a_small_difference_and_waves_are_none() {
        assert!(!warm_up(11.9, &[10.0, 10.0]).differs());
        assert!(!warm_up(15.0, &[6.0, 14.0, 10.0]).differs());
        let fast = WarmUp { first: 0.3, rest: 0.2, others: vec![0.2], ..WarmUp::default() };
        assert!(!fast.differs());
    }
}
