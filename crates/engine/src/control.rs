//! The state that all threads of a run share: whether to stop, the phase, and the live counts.

use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering::Relaxed, Ordering::SeqCst};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use brunt_fiber::clock;
use tokio::sync::Notify;

/// Why a run is cut short.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AbortReason {
    /// The process got a signal.
    #[error("test run was aborted because brunt received a '{name}' signal")]
    Signal {
        /// `interrupt`, `terminated`.
        name: String,
    },
    /// The script called `exec.test.abort()`.
    #[error("{message}")]
    Test {
        /// The whole message, as the log shall show it: `test aborted: reason at default (file…)`.
        message: String,
    },
    /// A crossed threshold has `abortOnFail`.
    #[error(
        "thresholds on metrics '{}' were crossed; at least one has abortOnFail enabled, stopping test prematurely",
        crossed.join(", ")
    )]
    Thresholds {
        /// The metrics, sorted.
        crossed: Vec<String>,
    },
    /// The REST API was told to stop.
    #[error("test run stopped from REST API")]
    Api,
    /// The search that steered it knows enough: a good end.
    #[error("the search is over")]
    Steered,
    /// The leader of the whole test ended it; why is the leader's to tell.
    #[error("the leader ended the test: {reason}")]
    Leader {
        /// Its reason, in a sentence without a full stop.
        reason: String,
    },
    /// A VU's init code failed; the run's [`Failure`](crate::Failure) holds the error.
    #[error("a VU could not be initialised")]
    Init,
    /// The system refused what no run can do without.
    #[error("{message}")]
    System {
        /// The refused call and its message.
        message: String,
    },
    /// A thread or a VU panicked: a fault of ours.
    #[error("{message}")]
    Panic {
        /// Which one, and what it said.
        message: String,
    },
}

/// How far a run has come. Ascending.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// Nothing has happened.
    Created,
    /// Planned VUs are being made.
    InitVus,
    /// All is ready, someone has to call [`Control::resume`].
    Paused,
    /// `setup()` runs; the run's clock has started.
    Setup,
    /// Scenarios run.
    Running,
    /// `teardown()` runs.
    Teardown,
    /// Over.
    Ended,
}

impl Phase {
    const ALL: [Phase; 7] = [
        Phase::Created,
        Phase::InitVus,
        Phase::Paused,
        Phase::Setup,
        Phase::Running,
        Phase::Teardown,
        Phase::Ended,
    ];
}

/// One core's counts. Only that core writes; on cache lines of their own, so that no other core waits.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(crate) struct Tally {
    complete: AtomicU64,
    interrupted: AtomicU64,
    active: AtomicU64,
    /// How late its latest tick was since somebody took the number, in nanoseconds.
    late: AtomicU64,
}

impl Tally {
    pub(crate) fn count_complete(&self) {
        raise(&self.complete);
    }

    pub(crate) fn count_interrupted(&self) {
        raise(&self.interrupted);
    }

    /// A tick ran `ns` nanoseconds too late.
    pub(crate) fn note_late(&self, ns: u64) {
        self.late.fetch_max(ns, Relaxed);
    }

    pub(crate) fn enter(&self) {
        raise(&self.active);
    }

    pub(crate) fn leave(&self) {
        lower(&self.active);
    }
}

/// Adds one to a counter that only the calling thread writes: no locked instruction needed.
pub(crate) fn raise(counter: &AtomicU64) {
    counter.store(counter.load(Relaxed) + 1, Relaxed);
}

/// Takes one from a counter that only the calling thread writes.
pub(crate) fn lower(counter: &AtomicU64) {
    counter.store(counter.load(Relaxed).saturating_sub(1), Relaxed);
}

/// The scenarios of a led run have not begun.
const NOT_STARTED: u64 = u64::MAX;

/// The wheel and the dials of a run: shared by its threads, the signal handler, the REST API.
///
/// Everything that a script's interrupt handler looks at is an atomic.
#[derive(Debug)]
pub struct Control {
    abort: OnceLock<AbortReason>,
    aborting: AtomicBool,
    marked_failed: AtomicBool,
    paused: AtomicBool,
    lingering: AtomicBool,
    phase: AtomicU8,
    /// Unix ns; 0 until the clock starts.
    started: AtomicU64,
    /// Unix ns; 0 until the clock stops.
    ended: AtomicU64,
    planned: AtomicU64,
    initialized: AtomicU64,
    /// Of a led run: when its scenarios are to begin, in unix ns; 0 until the leader has said so.
    start_at: AtomicU64,
    /// Of a led run: how much later they began, in nanoseconds; [`NOT_STARTED`] before.
    start_late: AtomicU64,
    /// Of a run that takes a load over: from when on it makes it, in unix ns; 0 for the start.
    resume_at: AtomicU64,
    /// From this moment on no iteration begins, in unix ns.
    lease: AtomicU64,
    /// Of a led run: the leader needs it no more.
    released: AtomicBool,
    tallies: Box<[Tally]>,
    /// The result of `setup()`, or its replacement from outside; JSON.
    setup_data: Mutex<Option<Arc<str>>>,
    /// Wakes the coordinator: abort, resume, the end of lingering.
    pub(crate) wake: Notify,
}

