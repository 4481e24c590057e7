//! Outputs at work, each on its own thread behind a bounded queue.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use brunt_metrics::Frame;

use crate::open::open;
use crate::output::{Context, Output, OutputError, Page, Written};
use crate::priority::stand_back;
use crate::spec::OutputSpec;

/// The weight that may wait for an output: two million samples, some 64 MiB. Frames beyond it are dropped and
/// counted: the thread that gathers also keeps thresholds and must not wait for a disk.
const WAITING_MAX: usize = 1 << 21;

/// Frames that may wait, however small they are.
const FRAMES_MAX: usize = 1 << 12;

/// The weight of a series' new values, in samples.
const SERIES_WEIGHT: usize = 16;

/// How long the end of a test waits for an output that gets nowhere. Samples that it has not taken by then are lost,
/// and counted.
const STILL_MAX: Duration = Duration::from_secs(20);

/// All outputs of a test.
///
/// Used by the gathering thread, never by a load core. [`write`](Self::write) never waits.
pub struct Outputs {
    running: Vec<Running>,
}

struct Running {
    description: String,
    wants_samples: bool,
    wants_generator: bool,
    page: Option<Page>,
    queue: Queue,
    outcome: Receiver<Outcome>,
}

/// The way to an output's thread.
struct Queue {
    sender: SyncSender<Arc<Frame>>,
    /// The weight of what is on the way; the thread takes off what it has written.
    waiting: Arc<Waiting>,
    dropped: u64,
}

/// The frames on the way to an output's thread.
#[derive(Default)]
struct Waiting {
    weight: AtomicUsize,
    /// Samples of an output that wants them, series of another.
    values: AtomicU64,
}

/// How an output ended.
#[derive(Debug)]
pub struct Finished {
    /// As in the banner, such as `json (out.json)`.
    pub description: String,
    /// The number of samples written; samples after an error count as lost.
    pub written: Written,
    /// Samples that found no room in its queue.
    pub dropped: u64,
    /// The error that stopped it before the end.
    pub error: Option<io::Error>,
    /// The first fault that did not stop it: the server's first refusal.
    pub trouble: Option<String>,
}

#[derive(Default)]
struct Outcome {
    written: Written,
    error: Option<io::Error>,
    trouble: Option<String>,
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
            let (wants_samples, page) = (output.wants_samples(), output.page());
            let wants_generator = output.wants_generator();
            let (queue, batches) = Queue::new();
            let waiting = Arc::clone(&queue.waiting);
            let (ended, outcome) = sync_channel(1);
            thread::Builder::new()
                .name("output".to_owned())
                .spawn(move || {
                    stand_back();
                    drop(ended.send(drain(output, &batches, &waiting)));
                })
                .map_err(|source| OutputError::Thread { output: description.clone(), source })?;
            Ok(Running { description, wants_samples, wants_generator, page, queue, outcome })
        };
        Ok(Self { running: outputs.into_iter().map(start).collect::<Result<_, _>>()? })
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.running.is_empty()
    }

    /// Whether any of them needs single samples: if not, cores need not keep them.
    pub fn wants_samples(&self) -> bool {
        self.running.iter().any(|output| output.wants_samples)
    }

    /// Whether any of them takes the metrics about the generator.
    pub fn wants_generator(&self) -> bool {
        self.running.iter().any(|output| output.wants_generator)
    }

    /// For the banner, such as `json (out.json)`; without [`pages`](Self::pages).
    pub fn descriptions(&self) -> Vec<String> {
        let told = self.running.iter().filter(|output| output.page.is_none());
        told.map(|output| output.description.clone()).collect()
    }

    /// Where the test can be watched.
    pub fn pages(&self) -> Vec<Page> {
        self.running.iter().filter_map(|output| output.page.clone()).collect()
    }

    /// Shows a frame to every output that has room for it.
    pub fn write(&mut self, frame: &Arc<Frame>) {
        self.write_to(frame, |_| true);
    }

    /// Shows a frame with metrics about the generator to the outputs that take them.
    pub fn write_generator(&mut self, frame: &Arc<Frame>) {
        self.write_to(frame, |output| output.wants_generator);
    }

    fn write_to(&mut self, frame: &Arc<Frame>, is_wanted: fn(&Running) -> bool) {
        if frame.is_empty() {
            return;
        }
        for output in self.running.iter_mut().filter(|output| is_wanted(output)) {
            let has_values = !frame.samples.is_empty() || !frame.series.is_empty();
            if output.wants_samples && !has_values {
                continue;
            }
            let lost = values(frame, output.wants_samples);
            if output.queue.put(frame, lost) {
                continue;
            }
            if output.queue.dropped == 0 {
                let name = output.description.as_str();
                log::warn!(output = name; "The output is too slow; some samples are lost for it");
            }
            // A frame without values has something else.
            output.queue.dropped += lost.max(1);
        }
    }

    /// Waits until everything is written, and tells how it went. An output that takes nothing for 20 s is given up.
    pub fn finish(self) -> Vec<Finished> {
        self.finish_within(STILL_MAX)
    }

    fn finish_within(self, still_max: Duration) -> Vec<Finished> {
        let finish = |Running { description, queue, outcome, .. }| {
            drop(queue.sender);
            let outcome = wait(&outcome, &queue.waiting, still_max);
            let Outcome { written, error, trouble } = outcome;
            Finished { description, written, dropped: queue.dropped, error, trouble }
        };
        self.running.into_iter().map(finish).collect()
    }
}

