//! How many VUs a test takes, and when.

use std::time::Duration;

use crate::{Executor, Scenario, Segment, ramp};

/// The number of VUs that a scenario needs from `at` on, until the next step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// Offset from the scenario's start.
    pub at: Duration,
    /// VUs that must exist before the test starts.
    pub planned: u64,
    /// VUs that may be made on top while it runs (arrival rates only).
    pub unplanned: u64,
}

/// The most VUs that a test needs at once.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Peak {
    /// To be made before the start.
    pub planned: u64,
    /// Those, and the unplanned ones on top: `maxVUs` of `inspect`.
    pub possible: u64,
}

pub(crate) fn requirements(scenario: &Scenario, segment: &Segment) -> Vec<Step> {
    let end = scenario.max_duration();
    let steady = |planned: u64, max: u64| {
        let planned = segment.scale(planned);
        let unplanned = segment.scale(max).saturating_sub(planned);
        if planned + unplanned == 0 {
            return Vec::new();
        }
        vec![
            Step { at: Duration::ZERO, planned, unplanned },
            Step { at: end, planned: 0, unplanned: 0 },
        ]
    };
    match &scenario.executor {
        Executor::SharedIterations { vus, .. }
        | Executor::PerVuIterations { vus, .. }
        | Executor::ConstantVus { vus, .. } => steady(*vus, *vus),
        Executor::ExternallyControlled { max_vus, .. } => steady(*max_vus, *max_vus),
        Executor::ConstantArrivalRate { pre_allocated_vus, max_vus, .. }
        | Executor::RampingArrivalRate { pre_allocated_vus, max_vus, .. } => {
            steady(*pre_allocated_vus, *max_vus)
        }
        Executor::RampingVus { start_vus, stages, graceful_ramp_down } => {
            ramp::requirements(*start_vus, stages, *graceful_ramp_down, end, segment)
        }
    }
}

/// The most VUs that these scenarios need at once, each counted from its `start_time` on.
///
/// Changes at one instant count in the order of [`Scenario::order`]: who started earlier gives back
/// before a later one takes.
pub fn peak(scenarios: &[Scenario], segment: &Segment) -> Peak {
    // (instant, change of planned, change of unplanned)
    let mut changes: Vec<(Duration, i128, i128)> = Vec::new();
    let mut ordered: Vec<&Scenario> = scenarios.iter().collect();
    ordered.sort_by_key(|scenario| scenario.order());
    for scenario in ordered {
        let (mut planned, mut unplanned) = (0, 0);
        for step in scenario.requirements(segment) {
            let at = scenario.start_time.saturating_add(step.at);
            let next = (i128::from(step.planned), i128::from(step.unplanned));
            changes.push((at, next.0 - planned, next.1 - unplanned));
            (planned, unplanned) = next;
        }
    }
    changes.sort_by_key(|change| change.0);
    let (mut planned, mut possible) = (0_i128, 0_i128);
    let mut peak = Peak::default();
    for (_, planned_change, unplanned_change) in changes {
        planned += planned_change;
        possible += planned_change + unplanned_change;
        peak.planned = peak.planned.max(u64::try_from(planned).unwrap_or(0));
        peak.possible = peak.possible.max(u64::try_from(possible).unwrap_or(0));
    }
    peak
}

/// From the launch of the scenarios until no VU is needed any more, every graceful stop included: the
/// longest the load can take. Stages without VUs at the end of a ramp take no time, as in k6.
pub fn total_duration(scenarios: &[Scenario], segment: &Segment) -> Duration {
    let end = |scenario: &Scenario| {
        let last = *scenario.requirements(segment).last()?;
        Some(scenario.start_time.saturating_add(last.at))
    };
    scenarios.iter().filter_map(end).max().unwrap_or_default()
}

/// From the launch of the scenarios until none begins an iteration any more: their graceful stops are not included.
pub fn regular_duration(scenarios: &[Scenario]) -> Duration {
    let end = |scenario: &Scenario| {
        scenario.start_time.saturating_add(scenario.executor.regular_duration())
    };
    scenarios.iter().map(end).max().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Stage;
    use crate::testing::{scenario, secs};

    fn constant(vus: u64, start: u64, duration: u64, graceful_stop: u64) -> Scenario {
        let executor = Executor::ConstantVus { vus, duration: secs(duration) };
        let (start_time, graceful_stop) = (secs(start), secs(graceful_stop));
        Scenario { start_time, graceful_stop, ..scenario(executor) }
    }

    fn spike(stages: &[(u64, u64)], graceful_stop: u64, graceful_ramp_down: u64) -> Scenario {
        let stages = stages
            .iter()
            .map(|(s, target)| Stage { duration: secs(*s), target: *target })
            .collect();
        let graceful_ramp_down = secs(graceful_ramp_down);
        let executor = Executor::RampingVus { start_vus: 0, stages, graceful_ramp_down };
        Scenario { graceful_stop: secs(graceful_stop), ..scenario(executor) }
    }

    fn of(scenarios: &[Scenario]) -> (u64, u64) {
        let full = Segment::full();
        (peak(scenarios, &full).possible, total_duration(scenarios, &full).as_secs())
    }

    #[test]
    fn the_next_scenario_takes_over_the_vus_of_the_last() {
        assert_eq!(of(&[constant(5, 0, 10, 0), constant(5, 10, 10, 0)]), (5, 20));
        assert_eq!(of(&[constant(5, 10, 10, 0), constant(5, 0, 10, 0)]), (5, 20));
        assert_eq!(of(&[constant(5, 0, 10, 1), constant(5, 10, 10, 0)]), (10, 20));
    }

    #[test]
    fn ramps_need_what_k6_says() {
        // As `k6 inspect --execution-requirements` of 1.8.1 answers.
        assert_eq!(of(&[spike(&[(10, 10), (0, 0), (10, 0)], 0, 0)]), (10, 10));
        assert_eq!(of(&[spike(&[(10, 10), (10, 0)], 30, 30)]), (10, 50));
        assert_eq!(of(&[spike(&[(10, 10), (10, 0)], 30, 5)]), (10, 25));
        assert_eq!(of(&[spike(&[(0, 10), (0, 0), (10, 1)], 30, 5)]), (10, 40));
        assert_eq!(of(&[spike(&[(0, 10), (0, 0), (10, 1)], 30, 0)]), (10, 40));
        assert_eq!(
            of(&[spike(&[(10, 10), (0, 0), (10, 0)], 0, 0), constant(5, 10, 10, 0)]),
            (10, 20)
        );
        assert_eq!(
            of(&[spike(&[(10, 10), (0, 0), (10, 0)], 0, 0), constant(5, 0, 10, 0)]),
            (15, 10)
        );
    }

    #[test]
    fn unplanned_vus_are_possible_but_not_made_before() {
        let executor = Executor::ConstantArrivalRate {
            rate: 1,
            time_unit: secs(1),
            duration: secs(10),
            pre_allocated_vus: 2,
            max_vus: 7,
        };
        let all = [scenario(executor), constant(3, 0, 1, 0)];
        assert_eq!(peak(&all, &Segment::full()), Peak { planned: 5, possible: 10 });
    }

    #[test]
    fn without_vus_nothing_takes_time() {
        let executor = Executor::ConstantArrivalRate {
            rate: 1,
            time_unit: secs(1),
            duration: secs(10),
            pre_allocated_vus: 0,
            max_vus: 0,
        };
        assert_eq!(of(&[scenario(executor)]), (0, 0));
    }
}
