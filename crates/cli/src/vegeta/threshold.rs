//! `-threshold` of `brunt attack` and `brunt report`: conditions on the results, and exit code 99 if one fails.

use std::time::Duration;

use brunt_metrics::Breach;
use brunt_records::{Course, Summary, Threshold, Verdict};

use super::{
    failure,
    flag::{Flag, Takes, Values},
};
use crate::{Context, exit::Exit, failure::Outcome};

/// The row for the tables of flags.
pub(super) const FLAG: Flag = Flag::new(
    "threshold",
    Takes::Many { kind: "condition", check },
    "",
    "Exit with code 99 unless this condition holds, such as p99<50ms or success>99% window=30s for=10s; repeat it for more",
);

fn check(text: &str) -> Result<(), String> {
    text.parse::<Threshold>().map(drop).map_err(|error| error.to_string())
}

/// The thresholds that were written.
pub(super) fn read(values: &Values) -> Vec<Threshold> {
    let texts = values.texts("threshold").into_iter();
    texts.map(|text| text.parse().expect("it was checked when it was read")).collect()
}

/// Checks that none is in time: records that are over are judged as a whole.
///
/// # Errors
/// One is.
pub(super) fn as_a_whole(thresholds: &[Threshold]) -> Outcome<()> {
    match thresholds.iter().find(|threshold| !threshold.timing().is_none()) {
        None => Ok(()),
        Some(threshold) => Err(failure(format!(
            "-threshold {threshold:?}: window, for and the other words are for brunt attack, which looks while it runs",
            threshold = threshold.to_string()
        ))),
    }
}

/// Checks that each fits into an attack of this length.
///
/// # Errors
/// A time is longer.
pub(super) fn fit(thresholds: &[Threshold], length: Option<Duration>) -> Outcome<()> {
    let Some(length) = length.filter(|length| !length.is_zero()) else { return Ok(()) };
    let shown = brunt_duration::wait::format;
    for threshold in thresholds {
        let timing = threshold.timing();
        for (key, time) in
            [("window", timing.window), ("after", timing.after), ("for", timing.hold)]
        {
            if let Some(time) = time.filter(|time| *time > length) {
                return Err(failure(format!(
                    "bad threshold \"{threshold}\": {key} is {}, but the attack ends after {}",
                    shown(time),
                    shown(length)
                )));
            }
        }
    }
    Ok(())
}

/// How a condition was found.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    pub(crate) threshold: Threshold,
    pub(crate) verdict: Verdict,
    /// When one in time was broken first.
    pub(crate) breach: Option<Breach>,
}

/// Prints the outcome of each on stderr, and gives the exit code.
pub(crate) fn judge(context: &Context, thresholds: &[Threshold], summary: &Summary) -> Exit {
    tell(context, &find(thresholds, summary, &mut []))
}

/// The outcome of each; of those in time by their courses.
pub(super) fn find(
    thresholds: &[Threshold],
    summary: &Summary,
    courses: &mut [Option<Course>],
) -> Vec<Found> {
    let mut found = Vec::new();
    for (index, threshold) in thresholds.iter().enumerate() {
        let course = courses.get_mut(index).and_then(Option::as_mut);
        let (verdict, breach) = match course {
            Some(course) => course.end(summary),
            None => (threshold.judge(summary), None),
        };
        found.push(Found { threshold: threshold.clone(), verdict, breach });
    }
    found
}

/// Prints them. Of those that broke, the first with an exit code decides.
pub(super) fn tell(context: &Context, all: &[Found]) -> Exit {
    let mut exit = Exit::Success;
    let mut first = Duration::MAX;
    for Found { threshold, verdict, breach } in all {
        let found = verdict.found.as_deref().unwrap_or("not measured");
        let mark = if verdict.is_ok { '✓' } else { '✗' };
        let shown = brunt_duration::wait::format;
        let when = breach.map_or(String::new(), |breach| {
            format!(", first broken at {}, for {}", shown(breach.at), shown(breach.lasted))
        });
        context.screen.stderr(&format!("{mark} {threshold}: {found}{when}\n"));
        if verdict.is_ok {
            continue;
        }
        // Those on the whole attack break at its end.
        let last = Duration::MAX.saturating_sub(Duration::from_nanos(1));
        let at = breach.map_or(last, |breach| breach.at);
        match threshold.timing().exit_code {
            Some(code) if at < first => (exit, first) = (Exit::OfThreshold(code), at),
            _ if exit == Exit::Success => exit = Exit::Thresholds,
            _ => {}
        }
    }
    exit
}