impl Control {
    /// For a run on `cores` cores.
    pub(crate) fn new(cores: usize, paused: bool) -> Control {
        Control {
            abort: OnceLock::new(),
            aborting: AtomicBool::new(false),
            marked_failed: AtomicBool::new(false),
            paused: AtomicBool::new(paused),
            lingering: AtomicBool::new(false),
            phase: AtomicU8::new(Phase::Created as u8),
            started: AtomicU64::new(0),
            ended: AtomicU64::new(0),
            planned: AtomicU64::new(0),
            initialized: AtomicU64::new(0),
            start_at: AtomicU64::new(0),
            start_late: AtomicU64::new(NOT_STARTED),
            resume_at: AtomicU64::new(0),
            lease: AtomicU64::new(u64::MAX),
            released: AtomicBool::new(false),
            tallies: (0..cores).map(|_| Tally::default()).collect(),
            setup_data: Mutex::default(),
            wake: Notify::new(),
        }
    }

    /// Cuts the run short: running iterations are interrupted at once, `teardown()` still runs.
    ///
    /// The first reason wins. Returns whether this was the first.
    pub fn abort(&self, reason: AbortReason) -> bool {
        let first = self.abort.set(reason).is_ok();
        self.aborting.store(true, SeqCst);
        self.wake.notify_one();
        first
    }

    /// Whether the run is being cut short. One atomic load.
    pub fn is_aborting(&self) -> bool {
        self.aborting.load(Relaxed)
    }

    /// Why it is being cut short.
    pub fn abort_reason(&self) -> Option<&AbortReason> {
        self.abort.get()
    }

    /// Marks the run as failed (`exec.test.fail()`); it goes on. The caller logs the reason.
    pub fn mark_failed(&self) {
        self.marked_failed.store(true, Relaxed);
    }

    /// Whether someone marked the run as failed.
    pub fn is_marked_failed(&self) -> bool {
        self.marked_failed.load(Relaxed)
    }

    /// Whether the run waits (or will wait) before its start.
    pub fn is_paused(&self) -> bool {
        self.paused.load(Relaxed)
    }

    /// Lets a run that was configured as paused start.
    pub fn resume(&self) {
        self.paused.store(false, SeqCst);
        self.wake.notify_one();
    }

    pub(crate) fn set_paused(&self, is_paused: bool) {
        self.paused.store(is_paused, SeqCst);
        self.wake.notify_one();
    }

    /// Ends the waiting of a run that lingers after its end.
    pub fn end_linger(&self) {
        self.lingering.store(false, SeqCst);
        self.wake.notify_one();
    }

    /// Whether the run is over and lingers.
    pub fn is_lingering(&self) -> bool {
        self.lingering.load(SeqCst)
    }

    pub(crate) fn begin_linger(&self) {
        self.lingering.store(true, SeqCst);
    }

    /// Lets the scenarios of a [led](crate::RunConfig::led) run begin at this moment of the process's clock, in unix ns. One
    /// that has passed is good, too: they begin in the middle of their plans. The first call counts.
    pub fn start_at(&self, moment: u64) {
        // 0 is for nothing said.
        let _ = self.start_at.compare_exchange(0, moment.max(1), SeqCst, SeqCst);
        self.wake.notify_one();
    }

    /// As [`start_at`](Self::start_at), for a run that [takes a load over](crate::RunConfig::resumed): before `from` (unix ns)
    /// nothing is done, and what was due by then is neither done nor counted as missed.
    pub fn resume_at(&self, start: u64, from: u64) {
        self.resume_at.store(from.max(1), SeqCst);
        self.start_at(start);
    }

    /// From when on a load that is taken over is made, in unix ns.
    pub(crate) fn resume_moment(&self) -> Option<u64> {
        Some(self.resume_at.load(SeqCst)).filter(|from| *from != 0)
    }

    /// From this moment on (unix ns) no iteration begins, unless a later moment is told: arrival rates miss theirs, VUs wait.
    pub fn lease_until(&self, moment: u64) {
        self.lease.store(moment, SeqCst);
    }

    /// Whether an iteration may begin at this moment (unix ns). One atomic load.
    pub(crate) fn may_begin(&self, now: u64) -> bool {
        now < self.lease.load(Relaxed)
    }

    /// When the scenarios of a led run are to begin, as far as that is known.
    pub(crate) fn start_moment(&self) -> Option<u64> {
        Some(self.start_at.load(SeqCst)).filter(|at| *at != 0)
    }

