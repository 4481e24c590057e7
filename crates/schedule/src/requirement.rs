//! How many VUs a test takes, and when.

use std::time::Duration;

use crate::{Executor, Scenario, Segment, ramp};

/// From `at` on, until the next step, a scenario needs so many VUs.
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
        vec![
            Step {
                at: Duration::ZERO,
                planned,
                unplanned,
            },
            Step {
                at: end,
                planned: 0,
                unplanned: 0,
            },
        ]
    };
    match &scenario.executor {
        Executor::SharedIterations { vus, .. }
        | Executor::PerVuIterations { vus, .. }
        | Executor::ConstantVus { vus, .. } => steady(*vus, *vus),
        Executor::ConstantArrivalRate {
            pre_allocated_vus,
            max_vus,
            ..
        }
        | Executor::RampingArrivalRate {
            pre_allocated_vus,
            max_vus,
            ..
        } => steady(*pre_allocated_vus, *max_vus),
        Executor::RampingVus {
            start_vus,
            stages,
            graceful_ramp_down,
        } => ramp::requirements(*start_vus, stages, *graceful_ramp_down, end, segment),
    }
}

/// The most VUs that these scenarios need at once, each counted from its `start_time` on.
pub fn peak(scenarios: &[Scenario], segment: &Segment) -> Peak {
    // (instant, change of planned, change of unplanned); what falls on one instant counts together.
    let mut changes: Vec<(Duration, i128, i128)> = Vec::new();
    for scenario in scenarios {
        let (mut planned, mut unplanned) = (0, 0);
        for step in scenario.requirements(segment) {
            let at = scenario.start_time.saturating_add(step.at);
            let (now_planned, now_unplanned) =
                (i128::from(step.planned), i128::from(step.unplanned));
            changes.push((at, now_planned - planned, now_unplanned - unplanned));
            (planned, unplanned) = (now_planned, now_unplanned);
        }
    }
    changes.sort_by_key(|change| change.0);
    let (mut planned, mut possible) = (0_i128, 0_i128);
    let mut peak = Peak::default();
    for instant in changes.chunk_by(|a, b| a.0 == b.0) {
        for (_, planned_change, unplanned_change) in instant {
            planned += planned_change;
            possible += planned_change + unplanned_change;
        }
        peak.planned = peak.planned.max(u64::try_from(planned).unwrap_or(0));
        peak.possible = peak.possible.max(u64::try_from(possible).unwrap_or(0));
    }
    peak
}

/// From the launch of the scenarios until the last graceful stop has passed: the longest the load can take.
pub fn total_duration(scenarios: &[Scenario]) -> Duration {
    scenarios
        .iter()
        .map(|scenario| scenario.start_time.saturating_add(scenario.max_duration()))
        .max()
        .unwrap_or_default()
}
