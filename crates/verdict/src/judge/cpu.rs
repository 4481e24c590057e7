//! Was there a CPU when the generator needed one?

use super::{Draft, level};
use crate::finding::{Finding, Level};
use crate::history::{CoreHistory, History};
use crate::span::Span;
use crate::words::{millis, percent};

const TOUCHES: &str = "all durations: part of them is the generator's own waiting";

pub(super) fn judge(history: &History, findings: &mut Vec<Finding>) {
    let throttled = throttled(history);
    let explains_waiting = throttled.as_ref().is_some_and(|it| it.level == Level::Invalid);
    findings.extend(full(history));
    if !explains_waiting {
        // Time in which its container is throttled counts as waiting for a CPU, too.
        findings.extend(starved(history));
    }
    findings.extend(throttled);
    let is_explained = !findings.is_empty();
    findings.extend(held(history).filter(|_| !is_explained));
}

/// The core in which something held for the longest time.
fn worst(history: &History, of: fn(&CoreHistory) -> &Span) -> Option<(u32, &CoreHistory)> {
    let all = history.cores.iter().map(|(core, seen)| (*core, seen));
    all.max_by_key(|(_, seen)| of(seen).ns).filter(|(_, seen)| of(seen).looks > 0)
}

/// The level of a part of the time. A single look proves nothing, two prove little.
fn by_time(span: &Span, watched: u64, invalid: f64, doubtful: f64) -> Level {
    let found = level(span.share(watched), invalid, doubtful);
    match (found, span.looks) {
        (_, 0 | 1) => Level::Ok,
        (Level::Invalid, 2) => Level::Doubtful,
        _ => found,
    }
}

fn full(history: &History) -> Option<Finding> {
    let (core, seen) = worst(history, |seen| &seen.full)?;
    let share = seen.full.share(history.watched);
    let level = by_time(&seen.full, history.watched, 0.1, 0.02);
    let late = seen.late_ns[0] as f64 / 1e6;
    (level > Level::Ok).then(|| {
        Draft {
            name: "generator-out-of-cpu",
            level,
            evidence: format!(
                "for {:.0} s ({} of the time) core {core} was {} busy and its timers were up to {} late",
                seen.full.seconds(),
                percent(share),
                percent(seen.full.mean()),
                millis(late),
            ),
            values: vec![
                ("core", f64::from(core)),
                ("share", share),
                ("busy", seen.full.mean()),
                ("late_ms", late),
            ],
            touches: TOUCHES,
            advice: "more cores (--workers) or another machine, fewer VUs, a lighter script",
        }
        .of(history, Some(&seen.full))
    })
}

fn starved(history: &History) -> Option<Finding> {
    let (core, seen) = match worst(history, |seen| &seen.starved) {
        Some((core, seen)) => (Some(core), *seen),
        None => (None, CoreHistory::default()),
    };
    let of_core = by_time(&seen.starved, history.watched, 0.1, 0.05);
    let of_steal = by_time(&history.steal, history.watched, 0.1, 0.05);
    let (span, level) =
        if of_core >= of_steal { (&seen.starved, of_core) } else { (&history.steal, of_steal) };
    if level == Level::Ok {
        return None;
    }
    let share = span.share(history.watched);
    let late = seen.late_ns[1] as f64 / 1e6;
    let who = match core.filter(|_| of_core >= of_steal) {
        Some(core) => format!("core {core} waited for a CPU {}", percent(span.mean())),
        None => format!("other machines of the host took {} of the CPUs", percent(span.mean())),
    };
    let evidence = format!(
        "for {:.0} s ({} of the time) {who} and timers were up to {} late",
        span.seconds(),
        percent(share),
        millis(late)
    );
    let draft = Draft {
        name: "cpu-taken-by-others",
        level,
        evidence,
        values: vec![
            ("core", f64::from(core.unwrap_or_default())),
            ("share", share),
            ("waiting", span.mean()),
            ("steal", history.steal.mean()),
            ("late_ms", late),
        ],
        touches: TOUCHES,
        advice: "stop the other programs of this machine, or move them (the target, perhaps) to another one; fewer --workers than CPUs",
    };
    Some(draft.of(history, Some(span)))
}

fn throttled(history: &History) -> Option<Finding> {
    /// Nanoseconds: a shorter pause is not seen in any number.
    const LEAST: f64 = 5e6;
    let span = &history.throttled;
    let ns = span.mean() * span.ns as f64;
    let share = ns / (history.watched as f64).max(1.0);
    let level = if ns < LEAST { Level::Ok } else { level(share, 0.02, 0.0) };
    (level > Level::Ok).then(|| {
        Draft {
            name: "cpu-throttled",
            level,
            evidence: format!(
                "the CPU quota of its container stopped the generator for {} ({} of the time)",
                millis(ns / 1e6),
                percent(share)
            ),
            values: vec![("share", share), ("throttled_ms", ns / 1e6)],
            touches: TOUCHES,
            advice: "a higher CPU quota (cpu.max, --cpus, limits.cpu), or none; fewer VUs",
        }
        .of(history, Some(span))
    })
}

/// Late though there was time: the process or its machine was stopped, or a call of the script held up a core.
fn held(history: &History) -> Option<Finding> {
    let (core, seen) = worst(history, |seen| &seen.held)?;
    let lost = seen.held.mean() * f64::from(seen.held.looks);
    let share = lost * 1e9 / (history.watched as f64).max(1.0);
    let level = level(share, f64::INFINITY, 0.02);
    let late = seen.late_ns[2] as f64 / 1e6;
    (level > Level::Ok).then(|| {
        Draft {
            name: "generator-held-up",
            level,
            evidence: format!(
                "core {core} had time, and its timers were up to {} late ({} of the time in all)",
                millis(late),
                percent(share)
            ),
            values: vec![("core", f64::from(core)), ("share", share), ("late_ms", late)],
            touches: TOUCHES,
            advice: "shorter calls in the script (hashes, large JSON); a machine that does not pause",
        }
        .of(history, Some(&seen.held))
    })
}
