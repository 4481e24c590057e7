//! The description of scenarios in the opening text of a run.

use std::time::Duration;

use brunt_duration::wait::format as go;

use crate::{Executor, Gaps, Scenario, Segment, Stage, peak, total_duration};

/// The line over the scenarios: `(100.00%) 2 scenarios, 7 max VUs, 10m30s max duration (incl. graceful stop)`.
pub fn overview(scenarios: &[Scenario], segment: &Segment) -> String {
    let plural = if scenarios.len() == 1 { "" } else { "s" };
    format!(
        "({:.2}%) {} scenario{plural}, {} max VUs, {} max duration (incl. graceful stop)",
        segment.share() * 100.0,
        scenarios.len(),
        peak(scenarios, segment).possible,
        go(to_tenths(total_duration(scenarios, segment))),
    )
}

/// Rounded to tenths of a second: a segment can cut stages at odd moments.
fn to_tenths(duration: Duration) -> Duration {
    let tenths = (duration + Duration::from_millis(50)).as_millis() / 100;
    Duration::from_millis(u64::try_from(tenths * 100).unwrap_or(u64::MAX))
}

pub(crate) fn describe(scenario: &Scenario, segment: &Segment) -> String {
    let mut facts = Vec::new();
    let text = match &scenario.executor {
        Executor::SharedIterations { vus, iterations, max_duration } => {
            facts.push(format!("maxDuration: {}", go(*max_duration)));
            let share = segment.resegment(*vus);
            let iterations = share.map_or(0, |share| share.scale(*iterations));
            format!("{iterations} iterations shared among {} VUs", segment.scale(*vus))
        }
        Executor::PerVuIterations { vus, iterations, max_duration } => {
            facts.push(format!("maxDuration: {}", go(*max_duration)));
            format!("{iterations} iterations for each of {} VUs", segment.scale(*vus))
        }
        Executor::ConstantVus { vus, duration } => {
            format!("{} looping VUs for {}", segment.scale(*vus), go(*duration))
        }
        Executor::ExternallyControlled { vus, max_vus, duration } => {
            let (vus, most) = (segment.scale(*vus), segment.scale(*max_vus));
            let time =
                if *duration == Executor::FOREVER { "infinite".into() } else { go(*duration) };
            format!(
                "Externally controlled execution with {vus} VUs, {most} max VUs, {time} duration"
            )
        }
        Executor::RampingVus { start_vus, stages, graceful_ramp_down } => {
            facts.push(format!("gracefulRampDown: {}", go(*graceful_ramp_down)));
            let most = segment.scale(highest(*start_vus, stages));
            format!("Up to {most} looping VUs for {}", over(stages))
        }
        Executor::ConstantArrivalRate { rate, time_unit, duration, pre_allocated_vus, max_vus } => {
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
            // k6 tells the segment's own share here, though the pace follows the share of the VUs.
            let rate = rate * segment.share();
            format!("Up to {rate:.2} iterations/s for {}", over(stages))
        }
    };
    if let Gaps::Poisson { .. } = scenario.rhythm.gaps {
        facts.push("arrivals: poisson".to_owned());
    }
    if let Some(sine) = scenario.rhythm.sine {
        facts.push(format!("sine: {} each {}", sine.amplitude, go(sine.period)));
    }
    if !scenario.warmup.is_zero() {
        facts.push(format!("warmup: {}", go(scenario.warmup)));
    }
    if scenario.exec != "default" {
        facts.push(format!("exec: {}", scenario.exec));
    }
    if !scenario.start_time.is_zero() {
        facts.push(format!("startTime: {}", go(scenario.start_time)));
    }
    if !scenario.graceful_stop.is_zero() {
        facts.push(format!("gracefulStop: {}", go(scenario.graceful_stop)));
    }
    if facts.is_empty() { text } else { format!("{text} ({})", facts.join(", ")) }
}

fn highest(start: u64, stages: &[Stage]) -> u64 {
    stages.iter().map(|stage| stage.target).fold(start, u64::max)
}

