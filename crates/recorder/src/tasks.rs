//! The tasks of a recorder, all of which end with it.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::task::JoinSet;

/// Tasks that nothing waits for. hyper spawns its own here, too.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tasks(Arc<Mutex<JoinSet<()>>>);

impl Tasks {
    /// Starts one, and forgets those that are over.
    pub(crate) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let mut set = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        while set.try_join_next().is_some() {}
        set.spawn(task);
    }

    /// Ends all, and waits until they are gone.
    pub(crate) async fn end(&self) {
        loop {
            let mut set =
                std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
            if set.is_empty() {
                return;
            }
            set.shutdown().await;
        }
    }
}

impl<F> hyper::rt::Executor<F> for Tasks
where
    F: Future + Send + 'static,
    F::Output: Send,
{
    fn execute(&self, task: F) {
        self.spawn(async move {
            task.await;
        });
    }
}
