//! Hits as records: their file formats, their arithmetic, their reports, and all of them in slices of time.
//!
//! The cast, in the order of a file's life:
//!
//! ```text
//! Record       one hit and what came of it
//!    │  Encoder: gob, JSON, CSV
//! file
//!    │  decode::open finds the format; Rotation takes records from several files in turn
//! Record
//!    ├─ Summary      the arithmetic of all hits so far ─> report: text, JSON, histogram; Threshold judges it
//!    └─ Sheet        hits in slices of time            ─> the data of the page, which others make of it
//! ```
//!
//! Memory does not grow with the number of records: each part says at its declaration what it keeps.
//!
//! Deliberately absent: sockets, threads, clocks, files. Bytes come from a `Read` and go to a `Write`.
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::float_cmp, reason = "exact is what is promised"))]
#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a test that panics has failed"))]

pub mod decode;
pub mod encode;
mod input;
mod moment;
pub mod record;
pub mod report;
mod rotation;
pub mod sheet;
mod summary;
mod threshold;

pub use self::decode::{DecodeError, Decoder};
pub use self::encode::{Encoder, Format};
pub use self::record::{Headers, Record, Timestamp};
pub use self::report::Report;
pub use self::rotation::Rotation;
pub use self::sheet::{Drawn, Sheet, SheetConfig};
pub use self::summary::{
    Class, Errors, Group, GroupBy, Histogram, Kinds, Schedule, Summary, SummaryConfig,
};
pub use self::threshold::{Course, Subject, Threshold, ThresholdError, Twin, Verdict};
