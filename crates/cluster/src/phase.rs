//! The phase of a run, which the leader alone writes.

use serde::{Deserialize, Serialize};

use crate::ranges::Ranges;
use crate::seat::Fault;
use crate::steering::Steering;
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
    pub reason: Option<Fault>,
    /// The loads that were lost, and who makes them now; in the order in which that was decided.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub takeovers: Vec<TakeOver>,
    /// A leader of this incarnation has begun to tell the summary: `handleSummary()` is not called a second time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub told: Option<u64>,
    /// How the run ended, once it is over; the code is 0 if it ended well.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<Fault>,
    /// How it is steered from outside.
    #[serde(default, skip_serializing_if = "Steering::is_unsteered")]
    pub steering: Steering,
}

/// A load that was lost, and the agent that makes it from a moment on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TakeOver {
    /// The seat under which it is made: one behind those of the plan.
    pub seat: u32,
    /// The seat whose load was lost: one of the plan, or that of an earlier take-over.
    pub of: u32,
    /// The seat of the plan whose segment it is.
    pub root: u32,
    /// The [agent](crate::Seat::agent) that makes it, beside what it does already.
    pub agent: String,
    /// Of that agent.
    pub incarnation: u64,
    /// From when on, by the leader's clock: what was due before is not made up for.
    pub from_ns: Nanos,
    /// How far the scenarios were, by their place among all of them, ordered by start time and name; those of arrival rates are
    /// left out, as their plan says it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub done: Vec<DoneOf>,
}

/// How far a closed scenario of one seat was, when its load was lost.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DoneOf {
    /// Its place among all scenarios, from 0.
    pub scenario: u32,
    /// Numbers below this one may have been used already; iterations of a scenario without a number of them begin here.
    pub begun: u64,
    /// Of a scenario with a number of iterations: those that were reported complete. The others are done (again).
    pub numbers: Ranges,
}

impl Phase {
    /// The take-over that makes the load of this seat now, if it was lost.
    pub fn taken(&self, seat: u32) -> Option<&TakeOver> {
        self.takeovers.iter().find(|takeover| takeover.of == seat)
    }

    /// Whether an agent that has seen `known` learns something of this one: a watch may tell an older phase after a younger one.
    pub(crate) fn is_news_after(&self, known: &Self) -> bool {
        let age = |phase: &Self| (phase.phase, phase.steering.serial, phase.takeovers.len());
        age(self) >= age(known)
    }
}
