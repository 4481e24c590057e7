//! Runs that a leader leads.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use brunt_engine::{
    AbortReason, Control, ErrorKind, Failure, Live, Phase, Relay, RunConfig, StageError,
};
use brunt_fiber::clock;
use brunt_metrics::{Frame, Sink, builtin};
use brunt_schedule::Executor;

use crate::mock::{Mock, Work, config, ms, run_with, scenario, until};

fn led(executor: Executor, thresholds: &[(&str, &str, bool)]) -> RunConfig {
    let mut config = config(vec![scenario("default", executor)], thresholds);
    config.led = true;
    config
}

fn each(vus: u64, iterations: u64) -> Executor {
    Executor::PerVuIterations { vus, iterations, max_duration: Duration::from_mins(1) }
}

fn is_ready(control: &Control) -> bool {
    control.phase() == Phase::Paused
}

/// Waits on a runtime of its own, as an agent does.
fn block_on<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
}

fn is_behind_scenarios(live: &Live) -> bool {
    live.control().phase() == Phase::Teardown
}

#[test]
fn nothing_begins_by_itself_and_each_part_when_the_leader_says_so() {
    let (report, mock) = run_with(led(each(4, 3), &[]), Mock::new(Work::Nothing), |live| {
        let control = live.control();
        until(|| is_ready(control));
        let data = block_on(live.stage_setup()).unwrap();
        assert_eq!(data.as_deref(), Some("{\"made\":\"by setup\"}"));
        assert_eq!((live.progress().iterations_complete, control.start_late()), (0, None));
        let start = clock::now_ns() + 50_000_000;
        control.start_at(start);
        control.start_at(1);
        until(|| is_behind_scenarios(&live));
        assert!(clock::now_ns() >= start);
        assert!(control.start_late().is_some());
        assert_eq!(control.started_at(), Some(start));
        block_on(live.stage_teardown()).unwrap();
        control.release();
    });
    assert_eq!(report.error(), None);
    assert_eq!((report.iterations_complete, report.started), (12, true));
    assert_eq!(mock.torn_down.lock().unwrap().len(), 1);
    assert!(mock.notes().iter().all(|note| note.iteration.started >= note.start));
}

#[test]
fn who_is_asked_for_neither_setup_nor_teardown_runs_none_and_takes_the_data() {
    let (report, mock) = run_with(led(each(1, 1), &[]), Mock::new(Work::Nothing), |live| {
        until(|| is_ready(live.control()));
        block_on(live.set_setup_data(Some(Arc::from("7")))).unwrap();
        live.control().start_at(clock::now_ns());
        live.control().release();
    });
    assert_eq!(report.error(), None);
    assert_eq!(mock.setup_data.lock().unwrap().as_deref(), Some("7"));
    assert!(!mock.teardown_ran());
}

#[test]
fn a_start_that_has_passed_begins_in_the_middle_of_the_plan() {
    let executor = Executor::ConstantArrivalRate {
        rate: 100,
        time_unit: Duration::from_secs(1),
        duration: Duration::from_secs(10),
        pre_allocated_vus: 2,
        max_vus: 2,
    };
    let lateness = Duration::from_millis(9_500);
    let (report, mock) = run_with(led(executor, &[]), Mock::new(Work::Nothing), |live| {
        until(|| is_ready(live.control()));
        live.control().start_at(clock::now_ns() - clock::duration_ns(lateness));
        until(|| is_behind_scenarios(&live));
        assert!(live.control().start_late().is_some_and(|late| late >= lateness));
        live.control().release();
    });
    let dropped = report.summary.metric("dropped_iterations").unwrap().values.get("count").unwrap();
    assert!(dropped >= 950.0, "{dropped}");
    assert_eq!(report.iterations_complete + dropped as u64, 1001);
    let first = mock.notes().iter().filter_map(|note| note.iteration.due).min().unwrap();
    let start = mock.notes()[0].start;
    assert!(first - start >= 9_500_000_000);
}

