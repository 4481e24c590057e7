//! Closed executors: what each VU handle does when.

use std::time::Duration;

use crate::{Executor, Scenario, Segment, ramp};

/// A closed workload: VUs that start their next iteration when the last one is done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClosedPlan {
    /// One for each VU this segment may need at once; handle 0 is the last to be ramped down.
    pub handles: Vec<HandlePlan>,
    /// The plan of an additional handle, which may be asked for from outside (`externally-controlled`).
    pub more: HandlePlan,
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

/// The spans of one VU handle, ascending and disjoint in `[start, graceful_end)`. A span can be empty
/// (a VU that is reached right when a ramp turns or ends): then nothing starts in it.
///
/// A scenario is over when all its handles are past their last span, which can be before `regular_end`.
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
/// If the handle's next span starts no later than this one's `hard_end`, the VU was wanted back in time: an
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
    /// This many for each VU handle.
    PerVu(u64),
    /// This many for all handles together.
    Shared(u64),
}

pub(crate) fn closed_plan(scenario: &Scenario, segment: &Segment) -> Option<ClosedPlan> {
    let regular_end = scenario.executor.regular_duration();
    let hard_end = scenario.max_duration();
    let whole = HandlePlan {
        spans: vec![Span { start: Duration::ZERO, graceful_end: regular_end, hard_end }],
    };
    let steady = |vus: u64| vec![whole.clone(); segment.scale(vus) as usize];
    let (handles, budget, indexes) = match &scenario.executor {
        Executor::SharedIterations { vus, iterations, .. } => {
            let share = segment.resegment(*vus);
            let budget = share.as_ref().map_or(0, |share| share.scale(*iterations));
            (steady(*vus), Budget::Shared(budget), share.unwrap_or_else(|| segment.clone()))
        }
        Executor::PerVuIterations { vus, iterations, .. } => {
            (steady(*vus), Budget::PerVu(*iterations), segment.clone())
        }
        Executor::ConstantVus { vus, .. } | Executor::ExternallyControlled { max_vus: vus, .. } => {
            (steady(*vus), Budget::Unlimited, segment.clone())
        }
        Executor::RampingVus { start_vus, stages, graceful_ramp_down } => {
            let handles = ramp::handles(*start_vus, stages, *graceful_ramp_down, hard_end, segment);
            (handles.collect(), Budget::Unlimited, segment.clone())
        }
        Executor::ConstantArrivalRate { .. } | Executor::RampingArrivalRate { .. } => return None,
    };
    Some(ClosedPlan { handles, more: whole, budget, indexes, regular_end, hard_end })
}

impl ClosedPlan {
    /// When this handle iterates.
    pub fn spans(&self, handle: u32) -> &[Span] {
        &self.handles.get(handle as usize).unwrap_or(&self.more).spans
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{scenario, secs};

    #[test]
    fn steady_vus_iterate_until_the_end_and_may_finish() {
        let plan = scenario(Executor::ConstantVus { vus: 3, duration: secs(10) });
        let plan = plan.closed_plan(&Segment::full()).unwrap();
        let span = Span { start: secs(0), graceful_end: secs(10), hard_end: secs(40) };
        assert_eq!(plan.handles, vec![HandlePlan { spans: vec![span] }; 3]);
        assert_eq!((plan.budget, plan.hard_end), (Budget::Unlimited, secs(40)));
    }

    #[test]
    fn shared_iterations_follow_the_vus_of_each_segment() {
        // k6 2.2: 7 VUs and 20 iterations over thirds.
        let executor =
            Executor::SharedIterations { vus: 7, iterations: 20, max_duration: secs(600) };
        let shared = scenario(executor);
        let share = |own: &str| {
            let segment = Segment::parse(Some(own), Some("0,1/3,2/3,1")).unwrap();
            let plan = shared.closed_plan(&segment).unwrap();
            (plan.handles.len(), plan.budget)
        };
        assert_eq!(share("0:1/3"), (3, Budget::Shared(9)));
        assert_eq!(share("1/3:2/3"), (2, Budget::Shared(6)));
        assert_eq!(share("2/3:1"), (2, Budget::Shared(5)));
    }

    #[test]
    fn a_segment_without_vus_gets_no_shared_iterations() {
        let executor = Executor::SharedIterations { vus: 1, iterations: 5, max_duration: secs(1) };
        let segment = Segment::parse(Some("1/2:1"), None).unwrap();
        let plan = scenario(executor).closed_plan(&segment).unwrap();
        assert_eq!((plan.handles.len(), plan.budget), (0, Budget::Shared(0)));
    }

    #[test]
    fn iterations_of_each_vu_are_not_scaled() {
        let executor = Executor::PerVuIterations { vus: 4, iterations: 5, max_duration: secs(1) };
        let segment = Segment::parse(Some("1/2:1"), None).unwrap();
        let plan = scenario(executor).closed_plan(&segment).unwrap();
        assert_eq!((plan.handles.len(), plan.budget), (2, Budget::PerVu(5)));
    }
}
