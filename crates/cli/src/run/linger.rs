//! `--linger`: the time between the end of a test and its summary. The REST API answers, `teardown()` may be called through it,
//! and its measurements are in the summary, as in k6.

use std::sync::{Arc, Mutex, PoisonError};

use brunt_engine::{Control, Linger};

use super::signal::SignalWatch;
use crate::{generator::Looks, progress::Progress};

/// The bars, which end when lingering begins, or when the run does.
#[derive(Clone, Default)]
pub(super) struct Bars(Arc<Mutex<Option<Progress>>>);

impl Bars {
    /// Takes care of the bars that are drawn from now on.
    pub(super) fn keep(&self, progress: Option<Progress>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = progress;
    }

    /// Takes them away.
    pub(super) fn stop(&self) {
        let progress = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(progress) = progress {
            progress.stop();
        }
    }
}

/// The work at the beginning of lingering: nothing that the process does afterwards is part of the test. A test that a signal cut
/// short does not linger.
pub(super) fn linger(
    control: Arc<Control>,
    signals: &SignalWatch,
    (bars, looks, quiet): (Bars, Arc<Looks>, bool),
) -> Linger {
    let signals = signals.clone();
    Box::new(move || {
        bars.stop();
        looks.close();
        let lingers = signals.linger(control);
        if lingers && !quiet {
            log::info!("the test is over; --linger waits for Ctrl-C");
        }
        lingers
    })
}
