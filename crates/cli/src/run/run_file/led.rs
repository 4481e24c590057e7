//! The run file of a test whose load is made by agents: its leader writes it.
//!
//! ```text
//! frames of all agents ─▶ main thread ─▶ output "run" ─▶ slices
//! beats, a picture of all agents each 200 ms ─▶ LedRun: load, and up to when all frames have come
//! ```
//!
//! A slice is written when the frames of all agents for it are there, or are not heard of for a while: a slow agent's second is
//! counted in its own slice.

use std::collections::{BTreeSet, VecDeque};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use brunt_cluster::{ScenarioLoad, Steering, Touch, View};
use brunt_engine::RunReport;
use brunt_fiber::clock;
use brunt_outputs::{RunFacts, RunFileHandle, RunWatch};
use brunt_runfile::exchange::Evidence;
use brunt_runfile::{AgentRow, Event, Load, ScenarioInfo};
use brunt_schedule::{Executor, Scenario};
use brunt_verdict::Verdict;

use super::{Closing, Due, close, due_at, info, noted, vus_at};
use crate::{
    Context,
    exit::Exit,
    run::{host::Script, plan::Plan},
    settings::RunSettings,
};

/// A slice waits for silent agents for so long, in nanoseconds.
const PATIENCE: u64 = 15_000_000_000;

/// Frames on their way from the main thread to the output, in nanoseconds.
const ON_THE_WAY: u64 = 700_000_000;

/// A slice is written so long after its end, in nanoseconds: as in the run file.
const GRACE: u64 = 300_000_000;

/// In nanoseconds.
const SECOND: u64 = 1_000_000_000;

/// Pictures that are kept: some more than slices may wait.
const PICTURES_MAX: usize = 100;

/// Notes that wait for a slice; more are left out.
const NOTES_MAX: usize = 200;

/// A run file in the making.
pub(crate) struct LedRecording {
    run: Arc<LedRun>,
    handle: RunFileHandle,
    has_thresholds: bool,
}

/// How the run ended.
pub(crate) struct LedEnd<'a> {
    pub(crate) report: &'a RunReport,
    pub(crate) exit: Exit,
    pub(crate) verdict: &'a Verdict,
    pub(crate) agents: &'a [AgentRow],
    /// Why it was cut short or is not whole.
    pub(crate) cut_short: Option<String>,
    /// Things that had no room or could not be read, by name.
    pub(crate) lost: &'a [(&'static str, u64)],
}

impl LedRecording {
    /// Gathers what is known before the run. The second part is for the outputs.
    pub(crate) fn prepare<S: Script>(
        context: &Context,
        (name, script): (&str, &S),
        plan: &Plan,
        settings: &RunSettings,
        seats: usize,
    ) -> (Self, RunFacts) {
        // The cores of the load are those of the agents.
        let info =
            brunt_runfile::RunInfo { cores: 0, ..info(context, (name, script), plan, settings) };
        let has_thresholds = info.summary.thresholds.iter().any(|set| !set.thresholds.is_empty());
        let run = Arc::new(LedRun {
            seats,
            plans: Due::all(plan),
            scenarios: info.scenarios.clone(),
            outside: plan.consolidated.scenarios.iter().map(outside).collect(),
            state: Mutex::default(),
        });
        let handle = RunFileHandle::default();
        let watch = Arc::clone(&run) as Arc<dyn RunWatch>;
        let facts = RunFacts { info: Arc::new(info), watch, handle: handle.clone() };
        (Self { run, handle, has_thresholds }, facts)
    }

    /// The file, once its output is open.
    pub(crate) fn path(&self) -> Option<PathBuf> {
        self.handle.path()
    }

    /// The run, to be told how it goes.
    pub(crate) fn run(&self) -> Arc<LedRun> {
        Arc::clone(&self.run)
    }

    /// Says in the file how the run ended; the file.
    pub(crate) fn end(&self, end: LedEnd<'_>) -> Option<PathBuf> {
        let LedEnd { report, exit, verdict, agents, cut_short, lost } = end;
        close(
            &self.handle,
            Closing {
                report,
                exit,
                verdict,
                has_thresholds: self.has_thresholds,
                finding: None,
                cut_short,
                agents,
                lost,
            },
        )
    }
}

