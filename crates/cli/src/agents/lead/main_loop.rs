//! The main thread of a leader: takes measurements in, judges thresholds, draws.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use brunt_cluster::{Fault, Outcome as RunOutcome};
use brunt_engine::{AbortReason, Listener, RunReport};
use brunt_fiber::clock;
use brunt_metrics::{Ledger, Verdict};
use tokio::sync::mpsc;

use super::agents::Agents;
use super::screen::Drawer;
use super::thread::{Finish, Input, Told};
use crate::exit::Exit;
use crate::failure::Failure;

/// From one judgement of the thresholds to the next, as on one machine.
const JUDGE_EVERY: Duration = Duration::from_secs(2);

/// From one look at the thresholds in time to the next.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Looks come so much later than the values that they see: these are on their way. An agent that is silent for longer is shown.
const LOOK_BACK: Duration = Duration::from_secs(3);

/// Agents tell what they measured in a second together. `at` is the end of it.
const HALF: Duration = Duration::from_millis(500);

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
}

/// The main thread.
pub(super) struct MainLoop {
    ledger: Option<Ledger>,
    listener: Box<dyn Listener>,
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
        listener: Box<dyn Listener>,
        (told, inputs): (Receiver<Told>, mpsc::Sender<Input>),
        regular: Duration,
        screen: Option<Drawer>,
    ) -> Self {
        Self {
            ledger: Some(ledger),
            listener,
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

    /// The report, if the test began.
    pub(super) fn report(&self) -> Option<&RunReport> {
        self.whole.as_ref().map(|whole| &whole.report)
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
            if self.started.is_some() && has_looks && !self.is_aborted {
                self.look(self.elapsed().saturating_sub(LOOK_BACK));
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
                Told::Merge(mut frame) => {
                    if frame.at == 0 {
                        frame.at = clock::now_ns();
                    }
                    if let Some(ledger) = &mut self.ledger {
                        let since = self.started.and_then(|started| frame.at.checked_sub(started));
                        let since = since.map(Duration::from_nanos);
                        ledger.absorb_at(&frame, since.map(|since| since.saturating_sub(HALF)));
                    }
                    self.listener.frame(&Arc::new(*frame));
                }
                Told::Started(at) => {
                    self.started.get_or_insert(at);
                    // A leader that takes the run up again has not all values of the seconds before.
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
                }
                Told::SetupData(data) => self.setup_data = Some(Arc::from(data)),
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
        let whole = self.elapsed().saturating_sub(HALF);
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
        let run = Duration::from_nanos(outcome.run_ns);
        // All values are there. Of a test that was cut short the last seconds have none.
        let is_cut = std::mem::replace(&mut self.is_aborted, true) || run < self.regular;
        let has_looks = self.ledger.as_ref().is_some_and(Ledger::has_looks);
        if !is_cut && has_looks && self.started.is_some() {
            self.look(run);
        }
        let Some(mut ledger) = self.ledger.take() else { return };
        let verdict = ledger.evaluate(run, true);
        self.listener.end(&verdict);
        let report = self.report_of(&ledger, verdict, run);
        let agents = Agents::new(outcome.report, self.started);
        let mut whole = Whole { report, agents };
        tell(&mut whole);
        self.whole = Some(whole);
        drop(self.inputs.blocking_send(Input::Concluded));
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
