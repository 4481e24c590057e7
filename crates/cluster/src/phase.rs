//! The phase of a run, which the leader alone writes.

use serde::{Deserialize, Serialize};

use crate::time::Nanos;

/// How far a run is. Only ever goes forward.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Step {
    /// Agents take their seats.
    Gather,
    /// They load the script, make their VUs and measure their clocks.
    Load,
    /// One of them runs `setup()`.
    Setup,
    /// The moment of the start is known.
    Start,
    /// The scenarios run.
    Run,
    /// They are being stopped.
    Stopping,
    /// One agent runs `teardown()`.
    Teardown,
    /// The last frames come.
    Close,
    /// It is over.
    Done,
}

/// An agent that was chosen for something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    /// Its seat, from 1 on.
    pub seat: u32,
    /// Its incarnation.
    pub incarnation: u64,
}

/// The phase of a run, under [`Key::Phase`](crate::Key::Phase).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Phase {
    /// The [plan](crate::Plan::nonce) it belongs to.
    pub nonce: u64,
    /// How far the run is.
    pub phase: Step,
    /// Since when, by the clock of the leader that wrote it.
    pub since: Nanos,
    /// When the scenarios begin, by the same clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_ns: Option<Nanos>,
    /// The agent that runs `setup()`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub setup: Option<Holder>,
    /// The agent that runs `teardown()`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub teardown: Option<Holder>,
    /// Why the run is cut short.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<crate::seat::Fault>,
}
