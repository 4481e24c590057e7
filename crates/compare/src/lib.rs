//! Is one run worse than another, by how much, how sure?
//!
//! Runs come in as plain data ([`Run`]), a [`Comparison`] goes out, and [`show`] tells it to a reader. The cast:
//!
//! ```text
//! likeness       are these runs of one test?
//! window         the part of a run that counts: the steady one
//! measure        the figures, and how one is read from a part of a run
//! welch          several runs a side: their means, and how far those may lie from the truth
//! permutation    the same question, asked of the order of the runs alone
//! blocks         one run a side: its slices drawn again, in blocks of neighbours
//! multiple       many figures at once, and one word wrong in twenty comparisons all the same
//! verdict        better, worse, same, unclear
//! comparison     all of it put together
//! order          A B B A: how runs take turns
//! ```
//!
//! How it decides, and how often it is wrong, is told in `docs/guide/compare.md` and in decision 18.
//!
//! Deliberately absent: files, clocks, threads, terminals. Everything here is a function from values to values; what
//! looks like chance comes from the caller's seed.
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::float_cmp, reason = "exact is what is promised"))]

mod blocks;
mod comparison;
mod estimate;
mod likeness;
mod measure;
mod multiple;
mod order;
mod permutation;
mod run;
pub mod show;
#[cfg(any(test, feature = "simulated"))]
pub mod simulated;
mod student;
mod verdict;
mod warning;
mod welch;
mod window;

pub use self::comparison::{Comparison, Draws, Refusal, Row, Settings, compare};
pub use self::estimate::Change;
pub use self::likeness::{Aspect, Difference, differences};
pub use self::measure::{Measure, Scale, Statistic, Subject};
pub use self::order::{Side, interleaved};
pub use self::permutation::Permutation;
pub use self::run::{Better, Identity, Part, Run, Share, Slice, Stage, Threshold, Trust};
pub use self::verdict::{Verdict, Why};
pub use self::warning::Warning;
pub use self::window::{Reason, Window};
