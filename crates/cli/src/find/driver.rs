//! Carries out what the search asks for: sets the load, waits, measures, lets the system recover.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use brunt_engine::{AbortReason, Live, Phase};
use brunt_find::{
    Bounds, End, Look, Measured, Next, Purpose, Recovering, Recovery, Search, Step, Trial, judge,
};

use super::{
    Finding, Notes, Request,
    generator::{self, Clocks},
    goal::Goal,
    scenarios::dealt,
    told,
    window::{Seen, Window},
};
use crate::screen::Screen;

/// The beginning of a step that is not measured, as a part of its hold.
const SETTLING: f64 = 0.25;

/// Nor longer than this.
const SETTLING_MAX: Duration = Duration::from_secs(10);

/// But as long as this many mean iterations.
const LONGEST: f64 = 1.25;

/// A confirmation takes this many times as long.
const LONGER: u32 = 2;

/// A step is begun again with more VUs at most this often.
const GROWTHS_MAX: u32 = 4;

/// Part of the iterations that may find no VU.
const DROPPED: f64 = 0.01;

/// A goal that is missed by this factor needs no second half of its hold.
const HOPELESS: f64 = 3.0;

/// Iterations are taken to last this long before the first has ended, in milliseconds.
const UNKNOWN_MS: f64 = 250.0;

/// How long iterations under way may go on at the end.
const FINISHING: Duration = Duration::from_secs(5);

/// Whether the climb ended by so little that it may have been a hiccup of the machine: all that follows hangs on this step.
fn is_narrow_miss(step: &Step) -> bool {
    step.broke()
        && step.trial.purpose == Purpose::Climb
        && step.measured.good > 0.0
        && step.measured.strain() < HOPELESS
}

/// Where the driver tells of itself.
pub(super) struct Voice {
    /// Lines for people; none if they want it quiet.
    pub(super) screen: Option<Arc<Screen>>,
    /// The events of the run file.
    pub(super) notes: Notes,
}

/// Drives one search.
pub(super) struct Driver {
    live: Live,
    request: Request,
    goals: Vec<Goal>,
    shares: Vec<f64>,
    window: Arc<Window>,
    voice: Voice,
    search: Search,
    begun: Instant,
    /// When each step was measured, in seconds of the run.
    stretches: Vec<(f64, f64)>,
    /// Before which steps the system had not become itself again.
    slow: Vec<usize>,
    /// The mean time of the latest iterations, in milliseconds.
    iteration_ms: Option<f64>,
}

/// The run is over, or being cut short: whoever notices leaves everything as it is.
struct Over;

impl Driver {
    pub(super) fn new(
        live: Live,
        request: Request,
        (goals, shares): (Vec<Goal>, Vec<f64>),
        window: Arc<Window>,
        voice: Voice,
    ) -> Self {
        let bounds = Bounds {
            from: request.from,
            // A hold that has fewer than ten iterations says nothing.
            least: if request.by_vus {
                1.0
            } else {
                (10.0 / request.hold.as_secs_f64()).min(request.from)
            },
            max: request.max,
            precision: request.precision,
            is_whole: request.by_vus,
            steps_max: request.steps_max,
        };
        Self {
            live,
            request,
            goals,
            shares,
            window,
            voice,
            search: Search::new(bounds),
            begun: Instant::now(),
            stretches: Vec::new(),
            slow: Vec::new(),
            iteration_ms: None,
        }
    }

    /// Searches until it knows, or until the run ends; then ends the run.
    pub(super) fn drive(mut self) -> Finding {
        if self.wait_for_start().and_then(|()| self.search()).is_err() {
            self.search.stop(End::Stopped);
        }
        self.status(None);
        let end = match self.search.next() {
            Next::End(end) => end,
            Next::Hold(_) => End::Stopped,
        };
        let finding = Finding::new(&self.request, &self.goals, &self.search, end)
            .with(self.stretches.clone(), self.slow.clone());
        (self.voice.notes)(&format!("search: {}", finding.headline()));
        self.end_run();
        finding
    }

    fn is_over(&self) -> bool {
        let control = self.live.control();
        control.is_aborting() || control.phase() >= Phase::Teardown
    }

