//! Hits as records: their file formats, their arithmetic, their reports and plots.
//!
//! The cast, in the order of a file's life:
//!
//! ```text
//! Record       one hit and what came of it
//! ```
//!
//! Deliberately absent: sockets, threads, clocks, files. Bytes come from a `Read` and go to a `Write`.
#![forbid(unsafe_code)]

pub mod duration;
pub mod record;

pub use self::record::{Headers, Record, Timestamp};
