//! The result of a command.

use crate::{Context, exit::Exit, failure::Outcome};

/// Writes a result. A reader that went away (`brunt inspect x.js | head -1`) is no failure.
pub(crate) fn print(context: &Context, text: &str) -> Outcome<Exit> {
    match context.screen.stdout(text) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(Exit::Success),
    }
}