#[test]
fn an_abort_before_the_start_lets_teardown_run_and_no_iteration() {
    let (report, mock) = run_with(led(each(1, 1), &[]), Mock::new(Work::Nothing), |live| {
        until(|| is_ready(live.control()));
        block_on(live.stage_setup()).unwrap();
        live.control().abort(AbortReason::Leader { reason: "seat 3 is gone".into() });
        until(|| is_behind_scenarios(&live));
        block_on(live.stage_teardown()).unwrap();
        live.control().release();
    });
    assert!(matches!(report.error(), Some(Failure::Aborted(AbortReason::Leader { .. }))));
    assert!(mock.notes().is_empty() && mock.teardown_ran() && !report.started);
}

#[test]
fn why_setup_failed_is_told_with_its_kind() {
    let mut mock = Mock::new(Work::Nothing);
    mock.setup = Work::Throw;
    run_with(led(each(1, 1), &[]), mock, |live| {
        until(|| is_ready(live.control()));
        let error = block_on(live.stage_setup()).unwrap_err();
        assert!(matches!(error, StageError::Failed(error) if error.kind == ErrorKind::Script));
        live.control().abort(AbortReason::Leader { reason: "setup() threw".into() });
        live.control().release();
    });
    let mut mock = Mock::new(Work::Nothing);
    mock.setup = Work::WaitForStop;
    let mut config = led(each(1, 1), &[]);
    config.setup_timeout = ms(60);
    run_with(config, mock, |live| {
        until(|| is_ready(live.control()));
        let error = block_on(live.stage_setup()).unwrap_err();
        assert_eq!(error, StageError::TimedOut(ms(60)));
        live.control().abort(AbortReason::Leader { reason: "setup() is slow".into() });
        live.control().release();
    });
}

#[test]
fn a_vu_that_cannot_be_made_ends_a_led_run_without_its_leader() {
    let mut mock = Mock::new(Work::Nothing);
    mock.init = Box::new(|_| Work::Throw);
    let (report, _) = run_with(led(each(1, 1), &[]), mock, |_| {});
    assert!(matches!(report.error(), Some(Failure::Init(_))));
}

#[test]
fn thresholds_and_vus_are_the_leaders() {
    let seen = Arc::new(AtomicU64::new(0));
    let mut config = led(
        Executor::ConstantVus { vus: 1, duration: Duration::from_millis(2_500) },
        &[("iterations", "count<1", true)],
    );
    let (relay, relayed) = Relay::new();
    config.listeners.push(Box::new(relay));
    let counted = Arc::clone(&seen);
    let (report, _) = run_with(config, Mock::new(Work::Sleep(ms(100))), |live| {
        let count = |frames: &[Arc<Frame>]| {
            for delta in frames.iter().flat_map(|frame| &frame.series) {
                assert_ne!(delta.series.metric, builtin::VUS);
                if let (builtin::ITERATIONS, Sink::Counter { sum, .. }) =
                    (delta.series.metric, &delta.sink)
                {
                    counted.fetch_add(*sum as u64, Ordering::Relaxed);
                }
            }
        };
        until(|| is_ready(live.control()));
        live.control().start_at(clock::now_ns());
        until(|| is_behind_scenarios(&live));
        block_on(live.settle()).unwrap();
        let (settled, _) = relayed.take();
        count(&settled);
        assert_eq!(counted.load(Ordering::Relaxed), live.progress().iterations_complete);
        live.control().release();
        let is_last = Cell::new(false);
        until(|| {
            let (frames, is_over) = relayed.take();
            count(&frames);
            is_last.set(is_last.get() || is_over);
            is_last.get()
        });
    });
    // It was not cut short.
    assert_eq!(report.abort, None);
    assert_eq!(seen.load(Ordering::Relaxed), report.iterations_complete);
}
