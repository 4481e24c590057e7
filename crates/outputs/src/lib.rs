//! One file per `--out`: where single samples go while the test runs.
//!
//! ```text
//! gathering thread                       a thread per output              a thread per server
//! Outputs::write(frame) ── bounded ──▶   json, csv → file, .gz, stdout
//!                                        statsd    → datagrams
//!                                        influxdb: samples as lines       ── bounded ──▶ net::Sender
//!                                        prometheus, opentelemetry:
//!                                        series, added up (tally)         ── bounded ──▶ net::Sender
//!                                        run: slices of time → SQLite (crate `runfile`)
//! ```
//!
//! Outputs that tell series (prometheus, opentelemetry) need no single samples: they add up what the
//! cores have added up already, and a push that fails loses nothing, as the next one tells the whole.
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
mod dashboard;
mod destination;
mod influxdb;
mod json;
mod net;
mod number;
mod open;
mod opentelemetry;
mod otlp;
mod output;
mod priority;
mod prometheus;
mod queue;
mod run_file;
mod settings;
mod spec;
mod statsd;
mod tally;
#[cfg(test)]
mod testing;
mod traces;

pub use self::dashboard::Viewers;
pub use self::open::open;
pub use self::output::{Context, Output, OutputError, Page, Written};
pub use self::priority::stand_back;
pub use self::queue::{Finished, Outputs};
pub use self::run_file::{RunFacts, RunFileHandle, RunWatch};
pub use self::spec::{OutputKind, OutputSpec};
pub use self::traces::{Span, SpanValue, TraceTarget, Traces, TracesEnd};
