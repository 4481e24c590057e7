//! The slow origin: what every cache wants to spare.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::{Instant, sleep, timeout};

use super::Absence;
use super::item::{Change, Item, Loaded};
use crate::config::DemoConfig;
use crate::dice::Dice;
use crate::faults::{Faults, Switch};
use crate::stats::Gauge;
use crate::timing::Phases;

/// Items that may be changed by writes before a reset.
const CHANGED_MAX: usize = 100_000;

/// The origin and what was written to it.
pub(super) struct Origin {
    latency: Duration,
    jitter: Duration,
    slow_every: u32,
    slow: Duration,
    write_latency: Duration,
    queue_timeout: Duration,
    turns: Semaphore,
    changed: Mutex<HashMap<u64, (u32, Change)>>,
    dice: Arc<Dice>,
    faults: Arc<Switch>,
    in_flight: Gauge,
    reads: AtomicU64,
    writes: AtomicU64,
    rejected: AtomicU64,
}

impl Origin {
    pub(super) fn new(config: &DemoConfig, dice: Arc<Dice>, faults: Arc<Switch>) -> Self {
        Self {
            latency: config.origin_latency,
            jitter: config.origin_jitter,
            slow_every: config.origin_slow_every,
            slow: config.origin_slow,
            write_latency: config.origin_write,
            queue_timeout: config.origin_queue_timeout,
            turns: Semaphore::new(config.origin_concurrency),
            changed: Mutex::default(),
            dice,
            faults,
            in_flight: Gauge::default(),
            reads: AtomicU64::new(0),
            writes: AtomicU64::new(0),
            rejected: AtomicU64::new(0),
        }
    }

    /// Loads an item as it is when the load ends, and tells what that took.
    pub(super) async fn read(&self, id: u64) -> (Result<Arc<Loaded>, Absence>, Phases) {
        let (turn, mut phases) = self.wait_for_turn().await;
        let Ok(_turn) = turn else {
            return (Err(Absence::Overloaded), phases);
        };
        self.reads.fetch_add(1, Relaxed);
        phases.origin = self.work(self.read_time()).await;
        (Ok(Arc::new(Loaded::now(&self.item(id)))), phases)
    }

    /// Changes an item, and gives its new version.
    pub(super) async fn write(
        &self,
        id: u64,
        change: Change,
    ) -> (Result<Arc<Loaded>, Absence>, Phases) {
        let (turn, mut phases) = self.wait_for_turn().await;
        let Ok(_turn) = turn else {
            return (Err(Absence::Overloaded), phases);
        };
        self.writes.fetch_add(1, Relaxed);
        phases.origin = self.work(self.write_latency).await;
        let mut changed = self.changed.lock().unwrap_or_else(PoisonError::into_inner);
        if changed.len() >= CHANGED_MAX && !changed.contains_key(&id) {
            return (Err(Absence::Full), phases);
        }
        let (version, known) = changed.entry(id).or_insert((1, Change::default()));
        *version = version.saturating_add(1);
        known.name = change.name.or(known.name.take());
        known.price = change.price.or(known.price);
        let item = Item::new(id, *version, Some(known));
        (Ok(Arc::new(Loaded::now(&item))), phases)
    }

    /// An item as it is now, at no cost: for preloading, which reads in bulk.
    pub(super) fn item(&self, id: u64) -> Item {
        let changed = self.changed.lock().unwrap_or_else(PoisonError::into_inner);
        let (version, change) = changed.get(&id).map_or((1, None), |(v, c)| (*v, Some(c)));
        Item::new(id, version, change)
    }

    pub(super) fn reset(&self) {
        self.changed.lock().unwrap_or_else(PoisonError::into_inner).clear();
        self.in_flight.forget();
        for counter in [&self.reads, &self.writes, &self.rejected] {
            counter.store(0, Relaxed);
        }
    }

    pub(super) fn report(&self) -> Value {
        json!({
            "calls": self.reads.load(Relaxed),
            "writes": self.writes.load(Relaxed),
            "rejected": self.rejected.load(Relaxed),
            "in_flight": self.in_flight.report(),
        })
    }

    async fn wait_for_turn(&self) -> (Result<SemaphorePermit<'_>, Absence>, Phases) {
        let begin = Instant::now();
        if let Ok(turn) = self.turns.try_acquire() {
            return (Ok(turn), Phases::default());
        }
        let turn = timeout(self.queue_timeout, self.turns.acquire()).await;
        let phases = Phases { queue: begin.elapsed(), ..Phases::default() };
        if let Ok(Ok(turn)) = turn {
            return (Ok(turn), phases);
        }
        self.rejected.fetch_add(1, Relaxed);
        (Err(Absence::Overloaded), phases)
    }

    async fn work(&self, time: Duration) -> Duration {
        struct Down<'a>(&'a Gauge);
        impl Drop for Down<'_> {
            fn drop(&mut self) {
                self.0.down();
            }
        }
        let begin = Instant::now();
        self.in_flight.up();
        let _down = Down(&self.in_flight);
        sleep(time).await;
        begin.elapsed()
    }

    fn read_time(&self) -> Duration {
        let faults = if self.faults.any() { self.faults.current() } else { Faults::default() };
        let jitter = faults.jitter_ms.map_or(self.jitter, Duration::from_millis);
        let latency = match faults.origin_ms {
            Some(millis) => Duration::from_millis(millis.min(600_000)),
            None if self.slow_every > 0 && self.dice.chance(1.0 / f64::from(self.slow_every)) => {
                return self.slow;
            }
            None => self.latency,
        };
        latency + self.dice.exponential(jitter.min(Duration::from_mins(1)))
    }
}
