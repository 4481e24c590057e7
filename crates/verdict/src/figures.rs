//! The facts about the load and the numbers of a run that the judgement needs beside signals.

use crate::warm_up::WarmUp;

/// A scenario with planned starts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Load {
    /// Its name; empty if there is one load and it has none.
    pub name: String,
    /// Iterations that were due.
    pub planned: u64,
    /// Iterations that began.
    pub started: u64,
}

/// How late iterations began.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Starts {
    /// How many there were.
    pub count: u64,
    /// The 99th percentile of their lateness, in milliseconds.
    pub late_p99: f64,
    /// The median response time, in milliseconds.
    pub median: f64,
}

/// A percentile that a threshold is about.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tail {
    /// The threshold, such as `http_req_duration: p(99)<500`.
    pub threshold: String,
    /// The percentile, 0 to 100.
    pub percent: f64,
    /// How many samples there are.
    pub count: u64,
}

/// All of them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Figures {
    /// Scenarios with planned starts.
    pub loads: Vec<Load>,
    /// Lateness of starts; none in closed models.
    pub starts: Option<Starts>,
    /// The beginning of the steady part against the rest of it.
    pub warm_up: Option<WarmUp>,
    /// Percentiles in thresholds.
    pub tails: Vec<Tail>,
}
