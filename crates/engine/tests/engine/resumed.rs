//! Loads that another process made before.

use std::collections::BTreeSet;
use std::time::Duration;

use brunt_engine::{Phase, Resumed, RunConfig};
use brunt_fiber::clock;
use brunt_schedule::Executor;

use crate::mock::{Mock, Work, config, ms, run_with, scenario, until};

fn resumed(executor: Executor, done: Resumed) -> RunConfig {
    let mut config = config(vec![scenario("default", executor)], &[]);
    (config.led, config.resumed) = (true, Some(vec![done]));
    config
}

/// Runs a load that began `since` ago, from 50 ms from now on; the numbers of its iterations, and what was missed.
fn rest(config: RunConfig, since: Duration) -> (Vec<u64>, u64) {
    let (report, mock) = run_with(config, Mock::new(Work::Nothing), |live| {
        let control = live.control();
        until(|| control.phase() == Phase::Paused);
        let now = clock::now_ns();
        control.resume_at(now - clock::duration_ns(since), now + 50_000_000);
        until(|| control.phase() == Phase::Teardown);
        control.release();
    });
    let dropped = report.summary.metric("dropped_iterations");
    let dropped = dropped.and_then(|metric| metric.values.get("count")).unwrap_or(0.0);
    let notes = mock.notes();
    (notes.iter().map(|note| note.iteration.in_scenario_instance).collect(), dropped as u64)
}

#[test]
fn counted_iterations_are_those_that_were_not_done() {
    let done = Resumed { done: vec![(0, 9), (12, 12), (20, 39)], ..Resumed::default() };
    let left: BTreeSet<u64> = [10, 11].into_iter().chain(13..20).chain(40..60).collect();
    for executor in [
        Executor::SharedIterations { vus: 3, iterations: 60, max_duration: Duration::from_mins(1) },
        Executor::PerVuIterations { vus: 3, iterations: 20, max_duration: Duration::from_mins(1) },
    ] {
        let (numbers, dropped) = rest(resumed(executor, done.clone()), ms(500));
        assert_eq!((numbers.len(), dropped), (left.len(), 0));
        assert_eq!(numbers.into_iter().collect::<BTreeSet<_>>(), left);
    }
}

#[test]
fn a_rate_begins_with_what_is_due_then_and_counts_nothing_of_before() {
    let executor = Executor::ConstantArrivalRate {
        rate: 100,
        time_unit: Duration::from_secs(1),
        duration: Duration::from_secs(10),
        pre_allocated_vus: 4,
        max_vus: 4,
    };
    let (numbers, dropped) = rest(resumed(executor, Resumed::default()), ms(9_500));
    // 9.55 s of the plan are another's.
    assert_eq!(numbers.len() as u64 + dropped, 1001 - 955);
    assert_eq!(numbers.iter().min(), Some(&955));
    assert_eq!(numbers.iter().collect::<BTreeSet<_>>().len(), numbers.len());
}

#[test]
fn without_a_lease_nothing_begins() {
    let executor = Executor::ConstantVus { vus: 2, duration: Duration::from_secs(1) };
    let mut config = config(vec![scenario("default", executor)], &[]);
    config.led = true;
    let (report, _) = run_with(config, Mock::new(Work::Nothing), |live| {
        let control = live.control();
        until(|| control.phase() == Phase::Paused);
        control.lease_until(clock::now_ns());
        control.start_at(clock::now_ns());
        until(|| control.phase() == Phase::Teardown);
        control.release();
    });
    assert_eq!(report.iterations_complete, 0);
}
