//! The run file: everything that is kept of a run, in slices of time, in one SQLite database.
//!
//! ```text
//! frames ──▶ Slicer ──▶ Writer: a transaction for each slice ──▶ *.brunt ──▶ RunFile ──▶ Summary, of the whole or of a stretch
//!            (series,   ▲                                                        └────▶ page: the data of the report's page
//!            checks,    │
//!            failures)  └ Extras: load, health, events, exchanges
//! ```
//!
//! Slices hold mergeable histograms, so that every number can be computed for any stretch of time afterwards, exactly as at the end
//! of the run. `docs/guide/run-file.md` tells the tables.
//!
//! Deliberately absent: threads, terminals, HTTP, clocks (moments come with the calls).
#![forbid(unsafe_code)]
#![recursion_limit = "256"]
#![cfg_attr(test, allow(clippy::float_cmp, reason = "exact is what is promised"))]

mod agent;
mod claim;
mod error;
pub mod exchange;
mod histogram;
mod info;
mod machine;
pub mod page;
mod place;
mod reader;
mod schema;
mod settings;
mod slicer;
mod trust;
mod varint;
mod writer;

pub use self::agent::{AgentFrames, AgentHole, AgentRow, AgentStateAt, AgentTakeOver};
pub use self::error::RunFileError;
pub use self::info::{
    End, Event, Judgement, Load, RunInfo, ScenarioInfo, Source, StageInfo, SummaryInfo,
};
pub use self::machine::{Commit, Machine};
pub use self::reader::{About, Examples, MetricRow, RunFile, SeriesRow, State};
pub use self::schema::SCHEMA_VERSION;
pub use self::writer::{Extras, Writer};

#[cfg(test)]
mod tests;