/// The run as its leader sees it. Told on the main thread, asked on that of the output.
#[derive(Debug)]
pub(crate) struct LedRun {
    plans: Vec<Due>,
    scenarios: Vec<ScenarioInfo>,
    /// VUs of the script's scenarios that are controlled from outside.
    outside: Vec<Option<u64>>,
    /// Agents that the test wants; behind them are loads that were taken over.
    seats: usize,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Unix ns of the leader's clock.
    started: Option<u64>,
    /// All measurements until then have come.
    whole: u64,
    /// The last answer of `settled`.
    settled: u64,
    /// How the load was when a second was over.
    pictures: VecDeque<(u64, Vec<ScenarioLoad>)>,
    /// How it is now.
    latest: Vec<ScenarioLoad>,
    /// When the run ended: no more measurements come.
    ended: Option<u64>,
    notes: Vec<Event>,
    /// How it is steered from outside, and whether it was cut short.
    steering: Steering,
    is_cut_short: bool,
    /// Scenarios and stages that were told: begun, over, stages.
    begun: BTreeSet<usize>,
    over: BTreeSet<usize>,
    stages: BTreeSet<(usize, usize)>,
}

impl LedRun {
    /// The scenarios begin at this moment.
    pub(crate) fn started(&self, at: u64) {
        self.state().started.get_or_insert(at);
    }

    /// How things are.
    pub(crate) fn see(&self, view: &View) {
        let mut state = self.state();
        state.steered(view);
        let Some(started) = state.started else { return };
        let now = clock::now_ns();
        let until = view.seats.iter().filter_map(|seat| seat.whole_ns).min();
        let whole = until.map_or(now, |until| started.saturating_add(until));
        state.whole = state.whole.max(whole);
        // No agent tells of load: the leader is new, or they are done. No numbers are better than zeros.
        if view.seats.iter().all(|seat| seat.beat.load.is_empty()) {
            return;
        }
        let mut sums = vec![ScenarioLoad::default(); self.plans.len()];
        for (index, sum) in sums.iter_mut().enumerate() {
            let (mut there, mut over) = (0_u32, 0_u32);
            let loads = view.seats.iter().enumerate();
            let loads =
                loads.filter_map(|(place, seat)| Some((place, seat, seat.beat.load.get(index)?)));
            for (place, seat, load) in loads {
                // Those that are gone have no VUs, but what they began they began.
                if matches!(seat.touch, Touch::Alive | Touch::Suspect) {
                    sum.vus += load.vus;
                    sum.active += load.active;
                    there += 1;
                    over += u32::from(load.is_over);
                }
                // One that took a load over counts on from where the load was.
                let own = load.complete + load.active;
                sum.begun += if place < self.seats { load.begun } else { load.begun.min(own) };
                sum.complete += load.complete;
            }
            sum.is_over = there > 0 && over == there;
        }
        // One for each second, as soon as it is over: so the steps from one to the next are as long as a slice.
        let second = |at: u64| at.saturating_sub(started) / SECOND;
        if state.pictures.back().is_none_or(|(at, _)| second(*at) < second(now)) {
            if state.pictures.len() >= PICTURES_MAX {
                state.pictures.pop_front();
            }
            state.pictures.push_back((now, sums.clone()));
        }
        state.latest = sums;
    }

    /// All measurements have come; the run ended at this moment.
    pub(crate) fn over(&self, at: u64) {
        self.state().ended.get_or_insert(at);
    }

    /// Whether the run was ended before its time.
    pub(crate) fn is_cut_short(&self) -> bool {
        self.state().is_cut_short
    }

    /// Something happened that people want to know of later.
    pub(crate) fn note(&self, text: &str) {
        self.state().tell("agent", text);
    }

