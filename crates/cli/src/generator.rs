//! Looks at the load generator once a second, on a thread of its own: for the verdict on the run, the run file, and the metrics
//! `generator_*`.
//!
//! ```text
//! thread "generator", once a second ─┐
//! output of the run file, at a slice ┴▶ Looks ──▶ History ──▶ verdict at the end
//!                                         │  └─▶ the slice of the run file
//!                                         └────▶ Meters ──▶ outputs
//! ```

mod hits;
mod meters;
mod tell;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use brunt_fiber::clock;
use brunt_verdict::{Figures, History, Outside, Places, Probe, Shortages, Signals, Verdict, judge};

pub(crate) use self::hits::Guard;
pub(crate) use self::meters::{Meters, ids, is_one, offer};
pub(crate) use self::tell::tell;

/// From one look to the next.
const EVERY: Duration = Duration::from_secs(1);

/// Two looks are at least so far apart, in nanoseconds: shares of shorter times mean little.
const GAP_NS: u64 = 100_000_000;

/// The thread leaves out its look if somebody looked so short a time ago, in nanoseconds.
const FRESH_NS: u64 = 800_000_000;

/// The load that is looked at.
pub(crate) trait Subject: Send + Sync {
    /// When its clock started, if it has: nanoseconds since the Unix epoch.
    fn started_at(&self) -> Option<u64>;

    /// By core: how late its latest timer was since the last call, in nanoseconds.
    fn take_late(&self) -> BTreeMap<u32, u64>;
}

/// All looks at the generator.
pub(crate) struct Looks {
    subject: OnceLock<Box<dyn Subject>>,
    state: Mutex<State>,
}

struct State {
    probe: Probe,
    history: History,
    is_started: bool,
    /// Nothing that happens from now on is part of the run.
    is_closed: bool,
    /// Nanoseconds.
    looked: u64,
    /// Signals that are in no slice of the run file yet.
    for_file: Option<Signals>,
    /// Signals that no metric told yet.
    for_meters: Option<Signals>,
}

impl fmt::Debug for Looks {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Looks")
    }
}

impl Looks {
    /// Looks for the first time.
    pub(crate) fn new() -> Arc<Self> {
        let outside = outside(BTreeMap::new());
        let looked = outside.now;
        Arc::new(Self {
            subject: OnceLock::new(),
            state: Mutex::new(State {
                probe: Probe::new(&Places::default(), outside),
                history: History::default(),
                is_started: false,
                is_closed: false,
                looked,
                for_file: None,
                for_meters: None,
            }),
        })
    }

    /// The load can be looked at from now on. The first call counts: there is one load in a process.
    pub(crate) fn attach(&self, subject: impl Subject + 'static) {
        let _ = self.subject.set(Box::new(subject));
    }

    /// Looks, if the last look is at least so long ago.
    fn look(&self, gap_ns: u64) {
        let mut state = self.state();
        if state.is_closed || clock::now_ns().saturating_sub(state.looked) < gap_ns {
            return;
        }
        let subject = self.subject.get();
        let late = subject.map(|subject| subject.take_late()).unwrap_or_default();
        let outside = outside(late);
        state.looked = outside.now;
        let signals = state.probe.look(outside);
        state.take_in(&signals, subject.and_then(|subject| subject.started_at()));
    }

    /// Looks for the last time: the run is over, though its process goes on.
    pub(crate) fn close(&self) {
        self.look(0);
        self.state().is_closed = true;
    }

    /// The signals since the last call; for the run file.
    pub(crate) fn take(&self) -> Option<Signals> {
        self.look(GAP_NS);
        let seen = self.state().for_file.take();
        seen.or_else(|| {
            // So short a time says little, and a slice without any row says less.
            self.look(0);
            self.state().for_file.take()
        })
    }

    /// The verdict at the end of the run.
    pub(crate) fn verdict(&self, figures: &Figures) -> Verdict {
        self.look(0);
        judge(&self.state().history, figures)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn take_in(&mut self, signals: &Signals, started: Option<u64>) {
        if let Some(started) = started {
            if self.is_started {
                self.history.add(signals);
            } else {
                // Most of it was before the start: of that, errors alone count, and the levels at its end.
                self.is_started = true;
                self.history.start(started);
                self.history.add(&Signals {
                    from: signals.to,
                    cores: BTreeMap::new(),
                    steal: None,
                    throttled: None,
                    segments: None,
                    interface_drops: None,
                    packets: None,
                    clock_step: 0,
                    ..signals.clone()
                });
            }
        }
        for kept in [&mut self.for_file, &mut self.for_meters] {
            *kept = Some(match kept.take() {
                Some(before) => before.and(signals.clone()),
                None => signals.clone(),
            });
        }
    }
}

/// The thread that looks. It ends with this value.
pub(crate) struct Watchman {
    stop: Option<SyncSender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Watchman {
    /// Begins to look. `make` is called on the thread, and its result gets the signals of each second.
    ///
    /// # Errors
    /// The system gives no thread.
    pub(crate) fn start<S: FnMut(&Signals)>(
        looks: &Arc<Looks>,
        make: impl FnOnce() -> S + Send + 'static,
    ) -> std::io::Result<Self> {
        let looks = Arc::clone(looks);
        let (stop, stopped) = sync_channel::<()>(1);
        let body = move || {
            let mut show = make();
            while stopped.recv_timeout(EVERY) == Err(RecvTimeoutError::Timeout) {
                looks.look(FRESH_NS);
                let signals = looks.state().for_meters.take();
                if let Some(signals) = signals {
                    show(&signals);
                }
            }
        };
        let thread = std::thread::Builder::new().name("generator".to_owned()).spawn(body)?;
        Ok(Self { stop: Some(stop), thread: Some(thread) })
    }
}

impl Drop for Watchman {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // If it panicked, that is told already.
            let _ = thread.join();
        }
    }
}

/// Both clocks in one breath, lateness, errors.
fn outside(late: BTreeMap<u32, u64>) -> Outside {
    /// Clocks that lie farther apart than this (ns) were not read in one breath.
    const BREATH: u64 = 1_000_000;
    let mut now = clock::now_ns();
    let mut wall = None;
    for _ in 0..4 {
        let read = SystemTime::now().duration_since(UNIX_EPOCH).ok();
        let after = clock::now_ns();
        let is_near = after.saturating_sub(now) < BREATH;
        now = after;
        if is_near {
            wall = read.map(clock::duration_ns);
            break;
        }
    }
    let short = brunt_net::shortages();
    let shortages = Shortages { files: short.files, ports: short.ports, memory: short.memory };
    Outside { now, wall, late, shortages }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Started(u64);

    impl Subject for Started {
        fn started_at(&self) -> Option<u64> {
            Some(self.0)
        }

        fn take_late(&self) -> BTreeMap<u32, u64> {
            [(0, 7)].into()
        }
    }

    #[test]
    fn the_run_file_gets_all_that_was_seen_since_it_asked() {
        let looks = Looks::new();
        looks.attach(Started(clock::now_ns()));
        looks.look(0);
        looks.look(0);
        let first = looks.take().unwrap();
        assert!(first.to > first.from);
        looks.look(0);
        let second = looks.take().unwrap();
        assert_eq!(second.from, first.to);
        let meters = looks.state().for_meters.take().unwrap();
        assert_eq!((meters.from, meters.to), (first.from, second.to));
    }

    #[test]
    fn the_thread_ends_with_its_watchman() {
        let looks = Looks::new();
        let watchman = Watchman::start(&looks, || |_: &Signals| ()).unwrap();
        drop(watchman);
        assert_eq!(Arc::strong_count(&looks), 1);
    }
}
