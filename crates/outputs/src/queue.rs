//! Outputs at work, each on its own thread behind a bounded queue.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::Instant;

use brunt_metrics::Sample;

use crate::output::{Context, Output, OutputError, Written, open};
use crate::spec::OutputSpec;

/// Samples that may wait for an output: some 64 MiB. What comes on top is dropped and counted: whoever
/// gathers also keeps thresholds and must not wait for a disk.
const WAITING_MAX: usize = 1 << 21;

/// Batches that may wait, however small they are.
const BATCHES_MAX: usize = 1 << 12;

type Batch = Arc<Vec<Sample>>;

/// All outputs of a test.
///
/// Used by the gathering thread, never by a load core. [`write`](Self::write) never waits.
pub struct Outputs {
    running: Vec<Running>,
}

struct Running {
    description: String,
    queue: Queue,
    thread: JoinHandle<Outcome>,
}

/// The way to an output's thread.
struct Queue {
    sender: SyncSender<Batch>,
    /// Samples on the way; the thread takes off what it has written.
    waiting: Arc<AtomicUsize>,
    dropped: u64,
}

/// How an output ended.
#[derive(Debug)]
pub struct Finished {
    /// As in the banner, such as `json (out.json)`.
    pub description: String,
    /// What it wrote; samples after an error count as lost.
    pub written: Written,
    /// Samples that found no room in its queue.
    pub dropped: u64,
    /// What stopped it before the end.
    pub error: Option<io::Error>,
}

#[derive(Default)]
struct Outcome {
    written: Written,
    error: Option<io::Error>,
}

impl Outputs {
    /// Opens and starts all of them, in this order; if one cannot be opened, none runs.
    pub fn start(specs: &[OutputSpec], context: &Context) -> Result<Self, OutputError> {
        let opened = specs.iter().map(|spec| open(spec, context)).collect::<Result<Vec<_>, _>>()?;
        Self::run(opened)
    }

    /// Starts outputs that are open.
    pub fn run(outputs: Vec<Box<dyn Output>>) -> Result<Self, OutputError> {
        let start = |output: Box<dyn Output>| {
            let description = output.description();
            let (queue, batches) = Queue::new();
            let waiting = Arc::clone(&queue.waiting);
            let thread = thread::Builder::new()
                .name("output".to_owned())
                .spawn(move || drain(output, &batches, &waiting))
                .map_err(|source| OutputError::Thread { output: description.clone(), source })?;
            Ok(Running { description, queue, thread })
        };
        Ok(Self { running: outputs.into_iter().map(start).collect::<Result<_, _>>()? })
    }

    /// Whether there is any: without one, cores need not keep samples.
    pub fn wants_samples(&self) -> bool {
        !self.running.is_empty()
    }

    /// For the banner, such as `json (out.json)`.
    pub fn descriptions(&self) -> Vec<String> {
        self.running.iter().map(|output| output.description.clone()).collect()
    }

    /// Hands a batch to every output that has room for it.
    pub fn write(&mut self, samples: Vec<Sample>) {
        if samples.is_empty() {
            return;
        }
        let batch = Arc::new(samples);
        for output in &mut self.running {
            if output.queue.put(&batch) {
                continue;
            }
            if output.queue.dropped == 0 {
                let name = output.description.as_str();
                log::warn!(output = name; "The output is too slow; some samples are lost for it");
            }
            output.queue.dropped += batch.len() as u64;
        }
    }

    /// Waits until everything is written, and tells how it went.
    pub fn finish(self) -> Vec<Finished> {
        let finish = |Running { description, queue, thread }| {
            drop(queue.sender);
            let outcome = thread.join().unwrap_or_else(|_| Outcome {
                error: Some(io::Error::other("its thread panicked")),
                ..Outcome::default()
            });
            let Outcome { written, error } = outcome;
            Finished { description, written, dropped: queue.dropped, error }
        };
        self.running.into_iter().map(finish).collect()
    }
}

impl Queue {
    fn new() -> (Self, Receiver<Batch>) {
        let (sender, batches) = sync_channel(BATCHES_MAX);
        (Self { sender, waiting: Arc::default(), dropped: 0 }, batches)
    }

    /// Whether there was room. A batch alone always has room, for it is there already.
    fn put(&self, batch: &Batch) -> bool {
        let waiting = self.waiting.load(Relaxed);
        if waiting > 0 && waiting + batch.len() > WAITING_MAX {
            return false;
        }
        self.waiting.fetch_add(batch.len(), Relaxed);
        let sent = self.sender.try_send(Arc::clone(batch)).is_ok();
        if !sent {
            self.waiting.fetch_sub(batch.len(), Relaxed);
        }
        sent
    }
}

/// The life of an output's thread. After an error it goes on taking batches and throws them away: a
/// full disk does not end a test.
fn drain(mut output: Box<dyn Output>, batches: &Receiver<Batch>, waiting: &AtomicUsize) -> Outcome {
    let mut outcome = Outcome::default();
    let interval = output.flush_interval();
    let mut flushed = Instant::now();
    loop {
        let batch = match batches.recv_timeout(interval.saturating_sub(flushed.elapsed())) {
            Ok(batch) => Some(batch),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => break,
        };
        if let Some(batch) = &batch {
            outcome.write(&mut *output, batch);
            waiting.fetch_sub(batch.len(), Relaxed);
        }
        if flushed.elapsed() >= interval {
            if outcome.error.is_none()
                && let Err(error) = output.flush()
            {
                outcome.fail(&*output, error);
            }
            flushed = Instant::now();
        }
    }
    if outcome.error.is_none()
        && let Err(error) = output.finish()
    {
        outcome.fail(&*output, error);
    }
    outcome
}

impl Outcome {
    fn write(&mut self, output: &mut dyn Output, batch: &[Sample]) {
        if self.error.is_some() {
            self.written.lost += batch.len() as u64;
            return;
        }
        match output.write(batch) {
            Ok(written) => {
                self.written.samples += written.samples;
                self.written.lost += written.lost;
            }
            Err(error) => {
                self.written.lost += batch.len() as u64;
                self.fail(output, error);
            }
        }
    }

    fn fail(&mut self, output: &dyn Output, error: io::Error) {
        let (name, text) = (output.description(), error.to_string());
        log::error!(output = name.as_str(), error = text.as_str();
            "An output cannot be written; its samples are lost from here on");
        self.error = Some(error);
    }
}

#[cfg(test)]
mod tests;
