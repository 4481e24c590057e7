//! Closed executors.

use std::collections::BTreeSet;
use std::sync::atomic::Ordering;
use std::time::Duration;

use brunt_schedule::{Executor, Segment, Stage};

use crate::mock::{Mock, Work, config, ms, number, run, run_with, scenario, until};

fn constant(vus: u64, duration: u64) -> Executor {
    Executor::ConstantVus { vus, duration: ms(duration) }
}

#[test]
fn constant_vus_iterate_until_the_duration_is_over() {
    let (report, mock) =
        run(config(vec![scenario("a", constant(4, 300))], &[]), Mock::new(Work::Sleep(ms(20))));
    assert_eq!(report.error(), None);
    assert!(report.duration >= ms(300));
    assert_eq!(mock.by_vu().len(), 4, "every VU works");
    let cores: BTreeSet<u32> = mock.notes().iter().map(|note| note.core).collect();
    assert_eq!(cores.len(), 2, "on every core");
    assert!(report.iterations_complete >= 4 && report.iterations_complete <= 60);
    assert_eq!(number(&report, "iterations", "count"), report.iterations_complete);
    assert!(number(&report, "iteration_duration", "min") >= 20);
    assert_eq!(number(&report, "dropped_iterations", "count"), 0);
}

#[test]
fn iterations_of_two_scenarios_are_told_apart_by_their_tag() {
    let per_vu = Executor::PerVuIterations { vus: 1, iterations: 3, max_duration: ms(5000) };
    let shared = Executor::SharedIterations { vus: 1, iterations: 4, max_duration: ms(5000) };
    let thresholds = [
        ("iterations{scenario:a}", "count==3", false),
        ("iterations{scenario:b}", "count==4", false),
        ("iterations{flow:buy}", "count==4", false),
    ];
    let mut second = scenario("b", shared);
    second.tags.insert("flow".into(), "buy".into());
    let scenarios = vec![second, scenario("a", per_vu)];
    let (report, _) = run(config(scenarios, &thresholds), Mock::new(Work::Nothing));
    assert_eq!(report.crossed, Vec::<String>::new());
    assert_eq!(report.iterations_complete, 7);
}

#[test]
fn a_running_iteration_may_finish_within_the_graceful_stop() {
    let (report, _) =
        run(config(vec![scenario("a", constant(3, 50))], &[]), Mock::new(Work::Sleep(ms(300))));
    assert_eq!((report.iterations_complete, report.iterations_interrupted), (3, 0));
    assert!(report.duration >= ms(300));
}

#[test]
fn a_running_iteration_is_interrupted_when_the_graceful_stop_is_over() {
    let mut scenario = scenario("a", constant(3, 50));
    scenario.graceful_stop = ms(100);
    let (report, mock) = run(config(vec![scenario], &[]), Mock::new(Work::WaitForStop));
    assert_eq!((report.iterations_complete, report.iterations_interrupted), (0, 3));
    assert_eq!(number(&report, "iterations", "count"), 0);
    assert_eq!(number(&report, "iteration_duration", "count"), 0);
    assert!(report.duration >= ms(150) && report.duration < Duration::from_secs(10));
    assert!(mock.teardown_ran());
    assert_eq!(report.error(), None);
}

#[test]
fn a_vu_that_never_yields_finds_the_end_by_itself() {
    let mut scenario = scenario("a", constant(2, 50));
    scenario.graceful_stop = ms(50);
    let (report, _) = run(config(vec![scenario], &[]), Mock::new(Work::LoopUntilStop));
    assert_eq!(report.iterations_interrupted, 2);
    assert!(report.duration >= ms(100) && report.duration < Duration::from_secs(10));
}

#[test]
fn each_vu_runs_its_own_number_of_iterations() {
    let executor = Executor::PerVuIterations { vus: 3, iterations: 5, max_duration: ms(10_000) };
    let (report, mock) = run(config(vec![scenario("a", executor)], &[]), Mock::new(Work::Nothing));
    assert!(mock.by_vu().values().all(|count| *count == 5));
    assert_eq!(report.iterations_complete, 15);
    let mut of_first: Vec<u64> = mock
        .notes()
        .iter()
        .filter(|note| note.vu == 1)
        .map(|note| note.iteration.vu_in_scenario)
        .collect();
    of_first.sort_unstable();
    assert_eq!(of_first, [0, 1, 2, 3, 4]);
    assert!(report.duration < ms(10_000), "it ends when all is done");
}

