//! Whether a script does again what a recorded session did.
//!
//! A run of the script writes down what it saw ([`Record`]); [`compare`] lays these records beside the recording, call by call, and
//! says what differs. A difference that a user of the application would call a failure is a fault (another status, the login in
//! place of the page, an error in a page with status 200, a value that is not found, an old token); one that two visits of the same
//! page may have is a note (other entries of a list, an optional member).
//!
//! ```text
//! records of one user ─▶ lay (record to call, redirects folded) ─▶ replayed Recording ─▶ compare: pages, JSON, values ─▶ Findings
//! ```
//!
//! Absent: processes, files, JavaScript. Texts of findings hold no values of tokens and no secrets.
#![forbid(unsafe_code)]

mod address;
mod body;
mod compare;
mod errors;
mod json;
mod lay;
mod page;
mod partial;
mod record;
mod values;

pub use address::shown;
pub use compare::{Finding, Findings, Weight, compare};
pub use record::{Hop, Record, read, write};
pub use values::to_change;
