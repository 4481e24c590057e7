//! The main thread of a leader: takes measurements in, judges thresholds, draws.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use brunt_cluster::{Fault, Outcome as RunOutcome};
use brunt_engine::{AbortReason, Listener, RunReport};
use brunt_fiber::clock;
use brunt_metrics::{Frame, Ledger, Verdict};
use brunt_verdict::Level;
use tokio::sync::mpsc;

use super::agents::Agents;
use super::aside::Aside;
use super::screen::Drawer;
use super::thread::{Finish, Input, Told};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::run::outcome;
use crate::run::run_file::led::LedRun;

/// From one judgement of the thresholds to the next, as on one machine.
const JUDGE_EVERY: Duration = Duration::from_secs(2);

/// From one look at the thresholds in time to the next.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// How the test ended.
pub(super) enum End {
    /// As its leader says.
    Finished(Finish),
    /// It did not come about.
    Failed(Failure),
}

/// All of a test, when it is over.
pub(super) struct Whole {
    pub(super) report: RunReport,
    pub(super) agents: Agents,
    /// The exit code if the run ended otherwise than by its thresholds, and why.
    pub(super) code: Option<u8>,
    pub(super) message: Option<String>,
    /// From its start to its end, in Unix ns of the leader's clock.
    pub(super) times: (u64, u64),
    /// How far it can be trusted: known when it has been told.
    pub(super) level: Level,
    /// A leader before this one had begun to tell it.
    pub(super) was_told: bool,
}

/// Those who see all that is measured.
pub(super) struct Audience {
    pub(super) listeners: Vec<Box<dyn Listener>>,
    /// Metrics about the generators go to outputs alone.
    pub(super) aside: Option<Aside>,
    /// The run file, if there is one.
    pub(super) run: Option<Arc<LedRun>>,
}

/// The main thread.
pub(super) struct MainLoop {
    ledger: Option<Ledger>,
    audience: Audience,
    told: Receiver<Told>,
    inputs: mpsc::Sender<Input>,
    /// Since the start, thresholds in time are looked at for so long.
    regular: Duration,
    /// The last second of the scenarios that was looked at.
    looked: Duration,
    screen: Option<Drawer>,
    /// Unix ns.
    started: Option<u64>,
    is_aborted: bool,
    setup_data: Option<Arc<str>>,
    whole: Option<Whole>,
}

/// Ends the test in good order, as a signal does.
pub(super) fn signal(inputs: &mpsc::Sender<Input>, name: &str) {
    let reason = AbortReason::Signal { name: name.to_owned() };
    let fault = Fault::new(Exit::Signal.code(), reason.to_string());
    // Else the thread is gone, and the test with it.
    drop(inputs.try_send(Input::Abort(fault)));
}

impl MainLoop {
    pub(super) fn new(
        ledger: Ledger,
        audience: Audience,
        (told, inputs): (Receiver<Told>, mpsc::Sender<Input>),
        regular: Duration,
        screen: Option<Drawer>,
    ) -> Self {
        Self {
            ledger: Some(ledger),
            audience,
            told,
            inputs,
            regular,
            looked: Duration::ZERO,
            screen,
            started: None,
            is_aborted: false,
            setup_data: None,
            whole: None,
        }
    }

    /// There is nothing to tell: the outputs come to their end.
    pub(super) fn gives_up(&mut self) {
        for listener in &mut self.audience.listeners {
            listener.end(&Verdict::default());
        }
    }

    /// All of the test, if it began.
    pub(super) fn whole(&self) -> Option<&Whole> {
        self.whole.as_ref()
    }

    /// Runs until the test is over; `conclude` tells it.
    pub(super) fn run(&mut self, conclude: impl Fn(&mut Whole)) -> End {
        let has_looks = self.ledger.as_ref().is_some_and(Ledger::has_looks);
        let mut judge = Instant::now();
        loop {
            let now = Instant::now();
            if self.started.is_some() && now >= judge {
                judge = now + JUDGE_EVERY;
                self.judge();
            }
            let wait = Duration::from_millis(100);
            let told = match self.told.recv_timeout(wait) {
                Ok(told) => told,
                Err(RecvTimeoutError::Timeout) => continue,
                Err(RecvTimeoutError::Disconnected) => {
                    let told = "a fault in Brunt: the thread of the broker is gone";
                    return End::Failed(Failure::new(Exit::Panic, anyhow::anyhow!(told)));
                }
            };
            match told {
                Told::Leading => {}
                Told::Merge(mut frame, moment) => {
                    if frame.at == 0 {
                        frame.at = clock::now_ns();
                    }
                    self.take_in(*frame, moment);
                }
                Told::Whole(until) => {
                    if has_looks && !self.is_aborted {
                        self.look(until);
                    }
                }
                Told::Started(at) => {
                    self.started.get_or_insert(at);
                    if let Some(run) = &self.audience.run {
                        run.started(at);
                    }
                    // A leader that takes the run up again has not all values of the seconds before: windows begin anew.
                    self.looked = Duration::from_secs(self.elapsed().as_secs());
                    if let Some(ledger) = &mut self.ledger {
                        ledger.begin(self.looked);
                    }
                    judge = Instant::now() + JUDGE_EVERY;
                }
                Told::View(view) => {
                    if let Some(screen) = &mut self.screen {
                        screen.draw(&view);
                    }
                    if let Some(run) = &self.audience.run {
                        run.see(&view);
                    }
                }
                Told::Note(text) => {
                    if let Some(run) = &self.audience.run {
                        run.note(&text);
                    }
                }
                Told::Ask(answer) => {
                    // Once the ledger is closed, the API has its last summary.
                    if let Some(ledger) = &self.ledger {
                        drop(answer.send(ledger.summary(self.elapsed())));
                    }
                }
                Told::SetupData(data) => self.setup_data = Some(data),
                Told::Conclude(outcome) => {
                    if let Some(screen) = &mut self.screen {
                        screen.stop();
                    }
                    self.conclude(*outcome, &conclude);
                }
                Told::Finish(finish) => {
                    if let Some(screen) = &mut self.screen {
                        screen.stop();
                    }
                    return End::Finished(finish);
                }
                Told::Failed(failure) => return End::Failed(failure),
            }
        }
    }

