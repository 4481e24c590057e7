//! What the opening text of a run says about its scenarios.

use std::time::Duration;

use crate::duration::format as go;
use crate::{Executor, Scenario, Segment, Stage, peak, total_duration};

/// The line over the scenarios: `(100.00%) 2 scenarios, 7 max VUs, 10m30s max duration (incl. graceful stop)`.
pub fn overview(scenarios: &[Scenario], segment: &Segment) -> String {
    let plural = if scenarios.len() == 1 { "" } else { "s" };
    format!(
        "({:.2}%) {} scenario{plural}, {} max VUs, {} max duration (incl. graceful stop)",
        segment.share() * 100.0,
        scenarios.len(),
        peak(scenarios, segment).possible,
        go(total_duration(scenarios)),
    )
}

pub(crate) fn describe(scenario: &Scenario, segment: &Segment) -> String {
    let mut facts = Vec::new();
    let text = match &scenario.executor {
        Executor::SharedIterations {
            vus,
            iterations,
            max_duration,
        } => {
            facts.push(format!("maxDuration: {}", go(*max_duration)));
            let share = segment.resegment(*vus);
            let iterations = share.map_or(0, |share| share.scale(*iterations));
            format!(
                "{iterations} iterations shared among {} VUs",
                segment.scale(*vus)
            )
        }
        Executor::PerVuIterations {
            vus,
            iterations,
            max_duration,
        } => {
            facts.push(format!("maxDuration: {}", go(*max_duration)));
            format!(
                "{iterations} iterations for each of {} VUs",
                segment.scale(*vus)
            )
        }
        Executor::ConstantVus { vus, duration } => {
            format!("{} looping VUs for {}", segment.scale(*vus), go(*duration))
        }
        Executor::RampingVus {
            start_vus,
            stages,
            graceful_ramp_down,
        } => {
            facts.push(format!("gracefulRampDown: {}", go(*graceful_ramp_down)));
            let most = segment.scale(highest(*start_vus, stages));
            format!("Up to {most} looping VUs for {}", over(stages))
        }
        Executor::ConstantArrivalRate {
            rate,
            time_unit,
            duration,
            pre_allocated_vus,
            max_vus,
        } => {
            facts.push(vu_range(segment, *pre_allocated_vus, *max_vus));
            let rate = per_second(*rate, *time_unit) * pace_share(segment, *max_vus);
            format!("{rate:.2} iterations/s for {}", go(*duration))
        }
        Executor::RampingArrivalRate {
            start_rate,
            time_unit,
            stages,
            pre_allocated_vus,
            max_vus,
        } => {
            facts.push(vu_range(segment, *pre_allocated_vus, *max_vus));
            let rate = per_second(highest(*start_rate, stages), *time_unit);
            let rate = rate * pace_share(segment, *max_vus);
            format!("Up to {rate:.2} iterations/s for {}", over(stages))
        }
    };
    if scenario.exec != "default" {
        facts.push(format!("exec: {}", scenario.exec));
    }
    if !scenario.start_time.is_zero() {
        facts.push(format!("startTime: {}", go(scenario.start_time)));
    }
    if !scenario.graceful_stop.is_zero() {
        facts.push(format!("gracefulStop: {}", go(scenario.graceful_stop)));
    }
    if facts.is_empty() {
        text
    } else {
        format!("{text} ({})", facts.join(", "))
    }
}

fn highest(start: u64, stages: &[Stage]) -> u64 {
    stages
        .iter()
        .map(|stage| stage.target)
        .fold(start, u64::max)
}

fn over(stages: &[Stage]) -> String {
    let sum = stages.iter().fold(Duration::ZERO, |sum, stage| {
        sum.saturating_add(stage.duration)
    });
    format!("{} over {} stages", go(sum), stages.len())
}

fn vu_range(segment: &Segment, pre_allocated: u64, max: u64) -> String {
    let (pre_allocated, max) = (segment.scale(pre_allocated), segment.scale(max));
    if max > pre_allocated {
        format!("maxVUs: {pre_allocated}-{max}")
    } else {
        format!("maxVUs: {pre_allocated}")
    }
}

fn per_second(rate: u64, time_unit: Duration) -> f64 {
    rate as f64 / time_unit.as_secs_f64()
}

/// The part of the arrivals that falls to this segment.
fn pace_share(segment: &Segment, max_vus: u64) -> f64 {
    segment
        .resegment(max_vus)
        .map_or(0.0, |share| share.share())
}
