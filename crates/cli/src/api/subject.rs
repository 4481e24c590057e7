//! The run that the API tells of and steers: one of this process, or one that this process leads on other machines.

use std::pin::Pin;
use std::sync::Arc;

use brunt_engine::{AbortReason, Live, Phase, ScaleError};
use brunt_metrics::Summary;

/// An answer that takes its time.
pub(crate) type Asked<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A run, asked and steered from outside.
pub(crate) trait Subject: Send + Sync {
    /// How it is.
    fn state(&self) -> State;

    /// The data of `setup()`, as JSON.
    ///
    /// # Errors
    /// They are not here.
    fn setup_data(&self) -> Result<Option<Arc<str>>, String>;

    /// Gives it the wishes that came before there was a run; it is not executed yet.
    fn begin(&self, is_stopped: bool, is_paused: Option<bool>);

    /// Cuts it short. One that is over stays as it ended, though it lingers.
    fn stop(&self) -> Asked<'_, ()>;

    /// Pauses it, or lets it go on.
    ///
    /// # Errors
    /// It can't be paused, or it would change nothing.
    fn pause(&self, is_paused: bool) -> Asked<'_, Result<(), String>>;

    /// Changes its VUs; those of the whole test.
    ///
    /// # Errors
    /// No scenario is controlled from outside, or it can't have this many VUs.
    fn scale(&self, vus: Option<i64>, max: Option<i64>) -> Asked<'_, Result<(), ScaleError>>;

    /// Calls `setup()`; its data, as JSON.
    ///
    /// # Errors
    /// It threw, took too long, or can't be called.
    fn run_setup(&self) -> Asked<'_, Result<Option<Arc<str>>, String>>;

    /// Takes this JSON for what `setup()` returned.
    ///
    /// # Errors
    /// The run can't take it.
    fn set_setup_data(&self, data: Option<Arc<str>>) -> Asked<'_, Result<(), String>>;

    /// Calls `teardown()`.
    ///
    /// # Errors
    /// It threw, took too long, or can't be called.
    fn run_teardown(&self) -> Asked<'_, Result<(), String>>;

    /// All that was measured so far; none when the run is over.
    fn summary(&self) -> Asked<'_, Option<Summary>>;
}

/// How a run is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct State {
    pub(crate) phase: Phase,
    /// It is being cut short, or was.
    pub(crate) is_aborting: bool,
    pub(crate) is_marked_failed: bool,
    pub(crate) is_paused: bool,
    /// VUs that iterate; where that is decided from outside, those that are to.
    pub(crate) vus_wanted: u64,
    pub(crate) vus_active: u64,
    pub(crate) vus_initialized: u64,
    pub(crate) iterations_complete: u64,
    /// The machines that make its load, if they are others.
    pub(crate) agents: Option<Fleet>,
}

/// How many machines make the load of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Fleet {
    /// That are wanted.
    pub(crate) seats: u64,
    /// In touch.
    pub(crate) running: u64,
    /// Without a sign of life for some seconds.
    pub(crate) silent: u64,
    /// Given up.
    pub(crate) lost: u64,
}

impl Subject for Live {
    fn state(&self) -> State {
        let control = self.control();
        State {
            phase: control.phase(),
            is_aborting: control.is_aborting(),
            is_marked_failed: control.is_marked_failed(),
            is_paused: control.is_paused(),
            vus_wanted: self.vus_wanted(),
            vus_active: control.vus_active(),
            vus_initialized: control.vus_initialized(),
            iterations_complete: control.iterations_complete(),
            agents: None,
        }
    }

    fn setup_data(&self) -> Result<Option<Arc<str>>, String> {
        Ok(self.control().setup_data())
    }

    fn begin(&self, is_stopped: bool, is_paused: Option<bool>) {
        if is_stopped {
            self.control().abort(AbortReason::Api);
        }
        if let Some(is_paused) = is_paused.filter(|paused| *paused != self.control().is_paused()) {
            // Before its start a run refuses neither.
            let _ = Live::pause(self, is_paused);
        }
    }

    fn stop(&self) -> Asked<'_, ()> {
        if self.control().phase() < Phase::Ended {
            self.control().abort(AbortReason::Api);
        }
        Box::pin(async {})
    }

    fn pause(&self, is_paused: bool) -> Asked<'_, Result<(), String>> {
        let paused = Live::pause(self, is_paused);
        Box::pin(async move { paused })
    }

    fn scale(&self, vus: Option<i64>, max: Option<i64>) -> Asked<'_, Result<(), ScaleError>> {
        Box::pin(Live::scale(self, vus, max))
    }

    fn run_setup(&self) -> Asked<'_, Result<Option<Arc<str>>, String>> {
        Box::pin(Live::run_setup(self))
    }

    fn set_setup_data(&self, data: Option<Arc<str>>) -> Asked<'_, Result<(), String>> {
        Box::pin(Live::set_setup_data(self, data))
    }

    fn run_teardown(&self) -> Asked<'_, Result<(), String>> {
        Box::pin(Live::run_teardown(self))
    }

    fn summary(&self) -> Asked<'_, Option<Summary>> {
        Box::pin(self.summary_async())
    }
}
