use proptest::prelude::*;

use super::*;
use crate::testing::{scenario, secs};
use crate::{Executor, Scenario};

fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn stages(list: &[(u64, u64)]) -> Vec<Stage> {
    list.iter().map(|(ms, target)| Stage { duration: millis(*ms), target: *target }).collect()
}

/// Start, graceful end and hard end of every span, in milliseconds.
fn told(start_vus: u64, list: &[(u64, u64)], grace: u64, stop: u64) -> Vec<Vec<[u128; 3]>> {
    let list = stages(list);
    let end: Duration = list.iter().map(|stage| stage.duration).sum();
    let full = Segment::full();
    let handles = handles(start_vus, &list, millis(grace), end + millis(stop), &full);
    let span = |s: &Span| [s.start, s.graceful_end, s.hard_end].map(|at| at.as_millis());
    handles.iter().map(|handle| handle.spans.iter().map(span).collect()).collect()
}

#[test]
fn vus_come_and_go_at_even_distances() {
    // k6 2.2: 0 → 4 → 0 over 2 s + 2 s.
    let spans = told(0, &[(2000, 4), (2000, 0)], 100, 100);
    assert_eq!(spans[0], [[500, 4000, 4100]]);
    assert_eq!(spans[1], [[1000, 3500, 3600]]);
    assert_eq!(spans[2], [[1500, 3000, 3100]]);
    assert_eq!(spans[3], [[2000, 2500, 2600]]);
}

#[test]
fn a_ramp_that_ends_there_reaches_its_last_vu_for_nothing() {
    assert_eq!(told(0, &[(2000, 2)], 0, 0), [[[1000, 2000, 2000]], [[2000, 2000, 2000]]]);
}

#[test]
fn graceful_stop_cuts_graceful_ramp_down() {
    // Observed with k6 1.8.1: the last one of 3 → 0 is cut at the ramp-down's end, or the stop's.
    let last = |grace, stop| told(3, &[(2000, 0)], grace, stop)[0][0];
    assert_eq!(last(1000, 10_000), [0, 2000, 3000]);
    assert_eq!(last(10_000, 1000), [0, 2000, 3000]);
    assert_eq!(told(1, &[(2000, 1)], 0, 5000)[0][0], [0, 2000, 7000]);
}

#[test]
fn a_vu_wanted_back_within_its_grace_just_goes_on() {
    let list = [(0, 1), (1000, 1), (0, 2), (1000, 2)];
    let spans = told(3, &list, 4000, 1000);
    assert_eq!(spans[1], [[0, 0, 3000], [1000, 2000, 3000]]);
    assert_eq!(spans[2], [[0, 0, 3000]]);
    let spans = told(3, &list, 500, 1000);
    assert_eq!(spans[1], [[0, 0, 500], [1000, 2000, 3000]]);
}

#[test]
fn wanted_back_right_when_its_grace_ends_is_in_time() {
    let spans = told(1, &[(0, 0), (1000, 0), (0, 1), (1000, 1)], 1000, 0);
    assert_eq!(spans[0], [[0, 0, 2000], [1000, 2000, 2000]]);
}

#[test]
fn down_and_up_at_one_instant_is_no_change() {
    assert_eq!(told(5, &[(1000, 5), (0, 0), (0, 5), (1000, 5)], 0, 0)[4], [[0, 2000, 2000]]);
}

#[test]
fn odd_durations_truncate_what_is_left_to_the_end() {
    let list = [Stage { duration: Duration::from_nanos(10), target: 3 }];
    let handles = handles(0, &list, Duration::ZERO, secs(1), &Segment::full());
    // 10 − 10·2/3 and 10 − 10·1/3, each product truncated.
    let starts = handles.iter().map(|handle| handle.spans[0].start.as_nanos());
    assert_eq!(starts.collect::<Vec<_>>(), [4, 7, 10]);
}

fn ramps() -> impl Strategy<Value = Scenario> {
    let stage = (0_u64..3000, 0_u64..20);
    let list = proptest::collection::vec(stage, 1..6);
    (0_u64..20, list, 0_u64..3000, 0_u64..3000).prop_map(|(start_vus, list, grace, stop)| {
        let graceful_ramp_down = millis(grace);
        let stages = stages(&list);
        let executor = Executor::RampingVus { start_vus, stages, graceful_ramp_down };
        Scenario { graceful_stop: millis(stop), ..scenario(executor) }
    })
}

