//! `--out run`: the facts for the run file that only a run knows, and its last word.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use brunt_engine::{AbortReason, Live, RunReport, ScenarioPhase, ScenarioState};
use brunt_fiber::clock;
use brunt_options::TimeUnit;
use brunt_outputs::{RunFacts, RunFileHandle, RunWatch};
use brunt_runfile::exchange::{Evidence, address};
use brunt_runfile::{
    AgentRow, Commit, End, Event, Judgement, Load, Machine, RunInfo, ScenarioInfo, Source,
    StageInfo, SummaryInfo,
};
use brunt_schedule::{Arrivals, ClosedPlan, Executor, Scenario, Segment, total_duration};
use brunt_verdict::{Signals, Verdict};
use sha2::{Digest as _, Sha256};

use super::{evidence::Witness, host::Script, plan::Plan};
use crate::{Context, exit::Exit, find::Finding, generator::Looks, settings::RunSettings};

pub(crate) mod arguments;
pub(crate) mod led;

/// A run file in the making.
pub(super) struct Recording {
    probe: Arc<Probe>,
    handle: RunFileHandle,
    has_thresholds: bool,
}

/// How many of the outputs are run files.
pub(crate) fn count(outputs: &[String]) -> usize {
    outputs.iter().filter(|output| output.split('=').next() == Some("run")).count()
}

/// Whether one of the outputs is a run file.
pub(crate) fn is_wanted(outputs: &[String]) -> bool {
    count(outputs) > 0
}

impl Recording {
    /// Gathers what is known before the run. The second part is for the outputs.
    pub(super) fn prepare<S: Script>(
        context: &Context,
        (name, script): (&str, &S),
        plan: &Plan,
        (settings, looks, witness): (&RunSettings, &Arc<Looks>, &Arc<Witness>),
    ) -> (Self, RunFacts) {
        let info = info(context, (name, script), plan, settings);
        let probe = Arc::new(Probe::new(plan, &info, Arc::clone(looks), Arc::clone(witness)));
        let handle = RunFileHandle::default();
        let has_thresholds = info.summary.thresholds.iter().any(|set| !set.thresholds.is_empty());
        let watch = Arc::clone(&probe) as Arc<dyn RunWatch>;
        let facts = RunFacts { info: Arc::new(info), watch, handle: handle.clone() };
        (Self { probe, handle, has_thresholds }, facts)
    }

    /// The file, once its output is open.
    pub(super) fn path(&self) -> Option<PathBuf> {
        self.handle.path()
    }

    /// Where notes on the run go.
    pub(super) fn notes(&self) -> Notes {
        Notes(Arc::clone(&self.probe))
    }

    /// The run can be watched now.
    pub(super) fn watch(&self, live: Live) {
        // There is one run in a process.
        let _ = self.probe.live.set(live);
    }

    /// Says in the file how the run ended; the file.
    ///
    /// `finding`: the result of a search, if the run was one.
    pub(super) fn end(
        &self,
        report: &RunReport,
        (exit, verdict, finding): (Exit, &Verdict, Option<&Finding>),
        dropped: u64,
    ) -> Option<PathBuf> {
        close(
            &self.handle,
            Closing {
                report,
                exit,
                verdict,
                has_thresholds: self.has_thresholds,
                finding,
                cut_short: None,
                agents: &[],
                lost: &[("dropped", dropped), ("exchanges", self.probe.witness.left_out())],
            },
        )
    }
}

/// The last words of a run file.
struct Closing<'a> {
    report: &'a RunReport,
    exit: Exit,
    verdict: &'a Verdict,
    has_thresholds: bool,
    /// The result of a search, if the run was one.
    finding: Option<&'a Finding>,
    /// Why the run was cut short, if its report does not know.
    cut_short: Option<String>,
    agents: &'a [AgentRow],
    /// Things that had no room, by name.
    lost: &'a [(&'static str, u64)],
}

