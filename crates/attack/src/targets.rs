//! The targets of an attack: all known, or read while it runs.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::mpsc;

use crate::control::Control;
use crate::target::{Target, TargetError};

/// The maximum number of targets that are read ahead of the hits.
const AHEAD: usize = 256;

/// The targets of an attack.
#[derive(Clone, Debug)]
pub enum Targets {
    /// One after the other, round and round: hit `n` goes to target `n` modulo their number. Not empty.
    All(Arc<[Target]>),
    /// Each once, as they come. The attack ends with them.
    Stream(TargetStream),
}

impl From<Vec<Target>> for Targets {
    /// # Panics
    /// If there are none.
    fn from(targets: Vec<Target>) -> Self {
        assert!(!targets.is_empty(), "an attack has at least one target");
        Self::All(targets.into())
    }
}

/// Targets that another thread reads: a slow source keeps hits waiting, but never a response.
#[derive(Clone, Debug)]
pub struct TargetStream {
    coming: Arc<tokio::sync::Mutex<mpsc::Receiver<Arc<Target>>>>,
    trouble: Arc<Mutex<Option<TargetError>>>,
}

impl TargetStream {
    /// Reads them on a thread of its own, at most 256 ahead. The thread ends with the source or with the attack, but
    /// only once it gets from its source what it waits for.
    ///
    /// # Errors
    /// The system refuses a thread.
    pub fn read<I>(targets: I) -> std::io::Result<Self>
    where
        I: Iterator<Item = Result<Target, TargetError>> + Send + 'static,
    {
        let (sender, coming) = mpsc::channel(AHEAD);
        let trouble = Arc::new(Mutex::new(None));
        let told = Arc::clone(&trouble);
        std::thread::Builder::new().name("brunt-targets".to_owned()).spawn(move || {
            for target in targets {
                match target {
                    Ok(target) => {
                        if sender.blocking_send(Arc::new(target)).is_err() {
                            return;
                        }
                    }
                    Err(error) => {
                        *told.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                        return;
                    }
                }
            }
        })?;
        Ok(Self { coming: Arc::new(tokio::sync::Mutex::new(coming)), trouble })
    }

    /// The next target, if it is there already and no other worker waits.
    pub(crate) fn ready(&self) -> Option<Arc<Target>> {
        self.coming.try_lock().ok()?.try_recv().ok()
    }

    /// The next target; `None` when there are no more, or the attack stops.
    pub(crate) async fn next(&self, control: &Control) -> Option<Arc<Target>> {
        let next = async { self.coming.lock().await.recv().await };
        tokio::select! {
            biased;
            next = next => next,
            () = control.stopping() => None,
        }
    }

    /// Why they ended, if it was not the end.
    pub fn take_trouble(&self) -> Option<TargetError> {
        self.trouble.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}
