//! Times of a threshold that make no sense.

use std::time::Duration;

use brunt_duration::wait;
use brunt_metrics::Timing;

use super::ThresholdConfig;

/// The keys of a threshold that are wrong in a test of this length, each with its reason.
pub(super) fn faults(config: &ThresholdConfig, length: Duration) -> Vec<(&'static str, String)> {
    let mut faults = Vec::new();
    let shown = wait::format;
    let not_beyond =
        |time: Duration| format!("is {}, but the test ends after {}", shown(time), shown(length));
    if let Some(window) = config.window {
        if window < Timing::WINDOW_MIN {
            let least = shown(Timing::WINDOW_MIN);
            faults.push(("window", format!("must be at least {least}, got {}", shown(window))));
        } else if window > length {
            faults.push(("window", not_beyond(window)));
        }
    }
    if let Some(after) = config.after.filter(|after| *after >= length && !after.is_zero()) {
        faults.push(("after", not_beyond(after)));
    }
    match (config.hold, config.window) {
        (Some(hold), Some(window)) if hold > window => {
            let reason = format!("is {}, but its window is {}", shown(hold), shown(window));
            faults.push(("for", reason));
        }
        (Some(hold), None) if hold > length => faults.push(("for", not_beyond(hold))),
        _ => {}
    }
    if let Some(code) = config.exit_code.filter(|code| Timing::exit_code(*code).is_none()) {
        faults.push(("exitCode", Timing::not_an_exit_code(code)));
    }
    if config.name.as_deref().is_some_and(|name| name.trim().is_empty()) {
        faults.push(("name", "must not be empty".to_owned()));
    }
    if config.name.as_deref().is_some_and(|name| name.contains(['"', '\n', '\r'])) {
        faults.push(("name", "must have neither quotes nor line breaks".to_owned()));
    }
    faults
}

/// The metric that says whether the numbers of the run can be trusted.
const VERDICT: &str = "verdict";

/// The keys of a threshold that have no meaning for its metric, each with its reason.
pub(super) fn faults_of_metric(
    config: &ThresholdConfig,
    metric: &str,
) -> Vec<(&'static str, String)> {
    let given = [("window", config.window.is_some()), ("for", config.hold.is_some())];
    let given = given.into_iter().filter(|(_, is_given)| *is_given && metric == VERDICT);
    let reason = "has no meaning for the metric verdict, which is judged once, when the run is over: leave it out";
    given.map(|(key, _)| (key, reason.to_owned())).collect()
}