fn over(stages: &[Stage]) -> String {
    let sum = stages.iter().fold(Duration::ZERO, |sum, stage| sum.saturating_add(stage.duration));
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
    segment.resegment(max_vus).map_or(0.0, |share| share.share())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{scenario, secs};

    fn text(executor: Executor) -> String {
        describe(&scenario(executor), &Segment::full())
    }

    fn stages(list: &[(u64, u64)]) -> Vec<Stage> {
        list.iter().map(|(s, target)| Stage { duration: secs(*s), target: *target }).collect()
    }

    fn constant_rate(rate: u64, unit: u64, pre_allocated_vus: u64, max_vus: u64) -> Executor {
        let (time_unit, duration) = (secs(unit), secs(60));
        Executor::ConstantArrivalRate { rate, time_unit, duration, pre_allocated_vus, max_vus }
    }

    #[test]
    fn executors_are_told_as_k6_tells_them() {
        let max_duration = secs(600);
        let shared = Executor::SharedIterations { vus: 2, iterations: 10, max_duration };
        insta::assert_snapshot!(text(shared.clone()), @"10 iterations shared among 2 VUs (maxDuration: 10m0s, gracefulStop: 30s)");
        let late = Scenario {
            start_time: secs(5),
            exec: "foo".into(),
            graceful_stop: Duration::ZERO,
            ..scenario(shared)
        };
        insta::assert_snapshot!(describe(&late, &Segment::full()), @"10 iterations shared among 2 VUs (maxDuration: 10m0s, exec: foo, startTime: 5s)");
        let own = Executor::PerVuIterations { vus: 2, iterations: 10, max_duration };
        insta::assert_snapshot!(text(own), @"10 iterations for each of 2 VUs (maxDuration: 10m0s, gracefulStop: 30s)");
        insta::assert_snapshot!(text(Executor::ConstantVus { vus: 2, duration: secs(90) }), @"2 looping VUs for 1m30s (gracefulStop: 30s)");
        let ramp = Executor::RampingVus {
            start_vus: 1,
            stages: stages(&[(10, 9), (5, 0)]),
            graceful_ramp_down: Duration::ZERO,
        };
        insta::assert_snapshot!(text(ramp), @"Up to 9 looping VUs for 15s over 2 stages (gracefulRampDown: 0s, gracefulStop: 30s)");
        insta::assert_snapshot!(text(constant_rate(7, 3, 4, 9)), @"2.33 iterations/s for 1m0s (maxVUs: 4-9, gracefulStop: 30s)");
        insta::assert_snapshot!(text(constant_rate(100, 1, 4, 4)), @"100.00 iterations/s for 1m0s (maxVUs: 4, gracefulStop: 30s)");
        let ramp = Executor::RampingArrivalRate {
            start_rate: 5,
            time_unit: secs(60),
            stages: stages(&[(10, 100), (10, 30)]),
            pre_allocated_vus: 4,
            max_vus: 9,
        };
        insta::assert_snapshot!(text(ramp), @"Up to 1.67 iterations/s for 20s over 2 stages (maxVUs: 4-9, gracefulStop: 30s)");
    }

    #[test]
    fn a_segment_tells_its_own_part() {
        let third = Segment::parse(Some("1/3:2/3"), Some("0,1/3,2/3,1")).unwrap();
        let told = |executor| describe(&scenario(executor), &third);
        insta::assert_snapshot!(told(constant_rate(7, 3, 4, 9)), @"0.78 iterations/s for 1m0s (maxVUs: 1-3, gracefulStop: 30s)");
        insta::assert_snapshot!(told(constant_rate(100, 1, 4, 4)), @"25.00 iterations/s for 1m0s (maxVUs: 1, gracefulStop: 30s)");
        let max_duration = secs(600);
        let shared = Executor::SharedIterations { vus: 2, iterations: 10, max_duration };
        insta::assert_snapshot!(told(shared), @"5 iterations shared among 1 VUs (maxDuration: 10m0s, gracefulStop: 30s)");
    }

    #[test]
    fn the_overview_counts() {
        let constant = scenario(Executor::ConstantVus { vus: 7, duration: secs(90) });
        insta::assert_snapshot!(overview(std::slice::from_ref(&constant), &Segment::full()), @"(100.00%) 1 scenario, 7 max VUs, 2m0s max duration (incl. graceful stop)");
        let third = Segment::parse(Some("1/3"), None).unwrap();
        insta::assert_snapshot!(overview(&[constant.clone(), constant], &third), @"(33.33%) 2 scenarios, 4 max VUs, 2m0s max duration (incl. graceful stop)");
    }
}
