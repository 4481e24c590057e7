//! `--out`: opens the outputs and hands them the samples of each frame.

use std::{
    sync::mpsc::{Receiver, SyncSender, sync_channel},
    time::Duration,
};

use brunt_engine::Listener;
use brunt_metrics::{Frame, Verdict};
use brunt_outputs::{Context, Finished, OutputSpec, Outputs};

use crate::failure::{Failure, Outcome};

/// The outputs of a test, before it runs.
pub(super) struct Samples {
    outputs: Option<Outputs>,
    /// As the description shows them.
    pub(super) descriptions: Vec<String>,
}

/// What became of them, after the run.
pub(super) struct Results(Receiver<Vec<Finished>>);

/// Shows the outputs what the engine gathers; on the gathering thread.
struct Feed {
    outputs: Option<Outputs>,
    results: SyncSender<Vec<Finished>>,
}

impl Samples {
    /// Opens each `TYPE[=ARG]`.
    ///
    /// # Errors
    /// An unknown type, a file that can't be made (255).
    pub(super) fn open(texts: &[String], context: &Context) -> Outcome<Self> {
        let specs = texts
            .iter()
            .map(|text| OutputSpec::parse(text))
            .collect::<Result<Vec<_>, _>>()
            .map_err(|error| Failure::usage(error.to_string()))?;
        let outputs = Outputs::start(&specs, context)
            .map_err(|error| Failure::new(crate::exit::Exit::Other, error))?;
        let descriptions = outputs.descriptions();
        Ok(Self { outputs: outputs.wants_samples().then_some(outputs), descriptions })
    }

    /// Whether the engine must keep single samples.
    pub(super) fn wanted(&self) -> bool {
        self.outputs.is_some()
    }

    /// The listener for the engine, and where its results will be.
    pub(super) fn listen(self) -> (Box<dyn Listener>, Results) {
        let (results, received) = sync_channel(1);
        (Box::new(Feed { outputs: self.outputs, results }), Results(received))
    }
}

impl Listener for Feed {
    fn frame(&mut self, frame: &Frame) {
        if let Some(outputs) = &mut self.outputs {
            outputs.write(frame.samples.clone());
        }
    }

    fn end(&mut self, _: &Verdict) {
        if let Some(outputs) = self.outputs.take() {
            // Nobody waits for results any more if the run was given up.
            let _ = self.results.try_send(outputs.finish());
        }
    }
}

impl Results {
    /// Tells what was not written.
    pub(super) fn tell(&self) {
        for output in self.0.try_recv().unwrap_or_default() {
            let Finished { description, written, waited, error } = output;
            if let Some(error) = error {
                let lost = written.lost;
                log::error!(output = description.as_str(); "the output failed, {lost} samples are lost: {error}");
            } else if written.lost > 0 {
                let lost = written.lost;
                log::warn!(output = description.as_str(); "{lost} samples could not be written in this format");
            }
            if waited.as_millis() >= 100 {
                let waited = Duration::from_millis(waited.as_millis() as u64);
                let waited = brunt_schedule::duration::format(waited);
                log::warn!(output = description.as_str(); "the output was too slow: metrics waited {waited} for it");
            }
        }
    }
}
