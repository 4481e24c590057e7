//! From init to the end, and everything that can go wrong on the way.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use brunt_engine::{AbortReason, Failure, Listener, Phase, RunConfig, ScenarioPhase};
use brunt_metrics::{Frame, Verdict};
use brunt_schedule::Executor;

use crate::mock::{Mock, Note, Work, config, ms, number, run, run_with, scenario, until};

const ENDLESS: Duration = Duration::from_secs(10);

fn constant(vus: u64, duration: u64) -> RunConfig {
    let executor = Executor::ConstantVus { vus, duration: ms(duration) };
    config(vec![scenario("default", executor)], &[])
}

fn signal() -> AbortReason {
    AbortReason::Signal { name: "interrupt".into() }
}

#[test]
fn what_setup_returns_reaches_the_vus_and_teardown() {
    let (report, mock) = run(constant(1, 50), Mock::new(Work::Sleep(ms(5))));
    let data = "{\"made\":\"by setup\"}";
    assert_eq!(mock.setup_data.lock().unwrap().as_deref(), Some(data));
    assert_eq!(*mock.torn_down.lock().unwrap(), [Some(data.to_owned())]);
    assert_eq!(report.setup_data.as_deref(), Some(data));
    assert!(report.started);
}

#[test]
fn setup_and_teardown_can_be_left_out() {
    let mut config = constant(1, 50);
    config.no_setup = true;
    config.no_teardown = true;
    let (report, mock) = run(config, Mock::new(Work::Sleep(ms(5))));
    assert_eq!(*mock.setup_data.lock().unwrap(), None);
    assert!(!mock.teardown_ran());
    assert!(report.iterations_complete > 0);
}

#[test]
fn vus_get_their_ids_in_the_order_of_their_making() {
    let (_, mock) = run(constant(5, 50), Mock::new(Work::Sleep(ms(5))));
    let mut ids: Vec<u64> = mock.created.lock().unwrap().iter().map(|ids| ids.local).collect();
    ids.sort_unstable();
    assert_eq!(ids, [1, 2, 3, 4, 5]);
}

#[test]
fn a_vu_that_cannot_be_made_ends_the_run() {
    let mut mock = Mock::new(Work::Nothing);
    mock.init = Box::new(|ids| if ids.local == 3 { Work::Throw } else { Work::Nothing });
    let (report, mock) = run(constant(6, 5000), mock);
    assert!(
        matches!(report.error(), Some(Failure::Init(error)) if error.message == "Error: thrown")
    );
    assert!(!report.started && !mock.teardown_ran());
    assert_eq!(mock.notes().len(), 0);
}

#[test]
fn a_test_may_be_aborted_by_its_init_code() {
    let mut mock = Mock::new(Work::Nothing);
    mock.init = Box::new(|_| Work::Abort);
    let (report, _) = run(constant(2, 5000), mock);
    assert!(matches!(report.error(), Some(Failure::Aborted(AbortReason::Test { .. }))));
}

#[test]
fn init_code_that_panics_ends_the_run() {
    let mut mock = Mock::new(Work::Nothing);
    mock.init = Box::new(|_| Work::Panic);
    let (report, _) = run(constant(2, 5000), mock);
    let error = report.error().unwrap().to_string();
    assert!(error.contains("a VU's init code panicked"), "{error}");
}

#[test]
fn after_a_setup_that_throws_nothing_runs() {
    let mut mock = Mock::new(Work::Nothing);
    mock.setup = Work::Throw;
    let (report, mock) = run(constant(2, 5000), mock);
    assert!(matches!(report.error(), Some(Failure::Setup(_))));
    assert_eq!(mock.notes().len(), 0);
    assert!(!mock.teardown_ran());
}

#[test]
fn a_setup_that_takes_too_long_is_interrupted() {
    for work in [Work::WaitForStop, Work::LoopUntilStop] {
        let mut mock = Mock::new(Work::Nothing);
        mock.setup = work;
        let mut config = constant(2, 5000);
        config.setup_timeout = ms(80);
        let (report, mock) = run(config, mock);
        assert_eq!(report.error(), Some(Failure::SetupTimeout(ms(80))));
        assert!(report.duration >= ms(80));
        assert!(!mock.teardown_ran());
    }
}

#[test]
fn a_teardown_that_takes_too_long_is_interrupted() {
    let mut mock = Mock::new(Work::Sleep(ms(5)));
    mock.teardown = Work::WaitForStop;
    let mut config = constant(1, 50);
    config.teardown_timeout = ms(80);
    let (report, _) = run(config, mock);
    assert_eq!(report.error(), Some(Failure::TeardownTimeout(ms(80))));
}

