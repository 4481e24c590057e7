//! Fibers on one core's tokio runtime: stacks, suspending, resuming, aborting, the clock.
