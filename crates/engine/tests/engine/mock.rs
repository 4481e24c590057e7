//! VUs without JavaScript, that note what they were told.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use brunt_engine::{
    AbortReason, Core, Ended, ErrorKind, Iteration, Run, RunConfig, RunError, RunReport, Runner,
    ScenarioHere, StopHandle, Vu, VuIds,
};
use brunt_metrics::{Ledger, LedgerConfig, Recorder, Registry, TagsId, Threshold, ThresholdSet};
use brunt_schedule::{Executor, Scenario};

/// The work of an iteration (or of `setup()`, `teardown()`).
#[derive(Clone, Debug)]
pub(crate) enum Work {
    Nothing,
    Sleep(Duration),
    /// Keeps the core for so long.
    Spin(Duration),
    /// Waits until told to stop.
    WaitForStop,
    /// Never yields; looks at its handle as a script's interrupt handler does.
    LoopUntilStop,
    Panic,
    /// `exec.test.abort()`.
    Abort,
    /// Throws: for `setup()` and the like.
    Throw,
}

/// The input of an iteration, and its end.
#[derive(Clone, Debug)]
pub(crate) struct Note {
    pub(crate) core: u32,
    pub(crate) vu: u64,
    pub(crate) scenario: String,
    /// When the scenario started (unix ns).
    pub(crate) start: u64,
    pub(crate) iteration: Iteration,
}

type Choice = Box<dyn Fn(&Note) -> Work + Send + Sync>;

/// The runner of the tests.
pub(crate) struct Mock {
    pub(crate) iteration: Choice,
    pub(crate) init: Box<dyn Fn(VuIds) -> Work + Send + Sync>,
    pub(crate) setup: Work,
    pub(crate) teardown: Work,
    pub(crate) panic_on_drop: bool,
    pub(crate) notes: Mutex<Vec<Note>>,
    pub(crate) created: Mutex<Vec<VuIds>>,
    pub(crate) activations: AtomicUsize,
    pub(crate) setup_data: Mutex<Option<Arc<str>>>,
    /// The argument of `teardown`, each time it ran.
    pub(crate) torn_down: Mutex<Vec<Option<String>>>,
}

impl Mock {
    pub(crate) fn new(work: Work) -> Mock {
        Mock::choosing(move |_| work.clone())
    }

    pub(crate) fn choosing(choice: impl Fn(&Note) -> Work + Send + Sync + 'static) -> Mock {
        Mock {
            iteration: Box::new(choice),
            init: Box::new(|_| Work::Nothing),
            setup: Work::Nothing,
            teardown: Work::Nothing,
            panic_on_drop: false,
            notes: Mutex::default(),
            created: Mutex::default(),
            activations: AtomicUsize::new(0),
            setup_data: Mutex::default(),
            torn_down: Mutex::default(),
        }
    }

    pub(crate) fn notes(&self) -> Vec<Note> {
        self.notes.lock().unwrap().clone()
    }

    /// Iterations by VU.
    pub(crate) fn by_vu(&self) -> BTreeMap<u64, usize> {
        let mut counts = BTreeMap::new();
        for note in self.notes() {
            *counts.entry(note.vu).or_default() += 1;
        }
        counts
    }

    pub(crate) fn teardown_ran(&self) -> bool {
        !self.torn_down.lock().unwrap().is_empty()
    }
}

/// The runner, shared with the test that looks at it afterwards.
pub(crate) struct MockRunner(pub(crate) Arc<Mock>);

pub(crate) struct MockVu {
    mock: Arc<Mock>,
    core: Rc<Core>,
    ids: VuIds,
    scenario: Option<Rc<ScenarioHere>>,
}

async fn perform(work: Work, core: &Core, stop: &StopHandle) -> Result<(), RunError> {
    let interrupted = || RunError::new(ErrorKind::Interrupted, "interrupted");
    match work {
        Work::Nothing => Ok(()),
        Work::Sleep(time) => tokio::select! {
            () = tokio::time::sleep(time) => Ok(()),
            () = stop.stopped() => Err(interrupted()),
        },
        Work::Spin(time) => {
            let end = core.now() + time.as_nanos() as u64;
            while core.now() < end {}
            Ok(())
        }
        Work::WaitForStop => {
            stop.stopped().await;
            Err(interrupted())
        }
        Work::LoopUntilStop => {
            while !stop.check() {
                std::hint::spin_loop();
            }
            Err(interrupted())
        }
        Work::Panic => panic!("as the test wants it"),
        Work::Abort => {
            let message = "test aborted: enough".to_owned();
            core.control().abort(AbortReason::Test { message: message.clone() });
            Err(RunError::new(ErrorKind::Aborted, message))
        }
        Work::Throw => Err(RunError::new(ErrorKind::Script, "Error: thrown")),
    }
}

impl Runner for MockRunner {
    type Vu = MockVu;