#[test]
fn a_teardown_that_throws_fails_the_run_but_not_over_an_earlier_failure() {
    let mut mock = Mock::new(Work::Sleep(ms(5)));
    mock.teardown = Work::Throw;
    let (report, _) = run(constant(1, 50), mock);
    assert!(matches!(report.error(), Some(Failure::Teardown(_))));

    let mut mock = Mock::new(Work::Abort);
    mock.teardown = Work::Throw;
    let (report, _) = run(constant(1, 50), mock);
    assert!(matches!(report.error(), Some(Failure::Aborted(AbortReason::Test { .. }))));
}

#[test]
fn a_signal_interrupts_iterations_at_once_and_teardown_still_runs() {
    for work in [Work::WaitForStop, Work::LoopUntilStop] {
        let (report, mock) = run_with(constant(4, 60_000), Mock::new(work), |live| {
            until(|| live.progress().vus_active >= 2);
            live.control().abort(signal());
        });
        assert_eq!(report.error(), Some(Failure::Aborted(signal())));
        assert!(report.iterations_interrupted >= 2);
        assert_eq!(report.iterations_complete, 0);
        assert!(report.duration < ENDLESS && mock.teardown_ran());
    }
}

#[test]
fn a_signal_ends_open_scenarios_that_wait_for_a_distant_start() {
    let executor = Executor::ConstantArrivalRate {
        rate: 1,
        time_unit: Duration::from_hours(1),
        duration: Duration::from_hours(2),
        pre_allocated_vus: 3,
        max_vus: 5,
    };
    let mut later = scenario("later", executor.clone());
    later.start_time = Duration::from_hours(1);
    let config = config(vec![scenario("now", executor), later], &[]);
    let (report, mock) = run_with(config, Mock::new(Work::Nothing), |live| {
        until(|| live.progress().iterations_complete == 1);
        let states: Vec<_> = live.progress().scenarios.iter().map(|one| one.state).collect();
        assert_eq!(states, [ScenarioPhase::Running, ScenarioPhase::Waiting]);
        live.control().abort(signal());
    });
    assert_eq!(report.error(), Some(Failure::Aborted(signal())));
    assert!(report.duration < ENDLESS && mock.teardown_ran());
}

#[test]
fn a_signal_during_setup_skips_everything_after_it() {
    let mut mock = Mock::new(Work::Nothing);
    mock.setup = Work::WaitForStop;
    let (report, mock) = run_with(constant(2, 5000), mock, |live| {
        until(|| live.control().phase() == Phase::Setup);
        live.control().abort(signal());
    });
    assert_eq!(report.error(), Some(Failure::Aborted(signal())));
    assert!(!mock.teardown_ran() && mock.notes().is_empty());
}

#[test]
fn a_signal_during_teardown_lets_it_finish() {
    let mut mock = Mock::new(Work::Sleep(ms(5)));
    mock.teardown = Work::Sleep(ms(200));
    let (report, _) = run_with(constant(1, 50), mock, |live| {
        until(|| live.control().phase() == Phase::Teardown);
        live.control().abort(signal());
    });
    assert_eq!(report.error(), Some(Failure::Aborted(signal())));
    assert!(report.duration >= ms(250));
}

#[test]
fn the_iteration_that_aborts_the_test_counts_as_interrupted_but_is_measured() {
    let executor = Executor::PerVuIterations { vus: 1, iterations: 5, max_duration: ENDLESS };
    let mock = Mock::choosing(|note| match note.iteration.vu_in_scenario {
        2 => Work::Abort,
        _ => Work::Nothing,
    });
    let (report, mock) = run(config(vec![scenario("a", executor)], &[]), mock);
    assert_eq!((report.iterations_complete, report.iterations_interrupted), (2, 1));
    assert_eq!(number(&report, "iterations", "count"), 3);
    assert_eq!(number(&report, "dropped_iterations", "count"), 0);
    let reason = AbortReason::Test { message: "test aborted: enough".into() };
    assert_eq!(report.error(), Some(Failure::Aborted(reason)));
    assert!(mock.teardown_ran());
}

