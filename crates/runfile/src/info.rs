//! The facts about a run that are no measurements.

use std::collections::BTreeMap;
use std::time::Duration;

use brunt_metrics::{ThresholdResult, ThresholdSet, TrendStat};
use brunt_verdict::Verdict;
use serde_json::Value;

/// A run before it starts. The caller fills it; nothing here is read from the machine by itself
/// ([`Machine`](crate::Machine), [`Commit`](crate::Commit) do that).
#[derive(Clone, Debug, Default)]
pub struct RunInfo {
    /// `run` or `attack`; empty is `run`.
    pub kind: String,
    /// A name for people: that of the script without its folders and ending.
    pub name: String,
    /// The version of Brunt.
    pub brunt: String,
    /// The script as its user named it.
    pub script: Option<String>,
    /// The SHA-256 of its text, in hex.
    pub sha256: Option<String>,
    /// The command line.
    pub arguments: Vec<String>,
    /// The options of all layers together.
    pub options: Value,
    /// The names of variables that the script sees; never their values.
    pub environment: Vec<String>,
    /// The machine.
    pub machine: crate::Machine,
    /// Threads that carry VUs.
    pub cores: u64,
    /// The seed of what is random, if there is one.
    pub seed: Option<String>,
    /// Where the script's folder is in its history, and who builds.
    pub commit: crate::Commit,
    /// `--label`
    pub labels: BTreeMap<String, String>,
    /// The files of the test; texts are left out by `--no-source`.
    pub sources: Vec<Source>,
    /// How long it lasts at most; the width of slices comes from it.
    pub planned: Duration,
    /// Somebody else says how long it lasts.
    pub open_ended: bool,
    /// The scenarios, in the order of [`Load::scenario`].
    pub scenarios: Vec<ScenarioInfo>,
    /// How the summary is made.
    pub summary: SummaryInfo,
}

/// A file of the test.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Source {
    /// Its path, as short as it is clear.
    pub path: String,
    /// Its text.
    pub text: Option<String>,
}

/// A scenario as it is planned.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ScenarioInfo {
    /// Its name.
    pub name: String,
    /// `constant-vus`
    pub executor: String,
    /// A line for people.
    pub text: String,
    /// From the start of the run to its own.
    pub start: Duration,
    /// From the start of the run to the end of its regular duration.
    pub end: Duration,
    /// Its stages, if it has any.
    pub stages: Vec<StageInfo>,
}

/// A stage of a ramp.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StageInfo {
    /// From the start of the run to its own.
    pub start: Duration,
    /// From the start of the run to its end.
    pub end: Duration,
    /// VUs, or iterations per time unit, at its start.
    pub from: f64,
    /// The same at its end.
    pub to: f64,
}

/// How the summary of a run is made.
#[derive(Clone, Debug, Default)]
pub struct SummaryInfo {
    /// The thresholds of the options.
    pub thresholds: Vec<ThresholdSet>,
    /// Conditions of an attack on numbers that no metric tells: the metric that they stand at, and the condition. How they
    /// were found is told at the end.
    pub conditions: Vec<(String, String)>,
    /// `summaryTrendStats`
    pub trend_stats: Vec<TrendStat>,
    /// Whether `http_req_duration{expected_response:true}` is shown.
    pub expected_response_submetric: bool,
    /// Submetrics that are shown though nothing is judged.
    pub unjudged: Vec<String>,
    /// The system tag `check` is off.
    pub no_check_tag: bool,
    /// The system tag `group` is off.
    pub no_group_tag: bool,
    /// `iteration_lateness` and `iteration_duration_planned` are not shown where k6's metrics are, unless a threshold names them.
    pub hides_own: bool,
    /// Scenarios have warm-ups, which are left out.
    pub warmup: bool,
    /// Whether the text shows the routes.
    pub routes: bool,
    /// Kinds of failures in the text.
    pub failures: usize,
    /// `summaryTimeUnit`: `s`, `ms`, `us`.
    pub time_unit: Option<String>,
}

/// The state of a scenario now. Iterations are counted since its start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Load {
    /// Its place in [`RunInfo::scenarios`].
    pub scenario: usize,
    /// VUs that it should have; none if that is not planned.
    pub vus_planned: Option<u64>,
    /// VUs that it has.
    pub vus_started: u64,
    /// VUs inside an iteration.
    pub vus_active: u64,
    /// Iterations that should have begun; none in closed models.
    pub iterations_planned: Option<u64>,
    /// Iterations that began.
    pub iterations_started: u64,
    /// Iterations that came to their end.
    pub iterations_done: u64,
    /// Iterations that were cut off.
    pub iterations_interrupted: u64,
}

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Nanoseconds since the Unix epoch.
    pub at: u64,
    /// `stage`, `scenario`, `abort`, `scale`, `pause`, `resume`, `note`, `agent`, `threshold`, `lost`, `other`.
    pub kind: String,
    /// The event in words.
    pub text: String,
    /// The scenario that it is about.
    pub scenario: Option<String>,
}

/// How a run ended.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct End {
    /// From the start of its clock to the end of `teardown()`: rates are divided by it.
    pub duration: Duration,
    /// It was cut short, and why.
    pub aborted: Option<String>,
    /// Whether all thresholds hold; none if there are none.
    pub passed: Option<bool>,
    /// The exit code.
    pub exit: i32,
    /// Whether the numbers can be trusted; none if nothing looked at the generator.
    pub verdict: Option<Verdict>,
    /// How the thresholds were found; if there are none, the file's own judgement counts.
    pub judged: Vec<Judgement>,
}

/// How a threshold was found at the end.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Judgement {
    /// The metric as summaries name it.
    pub metric: String,
    /// The threshold's result.
    pub result: ThresholdResult,
}

/// The width of slices.
pub(crate) fn width(planned: Duration, open_ended: bool) -> Duration {
    const HOUR: Duration = Duration::from_hours(1);
    Duration::from_secs(match planned {
        _ if open_ended => 10,
        planned if planned <= HOUR => 1,
        planned if planned <= HOUR * 10 => 10,
        _ => 60,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn longer_runs_have_wider_slices() {
        let seconds = |planned| width(Duration::from_secs(planned), false).as_secs();
        let widths = [0, 3600, 3601, 36_000, 36_001].map(seconds);
        assert_eq!(widths, [1, 1, 10, 10, 60]);
        assert_eq!(width(Duration::ZERO, true).as_secs(), 10);
    }
}