#[test]
fn what_a_vu_could_not_start_in_time_is_dropped() {
    let executor = Executor::PerVuIterations { vus: 2, iterations: 1000, max_duration: ms(100) };
    let (report, _) =
        run(config(vec![scenario("a", executor)], &[]), Mock::new(Work::Sleep(ms(20))));
    let dropped = number(&report, "dropped_iterations", "count");
    assert_eq!(dropped + report.iterations_complete, 2000);
    assert!(report.iterations_complete >= 2);
}

#[test]
fn shared_iterations_are_each_run_once() {
    let executor = Executor::SharedIterations { vus: 5, iterations: 200, max_duration: ms(10_000) };
    let (report, mock) = run(config(vec![scenario("a", executor)], &[]), Mock::new(Work::Nothing));
    let numbers: BTreeSet<u64> =
        mock.notes().iter().map(|note| note.iteration.in_scenario_instance).collect();
    assert_eq!(numbers, (0..200).collect());
    assert_eq!(report.iterations_complete, 200);
    assert_eq!(number(&report, "dropped_iterations", "count"), 0);
}

#[test]
fn shared_iterations_that_nobody_started_are_dropped_at_the_end() {
    let executor = Executor::SharedIterations { vus: 2, iterations: 500, max_duration: ms(100) };
    let (report, _) =
        run(config(vec![scenario("a", executor)], &[]), Mock::new(Work::Sleep(ms(20))));
    let dropped = number(&report, "dropped_iterations", "count");
    assert_eq!(dropped + report.iterations_complete, 500);
    assert!(dropped > 0);
}

#[test]
fn ramping_vus_start_and_stop_at_their_instants() {
    let stages =
        vec![Stage { duration: ms(400), target: 4 }, Stage { duration: ms(400), target: 0 }];
    let executor = Executor::RampingVus { start_vus: 0, stages, graceful_ramp_down: ms(30_000) };
    let (report, mock) =
        run(config(vec![scenario("a", executor)], &[]), Mock::new(Work::Sleep(ms(5))));
    let notes = mock.notes();
    for vu in 1..=4_u64 {
        let own = notes.iter().filter(|note| note.vu == vu);
        let own = own.map(|note| note.iteration.started - note.start);
        let (first, last) = (own.clone().min().unwrap(), own.max().unwrap());
        assert!(first >= vu * 100_000_000, "VU {vu} starts too early");
        assert!(last <= 950_000_000 - vu * 100_000_000, "VU {vu} stops too late");
    }
    assert_eq!(mock.by_vu().len(), 4);
    assert!(report.duration >= ms(790));
    assert_eq!(report.iterations_interrupted, 0);
}

#[test]
fn a_vu_that_is_wanted_back_in_time_goes_on_without_being_activated_again() {
    let stages = vec![
        Stage { duration: ms(100), target: 1 },
        Stage { duration: ms(0), target: 0 },
        Stage { duration: ms(100), target: 0 },
        Stage { duration: ms(0), target: 1 },
        Stage { duration: ms(400), target: 1 },
    ];
    let executor = Executor::RampingVus { start_vus: 1, stages, graceful_ramp_down: ms(5_000) };
    let (report, mock) =
        run(config(vec![scenario("a", executor)], &[]), Mock::new(Work::Sleep(ms(300))));
    assert_eq!(mock.activations.load(Ordering::SeqCst), 1);
    assert_eq!(report.iterations_interrupted, 0);
    assert!(mock.notes().len() >= 2, "it went on after the gap");
}

#[test]
fn a_vu_that_left_comes_back_for_its_next_span() {
    let stages = vec![
        Stage { duration: ms(50), target: 1 },
        Stage { duration: ms(0), target: 0 },
        Stage { duration: ms(200), target: 0 },
        Stage { duration: ms(0), target: 1 },
        Stage { duration: ms(100), target: 1 },
    ];
    let executor = Executor::RampingVus { start_vus: 1, stages, graceful_ramp_down: ms(5_000) };
    let (_, mock) = run(config(vec![scenario("a", executor)], &[]), Mock::new(Work::Sleep(ms(5))));
    assert_eq!(mock.activations.load(Ordering::SeqCst), 2);
    assert_eq!(mock.created.lock().unwrap().len(), 1);
}

