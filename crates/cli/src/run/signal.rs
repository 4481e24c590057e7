//! SIGINT and SIGTERM: the first ends the test in good order, the second ends the process.

use std::{
    io,
    sync::{
        Arc, Condvar, Mutex, OnceLock, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use brunt_engine::{AbortReason, Control};
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::{exit::Exit, logging::Flusher};

/// Both signals, from the moment this exists: the process is no longer killed by them.
pub(crate) struct Signals {
    interrupt: Signal,
    terminate: Signal,
}

impl Signals {
    /// Must be called inside a tokio runtime.
    ///
    /// # Errors
    /// The system refuses.
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
        })
    }

    /// Waits for the next signal; its name as k6 tells it.
    pub(crate) async fn next(&mut self) -> &'static str {
        tokio::select! {
            _ = self.interrupt.recv() => "interrupt",
            _ = self.terminate.recv() => "terminated",
        }
    }
}

/// A thread that waits for signals while a test runs.
pub(crate) struct SignalWatch(Arc<Shared>);

struct Shared {
    /// Set once there is a test to end; before that a signal ends the process.
    control: OnceLock<Arc<Control>>,
    /// The test is over, and its summary is being made.
    is_ending: AtomicBool,
    count: Mutex<u32>,
    changed: Condvar,
}

impl SignalWatch {
    /// Starts to watch; ends with the process.
    ///
    /// # Errors
    /// The system refuses a thread or a signal handler.
    pub(crate) fn start(flusher: Flusher) -> io::Result<Self> {
        let shared = Arc::new(Shared {
            control: OnceLock::new(),
            is_ending: AtomicBool::new(false),
            count: Mutex::new(0),
            changed: Condvar::new(),
        });
        let watched = Arc::clone(&shared);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let mut signals = {
            let _inside = runtime.enter();
            Signals::new()?
        };
        std::thread::Builder::new().name("brunt-signal".to_owned()).spawn(move || {
            runtime.block_on(async {
                loop {
                    let name = signals.next().await;
                    watched.received(name, &flusher);
                }
            });
        })?;
        Ok(Self(shared))
    }

    /// From now on the first signal ends this test, not the process.
    pub(crate) fn attach(&self, control: Arc<Control>) {
        // One process runs one test.
        let _ = self.0.control.set(control);
    }

    /// While the summary is made, there is no test left to end: as in k6 the next signal ends the
    /// process, be it the first, for a `handleSummary()` may hang.
    pub(crate) fn set_ending(&self, is_ending: bool) {
        self.0.is_ending.store(is_ending, Ordering::Relaxed);
    }

    /// Waits until there has been a signal.
    pub(crate) fn wait(&self) {
        let count = self.0.count.lock().unwrap_or_else(PoisonError::into_inner);
        drop(
            self.0
                .changed
                .wait_while(count, |count| *count == 0)
                .unwrap_or_else(PoisonError::into_inner),
        );
    }
}

impl Shared {
    fn received(&self, name: &str, flusher: &Flusher) {
        let before = {
            let mut count = self.count.lock().unwrap_or_else(PoisonError::into_inner);
            *count += 1;
            self.changed.notify_all();
            *count - 1
        };
        match self.control.get() {
            Some(control) if before == 0 && !self.is_ending.load(Ordering::Relaxed) => {
                log::debug!(signal = name; "ending the test; a second signal ends the process");
                control.abort(AbortReason::Signal { name: name.to_owned() });
            }
            _ => {
                log::error!("ended at once by a '{name}' signal");
                flusher.flush(Duration::from_secs(1));
                std::process::exit(i32::from(Exit::Signal.code()));
            }
        }
    }
}
