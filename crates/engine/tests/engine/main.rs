//! The engine with mock VUs: every executor, and every way a run can end.
//!
//! Time is real here, since threads, timers and the kernel's timerfd are what is tested. So nothing is
//! asserted to be fast, only never early, and in the right number.
#![expect(clippy::unwrap_used, reason = "helpers of tests may")]

mod closed;
mod laws;
mod led;
mod life;
mod mock;
mod open;
mod resumed;
