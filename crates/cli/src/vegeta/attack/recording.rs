//! `-run FILE`: the attack as a run file, as `brunt run --out run=FILE` writes one of a test.
//!
//! Each core has a recorder, as the cores of tests have, and shows it ten times a second to the file's output, which writes
//! on a thread of its own.

mod conditions;
mod hits;
mod probe;

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use brunt_attack::{Outcome as Attacked, Plan, Sink, Targets};
use brunt_fiber::clock;
use brunt_metrics::{Contains, Kind, Registry, TrendStat};
use brunt_outputs::{OutputSpec, Outputs, RunFacts, RunFileHandle, RunWatch};
use brunt_runfile::{Commit, End, Machine, RunInfo, SummaryInfo};
use brunt_verdict::Verdict;
use serde_json::{Map, Value, json};

use self::hits::{Hits, Metrics};
use self::probe::Probe;
use crate::{
    Context,
    exit::Exit,
    failure::Outcome,
    generator::Looks,
    run::arguments,
    vegeta::{
        failure,
        flag::Values,
        threshold::{self, Found},
    },
};

/// A run file in the making.
pub(super) struct Recording {
    registry: Arc<Registry>,
    metrics: Metrics,
    outputs: Arc<Mutex<Outputs>>,
    probe: Arc<Probe>,
    handle: RunFileHandle,
    targets: Targets,
}

impl Recording {
    /// Makes the file, if there is to be one.
    ///
    /// # Errors
    /// It can't be made.
    pub(super) fn prepare(
        context: &Context,
        values: &Values,
        (plan, targets): (&Plan, &Targets),
        looks: &Arc<Looks>,
    ) -> Outcome<Option<Self>> {
        let path = values.text("run");
        if path.is_empty() {
            return Ok(None);
        }
        let registry = Arc::new(Registry::new());
        registry.hide_own();
        let planned = "http_req_duration_planned";
        let planned = registry
            .register(planned, Kind::Trend, Contains::Time)
            .map_err(|error| failure(error.to_string()))?;
        let probe = Arc::new(Probe::new(looks));
        let handle = RunFileHandle::default();
        let facts = RunFacts {
            info: Arc::new(info(context, values, plan)),
            watch: Arc::clone(&probe) as Arc<dyn RunWatch>,
            handle: handle.clone(),
        };
        let output_context = brunt_outputs::Context {
            run: Some(facts),
            ..brunt_outputs::Context::new(Arc::clone(&registry))
        };
        let spec = OutputSpec::parse(&format!("run={path}"));
        let outputs = spec.and_then(|spec| Outputs::start(&[spec], &output_context));
        let outputs = outputs.map_err(|error| failure(format!("-run {path}: {error}")))?;
        Ok(Some(Self {
            registry,
            metrics: Metrics { planned },
            outputs: Arc::new(Mutex::new(outputs)),
            probe,
            handle,
            targets: targets.clone(),
        }))
    }

    /// The attack starts now.
    pub(super) fn start(&self) {
        self.probe.start(clock::now_ns());
    }

    /// Takes the records of a core, on its thread.
    pub(super) fn sink(&self, core: usize) -> Box<dyn Sink> {
        Box::new(Hits::new(self, core))
    }

    /// Says how the attack ended. `judged`: how its conditions were found, if there are any and it came to its end.
    pub(super) fn end(
        self,
        outcome: &Result<Attacked, String>,
        judged: Option<&[Found]>,
        (exit, verdict): (Exit, Verdict),
    ) {
        let ended = clock::now_ns();
        let Self { outputs, probe, handle, .. } = self;
        if let Ok(attacked) = outcome
            && attacked.has_missed()
        {
            probe.say(ended, "other", attacked.to_string());
        }
        let started = probe.started_at().unwrap_or(ended);
        for (at, text) in judged.into_iter().flatten().filter_map(conditions::event) {
            probe.say(started.saturating_add(at), "threshold", text);
        }
        // The sinks are gone with their threads.
        let outputs = Arc::into_inner(outputs)
            .map(|outputs| outputs.into_inner().unwrap_or_else(PoisonError::into_inner));
        let dropped = outputs.map_or(0, |outputs| {
            outputs.finish().iter().map(|finished| finished.dropped).sum::<u64>()
        });
        let Some(mut writer) = handle.take() else {
            log::error!("the run file has no end: its output did not come to one");
            return;
        };
        if dropped > 0 {
            log::warn!("the run file was too slow: {dropped} values are lost for it");
            writer.lose("dropped", dropped);
        }
        writer.lose("exchanges", probe.left_out());
        let path = writer.path().display().to_string();
        let (lost, why) = writer.lost();
        if lost > 0 {
            let why = why.unwrap_or_default();
            log::error!(file = path.as_str(); "{lost} slices of the run file could not be written and are lost: {why}");
        }
        let end = End {
            duration: Duration::from_nanos(ended.saturating_sub(started)),
            aborted: outcome.as_ref().err().cloned().or_else(|| probe.stopped()),
            passed: judged.map(|all| all.iter().all(|found| found.verdict.is_ok)),
            exit: exit.code().into(),
            verdict: Some(verdict),
            judged: judged.into_iter().flatten().map(conditions::judgement).collect(),
        };
        if let Err(error) = writer.end(&end) {
            log::error!("the run file has no end: {error}");
        }
    }

    /// Says that somebody stopped it.
    pub(super) fn stopper(&self) -> impl Fn(&str) + Send + use<> {
        let probe = Arc::clone(&self.probe);
        move |why| probe.stop(clock::now_ns(), why)
    }
}

/// All that is known before the attack.
fn info(context: &Context, values: &Values, plan: &Plan) -> RunInfo {
    let targets = values.text("targets");
    let stem = Path::new(targets).file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let stem = stem.filter(|_| targets != "stdin").unwrap_or_else(|| "attack".to_owned());
    let folder = Path::new(targets).parent().filter(|folder| folder.is_dir());
    let mut trend_stats = TrendStat::defaults();
    trend_stats.extend(TrendStat::parse("p(99)"));
    let (thresholds, conditions) = conditions::planned(&threshold::read(values));
    RunInfo {
        kind: "attack".to_owned(),
        name: if plan.name.is_empty() { stem } else { plan.name.clone() },
        brunt: env!("CARGO_PKG_VERSION").to_owned(),
        script: Some(targets.to_owned()),
        arguments: arguments::shown(std::env::args_os().skip(1)),
        options: options(values),
        machine: Machine::read(),
        cores: plan.threads() as u64,
        commit: Commit::read(context.environment.all(), folder.unwrap_or(Path::new("."))),
        planned: plan.duration.unwrap_or_default(),
        open_ended: plan.duration.is_none(),
        summary: SummaryInfo {
            trend_stats,
            thresholds,
            conditions,
            expected_response_submetric: true,
            hides_own: true,
            ..SummaryInfo::default()
        },
        ..RunInfo::default()
    }
}

/// The flags that were written; of headers the names.
fn options(values: &Values) -> Value {
    let mut all = Map::new();
    for flag in super::FLAGS.flags.iter().filter(|flag| values.is_written(flag.name)) {
        let texts = values.texts(flag.name);
        let texts = texts.into_iter().map(|text| arguments::value(flag.name, text));
        all.insert(flag.name.to_owned(), json!(texts.collect::<Vec<_>>().join(", ")));
    }
    Value::Object(all)
}