#[test]
fn an_iteration_that_panics_ends_and_the_vu_goes_on() {
    let is_second = |note: &Note| note.vu == 2 && note.iteration.vu_in_instance == 1;
    let mock =
        Mock::choosing(move |note| if is_second(note) { Work::Panic } else { Work::Sleep(ms(5)) });
    let (report, mock) = run(constant(4, 300), mock);
    assert_eq!(report.error(), None);
    let later = mock.notes().iter().filter(|note| note.vu == 2).count();
    assert!(later > 3, "{later}");
    assert!(mock.teardown_ran());
}

#[test]
fn a_vu_that_does_nothing_but_panic_takes_no_more_part_and_the_others_do() {
    let mock = Mock::choosing(|note| if note.vu == 2 { Work::Panic } else { Work::Sleep(ms(5)) });
    let (report, mock) = run(constant(4, 300), mock);
    assert_eq!(report.error(), None);
    let of = |vu: u64| mock.notes().iter().filter(|note| note.vu == vu).count();
    assert_eq!(of(2), 3);
    assert!(of(1) > 3 && of(3) > 3 && of(4) > 3);
}

#[test]
fn a_core_that_dies_at_the_very_end_leaves_nobody_waiting() {
    let mut mock = Mock::new(Work::Sleep(ms(5)));
    mock.panic_on_drop = true;
    let (report, _) = run(constant(4, 50), mock);
    let error = report.error().unwrap().to_string();
    assert!(error.contains("panicked"), "{error}");
}

#[test]
fn a_paused_run_waits_for_the_word() {
    let mut config = constant(1, 50);
    config.paused = true;
    let resumed = Arc::new(AtomicU64::new(0));
    let (report, _) = run_with(config, Mock::new(Work::Sleep(ms(5))), |live| {
        until(|| live.control().phase() == Phase::Paused);
        assert!(live.control().is_paused());
        assert_eq!(live.control().started_at(), None);
        resumed.store(live.control().vus_initialized(), Ordering::SeqCst);
        live.control().resume();
    });
    assert_eq!(resumed.load(Ordering::SeqCst), 1);
    assert!(report.iterations_complete > 0);
}

#[test]
fn a_paused_run_can_be_aborted() {
    let mut config = constant(1, 50);
    config.paused = true;
    let (report, _) = run_with(config, Mock::new(Work::Nothing), |live| {
        until(|| live.control().phase() == Phase::Paused);
        live.control().abort(AbortReason::Api);
    });
    assert_eq!(report.error(), Some(Failure::Aborted(AbortReason::Api)));
    assert!(!report.started);
}

#[test]
fn a_run_that_lingers_answers_after_its_end_until_somebody_ends_that() {
    let mut config = constant(1, 50);
    config.no_teardown = true;
    config.linger = Some(Box::new(|| true));
    let (report, mock) = run_with(config, Mock::new(Work::Sleep(ms(5))), |live| {
        until(|| live.control().is_lingering());
        let phase = live.control().phase();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let torn_down = runtime.block_on(live.run_teardown());
        let grown = live.have_vus(0, 5);
        live.control().end_linger();
        assert_eq!((phase, torn_down), (Phase::Ended, Ok(())));
        assert_eq!(grown, Err("the test is over".to_owned()));
    });
    assert!(report.error().is_none() && report.iterations_complete > 0);
    let data = "{\"made\":\"by setup\"}".to_owned();
    assert_eq!(*mock.torn_down.lock().unwrap(), [Some(data)]);
}

#[test]
fn a_run_that_is_cut_short_lingers_too_and_one_that_could_not_begin_does_not() {
    let calls = Arc::new(AtomicU64::new(0));
    let counting = |config: &mut RunConfig| {
        let calls = Arc::clone(&calls);
        config.linger = Some(Box::new(move || {
            calls.fetch_add(1, Ordering::SeqCst);
            false
        }));
    };
    let mut config = constant(1, 5000);
    counting(&mut config);
    let (report, _) = run_with(config, Mock::new(Work::WaitForStop), |live| {
        until(|| live.control().phase() == Phase::Running);
        live.control().abort(AbortReason::Api);
    });
    assert_eq!(report.error(), Some(Failure::Aborted(AbortReason::Api)));
    assert_eq!(calls.load(Ordering::SeqCst), 1);
    let mut config = constant(1, 5000);
    counting(&mut config);
    let mut mock = Mock::new(Work::Nothing);
    mock.init = Box::new(|_| Work::Throw);
    let (report, _) = run(config, mock);
    assert!(matches!(report.error(), Some(Failure::Init(_))));
    assert_eq!(calls.load(Ordering::SeqCst), 1);
}

