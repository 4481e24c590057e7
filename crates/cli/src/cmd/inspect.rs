//! `brunt inspect`: the options of a script as JSON.

use crate::{
    Context,
    exit::Exit,
    failure::{Failure, Outcome},
    settings::ScriptSettings,
};

pub(super) fn perform(
    _context: &Context,
    script: &str,
    _settings: &ScriptSettings,
    _requirements: bool,
) -> Outcome<Exit> {
    Err(Failure::usage(format!(
        "cannot inspect {script}: not wired"
    )))
}
