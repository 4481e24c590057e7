//! `brunt agent`: makes its part of the load of tests that leaders lead.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Duration;

use brunt_cluster::{Fault, Plan, TakeOver};
use brunt_engine::RunReport;
use brunt_leases::Leases;
use brunt_summary::text::{self, Mode, TextOptions};

use self::test::Test;
use self::thread::{Input, Place};
use super::Meeting;
use crate::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::run::signal::SignalWatch;
use crate::run::{outcome, traces};

mod engine;
mod follower;
mod judged;
mod meters;
pub(super) mod settings;
mod steered;
mod substitute;
mod test;
mod thread;

pub(super) use self::thread::{host, pool_run};

/// `brunt agent`, as the command line asks for it.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) meeting: Meeting,
    /// `--index`: the seat that it must have.
    pub(crate) index: Option<u32>,
    /// `--once`: one test, then the end.
    pub(crate) once: bool,
    /// `--wait`: how long to wait for a plan.
    pub(crate) wait: Duration,
    /// Threads that carry VUs.
    pub(crate) workers: Option<usize>,
}

/// From the broker's thread to the main thread, which runs tests.
enum Order {
    /// Load this test and run it, as its leader says.
    Load(Box<ToLoad>),
    /// A test is over, or did not come about; whether it was this agent's last one.
    Over(End, bool),
    /// There will be no further test.
    Gone(Failure),
}

/// A test to load.
struct ToLoad {
    plan: Arc<Plan>,
    seat: u32,
    /// The load of another seat that is to be made.
    substitute: Option<TakeOver>,
    archive: Vec<u8>,
    /// The things that the runs of the test share.
    leases: Arc<Leases>,
}

/// How a test ended for this agent.
#[derive(Clone, Debug)]
struct End {
    code: u8,
    message: Option<String>,
    /// The leader is gone: the agent's own summary is better than none.
    own_summary: bool,
}

impl End {
    /// Whether the test had no need of this agent.
    fn is_spare(&self) -> bool {
        self.code == 0 && self.message.is_some()
    }
}

/// Serves leaders until it is told to end; with `--once`, one.
///
/// # Errors
/// The broker can't be used (112); with `--once`, what went wrong with the test.
pub(crate) fn perform(context: &Context, request: Request) -> Outcome<Exit> {
    crate::limits::raise_open_files();
    request.meeting.warn_if_open();
    let once = request.once;
    let workers = request.workers;
    let signals = SignalWatch::start(context.logging.flusher())?;
    let (orders, given): (SyncSender<Order>, Receiver<Order>) = sync_channel(4);
    let (beside, jobs) = sync_channel(4);
    let place = Place::of(context, request);
    let broker = thread::start(place, orders, beside)?;
    let told = broker.clone();
    // The first signal lets a test end in good order; without a test the process just ends.
    signals.call(Box::new(move |_| told.signal()));
    std::thread::scope(|scope| {
        scope.spawn(move || substitute::serve(context, &jobs, workers));
        serve(context, &broker, &given, (workers, once))
    })
}

/// Runs the tests that the broker's thread orders, one after the other.
fn serve(
    context: &Context,
    broker: &thread::Handle,
    given: &Receiver<Order>,
    (workers, once): (Option<usize>, bool),
) -> Outcome<Exit> {
    let mut last: Option<RunReport> = None;
    loop {
        match given.recv() {
            Ok(Order::Load(to_load)) => {
                let tell = |input| broker.send(input);
                last = run(context, &tell, &to_load, (workers, once));
            }
            Ok(Order::Over(end, is_last)) => {
                let report = last.take();
                if let Some(report) = report.filter(|_| end.own_summary) {
                    print_own_summary(context, &report);
                }
                let exit = Exit::of_code(i32::from(end.code));
                match end.message {
                    Some(message) if exit != Exit::Success && is_last => {
                        return Err(Failure::new(exit, anyhow::Error::msg(message)));
                    }
                    Some(message) if exit != Exit::Success => log::error!("{message}"),
                    Some(message) => log::info!("{message}"),
                    None => log::info!("the test is over"),
                }
                if is_last {
                    return Ok(exit);
                }
            }
            Ok(Order::Gone(failure)) => return Err(failure),
            Err(_) => return Ok(Exit::Success),
        }
    }
}

/// Loads a test and runs it until its leader lets it go.
fn run(
    context: &Context,
    tell: &dyn Fn(Input),
    to_load: &ToLoad,
    (workers, once): (Option<usize>, bool),
) -> Option<RunReport> {
    match Test::load(context, to_load, workers, once) {
        Err(failure) => {
            tell(Input::NotLoaded(fault(&failure)));
            None
        }
        Ok(test) => {
            let Test { run, relayed, loaded, outputs, judged, watchman, spans } = test;
            let engine = engine::Engine::new(run.live(), (relayed, judged), loaded);
            tell(Input::Begun(Box::new(engine)));
            let report = run.execute();
            drop(watchman);
            outputs.tell();
            if let Some(spans) = spans {
                traces::finish(spans);
            }
            if to_load.substitute.is_none() {
                context.logging.console_to(None);
            }
            let failure = report.failure.clone().map(outcome::failure);
            tell(Input::Ended(failure.map(|failure| fault(&failure))));
            Some(report)
        }
    }
}

/// A failure as the leader is told of it.
fn fault(failure: &Failure) -> Fault {
    let message = failure.message();
    let message = if message.is_empty() { "it failed without a word".to_owned() } else { message };
    Fault::new(failure.exit.code(), message)
}

fn print_own_summary(context: &Context, report: &RunReport) {
    let options = TextOptions {
        mode: Mode::Compact,
        colour: context.global.color && context.screen.stdout_is_terminal(),
        routes: true,
        failures: 3,
        ..TextOptions::default()
    };
    log::warn!("the leader is gone: this is the summary of this agent alone");
    let _ = context.screen.stdout(&text::surrounded(&text::render(&report.summary, &options)));
}
