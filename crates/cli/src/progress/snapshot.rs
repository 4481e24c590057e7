//! The content of the bars, as plain data.

use std::time::Duration;

/// A source of the test's progress.
pub(crate) trait ProgressSource: Send + Sync {
    /// The state now. Called from the display's thread; must not wait for a load core.
    fn snapshot(&self) -> Snapshot;
}

/// The state of a test at one moment.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Snapshot {
    pub(crate) phase: Phase,
    /// Since the start, before `setup()`.
    pub(crate) elapsed: Duration,
    /// How long the test may take; sets the width of the clock.
    pub(crate) longest: Duration,
    /// VUs at work.
    pub(crate) vus_active: u64,
    /// VUs that are initialised.
    pub(crate) vus_ready: u64,
    /// Iterations that ran to their end.
    pub(crate) complete: u64,
    /// Iterations that were cut off.
    pub(crate) interrupted: u64,
    /// The rates of the last seconds, if they are to be shown.
    pub(crate) rates: Option<Rates>,
    /// In the order of the description.
    pub(crate) scenarios: Vec<ScenarioProgress>,
}

/// The requests of the last seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Rates {
    /// A second.
    pub(crate) requests: f64,
    /// None: no request was answered.
    pub(crate) p95_ms: Option<f64>,
    /// The share that failed, 0 to 1; none if nothing can fail.
    pub(crate) failed: Option<f64>,
}

/// The phase of the test.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Phase {
    /// VUs are being made.
    Initializing {
        /// How many are needed before the start.
        total: u64,
    },
    /// All is ready, and somebody has to let it start.
    Paused,
    /// `setup()` runs.
    Setup,
    /// Scenarios run, or `teardown()`.
    #[default]
    Running,
    /// All is over.
    Ended,
}

/// How far one scenario is.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ScenarioProgress {
    pub(crate) name: String,
    pub(crate) state: State,
    /// Share of the whole, 0 to 1.
    pub(crate) done: f64,
    /// VUs at work; none for an executor that always uses all.
    pub(crate) vus_active: Option<u64>,
    /// VUs it has, or may have by now.
    pub(crate) vus: u64,
    /// Since its start, what it takes to stop included.
    pub(crate) elapsed: Duration,
    /// Its regular duration.
    pub(crate) duration: Duration,
    pub(crate) work: Work,
}

/// Where a scenario is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    /// It starts later.
    Waiting {
        /// In so long.
        left: Duration,
        /// So long after the start of all; sets the width of the clock.
        start: Duration,
    },
    Running,
    /// No iteration starts any more; some still run.
    Stopping,
    /// It was cut off.
    Interrupted,
    Done,
}

/// The work that is counted besides time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Work {
    /// Time alone.
    Time,
    /// The time of stages.
    Stages,
    /// `04/20 shared iters`
    Shared { done: u64, total: u64 },
    /// `4/6 iters, 3 per VU`
    PerVu { done: u64, total: u64, each: u64 },
    /// `10.00 iters/s`
    Rate {
        /// Iterations per second that the plan asks for now.
        now: f64,
        /// The highest of the plan; sets the width.
        highest: f64,
    },
}
