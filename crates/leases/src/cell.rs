//! A value of the store that all processes change: read, apply, compare and set.
//!
//! One worker for each name, on the broker's thread. Operations that came while it was busy are applied together, in their order, and
//! are one write: a process has at most one write of a name under way, however many of its VUs ask.
//!
//! ```text
//!            ┌──────────── another process wrote first ───────────┐
//!            ▼                                                    │
//!  ask ─▶ [known?] ─▶ read ─▶ apply all that waits ─▶ write over that revision ─▶ answer
//!                                     │ nothing changed                │ no answer: was the next value ours?
//!                                     └─▶ answer (of a fresh read)     └─▶ answer, again, or "not known"
//! ```

use std::sync::Arc;
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tokio::sync::{mpsc, oneshot};
use tokio::time::sleep;

use crate::ask::Gate;
use crate::store::MARK;
use crate::wire::{Wire, Wrote};

/// Operations of a name that wait for the worker; further ones wait for a place.
const WAITING: usize = 1024;

/// Operations in one write.
const BATCH: usize = 1024;

/// The longest pause after a write that came too late, in microseconds.
const PAUSE_MAX: u64 = 32_000;

/// A value that operations change.
pub(crate) trait State:
    Clone + PartialEq + Serialize + DeserializeOwned + Send + Sync + 'static
{
    /// Facts that all processes know without asking.
    type Rules: Send + Sync + 'static;
    /// An operation.
    type Ask: Send + Sync + 'static;
    /// Its result.
    type Told: Send + 'static;

    /// Before the first operation.
    fn first(rules: &Self::Rules) -> Self;

    /// Carries an operation out.
    ///
    /// # Errors
    /// A sentence for the script; nothing is changed then.
    fn apply(&mut self, rules: &Self::Rules, ask: &Self::Ask) -> Result<Self::Told, String>;
}

/// The handle of a worker, which ends with it.
#[derive(Debug)]
pub(crate) struct Cell<S: State>(mpsc::Sender<Op<S>>);

struct Op<S: State> {
    ask: S::Ask,
    gate: Gate,
    told: oneshot::Sender<Result<S::Told, String>>,
}

/// A state as it is stored.
#[derive(Serialize, Deserialize)]
struct Kept<S> {
    /// The revision over which it was written.
    after: u64,
    /// The name of the write.
    by: String,
    is: S,
}

impl<S: State> Cell<S> {
    /// Starts the worker of a key.
    pub(crate) fn open(wire: &Arc<Wire>, key: String, rules: S::Rules) -> Self {
        let (asks, asked) = mpsc::channel(WAITING);
        let worker = Worker { wire: Arc::clone(wire), key, rules, known: None, has_been: false };
        wire.runtime.spawn(worker.work(asked));
        Self(asks)
    }

    /// Has an operation carried out; it is dropped unbegun when the gate is shut. Once begun, its result comes even then.
    ///
    /// # Errors
    /// The error of the operation; it was dropped; it is not known whether it was done.
    pub(crate) async fn ask(&self, ask: S::Ask, gate: &Gate) -> Result<S::Told, String> {
        let (told, answer) = oneshot::channel();
        let gone = || "it was given up".to_owned();
        self.0.send(Op { ask, gate: gate.clone(), told }).await.map_err(|_| gone())?;
        answer.await.unwrap_or_else(|_| Err(gone()))
    }
}

struct Worker<S: State> {
    wire: Arc<Wire>,
    key: String,
    rules: S::Rules,
    /// As it was written or read last, with its revision.
    known: Option<(S, u64)>,
    /// The key has been there.
    has_been: bool,
}

impl<S: State> Worker<S> {
    async fn work(mut self, mut asked: mpsc::Receiver<Op<S>>) {
        while let Some(first) = asked.recv().await {
            let mut batch = vec![first];
            while batch.len() < BATCH
                && let Ok(next) = asked.try_recv()
            {
                batch.push(next);
            }
            self.carry_out(batch).await;
        }
    }

    /// Carries operations out, all of them in one write.
    async fn carry_out(&mut self, mut batch: Vec<Op<S>>) {
        let mut conflicts = 0;
        loop {
            batch.retain(|op| !op.gate.is_shut());
            if batch.is_empty() {
                return;
            }
            let is_fresh = self.known.is_none();
            let (state, revision) = match self.known.take() {
                Some(known) => known,
                None => match self.read(&batch).await {
                    Ok(read) => read,
                    Err(why) => return answer_all(batch, &why),
                },
            };
            let mut next = state.clone();
            let told: Vec<_> = batch.iter().map(|op| next.apply(&self.rules, &op.ask)).collect();
            if next == state {
                if !is_fresh {
                    // Others may have changed it since.
                    continue;
                }
                self.known = Some((state, revision));
                return answer(batch, told);
            }
            match self.write(&next, revision).await {
                Wrote::Done(revision) => {
                    self.has_been = true;
                    self.known = Some((next, revision));
                    return answer(batch, told);
                }
                Wrote::Lost => {
                    // A pause by chance, so that no process is always the last.
                    conflicts += 1;
                    let most = (500 << conflicts.min(8)).min(PAUSE_MAX);
                    sleep(Duration::from_micros(fastrand::u64(0..most))).await;
                }
                Wrote::Unsure => {
                    let why = "NATS did not say whether it was done, and it is not done again";
                    return answer_all(batch, why);
                }
            }
        }
    }

    /// The state as the store has it, and its revision.
    ///
    /// # Errors
    /// The store has lost it; all callers are gone.
    async fn read(&mut self, batch: &[Op<S>]) -> Result<(S, u64), String> {
        let goes_on = || batch.iter().any(|op| !op.gate.is_shut());
        if let Some(entry) = self.wire.read(&self.key, goes_on).await? {
            self.has_been = true;
            let kept: Kept<S> = serde_json::from_slice(&entry.value)
                .map_err(|error| format!("NATS has what can't be read ({error})"))?;
            return Ok((kept.is, entry.revision));
        }
        if self.has_been || self.wire.read(MARK, goes_on).await?.is_none() {
            return Err("NATS has lost what the test has shared: its store is another one".into());
        }
        Ok((S::first(&self.rules), 0))
    }

    async fn write(&self, state: &S, revision: u64) -> Wrote {
        let by = self.wire.sign();
        let kept = Kept { after: revision, by, is: state };
        let value = serde_json::to_vec(&kept).expect("numbers are JSON");
        let by = kept.by;
        let is_own = |value: &[u8]| {
            let next: Kept<serde::de::IgnoredAny> = serde_json::from_slice(value).ok()?;
            (next.after == revision).then_some(next.by == by)
        };
        self.wire.write(&self.key, &value, revision, is_own).await
    }
}

fn answer<S: State>(batch: Vec<Op<S>>, told: Vec<Result<S::Told, String>>) {
    for (op, told) in batch.into_iter().zip(told) {
        // Its task has ended with the test.
        drop(op.told.send(told));
    }
}

fn answer_all<S: State>(batch: Vec<Op<S>>, why: &str) {
    for op in batch {
        drop(op.told.send(Err(why.to_owned())));
    }
}
