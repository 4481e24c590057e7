//! Outputs at work, each on its own thread behind a bounded queue.

use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use brunt_metrics::Sample;

use crate::output::{Context, Output, OutputError, Written, open};
use crate::spec::OutputSpec;

/// Batches that wait for an output (a batch is what the cores saw in a tick, bounded by
/// [`SAMPLES_MAX`](brunt_metrics::SAMPLES_MAX) each). When it is full, who writes waits.
const QUEUE: usize = 4;

type Batch = Arc<Vec<Sample>>;

/// All outputs of a test.
///
/// Used by the gathering thread, never by a load core: [`write`](Self::write) may wait.
pub struct Outputs {
    running: Vec<Running>,
}

struct Running {
    description: String,
    sender: SyncSender<Batch>,
    thread: JoinHandle<Outcome>,
    waited: Duration,
}

/// How an output ended.
#[derive(Debug)]
pub struct Finished {
    /// As in the banner, such as `json (out.json)`.
    pub description: String,
    /// What it wrote; samples after an error count as lost.
    pub written: Written,
    /// For how long the gathering thread waited because its queue was full.
    pub waited: Duration,
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
            let (sender, receiver) = sync_channel(QUEUE);
            let thread = thread::Builder::new()
                .name("output".to_owned())
                .spawn(move || drain(output, &receiver))
                .map_err(|source| OutputError::Thread { output: description.clone(), source })?;
            Ok(Running { description, sender, thread, waited: Duration::ZERO })
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

    /// Hands a batch to every output; waits if one is behind.
    pub fn write(&mut self, samples: Vec<Sample>) {
        if samples.is_empty() {
            return;
        }
        let batch = Arc::new(samples);
        for output in &mut self.running {
            output.waited += hand(&output.sender, Arc::clone(&batch), || {});
        }
    }

    /// For how long [`write`](Self::write) has waited so far.
    pub fn waited(&self) -> Duration {
        self.running.iter().map(|output| output.waited).sum()
    }

    /// Waits until everything is written, and tells how it went.
    pub fn finish(self) -> Vec<Finished> {
        let finish = |Running { description, sender, thread, waited }| {
            drop(sender);
            let outcome = thread.join().unwrap_or_else(|_| Outcome {
                error: Some(io::Error::other("its thread panicked")),
                ..Outcome::default()
            });
            Finished { description, written: outcome.written, waited, error: outcome.error }
        };
        self.running.into_iter().map(finish).collect()
    }
}

/// Puts a batch into a queue, and tells for how long it had to wait. `full` is called before it waits.
fn hand(queue: &SyncSender<Batch>, batch: Batch, full: impl FnOnce()) -> Duration {
    match queue.try_send(batch) {
        Err(TrySendError::Full(batch)) => {
            let start = Instant::now();
            full();
            // It fails only if the thread panicked, which `finish` tells.
            let _ = queue.send(batch);
            start.elapsed()
        }
        Ok(()) | Err(TrySendError::Disconnected(_)) => Duration::ZERO,
    }
}

/// The life of an output's thread. After an error it goes on taking batches and throws them away: a
/// full disk does not end a test.
fn drain(mut output: Box<dyn Output>, batches: &Receiver<Batch>) -> Outcome {
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
            if outcome.error.is_some() {
                outcome.written.lost += batch.len() as u64;
                continue;
            }
            match output.write(batch) {
                Ok(written) => {
                    outcome.written.samples += written.samples;
                    outcome.written.lost += written.lost;
                }
                Err(error) => {
                    outcome.written.lost += batch.len() as u64;
                    outcome.fail(&*output, error);
                }
            }
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
    fn fail(&mut self, output: &dyn Output, error: io::Error) {
        let (name, text) = (output.description(), error.to_string());
        log::error!(output = name.as_str(), error = text.as_str();
            "An output cannot be written; its samples are lost from here on");
        self.error = Some(error);
    }
}

#[cfg(test)]
mod tests;