    fn take_in(&mut self, mut frame: Frame, moment: Option<Duration>) {
        // It is of no core here.
        frame.core = u32::MAX;
        if let Some(aside) = &self.audience.aside {
            aside.take(&mut frame);
        }
        if let Some(ledger) = &mut self.ledger {
            ledger.absorb_at(&frame, moment);
        }
        let frame = Arc::new(frame);
        for listener in &mut self.audience.listeners {
            listener.frame(&frame);
        }
    }

    fn elapsed(&self) -> Duration {
        let started = self.started.unwrap_or(u64::MAX);
        Duration::from_nanos(clock::now_ns().saturating_sub(started))
    }

    /// Judges the thresholds that are not in time.
    fn judge(&mut self) {
        let elapsed = self.elapsed();
        let Some(ledger) = self.ledger.as_mut().filter(|_| !self.is_aborted) else { return };
        let verdict = ledger.evaluate(elapsed, false);
        self.obey(verdict);
    }

    /// Looks at those in time, at each second up to `until` at which iterations are begun.
    fn look(&mut self, until: Duration) {
        let whole = self.elapsed();
        while self.looked + LOOK_EVERY <= until.min(self.regular) {
            let Some(ledger) = self.ledger.as_mut() else { return };
            self.looked += LOOK_EVERY;
            let verdict = ledger.look_back(self.looked, whole.max(self.looked));
            self.obey(verdict);
        }
    }

    fn obey(&mut self, verdict: Verdict) {
        if verdict.abort && !self.is_aborted {
            self.is_aborted = true;
            let reason = AbortReason::Thresholds { crossed: verdict.crossed };
            let fault = Fault::new(Exit::Thresholds.code(), reason.to_string());
            drop(self.inputs.blocking_send(Input::Abort(fault)));
        }
    }

    fn conclude(&mut self, outcome: RunOutcome, tell: &impl Fn(&mut Whole)) {
        let started = self.started.unwrap_or_default();
        let times = (started, started.saturating_add(outcome.run_ns));
        if let Some(run) = &self.audience.run {
            run.over(times.1);
        }
        let run = Duration::from_nanos(outcome.run_ns);
        // All values are there. Of a test that was cut short the last seconds have none.
        // From here on no verdict ends the test: it is over.
        let is_cut = std::mem::replace(&mut self.is_aborted, true) || run < self.regular;
        let has_looks = self.ledger.as_ref().is_some_and(Ledger::has_looks);
        if !is_cut && has_looks && self.started.is_some() {
            self.look(run);
        }
        let Some(mut ledger) = self.ledger.take() else { return };
        let verdict = ledger.evaluate(run, true);
        for listener in &mut self.audience.listeners {
            listener.end(&verdict);
        }
        let report = self.report_of(&ledger, verdict, run);
        let agents = Agents::new(outcome.report, self.started);
        let mut whole = Whole {
            report,
            agents,
            code: outcome.code,
            message: outcome.message,
            times,
            level: Level::Ok,
            was_told: outcome.was_told,
        };
        tell(&mut whole);
        let crossed = outcome::of_run(&whole.report);
        let crossed = crossed.map(|failure| Fault::new(failure.exit.code(), failure.message()));
        self.whole = Some(whole);
        drop(self.inputs.blocking_send(Input::Concluded(crossed)));
    }

    fn report_of(&self, ledger: &Ledger, verdict: Verdict, run: Duration) -> RunReport {
        let summary = ledger.summary(run);
        let iterations = summary.metric("iterations").and_then(|metric| metric.values.get("count"));
        RunReport {
            summary,
            failure: None,
            abort: None,
            crossed: verdict.crossed,
            exit_code: verdict.exit_code,
            marked_failed: false,
            started: self.started.is_some(),
            iterations_complete: iterations.unwrap_or(0.0) as u64,
            iterations_interrupted: 0,
            duration: run,
            setup_data: self.setup_data.clone(),
            series: ledger.series_count(),
            cores: Vec::new(),
        }
    }
}
