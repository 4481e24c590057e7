//! The broker's thread of a leader: one connection, one machine.

use std::sync::Arc;
use std::sync::mpsc::SyncSender;
use std::thread::JoinHandle;
use std::time::Duration;

use brunt_cluster::{
    Fault, Key, LeaderConfig, LeaderEvent, Nanos, Outcome as RunOutcome, Plan, Stored, View, Wish,
};
use brunt_leases::Leases;
use brunt_metrics::{Frame, Summary};
use brunt_nats::{Broker, Run};
use tokio::sync::{mpsc, oneshot};

use super::conductor::conduct;
use super::led::Led;
use super::pool;
use crate::agents::Meeting;
use crate::agents::broker::{self, REACH};
use crate::agents::{digest, shared};
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};

/// The largest stored checkpoint, in bytes.
const CHECKPOINT_MAX: u64 = 1 << 30;

/// From the main thread.
pub(super) enum Input {
    /// End the test.
    Abort(Fault),
    /// The summary is told; with the fault of crossed thresholds, if some are crossed.
    Concluded(Option<Fault>),
    /// Somebody at the REST API wants this; the answer says that it is done.
    Order(LeaderEvent, oneshot::Sender<()>),
    /// Somebody there wants to know what was measured so far.
    Summary(oneshot::Sender<Summary>),
}

/// To the main thread.
pub(super) enum Told {
    /// The broker is there, this is the run.
    Leading,
    /// Measurements, each once.
    /// With the moment of the run at which they were made, if they are of one second of the scenarios.
    Merge(Box<Frame>, Option<Duration>),
    /// All that was measured before this moment of the run was told, as far as agents are in touch.
    Whole(Duration),
    /// The scenarios begin.
    Started(Nanos),
    /// How things are.
    View(Box<View>),
    /// Something that the log has, too: agents came, are silent, are lost.
    Note(String),
    /// The data of `setup()`, as JSON.
    SetupData(Arc<str>),
    /// Somebody wants to know what was measured so far.
    Ask(oneshot::Sender<Summary>),
    /// All is gathered: tell it.
    Conclude(Box<RunOutcome>),
    /// It is over: the exit code, if it is not that of thresholds, and why.
    Finish(Finish),
    /// It did not come about.
    Failed(Failure),
}

/// How a test ended.
pub(super) struct Finish {
    pub(super) code: Option<u8>,
    pub(super) message: Option<String>,
    /// The log has the message already.
    pub(super) is_told: bool,
    /// The run was this leader's to the end.
    pub(super) has_led: bool,
}

/// The work of the thread.
pub(super) struct Work {
    pub(super) meeting: Meeting,
    pub(super) run: String,
    pub(super) archive: Vec<u8>,
    pub(super) config: LeaderConfig,
    /// For `handleSummary()`.
    pub(super) leases: Arc<Leases>,
    /// The test as others see it.
    pub(super) led: Arc<Led>,
}

/// Starts the thread.
///
/// # Errors
/// The system gives no thread.
pub(super) fn start(
    work: Work,
    inputs: mpsc::Receiver<Input>,
    told: SyncSender<Told>,
) -> Outcome<JoinHandle<()>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let body = move || {
        let failed = told.clone();
        if let Err(failure) = runtime.block_on(lead(work, inputs, told)) {
            drop(failed.send(Told::Failed(failure)));
        }
    };
    Ok(std::thread::Builder::new().name("brunt-broker".to_owned()).spawn(body)?)
}

async fn lead(
    work: Work,
    mut inputs: mpsc::Receiver<Input>,
    told: SyncSender<Told>,
) -> Outcome<()> {
    let Work { meeting, run, archive, config, leases, led } = work;
    let name = format!("brunt leader {}", config.id);
    let open = async {
        let broker = broker::connect(&meeting, &name, REACH, true).await?;
        let run = broker.run(&run).map_err(Failure::usage)?;
        let claimed = claim(&broker, &meeting, &run, (&archive, &config.plan));
        let (stored, begun) = tokio::select! {
            claimed = claimed => claimed?,
            failure = broker::refusal(&broker) => return Err(failure),
        };
        shared::open(&leases, &run, begun.as_ref().unwrap_or(&config.plan).nonce);
        Ok::<_, Failure>((broker, run, stored, begun))
    };
    let mut wishes = Wish::default();
    let (broker, run, stored, begun) = tokio::select! {
        opened = open => opened?,
        fault = ended(&mut inputs, &mut wishes, &led) => return Err(stopped(fault)),
    };
    let keeping = meeting.pool.clone();
    let keeping = keeping.map(|pool| tokio::spawn(pool::keep(broker.clone(), pool, run.clone())));
    drop(told.send(Told::Leading));
    let own = digest::archive_name(&config.plan.archive.sha256);
    let archive = Arc::new((own.clone(), archive));
    let beginning = (config, archive, wishes);
    let end = conduct(&run, beginning, stored, (&mut inputs, led), &told).await;
    if let Some(keeping) = keeping {
        keeping.abort();
    }
    // Else all that is there is another leader's.
    if end.has_led {
        if let Some(pool) = &meeting.pool {
            pool::leave(&broker, pool, &run).await;
        }
        sweep(&run).await;
        if let Some(plan) = begun {
            run.remove_file(&digest::archive_name(&plan.archive.sha256)).await;
        }
        run.remove_file(&own).await;
    } else if plan_now(&run).await.is_some_and(|plan| {
        // Another leader came first, with an archive of its own.
        digest::archive_name(&plan.archive.sha256) != own
    }) {
        run.remove_file(&own).await;
    }
    broker.close().await;
    drop(told.send(Told::Finish(end)));
    Ok(())
}

