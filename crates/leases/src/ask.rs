//! One question of a script: asked on a load core, carried out on the broker's thread.

use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::task::{Context, Poll};

use tokio::sync::oneshot;
use tokio::time::sleep;

use crate::wire::{ABSENT, LIMIT, Late};

/// The answer to come; an error, in words, after [`LIMIT`] at the latest. Dropping it takes the question back, if it is not
/// being carried out yet.
#[derive(Debug)]
pub struct Wait<T>(oneshot::Receiver<Result<T, String>>);

impl<T> Future for Wait<T> {
    type Output = Result<T, String>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let answer = Pin::new(&mut self.0).poll(context);
        answer.map(|answer| answer.unwrap_or_else(|_| Err("the test is over".to_owned())))
    }
}

/// Whether anybody still waits for an answer.
#[derive(Clone, Debug, Default)]
pub(crate) struct Gate {
    is_shut: Arc<AtomicBool>,
    is_over: Arc<AtomicBool>,
}

impl Gate {
    /// Of a test whose end is told by this.
    pub(crate) fn new(is_over: &Arc<AtomicBool>) -> Self {
        Self { is_shut: Arc::default(), is_over: Arc::clone(is_over) }
    }

    /// Whether work that has not begun is not to begin.
    pub(crate) fn is_shut(&self) -> bool {
        self.is_shut.load(Relaxed) || self.is_over.load(Relaxed)
    }

    fn shut(&self) {
        self.is_shut.store(true, Relaxed);
    }
}

/// Has `work` done on the broker's thread. Once begun it goes on to its end though its caller is gone; `undelivered` gets an
/// answer that comes then. `open` says what is not known of an answer that did not come in time.
pub(crate) fn ask<T, W>(
    wire: &Late,
    open: &'static str,
    work: impl FnOnce(Gate) -> W,
    undelivered: impl FnOnce(T) + Send + 'static,
) -> Wait<T>
where
    T: Send + 'static,
    W: Future<Output = Result<T, String>> + Send + 'static,
{
    let (mut told, wait) = oneshot::channel();
    let gate = Gate::new(wire.over());
    let work = work(gate.clone());
    let Some(wire) = wire.get() else {
        // The receiver is here.
        drop(told.send(Err(ABSENT.to_owned())));
        return Wait(wait);
    };
    let trouble = Arc::clone(&wire);
    wire.runtime.spawn(async move {
        let mut work = pin!(work);
        let is_late = tokio::select! {
            biased;
            answer = &mut work => {
                if let Err(Ok(answer)) = told.send(answer) {
                    undelivered(answer);
                }
                return;
            }
            () = told.closed() => false,
            () = sleep(LIMIT) => true,
        };
        gate.shut();
        if is_late {
            drop(told.send(Err(format!("{}; {open}", trouble.late()))));
        }
        if let Ok(answer) = work.await {
            undelivered(answer);
        }
    });
    Wait(wait)
}
