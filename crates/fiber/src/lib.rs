//! Fibers on one core's tokio runtime.
//!
//! A [`Fiber`] runs a closure on a stack of its own. In the middle of it, however deep in C or JavaScript frames,
//! the code may call [`block_on`]: the fiber is switched out, the future is polled by whoever polls the fiber (a
//! task on the core's runtime, on the core's own big stack), and when it is done the fiber goes on. To its caller
//! `block_on` looks like a call that takes time.
//!
//! The cast: [`stack::StackPool`] hands out stacks with cheap guards; [`Fiber`] owns one and is a future while a
//! body runs on it; [`block_on`] and [`is_aborted`] are what the body sees.
//!
//! A suspended fiber is never dropped: dropping or [`Fiber::abort`]ing it resumes it once more with *aborted*, which
//! is sticky, so that every frame returns in the ordinary way and frees what it owns. Forced unwinding through
//! foreign frames, which would be undefined, does not exist here.
//!
//! Absent: JavaScript, HTTP, metrics. This crate and `quickjs` are the two homes of `unsafe`.
#![warn(clippy::undocumented_unsafe_blocks)]

mod ahead;
pub mod clock;
pub mod core;
pub mod fiber;
pub mod pause;
pub mod stack;
pub mod timer;
pub mod turn;

pub use fiber::{
    Aborted, Fiber, Outcome, abort_current, block_on, holds, is_aborted, on_fiber, resume_count,
    yield_now,
};
pub use stack::{StackPool, StackSettings};
