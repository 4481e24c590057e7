//! Laws of every mixture of scenarios, cut short or not.

use std::time::Duration;

use brunt_engine::AbortReason;
use brunt_schedule::{Executor, Scenario, Segment, Stage};
use proptest::prelude::*;

use crate::mock::{Mock, Work, config, ms, number, run_with, scenario};

fn any_executor() -> impl Strategy<Value = Executor> {
    prop_oneof![
        (1..6_u64, 1..80_u64)
            .prop_map(|(vus, duration)| Executor::ConstantVus { vus, duration: ms(duration) }),
        (1..4_u64, 1..20_u64).prop_map(|(vus, iterations)| Executor::PerVuIterations {
            vus,
            iterations,
            max_duration: ms(60)
        }),
        (1..4_u64, 0..40_u64).prop_map(|(vus, more)| Executor::SharedIterations {
            vus,
            iterations: vus + more,
            max_duration: ms(60)
        }),
        (0..4_u64, 0..6_u64, 0..6_u64, 0..40_u64).prop_map(|(start, up, down, grace)| {
            Executor::RampingVus {
                start_vus: start.max(1),
                stages: vec![
                    Stage { duration: ms(30), target: up },
                    Stage { duration: ms(0), target: down },
                    Stage { duration: ms(30), target: start },
                ],
                graceful_ramp_down: ms(grace),
            }
        }),
        (1..2000_u64, 0..4_u64, 0..4_u64).prop_map(|(rate, vus, more)| {
            Executor::ConstantArrivalRate {
                rate,
                time_unit: Duration::from_secs(1),
                duration: ms(70),
                pre_allocated_vus: vus,
                max_vus: vus + more,
            }
        }),
    ]
}

fn any_work() -> impl Strategy<Value = Work> {
    prop_oneof![
        Just(Work::Nothing),
        (0..30_u64).prop_map(|time| Work::Sleep(ms(time))),
        Just(Work::Spin(Duration::from_micros(300))),
        Just(Work::WaitForStop),
        Just(Work::LoopUntilStop),
    ]
}

/// The number of iterations it must have started or dropped, unless it is cut short.
fn planned(scenario: &Scenario) -> Option<u64> {
    match &scenario.executor {
        Executor::PerVuIterations { vus, iterations, .. } => Some(vus * iterations),
        Executor::SharedIterations { iterations, .. } => Some(*iterations),
        _ => Some(scenario.arrivals(&Segment::full())?.count()),
    }
}

proptest! {
    // Not persisted: with real time, a seed does not bring a failure back.
    #![proptest_config(ProptestConfig {
        cases: 40,
        max_shrink_iters: 20,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn every_run_ends_and_its_numbers_agree(
        executors in prop::collection::vec((any_executor(), 0..30_u64, 0..40_u64), 1..4),
        work in any_work(),
        workers in 1..4_usize,
        abort_after in prop::option::of(0..100_u64),
    ) {
        let mut scenarios = Vec::new();
        for (index, (executor, start, grace)) in executors.into_iter().enumerate() {
            let mut one = scenario(&format!("s{index}"), executor);
            one.start_time = ms(start);
            one.graceful_stop = ms(grace);
            scenarios.push(one);
        }
        let planned: Option<u64> = scenarios.iter().map(planned).sum();
        let mut config = config(scenarios, &[]);
        config.workers = workers;
        let (report, mock) = run_with(config, Mock::new(work), |live| {
            if let Some(time) = abort_after {
                let (wait, nobody) = std::sync::mpsc::sync_channel::<()>(0);
                let _ = nobody.recv_timeout(ms(time));
                drop(wait);
                live.control().abort(AbortReason::Api);
            }
        });
        let begun = mock.notes().len() as u64;
        let dropped = number(&report, "dropped_iterations", "count");
        prop_assert!(report.duration < Duration::from_secs(20));
        prop_assert_eq!(report.iterations_complete + report.iterations_interrupted, begun);
        prop_assert_eq!(number(&report, "iterations", "count"), report.iterations_complete);
        prop_assert_eq!(number(&report, "iteration_duration", "count"), report.iterations_complete);
        if report.abort.is_none()
            && let Some(planned) = planned
        {
            prop_assert_eq!(begun + dropped, planned);
        }
    }
}