/// Says in the file how the run ended; the file.
fn close(handle: &RunFileHandle, closing: Closing<'_>) -> Option<PathBuf> {
    let Closing { report, .. } = closing;
    let Some(mut writer) = handle.take() else {
        log::error!("the run file has no end: its output did not come to one");
        return None;
    };
    let file = writer.path().to_owned();
    let path = file.display().to_string();
    let (lost, why) = writer.lost();
    if lost > 0 {
        let why = why.unwrap_or_default();
        log::error!(file = path.as_str(); "{lost} slices of the run file could not be written and are lost: {why}");
    }
    for (what, count) in closing.lost {
        writer.lose(what, *count);
        if *what == "exchanges" && *count > 0 {
            log::warn!(file = path.as_str(); "{count} exchanges found no room in the run file");
        }
    }
    if let Some(finding) = closing.finding
        && let Err(error) = writer.keep_capacity(&finding.json().to_string())
    {
        log::error!("the run file lacks the result of the search: {error}");
    }
    if !closing.agents.is_empty()
        && let Err(error) = writer.keep_agents(closing.agents)
    {
        log::error!("the run file lacks the agents: {error}");
    }
    let aborted = closing.cut_short.or_else(|| match (&report.abort, &report.failure) {
        (Some(AbortReason::Steered), _) | (None, None) => None,
        (Some(reason), _) => Some(reason.to_string()),
        (None, Some(failure)) => Some(failure.to_string()),
    });
    let end = End {
        duration: report.duration,
        aborted,
        passed: closing.has_thresholds.then_some(report.crossed.is_empty()),
        exit: closing.exit.code().into(),
        verdict: Some(closing.verdict.clone()),
        judged: judged(report),
    };
    if let Err(error) = writer.end(&end) {
        log::error!("the run file has no end: {error}");
    }
    Some(file)
}

/// How the thresholds were found.
fn judged(report: &RunReport) -> Vec<Judgement> {
    let summary = &report.summary;
    let all = summary.metrics.iter().chain(&summary.own).flat_map(|metric| {
        let of = |result: &brunt_metrics::ThresholdResult| Judgement {
            metric: metric.name.clone(),
            result: result.clone(),
        };
        metric.thresholds.iter().map(of)
    });
    all.collect()
}

/// Notes on what happens: events of the run file.
#[derive(Clone)]
pub(super) struct Notes(Arc<Probe>);

impl Notes {
    /// Adds one, cut if it is long; false if there is no room for it before the next slice.
    pub(super) fn add(&self, text: &str) -> bool {
        self.tell("note", text)
    }

    /// Adds a step of a search, likewise.
    pub(super) fn step(&self, text: &str) -> bool {
        self.tell("step", text)
    }

    fn tell(&self, kind: &str, text: &str) -> bool {
        /// Notes of one slice.
        const NOTES_MAX: usize = 20;
        let mut notes = self.0.notes.lock().unwrap_or_else(PoisonError::into_inner);
        if notes.len() >= NOTES_MAX {
            return false;
        }
        notes.push(noted(kind, text));
        true
    }
}

/// An event of this moment, cut if it is long.
fn noted(kind: &str, text: &str) -> Event {
    /// Characters of a note.
    const LENGTH_MAX: usize = 500;
    let plain = |c: char| if c.is_control() { ' ' } else { c };
    let text = text.chars().map(plain).take(LENGTH_MAX).collect();
    Event { at: clock::now_ns(), kind: kind.to_owned(), text, scenario: None }
}

/// All that is known before the run.
fn info<S: Script>(
    context: &Context,
    (name, script): (&str, &S),
    plan: &Plan,
    settings: &RunSettings,
) -> RunInfo {
    let environment = context.environment.all();
    let path = Path::new(name);
    let folder = path.parent().filter(|folder| folder.is_dir()).unwrap_or(Path::new("."));
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let (scenarios, segment) = (&plan.consolidated.scenarios, &plan.consolidated.segment);
    let open_ended = scenarios
        .iter()
        .any(|scenario| matches!(scenario.executor, Executor::ExternallyControlled { .. }));
    // Steps of a search are told apart by slices of a second.
    let hour = Duration::from_hours(1);
    let longest = total_duration(scenarios, segment);
    let planned = if plan.is_search { longest.min(hour) } else { longest };
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let mut names: BTreeSet<String> = settings.script.env.keys().cloned().collect();
    names.extend(environment.keys().cloned());
    RunInfo {
        kind: "run".to_owned(),
        name: stem.filter(|stem| stem != "-").unwrap_or_else(|| "stdin".to_owned()),
        brunt: env!("CARGO_PKG_VERSION").to_owned(),
        script: Some(address(name)),
        sha256: Some(format!("{:x}", Sha256::digest(script.text().as_bytes()))),
        arguments: arguments::shown(std::env::args_os().skip(1)),
        options: arguments::options(plan.consolidated.to_inspect_json()),
        environment: names.into_iter().collect(),
        machine: Machine::read(),
        cores: settings.workers.unwrap_or(cores) as u64,
        seed: Some(plan.seed.cast_signed().to_string()),
        commit: commit(environment, folder),
        labels: settings.labels.clone(),
        sources: sources(script, settings.no_source),
        planned,
        open_ended: open_ended && !plan.is_search,
        scenarios: scenarios.iter().map(|scenario| described(scenario, segment)).collect(),
        summary: SummaryInfo {
            hides_own: !settings.lateness,
            routes: !settings.no_routes,
            failures: settings.show_failures,
            ..plan.summary_info()
        },
    }
}