/// The number of VUs that a straight line through the stages asks for, the naive way.
fn wanted(scenario: &Scenario, at: Duration) -> u64 {
    let Executor::RampingVus { start_vus, stages, .. } = &scenario.executor else {
        return 0;
    };
    let (mut from, mut start) = (*start_vus as i128, Duration::ZERO);
    for stage in stages {
        let to = stage.target as i128;
        let length = stage.duration.as_nanos() as i128;
        if at < start + stage.duration {
            let passed = at.as_nanos() as i128 - start.as_nanos() as i128;
            // Downwards a VU leaves at the instant its line is crossed, upwards it comes then.
            let change = (to - from).abs() * passed / length;
            return (if to > from { from + change } else { from - change }) as u64;
        }
        (from, start) = (to, start + stage.duration);
    }
    0
}

/// The steps, one VU at a time: every change of each, in the order of time, those that come first.
fn steps_one_by_one(ramp: &Scenario, segment: &Segment) -> Vec<(Duration, u64)> {
    let mut changes = Vec::new();
    for handle in &ramp.closed_plan(segment).unwrap().handles {
        for held in handle.spans.chunk_by(|a, b| a.hard_end == b.hard_end) {
            changes.push((held[0].start, 1_i64));
            changes.push((held[0].hard_end, -1));
        }
    }
    changes.sort_by_key(|(at, change)| (*at, -change));
    let mut planned = 0;
    let mut steps = Vec::new();
    for alike in changes.chunk_by(|a, b| a == b) {
        planned += alike.iter().map(|(_, change)| change).sum::<i64>();
        steps.push((alike[0].0, planned.unsigned_abs()));
    }
    steps
}

proptest! {
    #[test]
    fn steps_are_the_changes_of_all_vus(ramp in ramps(), parts in 1_u64..5) {
        for part in 0..parts {
            let segment = format!("{part}/{parts}:{}/{parts}", part + 1);
            let segment = Segment::parse(Some(&segment), None).unwrap();
            let steps = ramp.requirements(&segment);
            let told: Vec<_> = steps.iter().map(|step| (step.at, step.planned)).collect();
            prop_assert_eq!(told, steps_one_by_one(&ramp, &segment));
            prop_assert!(steps.iter().all(|step| step.unplanned == 0));
        }
    }

    #[test]
    fn spans_follow_the_line(ramp in ramps(), millis in 0_u64..15_000) {
        // Whole milliseconds and 1 ns on, past what truncation moves.
        let at = Duration::from_millis(millis) + Duration::from_nanos(1);
        let plan = ramp.closed_plan(&Segment::full()).unwrap();
        let up = |span: &Span| span.start <= at && at < span.graceful_end;
        let count = plan.handles.iter().filter(|handle| handle.spans.iter().any(up)).count();
        prop_assert_eq!(count as u64, wanted(&ramp, at));
    }

    #[test]
    fn no_more_vus_are_needed_than_the_highest_target(ramp in ramps()) {
        let Executor::RampingVus { start_vus, stages, .. } = &ramp.executor else { return Ok(()) };
        let highest = stages.iter().map(|stage| stage.target).fold(*start_vus, u64::max);
        let steps = ramp.requirements(&Segment::full());
        prop_assert_eq!(steps.iter().map(|step| step.planned).max().unwrap_or(0), highest);
        prop_assert_eq!(steps.last().map_or(0, |step| step.planned), 0);
        prop_assert!(steps.iter().all(|step| step.at <= ramp.max_duration()));
    }

    #[test]
    fn spans_are_in_order_and_end_in_time(ramp in ramps()) {
        let plan = ramp.closed_plan(&Segment::full()).unwrap();
        for handle in &plan.handles {
            prop_assert!(!handle.spans.is_empty());
            for span in &handle.spans {
                prop_assert!(span.start <= span.graceful_end);
                prop_assert!(span.graceful_end <= span.hard_end);
                prop_assert!(span.hard_end <= plan.hard_end);
            }
            for pair in handle.spans.windows(2) {
                prop_assert!(pair[0].graceful_end < pair[1].start);
                let apart = pair[0].hard_end < pair[1].start;
                prop_assert!(apart || pair[0].hard_end == pair[1].hard_end);
            }
        }
    }

    #[test]
    fn segments_share_the_handles_of_the_whole(ramp in ramps(), parts in 1_u64..5) {
        let points: Vec<String> = (0..=parts).map(|part| format!("{part}/{parts}")).collect();
        let sequence = points.join(",");
        let full = ramp.closed_plan(&Segment::full()).unwrap();
        let mut count = 0;
        for pair in points.windows(2) {
            let own = format!("{}:{}", pair[0], pair[1]);
            let segment = Segment::parse(Some(&own), Some(&sequence)).unwrap();
            let share = ramp.closed_plan(&segment).unwrap();
            for (local, handle) in share.handles.iter().enumerate() {
                prop_assert_eq!(handle, &full.handles[segment.global(local as u64) as usize]);
            }
            count += share.handles.len();
        }
        prop_assert_eq!(count, full.handles.len());
    }
}