    async fn create(&self, core: &Rc<Core>, ids: VuIds) -> Result<MockVu, RunError> {
        let mock = Arc::clone(&self.0);
        perform((mock.init)(ids), core, &StopHandle::new()).await?;
        mock.created.lock().unwrap().push(ids);
        Ok(MockVu { mock, core: Rc::clone(core), ids, scenario: None })
    }

    async fn setup(&self, core: &Rc<Core>, stop: &StopHandle) -> Result<Option<String>, RunError> {
        perform(self.0.setup.clone(), core, stop).await?;
        Ok(Some("{\"made\":\"by setup\"}".into()))
    }

    async fn teardown(
        &self,
        core: &Rc<Core>,
        data: Option<&str>,
        stop: &StopHandle,
    ) -> Result<(), RunError> {
        self.0.torn_down.lock().unwrap().push(data.map(str::to_owned));
        perform(self.0.teardown.clone(), core, stop).await
    }

    fn set_setup_data(&self, data: Option<Arc<str>>) {
        *self.0.setup_data.lock().unwrap() = data;
    }
}

impl Vu for MockVu {
    fn activate(&mut self, scenario: &Rc<ScenarioHere>) {
        self.mock.activations.fetch_add(1, Ordering::SeqCst);
        self.scenario = Some(Rc::clone(scenario));
    }

    async fn iterate(&mut self, iteration: Iteration, stop: &StopHandle) -> Ended {
        let here = self.scenario.as_ref().expect("it was activated");
        let note = Note {
            core: self.core.index(),
            vu: self.ids.local,
            scenario: here.spec().name.clone(),
            start: here.state().started_at().expect("it has started"),
            iteration,
        };
        let work = (self.mock.iteration)(&note);
        self.mock.notes.lock().unwrap().push(note);
        match perform(work, &self.core, stop).await {
            Err(error) if error.kind == ErrorKind::Interrupted => Ended::Interrupted,
            Err(error) if error.kind == ErrorKind::Aborted => Ended::Aborted,
            Ok(()) | Err(_) => Ended::Complete,
        }
    }

    fn tags(&mut self, recorder: &mut Recorder) -> TagsId {
        recorder.tags(self.scenario.as_ref().expect("it was activated").tags())
    }
}

impl Drop for MockVu {
    fn drop(&mut self) {
        assert!(
            !self.mock.panic_on_drop || std::thread::panicking(),
            "dropped, as the test wants it"
        );
    }
}

pub(crate) fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

pub(crate) fn scenario(name: &str, executor: Executor) -> Scenario {
    Scenario {
        name: name.into(),
        executor,
        start_time: Duration::ZERO,
        graceful_stop: Duration::from_secs(30),
        exec: "default".into(),
        env: BTreeMap::new(),
        tags: BTreeMap::new(),
        warmup: Duration::ZERO,
        rhythm: brunt_schedule::Rhythm::default(),
    }
}

/// A run on two cores. `thresholds` are (metric, expression, abortOnFail).
pub(crate) fn config(scenarios: Vec<Scenario>, thresholds: &[(&str, &str, bool)]) -> RunConfig {
    let registry = Arc::new(Registry::new());
    let thresholds = thresholds.iter().map(|(metric, source, abort)| ThresholdSet {
        metric: (*metric).into(),
        thresholds: vec![Threshold::parse(source, *abort, None).unwrap()],
    });
    let ledger = LedgerConfig { thresholds: thresholds.collect(), ..LedgerConfig::default() };
    let ledger = Ledger::new(Arc::clone(&registry), ledger).unwrap();
    RunConfig { workers: 2, ..RunConfig::new(scenarios, registry, ledger) }
}

/// Runs it; at the same time, `meanwhile` may do what an outsider does.
pub(crate) fn run_with(
    config: RunConfig,
    mock: Mock,
    meanwhile: impl FnOnce(brunt_engine::Live) + Send,
) -> (RunReport, Arc<Mock>) {
    let mock = Arc::new(mock);
    let run = Run::new(config, Arc::new(MockRunner(Arc::clone(&mock))));
    let live = run.live();
    let report = std::thread::scope(|scope| {
        scope.spawn(move || meanwhile(live));
        run.execute()
    });
    (report, mock)
}

pub(crate) fn run(config: RunConfig, mock: Mock) -> (RunReport, Arc<Mock>) {
    run_with(config, mock, |_| {})
}

/// A number of the summary, rounded; 0 if the metric got no value.
pub(crate) fn number(report: &RunReport, metric: &str, stat: &str) -> u64 {
    let metric = report.summary.metric(metric);
    metric.and_then(|metric| metric.values.get(stat)).unwrap_or(0.0).round() as u64
}

/// Waits until `is_so`, for at most ten seconds.
pub(crate) fn until(is_so: impl Fn() -> bool) {
    let start = std::time::Instant::now();
    while !is_so() {
        assert!(start.elapsed() < Duration::from_secs(10), "waited for ten seconds in vain");
        std::thread::yield_now();
    }
}