/// The build's address may hold a password.
fn commit(environment: &BTreeMap<String, String>, folder: &Path) -> Commit {
    let commit = Commit::read(environment, folder);
    Commit { build: commit.build.map(|build| address(&build)), ..commit }
}

/// The files of the test, by their paths from where the main one lies.
fn sources<S: Script>(script: &S, no_source: bool) -> Vec<Source> {
    /// Longer texts are left out: data, not code.
    const TEXT_MAX: usize = 1 << 20;
    let files = script.sources();
    let base = files.first().and_then(|(url, _)| url.rsplit_once('/')).map_or("", |(base, _)| base);
    let source = |(url, text): &(String, Arc<str>)| {
        let path = url.strip_prefix(base).map_or(url.as_str(), |path| path.trim_start_matches('/'));
        let text = Some(text.to_string()).filter(|text| !no_source && text.len() <= TEXT_MAX);
        Source { path: address(path), text }
    };
    files.iter().map(source).collect()
}

/// A scenario as it is planned.
fn described(scenario: &Scenario, segment: &Segment) -> ScenarioInfo {
    let (first, stages) = match &scenario.executor {
        Executor::RampingVus { start_vus, stages, .. } => (*start_vus, &stages[..]),
        Executor::RampingArrivalRate { start_rate, stages, .. } => (*start_rate, &stages[..]),
        _ => (0, &[][..]),
    };
    let mut at = scenario.start_time;
    let mut from = first;
    let stages = stages.iter().map(|stage| {
        let start = at;
        at = at.saturating_add(stage.duration);
        let from = std::mem::replace(&mut from, stage.target);
        StageInfo { start, end: at, from: from as f64, to: stage.target as f64 }
    });
    ScenarioInfo {
        name: scenario.name.clone(),
        executor: scenario.executor.kind().to_owned(),
        text: scenario.describe(segment),
        start: scenario.start_time,
        end: scenario.start_time.saturating_add(scenario.executor.regular_duration()),
        stages: stages.collect(),
    }
}

/// Looks at the run, on the thread of the output.
#[derive(Debug)]
struct Probe {
    live: OnceLock<Live>,
    looks: Arc<Looks>,
    witness: Arc<Witness>,
    plans: Vec<Due>,
    stages: Vec<ScenarioInfo>,
    told: Mutex<Told>,
    /// Those that are in no slice yet.
    notes: Mutex<Vec<Event>>,
}

/// When the VUs or the iterations of a scenario are due.
#[derive(Debug)]
enum Due {
    Vus(ClosedPlan),
    Iterations(Arrivals),
    Nothing,
}

impl Due {
    /// Of all scenarios of a plan.
    fn all(plan: &Plan) -> Vec<Self> {
        let (scenarios, segment) = (&plan.consolidated.scenarios, &plan.consolidated.segment);
        let due = |scenario: &Scenario| match scenario.closed_plan(segment) {
            _ if matches!(scenario.executor, Executor::ExternallyControlled { .. }) => Due::Nothing,
            Some(plan) => Due::Vus(plan),
            None => scenario.arrivals(segment).map_or(Due::Nothing, Due::Iterations),
        };
        scenarios.iter().map(due).collect()
    }
}

