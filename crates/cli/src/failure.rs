//! Why a command could not do what was asked: an error, what to try, and the exit code it means.

use std::fmt;

use crate::{diagnostic::Diagnostic, exit::Exit};

/// The result of a command.
pub(crate) type Outcome<T> = Result<T, Failure>;

/// An error on its way to the user. `main` prints it once and exits with [`Failure::exit`].
#[derive(Debug)]
pub(crate) struct Failure {
    /// The exit code.
    pub(crate) exit: Exit,
    /// The event and the thing it happened to. The chain is printed in one line, joined by `: `.
    pub(crate) error: anyhow::Error,
    /// The remedy.
    pub(crate) hint: Option<String>,
    /// The message in place of the error where the drawings below tell the rest.
    pub(crate) short: Option<String>,
    /// The places in the author's files, drawn under the message.
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// The user has been told already (a log line, a summary): say nothing more.
    pub(crate) told: bool,
}

impl Failure {
    /// A failure with an exit code of its own.
    pub(crate) fn new(exit: Exit, error: impl Into<anyhow::Error>) -> Self {
        Self {
            exit,
            error: error.into(),
            hint: None,
            short: None,
            diagnostics: Vec::new(),
            told: false,
        }
    }

    /// A wrong command line: exit code 255.
    pub(crate) fn usage(message: impl fmt::Display + Send + Sync + fmt::Debug + 'static) -> Self {
        Self::new(Exit::Other, anyhow::Error::msg(message))
    }

    /// An option that makes no sense: exit code 104.
    pub(crate) fn config(message: impl fmt::Display + Send + Sync + fmt::Debug + 'static) -> Self {
        Self::new(Exit::InvalidConfig, anyhow::Error::msg(message))
    }

    /// Adds what to try.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Adds the place in the script.
    pub(crate) fn at(mut self, diagnostic: Diagnostic) -> Self {
        self.diagnostics.push(diagnostic);
        self
    }

    /// The error and its causes in one line, each cause once.
    pub(crate) fn message(&self) -> String {
        let mut line = String::new();
        for cause in self.error.chain() {
            let text = cause.to_string();
            // Many errors repeat their source in their own text.
            if !text.is_empty() && line.contains(text.as_str()) {
                continue;
            }
            if !line.is_empty() {
                line.push_str(": ");
            }
            line.push_str(&text);
        }
        line
    }
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        Self::new(Exit::Other, error)
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Self::new(Exit::Other, error)
    }
}

#[cfg(test)]
mod tests {
    use anyhow::Context as _;

    use super::*;

    #[test]
    fn the_chain_is_one_line_and_repeats_nothing() {
        let io = std::io::Error::other("disk on fire");
        let error = Err::<(), _>(io)
            .context("cannot read x.json: disk on fire")
            .context("no configuration")
            .unwrap_err();
        let failure = Failure::new(Exit::InvalidConfig, error);
        assert_eq!(failure.message(), "no configuration: cannot read x.json: disk on fire");
        assert_eq!(failure.exit.code(), 104);
    }
}