/// Makes the pool and the run this leader's, as far as that can be done before it is known whether another one leads it. With it comes
/// the plan that is there already.
async fn claim(
    broker: &Broker,
    meeting: &Meeting,
    run: &Run,
    (archive, own): (&[u8], &Plan),
) -> Outcome<(Stored, Option<Plan>)> {
    if let Some(pool) = &meeting.pool {
        pool::take(broker, pool, run).await?;
    }
    let stored = stored(run).await?;
    // A run that was begun has its archive: another leader may be alive.
    let begun = stored.keys.iter().find(|(key, ..)| *key == Key::Plan);
    let is_begun = begun.is_some();
    // A plan that can't be read is told by the machine.
    let begun = begun.and_then(|(_, plan, _)| Plan::read(plan).ok());
    if !is_begun || stored.is_swept {
        let name = digest::archive_name(&own.archive.sha256);
        run.put_file(&name, archive).await.map_err(broker::failure)?;
    }
    if !is_begun {
        shared::mark(run, own.nonce).await.map_err(broker::failure)?;
    }
    Ok((stored, begun))
}

/// Waits, before there is a leader, for somebody who ends the test; keeps other wishes.
async fn ended(inputs: &mut mpsc::Receiver<Input>, wishes: &mut Wish, led: &Led) -> Option<Fault> {
    loop {
        match inputs.recv().await? {
            Input::Abort(fault) => return Some(fault),
            Input::Order(LeaderEvent::Abort(fault), done) => {
                let _ = done.send(());
                return Some(fault);
            }
            Input::Order(event, done) => {
                if let LeaderEvent::Steer(wish) = event {
                    wishes.add(wish);
                    led.expects(wish);
                }
                let _ = done.send(());
            }
            // Nothing was measured yet: who asks hears that by getting no answer.
            Input::Summary(_) | Input::Concluded(_) => {}
        }
    }
}

fn stopped(fault: Option<Fault>) -> Failure {
    let (code, message) = match fault {
        Some(fault) => (fault.code, fault.message),
        None => (Exit::Signal.code(), "the test ends before its start".to_owned()),
    };
    Failure::new(Exit::of_code(i32::from(code)), anyhow::Error::msg(message))
}

/// All that the store has of the run: a leader before this one may have died.
async fn stored(run: &Run) -> Outcome<Stored> {
    let keys = run.all_keys().await.map_err(broker::failure)?;
    let keys = keys
        .into_iter()
        .filter_map(|change| Some((Key::parse(&change.key)?, change.value?, change.revision)));
    let keys: Vec<_> = keys.collect();
    let checkpoint = if keys.is_empty() {
        None
    } else {
        // There is none before the first minute is over.
        run.file_now("checkpoint", CHECKPOINT_MAX).await.ok()
    };
    // A leader that came to its end has removed the archive.
    let plan = keys.iter().find(|(key, ..)| *key == Key::Plan);
    let is_swept = match plan.and_then(|(_, plan, _)| Plan::read(plan).ok()) {
        Some(plan) => {
            let name = digest::archive_name(&plan.archive.sha256);
            run.has_file(&name).await == Some(false)
        }
        None => false,
    };
    Ok(Stored { keys, checkpoint, is_swept })
}

/// The plan of the run, as it is in the store.
async fn plan_now(run: &Run) -> Option<Plan> {
    let keys = run.all_keys().await.ok()?;
    let plan = keys.into_iter().find(|change| Key::parse(&change.key) == Some(Key::Plan))?;
    Plan::read(&plan.value?).ok()
}

/// Removes what is large; the keys stay for agents that come late, and are forgotten after a day.
async fn sweep(run: &Run) {
    if let Err(error) = run.remove_frames(None).await {
        log::debug!("{error}");
    }
    if let Err(error) = run.remove_values().await {
        log::debug!("{error}");
    }
    for name in ["setup", "checkpoint"] {
        run.remove_file(name).await;
    }
}
