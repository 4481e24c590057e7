//! `setup()` and `teardown()`, each with its time limit.

use std::future::Future;
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use brunt_fiber::clock;

use super::caught::caught;
use super::{Runner, Worker};
use crate::error::{ErrorKind, RunError};
use crate::message::{Event, Staged};
use crate::stop::StopHandle;

/// A task: runs `setup()`; an abort of the run stops it.
pub(super) async fn setup<R: Runner>(worker: Rc<Worker<R>>, limit: Duration) {
    let deadline = clock::now_ns().saturating_add(clock::duration_ns(limit));
    let stop = StopHandle::of_run(Arc::clone(worker.core.control()), deadline);
    let outcome = staged(&worker, &stop, "setup()", worker.runner.setup(&worker.core, &stop)).await;
    worker.tell(Event::SetupDone(outcome)).await;
}

/// A task: runs `teardown()`; nothing stops it but its time limit.
pub(super) async fn teardown<R: Runner>(
    worker: Rc<Worker<R>>,
    data: Option<Arc<str>>,
    limit: Duration,
) {
    let deadline = clock::now_ns().saturating_add(clock::duration_ns(limit));
    let stop = StopHandle::until(deadline);
    let work = worker.runner.teardown(&worker.core, data.as_deref(), &stop);
    let outcome = staged(&worker, &stop, "teardown()", work).await;
    worker.tell(Event::TeardownDone(outcome)).await;
}

async fn staged<R: Runner, T>(
    worker: &Worker<R>,
    stop: &StopHandle,
    what: &str,
    work: impl Future<Output = Result<T, RunError>>,
) -> Staged<T> {
    let place = worker.reaper.watch(stop);
    let outcome = caught(&worker.core, what, pin!(work)).await;
    worker.reaper.forget(place);
    match outcome {
        Some(Ok(done)) => Staged::Done(done),
        // The error says only that it was stopped; if the run was aborted too, the coordinator knows.
        Some(Err(_)) if clock::now_ns() >= stop.deadline() => Staged::TimedOut,
        Some(Err(error)) => Staged::Failed(error),
        None => Staged::Failed(RunError::new(ErrorKind::Panic, format!("{what} panicked"))),
    }
}
