//! Two figures of all steps: the plateau and the knee.

use crate::step::Step;

/// The most good answers per second that any step had: where the system stops giving more, however much is asked.
/// None before the first step.
pub fn plateau(steps: &[Step]) -> Option<f64> {
    let known = steps.iter().filter(|step| step.held() || step.broke());
    known.map(|step| step.measured.good).reduce(f64::max)
}

/// A latency this many times that of the lowest step is beyond the knee.
const BEYOND: f64 = 1.5;

/// The least load from which on latency is more than half above that of the lowest step, and stays so: the page marks its
/// plots by the same rule. None if latency does not rise with load.
pub fn knee(steps: &[Step]) -> Option<f64> {
    let known = steps.iter().filter(|step| step.held() || step.broke());
    let point = |step: &Step| Some((step.trial.load, step.measured.latency_ms?));
    let mut points: Vec<(f64, f64)> = known.filter_map(point).collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    let light = points.first()?.1;
    let near = points.iter().rposition(|(_, latency)| *latency <= light * BEYOND)?;
    points.get(near + 1).map(|(load, _)| *load)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::step::{Measured, Outcome, Purpose, Trial};

    fn step(load: f64, good: f64, latency: f64) -> Step {
        Step {
            trial: Trial { load, purpose: Purpose::Climb },
            measured: Measured { good, latency_ms: Some(latency), ..Measured::default() },
            outcome: Outcome::Held,
        }
    }

    #[test]
    fn the_knee_of_a_queue_is_where_latency_has_risen_by_half() {
        let queue = |load: f64| step(load, load, 1000.0 / (100.0 - load));
        let steps: Vec<Step> = [10.0, 30.0, 50.0, 70.0, 90.0].map(queue).into();
        assert_eq!(knee(&steps), Some(50.0));
        assert_eq!(plateau(&steps), Some(90.0));
        assert_eq!((knee(&[]), plateau(&[])), (None, None));
        assert_eq!(knee(&steps[..2]), None);
    }
}
