//! Two figures of all steps: the plateau and the knee.

use crate::step::Step;

/// The most good answers per second that any step had: where the system stops giving more, however much is asked.
/// None before the first step.
pub fn plateau(steps: &[Step]) -> Option<f64> {
    let known = steps.iter().filter(|step| step.held() || step.broke());
    known.map(|step| step.measured.good).reduce(f64::max)
}

/// A latency this many times that of the lowest step is beyond the knee,
const BEYOND: f64 = 1.5;

/// if it is also this much above it, in milliseconds: below, timers and the network make as much of nothing.
const BEYOND_MS: f64 = 1.0;

/// Steps below this part of the highest load that held are low: what their latencies differ by is no knee.
const LOW: f64 = 0.5;

/// The least load from which on latency is more than half above that of the lowest step, more than a millisecond, and more than
/// the low steps differ among each other; and stays so. None if latency does not rise so far.
pub fn knee(steps: &[Step]) -> Option<f64> {
    let known = steps.iter().filter(|step| step.held() || step.broke());
    let held = steps.iter().filter(|step| step.held()).map(|step| step.trial.load);
    let low_max = held.fold(0.0, f64::max) * LOW;
    let point = |step: &Step| Some((step.trial.load, step.measured.latency_ms?));
    let mut points: Vec<(f64, f64)> = known.filter_map(point).collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    let light = points.first()?.1;
    let low = points.iter().filter(|(load, _)| *load <= low_max).map(|(_, latency)| *latency);
    let (least, most) =
        low.fold((light, light), |(least, most), latency| (latency.min(least), latency.max(most)));
    let rise = (light * (BEYOND - 1.0)).max(BEYOND_MS).max(most - least);
    let near = points.iter().rposition(|(_, latency)| *latency <= light + rise)?;
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

    #[test]
    fn latencies_that_differ_by_less_than_a_millisecond_or_by_chance_have_no_knee() {
        let steps = [(10.0, 0.2), (40.0, 0.3), (160.0, 0.35), (640.0, 0.5)];
        let steps: Vec<Step> = steps.map(|(load, latency)| step(load, load, latency)).into();
        assert_eq!(knee(&steps), None);
        // The low steps are of 4 to 12 ms: 14 ms is no more than that.
        let noisy = [(10.0, 6.0), (20.0, 12.0), (40.0, 4.0), (100.0, 11.0), (120.0, 14.0)];
        let mut noisy: Vec<Step> = noisy.map(|(load, latency)| step(load, load, latency)).into();
        assert_eq!(knee(&noisy), None);
        noisy.push(step(140.0, 140.0, 30.0));
        assert_eq!(knee(&noisy), Some(140.0));
    }
}