    /// Adds somebody's note, cut if it is long; false if there is no room for it before the next slice.
    pub(crate) fn remark(&self, text: &str) -> bool {
        self.state().tell("note", text)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn tell(&mut self, kind: &str, text: &str) -> bool {
        let has_room = self.notes.len() < NOTES_MAX;
        if has_room {
            self.notes.push(noted(kind, text));
        }
        has_room
    }

    /// Tells of what is done to the test from outside.
    fn steered(&mut self, view: &View) {
        let before = std::mem::replace(&mut self.steering, view.steering);
        let now = view.steering;
        if now.paused && !before.paused {
            self.tell("pause", "the test is paused");
        } else if before.paused && !now.paused {
            self.tell("resume", "the test goes on");
        }
        if let (Some(vus), Some(max)) = (now.vus, now.vus_max)
            && (now.vus, now.vus_max) != (before.vus, before.vus_max)
        {
            self.tell("scale", &format!("{vus} VUs of {max}"));
        }
        if view.is_cut_short && !std::mem::replace(&mut self.is_cut_short, true) {
            self.tell("abort", "the test is cut short");
        }
    }

    /// VUs that are to iterate in a scenario that is controlled from outside; `is_first`: it is the one that is scaled.
    fn wanted(&self, scripted: u64, is_first: bool) -> u64 {
        let scaled = self.steering.vus.filter(|_| is_first);
        if self.steering.paused { 0 } else { scaled.unwrap_or(scripted) }
    }
}

impl RunWatch for LedRun {
    fn now(&self) -> u64 {
        self.state().ended.unwrap_or_else(clock::now_ns)
    }

    fn started_at(&self) -> Option<u64> {
        self.state().started
    }

    fn settled(&self, at: u64) -> u64 {
        let mut state = self.state();
        let whole = state.whole.saturating_sub(ON_THE_WAY);
        let settled =
            if state.ended.is_some() { at } else { at.min(whole.max(at.saturating_sub(PATIENCE))) };
        state.settled = state.settled.max(settled);
        state.settled
    }

    fn load(&self) -> Vec<Load> {
        let state = self.state();
        let Some(started) = state.started else { return Vec::new() };
        // The slice that is written is some seconds old: so is its load.
        let over = state.settled.saturating_sub(started).saturating_sub(GRACE) / SECOND * SECOND;
        let end = started.saturating_add(over);
        let (at, sums) = match (state.ended, state.pictures.iter().find(|(at, _)| *at >= end)) {
            (Some(ended), _) => (ended, &state.latest),
            (None, Some((_, sums))) => (end, sums),
            (None, None) => (end, &state.latest),
        };
        let first = self.outside.iter().position(Option::is_some);
        let all = sums.iter().zip(&self.plans).zip(&self.scenarios).enumerate();
        all.map(|(place, ((sum, due), info))| {
            let mut load = load(place, *sum, due, info, (started, at));
            let scripted = self.outside[place].filter(|_| !sum.is_over);
            let wanted = scripted.map(|vus| state.wanted(vus, first == Some(place)));
            load.vus_planned = load.vus_planned.or(wanted);
            load
        })
        .collect()
    }

    fn events(&self) -> Vec<Event> {
        let mut state = self.state();
        let mut events = std::mem::take(&mut state.notes);
        let Some(started) = state.started else { return events };
        let until = state.settled;
        let at = |moment: Duration| started.saturating_add(clock::duration_ns(moment));
        let over: Vec<bool> = state.latest.iter().map(|sum| sum.is_over).collect();
        for (place, info) in self.scenarios.iter().enumerate() {
            let mut say = |at: u64, kind: &str, text: String| {
                let scenario = Some(info.name.clone());
                events.push(Event { at, kind: kind.to_owned(), text, scenario });
            };
            if at(info.start) <= until && state.begun.insert(place) {
                say(at(info.start), "scenario", format!("{} began", info.name));
            }
            for (n, stage) in info.stages.iter().enumerate() {
                if at(stage.start) <= until && state.stages.insert((place, n)) {
                    let (from, to, name) = (stage.from, stage.to, &info.name);
                    let text = format!("stage {} of {name}: {from} to {to}", n + 1);
                    say(at(stage.start), "stage", text);
                }
            }
            if over.get(place) == Some(&true) && state.over.insert(place) {
                say(clock::now_ns(), "scenario", format!("{} ended", info.name));
            }
        }
        events
    }