impl Queue {
    fn new() -> (Self, Receiver<Arc<Frame>>) {
        let (sender, frames) = sync_channel(FRAMES_MAX);
        (Self { sender, waiting: Arc::default(), dropped: 0 }, frames)
    }

    /// Whether there was room. A frame alone always has room, for it is there already.
    fn put(&self, frame: &Arc<Frame>, values: u64) -> bool {
        let waiting = self.waiting.weight.load(Relaxed);
        let weight = weight(frame);
        if waiting > 0 && waiting + weight > WAITING_MAX {
            return false;
        }
        self.waiting.weight.fetch_add(weight, Relaxed);
        self.waiting.values.fetch_add(values, Relaxed);
        let sent = self.sender.try_send(Arc::clone(frame)).is_ok();
        if !sent {
            self.waiting.weight.fetch_sub(weight, Relaxed);
            self.waiting.values.fetch_sub(values, Relaxed);
        }
        sent
    }
}

/// The outcome of a thread, as long as it gets anywhere.
fn wait(outcome: &Receiver<Outcome>, waiting: &Waiting, still_max: Duration) -> Outcome {
    let failed = |lost, error: String| Outcome {
        written: Written { samples: 0, lost },
        error: Some(io::Error::other(error)),
        trouble: None,
    };
    loop {
        let before = waiting.weight.load(Relaxed);
        match outcome.recv_timeout(still_max) {
            Ok(outcome) => return outcome,
            Err(RecvTimeoutError::Disconnected) => {
                return failed(waiting.values.load(Relaxed), "its thread panicked".to_owned());
            }
            Err(RecvTimeoutError::Timeout) if waiting.weight.load(Relaxed) == before => {
                let lost = waiting.values.load(Relaxed);
                return failed(lost, format!("it took nothing for {still_max:?}"));
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
}

/// The values that an output loses with a frame.
fn values(frame: &Frame, wants_samples: bool) -> u64 {
    (if wants_samples { frame.samples.len() } else { frame.series.len() }) as u64
}

fn weight(frame: &Frame) -> usize {
    frame.samples.len() + frame.series.len() * SERIES_WEIGHT
}

/// The life of an output's thread. After an error it goes on taking batches and throws them away: a
/// full disk does not end a test.
fn drain(mut output: Box<dyn Output>, frames: &Receiver<Arc<Frame>>, waiting: &Waiting) -> Outcome {
    let mut outcome = Outcome::default();
    let interval = output.flush_interval();
    let mut flushed = Instant::now();
    loop {
        let frame = match frames.recv_timeout(interval.saturating_sub(flushed.elapsed())) {
            Ok(frame) => Some(frame),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => break,
        };
        if let Some(frame) = &frame {
            outcome.write(&mut *output, frame);
            waiting.values.fetch_sub(values(frame, output.wants_samples()), Relaxed);
            waiting.weight.fetch_sub(weight(frame), Relaxed);
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
    if outcome.error.is_none() {
        match output.finish() {
            Ok(written) => outcome.count(written),
            Err(error) => outcome.fail(&*output, error),
        }
    }
    outcome.trouble = output.trouble();
    outcome
}

impl Outcome {
    fn write(&mut self, output: &mut dyn Output, frame: &Frame) {
        let samples = if output.wants_samples() { frame.samples.len() } else { 0 };
        if self.error.is_some() {
            self.written.lost += samples as u64;
            return;
        }
        match output.write(frame) {
            Ok(written) => self.count(written),
            Err(error) => {
                self.written.lost += samples as u64;
                self.fail(output, error);
            }
        }
    }

    fn count(&mut self, written: Written) {
        self.written.samples += written.samples;
        self.written.lost += written.lost;
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
