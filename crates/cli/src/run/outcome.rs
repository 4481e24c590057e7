//! From a run's failure to an exit code and a remedy.

use brunt_engine::{AbortReason, ErrorKind, Failure as RunFailure, RunError, RunReport};

use crate::{exit::Exit, failure::Failure};

/// The failure of a run, if it failed. Where thresholds decide, the first of them that has an exit code says with which.
pub(crate) fn of_run(report: &RunReport) -> Option<Failure> {
    let told = failure(report.error()?);
    Some(match (told.exit, report.exit_code) {
        (Exit::Thresholds, Some(code)) => Failure { exit: Exit::OfThreshold(code), ..told },
        _ => told,
    })
}

/// The failure as `main` tells it.
pub(crate) fn failure(failure: RunFailure) -> Failure {
    let (exit, hint) = match &failure {
        RunFailure::Init(error) | RunFailure::Setup(error) | RunFailure::Teardown(error) => {
            // k6's words: log collectors look for them.
            let hint = match (error.vu, error.kind) {
                (0, ErrorKind::Script) => Some("script exception".to_owned()),
                (0, _) => None,
                (vu, ErrorKind::Script) => {
                    Some(format!("error while initializing VU #{vu} (script exception)"))
                }
                (vu, _) => Some(format!("error while initializing VU #{vu}")),
            };
            (exit_of(error), hint)
        }
        RunFailure::SetupTimeout(_) => (
            Exit::SetupTimeout,
            Some("the option setupTimeout (or K6_SETUP_TIMEOUT) allows it more time".to_owned()),
        ),
        RunFailure::TeardownTimeout(_) => (
            Exit::TeardownTimeout,
            Some(
                "the option teardownTimeout (or K6_TEARDOWN_TIMEOUT) allows it more time"
                    .to_owned(),
            ),
        ),
        RunFailure::Aborted(reason) => (aborted(reason), None),
        RunFailure::MarkedFailed => (Exit::MarkedAsFailed, None),
        RunFailure::Thresholds(_) => (Exit::Thresholds, None),
        // `System`, and what the engine may add.
        _ => (Exit::Other, None),
    };
    let told = Failure::new(exit, failure);
    match hint {
        Some(hint) => told.hint(hint),
        None => told,
    }
}

fn exit_of(error: &RunError) -> Exit {
    match error.kind {
        ErrorKind::Script => Exit::ScriptException,
        ErrorKind::Aborted => Exit::ScriptAborted,
        ErrorKind::Interrupted => Exit::Signal,
        ErrorKind::Panic => Exit::Panic,
        // `Other`: setup data that is no JSON, and what the engine may add.
        _ => Exit::Other,
    }
}

fn aborted(reason: &AbortReason) -> Exit {
    match reason {
        AbortReason::Signal { .. } => Exit::Signal,
        AbortReason::Test { .. } => Exit::ScriptAborted,
        AbortReason::Thresholds { .. } => Exit::Thresholds,
        AbortReason::Panic { .. } => Exit::Panic,
        AbortReason::Api => Exit::StoppedByApi,
        AbortReason::Steered => Exit::Success,
        _ => Exit::Other,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn every_failure_has_k6s_number() {
        let script = |kind| RunError::new(kind, "x");
        for (ended, code) in [
            (RunFailure::Init(script(ErrorKind::Script)), 107),
            (RunFailure::Init(script(ErrorKind::Aborted)), 108),
            (RunFailure::Setup(script(ErrorKind::Script)), 107),
            (RunFailure::Setup(script(ErrorKind::Other)), 255),
            (RunFailure::Teardown(script(ErrorKind::Script)), 107),
            (RunFailure::SetupTimeout(Duration::from_mins(1)), 100),
            (RunFailure::TeardownTimeout(Duration::from_mins(1)), 101),
            (RunFailure::Aborted(AbortReason::Signal { name: "interrupt".into() }), 105),
            (RunFailure::Aborted(AbortReason::Test { message: "x".into() }), 108),
            (RunFailure::Aborted(AbortReason::Thresholds { crossed: vec!["a".into()] }), 99),
            (RunFailure::Aborted(AbortReason::Panic { message: "x".into() }), 109),
            (RunFailure::Aborted(AbortReason::Api), 103),
            (RunFailure::MarkedFailed, 110),
            (RunFailure::Thresholds(vec!["a".into()]), 99),
            (RunFailure::System("x".into()), 255),
        ] {
            assert_eq!(failure(ended.clone()).exit.code(), code, "{ended:?}");
        }
    }
}
