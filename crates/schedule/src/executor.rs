//! The ways to give VUs their iterations.

use std::time::Duration;

/// How a scenario gives iterations to VUs. Counts are those of the whole test, before any
/// [`Segment`](crate::Segment) takes its share.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Executor {
    /// `vus` take iterations from one shared store of `iterations`, whoever is free.
    SharedIterations {
        /// VUs, at least 1.
        vus: u64,
        /// Iterations of all VUs together, at least `vus`.
        iterations: u64,
        /// After this none starts any more, at least 1 s.
        max_duration: Duration,
    },
    /// Each of `vus` runs `iterations`.
    PerVuIterations {
        /// VUs, at least 1.
        vus: u64,
        /// Iterations of each VU, at least 1.
        iterations: u64,
        /// After this none starts any more, at least 1 s.
        max_duration: Duration,
    },
    /// `vus` iterate until `duration` has passed.
    ConstantVus {
        /// VUs, at least 1.
        vus: u64,
        /// At least 1 s.
        duration: Duration,
    },
    /// The number of iterating VUs follows `stages`.
    RampingVus {
        /// VUs at the start.
        start_vus: u64,
        /// `target` is a number of VUs.
        stages: Vec<Stage>,
        /// How long a VU that is ramped down may go on with its iteration.
        graceful_ramp_down: Duration,
    },
    /// `rate` iterations are started per `time_unit`, whatever became of the earlier ones.
    ConstantArrivalRate {
        /// Iterations per `time_unit`, at least 1.
        rate: u64,
        /// More than 0.
        time_unit: Duration,
        /// At least 1 s.
        duration: Duration,
        /// VUs made before the test.
        pre_allocated_vus: u64,
        /// VUs it may come to, at least `pre_allocated_vus`.
        max_vus: u64,
    },
    /// The rate at which iterations are started follows `stages`.
    RampingArrivalRate {
        /// Iterations per `time_unit` at the start.
        start_rate: u64,
        /// More than 0.
        time_unit: Duration,
        /// `target` is a number of iterations per `time_unit`.
        stages: Vec<Stage>,
        /// VUs made before the test.
        pre_allocated_vus: u64,
        /// VUs it may come to, at least `pre_allocated_vus`.
        max_vus: u64,
    },
    /// The number of VUs that iterate is changed from outside while the test runs: `vus` at first.
    ExternallyControlled {
        /// VUs at the start.
        vus: u64,
        /// VUs that are made, at least `vus`.
        max_vus: u64,
        /// [`Executor::FOREVER`] until somebody stops it.
        duration: Duration,
    },
}

/// A straight line from where the last stage ended to `target`, which takes `duration`; a jump if that is 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stage {
    /// From the end of the last stage to the end of this one.
    pub duration: Duration,
    /// VUs, or iterations per time unit.
    pub target: u64,
}

impl Executor {
    /// As long as no test takes: ten years.
    pub const FOREVER: Duration = Duration::from_hours(24 * 3650);

    /// The name scripts use: `constant-vus`.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::SharedIterations { .. } => "shared-iterations",
            Self::PerVuIterations { .. } => "per-vu-iterations",
            Self::ConstantVus { .. } => "constant-vus",
            Self::RampingVus { .. } => "ramping-vus",
            Self::ConstantArrivalRate { .. } => "constant-arrival-rate",
            Self::RampingArrivalRate { .. } => "ramping-arrival-rate",
            Self::ExternallyControlled { .. } => "externally-controlled",
        }
    }

    /// Whether iterations start when they are due (arrival rates), not when a VU is free.
    pub fn is_open(&self) -> bool {
        matches!(self, Self::ConstantArrivalRate { .. } | Self::RampingArrivalRate { .. })
    }

    /// From the scenario's start until no more iterations start; the graceful stop comes after it.
    /// For the two iteration executors that is their `max_duration`.
    pub fn regular_duration(&self) -> Duration {
        match self {
            Self::SharedIterations { max_duration, .. }
            | Self::PerVuIterations { max_duration, .. } => *max_duration,
            Self::ConstantVus { duration, .. }
            | Self::ConstantArrivalRate { duration, .. }
            | Self::ExternallyControlled { duration, .. } => *duration,
            Self::RampingVus { stages, .. } | Self::RampingArrivalRate { stages, .. } => {
                stages.iter().fold(Duration::ZERO, |sum, stage| sum.saturating_add(stage.duration))
            }
        }
    }
}
