//! `brunt run`: from a script's name to an exit code.

use crate::{
    Context,
    exit::Exit,
    failure::{Failure, Outcome},
    flags::Given,
    settings::RunSettings,
};

pub(crate) mod signal;

/// Runs the test.
pub(crate) fn perform(
    _context: &Context,
    script: &str,
    _settings: RunSettings,
    _given: &Given,
) -> Outcome<Exit> {
    Err(Failure::usage(format!("cannot run {script}: not wired")))
}
