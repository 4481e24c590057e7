//! Runs a plan on cores and gathers what they saw.
//!
//! The engine knows no JavaScript and no HTTP. It is given scenarios (what is to be done when, from
//! `brunt-schedule`), a [`Runner`] (which makes VUs), and a ledger (which adds up, from `brunt-metrics`),
//! and leads the test through its life: init, `setup()`, scenarios, `teardown()`, the end.
//!
//! ```text
//!  caller's thread          threads core-0 … core-N              thread gather
//! ┌───────────────┐ command ┌──────────────────────────┐ frame  ┌───────────────────────────┐
//! │ coordinator   │────────▶│ runtime, VUs, timer,     │───────▶│ ledger, thresholds,       │
//! │ pool, scenes  │◀────────│ recorder; one VU task    │        │ vus/vus_max, listeners    │
//! └───────────────┘  event  └──────────────────────────┘        └───────────────────────────┘
//!         ▲                        ▲   parcels   ▲                            │
//!         └──────── Control: abort, phase, live counts (atomics) ◀────────────┘
//! ```
//!
//! The cast:
//! - [`Run`] lays a test out, gives [`Control`] (the wheel) and [`Live`] (the view), and executes it into a
//!   [`RunReport`].
//! - [`Core`] is a thread with its own tokio runtime, its own VUs and its own tables. Nothing is shared on
//!   the way of an iteration but one counter; nothing is locked or allocated.
//! - Closed executors: each VU is a task that iterates through the spans of its handle. Open ones: each core
//!   wakes for its share of the due times and gives each to an idle VU, its own or another core's.
//! - [`StopHandle`] is how a VU is told to stop, even one that never yields.
//! - The gatherer merges the cores' frames into the ledger, looks at the thresholds each 2 s, and shows the
//!   frames to each [`Listener`].
//!
//! Absent: progress bars, exit codes, signal handlers (`cli`); what an iteration does (`js`).
#![forbid(unsafe_code)]

mod control;
mod core;
mod error;
mod gate;
mod gather;
mod health;
mod helm;
mod idle;
mod live;
mod message;
mod relay;
mod resumed;
mod run;
mod runner;
mod scenario;
mod stop;

pub use brunt_schedule::mixed;

pub use self::control::{AbortReason, Control, Phase};
pub use self::core::Core;
pub use self::error::{ErrorKind, Failure, RunError, StageError};
pub use self::gate::{may_pause, weigh};
pub use self::gather::Listener;
pub use self::health::CoreHealth;
pub use self::live::{Live, Progress, ScaleError, ScenarioPhase, ScenarioProgress};
pub use self::relay::{Relay, Relayed};
pub use self::resumed::Resumed;
pub use self::run::{Linger, Run, RunConfig, RunReport, run};
pub use self::runner::{Ended, Iteration, Runner, Vu, VuIds};
pub use self::scenario::{ScenarioHere, ScenarioState};
pub use self::stop::{StopHandle, Stopped};
