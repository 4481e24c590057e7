//! One file per `--out`: where single samples go while the test runs.
//!
//! ```text
//! gathering thread                         a thread per output
//! Outputs::write(samples) ── bounded ──▶   Output::write: json, csv → file, .gz, stdout
//! ```
//!
//! When an output is too slow its queue fills, and what finds no room there is dropped and counted
//! ([`Finished::dropped`]): thresholds must not wait for a disk. Nothing is lost in silence: samples that
//! could not be written are counted too.
//!
//! Formats are k6's, line by line. Deliberately absent: printing (except that `-` means the standard
//! output), reading the environment (who starts the outputs hands it in).
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::float_cmp, reason = "exact is what is promised"))]

mod cache;
mod csv;
mod destination;
mod duration;
mod json;
mod number;
mod output;
mod queue;
mod spec;
mod stamp;

pub use self::output::{Context, Output, OutputError, Written, open};
pub use self::queue::{Finished, Outputs};
pub use self::spec::{OutputKind, OutputSpec};
