//! How tests are run: executors, life, options, flags, exit codes. The built binary, as users meet it.
#![forbid(unsafe_code)]

mod executors;
mod flags;
mod layers;
mod life;
mod samples;
mod segments;
#[path = "../whole/support.rs"]
#[expect(dead_code, reason = "shared with the tests in `whole`, which use other parts of it")]
mod support;
mod thresholds;
