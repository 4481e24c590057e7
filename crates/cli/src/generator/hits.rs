//! An attack as it is looked at: how late its cores are, how late its hits begin.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

use brunt_attack::{Outcome, Sink};
use brunt_fiber::clock;
use brunt_metrics::TrendSink;
use brunt_records::Record;
use brunt_verdict::{Figures, Load, Signals, Starts};

use super::{Looks, Subject, Watchman};
use crate::Context;

/// How often an attack calls its sinks: later than that is late.
const TICK_NS: u64 = 10_000_000;

/// More cores than that are not told apart.
const CORES_MAX: usize = 256;

/// Looks at an attack.
pub(crate) struct Guard {
    looks: Arc<Looks>,
    hits: Arc<Hits>,
    watchman: Watchman,
}

/// The hits of all cores.
struct Hits {
    /// Nanoseconds since the Unix epoch; 0 before the start.
    started: AtomicU64,
    late: Box<[AtomicU64]>,
    /// Lateness of hits and their latency, in milliseconds.
    sums: Mutex<(TrendSink, TrendSink)>,
}

/// The hits, shared with the looks.
struct Shared(Arc<Hits>);

impl Subject for Shared {
    fn started_at(&self) -> Option<u64> {
        Some(self.0.started.load(Relaxed)).filter(|at| *at > 0)
    }

    fn take_late(&self) -> BTreeMap<u32, u64> {
        (0..).zip(self.0.late.iter().map(|late| late.swap(0, Relaxed))).collect()
    }
}

impl Guard {
    /// Begins to look; the attack starts now.
    ///
    /// # Errors
    /// The system gives no thread.
    pub(crate) fn start(looks: Arc<Looks>) -> std::io::Result<Self> {
        let late = (0..CORES_MAX).map(|_| AtomicU64::new(0)).collect();
        let started = AtomicU64::new(clock::now_ns());
        let hits = Arc::new(Hits { started, late, sums: Mutex::default() });
        looks.attach(Shared(Arc::clone(&hits)));
        let watchman = Watchman::start(&looks, || |_: &Signals| ())?;
        Ok(Self { looks, hits, watchman })
    }

    /// For the records of a core, on its thread.
    pub(crate) fn sink(&self, core: usize) -> Box<dyn Sink> {
        Box::new(Lateness {
            hits: Arc::clone(&self.hits),
            core: core.min(CORES_MAX - 1),
            ticked: clock::now_ns(),
            lag: TrendSink::default(),
            latency: TrendSink::default(),
        })
    }

    /// The attack is over: says all findings, and gives them back.
    pub(crate) fn end(
        self,
        context: &Context,
        outcome: Option<&Outcome>,
    ) -> brunt_verdict::Verdict {
        let verdict = self.looks.verdict(&self.figures(outcome));
        drop(self.watchman);
        super::tell(context, &verdict);
        verdict
    }

    fn figures(&self, outcome: Option<&Outcome>) -> Figures {
        let sums = self.hits.sums.lock().unwrap_or_else(PoisonError::into_inner);
        let (lag, latency) = &*sums;
        let planned = outcome.and_then(|outcome| outcome.due);
        let load = planned.zip(outcome).map(|(planned, outcome)| Load {
            name: String::new(),
            planned,
            started: outcome.begun,
        });
        let starts = (!lag.is_empty()).then(|| Starts {
            count: lag.count(),
            late_p99: lag.percentile(99.0),
            median: latency.percentile(50.0),
        });
        Figures { loads: load.into_iter().collect(), starts, ..Figures::default() }
    }
}

/// The sink of one core.
struct Lateness {
    hits: Arc<Hits>,
    core: usize,
    ticked: u64,
    lag: TrendSink,
    latency: TrendSink,
}

impl Sink for Lateness {
    fn take(&mut self, record: &Record) {
        self.latency.add(record.latency as f64 / 1e6);
        if record.planned.is_some() {
            self.lag.add(record.lag() as f64 / 1e6);
        }
    }

    fn tick(&mut self) {
        let now = clock::now_ns();
        let past = now.saturating_sub(std::mem::replace(&mut self.ticked, now));
        self.hits.late[self.core].fetch_max(past.saturating_sub(TICK_NS), Relaxed);
    }

    fn finish(&mut self) {
        let mut sums = self.hits.sums.lock().unwrap_or_else(PoisonError::into_inner);
        sums.0.merge(&self.lag);
        sums.1.merge(&self.latency);
    }
}
