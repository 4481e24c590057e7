//! From signals and figures to findings.

mod cpu;
mod figures;
mod network;
mod shortage;

use std::time::Duration;

use crate::figures::Figures;
use crate::finding::{Finding, Level, Verdict};
use crate::history::History;
use crate::span::Span;

/// Of a run that was watched for less than this, in nanoseconds, only errors tell something: one hiccup of the machine is all of it.
const SHORT_NS: u64 = 5_000_000_000;

/// Everything that makes the numbers of a run worth less.
pub fn judge(history: &History, figures: &Figures) -> Verdict {
    let mut findings = Vec::new();
    let is_short = history.watched < SHORT_NS;
    if !is_short {
        cpu::judge(history, &mut findings);
        figures::starts(history, figures, &mut findings);
    }
    shortage::judge(history, &mut findings);
    if !is_short {
        network::judge(history, &mut findings);
        figures::samples(figures, &mut findings);
    }
    Verdict::new(findings)
}

/// A finding in the making.
struct Draft {
    name: &'static str,
    level: Level,
    evidence: String,
    values: Vec<(&'static str, f64)>,
    touches: &'static str,
    advice: &'static str,
}

impl Draft {
    fn of(self, history: &History, span: Option<&Span>) -> Finding {
        let moment = |at: u64| Duration::from_nanos(history.since_start(at));
        self.within(span.map(|span| (moment(span.stretch.0), moment(span.stretch.1))))
    }

    fn within(self, stretch: Option<(Duration, Duration)>) -> Finding {
        let values = self.values.into_iter().map(|(name, value)| (name.to_owned(), value));
        Finding {
            name: self.name.to_owned(),
            level: self.level,
            stretch,
            evidence: self.evidence,
            values: values.collect(),
            touches: self.touches.to_owned(),
            advice: self.advice.to_owned(),
        }
    }
}

/// The level of an amount: beyond the one limit it is invalid, beyond the other doubtful.
fn level(amount: f64, invalid: f64, doubtful: f64) -> Level {
    if amount > invalid {
        Level::Invalid
    } else if amount > doubtful {
        Level::Doubtful
    } else {
        Level::Ok
    }
}

#[cfg(test)]
mod tests;
