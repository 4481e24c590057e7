//! How each agent fared: the section *Agents* of a summary.

use brunt_metrics::TrendSink;
use serde::{Deserialize, Serialize};

use crate::seat::{Delivery, Seat, State};
use crate::time::Nanos;
use crate::totals::Totals;

/// How all agents fared.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Seat by seat, from 1 on.
    pub seats: Vec<SeatReport>,
    /// A sentence for each agent whose load or results are missing.
    pub missing: Vec<String>,
    /// Messages of the stream that were not for this run, or could not be read.
    pub refused: u64,
    /// Values of metrics that the leader's script does not have.
    pub unknown: u64,
}

/// How an agent fared.
#[derive(Clone, Debug, Default)]
pub struct SeatReport {
    /// From 1 on.
    pub seat: u32,
    /// Its segment, as `0:1/4`.
    pub segment: String,
    /// Its share of the load, 0 to 1.
    pub share: f64,
    /// The agent, if one came.
    pub agent: Option<Seat>,
    /// Its states, each with the moment in which the leader heard of it, by the leader's clock.
    pub states: Vec<(State, Nanos)>,
    /// Times without a beat, and times without load.
    pub holes: Vec<Hole>,
    /// As in [`AgentState::offset_ns`](crate::AgentState::offset_ns).
    pub offset_ns: i64,
    /// How wrong that may be, in nanoseconds.
    pub offset_bound_ns: u64,
    /// As in [`AgentState::late_ns`](crate::AgentState::late_ns).
    pub late_ns: Option<u64>,
    /// The measurements that the leader has.
    pub totals: Totals,
    /// The measurements that are known to be missing; none: all are there, as far as the agent could tell.
    pub missing: Totals,
    /// The messages that are known to be missing, of how many.
    pub missing_messages: (u64, u64),
    /// Whether all its load was made and all its measurements are there.
    pub is_whole: bool,
    /// Since when nothing is known of it, in nanoseconds since the start, if it is not whole.
    pub missing_since_ns: Option<u64>,
    /// The seat whose load it made, and since when (nanoseconds since the start), if that was another agent's before.
    pub took_over: Option<(u32, Nanos)>,
    /// The seat that makes its load now, if it was lost.
    pub taken_by: Option<u32>,
    /// Failed requests.
    pub failed: u64,
    /// Iterations that were due and could not start.
    pub missed: u64,
    /// `http_req_duration`, in milliseconds.
    pub durations: TrendSink,
    /// The share of its cores that it used at most, 0 to 1.
    pub cpu_max: f64,
    /// As in [`Beat::lateness_p99_ms`](crate::Beat::lateness_p99_ms).
    pub lateness_p99_ms: Option<f64>,
    /// How its frames went.
    pub delivery: Delivery,
    /// The first errors of its log.
    pub notes: Vec<String>,
    /// As in [`AgentState::verdict`](crate::AgentState::verdict).
    pub verdict: Option<serde_json::Value>,
    /// Its sentence of [`Report::missing`].
    pub sentence: Option<String>,
}

/// A time in which an agent was out of touch, or made no load.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hole {
    /// When the leader last heard of it, by the leader's clock.
    pub since: Nanos,
    /// When it was back; none if never.
    pub until: Option<Nanos>,
    /// Whether it was given up meanwhile.
    pub was_lost: bool,
}
