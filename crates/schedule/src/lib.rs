//! When work is due: executors, stages, arrival rates, execution segments.
//!
//! Everything here is arithmetic. No clock is read, no thread started, nothing waited for; so a test of
//! an hour is checked in microseconds, and two machines that share a test agree without talking.
//!
//! The cast:
//! - [`Scenario`] is one named workload: an [`Executor`] and what goes around it.
//! - [`Segment`] is the share of the test that this machine runs; [`Segment::full`] is all of it.
//! - A scenario and a segment make either a [`ClosedPlan`] (VU handles, each with the [`Span`]s in which it
//!   iterates, and a [`Budget`]) or [`Arrivals`] (the n-th iteration is due at `due(n)`). Six executors,
//!   two loops: the engine knows only these two.
//! - A [`Course`] is an arrival rate that is set while the test runs, a [`Curve`] one that a file gives.
//! - [`Scenario::requirements`] says how many VUs that takes when, and [`peak`] how many at once.
//!
//! All instants are offsets from the scenario's start (its `start_time` not added), except in [`peak`]
//! and [`total_duration`], which look at the whole test. Durations are nanoseconds; divisions truncate.
#![forbid(unsafe_code)]

mod arrivals;
mod course;
mod curve;
mod describe;
mod executor;
mod fraction;
mod plan;
mod ramp;
mod rate;
mod requirement;
mod rhythm;
mod scenario;
mod segment;
#[cfg(test)]
mod testing;

pub use arrivals::Arrivals;
pub use course::Course;
pub use curve::{Corner, Curve, InvalidCurve, InvalidLine, LineFault};
pub use describe::overview;
pub use executor::{Executor, Stage};
pub use plan::{Budget, ClosedPlan, HandlePlan, Span};
pub use rate::{InvalidRate, Rate};
pub use requirement::{Peak, Step, peak, regular_duration, total_duration};
pub use rhythm::{Gaps, Rhythm, Sine, SineStart, mixed, seed_of};
pub use scenario::{Scenario, ScenarioError};
pub use segment::{Segment, SegmentError};
