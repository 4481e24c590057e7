//! Messages that may be lost: beats, numbers that were seen, times.

use serde::{Deserialize, Serialize};

use crate::ranges::Ranges;
use crate::seat::State;
use crate::time::Nanos;

/// The sign of life of an agent, each second, on `brunt.RUN.beat.SEAT`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Beat {
    /// The [plan](crate::Plan::nonce) it belongs to.
    pub nonce: u64,
    /// The seat it has, or asks for; 0: it has none, and could take a load over.
    pub seat: u32,
    /// As in [`Seat`](crate::Seat).
    pub agent: String,
    /// As in [`Seat`](crate::Seat).
    pub incarnation: u64,
    /// How far it is; none while it has no seat.
    pub state: Option<State>,
    /// How long its scenarios run already, in nanoseconds; none before they do.
    pub run_ns: Option<u64>,
    /// VUs that run work.
    pub vus: u64,
    /// VUs that are initialised.
    pub vus_max: u64,
    /// Iterations that came to their end.
    pub iterations: u64,
    /// The share of all its cores that the process used in the last second, 0 to 1.
    pub cpu: f64,
    /// The lateness of iterations, 99th percentile so far, in milliseconds; none if it is not measured.
    pub lateness_p99_ms: Option<f64>,
    /// The highest number of its messages.
    pub numbered: u64,
    /// Frames and messages that the leader has not seen yet.
    pub waiting: u64,
    /// Its number among the agent's beats, from 1 on.
    pub serial: u64,
    /// All that was measured before this moment of the run (a whole second, in nanoseconds) is in messages up to `numbered`.
    pub whole_ns: u64,
    /// How each scenario goes, in the order of the plan; empty before they begin.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub load: Vec<ScenarioLoad>,
}

/// How a scenario goes at one agent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ScenarioLoad {
    /// VUs that it has.
    pub vus: u64,
    /// VUs inside an iteration.
    pub active: u64,
    /// Iterations that began.
    pub begun: u64,
    /// Iterations that came to their end.
    pub complete: u64,
    /// It is over.
    pub is_over: bool,
}

/// The messages that the leader has, each second, on `brunt.RUN.seen`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seen {
    /// The [plan](crate::Plan::nonce) it belongs to.
    pub nonce: u64,
    /// By seat and incarnation.
    pub seats: Vec<SeenOf>,
}

/// The messages of an agent that the leader has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeenOf {
    /// The seat.
    pub seat: u32,
    /// The incarnation.
    pub incarnation: u64,
    /// Which numbers.
    pub ranges: Ranges,
    /// The number of the last beat that the leader heard; 0 if it takes the agent for lost.
    #[serde(default)]
    pub heard: u64,
}

/// An agent asks for the leader's time: a request on `brunt.RUN.clock`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClockAsk {
    /// When it asked, by its own clock.
    pub t1: Nanos,
}

/// The answer of the leader.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClockReply {
    /// From the question.
    pub t1: Nanos,
    /// When the leader had the question, by its own clock.
    pub t2: Nanos,
    /// When it answered.
    pub t3: Nanos,
}

/// The leader's sign of life, renewed each two seconds under [`Key::Leader`](crate::Key::Leader).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeaderSign {
    /// The leader's name: host and process, for people.
    pub id: String,
    /// Another number for each start of the process.
    pub incarnation: u64,
    /// Grows with each renewal.
    pub beat: u64,
}
