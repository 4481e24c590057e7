//! `--out`: opens the outputs and hands them the samples of each frame.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use brunt_engine::Listener;
use brunt_metrics::{Frame, Verdict};
use brunt_outputs::{Context, Finished, OutputError, OutputSpec, Outputs, Page};

use crate::exit::Exit;
use crate::failure::{Failure, Outcome};

/// The outputs of a test, before it runs.
pub(crate) struct Samples {
    outputs: Option<Outputs>,
    /// As the description shows them.
    pub(crate) descriptions: Vec<String>,
    /// Where the test can be watched.
    pub(crate) pages: Vec<Page>,
}

/// The outcome of the outputs, after the run.
pub(crate) struct Results(Receiver<Fed>);

/// The knowledge of the feed at the end.
struct Fed {
    finished: Vec<Finished>,
    /// Samples that the cores had no room for.
    missed: u64,
}

/// Shows the outputs what the engine gathers; on the gathering thread.
struct Feed {
    outputs: Option<Outputs>,
    /// Frames about the generator.
    told: Receiver<Arc<Frame>>,
    missed: u64,
    results: SyncSender<Fed>,
}

impl Samples {
    /// Opens each `TYPE[=ARG]`.
    ///
    /// # Errors
    /// An unknown type, a file that can't be made (255).
    pub(crate) fn open(texts: &[String], context: &Context) -> Outcome<Self> {
        let specs = texts
            .iter()
            // k6 takes `--out ""` for none.
            .filter(|text| !text.is_empty())
            .map(|text| OutputSpec::parse(text))
            .collect::<Result<Vec<_>, _>>()
            .map_err(|error| Failure::usage(error.to_string()))?;
        let outputs = Outputs::start(&specs, context).map_err(|error| {
            // Of all outputs' settings k6 calls only these a configuration.
            let is_config = matches!(
                &error,
                OutputError::Setting { what, .. } if what.starts_with("error validating")
            );
            let exit = if is_config { Exit::InvalidConfig } else { Exit::Other };
            Failure::new(exit, error)
        })?;
        let (descriptions, pages) = (outputs.descriptions(), outputs.pages());
        Ok(Self { outputs: (!outputs.is_empty()).then_some(outputs), descriptions, pages })
    }

    /// Whether the engine must keep single samples.
    pub(crate) fn wanted(&self) -> bool {
        self.outputs.as_ref().is_some_and(Outputs::wants_samples)
    }

    /// Whether an output takes the metrics about the generator.
    pub(crate) fn wants_generator(&self) -> bool {
        self.outputs.as_ref().is_some_and(Outputs::wants_generator)
    }

    /// The listener for the engine, where its results will be, and the way for frames about the generator, which no ledger
    /// and no summary sees.
    pub(crate) fn listen(self) -> (Box<dyn Listener>, Results, SyncSender<Arc<Frame>>) {
        /// Frames that may wait: more are dropped, for they come once a second and are taken ten times.
        const WAITING_MAX: usize = 16;
        let (results, received) = sync_channel(1);
        let (gauges, told) = sync_channel(WAITING_MAX);
        let feed = Feed { outputs: self.outputs, told, missed: 0, results };
        (Box::new(feed), Results(received), gauges)
    }
}

impl Listener for Feed {
    fn frame(&mut self, frame: &Arc<Frame>) {
        if let Some(outputs) = &mut self.outputs {
            outputs.write(frame);
            self.missed += frame.dropped.samples;
            for frame in self.told.try_iter() {
                outputs.write_generator(&frame);
            }
        }
    }

    fn end(&mut self, _: &Verdict) {
        if let Some(outputs) = self.outputs.take() {
            // If the run was given up, the receiver is gone.
            let fed = Fed { finished: outputs.finish(), missed: self.missed };
            let _ = self.results.try_send(fed);
        }
    }
}

impl Results {
    /// Tells what was not written; and how many values had no room on their way to a run file.
    pub(crate) fn tell(&self) -> u64 {
        let Ok(Fed { finished, missed }) = self.0.try_recv() else { return 0 };
        let mut of_run_file = 0;
        for Finished { description, written, dropped, error, trouble } in finished {
            let output = description.as_str();
            let lost = written.lost;
            if output.starts_with("run (") {
                of_run_file += dropped;
            }
            if let Some(error) = error {
                log::error!(output; "the output failed, {lost} samples are lost: {error}");
            } else if let Some(trouble) = trouble.filter(|_| lost > 0) {
                log::error!(output; "{lost} values did not arrive and are lost: {trouble}");
            } else if lost > 0 {
                log::warn!(output; "{lost} samples could not be written in this format");
            }
            let dropped = dropped + missed;
            if dropped > 0 {
                log::warn!(output; "the output was too slow: {dropped} samples were dropped, the summary has them");
            }
        }
        of_run_file
    }
}