/// The events that were told already.
#[derive(Debug, Default)]
struct Told {
    begun: BTreeSet<usize>,
    over: BTreeSet<usize>,
    stages: BTreeSet<(usize, usize)>,
    is_paused: bool,
    aborted: bool,
    wanted: BTreeMap<usize, (u64, u64)>,
}

impl Probe {
    fn new(plan: &Plan, info: &RunInfo, looks: Arc<Looks>, witness: Arc<Witness>) -> Self {
        Self {
            live: OnceLock::new(),
            looks,
            witness,
            plans: Due::all(plan),
            stages: info.scenarios.clone(),
            told: Mutex::default(),
            notes: Mutex::default(),
        }
    }

    fn told(&self) -> MutexGuard<'_, Told> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl RunWatch for Probe {
    fn now(&self) -> u64 {
        clock::now_ns()
    }

    fn started_at(&self) -> Option<u64> {
        self.live.get()?.control().started_at()
    }

    fn load(&self) -> Vec<Load> {
        let Some(live) = self.live.get() else { return Vec::new() };
        let states = live.scenarios().iter().zip(&self.plans).enumerate();
        states.map(|(place, (state, due))| load(place, state, due, clock::now_ns())).collect()
    }

    fn events(&self) -> Vec<Event> {
        let Some(live) = self.live.get() else { return Vec::new() };
        let progress = live.progress();
        let now = clock::now_ns();
        let mut told = self.told();
        let mut events = Vec::new();
        let mut say = |at: u64, kind: &str, text: String, scenario: Option<&str>| {
            let scenario = scenario.map(str::to_owned);
            events.push(Event { at, kind: kind.to_owned(), text, scenario });
        };
        for (place, (state, seen)) in live.scenarios().iter().zip(&progress.scenarios).enumerate() {
            let name = seen.name.as_str();
            let Some(start) = state.started_at().filter(|at| *at <= now) else { continue };
            if told.begun.insert(place) {
                say(start, "scenario", format!("{name} began"), Some(name));
            }
            for (n, stage) in self.stages[place].stages.iter().enumerate() {
                let at =
                    start + stage.start.saturating_sub(self.stages[place].start).as_nanos() as u64;
                if at <= now && told.stages.insert((place, n)) {
                    let (from, to) = (stage.from, stage.to);
                    say(
                        at,
                        "stage",
                        format!("stage {} of {name}: {from} to {to}", n + 1),
                        Some(name),
                    );
                }
            }
            if seen.kind == "externally-controlled" {
                let wanted = (state.vus_wanted(), state.vus_max());
                let before = told.wanted.insert(place, wanted);
                if before.is_some_and(|before| before != wanted) && !state.is_done() {
                    let text = format!("{} VUs of {}", wanted.0, wanted.1);
                    say(now, "scale", text, Some(name));
                }
            }
            if let Some(at) = state.ended_at()
                && told.over.insert(place)
            {
                let how = match seen.state {
                    ScenarioPhase::Interrupted => "was cut short",
                    _ => "ended",
                };
                say(at, "scenario", format!("{name} {how}"), Some(name));
            }
        }
        let is_paused = live.control().is_paused();
        if std::mem::replace(&mut told.is_paused, is_paused) != is_paused {
            let (kind, text) = if is_paused {
                ("pause", "the test is paused")
            } else {
                ("resume", "the test goes on")
            };
            say(now, kind, text.to_owned(), None);
        }
        if let Some(reason) =
            live.control().abort_reason().filter(|reason| **reason != AbortReason::Steered)
            && !std::mem::replace(&mut told.aborted, true)
        {
            say(now, "abort", reason.to_string(), None);
        }
        events.append(&mut self.notes.lock().unwrap_or_else(PoisonError::into_inner));
        events
    }

    fn evidence(&self) -> Evidence {
        self.witness.take()
    }

    fn health(&self) -> Option<Signals> {
        self.looks.take()
    }
}

