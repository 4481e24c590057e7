//! Two figures of all steps: the plateau and the knee.

use crate::step::Step;

/// The most good answers per second that any step had: where the system stops giving more, however much is asked.
/// None before the first step.
pub fn plateau(steps: &[Step]) -> Option<f64> {
    let known = steps.iter().filter(|step| step.held() || step.broke());
    known.map(|step| step.measured.good).reduce(f64::max)
}

/// The load with the most good answers per second for each millisecond of latency (Kleinrock's *power*): below it the
/// system has room, above it each further request is paid for with waiting. None if no step has a latency.
pub fn knee(steps: &[Step]) -> Option<f64> {
    let known = steps.iter().filter(|step| step.held() || step.broke());
    let power = |step: &Step| {
        let latency = step.measured.latency_ms.filter(|latency| *latency > 0.0)?;
        Some((step.measured.good / latency, step.trial.load))
    };
    let best = known.filter_map(power).max_by(|a, b| a.0.total_cmp(&b.0));
    best.filter(|(power, _)| *power > 0.0).map(|(_, load)| load)
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
    fn the_knee_of_a_single_server_is_at_half_its_rate() {
        let queue = |load: f64| step(load, load, 1000.0 / (100.0 - load));
        let steps: Vec<Step> = [10.0, 30.0, 50.0, 70.0, 90.0].map(queue).into();
        assert_eq!(knee(&steps), Some(50.0));
        assert_eq!(plateau(&steps), Some(90.0));
        assert_eq!((knee(&[]), plateau(&[])), (None, None));
    }
}
