//! Whole scripts, as people read them.

mod forms;
mod listening;
mod requests;
mod session;
