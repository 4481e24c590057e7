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
use crate::run::run_file::led::LedRun;

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
    /// The exit code if the run ended otherwise than by its thresholds, and why.
    pub(super) code: Option<u8>,
    pub(super) message: Option<String>,
    /// From its start to its end, in Unix ns of the leader's clock.
    pub(super) times: (u64, u64),
    /// How far it can be trusted: known when it has been told.
    pub(super) level: Level,
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
        screen: Option<Drawer>,
    ) -> Self {
        Self {
            ledger: Some(ledger),
            audience,
            told,
            inputs,
            screen,
            started: None,
            is_aborted: false,
            setup_data: None,
            whole: None,
        }
    }

    /// All of the test, if it began.
    pub(super) fn whole(&self) -> Option<&Whole> {
        self.whole.as_ref()
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
                    self.take_in(*frame);
                }
                Told::Started(at) => {
                    self.started.get_or_insert(at);
                    if let Some(run) = &self.audience.run {
                        run.started(at);
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

    fn take_in(&mut self, mut frame: Frame) {
        // It is of no core here.
        frame.core = u32::MAX;
        if let Some(aside) = &self.audience.aside {
            aside.take(&mut frame);
        }
        if let Some(ledger) = &mut self.ledger {
            ledger.absorb(&frame);
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
        let started = self.started.unwrap_or_default();
        let times = (started, started.saturating_add(outcome.run_ns));
        if let Some(run) = &self.audience.run {
            run.over(times.1);
        }
        let run = Duration::from_nanos(outcome.run_ns);
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
        };
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
