//! How much load does a system bear?
//!
//! Steps that were measured go in, the next step to try comes out. Nothing here measures: a driver holds a load for a
//! while, tells what it saw ([`Measured`]), and asks again.
//!
//! ```text
//!              ┌──────────── Trial: this load, so long ─────────────┐
//!              │                                                    ▼
//!           Search ◀── Step ── judge ◀── Measured ◀──────── the driver's run
//!              │                                                    ▲
//!              └── End                      Recovery: go on, wait, down
//! ```
//!
//! The cast:
//! - [`Search`] climbs until a goal breaks, looks on both sides of where the limit seems to be, and confirms a load just below.
//! - [`Limit`] is where the limit seems to be, from all steps together, and how sure that is.
//! - [`Search::judge`] says of one step whether the system held, broke, or whether the generator was in the way.
//! - [`Recovery`] says between steps whether the system is itself again.
//! - [`figures`] tells plateau and knee of all steps.
//!
//! Absent: clocks, threads, sockets, metrics, words for the user beyond the reason of a step.
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::float_cmp, reason = "exact is what is promised"))]

pub mod figures;
mod judge;
mod limit;
mod recovery;
mod search;
#[cfg(test)]
mod simulated;
mod step;

pub use self::limit::Limit;
pub use self::recovery::{Look, Recovering, Recovery};
pub use self::search::{Bounds, End, Next, Search};
pub use self::step::{Goal, HOLDS_MAX, Measured, Outcome, Purpose, SLICES, Step, Trial, spread};