    /// Waits until the scenarios run.
    fn wait_for_start(&mut self) -> Result<(), Over> {
        let has_begun = |live: &Live| {
            live.control().phase() == Phase::Running
                && live.scenarios().iter().all(|state| state.started_at().is_some())
        };
        while !has_begun(&self.live) {
            self.wait(Duration::from_millis(20))?;
        }
        let started = self.live.control().run_duration();
        self.begun = Instant::now().checked_sub(started).unwrap_or_else(Instant::now);
        Ok(())
    }

    /// Waits, unless the run ends.
    fn wait(&self, time: Duration) -> Result<(), Over> {
        /// From one look whether the run goes on to the next.
        const LOOK: Duration = Duration::from_millis(100);
        let until = Instant::now() + time;
        loop {
            if self.is_over() {
                return Err(Over);
            }
            let now = Instant::now();
            if now >= until {
                return Ok(());
            }
            self.window.wait(until.min(now + LOOK));
        }
    }

    fn search(&mut self) -> Result<(), Over> {
        // The load of a step that is done again.
        let mut again = None;
        while let Next::Hold(trial) = self.search.next() {
            self.search.begin(trial);
            let number = self.search.steps().len() + 1;
            if self.search.steps().last().is_some_and(Step::broke) {
                match self.recover(number)? {
                    Recovering::Down => {
                        self.search.stop(End::Fallen);
                        break;
                    }
                    Recovering::Slow => self.slow.push(self.search.steps().len()),
                    Recovering::Recovered | Recovering::Wait => {}
                }
            }
            (self.voice.notes)(&format!("step {number}: {}", self.request.load(trial.load)));
            let Some(measured) = self.hold(trial, number)? else { break };
            let lowest = self.search.lowest().map(|step| step.measured.clone());
            let outcome = judge(&measured, lowest.as_ref());
            let step = Step { trial, measured, outcome };
            if is_narrow_miss(&step) && again != Some(trial.load) {
                again = Some(trial.load);
                self.stretches.pop();
                let load = self.request.load(trial.load);
                self.say(&format!(
                    "      {load:>8}  {}: by little, once more\n",
                    told::word(&step)
                ));
                continue;
            }
            let line = told::line(&self.request, number, &step);
            (self.voice.notes)(&format!("step {number}: {}", told::word(&step)));
            self.status(None);
            self.say(&line);
            self.search.take(step);
        }
        Ok(())
    }

    /// Holds a load and measures; none if a VU that is needed can't be made.
    fn hold(&mut self, trial: Trial, number: usize) -> Result<Option<Measured>, Over> {
        let hold = match trial.purpose {
            Purpose::Confirm => self.request.hold.saturating_mul(LONGER),
            _ => self.request.hold,
        };
        let mut growths = 0;
        loop {
            if let Err(why) = self.set_load(trial.load) {
                self.wait(Duration::ZERO)?;
                self.search.stop(End::Generator(format!("a VU can't be made: {why}")));
                return Ok(None);
            }
            let seen = self.settle(trial, number)?;
            if growths < GROWTHS_MAX && self.lacks_vus(&seen) && self.grow(trial.load) {
                growths += 1;
                continue;
            }
            let (clocks, due) = (Clocks::read(), self.due());
            let start = Instant::now();
            self.window.begin();
            self.measure(hold, trial, number)?;
            let elapsed = start.elapsed();
            let seen = self.window.seen(elapsed, &self.goals);
            if growths < GROWTHS_MAX && self.lacks_vus(&seen) && self.grow(trial.load) {
                growths += 1;
                continue;
            }
            let from = start.duration_since(self.begun).as_secs_f64();
            self.stretches.push((from, from + elapsed.as_secs_f64()));
            self.iteration_ms = seen.iteration_ms.or(self.iteration_ms);
            let due = due.and_then(|before| Some(self.due()? - before));
            return Ok(Some(self.measured(&seen, elapsed, due, &clocks)));
        }
    }

    /// Waits until the load has settled: at first fewer iterations end than begin, for as long as one takes.
    fn settle(&mut self, trial: Trial, number: usize) -> Result<Seen, Over> {
        let usual = self.request.hold.mul_f64(SETTLING).min(SETTLING_MAX);
        let most = self.request.hold + SETTLING_MAX;
        let (begun, mut until) = (Instant::now(), usual);
        self.window.begin();
        loop {
            self.wait_telling(until.saturating_sub(begun.elapsed()), |left| {
                format!("step {number}: {}, settling, {left}", self.request.load(trial.load))
            })?;
            let seen = self.window.seen(begun.elapsed(), &self.goals);
            self.iteration_ms = self.iteration_ms.or(seen.iteration_ms);
            let lowest = self.search.lowest().and_then(|step| step.measured.iteration_ms);
            let each_ms = lowest.or(seen.iteration_ms);
            let wanted = each_ms
                .map_or(until + usual, |ms| Duration::from_secs_f64(ms * LONGEST / 1000.0))
                .clamp(usual, most);
            if until >= wanted {
                return Ok(seen);
            }
            until = wanted;
        }
    }