#[test]
fn a_mark_comes_before_crossed_thresholds_and_a_failure_before_both() {
    let executor = Executor::ConstantVus { vus: 1, duration: ms(50) };
    let crossed = [("iterations", "count>1000000", false)];
    let scenarios = || vec![scenario("a", executor.clone())];
    let (report, _) = run(config(scenarios(), &crossed), Mock::new(Work::Sleep(ms(5))));
    assert_eq!(report.error(), Some(Failure::Thresholds(vec!["iterations".into()])));

    let config = config(scenarios(), &crossed);
    let (report, _) = run_with(config, Mock::new(Work::Sleep(ms(5))), |live| {
        live.control().mark_failed();
    });
    assert_eq!(report.error(), Some(Failure::MarkedFailed));
}

#[test]
fn a_crossed_threshold_may_stop_the_test_after_two_seconds() {
    let executor = Executor::ConstantVus { vus: 3, duration: Duration::from_mins(1) };
    let crossed = [("iterations", "count<1", true)];
    let config = config(vec![scenario("a", executor)], &crossed);
    let seen = Arc::new(Mutex::new(None));
    let (report, mock) = run_with(config, Mock::new(Work::Sleep(ms(20))), |live| {
        until(|| live.progress().run > ms(1500));
        *seen.lock().unwrap() = live.summary();
    });
    let crossed = vec!["iterations".to_owned()];
    let reason = AbortReason::Thresholds { crossed: crossed.clone() };
    assert_eq!(report.error(), Some(Failure::Aborted(reason)));
    assert_eq!(report.crossed, crossed);
    assert!(report.duration >= ms(1900) && report.duration < ENDLESS && mock.teardown_ran());
    assert_eq!(number(&report, "vus", "max"), 3);
    assert_eq!(number(&report, "vus_max", "value"), 3);
    let halfway = seen.lock().unwrap().take().expect("the gatherer answers");
    assert!(halfway.metric("iterations").is_some());
}

/// Counts what it is shown.
struct Counting {
    samples: Arc<AtomicU64>,
    ended: Arc<AtomicU64>,
}

impl Listener for Counting {
    fn frame(&mut self, frame: &Arc<Frame>) {
        self.samples.fetch_add(frame.samples.len() as u64, Ordering::SeqCst);
    }

    fn end(&mut self, _: &Verdict) {
        self.ended.fetch_add(1, Ordering::SeqCst);
    }
}

#[test]
fn a_listener_sees_every_sample_and_then_the_end() {
    let executor = Executor::PerVuIterations { vus: 4, iterations: 25, max_duration: ENDLESS };
    let (samples, ended) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
    let mut config = config(vec![scenario("a", executor)], &[]);
    config.want_samples = true;
    config.listeners =
        vec![Box::new(Counting { samples: Arc::clone(&samples), ended: Arc::clone(&ended) })];
    let (report, _) = run(config, Mock::new(Work::Nothing));
    assert_eq!(report.iterations_complete, 100);
    // `iterations` and `iteration_duration`; a run of over a second has `vus` as well.
    assert!(samples.load(Ordering::SeqCst) >= 200);
    assert_eq!(ended.load(Ordering::SeqCst), 1);
}

struct Panicking;

impl Listener for Panicking {
    fn frame(&mut self, _: &Arc<Frame>) {
        panic!("this output is broken");
    }
}

#[test]
fn a_listener_that_panics_ends_the_run() {
    let mut config = constant(2, 60_000);
    config.listeners = vec![Box::new(Panicking)];
    let (report, _) = run(config, Mock::new(Work::Sleep(ms(5))));
    let error = report.error().unwrap().to_string();
    assert!(error.contains("this output is broken"), "{error}");
    assert!(report.duration < ENDLESS);
}

#[test]
fn a_run_on_one_core_and_without_scenarios_is_possible() {
    let mut config = config(Vec::new(), &[]);
    config.workers = 1;
    let (report, mock) = run(config, Mock::new(Work::Nothing));
    assert_eq!(report.error(), None);
    assert!(mock.teardown_ran());
    assert_eq!(report.iterations_complete, 0);
}

#[test]
fn every_core_tells_how_it_did() {
    let (report, _) = run(constant(2, 500), Mock::new(Work::Sleep(ms(5))));
    assert_eq!(report.cores.len(), 2);
    assert!(report.cores.iter().all(|core| core.lag.count() >= 1));
}
