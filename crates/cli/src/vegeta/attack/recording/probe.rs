//! The attack as its run file sees it, beside measurements.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use brunt_fiber::clock;
use brunt_outputs::RunWatch;
use brunt_runfile::exchange::{Evidence, EvidenceStore};
use brunt_runfile::{Event, Load};
use brunt_verdict::Signals;

use crate::generator::Looks;

/// Asked on the thread of the output. An attack has no scenarios, and its thresholds are judged elsewhere.
#[derive(Debug)]
pub(super) struct Probe {
    /// 0 until it starts.
    started: AtomicU64,
    events: Mutex<Vec<Event>>,
    stopped: Mutex<Option<String>>,
    store: Mutex<EvidenceStore>,
    looks: Arc<Looks>,
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Probe {
    pub(super) fn new(looks: &Arc<Looks>) -> Self {
        Self {
            started: AtomicU64::new(0),
            events: Mutex::default(),
            stopped: Mutex::default(),
            store: Mutex::default(),
            looks: Arc::clone(looks),
        }
    }

    pub(super) fn start(&self, now: u64) {
        self.started.store(now, Relaxed);
    }

    pub(super) fn say(&self, at: u64, kind: &str, text: String) {
        lock(&self.events).push(Event { at, kind: kind.to_owned(), text, scenario: None });
    }

    pub(super) fn stop(&self, at: u64, why: &str) {
        self.say(at, "abort", why.to_owned());
        lock(&self.stopped).get_or_insert_with(|| why.to_owned());
    }

    /// Why it was stopped, if it was.
    pub(super) fn stopped(&self) -> Option<String> {
        lock(&self.stopped).clone()
    }

    /// Exchanges for which there was no room.
    pub(super) fn left_out(&self) -> u64 {
        self.store().left_out()
    }

    /// Taken for those exchanges alone that are kept: some hundreds in an attack of any length.
    pub(super) fn store(&self) -> MutexGuard<'_, EvidenceStore> {
        lock(&self.store)
    }
}

impl RunWatch for Probe {
    fn now(&self) -> u64 {
        clock::now_ns()
    }

    fn started_at(&self) -> Option<u64> {
        Some(self.started.load(Relaxed)).filter(|at| *at > 0)
    }

    fn load(&self) -> Vec<Load> {
        Vec::new()
    }

    fn events(&self) -> Vec<Event> {
        std::mem::take(&mut lock(&self.events))
    }

    fn health(&self) -> Option<Signals> {
        self.looks.take()
    }

    fn evidence(&self) -> Evidence {
        let mut evidence = self.store().take();
        // Here, not where hits are begun: to look through bodies takes time.
        evidence.added.iter_mut().for_each(|(_, _, exchange)| exchange.clean(|_| None));
        evidence
    }
}
