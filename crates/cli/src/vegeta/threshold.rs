//! `-threshold` of `brunt attack` and `brunt report`: conditions on the results, and exit code 99 if one fails.

use brunt_records::{Summary, Threshold};

use super::flag::{Flag, Takes, Values};
use crate::{Context, exit::Exit};

/// The row for the tables of flags.
pub(super) const FLAG: Flag = Flag::new(
    "threshold",
    Takes::Many { kind: "condition", check },
    "",
    "Exit with code 99 unless this condition holds, such as p99<50ms or success>99%; repeat it for more",
);

fn check(text: &str) -> Result<(), String> {
    text.parse::<Threshold>().map(drop).map_err(|error| error.to_string())
}

/// The thresholds that were written.
pub(super) fn read(values: &Values) -> Vec<Threshold> {
    let texts = values.texts("threshold").into_iter();
    texts.map(|text| text.parse().expect("it was checked when it was read")).collect()
}

/// Prints the outcome of each on stderr, and gives the exit code.
pub(crate) fn judge(context: &Context, thresholds: &[Threshold], summary: &Summary) -> Exit {
    let mut exit = Exit::Success;
    for threshold in thresholds {
        let verdict = threshold.judge(summary);
        let found = verdict.found.as_deref().unwrap_or("not measured");
        let mark = if verdict.is_ok { '✓' } else { '✗' };
        context.screen.stderr(&format!("{mark} {threshold}: {found}\n"));
        if !verdict.is_ok {
            exit = Exit::Thresholds;
        }
    }
    exit
}
