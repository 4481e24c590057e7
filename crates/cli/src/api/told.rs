//! The run that the API tells of: from the start of the process, before there is a run, to its end.

use std::sync::{Arc, Mutex, PoisonError};

use brunt_engine::RunReport;
use brunt_metrics::Summary;
use tokio::sync::watch;

use super::Subject;

/// The data behind the API: a run and its outcome.
pub(crate) struct Told {
    stage: watch::Sender<Stage>,
    pub(super) profiling: bool,
    /// Set when the run is over; before, the engine is asked.
    last: Mutex<Option<Summary>>,
}

/// Whether there is a run yet.
enum Stage {
    /// The script is being loaded: its init code may take its time.
    Early(Early),
    Run(Arc<dyn Subject>),
    /// The process ends without a run.
    Failed,
}

/// The state before there is a run: what it was told to be, or was asked to be since.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Early {
    pub(super) is_paused: bool,
    pub(super) is_stopped: bool,
    /// Somebody asked for `is_paused` to be as it is.
    pub(super) is_wish: bool,
}

impl Told {
    /// Of a run; nothing is told of its process.
    pub(crate) fn new(run: Arc<dyn Subject>) -> Self {
        Self::at(Stage::Run(run), false)
    }

    /// Of a run that there will be. `is_paused`: as far as is known before its script is read.
    pub(super) fn before(is_paused: bool, profiling: bool) -> Self {
        Self::at(Stage::Early(Early { is_paused, ..Early::default() }), profiling)
    }

    fn at(stage: Stage, profiling: bool) -> Self {
        Self { stage: watch::channel(stage).0, profiling, last: Mutex::default() }
    }

    /// There is a run: gives it the wishes that came before. Called before it is executed.
    pub(super) fn begins(&self, run: Arc<dyn Subject>) {
        // Nothing comes between the last of the early wishes and the first of the later ones.
        self.stage.send_modify(|stage| {
            if let Stage::Early(early) = *stage {
                run.begin(early.is_stopped, early.is_wish.then_some(early.is_paused));
            }
            *stage = Stage::Run(run);
        });
    }

    /// There will be no run.
    pub(super) fn gives_up(&self) {
        self.stage.send_if_modified(|stage| {
            let is_early = matches!(stage, Stage::Early(_));
            if is_early {
                *stage = Stage::Failed;
            }
            is_early
        });
    }

    /// The run is over: from now on its end is told.
    pub(crate) fn ended(&self, report: &RunReport) {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(report.summary.clone());
    }

    /// The run, if there is one yet.
    pub(super) fn subject(&self) -> Option<Arc<dyn Subject>> {
        match &*self.stage.borrow() {
            Stage::Run(run) => Some(Arc::clone(run)),
            _ => None,
        }
    }

    /// The run; waits until there is one. None if there will be none.
    pub(super) async fn run(&self) -> Option<Arc<dyn Subject>> {
        let mut stage = self.stage.subscribe();
        let known = stage.wait_for(|stage| !matches!(stage, Stage::Early(_))).await;
        match &*known.ok()? {
            Stage::Run(run) => Some(Arc::clone(run)),
            _ => None,
        }
    }

    /// The state before there is a run; none if there is one.
    pub(super) fn early(&self) -> Option<Early> {
        match *self.stage.borrow() {
            Stage::Early(early) => Some(early),
            Stage::Failed => Some(Early { is_stopped: true, ..Early::default() }),
            Stage::Run(_) => None,
        }
    }

    /// Changes the state before there is a run; false if there is one, and nothing is changed.
    pub(super) fn wish(&self, change: impl FnOnce(&mut Early)) -> bool {
        let mut is_early = false;
        self.stage.send_if_modified(|stage| {
            if let Stage::Early(early) = stage {
                change(early);
                is_early = true;
            }
            false
        });
        is_early
    }

    pub(super) async fn summary(&self) -> Option<Summary> {
        let last = || self.last.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(summary) = last() {
            return Some(summary);
        }
        match self.subject()?.summary().await {
            Some(summary) => Some(summary),
            None => last(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wishes_are_kept_while_there_is_no_run() {
        let told = Told::before(true, false);
        assert_eq!(told.early(), Some(Early { is_paused: true, ..Early::default() }));
        assert!(told.wish(|early| (early.is_paused, early.is_wish) = (false, true)));
        let early = Early { is_wish: true, ..Early::default() };
        assert_eq!((told.early(), told.subject().is_none()), (Some(early), true));
        told.gives_up();
        assert!(!told.wish(|early| early.is_stopped = true));
        assert_eq!(told.early().map(|early| early.is_stopped), Some(true));
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        assert!(runtime.block_on(told.run()).is_none(), "who waits hears of it");
    }
}