#[test]
fn ramped_down_vus_are_cut_off_when_their_grace_is_over() {
    let stages = vec![
        Stage { duration: ms(50), target: 2 },
        Stage { duration: ms(0), target: 0 },
        Stage { duration: ms(600), target: 0 },
    ];
    let executor = Executor::RampingVus { start_vus: 2, stages, graceful_ramp_down: ms(100) };
    let (report, _) = run(config(vec![scenario("a", executor)], &[]), Mock::new(Work::WaitForStop));
    assert_eq!(report.iterations_interrupted, 2);
}

#[test]
fn the_rest_after_a_short_iteration_is_not_part_of_its_duration() {
    let executor = Executor::PerVuIterations { vus: 1, iterations: 3, max_duration: ms(10_000) };
    let mut config = config(vec![scenario("a", executor)], &[]);
    config.min_iteration_duration = ms(60);
    let (report, _) = run(config, Mock::new(Work::Nothing));
    assert!(report.duration >= ms(180));
    assert!(number(&report, "iteration_duration", "med") < 60);
}

#[test]
fn a_later_scenario_works_with_the_vus_of_an_earlier_one() {
    let once = Executor::PerVuIterations { vus: 2, iterations: 2, max_duration: ms(100) };
    let mut first = scenario("first", once.clone());
    first.graceful_stop = ms(50);
    let mut second = scenario("second", once);
    second.start_time = ms(150);
    second.graceful_stop = ms(50);
    let (_, mock) = run(config(vec![second, first], &[]), Mock::new(Work::Nothing));
    assert_eq!(mock.created.lock().unwrap().len(), 2, "no VU is made for the second");
    let notes = mock.notes();
    let second: Vec<_> = notes.iter().filter(|note| note.scenario == "second").collect();
    assert_eq!(second.len(), 4);
    assert!(second.iter().all(|note| note.iteration.vu_in_instance >= 2));
    assert!(second.iter().all(|note| note.iteration.vu_in_scenario < 2));
    assert!(second.iter().all(|note| note.iteration.in_scenario_instance < 4));
}

#[test]
fn a_segment_runs_its_own_vus_and_numbers() {
    let executor = Executor::SharedIterations { vus: 7, iterations: 20, max_duration: ms(10_000) };
    let mut config = config(vec![scenario("a", executor)], &[]);
    config.segment = Segment::parse(Some("1/3:2/3"), Some("0,1/3,2/3,1")).unwrap();
    let (report, mock) = run(config, Mock::new(Work::Nothing));
    assert_eq!(report.iterations_complete, 6);
    let ids: BTreeSet<u64> = mock.created.lock().unwrap().iter().map(|ids| ids.global).collect();
    assert_eq!(ids, [2, 5].into());
    let numbers: BTreeSet<u64> = mock.notes().iter().map(|note| note.iteration.in_test).collect();
    assert_eq!(numbers.len(), 6);
    assert!(numbers.iter().all(|number| *number < 20));
    assert!(numbers.iter().max() > Some(&5));
}

#[test]
fn vus_that_only_compute_share_their_core() {
    let (_, mock) =
        run(config(vec![scenario("a", constant(6, 300))], &[]), Mock::new(Work::Spin(ms(1))));
    assert_eq!(mock.by_vu().len(), 6, "nobody starves");
}

#[test]
fn thousands_of_vus_run_and_are_counted() {
    let (report, mock) =
        run(config(vec![scenario("a", constant(5000, 400))], &[]), Mock::new(Work::Sleep(ms(100))));
    assert_eq!(mock.created.lock().unwrap().len(), 5000);
    assert_eq!(mock.by_vu().len(), 5000);
    assert_eq!(number(&report, "iterations", "count"), report.iterations_complete);
    assert_eq!(mock.notes().len() as u64, report.iterations_complete);
}

#[test]
fn a_scenario_says_how_far_it_is() {
    let executor = Executor::SharedIterations { vus: 1, iterations: 2, max_duration: ms(10_000) };
    let config = config(vec![scenario("a", executor)], &[]);
    let mock = Mock::new(Work::Sleep(ms(150)));
    let (_, _) = run_with(config, mock, |live| {
        until(|| live.progress().scenarios[0].iterations_complete == 1);
        let progress = live.progress();
        assert!((progress.scenarios[0].progress - 0.5).abs() < 0.01);
        assert_eq!(progress.scenarios[0].iterations_total, Some(2));
        assert_eq!(progress.vus_initialized, 1);
    });
}