    /// Waits for the end of the hold, or for as much of it as a hopeless step needs.
    fn measure(&self, hold: Duration, trial: Trial, number: usize) -> Result<(), Over> {
        let parts = 4;
        for part in 0..parts {
            self.wait_telling(hold / parts, |left| {
                let left = if part + 1 == parts { left } else { String::new() };
                let what = match trial.purpose {
                    Purpose::Confirm => "confirming",
                    _ => "measuring",
                };
                let part = part + 1;
                let comma = if left.is_empty() { "" } else { ", " };
                format!(
                    "step {number}: {}, {what} {part}/{parts}{comma}{left}",
                    self.request.load(trial.load)
                )
            })?;
            if part + 1 >= parts / 2 && part + 1 < parts {
                let seen = self.window.seen(hold / parts * (part + 1), &self.goals);
                let measured = Measured { goals: seen.goals, ..Measured::default() };
                if measured.strain() >= HOPELESS {
                    break;
                }
            }
        }
        Ok(())
    }

    fn measured(
        &self,
        seen: &Seen,
        elapsed: Duration,
        due: Option<f64>,
        clocks: &Clocks,
    ) -> Measured {
        let seconds = elapsed.as_secs_f64().max(1e-9);
        let per_second = |count: f64| count / seconds;
        let (generator, late_ms) = generator::verdict(clocks, seen);
        Measured {
            seconds,
            due: due.map(per_second),
            dropped: per_second(seen.dropped),
            finished: per_second(seen.finished),
            good: per_second(seen.good),
            failed: per_second(seen.failed),
            latency_ms: seen.latency_ms,
            median_ms: seen.median_ms,
            iteration_ms: seen.iteration_ms,
            vus: self.live.control().vus_active(),
            vus_at_limit: self.has_all_vus().then_some(self.request.vus_max),
            late_ms,
            generator,
            goals: seen.goals.clone(),
        }
    }

    /// Lets the system become itself again under a light load.
    fn recover(&mut self, number: usize) -> Result<Recovering, Over> {
        let Some(lowest) = self.search.lowest() else { return Ok(Recovering::Recovered) };
        let usual = Look {
            good: lowest.measured.good,
            failed: lowest.measured.failed,
            median_ms: lowest.measured.median_ms,
        };
        let probe = self.search.bounds().from.min(lowest.trial.load);
        let mut recovery = Recovery::new(usual, self.request.recovery.as_secs_f64());
        let begun = Instant::now();
        if self.set_load(probe).is_err() {
            self.wait(Duration::ZERO)?;
        }
        // Long enough for a few answers.
        let look = (5.0 / probe.max(0.1)).clamp(0.25, 2.0);
        let look = if self.request.by_vus { 1.0 } else { look };
        loop {
            self.window.begin();
            self.wait_telling(Duration::from_secs_f64(look), |_| {
                format!(
                    "before step {number}: {} until it is itself again, {} s",
                    self.request.load(probe),
                    begun.elapsed().as_secs()
                )
            })?;
            let seen = self.window.seen(Duration::from_secs_f64(look), &self.goals);
            let seen = Look { good: seen.good, failed: seen.failed, median_ms: seen.median_ms };
            match recovery.look(begun.elapsed().as_secs_f64(), seen) {
                Recovering::Wait => {}
                state => return Ok(state),
            }
        }
    }

    /// Iterations that were due so far, of all scenarios; none where VUs are the load.
    fn due(&self) -> Option<f64> {
        let all = self.live.scenarios().iter().map(|state| state.steered_so_far());
        all.sum::<Option<u64>>().map(|due| due as f64)
    }

