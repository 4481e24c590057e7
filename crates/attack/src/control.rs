//! How an attack is stopped from outside, and from within.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed};

use tokio::sync::watch;

/// How far an attack is.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Phase {
    /// Hits are begun.
    Hitting,
    /// None is begun any more; those under way are waited for.
    Stopping,
    /// Those under way are given up.
    Aborting,
}

/// The handle of an attack that runs: clones speak of the same one.
#[derive(Clone, Debug)]
pub struct Control {
    phase: Arc<watch::Sender<Phase>>,
    counts: Arc<Counts>,
}

#[derive(Debug, Default)]
struct Counts {
    /// The phase is no longer the first: what each hit asks.
    is_stopping: AtomicBool,
    begun: AtomicU64,
    workers: AtomicUsize,
}

impl Default for Control {
    fn default() -> Self {
        let (phase, _) = watch::channel(Phase::Hitting);
        Self { phase: Arc::new(phase), counts: Arc::default() }
    }
}

impl Control {
    /// The handle of an attack to come.
    pub fn new() -> Self {
        Self::default()
    }

    /// Begins no more hits; those under way are waited for.
    pub fn stop(&self) {
        self.advance(Phase::Stopping);
    }

    /// Gives up those under way, too: they leave no record.
    pub fn abort(&self) {
        self.advance(Phase::Aborting);
    }

    /// The number of hits that were begun.
    pub fn begun(&self) -> u64 {
        self.counts.begun.load(Relaxed)
    }

    /// The number of the next hit.
    pub(crate) fn next_seq(&self) -> u64 {
        self.counts.begun.fetch_add(1, Relaxed)
    }

    pub(crate) fn add_worker(&self) {
        self.counts.workers.fetch_add(1, Relaxed);
    }

    /// The number of workers in all.
    pub fn workers(&self) -> usize {
        self.counts.workers.load(Relaxed)
    }

    pub(crate) fn is_stopping(&self) -> bool {
        self.counts.is_stopping.load(Relaxed)
    }

    pub(crate) async fn stopping(&self) {
        self.reached(Phase::Stopping).await;
    }

    pub(crate) async fn aborting(&self) {
        self.reached(Phase::Aborting).await;
    }

    fn advance(&self, to: Phase) {
        self.counts.is_stopping.store(true, Relaxed);
        self.phase.send_if_modified(|phase| {
            let is_later = to > *phase;
            *phase = to.max(*phase);
            is_later
        });
    }

    async fn reached(&self, wanted: Phase) {
        let mut phase = self.phase.subscribe();
        // The sender lives as long as this handle.
        let _ = phase.wait_for(|phase| *phase >= wanted).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_attack_stops_before_it_aborts_and_never_goes_on() {
        let control = Control::new();
        assert!(!control.is_stopping());
        control.clone().abort();
        control.stop();
        assert!(control.is_stopping());
    }

    #[test]
    fn hits_are_numbered_from_0() {
        let control = Control::new();
        assert_eq!((control.next_seq(), control.next_seq(), control.begun()), (0, 1, 2));
    }
}
