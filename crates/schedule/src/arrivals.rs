//! Open executors: when each iteration is due.

mod pace;
mod poisson;

use std::time::Duration;

use crate::{Executor, Gaps, Scenario, Segment};
use pace::Pace;
use poisson::Poisson;

/// An open workload: iteration n of this segment is due at [`due(n)`](Self::due), whatever became of
/// the earlier ones. A formula, not a loop: any n costs the same few nanoseconds, nothing is allocated.
///
/// A constant rate starts with one at 0, and its last one perhaps right at its end: at 10 a second for a second there
/// are eleven. In k6 a race decides whether that last one starts; nineteen times in twenty it does. A ramping rate
/// starts its i-th (from 1) when the area under the rate reaches i, the last one perhaps right at the end, too.
/// Where gaps are random, iterations come at the areas that a Poisson process of rate 1 has: with the rate, wherever it goes.
#[derive(Debug, Clone, PartialEq)]
pub struct Arrivals {
    /// The segment as cut by `maxVUs`; `None` if no VU falls to it, and so no iteration.
    share: Option<Segment>,
    pace: Pace,
    poisson: Option<Poisson>,
    pre_allocated: u64,
    max_vus: u64,
    is_constant: bool,
    regular_end: Duration,
    hard_end: Duration,
}

impl Arrivals {
    /// When this segment's n-th iteration (from 0) is due, since the scenario's start; `None` if there
    /// is no such iteration. Never less for a greater n.
    pub fn due(&self, n: u64) -> Option<Duration> {
        let share = self.share.as_ref()?;
        let number = share.global(n);
        let due = match &self.poisson {
            None => self.pace.due(number),
            Some(poisson) => self.pace.reach(poisson.place(number)),
        };
        due.map(Duration::from_nanos)
    }

    /// The number of this segment's n-th iteration in the whole test; both count from 0
    /// (`exec.scenario.iterationInTest`).
    pub fn index(&self, n: u64) -> u64 {
        self.share.as_ref().map_or(n, |share| share.global(n))
    }

    /// How many iterations are due in this segment altogether.
    pub fn count(&self) -> u64 {
        let count = match &self.poisson {
            None => self.pace.count(),
            Some(poisson) => poisson.count(self.pace.area()),
        };
        self.share.as_ref().map_or(0, |share| share.scale(count))
    }

    /// How many iterations of this segment are due before `at`, counted from the scenario's start.
    pub fn due_before(&self, at: Duration) -> u64 {
        let (mut low, mut high) = (0, self.count());
        while low < high {
            let middle = low + (high - low) / 2;
            if self.due(middle).is_some_and(|due| due < at) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    /// VUs of this segment to be made before the test.
    pub fn pre_allocated(&self) -> u64 {
        self.pre_allocated
    }

    /// VUs of this segment it may come to; not less than [`Self::pre_allocated`].
    pub fn max_vus(&self) -> u64 {
        self.max_vus
    }

    /// How long the scenario goes on after its last iteration was due: a constant rate to its regular end,
    /// as in k6 (one iteration a minute for two minutes takes two minutes). `None` for a ramping rate, which
    /// is over with its last iteration, and for a segment that no iteration falls to.
    pub fn lasts_until(&self) -> Option<Duration> {
        (self.is_constant && self.share.is_some()).then_some(self.regular_end)
    }

    /// No iteration starts after this.
    pub fn regular_end(&self) -> Duration {
        self.regular_end
    }

    /// From here on none runs: `regular_end` and the graceful stop.
    pub fn hard_end(&self) -> Duration {
        self.hard_end
    }

    /// Iterations per second in this segment at `at`; after the end, the rate at the end.
    pub fn rate_at(&self, at: Duration) -> f64 {
        let share = self.share.as_ref().map_or(0.0, Segment::share);
        self.pace.per_second(at) * share
    }
}

pub(crate) fn arrivals(scenario: &Scenario, segment: &Segment) -> Option<Arrivals> {
    let (pace, pre_allocated_vus, max_vus) = match &scenario.executor {
        Executor::ConstantArrivalRate { rate, time_unit, duration, pre_allocated_vus, max_vus } => {
            let pace = match scenario.rhythm.sine {
                None => Pace::constant(*rate, *time_unit, *duration),
                Some(sine) => Pace::swinging(*rate, *time_unit, *duration, sine),
            };
            (pace, pre_allocated_vus, max_vus)
        }
        Executor::RampingArrivalRate {
            start_rate,
            time_unit,
            stages,
            pre_allocated_vus,
            max_vus,
        } => (Pace::ramping(*start_rate, *time_unit, stages), pre_allocated_vus, max_vus),
        Executor::SharedIterations { .. }
        | Executor::PerVuIterations { .. }
        | Executor::ConstantVus { .. }
        | Executor::RampingVus { .. }
        | Executor::ExternallyControlled { .. } => return None,
    };
    let pre_allocated = segment.scale(*pre_allocated_vus);
    Some(Arrivals {
        share: segment.resegment(*max_vus),
        pace,
        poisson: match scenario.rhythm.gaps {
            Gaps::Uniform => None,
            Gaps::Poisson { seed } => Some(Poisson::new(seed)),
        },
        pre_allocated,
        max_vus: segment.scale(*max_vus).max(pre_allocated),
        is_constant: matches!(scenario.executor, Executor::ConstantArrivalRate { .. }),
        regular_end: scenario.executor.regular_duration(),
        hard_end: scenario.max_duration(),
    })
}

#[cfg(test)]
mod tests;