fn load(place: usize, state: &ScenarioState, due: &Due, now: u64) -> Load {
    let started = state.started_at().filter(|at| *at <= now);
    let until = state.ended_at().unwrap_or(now);
    let past = started.map(|at| Duration::from_nanos(until.saturating_sub(at)));
    let is_over = state.is_done();
    let (vus_planned, iterations_planned) = match (due, past) {
        (Due::Vus(_), Some(_)) if is_over => (Some(0), None),
        (Due::Vus(plan), Some(past)) => (Some(vus_at(plan, past)), None),
        (Due::Vus(_), None) => (Some(0), None),
        (Due::Iterations(arrivals), past) => {
            let steered = || state.steered_so_far();
            (None, Some(past.map_or(0, |past| steered().unwrap_or_else(|| due_at(arrivals, past)))))
        }
        (Due::Nothing, _) => (Some(state.vus_wanted()), None),
    };
    let (begun, complete) = (state.begun(), state.complete());
    let active = state.vus_active();
    Load {
        scenario: place,
        vus_planned,
        vus_started: state.vus_allocated().max(active),
        vus_active: active,
        iterations_planned,
        iterations_started: begun,
        iterations_done: complete,
        // Before its end some of them are only on their way.
        iterations_interrupted: if is_over { begun.saturating_sub(complete) } else { 0 },
    }
}

/// VUs that are to iterate at this moment of the scenario.
fn vus_at(plan: &ClosedPlan, past: Duration) -> u64 {
    let is_in = |handle: &&brunt_schedule::HandlePlan| {
        handle.spans.iter().any(|span| span.start <= past && past < span.graceful_end)
    };
    plan.handles.iter().filter(is_in).count() as u64
}

/// Iterations that are due by this moment of the scenario.
pub(super) fn due_at(arrivals: &Arrivals, past: Duration) -> u64 {
    let (mut low, mut high) = (0, arrivals.count());
    while low < high {
        let middle = low + (high - low) / 2;
        if arrivals.due(middle).is_some_and(|due| due <= past) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}

/// `s`, `ms`, `us`
pub(super) fn time_unit(unit: Option<TimeUnit>) -> Option<String> {
    let text = match unit? {
        TimeUnit::Seconds => "s",
        TimeUnit::Milliseconds => "ms",
        TimeUnit::Microseconds => "us",
    };
    Some(text.to_owned())
}

#[cfg(test)]
mod tests {
    use brunt_schedule::Stage;

    use super::*;

    fn scenario(executor: Executor) -> Scenario {
        Scenario {
            name: "a".into(),
            executor,
            start_time: Duration::from_secs(2),
            graceful_stop: Duration::ZERO,
            exec: "default".into(),
            env: BTreeMap::new(),
            tags: BTreeMap::new(),
            warmup: Duration::ZERO,
            rhythm: brunt_schedule::Rhythm::default(),
        }
    }

    #[test]
    fn what_is_planned_follows_the_ramp() {
        let stage = |seconds, target| Stage { duration: Duration::from_secs(seconds), target };
        let ramp = scenario(Executor::RampingVus {
            start_vus: 0,
            stages: vec![stage(10, 10), stage(5, 10)],
            graceful_ramp_down: Duration::ZERO,
        });
        let plan = ramp.closed_plan(&Segment::full()).unwrap();
        let at = |seconds| vus_at(&plan, Duration::from_secs(seconds));
        assert_eq!((at(0), at(12), at(20)), (0, 10, 0));
        assert!((4..=6).contains(&at(5)), "{}", at(5));
        let shown = described(&ramp, &Segment::full());
        let second = Duration::from_secs(1);
        assert_eq!((shown.stages[1].start, shown.stages[1].end), (second * 12, second * 17));
        assert_eq!((shown.stages[0].from, shown.stages[0].to, shown.end), (0.0, 10.0, second * 17));
    }

    #[test]
    fn iterations_are_planned_by_the_second() {
        let rate = scenario(Executor::ConstantArrivalRate {
            rate: 50,
            time_unit: Duration::from_secs(1),
            duration: Duration::from_secs(10),
            pre_allocated_vus: 1,
            max_vus: 1,
        });
        let arrivals = rate.arrivals(&Segment::full()).unwrap();
        let at = |millis| due_at(&arrivals, Duration::from_millis(millis));
        assert_eq!((at(0), at(990), at(1000)), (1, 50, 51));
        assert_eq!(at(100_000), arrivals.count());
    }

    #[test]
    fn the_word_run_asks_for_the_file() {
        assert!(is_wanted(&["json".into(), "run=x".into()]) && is_wanted(&["run".into()]));
        assert!(!is_wanted(&["json=run".into()]));
    }
}
