//! One step of a search: its load, what was seen, what that means.

/// A load to try.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trial {
    /// Iterations per second, or VUs.
    pub load: f64,
    /// The part of the search that asks.
    pub purpose: Purpose,
}

/// Why a load is tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// No goal has broken yet.
    Climb,
    /// No load has held yet.
    Descend,
    /// Between a load that held and one that broke.
    Narrow,
    /// The highest load that held, once more and for longer.
    Confirm,
}

/// The meaning of a step.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// All goals held.
    Held,
    /// The system did not meet a goal, or did not keep up. The text says which and by how much.
    Broke(String),
    /// The generator was in the way, so nothing is known of the system. The text says how.
    Generator(String),
    /// A goal has no values at all: the goal's name.
    Unmeasured(String),
}

/// One goal after a step.
#[derive(Clone, Debug, PartialEq)]
pub struct Goal {
    /// As the user wrote it: `http_req_duration p(95)<200`.
    pub name: String,
    /// The measured number; none if nothing was measured.
    pub value: Option<f64>,
    /// Whether it holds.
    pub holds: bool,
    /// The number that it must not pass, if it is an upper bound.
    pub limit: Option<f64>,
    /// Whether it is about a time in milliseconds, to which the generator's own lateness adds.
    pub is_time: bool,
    /// Whether it needs values to say anything: a percentile does, a count does not.
    pub needs_values: bool,
}

impl Goal {
    /// How near the value is to its limit: 1 at the limit, 0 far below. None without an upper bound.
    pub(crate) fn strain(&self) -> Option<f64> {
        let (value, limit) = (self.value?, self.limit?);
        (limit > 0.0).then(|| (value / limit).max(0.0))
    }
}

/// The measurements of one step, without its beginning.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Measured {
    /// How long was measured, in seconds.
    pub seconds: f64,
    /// Iterations per second that were due; none where VUs are the load.
    pub due: Option<f64>,
    /// Iterations per second that could not start, because all VUs were busy.
    pub dropped: f64,
    /// Iterations per second that came to their end.
    pub finished: f64,
    /// Good answers per second: requests that did not fail, or iterations if there are no requests.
    pub good: f64,
    /// Failed requests per second.
    pub failed: f64,
    /// The latency to watch, in milliseconds: the percentile of the first goal about a time, else p(95).
    pub latency_ms: Option<f64>,
    /// Its median.
    pub median_ms: Option<f64>,
    /// The mean time of an iteration, in milliseconds.
    pub iteration_ms: Option<f64>,
    /// VUs inside an iteration at the end.
    pub vus: u64,
    /// VUs that there may be, if all there may be were made.
    pub vus_at_limit: Option<u64>,
    /// How late the generator was, in milliseconds (95th percentile): its ticks, its starts.
    pub late_ms: f64,
    /// The sentence of the generator's own verdict, if it found itself wanting.
    pub generator: Option<String>,
    /// The goals, in the user's order.
    pub goals: Vec<Goal>,
}

impl Measured {
    /// How near the nearest goal is to its limit; 0 if no goal has an upper bound.
    pub fn strain(&self) -> f64 {
        self.goals.iter().filter_map(Goal::strain).fold(0.0, f64::max)
    }
}

/// A step that is over.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// Its load.
    pub trial: Trial,
    /// Its numbers.
    pub measured: Measured,
    /// Their meaning.
    pub outcome: Outcome,
}

impl Step {
    /// Whether all goals held.
    pub fn held(&self) -> bool {
        self.outcome == Outcome::Held
    }

    /// Whether the system did not bear it.
    pub fn broke(&self) -> bool {
        matches!(self.outcome, Outcome::Broke(_))
    }
}
