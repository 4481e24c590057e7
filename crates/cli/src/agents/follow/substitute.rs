//! Loads of other agents, made beside the own one: each as a run of its own in this process.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, SyncSender};

use brunt_cluster::{AgentConfig, Fault, TakeOver};
use brunt_nats::Run;
use tokio::sync::mpsc;
use tokio::task::{JoinHandle, spawn_local};

use super::follower::Follower;
use super::thread::{EVENTS_WAITING, Input, attend};
use super::{End, ToLoad};
use crate::Context;
use crate::exit::Exit;

/// A run that is to be made beside the main thread's.
pub(super) struct Job {
    to_load: Box<ToLoad>,
    inputs: mpsc::Sender<Input>,
}

/// Makes runs, each on a thread of its own, until the thread of the broker is gone.
pub(super) fn serve(context: &Context, jobs: &Receiver<Job>, workers: Option<usize>) {
    std::thread::scope(|scope| {
        for Job { to_load, inputs } in jobs {
            let failed = inputs.clone();
            let body = move || {
                // The follower is gone: so is the run.
                let tell = |input| drop(inputs.blocking_send(input));
                let run = || super::run(context, &tell, &to_load, (workers, false));
                if catch_unwind(AssertUnwindSafe(run)).is_err() {
                    let text = "a fault in Brunt: the load of another agent ended in a panic";
                    tell(Input::Ended(Some(Fault::new(Exit::Panic.code(), text))));
                }
            };
            let thread = std::thread::Builder::new().name("brunt-substitute".to_owned());
            if let Err(error) = thread.spawn_scoped(scope, body) {
                let text = format!("no thread for the load of another agent: {error}");
                let fault = Fault::new(Exit::NotStarted.code(), text);
                drop(failed.blocking_send(Input::NotLoaded(fault)));
            }
        }
    });
}

/// The load of another agent, under way.
pub(super) struct Substitute {
    inputs: mpsc::Sender<Input>,
    task: JoinHandle<()>,
}

impl Substitute {
    /// Begins to make it. `config`: that of the agent of this process.
    pub(super) fn start(
        config: &AgentConfig,
        run: Run,
        takeover: TakeOver,
        beside: SyncSender<Job>,
    ) -> Self {
        let seat = takeover.seat;
        let config = AgentConfig { substitute: Some(takeover), index: None, ..config.clone() };
        let (events, mut heard) = mpsc::channel(EVENTS_WAITING);
        let (inputs, mut given) = mpsc::channel(16);
        let own = inputs.clone();
        let load = move |to_load| drop(beside.send(Job { to_load, inputs: own.clone() }));
        let mut follower = Follower::new(config, run, events, load);
        let task = spawn_local(async move {
            let end: End = attend(&mut follower, &mut heard, &mut given, |_| {}).await;
            match end.message {
                Some(message) if end.code != 0 => log::error!("seat {seat}: {message}"),
                Some(message) => log::info!("seat {seat}: {message}"),
                None => log::info!("seat {seat}: the test is over"),
            }
        });
        Self { inputs, task }
    }

    /// A signal came.
    pub(super) fn signal(&self) {
        drop(self.inputs.try_send(Input::Signal));
    }

    pub(super) fn is_over(&self) -> bool {
        self.task.is_finished()
    }
}
