//! Carries out what the search asks for: sets the load, waits, measures, lets the system recover.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use brunt_engine::{AbortReason, Live, Phase};
use brunt_find::{Bounds, End, Measured, Next, Purpose, Recovering, Search, Step, Trial};

use super::{Finding, Notes, Request, generator::Clocks, goal::Goal, told, window::Window};
use crate::screen::Screen;

mod load;
mod measure;
mod pause;

/// A confirmation takes this many times as long.
const LONGER: u32 = 2;

/// A step is begun again with more VUs at most this often.
const GROWTHS_MAX: u32 = 4;

/// Part of the iterations that may find no VU.
const DROPPED: f64 = 0.01;

/// A climb that misses a goal by this factor has left the limit far behind.
const FAR: f64 = 20.0;

/// How long iterations under way may go on at the end.
const FINISHING: Duration = Duration::from_secs(5);

/// A step that other programs disturbed is done again at most this often.
const AGAIN_MAX: u32 = 2;

/// All steps of a search together at most this often.
pub(super) const AGAIN_ALL_MAX: u32 = 5;

/// Whether a step says nothing of the system because other programs took the CPUs. One that held did so all the same, and no
/// calm would save a climb that is far beyond a goal.
fn is_disturbed(step: &Step) -> bool {
    let is_far = step.trial.purpose == Purpose::Climb && step.measured.strain() >= FAR;
    step.measured.is_disturbed && !step.held() && !is_far
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
    /// Steps that other programs disturbed, however often they were done again.
    disturbed: usize,
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
            disturbed: 0,
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
        let finding = Finding::new(&self.request, &self.goals, &self.search, end).with(
            self.stretches.clone(),
            self.slow.clone(),
            self.disturbed,
        );
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
        let mut again_all = 0;
        while let Next::Hold(trial) = self.search.next() {
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
            let mut again = 0;
            let step = loop {
                let Some(measured) = self.hold(trial, number)? else { return Ok(()) };
                let outcome = self.search.judge(trial, &measured);
                let step = Step { trial, measured, outcome };
                if !is_disturbed(&step) || again_all >= AGAIN_ALL_MAX {
                    break step;
                }
                if again >= AGAIN_MAX {
                    // It stays so: the target, perhaps, on the same CPUs.
                    again_all = AGAIN_ALL_MAX;
                    break step;
                }
                (again, again_all) = (again + 1, again_all + 1);
                self.stretches.pop();
                self.put_off(&step, number)?;
            };
            self.disturbed += usize::from(is_disturbed(&step));
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
            let seen = self.measure(hold, trial, number)?;
            let elapsed = start.elapsed();
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
