//! Many machines, one test: a leader, its agents, and what they tell each other.
//!
//! ```text
//!   agent 1..n                                            leader
//! Frame of a tick ── Uplink ── wire::Encoder ── broker ── wire::Decoder ── Ranges ── Frame, to the ledger
//!                       └ keeps each message until the leader has it ◄── Seen ──┘
//! Agent: takes a seat, loads, sets up, starts at a moment, stops, tears down, closes
//! Leader: waits for all of them, each time with a limit; judges what is missing; concludes once
//! ```
//!
//! Control is state, not messages: leader and agents write [`Key`]s of a key-value store and watch all of them, so that a
//! reconnect, a repeat or a late start sees the present. [`Agent`] and [`Leader`] are state machines: an adapter tells them
//! events with the time, and does the actions that they answer with.
//!
//! The promise: whatever was sent to the target is counted exactly once, or the [`Report`] says whose, how much and since
//! when is missing. `tests/simulation.rs` holds the machines to it, through losses, doubles, cuts and restarts.
//!
//! Deliberately absent: sockets, threads, clocks, NATS. An adapter has them.
#![forbid(unsafe_code)]

mod agent;
mod checkpoint;
mod clock;
pub mod code;
mod desk;
mod keys;
mod leader;
mod level;
mod messages;
mod phase;
mod plan;
mod ranges;
mod report;
mod seat;
mod setup;
mod steering;
mod time;
mod totals;
mod uplink;
mod whole;
pub mod wire;

pub use self::agent::{Agent, AgentAction, AgentConfig, AgentEvent, Loaded, Vitals};
pub use self::clock::Clock;
pub use self::keys::{Expect, Key, Write};
pub use self::leader::{
    Leader, LeaderAction, LeaderConfig, LeaderEvent, Outcome, SeatView, Stored, Touch, View,
};
pub use self::level::Level;
pub use self::messages::{Beat, ClockAsk, ClockReply, LeaderSign, ScenarioLoad, Seen, SeenOf};
pub use self::phase::{DoneOf, Holder, Phase, Step, TakeOver};
pub use self::plan::{ARCHIVE_MAX, Archive, FORMAT, Limits, Plan, PlanError, Policy, SEATS_MAX};
pub use self::ranges::Ranges;
pub use self::report::{Hole, Report, SeatReport};
pub use self::seat::{AgentState, Delivery, Fault, Seat, State, TeardownEnd};
pub use self::setup::SetupData;
pub use self::steering::{Steering, Wish};
pub use self::time::Nanos;
pub use self::totals::Totals;
pub use self::uplink::{Publication, Uplink};
pub use self::whole::Whole;
