//! How late do iterations start? Prints percentiles of planned start to actual start, with VUs that do a few
//! microseconds of work.
//!
//! ```text
//! cargo run --profile fast -p brunt-engine --example lateness -- [RATE] [CORES] [WORK_US] [SECONDS]
//! ```
//! A rate of 0 is a closed model: 200 VUs, each as fast as it can, which shows what an iteration costs the
//! engine. By default 10 000 iterations a second on one core, 3 µs of work each, for 5 s.
#![expect(clippy::print_stdout, reason = "it prints its findings")]

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use brunt_engine::{
    Core, Ended, Iteration, RunConfig, RunError, Runner, ScenarioHere, StopHandle, Vu, VuIds, run,
};
use brunt_metrics::{Ledger, LedgerConfig, Recorder, Registry, TagSet, TagsId, summary::Values};
use brunt_schedule::{Executor, Scenario};

struct Spinner {
    work_ns: u64,
}

struct SpinningVu {
    core: Rc<Core>,
    work_ns: u64,
    tags: TagSet,
    /// The id of the tags, and the recorder's epoch it belongs to.
    id: Option<(u32, TagsId)>,
}

impl Runner for Spinner {
    type Vu = SpinningVu;

    async fn create(&self, core: &Rc<Core>, _: VuIds) -> Result<SpinningVu, RunError> {
        let (core, tags) = (Rc::clone(core), TagSet::default());
        Ok(SpinningVu { core, work_ns: self.work_ns, tags, id: None })
    }

    async fn setup(&self, _: &Rc<Core>, _: &StopHandle) -> Result<Option<String>, RunError> {
        Ok(None)
    }

    async fn teardown(
        &self,
        _: &Rc<Core>,
        _: Option<&str>,
        _: &StopHandle,
    ) -> Result<(), RunError> {
        Ok(())
    }

    fn set_setup_data(&self, _: Option<Arc<str>>) {}
}

impl Vu for SpinningVu {
    fn activate(&mut self, scenario: &Rc<ScenarioHere>) {
        self.tags = scenario.tags().clone();
    }

    async fn iterate(&mut self, iteration: Iteration, _: &StopHandle) -> Ended {
        let end = iteration.started + self.work_ns;
        while self.core.now() < end {}
        Ended::Complete
    }

    fn tags(&mut self, recorder: &mut Recorder) -> TagsId {
        let epoch = recorder.epoch();
        let known = self.id.filter(|(of, _)| *of == epoch);
        let (_, id) = known.unwrap_or_else(|| (epoch, recorder.tags(&self.tags)));
        self.id = Some((epoch, id));
        id
    }
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let mut number = |default: u64| {
        arguments.next().map_or(default, |text| text.parse().expect("arguments are whole numbers"))
    };
    let (rate, cores, work_us, seconds) = (number(10_000), number(1), number(3), number(5));
    let duration = Duration::from_secs(seconds);
    let executor = match rate {
        0 => Executor::ConstantVus { vus: 200, duration },
        rate => Executor::ConstantArrivalRate {
            rate,
            time_unit: Duration::from_secs(1),
            duration,
            pre_allocated_vus: 200,
            max_vus: 200,
        },
    };
    let scenario = Scenario {
        name: "pace".into(),
        executor,
        start_time: Duration::ZERO,
        graceful_stop: Duration::from_secs(1),
        exec: "default".into(),
        env: BTreeMap::new(),
        tags: BTreeMap::new(),
        warmup: Duration::ZERO,
        rhythm: brunt_schedule::Rhythm::default(),
    };
    let registry = Arc::new(Registry::new());
    let ledger = Ledger::new(Arc::clone(&registry), LedgerConfig::default());
    let ledger = ledger.expect("there are no thresholds");
    let mut config = RunConfig::new(vec![scenario], registry, ledger);
    config.workers = usize::try_from(cores).unwrap_or(1);
    let report = run(config, Arc::new(Spinner { work_ns: work_us * 1000 }));

    println!("{rate}/s on {cores} cores, {work_us} us of work, {seconds} s");
    let dropped = report.summary.metric("dropped_iterations");
    let dropped = dropped.and_then(|metric| metric.values.get("count")).unwrap_or_default();
    println!("{} complete, {dropped} dropped", report.iterations_complete);
    let complete = report.iterations_complete;
    if rate == 0 && complete > 0 {
        let each = report.duration.as_secs_f64() * cores as f64 / complete as f64;
        println!("{:.0} ns for each iteration", each * 1e9);
    }
    let lateness = report.summary.metric("iteration_lateness").map(|metric| &metric.values);
    if let Some(Values::Trend(trend)) = lateness {
        for percent in [50.0, 90.0, 99.0, 99.9, 100.0] {
            println!("p{percent:<5} {:>9.1} us late", trend.percentile(percent) * 1000.0);
        }
    }
    for core in &report.cores {
        let busy = core.busy.map_or("unknown".into(), |busy| format!("{:.0} %", busy * 100.0));
        println!(
            "core {}: busy {busy}, tick lag p95 {:.2} ms",
            core.core,
            core.lag.percentile(95.0)
        );
    }
}
