//! The failures of a run, by who is to blame.

use std::time::Duration;

use crate::control::AbortReason;

/// The kind of a [`RunError`]; decides the exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The script threw.
    Script,
    /// The script called `exec.test.abort()`.
    Aborted,
    /// It was told to stop and did.
    Interrupted,
    /// Anything else, such as setup data that is no JSON.
    Other,
    /// A fault of ours.
    Panic,
}

/// Init code, `setup()` or `teardown()` failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct RunError {
    /// Which kind.
    pub kind: ErrorKind,
    /// For the user: the exception with its stack, the thing and the remedy.
    pub message: String,
    /// The VU that was being made, from 1; 0 if it was none.
    pub vu: u64,
}

impl RunError {
    /// An error of this kind, of no VU.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> RunError {
        RunError { kind, message: message.into(), vu: 0 }
    }

    /// It happened while this VU was made.
    #[must_use]
    pub fn of_vu(self, vu: u64) -> RunError {
        RunError { vu, ..self }
    }
}

/// Why `setup()` or `teardown()`, which somebody outside asked for, did not end well.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StageError {
    /// It threw, or was interrupted.
    #[error("{0}")]
    Failed(RunError),
    /// It took longer than it may.
    #[error("it took too long")]
    TimedOut(Duration),
    /// The test is over, or its cores are gone: no core is left to run it.
    #[error("the test is over")]
    Over,
}

/// Why a run did not end well. A test has one: the first that was recorded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Failure {
    /// A VU's init code failed, before anything ran.
    #[error("{0}")]
    Init(RunError),
    /// `setup()` failed; nothing ran after it.
    #[error("{0}")]
    Setup(RunError),
    /// `setup()` took too long.
    #[error("setup() execution timed out after {} seconds", .0.as_secs_f64())]
    SetupTimeout(Duration),
    /// `teardown()` failed.
    #[error("{0}")]
    Teardown(RunError),
    /// `teardown()` took too long.
    #[error("teardown() execution timed out after {} seconds", .0.as_secs_f64())]
    TeardownTimeout(Duration),
    /// Someone cut the run short.
    #[error("{0}")]
    Aborted(AbortReason),
    /// `exec.test.fail()` was called.
    #[error("test run was marked as failed")]
    MarkedFailed,
    /// Thresholds do not hold at the end. The names are sorted.
    #[error("thresholds on metrics '{}' have been crossed", .0.join(", "))]
    Thresholds(Vec<String>),
    /// The system refused what a run needs: threads, file descriptors.
    #[error("{0}")]
    System(String),
}