    fn evidence(&self) -> Evidence {
        Evidence::default()
    }
}

/// The VUs of a scenario that is controlled from outside.
fn outside(scenario: &Scenario) -> Option<u64> {
    match scenario.executor {
        Executor::ExternallyControlled { vus, .. } => Some(vus),
        _ => None,
    }
}

/// A scenario at a moment: the plan of the whole test, and what all agents told.
fn load(
    place: usize,
    sum: ScenarioLoad,
    due: &Due,
    info: &ScenarioInfo,
    (started, at): (u64, u64),
) -> Load {
    let began = started.saturating_add(clock::duration_ns(info.start));
    let past = at.checked_sub(began).map(Duration::from_nanos);
    let (vus_planned, iterations_planned) = match (due, past) {
        (Due::Vus(_), _) if sum.is_over => (Some(0), None),
        (Due::Vus(plan), Some(past)) => (Some(vus_at(plan, past)), None),
        (Due::Vus(_), None) => (Some(0), None),
        (Due::Iterations(arrivals), past) => {
            (None, Some(past.map_or(0, |past| due_at(arrivals, past))))
        }
        (Due::Nothing, _) => (None, None),
    };
    Load {
        scenario: place,
        vus_planned,
        vus_started: sum.vus.max(sum.active),
        vus_active: sum.active,
        iterations_planned,
        iterations_started: sum.begun,
        iterations_done: sum.complete,
        iterations_interrupted: if sum.is_over {
            sum.begun.saturating_sub(sum.complete)
        } else {
            0
        },
    }
}

#[cfg(test)]
mod tests {
    use brunt_cluster::{Beat, SeatView, Totals};

    use super::*;

    fn run() -> LedRun {
        let scenarios = vec![ScenarioInfo { name: "a".into(), ..ScenarioInfo::default() }];
        let outside = vec![Some(3)];
        LedRun { plans: vec![Due::Nothing], scenarios, outside, seats: 2, state: Mutex::default() }
    }

    fn seat(whole_ns: Option<u64>, begun: u64) -> SeatView {
        let load = ScenarioLoad { vus: 2, active: 1, begun, complete: begun, is_over: true };
        SeatView {
            agent: None,
            state: None,
            touch: Touch::Alive,
            beat: Beat { load: vec![load], ..Beat::default() },
            totals: Totals::default(),
            whole_ns,
        }
    }

    fn view(seats: Vec<SeatView>) -> View {
        View {
            step: None,
            since: 0,
            run_ns: None,
            steering: Steering::default(),
            is_cut_short: false,
            is_marked: false,
            seats,
        }
    }

    #[test]
    fn slices_wait_for_the_slowest_agent_and_not_for_ever() {
        let run = run();
        let start = clock::now_ns();
        run.started(start);
        run.see(&view(vec![seat(Some(9 * SECOND), 3), seat(Some(4 * SECOND), 5)]));
        let settled = |at: u64| run.settled(start + at * SECOND).saturating_sub(start);
        assert_eq!(settled(10), 4 * SECOND - ON_THE_WAY);
        assert_eq!(settled(100), 85 * SECOND);
        // It never goes back.
        assert_eq!(settled(11), 85 * SECOND);
    }

    #[test]
    fn what_is_done_from_outside_is_told() {
        let run = run();
        run.started(clock::now_ns());
        let mut view = view(vec![seat(None, 3)]);
        view.seats[0].beat.load[0].is_over = false;
        run.see(&view);
        assert_eq!(run.load()[0].vus_planned, Some(3));
        view.steering = Steering { vus: Some(5), vus_max: Some(8), ..Steering::default() };
        run.see(&view);
        assert_eq!(run.load()[0].vus_planned, Some(5));
        view.steering.paused = true;
        run.see(&view);
        assert_eq!(run.load()[0].vus_planned, Some(0));
        view.is_cut_short = true;
        run.see(&view);
        assert!(run.remark("a deploy"));
        let texts: Vec<String> = run.events().into_iter().map(|event| event.text).collect();
        let told = ["5 VUs of 8", "the test is paused", "the test is cut short", "a deploy"];
        assert_eq!(texts, told);
    }

    #[test]
    fn load_is_the_sum_of_all_agents() {
        let run = run();
        run.started(clock::now_ns());
        run.see(&view(vec![seat(None, 3), seat(None, 5)]));
        let load = run.load();
        assert_eq!((load[0].vus_started, load[0].vus_active, load[0].iterations_done), (4, 2, 8));
        run.see(&view(vec![seat(None, 3), seat(None, 6)]));
        run.see(&view(vec![seat(None, 3), seat(None, 7)]));
        run.over(clock::now_ns());
        assert_eq!(run.load()[0].iterations_started, 10);
        run.settled(u64::MAX);
        let texts: Vec<String> = run.events().into_iter().map(|event| event.text).collect();
        assert_eq!(texts, ["a began", "a ended"]);
    }
}
