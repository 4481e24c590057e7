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
        screen: Option<Drawer>,
    ) -> Self {
        Self {
            ledger: Some(ledger),
            listener,
            told,
            inputs,
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
                Told::Merge(mut frame) => {
                    if frame.at == 0 {
                        frame.at = clock::now_ns();
                    }
                    if let Some(ledger) = &mut self.ledger {
                        ledger.absorb(&frame);
                    }
                    self.listener.frame(&Arc::new(*frame));
                }
                Told::Started(at) => {
                    self.started.get_or_insert(at);
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

    /// Judges the thresholds: none is in time.
    fn judge(&mut self) {
        let elapsed = self.elapsed();
        let Some(ledger) = self.ledger.as_mut().filter(|_| !self.is_aborted) else { return };
        let verdict = ledger.evaluate(elapsed, false);
        if verdict.abort {
            self.is_aborted = true;
            let reason = AbortReason::Thresholds { crossed: verdict.crossed };
            let fault = Fault::new(Exit::Thresholds.code(), reason.to_string());
            drop(self.inputs.blocking_send(Input::Abort(fault)));
        }
    }

    fn conclude(&mut self, outcome: RunOutcome, tell: &impl Fn(&mut Whole)) {
        let Some(mut ledger) = self.ledger.take() else { return };
        let run = Duration::from_nanos(outcome.run_ns);
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
