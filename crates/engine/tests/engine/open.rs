//! Open executors.

use std::collections::BTreeSet;
use std::time::Duration;

use brunt_schedule::{Executor, Scenario, Segment, Stage};

use crate::mock::{Mock, Work, config, ms, number, run, run_with, scenario, until};

/// `rate` a second for `duration` ms.
fn arrivals(rate: u64, duration: u64, vus: u64, max: u64) -> Scenario {
    let executor = Executor::ConstantArrivalRate {
        rate,
        time_unit: Duration::from_secs(1),
        duration: ms(duration),
        pre_allocated_vus: vus,
        max_vus: max,
    };
    scenario("a", executor)
}

fn count(scenario: &Scenario) -> u64 {
    scenario.arrivals(&Segment::full()).unwrap().count()
}

#[test]
fn each_iteration_starts_when_it_is_due_and_knows_when_that_was() {
    let scenario = arrivals(100, 500, 20, 20);
    let expected = count(&scenario);
    let (report, mock) = run(config(vec![scenario], &[]), Mock::new(Work::Nothing));
    assert_eq!(report.iterations_complete, expected);
    assert_eq!(number(&report, "dropped_iterations", "count"), 0);
    assert_eq!(number(&report, "iteration_lateness", "count"), expected);
    let notes = mock.notes();
    let mut due: Vec<u64> = notes.iter().filter_map(|note| note.iteration.due).collect();
    due.sort_unstable();
    assert!(due.windows(2).all(|pair| pair[1] - pair[0] == 10_000_000));
    assert!(notes.iter().all(|note| note.iteration.started >= note.iteration.due.unwrap()));
    let cores: BTreeSet<u32> = notes.iter().map(|note| note.core).collect();
    assert_eq!(cores.len(), 2, "both cores pace");
    let numbers: BTreeSet<u64> = notes.iter().map(|note| note.iteration.in_test).collect();
    assert_eq!(numbers, (0..expected).collect());
}

#[test]
fn a_ramp_starts_as_many_as_the_area_under_it() {
    let executor = Executor::RampingArrivalRate {
        start_rate: 0,
        time_unit: Duration::from_secs(1),
        stages: vec![
            Stage { duration: ms(300), target: 200 },
            Stage { duration: ms(200), target: 200 },
        ],
        pre_allocated_vus: 30,
        max_vus: 30,
    };
    let scenario = scenario("a", executor);
    let expected = count(&scenario);
    let (report, _) = run(config(vec![scenario], &[]), Mock::new(Work::Sleep(ms(1))));
    let dropped = number(&report, "dropped_iterations", "count");
    assert_eq!(report.iterations_complete + dropped, expected);
    assert!((69..=71).contains(&expected));
}

#[test]
fn what_is_due_while_all_vus_work_is_dropped_and_not_made_up() {
    let scenario = arrivals(50, 400, 1, 1);
    let expected = count(&scenario);
    let (report, mock) = run(config(vec![scenario], &[]), Mock::new(Work::Sleep(ms(150))));
    let dropped = number(&report, "dropped_iterations", "count");
    assert_eq!(report.iterations_complete + dropped, expected);
    assert!(mock.notes().len() <= 3, "one after the other");
    assert!(dropped >= expected - 3);
    assert_eq!(mock.created.lock().unwrap().len(), 1);
}

#[test]
fn a_busy_core_hands_its_iterations_to_an_idle_vu_of_another() {
    let scenario = arrivals(50, 500, 8, 8);
    let expected = count(&scenario);
    // Four VUs on each core. The VUs of core 0 are busy until the scenario is over.
    let mock = Mock::choosing(|note| match note.core {
        0 => Work::Sleep(ms(700)),
        _ => Work::Nothing,
    });
    let (report, mock) = run(config(vec![scenario], &[]), mock);
    assert_eq!(report.iterations_complete, expected);
    assert_eq!(number(&report, "dropped_iterations", "count"), 0);
    let on_core_0 = mock.notes().iter().filter(|note| note.core == 0).count();
    assert_eq!(on_core_0, 4);
}

#[test]
fn idle_vus_take_turns() {
    let (report, mock) = run(config(vec![arrivals(100, 300, 6, 6)], &[]), Mock::new(Work::Nothing));
    let by_vu = mock.by_vu();
    assert_eq!(by_vu.len(), 6, "all work, though one would do");
    let most = by_vu.values().copied().max().unwrap() as u64;
    assert!(most < report.iterations_complete / 2, "{most}");
}

#[test]
fn one_vu_serves_the_pace_of_all_cores() {
    let scenario = arrivals(200, 300, 1, 1);
    let expected = count(&scenario);
    let mut config = config(vec![scenario], &[]);
    config.workers = 4;
    let (report, _) = run(config, Mock::new(Work::Nothing));
    // The VU is on its way back for a moment after each: on a machine that stops us just then, some drop.
    let dropped = number(&report, "dropped_iterations", "count");
    assert_eq!(report.iterations_complete + dropped, expected);
    assert!(report.iterations_complete > 1);
}

#[test]
fn a_rate_beyond_all_measure_ends_in_time_and_accounts_for_everything() {
    let scenario = arrivals(1_000_000_000_000, 100, 1, 1);
    let expected = count(&scenario);
    let (report, _) = run(config(vec![scenario], &[]), Mock::new(Work::Nothing));
    let dropped = number(&report, "dropped_iterations", "count");
    assert_eq!(report.iterations_complete + dropped, expected);
    assert!(report.duration < ms(5_000), "{:?}", report.duration);
}

