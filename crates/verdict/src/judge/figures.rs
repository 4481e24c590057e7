//! Do the load and its numbers hold what they promise?

use super::{Draft, level};
use crate::figures::Figures;
use crate::finding::{Finding, Level};
use crate::history::History;
use crate::words::{millis, percent, plain};

/// Planned load that was not reached, late starts, warm-up.
pub(super) fn starts(history: &History, figures: &Figures, findings: &mut Vec<Finding>) {
    findings.extend(planned(history, figures));
    findings.extend(late(history, figures));
    findings.extend(warm_up(figures));
}

fn planned(history: &History, figures: &Figures) -> Option<Finding> {
    /// Of fewer, one more or less is a percent.
    const LEAST: u64 = 20;
    let reached = |load: &&crate::Load| load.started as f64 / (load.planned as f64).max(1.0);
    let loads = figures.loads.iter().filter(|load| load.planned >= LEAST);
    let load = loads.min_by(|a, b| reached(a).total_cmp(&reached(b)))?;
    let reached = reached(&load);
    let level = level(1.0 - reached, 0.05, 0.01);
    (level > Level::Ok).then(|| {
        let of = match load.name.as_str() {
            "" => String::new(),
            name => format!(" of scenario {}", plain(name)),
        };
        Draft {
            name: "planned-load-not-reached",
            level,
            evidence: format!(
                "{} of {} planned iterations{of} started ({})",
                load.started,
                load.planned,
                percent(reached)
            ),
            values: vec![
                ("planned", load.planned as f64),
                ("started", load.started as f64),
                ("share", reached),
            ],
            touches: "all: they are those of a lower load than the one that was asked for",
            advice: "more VUs (maxVUs), a lower rate, or look why iterations take so long",
        }
        .of(history, None)
    })
}

fn late(history: &History, figures: &Figures) -> Option<Finding> {
    /// Of fewer, the 99th percentile is the latest one.
    const LEAST: u64 = 100;
    let starts = figures.starts.filter(|starts| starts.count >= LEAST)?;
    let (late, median) = (starts.late_p99, starts.median);
    let level = if late > median / 2.0 && late > 5.0 {
        Level::Invalid
    } else if late > median / 5.0 && late > 2.0 {
        Level::Doubtful
    } else {
        return None;
    };
    Some(
        Draft {
            name: "late-starts",
            level,
            evidence: format!(
                "1 % of the iterations began more than {} late, and the median response took {}",
                millis(late),
                millis(median)
            ),
            values: vec![("late_p99_ms", late), ("median_ms", median)],
            touches: "the load, which came in bursts, and percentiles from p90 on",
            advice: "more cores or another machine, a lighter script; iteration_lateness tells more (--lateness-metric)",
        }
        .of(history, None),
    )
}

fn warm_up(figures: &Figures) -> Option<Finding> {
    let warm_up = figures.warm_up.as_ref().filter(|warm_up| warm_up.differs())?;
    let part = warm_up.first / warm_up.rest - 1.0;
    let more = if part > 0.0 { "more" } else { "less" };
    let finding = Draft {
        name: "warm-up-in-the-figures",
        level: Level::Doubtful,
        evidence: format!(
            "the median of {} was {} in the first tenth of the steady load and {} in the rest ({} {more})",
            warm_up.metric,
            millis(warm_up.first),
            millis(warm_up.rest),
            percent(part.abs())
        ),
        values: vec![("first_ms", warm_up.first), ("rest_ms", warm_up.rest), ("share", part)],
        touches: "means and percentiles of the whole run",
        advice: "leave the beginning out (warmup in the scenario, brunt report --from), or a longer run",
    };
    Some(finding.within(Some(warm_up.stretch)))
}

/// Percentiles that stand on too few samples.
pub(super) fn samples(figures: &Figures, findings: &mut Vec<Finding>) {
    /// Samples beyond the percentile.
    const LEAST: f64 = 10.0;
    let beyond = |tail: &&crate::Tail| tail.count as f64 * (1.0 - tail.percent / 100.0);
    // Half a sample more or less comes from rounding.
    let few = |tail: &&crate::Tail| tail.count > 0 && beyond(tail) < LEAST - 0.5;
    let all: Vec<_> = figures.tails.iter().filter(few).collect();
    let Some(worst) = all.iter().min_by(|a, b| beyond(a).total_cmp(&beyond(b))) else { return };
    let more = match all.len() {
        1 => String::new(),
        count => format!(", and {} more thresholds likewise", count - 1),
    };
    let draft = Draft {
        name: "too-few-samples",
        level: Level::Doubtful,
        evidence: format!(
            "beyond the percentile of \"{}\" lie {:.1} of {} samples{more}",
            plain(&worst.threshold),
            beyond(worst),
            worst.count
        ),
        values: vec![("beyond", beyond(worst)), ("samples", worst.count as f64)],
        touches: "the threshold: a few slow requests decide it",
        advice: "a longer run, more load, or a lower percentile",
    };
    findings.push(draft.within(None));
}
