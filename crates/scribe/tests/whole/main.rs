//! Whole scripts, as people read them.
#![expect(clippy::unwrap_used, reason = "a test that panics has failed")]

mod forms;
mod listening;
mod requests;
mod session;