#[test]
fn unplanned_vus_are_made_one_at_a_time_up_to_the_maximum() {
    let scenario = arrivals(100, 600, 0, 3);
    let expected = count(&scenario);
    let (report, mock) = run(config(vec![scenario], &[]), Mock::new(Work::Sleep(ms(200))));
    let dropped = number(&report, "dropped_iterations", "count");
    assert_eq!(report.iterations_complete + dropped, expected);
    assert!(dropped >= 1, "the one that asks for a VU is dropped");
    assert_eq!(mock.created.lock().unwrap().len(), 3);
    assert_eq!(mock.by_vu().len(), 3, "all work");
}

#[test]
fn the_very_first_iteration_asks_for_no_vu() {
    // The second one, at half a second, does; the third has it. As k6 counts them.
    let (report, _) = run(config(vec![arrivals(2, 1200, 0, 2)], &[]), Mock::new(Work::Nothing));
    assert_eq!(number(&report, "dropped_iterations", "count"), 2);
    assert_eq!(report.iterations_complete, 1);
}

#[test]
fn an_unplanned_vu_that_fails_to_init_does_not_end_the_test() {
    let scenario = arrivals(100, 200, 1, 2);
    let mut mock = Mock::new(Work::Sleep(ms(50)));
    mock.init = Box::new(|ids| if ids.local > 1 { Work::Throw } else { Work::Nothing });
    let (report, _) = run(config(vec![scenario], &[]), mock);
    assert_eq!(report.error(), None);
    assert!(report.iterations_complete >= 1);
}

#[test]
fn iterations_that_outlast_the_graceful_stop_are_interrupted() {
    let mut scenario = arrivals(50, 100, 10, 10);
    scenario.graceful_stop = ms(100);
    let (report, mock) = run(config(vec![scenario], &[]), Mock::new(Work::WaitForStop));
    assert_eq!(report.iterations_complete, 0);
    assert_eq!(report.iterations_interrupted, mock.notes().len() as u64);
    assert!(report.iterations_interrupted >= 1);
    assert!(report.duration >= ms(200) && report.duration < Duration::from_secs(10));
}

#[test]
fn a_segment_starts_only_its_own_due_times() {
    let mut halves = Vec::new();
    for text in ["0:1/2", "1/2:1"] {
        let mut config = config(vec![arrivals(20, 350, 8, 8)], &[]);
        config.segment = Segment::parse(Some(text), Some("0,1/2,1")).unwrap();
        let (_, mock) = run(config, Mock::new(Work::Nothing));
        halves.extend(mock.notes().iter().map(|note| note.iteration.in_test));
    }
    halves.sort_unstable();
    assert_eq!(halves, (0..count(&arrivals(20, 350, 8, 8))).collect::<Vec<_>>());
}

#[test]
fn a_high_rate_loses_nothing() {
    let scenario = arrivals(20_000, 500, 200, 200);
    let expected = count(&scenario);
    let (report, _) = run(config(vec![scenario], &[]), Mock::new(Work::Nothing));
    let dropped = number(&report, "dropped_iterations", "count");
    assert_eq!(report.iterations_complete + dropped, expected);
    assert_eq!(number(&report, "iterations", "count"), report.iterations_complete);
}

#[test]
fn open_and_closed_scenarios_run_side_by_side() {
    let closed = Executor::ConstantVus { vus: 2, duration: ms(300) };
    let scenarios = vec![arrivals(100, 300, 5, 5), scenario("b", closed)];
    let (report, mock) = run(config(scenarios, &[]), Mock::new(Work::Sleep(ms(2))));
    assert_eq!(report.error(), None);
    assert_eq!(mock.created.lock().unwrap().len(), 7);
    let names: BTreeSet<String> = mock.notes().into_iter().map(|note| note.scenario).collect();
    assert_eq!(names.len(), 2);
}

#[test]
fn a_rate_that_is_set_while_it_runs_is_followed_by_all_cores() {
    let mut config = config(vec![arrivals(1, 60_000, 2, 40)], &[]);
    config.steered = true;
    let (report, mock) = run_with(config, Mock::new(Work::Sleep(ms(20))), |live| {
        until(|| live.scenarios()[0].started_at().is_some());
        assert_eq!(live.scenarios()[0].steered_so_far(), Some(0));
        live.have_vus(0, 12).unwrap();
        assert_eq!(live.scenarios()[0].vus_allocated(), 12);
        live.set_rate(0, 200.0);
        until(|| live.scenarios()[0].steered_so_far() >= Some(60));
        live.set_rate(0, 50.0);
        until(|| live.scenarios()[0].steered_so_far() >= Some(80));
        live.end_course(0);
    });
    assert_eq!(report.error(), None);
    let dropped = number(&report, "dropped_iterations", "count");
    assert!(report.iterations_complete + dropped >= 80, "{} {dropped}", report.iterations_complete);
    let notes = mock.notes();
    let cores: BTreeSet<u32> = notes.iter().map(|note| note.core).collect();
    assert_eq!(cores.len(), 2, "both cores pace");
    let mut due: Vec<u64> = notes.iter().filter_map(|note| note.iteration.due).collect();
    due.sort_unstable();
    let gaps: BTreeSet<u64> = due.windows(2).map(|pair| (pair[1] - pair[0]) / 1_000_000).collect();
    assert!(gaps.contains(&5) && gaps.contains(&20), "{gaps:?}");
}
