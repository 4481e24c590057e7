//! Did the network of the generator lose anything, and did the clock stand?

use super::Draft;
use crate::finding::{Finding, Level};
use crate::history::History;
use crate::words::percent;

pub(super) fn judge(history: &History, findings: &mut Vec<Finding>) {
    findings.extend(drops(history));
    findings.extend(retransmits(history));
    findings.extend(clock(history));
}

/// Interfaces count packets that nothing on the machine wanted among those they dropped: a few are none of ours.
fn drops(history: &History) -> Option<Finding> {
    const LEAST: u64 = 10;
    const SHARE: f64 = 0.001;
    let (drops, packets) = history.drops;
    let share = drops as f64 / ((packets + drops) as f64).max(1.0);
    (drops >= LEAST && share > SHARE).then(|| {
        Draft {
            name: "network-drops",
            level: Level::Invalid,
            evidence: format!("network interfaces dropped {drops} packets ({})", percent(share)),
            values: vec![("drops", drops as f64), ("packets", packets as f64), ("share", share)],
            touches: "high percentiles: lost packets come again after 200 ms and more",
            advice: "less bandwidth (ip -s link tells which interface), larger rings (ethtool -G), another machine",
        }
        .of(history, Some(&history.dropped))
    })
}

fn retransmits(history: &History) -> Option<Finding> {
    const LEAST: u64 = 10;
    const SEGMENTS: u64 = 500;
    let (sent, again) = history.segments;
    let share = again as f64 / (sent as f64).max(1.0);
    (again >= LEAST && sent >= SEGMENTS && share > 0.01).then(|| {
        Draft {
            name: "network-retransmits",
            level: Level::Doubtful,
            evidence: format!("{again} of {sent} TCP segments were sent again ({})", percent(share)),
            values: vec![("segments", sent as f64), ("again", again as f64), ("share", share)],
            touches: "high percentiles: segments that are sent again come 200 ms and more too late",
            advice: "look for the loss between here and the target (ss -ti, mtr); another machine, nearer to it",
        }
        .of(history, Some(&history.resent))
    })
}

fn clock(history: &History) -> Option<Finding> {
    let steps = &history.steps;
    (steps.looks > 0).then(|| {
        let worst = steps.worst;
        Draft {
            name: "clock-stepped",
            level: Level::Invalid,
            evidence: format!(
                "the wall clock was set {} times, by {worst:+.0} ms once",
                steps.looks
            ),
            values: vec![("steps", f64::from(steps.looks)), ("step_ms", worst)],
            touches: "moments, and whatever the script or another machine measures with Date.now(); durations are not touched",
            advice: "let NTP slew the clock instead of setting it (chrony's makestep); do not suspend the machine",
        }
        .of(history, Some(steps))
    })
}
