//! Moments, and their units.

/// A moment: nanoseconds since the Unix epoch on the clock of one process. That clock is set by the wall clock when the process
/// starts and counts by the monotonic one from then on, so that it never jumps; two machines' clocks differ.
pub type Nanos = u64;

/// Nanoseconds of a second.
pub(crate) const SECOND: u64 = 1_000_000_000;

/// Nanoseconds of a millisecond.
pub(crate) const MILLI: u64 = 1_000_000;
