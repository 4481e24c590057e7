//! A comparison, told to a reader: for terminals, programs, pull requests and pages.
//!
//! Names come from tests and their targets: they are text everywhere, whatever is in them.

mod html;
mod json;
mod markdown;
mod number;
mod sections;
mod terminal;
mod text;

pub use self::html::html;
pub use self::json::json;
pub use self::markdown::markdown;
pub use self::terminal::terminal;

use crate::comparison::{Comparison, Row};
use crate::verdict::Verdict;

/// The answer in one sentence.
fn headline(comparison: &Comparison) -> String {
    let tolerance = number::percent(comparison.tolerance);
    let told = |verdict| {
        let rows = comparison.rows.iter().filter(|row| row.is_primary && row.verdict == verdict);
        let told = rows.map(|row| match row.change {
            Some(change) => format!("{} {}", label(row), number::change(change.value, row.scale)),
            None => label(row),
        });
        told.collect::<Vec<_>>().join(", ")
    };
    match comparison.verdict {
        Verdict::Worse => format!("B is worse than A: {}", told(Verdict::Worse)),
        Verdict::Better => format!("B is better than A: {}", told(Verdict::Better)),
        Verdict::Same => format!("B is the same as A, within ±{tolerance}"),
        Verdict::Unclear => match told(Verdict::Unclear) {
            rows if rows.is_empty() => "It is unclear whether B differs from A".into(),
            rows => format!("It is unclear whether B differs from A: {rows}"),
        },
    }
}

/// The words of a figure, without the route or check that it belongs to.
fn label(row: &Row) -> String {
    use crate::measure::{Measure, Subject};
    match (&row.subject, &row.measure) {
        (Subject::Check(name) | Subject::Threshold(name), _) => text::plain(name),
        (_, Measure::Requests) => "requests/s".into(),
        (_, Measure::Iterations) => "iterations/s".into(),
        (_, Measure::Failed) => "failed".into(),
        (_, Measure::Checks) => "checks passed".into(),
        (_, Measure::Duration(metric, statistic)) => {
            format!("{} {}", text::plain(metric), statistic.word())
        }
        (_, Measure::Threshold { .. }) => "threshold".into(),
    }
}

/// The runs of a side in words: `3 runs, 60 s`.
fn runs(count: usize, seconds: f64) -> String {
    let word = if count == 1 { "run" } else { "runs" };
    format!("{count} {word}, {} s", number::significant(seconds))
}

#[cfg(test)]
mod tests;
