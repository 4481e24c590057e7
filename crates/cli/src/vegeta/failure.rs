//! How the four fail.

use crate::{
    exit::Exit,
    failure::{Failure, Outcome},
};

/// A failure of one of the four: exit code 1.
pub(in crate::vegeta) fn failure(error: impl Into<String>) -> Failure {
    Failure::new(Exit::Vegeta, anyhow::Error::msg(error.into()))
}

/// Records are binary: a screen would show nonsense, and obey it.
///
/// # Errors
/// The output is a screen (exit code 1).
pub(crate) fn keep_from_screen(command: &str, output: &str) -> Outcome<()> {
    if !crate::piped::is_screen(output) {
        return Ok(());
    }
    let message = format!("brunt {command} writes binary records, and its output is a terminal");
    Err(failure(message)
        .hint("add -output=FILE, or pipe it into brunt report, or into brunt encode, which makes JSON of them"))
}
