//! The verdict on a run: can its numbers be trusted, or did the generator itself bend them?
//!
//! ```text
//! /proc, cgroup ──▶ Probe ──▶ Signals, once a second ──▶ History ──┐
//!                                  │                               ├──▶ judge ──▶ Verdict: Findings
//!                  run file, metrics generator_*        Figures ───┘             words, JSON, Markdown
//!                                                       (the load and the summary)
//! ```
//!
//! A [`Finding`] says what, when, how much, which numbers it touches and what to do. Its limits are those of
//! `docs/guide/verdict.md`. Closed models near saturation are no fault: a core that is full and in time is none.
//!
//! Deliberately absent: threads, clocks (moments come with the calls), metrics, files other than those of the kernel.
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::float_cmp, reason = "exact is what is promised"))]

mod figures;
mod finding;
mod history;
mod judge;
mod probe;
mod signals;
mod span;
mod warm_up;
mod words;

pub use self::figures::{Figures, Load, Starts, Tail};
pub use self::finding::{Finding, Level, METRIC, Verdict};
pub use self::history::History;
pub use self::judge::judge;
pub use self::probe::{Container, Outside, Places, Probe, kernel};
pub use self::signals::{Core, Shortages, Signals};
pub use self::warm_up::WarmUp;
