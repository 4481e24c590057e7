//! `brunt find`: how much load a system bears, found while one run goes on.
//!
//! ```text
//!  request ──▶ Hunt ── scenarios (rates that are steered) ──▶ the run ── frames ──▶ window
//!              │ goal                                           ▲                     │ Measured
//!              └──▶ driver ── rate, VUs ────────────────────────┘                     ▼
//!                     ▲  └─────────────── brunt_find::Search ◀── Step ◀── judge ◀── driver
//!                     └── generator (were we the limit?)
//! ```
//!
//! VUs, connections and the result of `setup()` live through all steps; `teardown()` runs once, at the end.

use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;
use std::time::Duration;

use brunt_engine::{Live, RunConfig};
use brunt_metrics::Registry;
use brunt_options::Consolidated;

use self::{driver::Driver, goal::Goal, window::Window};
use crate::{
    Context,
    exit::Exit,
    failure::{Failure, Outcome},
    screen::Screen,
};

mod driver;
mod finding;
mod generator;
mod goal;
mod json;
mod notes;
mod request;
mod scenarios;
pub(crate) mod targets;
mod told;
mod window;

pub(crate) use self::{
    finding::Finding,
    request::{Form, Request},
};

/// A search that goes along with a run.
pub(crate) struct Hunt {
    request: Request,
    goals: Vec<Goal>,
    /// Thresholds that make no goals: a sentence about each.
    left_out: Vec<String>,
    /// Each scenario's part of the load, by its place in the run.
    shares: Vec<f64>,
    window: OnceLock<Arc<Window>>,
}

/// Notes for the run file: what a step is and how it ended.
pub(crate) type Notes = Box<dyn Fn(&str) + Send>;

impl Hunt {
    pub(crate) fn new(request: Request) -> Self {
        Self {
            request,
            goals: Vec::new(),
            left_out: Vec::new(),
            shares: Vec::new(),
            window: OnceLock::new(),
        }
    }

    /// Takes the rates of the scenarios into its own hands, and the thresholds for goals if there are no others.
    ///
    /// # Errors
    /// No goal, a goal that makes no sense (104), a test that is one of several parts (104).
    pub(crate) fn prepare(
        &mut self,
        consolidated: &mut Consolidated,
        registry: &Arc<Registry>,
        workers: Option<usize>,
    ) -> Outcome<()> {
        if consolidated.segment != brunt_schedule::Segment::full() {
            return Err(Failure::config("brunt find can't search with a part of a test")
                .hint("leave the option executionSegment out"));
        }
        (self.goals, self.left_out) = if self.request.goals.is_empty() {
            goal::of_thresholds(&consolidated.thresholds, registry)?
        } else {
            let texts = self.request.goals.iter();
            let goals = texts.map(|text| goal::parse(text, registry)).collect::<Outcome<_>>()?;
            (goals, Vec::new())
        };
        // They would judge the run as a whole, which is meant to break.
        consolidated.thresholds.clear();
        let (scenarios, shares) =
            scenarios::steered(&consolidated.scenarios, &self.request, workers);
        consolidated.scenarios = scenarios;
        self.shares = shares;
        Ok(())
    }

    /// Tells the engine that somebody steers, and listens.
    pub(crate) fn fill(&self, config: &mut RunConfig) {
        let window = Window::new(Arc::clone(&config.registry), &self.goals);
        config.listeners.push(window.listener());
        config.steered = true;
        config.paused = false;
        // There is one run for a search.
        let _ = self.window.set(window);
    }

    /// Searches on a thread of its own, until it knows or the run ends.
    ///
    /// # Errors
    /// The system gives no thread.
    pub(crate) fn start(
        &self,
        context: &Context,
        live: Live,
        notes: Notes,
    ) -> Outcome<JoinHandle<Finding>> {
        let window = self.window.get().expect("the engine was told before the run");
        let quiet = context.global.quiet;
        if !quiet {
            context.screen.stderr(&told::head(&self.request, &self.goals, &self.left_out));
        }
        let driver = Driver::new(
            live,
            self.request.clone(),
            (self.goals.clone(), self.shares.clone()),
            Arc::clone(window),
            driver::Voice { screen: (!quiet).then(|| Arc::clone(&context.screen)), notes },
        );
        let thread = std::thread::Builder::new().name("brunt-find".to_owned());
        Ok(thread.spawn(move || driver.drive())?)
    }

    /// Prints the result, and says how the command ends.
    ///
    /// # Errors
    /// stdout is closed or full.
    pub(crate) fn tell(&self, context: &Context, finding: &Finding) -> Outcome<Exit> {
        let screen: &Screen = &context.screen;
        let text = match self.request.form {
            Form::Json => finding.json_text(),
            Form::Terminal => {
                let color = context.global.color && screen.stdout_is_terminal();
                told::result(finding, crate::page::width(), color)
            }
        };
        crate::print::print(context, &text)?;
        Ok(finding.exit())
    }

    /// How long the search takes at most: the duration that its scenarios have.
    pub(crate) fn longest(request: &Request) -> Duration {
        // A confirmation that is measured for longer, and settles; recovery, and calm.
        let step = request.hold.saturating_mul(8) + request.recovery * 2 + Duration::from_mins(1);
        step.saturating_mul(request.steps_max as u32 + 1 + driver::AGAIN_ALL_MAX)
    }
}