    /// How much later than they were to the scenarios of a led run began; `None` before.
    pub fn start_late(&self) -> Option<Duration> {
        Some(self.start_late.load(Relaxed))
            .filter(|late| *late != NOT_STARTED)
            .map(Duration::from_nanos)
    }

    pub(crate) fn note_start(&self, late_ns: u64) {
        self.start_late.store(late_ns.min(NOT_STARTED - 1), Relaxed);
    }

    /// Lets a led run whose scenarios are over come to its end.
    pub fn release(&self) {
        self.released.store(true, SeqCst);
        self.wake.notify_one();
    }

    pub(crate) fn is_released(&self) -> bool {
        self.released.load(SeqCst)
    }

    /// The result of `setup()`, as JSON.
    pub fn setup_data(&self) -> Option<Arc<str>> {
        self.setup_data.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn keep_setup_data(&self, data: Option<Arc<str>>) {
        *self.setup_data.lock().unwrap_or_else(PoisonError::into_inner) = data;
    }

    /// How far the run is.
    pub fn phase(&self) -> Phase {
        Phase::ALL[usize::from(self.phase.load(SeqCst)).min(Phase::ALL.len() - 1)]
    }

    pub(crate) fn enter_phase(&self, phase: Phase) {
        self.phase.store(phase as u8, SeqCst);
    }

    pub(crate) fn start_clock(&self) {
        self.start_clock_at(clock::now_ns());
    }

    /// The run began, or will begin, at `moment` (unix ns).
    pub(crate) fn start_clock_at(&self, moment: u64) {
        self.started.store(moment, SeqCst);
    }

    pub(crate) fn stop_clock(&self) {
        if self.started.load(SeqCst) != 0 {
            self.ended.store(clock::now_ns(), SeqCst);
        }
    }

    /// When the run's clock started (before `setup()`), in unix ns.
    pub fn started_at(&self) -> Option<u64> {
        Some(self.started.load(Relaxed)).filter(|at| *at != 0)
    }

    /// The time since the run's clock started (`exec.instance.currentTestRunDuration`); it stops at the end of the
    /// run.
    pub fn run_duration(&self) -> Duration {
        let Some(started) = self.started_at() else {
            return Duration::ZERO;
        };
        let end = match self.ended.load(Relaxed) {
            0 => clock::now_ns(),
            ended => ended,
        };
        Duration::from_nanos(end.saturating_sub(started))
    }

    /// Iterations that came to their end, thrown exceptions included.
    pub fn iterations_complete(&self) -> u64 {
        self.tallies.iter().map(|tally| tally.complete.load(Relaxed)).sum()
    }

    /// Iterations that were cut off.
    pub fn iterations_interrupted(&self) -> u64 {
        self.tallies.iter().map(|tally| tally.interrupted.load(Relaxed)).sum()
    }

    /// VUs that work for a scenario; of the arrival-rate ones those inside an iteration.
    pub fn vus_active(&self) -> u64 {
        self.tallies.iter().map(|tally| tally.active.load(Relaxed)).sum()
    }

    /// VUs that have been made.
    pub fn vus_initialized(&self) -> u64 {
        self.initialized.load(Relaxed)
    }

    /// VUs that are made before the start.
    pub fn vus_planned(&self) -> u64 {
        self.planned.load(Relaxed)
    }

    pub(crate) fn plan_vus(&self, planned: u64) {
        self.planned.store(planned, Relaxed);
    }

    pub(crate) fn count_initialized(&self) {
        self.initialized.fetch_add(1, Relaxed);
    }

    /// By core: how late its latest tick was since the last call, in nanoseconds. There is one who asks.
    pub fn take_late(&self) -> Vec<u64> {
        self.tallies.iter().map(|tally| tally.late.swap(0, Relaxed)).collect()
    }

    pub(crate) fn cores(&self) -> usize {
        self.tallies.len()
    }

    pub(crate) fn tally(&self, core: u32) -> &Tally {
        &self.tallies[core as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_reason_to_abort_wins() {
        let control = Control::new(1, false);
        assert!(!control.is_aborting());
        assert!(control.abort(AbortReason::Api));
        assert!(!control.abort(AbortReason::Init));
        assert!(control.is_aborting());
        assert_eq!(control.abort_reason(), Some(&AbortReason::Api));
    }

    #[test]
    fn counts_of_all_cores_are_added_up() {
        let control = Control::new(3, false);
        control.tally(0).count_complete();
        control.tally(2).count_complete();
        control.tally(1).count_interrupted();
        control.tally(1).enter();
        assert_eq!(control.iterations_complete(), 2);
        assert_eq!(control.iterations_interrupted(), 1);
        assert_eq!(control.vus_active(), 1);
        control.tally(1).leave();
        assert_eq!(control.vus_active(), 0);
    }

    #[test]
    fn a_run_that_never_started_took_no_time() {
        let control = Control::new(1, false);
        control.stop_clock();
        assert_eq!(control.run_duration(), Duration::ZERO);
    }
}
