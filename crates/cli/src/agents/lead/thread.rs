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
use crate::agents::shared;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};

/// The largest stored checkpoint, in bytes.
const CHECKPOINT_MAX: u64 = 1 << 30;

/// From the main thread.
pub(super) enum Input {
    /// End the test.
    Abort(Fault),
    /// The summary is told; with what crossed thresholds are, if some are.
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
    SetupData(String),
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
        let claimed = claim(&broker, &meeting, &run, (&archive, config.plan.nonce));
        let (stored, nonce) = tokio::select! {
            claimed = claimed => claimed?,
            failure = broker::refusal(&broker) => return Err(failure),
        };
        shared::open(&leases, &run, nonce);
        Ok::<_, Failure>((broker, run, stored))
    };
    let mut wishes = Wish::default();
    let (broker, run, stored) = tokio::select! {
        opened = open => opened?,
        fault = ended(&mut inputs, &mut wishes, &led) => return Err(stopped(fault)),
    };
    let keeping = meeting.pool.clone();
    let keeping = keeping.map(|pool| tokio::spawn(pool::keep(broker.clone(), pool, run.clone())));
    drop(told.send(Told::Leading));
    let archive = Some(Arc::new(archive));
    let begun = (config, archive, wishes);
    let end = conduct(&run, begun, stored, (&mut inputs, led), &told).await;
    if let Some(keeping) = keeping {
        keeping.abort();
    }
    // Else all that is there is another leader's.
    if end.has_led {
        if let Some(pool) = &meeting.pool {
            pool::leave(&broker, pool, &run).await;
        }
        sweep(&run).await;
    }
    broker.close().await;
    drop(told.send(Told::Finish(end)));
    Ok(())
}

/// Makes the pool and the run this leader's, as far as that can be done before it is known whether another one leads it. With it comes
/// the nonce of the run: that of a plan that is there already.
async fn claim(
    broker: &Broker,
    meeting: &Meeting,
    run: &Run,
    (archive, own): (&[u8], u64),
) -> Outcome<(Stored, u64)> {
    if let Some(pool) = &meeting.pool {
        pool::take(broker, pool, run).await?;
    }
    let stored = stored(run).await?;
    // A run that was begun has its archive: another leader may be alive.
    let begun = stored.keys.iter().find(|(key, ..)| *key == Key::Plan);
    let is_begun = begun.is_some();
    // A plan that can't be read is told by the machine.
    let nonce = begun.and_then(|(_, plan, _)| Some(Plan::read(plan).ok()?.nonce)).unwrap_or(own);
    if !is_begun || stored.is_swept {
        run.put_file("archive", archive).await.map_err(broker::failure)?;
    }
    if !is_begun {
        shared::mark(run, nonce).await.map_err(broker::failure)?;
    }
    Ok((stored, nonce))
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
    let is_swept = !keys.is_empty() && run.has_file("archive").await == Some(false);
    Ok(Stored { keys, checkpoint, is_swept })
}

/// Removes what is large; the keys stay for agents that come late, and are forgotten after a day.
async fn sweep(run: &Run) {
    if let Err(error) = run.remove_frames(None).await {
        log::debug!("{error}");
    }
    if let Err(error) = run.remove_values().await {
        log::debug!("{error}");
    }
    for name in ["archive", "setup", "checkpoint"] {
        run.remove_file(name).await;
    }
}
