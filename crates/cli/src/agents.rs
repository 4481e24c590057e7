//! One test on several machines: `brunt run --agents N` leads, `brunt agent` makes load.
//!
//! ```text
//!  leader                                                       each agent
//!  main thread: script, ledger, thresholds, summary             main thread: the engine's run
//!      ▲ frames, progress │ abort, concluded                         ▲ load      │ ready, ended
//!  thread "broker": cluster::Leader ◀── NATS (crate nats) ──▶ thread "broker": cluster::Agent ◀─ frames ─ gatherer
//! ```
//!
//! The decisions are made in the crate `cluster`, by machines without sockets and clocks. Here are the threads, the clock, the
//! engine and the words for the user. The thread "broker" of either side owns its machine and one connection; no load core waits
//! for it.

mod broker;
mod digest;
pub(crate) mod follow;
mod handed;
pub(crate) mod lead;
mod link;
pub(crate) mod settings;
mod shared;

pub(crate) use self::settings::{LeadSettings, Meeting};
