//! Closed executors: what each VU handle does when.

use std::time::Duration;

use crate::{Executor, Scenario, Segment, ramp};

/// A closed workload: VUs that start their next iteration when the last one is done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClosedPlan {
    /// One for each VU this segment may need at once; handle 0 is the last to be ramped down.
    pub handles: Vec<HandlePlan>,
    /// How many iterations may start.
    pub budget: Budget,
    /// Turns this segment's n-th iteration into its number in the whole test
    /// (`exec.scenario.iterationInTest`), by [`Segment::global`].
    pub indexes: Segment,
    /// From here on no iteration starts.
    pub regular_end: Duration,
    /// From here on none runs: `regular_end` and the graceful stop.
    pub hard_end: Duration,
}

/// The spans of one VU handle, ascending and disjoint in `[start, graceful_end)`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HandlePlan {
    /// Just one, but in `ramping-vus`.
    pub spans: Vec<Span>,
}

/// A time in which a VU handle iterates.
///
/// ```text
///   start            graceful_end          hard_end
///     |  iterations start  |  the last one     |  and is cut off
///     |   one after the    |  may still run    |  here
///     |      other         |                   |
/// ```
///
/// If the handle's next span starts before this one's `hard_end`, the VU was wanted back in time: an
/// iteration that runs over that moment just goes on, and `hard_end` is already that of the later span.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// The handle takes a VU and starts iterating.
    pub start: Duration,
    /// It starts no more iterations and gives its VU back when the running one is done.
    pub graceful_end: Duration,
    /// A still running iteration is interrupted.
    pub hard_end: Duration,
}

/// How many iterations a closed plan may start in this segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Budget {
    /// As many as fit into the spans.
    Unlimited,
    /// So many for each VU handle.
    PerVu(u64),
    /// So many for all handles together.
    Shared(u64),
}

pub(crate) fn closed_plan(scenario: &Scenario, segment: &Segment) -> Option<ClosedPlan> {
    let regular_end = scenario.executor.regular_duration();
    let hard_end = scenario.max_duration();
    let steady = |vus: u64| {
        let span = Span {
            start: Duration::ZERO,
            graceful_end: regular_end,
            hard_end,
        };
        vec![HandlePlan { spans: vec![span] }; segment.scale(vus) as usize]
    };
    let (handles, budget, indexes) = match &scenario.executor {
        Executor::SharedIterations {
            vus, iterations, ..
        } => {
            let share = segment.resegment(*vus);
            let budget = share.as_ref().map_or(0, |share| share.scale(*iterations));
            (
                steady(*vus),
                Budget::Shared(budget),
                share.unwrap_or_else(|| segment.clone()),
            )
        }
        Executor::PerVuIterations {
            vus, iterations, ..
        } => (steady(*vus), Budget::PerVu(*iterations), segment.clone()),
        Executor::ConstantVus { vus, .. } => (steady(*vus), Budget::Unlimited, segment.clone()),
        Executor::RampingVus {
            start_vus,
            stages,
            graceful_ramp_down,
        } => {
            let handles = ramp::handles(*start_vus, stages, *graceful_ramp_down, hard_end, segment);
            (handles, Budget::Unlimited, segment.clone())
        }
        Executor::ConstantArrivalRate { .. } | Executor::RampingArrivalRate { .. } => return None,
    };
    Some(ClosedPlan {
        handles,
        budget,
        indexes,
        regular_end,
        hard_end,
    })
}
