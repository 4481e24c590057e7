//! SIGINT and SIGTERM: the first ends the test in good order, the second ends the process; so does any
//! that comes when there is no test to end, before it and after it.
//!
//! One stop may come as two signals: `timeout` signals the process and then its whole group, npm and
//! make pass on what the terminal has sent to all. A signal within [`ECHO`] of another is its echo.

use std::{
    io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use brunt_engine::{AbortReason, Control, Phase};
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::{exit::Exit, logging::Flusher};

/// A signal this soon after another is the same one.
const ECHO: Duration = Duration::from_millis(200);

/// Both signals, from the moment this exists: the process is no longer killed by them.
pub(crate) struct Signals {
    interrupt: Signal,
    terminate: Signal,
    /// When there was one that was no echo.
    last: Option<Instant>,
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
            last: None,
        })
    }

    /// Waits for the next signal; its name as k6 tells it.
    pub(crate) async fn next(&mut self) -> &'static str {
        loop {
            let name = tokio::select! {
                _ = self.interrupt.recv() => "interrupt",
                _ = self.terminate.recv() => "terminated",
            };
            if self.last.is_none_or(|last| last.elapsed() >= ECHO) {
                self.last = Some(Instant::now());
                return name;
            }
        }
    }
}

/// A thread that waits for signals while a test runs.
#[derive(Clone)]
pub(crate) struct SignalWatch(Arc<Shared>);

struct Shared(Mutex<State>);

/// The things to end.
struct State {
    ends: Ends,
    /// Signals so far.
    count: u32,
    /// A folder that does not outlive the process.
    folder: Option<PathBuf>,
}

enum Ends {
    /// The process: no test has begun, or it is over.
    Process,
    /// The test, if it is the first signal; and how long its `teardown()` may take, if there is one.
    Test(Arc<Control>, Option<Duration>),
    /// This, at the first signal; the process, at the second.
    Call(Box<dyn Fn(&str) + Send>),
    /// The waiting of `--linger`, which the run does.
    Linger(Arc<Control>),
    /// Nothing: whoever waits looks at the count.
    Wait,
}

impl SignalWatch {
    /// Starts to watch; ends with the process.
    ///
    /// # Errors
    /// The system refuses a thread or a signal handler.
    pub(crate) fn start(flusher: Flusher) -> io::Result<Self> {
        let state = Mutex::new(State { ends: Ends::Process, count: 0, folder: None });
        let shared = Arc::new(Shared(state));
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
    ///
    /// `teardown` is how long `teardown()` may take, if there is one.
    pub(crate) fn attach(&self, control: Arc<Control>, teardown: Option<Duration>) {
        self.0.lock().ends = Ends::Test(control, teardown);
    }

    /// From now on the first signal calls this with its name, and the next one ends the process.
    pub(crate) fn call(&self, called: Box<dyn Fn(&str) + Send>) {
        self.0.lock().ends = Ends::Call(called);
    }

    /// From now on a signal that ends the process removes this folder.
    pub(crate) fn remove(&self, folder: &Path) {
        self.0.lock().folder = Some(folder.to_owned());
    }

    /// The test is over: a signal ends the process again, whatever its script may still do.
    pub(crate) fn detach(&self) {
        self.0.lock().ends = Ends::Process;
    }

    /// From now on the first signal ends nothing but the lingering of this run. False if a signal came before: then there is
    /// nothing to wait for.
    pub(crate) fn linger(&self, control: Arc<Control>) -> bool {
        let mut state = self.0.lock();
        let is_first = state.count == 0;
        if is_first {
            state.ends = Ends::Linger(control);
        }
        is_first
    }

    /// From now on a signal ends nothing by itself: whoever waits looks at [`SignalWatch::count`].
    pub(crate) fn only_count(&self) {
        self.0.lock().ends = Ends::Wait;
    }

    /// How many signals there have been.
    pub(crate) fn count(&self) -> u32 {
        self.0.lock().count
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn received(&self, name: &str, flusher: &Flusher) {
        let mut state = self.lock();
        state.count += 1;
        match &state.ends {
            Ends::Test(control, teardown) if state.count == 1 => {
                let now = what_happens(control.phase(), *teardown);
                log::warn!(
                    "stopping: {now}; press Ctrl-C again to end at once, without any of that"
                );
                control.abort(AbortReason::Signal { name: name.to_owned() });
            }
            Ends::Call(called) if state.count == 1 => {
                log::warn!("stopping in good order; press Ctrl-C again to end at once");
                called(name);
            }
            Ends::Linger(control) if state.count == 1 => control.end_linger(),
            Ends::Wait => {}
            Ends::Linger(_) | Ends::Test(..) | Ends::Call(_) | Ends::Process => {
                log::error!("ended at once by the signal '{name}'");
                flusher.flush(Duration::from_secs(1));
                if let Some(folder) = state.folder.take() {
                    drop(std::fs::remove_dir_all(folder));
                }
                std::process::exit(i32::from(Exit::Signal.code()));
            }
        }
    }
}

/// The effect of the first signal, in a sentence for the log.
fn what_happens(phase: Phase, teardown: Option<Duration>) -> String {
    let limit = teardown.map(brunt_duration::wait::format).unwrap_or_default();
    match phase {
        Phase::Running if teardown.is_some() => format!(
            "iterations under way are interrupted, then teardown() runs (at most {limit}) and the summary follows"
        ),
        Phase::Running => {
            "iterations under way are interrupted, then the summary follows".to_owned()
        }
        Phase::Teardown => {
            format!("teardown() goes on (at most {limit}), then the summary follows")
        }
        Phase::Setup => {
            "setup() is interrupted, the scenarios don't start, teardown() doesn't run".to_owned()
        }
        _ => "the test ends before its start".to_owned(),
    }
}