    fn set_load(&self, load: f64) -> Result<(), String> {
        if self.request.by_vus {
            let parts = dealt(load as u64, &self.shares);
            for (scenario, vus) in parts.into_iter().enumerate() {
                self.live.let_iterate(scenario, vus)?;
            }
            return Ok(());
        }
        for (scenario, share) in self.shares.iter().enumerate() {
            let wanted = self.vus_for(load * share).min(self.vus_max(scenario));
            self.live.have_vus(scenario, wanted)?;
        }
        for (scenario, share) in self.shares.iter().enumerate() {
            self.live.set_rate(scenario, load * share);
        }
        Ok(())
    }

    fn vus_max(&self, scenario: usize) -> u64 {
        self.live.scenarios().get(scenario).map_or(0, |state| state.vus_max())
    }

    /// VUs for this rate of iterations: as they last now, and with room for what the goals allow. An overloaded
    /// system would take any number of them, and show nothing more.
    fn vus_for(&self, rate: f64) -> u64 {
        let now = self.iteration_ms.unwrap_or(UNKNOWN_MS);
        let lowest = self.search.lowest().and_then(|step| step.measured.iteration_ms);
        let usual = lowest.unwrap_or(now).min(now);
        let limits = self.goals.iter().filter(|goal| goal.is_time).filter_map(Goal::limit);
        let room = limits.fold(f64::INFINITY, f64::min).min(usual * 4.0 + 100.0);
        let each_ms = (usual * 2.0).max(usual + room);
        (rate * each_ms / 1000.0).ceil() as u64 + 5
    }

    /// Whether iterations find no VU though the goals hold.
    fn lacks_vus(&self, seen: &Seen) -> bool {
        let all = seen.finished + seen.dropped;
        !self.request.by_vus
            && seen.dropped > all * DROPPED
            && seen.goals.iter().all(|goal| goal.holds || goal.value.is_none())
    }

    fn has_all_vus(&self) -> bool {
        let has_all =
            |state: &Arc<brunt_engine::ScenarioState>| state.vus_allocated() >= state.vus_max();
        !self.request.by_vus && self.live.scenarios().iter().all(has_all)
    }

    /// Makes half as many VUs again; false if there may be no more.
    fn grow(&self, load: f64) -> bool {
        let mut has_grown = false;
        for (scenario, share) in self.shares.iter().enumerate() {
            let Some(state) = self.live.scenarios().get(scenario) else { continue };
            let (now, most) = (state.vus_allocated(), state.vus_max());
            let wanted = (now + now / 2 + (load * share).ceil() as u64 / 4 + 1).min(most);
            if wanted > now && self.live.have_vus(scenario, wanted).is_ok() {
                has_grown = true;
            }
        }
        has_grown
    }

    /// Ends the run in good order: nothing starts any more, what is under way may end, `teardown()` follows.
    fn end_run(&self) {
        if self.is_over() {
            return;
        }
        for scenario in 0..self.shares.len() {
            if self.request.by_vus {
                drop(self.live.let_iterate(scenario, 0));
            } else {
                self.live.end_course(scenario);
            }
        }
        let until = Instant::now() + FINISHING;
        while Instant::now() < until && !self.is_over() && self.live.control().vus_active() > 0 {
            self.window.wait(Instant::now() + Duration::from_millis(20));
        }
        if self.request.by_vus || self.live.control().vus_active() > 0 {
            self.live.control().abort(AbortReason::Steered);
        }
    }

    /// Waits, and shows what for.
    fn wait_telling(&self, time: Duration, text: impl Fn(String) -> String) -> Result<(), Over> {
        let until = Instant::now() + time;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return self.wait(Duration::ZERO);
            }
            self.status(Some(&text(format!("{} s left", left.as_secs() + 1))));
            self.wait(left.min(Duration::from_millis(500)))?;
        }
    }

    fn say(&self, line: &str) {
        if let Some(screen) = &self.voice.screen {
            screen.stderr(line);
        }
    }

    /// The line at the bottom of a terminal; none takes it away.
    fn status(&self, text: Option<&str>) {
        let Some(screen) = &self.voice.screen else { return };
        if !screen.stdout_is_terminal() || self.request.form == super::Form::Json {
            return;
        }
        let mut line = String::new();
        if let Some(text) = text {
            let width = crate::page::width().saturating_sub(1);
            let shown: String = format!("  {text}").chars().take(width).collect();
            // Writing to a String can't fail.
            let _ = writeln!(line, "{shown}");
        }
        screen.draw(line);
    }
}
