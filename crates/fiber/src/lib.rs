//! Fibers on one core's tokio runtime: stacks, suspending, resuming, aborting, the clock.
//! Runs a plan on cores and gathers what they saw

pub mod clock;
pub mod timer;
